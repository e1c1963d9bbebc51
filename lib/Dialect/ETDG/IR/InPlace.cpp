//===- InPlace.cpp - results in the memory of arguments and of operands ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::etdg;

llvm::SmallMapVector<Value, Value, 4> etdg::getInPlaceArguments(GraphOp graph) {
  llvm::SmallMapVector<Value, Value, 4> found;
  auto pairs = graph->getAttrOfType<DenseI64ArrayAttr>(names::inPlace);
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

/// Whether each element of a result is made of the same element of each operand that is `from` something.
static bool isElementwise(Operation &op, const llvm::DenseSet<Value> &from) {
  auto comesFrom = [&](Value value) { return from.contains(value); };
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  if (llvm::any_of(captured, comesFrom)) // it may look at any element
    return false;
  if (op.getNumResults() == 0)
    return false;
  auto shapeOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getShape() : ArrayRef<int64_t>();
  };
  auto hasShape = [&](Value value) { return !comesFrom(value) || shapeOf(value) == shapeOf(op.getResult(0)); };
  if (!llvm::all_of(op.getOperands(), hasShape))
    return false;
  if (OpTrait::hasElementwiseMappableTraits(&op))
    return true;
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  return generic && generic.getNumReductionLoops() == 0 &&
         llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
}

bool etdg::isMadeInPlace(Block &body, unsigned input, unsigned output) {
  llvm::DenseSet<Value> from{body.getArgument(input)};
  for (Operation &op : body.without_terminator()) {
    SetVector<Value> used;
    getUsedValuesDefinedAbove(op.getRegions(), used);
    used.insert_range(op.getOperands());
    if (llvm::none_of(used, [&](Value value) { return from.contains(value); }))
      continue;
    if (!isElementwise(op, from))
      return false;
    from.insert_range(op.getResults());
  }
  // Another output may be made after this one.
  for (auto [number, result] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (number != output && from.contains(result))
      return false;
  return true;
}
