//===- LoopChoices.cpp - memory that is chosen, values in its place -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the pieces of a read have in common is chosen once: a pointer, and where some of them are a value that all elements of
// a row have, that value and whether it is it.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// Whether some of what memory may be has an address.
bool LoopWalker::isInMemory(const PlacedForm &form) { return form.hasMemory || form.space; }

/// Whether a value lies in memory, too.
static bool isConstant(loops::SplatOp splat) { return splat->hasAttr(loops::names::constant); }

LogicalResult LoopWalker::takeSplat(loops::SplatOp splat) {
  Type element = cast<MemRefType>(splat.getResult().getType()).getElementType();
  Value pointer;
  if (isConstant(splat)) {
    auto value = cast<TypedAttr>(splat.getValue().getDefiningOp<arith::ConstantOp>().getValue());
    LLVM::GlobalOp constant =
        e.addConstant(DenseElementsAttr::get(RankedTensorType::get({int64_t(splat.getElements())}, element), value));
    pointer = e.atEntry([&] { return LLVM::AddressOfOp::create(b, b.pointer(global), constant.getSymName()).getResult(); });
  } else {
    pointer = LLVM::ZeroOp::create(b, b.pointer(global));
  }
  ValueAt at{arith::ConstantIntOp::create(b, 1, 1), valueOf(splat.getValue()), Value(), growthOf(splat.getValue()), Value()};
  if (splat.getStep())
    at.step = valueOf(splat.getStep());
  if (splat.getStep() && splat.getElements() == 1)
    at.each = at.step;
  known.values[splat.getResult()] = pointer;
  known.splats[splat.getResult()] = at;
  return success();
}

LoopWalker::PlacedForm LoopWalker::formOf(Value memory) {
  PlacedForm form;
  static_cast<MemoryForm &>(form) = memoryFormOf(memory, lift);
  place(memory, form);
  return form;
}

/// Where all that memory may be lies, and the type of what it may be instead.
void LoopWalker::place(Value memory, PlacedForm &form) {
  auto addSpace = [&](unsigned space) { form.space = form.space.value_or(space) == space ? space : unsigned(generic); };
  Operation *op = memory.getDefiningOp();
  if (auto splat = dyn_cast_or_null<loops::SplatOp>(op)) {
    if (Type type = threadType(splat.getValue().getType()); !form.value || type.isInteger(64))
      form.value = type;
    if (isConstant(splat))
      addSpace(unsigned(global));
  } else if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(memory).getResultNumber();
    place(branch.thenYield().getOperand(number), form);
    place(branch.elseYield().getOperand(number), form);
  } else {
    Value pointer = known.values.lookup(memory);
    addSpace(pointer ? cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() : unsigned(generic));
  }
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void LoopWalker::addTypes(OpResult result, SmallVectorImpl<Type> &types) {
  Type i64 = b.getI64Type();
  if (!isa<MemRefType>(result.getType())) {
    types.push_back(threadType(result.getType()));
    if (lift.growing.contains(result))
      types.push_back(i64);
    return;
  }
  PlacedForm form = formOf(result);
  types.push_back(b.pointer(form.space.value_or(unsigned(global))));
  if (!form.hasValue)
    return;
  llvm::append_range(types, TypeRange{b.getI1Type(), form.value});
  if (form.hasStep)
    types.push_back(i64);
  if (form.hasLift)
    types.push_back(i64);
}

void LoopWalker::yieldResult(OpResult result, Value yielded, SmallVectorImpl<Value> &values) {
  Value value = valueOf(yielded), zero = b.number(0);
  if (!isa<MemRefType>(result.getType())) {
    values.push_back(value);
    if (lift.growing.contains(result)) {
      Value growth = growthOf(yielded);
      values.push_back(growth ? growth : zero);
    }
    return;
  }
  PlacedForm form = formOf(result);
  unsigned space = form.space.value_or(unsigned(global));
  if (cast<LLVM::LLVMPointerType>(value.getType()).getAddressSpace() != space)
    value = isInMemory(formOf(yielded)) ? b.toGeneric(value) : Value(LLVM::ZeroOp::create(b, b.pointer(space)));
  values.push_back(value);
  if (!form.hasValue)
    return;
  ValueAt at = known.splats.lookup(yielded);
  if (!at.holds)
    at = {arith::ConstantIntOp::create(b, 0, 1), arith::ConstantOp::create(b, b.getZeroAttr(form.value)), Value(), Value(), Value()};
  if (at.value.getType() != form.value) // one value beside a number
    at.value = arith::ExtSIOp::create(b, form.value, at.value);
  llvm::append_range(values, ValueRange{at.holds, at.value});
  if (form.hasStep)
    values.push_back(at.step ? at.step : zero);
  if (form.hasLift)
    values.push_back(at.lift ? at.lift : zero);
}

void LoopWalker::bindResult(OpResult result, ValueRange &values) {
  auto next = [&] {
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  known.values[result] = next();
  if (!isa<MemRefType>(result.getType())) {
    if (lift.growing.contains(result))
      known.growth[result] = next();
    return;
  }
  PlacedForm form = formOf(result);
  if (!form.hasValue)
    return;
  ValueAt at;
  at.holds = next();
  at.value = next();
  if (form.hasStep)
    at.step = next();
  if (form.hasLift)
    at.lift = next();
  known.splats[result] = at;
}

LogicalResult LoopWalker::takeIf(scf::IfOp branch) {
  SmallVector<Type> types;
  for (OpResult result : branch.getResults())
    addTypes(result, types);
  auto made = scf::IfOp::create(b, types, valueOf(branch.getCondition()), /*withElseRegion=*/!branch.getElseRegion().empty());
  for (bool then : {true, false}) {
    if (!then && branch.getElseRegion().empty())
      continue;
    Known saved = known;
    Block *block = then ? branch.thenBlock() : branch.elseBlock();
    LogicalResult taken = takeRegion(*block, then ? made.thenBlock() : made.elseBlock(), {});
    SmallVector<Value> values;
    for (auto [result, yielded] : llvm::zip_equal(branch.getResults(), block->getTerminator()->getOperands()))
      if (succeeded(taken))
        yieldResult(result, yielded, values);
    if (!values.empty())
      scf::YieldOp::create(b, values);
    known = std::move(saved);
    if (failed(taken))
      return failure();
  }
  ValueRange values = made.getResults();
  for (OpResult result : branch.getResults())
    bindResult(result, values);
  b.setInsertionPointAfter(made);
  return success();
}
