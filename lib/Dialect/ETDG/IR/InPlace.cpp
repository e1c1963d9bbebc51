//===- InPlace.cpp - results in the memory of arguments -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/InPlace.h"

using namespace mlir;
using namespace mlir::etdg;

llvm::SmallMapVector<Value, Value, 4> etdg::getInPlaceArguments(GraphOp graph) {
  llvm::SmallMapVector<Value, Value, 4> found;
  auto pairs = graph->getAttrOfType<DenseI64ArrayAttr>(inPlaceName);
  if (!pairs || graph.isExternal())
    return found;
  Operation &end = graph.getBody().front().back();
  for (int64_t i = 0; i + 1 < pairs.size(); i += 2)
    found[end.getOperand(pairs[i + 1])] = graph.getBody().getArgument(pairs[i]);
  return found;
}

bool etdg::isCopyFrom(BlockOp leaf, unsigned write, Value source) {
  auto value = dyn_cast<BlockArgument>(leaf.getYield().getOperand(write));
  if (!value || value.getOwner() != &leaf.getBody().front())
    return false;
  ReadAttr read = leaf.getRead(value.getArgNumber());
  if (read.getElementRank() != 0 || read.getPieces().size() != 1)
    return false;
  PieceAttr piece = read.getPieces().front();
  return piece.getKind() == SourceKind::Buffer && leaf.getBuffers()[piece.getOperand()] == source &&
         piece.getGathers().empty() && isUniverse(piece.getSet().getValue()) &&
         piece.getMap() == leaf.getWrite(write).getMap();
}

SmallVector<std::pair<Value, Value>> etdg::getCopiesInPlace(BlockOp leaf) {
  SmallVector<std::pair<Value, Value>> found;
  if (!leaf.isLeaf())
    return found;
  llvm::SmallMapVector<Value, Value, 4> arguments = getInPlaceArguments(leaf->getParentOfType<GraphOp>());
  if (arguments.empty())
    return found;
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i) {
    Value result = leaf.getBuffers()[leaf.getWrite(i).getOperand()];
    Value argument = arguments.lookup(result);
    if (!argument || !isCopyFrom(leaf, i, argument))
      return {};
    found.push_back({result, argument});
  }
  return found;
}
