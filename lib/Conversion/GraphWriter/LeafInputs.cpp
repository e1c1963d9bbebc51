//===- LeafInputs.cpp - what a leaf takes from outside --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf uses nothing from outside but what it reads (constraint K8 of the
// dialect): constants and scalars come with it.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/GraphWriter/GraphWriter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::ft::graphwriter;

bool mlir::ft::graphwriter::isRepeatable(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return true;
  return op->getNumResults() > 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

bool LeafInputs::isInside(Value value) const {
  if (inside.contains(value.getDefiningOp()))
    return true;
  // Inside of a statement's own region.
  for (Operation *around = value.getParentBlock()->getParentOp(); around; around = around->getParentOp())
    if (inside.contains(around))
      return true;
  return false;
}

void LeafInputs::require(Value value) {
  if (isInside(value))
    return;
  Operation *def = value.getDefiningOp();
  if (!def || !repeats(value)) {
    reads.insert(value);
    return;
  }
  if (repeated.contains(def))
    return;
  for (Value operand : def->getOperands())
    require(operand);
  repeated.insert(def);
}

void LeafInputs::requireAll() {
  for (Operation *op : statements) {
    for (Value operand : op->getOperands())
      require(operand);
    llvm::SetVector<Value> above;
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, above);
    for (Value value : above)
      require(value);
  }
}

SmallVector<Operation *> LeafInputs::getOperations() const {
  // What stands further out comes first. Inside the statements' block a repeated scalar may use a statement's
  // result, so the program's order holds there.
  SmallVector<Operation *> order, here(statements);
  Block *home = statements.empty() ? nullptr : statements.front()->getBlock();
  for (Operation *op : repeated)
    (op->getBlock() == home ? here : order).push_back(op);
  llvm::sort(here, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  llvm::append_range(order, here);
  return order;
}

void LeafInputs::clone(OpBuilder &builder, IRMapping &mapping) const {
  for (Operation *op : getOperations())
    builder.clone(*op, mapping);
}
