//===- EachLeaf.cpp - what passes that cut and join leaves share ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EachLeaf.h"

using namespace mlir;
using namespace mlir::etdg;

LogicalResult etdg::eachLeaf(GraphOp graph, int64_t asked, int64_t least, StringRef expected, llvm::function_ref<void(BlockOp)> visit) {
  if (graph.isExternal())
    return success();
  if (asked < least)
    return emitError(graph.getLoc()) << "expected " << expected << ", found " << asked;
  SmallVector<BlockOp> leaves;
  graph.walk([&](BlockOp block) {
    if (block.isLeaf())
      leaves.push_back(block);
  });
  llvm::for_each(leaves, visit);
  return success();
}

bool etdg::hasReduction(BlockOp block) {
  return llvm::any_of(llvm::seq(block.getNumOwnDims()), [&](unsigned d) { return block.getOperator(d) != ft::OperatorKind::Map; });
}
