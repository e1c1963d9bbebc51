//===- GatherAdjoint.cpp - the transpose of a gather ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scatter-add that writes nothing twice. Where the indices are an argument of the function, they are grouped
// (`ft.group`). A scan over the cotangents in this order adds up those of equal indices, and each place takes the sum at
// the end of its run. That is M additions for M indices. Elsewhere each place is compared with each index.
//
//===----------------------------------------------------------------------===//
#include "GatherAdjoint.h"

#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

/// What was taken from one place, by comparing it with all indices.
static Value takenFrom(Writer &w, Value place, Value indices, Value g) {
  if (isa<ListType>(indices.getType()))
    return w.sumOf(w.map({indices, g}, [&](Writer &inner, ValueRange v) { return takenFrom(inner, place, v[0], v[1]); }));
  Value same = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, place, indices);
  return w.keepWhere(same, g);
}

/// A list of lists of `depth` as one list.
static Value flattenTo(Writer &w, Value list, unsigned depth) {
  for (; depth > 1; --depth)
    list = FlattenOp::create(w.b, w.loc, list);
  return list;
}

static Value constantOf(Writer &w, int64_t value) {
  auto type = RankedTensorType::get({}, w.b.getI64Type());
  return arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(type, w.b.getI64IntegerAttr(value)));
}

/// f16 and bf16 in f32; elements of any depth.
static Value widenDeep(Writer &w, Value value) {
  if (isa<ListType>(value.getType()))
    return w.map(value, [](Writer &inner, ValueRange v) { return widenDeep(inner, v[0]); });
  return w.widen(value);
}

static Value narrowDeep(Writer &w, Value value, Type type) {
  if (auto list = dyn_cast<ListType>(type); list && value.getType() != type)
    return w.map(value, [&](Writer &inner, ValueRange v) { return narrowDeep(inner, v[0], list.getPeeled()); });
  return w.narrow(value, type);
}

/// Whether a place of the ordered list has another index than the place before it.
static Value beginsOf(Writer &w, Value ordered) {
  // (No index is negative.)
  Value before = ShiftOp::create(w.b, w.loc, ordered, LengthAttr::get(w.b.getContext(), 1), constantOf(w, -1));
  return w.map({ordered, before}, [&](Writer &inner, ValueRange v) -> Value {
    return arith::CmpIOp::create(inner.b, w.loc, arith::CmpIPredicate::ne, v[0], v[1]);
  });
}

/// Sums from the begin of each run to each place: (f, a), (f', a') -> (f or f', a' where f', else a + a').
static Value sumRuns(Writer &w, Value begins, Value g) {
  Type flag = listOf(begins).getPeeled(), element = listOf(g).getPeeled();
  Value none = arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(cast<RankedTensorType>(flag), false));
  Value zero = buildZero(w.b, w.loc, element);
  ComputeOp scan = createCompute(w.b, w.loc, OperatorKind::Scan, {begins.getType(), g.getType()}, {begins, g}, {none, zero},
                                 {}, LengthAttr::get(w.b.getContext(), 1));
  auto *block = new Block();
  scan.getBody().push_back(block);
  block->addArguments({flag, element, flag, element}, SmallVector<Location>(4, w.loc));
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  Writer at{inner, w.loc};
  Value begin = block->getArgument(2);
  Value either = arith::OrIOp::create(inner, w.loc, block->getArgument(0), begin);
  Value isSame = arith::XOrIOp::create(
      inner, w.loc, begin, arith::ConstantOp::create(inner, w.loc, DenseElementsAttr::get(cast<RankedTensorType>(flag), true)));
  Value sum = buildSum(inner, w.loc, at.keepWhere(isSame, block->getArgument(1)), block->getArgument(3));
  YieldOp::create(inner, w.loc, ValueRange{either, sum}, ValueRange());
  return scan->getResult(1);
}

static Value transposeGrouped(GatherOp op, Writer &w, Value indices, Value g) {
  auto type = cast<ListType>(op.getInput().getType());
  unsigned depth = listOf(indices).getDepth();
  auto group = GroupOp::create(w.b, w.loc, indices, type.getLength());
  Value flat = flattenTo(w, indices, depth), cotangents = flattenTo(w, g, depth);
  if (listOf(flat).getElement() != RankedTensorType::get({}, w.b.getI64Type()))
    flat = w.map(flat, [&](Writer &inner, ValueRange v) -> Value {
      auto place = RankedTensorType::get({}, inner.b.getI64Type());
      if (isa<IndexType>(tensorOf(v[0]).getElementType()))
        return arith::IndexCastOp::create(inner.b, w.loc, place, v[0]);
      return arith::ExtSIOp::create(inner.b, w.loc, place, v[0]);
    });
  Value ordered = GatherOp::create(w.b, w.loc, flat, group.getOrder());
  Value sorted = widenDeep(w, GatherOp::create(w.b, w.loc, cotangents, group.getOrder()));
  Value sums = sumRuns(w, beginsOf(w, ordered), sorted);
  // Sum number e ends at place e - 1; number 0 is that of a value without places.
  LengthAttr one = LengthAttr::get(w.b.getContext(), 1);
  Value zero = RepeatOp::create(w.b, w.loc, buildZero(w.b, w.loc, listOf(sums).getPeeled()), one);
  Value all = w.concat({zero, sums});
  Value starts = ShiftOp::create(w.b, w.loc, group.getEnds(), one, constantOf(w, 0));
  Value numbers = w.map({starts, group.getEnds()}, [&](Writer &inner, ValueRange v) -> Value {
    Value isThere = arith::CmpIOp::create(inner.b, w.loc, arith::CmpIPredicate::slt, v[0], v[1]);
    return arith::SelectOp::create(inner.b, w.loc, isThere, v[1], constantOf(inner, 0));
  });
  return narrowDeep(w, GatherOp::create(w.b, w.loc, all, numbers), type);
}

/// An argument of the function in which the transpose is built, so that the caller has the indices. A list of lists is
/// taken where it is one list by affine accesses.
static bool isArgument(Value indices) {
  auto argument = dyn_cast<BlockArgument>(indices);
  auto list = dyn_cast<ListType>(indices.getType());
  return argument && list && llvm::all_of(list.getLengths().drop_front(), [](LengthAttr n) { return n.isConstant(); }) &&
         isa_and_nonnull<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

Value derivatives::transposeGather(GatherOp op, Writer &w, Value indices, Value g) {
  // (What the forward function computed and kept is an argument here, too, and no caller has it before the call.)
  if (isArgument(indices) && isArgument(op.getIndices()))
    return transposeGrouped(op, w, indices, g);
  Type element = indices.getType();
  if (auto list = dyn_cast<ListType>(element))
    element = list.getElement();
  Value places = w.iota(op.getInput().getType().getLength(), cast<RankedTensorType>(element).getElementType());
  return w.map(places, [&](Writer &inner, ValueRange place) { return takenFrom(inner, place[0], indices, g); });
}
