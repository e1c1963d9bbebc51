//===- LowerOperations.cpp - one leaf for each statement ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operation node lowering (FT §5.1): the seams between tensor operations become
// seams between blocks, where merges and fused accesses see them. Operations stay
// whole; a linalg operation is its own iteration space.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGLOWEROPERATIONS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

namespace {
struct ETDGLowerOperations : etdg::impl::ETDGLowerOperationsBase<ETDGLowerOperations> {
  void runOnOperation() override {
    if (namesReads(getOperation(), getArgument()))
      return markAllAnalysesPreserved();
    SmallVector<BlockOp> leaves;
    getOperation().walk([&](BlockOp block) {
      if (block.isLeaf())
        leaves.push_back(block);
    });
    for (BlockOp leaf : leaves) {
      std::string name = leaf.getBlockName().value_or("").str();
      Location loc = leaf.getLoc();
      unsigned count = splitLeaf(leaf);
      if (count > 1)
        remark::passed(loc, remark::RemarkOpts::name("lower").category("coarsen"))
            << remark::reason("one leaf for each statement") << remark::metric("block", name)
            << remark::metric("leaves", count);
    }
  }
};
} // namespace
