//===- Residuals.cpp - what a backward function reads ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Residuals.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

unsigned Residuals::add(Value value) {
  residuals.insert(value);
  return std::distance(residuals.begin(), llvm::find(residuals, value));
}

Value Residuals::lift(ComputeOp op, Value value) {
  Value &list = lifted[{op.getOperation(), value}];
  if (list)
    return list;
  YieldOp yield = op.getYield();
  (op.isMap() ? yield.getValuesMutable() : yield.getEmitsMutable()).append(value);
  OpBuilder b(op.getContext());
  b.setInsertionPointAfter(op);
  Type type = ListType::wrap(op.getLength(), value.getType());
  Value placeholder = UnrealizedConversionCastOp::create(b, op.getLoc(), type, ValueRange()).getResult(0);
  placeholders[op].push_back(placeholder);
  origins.try_emplace(placeholder, Origin{op.getOperation(), value});
  return list = placeholder;
}

std::optional<Residuals::Origin> Residuals::originOf(Value placeholder) const {
  auto found = origins.find(placeholder);
  return found == origins.end() ? std::nullopt : std::optional(found->second);
}

void Residuals::dropLifted(Operation *copy) {
  SmallVector<Operation *> unused;
  copy->walk([&](Operation *op) {
    if (isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 0)
      unused.push_back(op);
    auto compute = dyn_cast<ComputeOp>(op);
    if (!compute)
      return;
    YieldOp yield = compute.getYield();
    unsigned values = compute.getStateResults().size(), emits = compute.getEmitResults().size();
    if (yield.getValues().size() > values)
      yield.getValuesMutable().erase(values, yield.getValues().size() - values);
    if (yield.getEmits().size() > emits)
      yield.getEmitsMutable().erase(emits, yield.getEmits().size() - emits);
  });
  for (Operation *op : unused)
    op->erase();
}

void Residuals::forget(Block &block) {
  block.walk([&](Operation *op) {
    for (Value placeholder : placeholders.lookup(op)) {
      lifted.erase({op, origins.lookup(placeholder).value});
      origins.erase(placeholder);
    }
    placeholders.erase(op);
  });
}

void Residuals::addResults(ComputeOp op, ArrayRef<Value> lists) {
  OpBuilder b(op);
  SmallVector<Type> types(op->getResultTypes());
  for (Value list : lists)
    types.push_back(list.getType());
  OperatorKind kind = getOrdered(op.getKind());
  SmallVector<Value> identities;
  ComputeOp made = rebuild(b, op, kind, types, SmallVector<Value>(op.getLists()), SmallVector<Value>(op.getInits()),
                           identities);
  unsigned count = op->getNumResults();
  op->replaceAllUsesWith(made->getResults().take_front(count));
  for (auto [i, placeholder] : llvm::enumerate(lists)) {
    Value list = placeholder;
    list.replaceAllUsesWith(made->getResult(count + i));
    list.getDefiningOp()->erase();
  }
  op->erase();
}

SmallVector<std::string> Residuals::finish() {
  Operation *end = forward.front().getTerminator();
  unsigned numResults = end->getNumOperands();
  // As operands of the end they follow what operators are replaced by.
  SmallVector<std::string> origins;
  SmallVector<Value> own;
  for (Value value : residuals) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      origins.push_back("argument " + std::to_string(argument.getArgNumber()));
      continue;
    }
    auto results = end->getOperands().take_front(numResults);
    if (auto found = llvm::find(results, value); found != results.end()) {
      origins.push_back("result " + std::to_string(std::distance(results.begin(), found)));
      continue;
    }
    origins.push_back("saved " + std::to_string(own.size()));
    own.push_back(value);
  }
  end->insertOperands(numResults, own);
  for (auto &[op, lists] : placeholders)
    addResults(cast<ComputeOp>(op), lists);
  OpBuilder b(end);
  forward.setFunctionType(b.getFunctionType(forward.front().getArgumentTypes(), end->getOperandTypes()));
  forward.removeResAttrsAttr();
  residuals.clear();
  return origins;
}
