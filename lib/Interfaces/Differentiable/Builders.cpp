//===- Builders.cpp - what derivatives are built of -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builders.h"

#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

RankedTensorType derivatives::tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }
ListType derivatives::listOf(Value value) { return cast<ListType>(value.getType()); }

SmallVector<int64_t> derivatives::allDims(RankedTensorType type) {
  SmallVector<int64_t> dims(type.getRank());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value Writer::splat(Type type, double number) {
  TypedAttr value = b.getFloatAttr(getElementTypeOrSelf(type), number);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    value = DenseElementsAttr::get(tensor, value);
  return arith::ConstantOp::create(b, loc, value);
}

Value Writer::sum(Value tensor, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return tensor;
  RankedTensorType type = tensorOf(tensor);
  SmallVector<int64_t> shape;
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
      shape.push_back(extent);
  Value zero = splat(type.clone(shape), 0.0);
  return linalg::ReduceOp::create(b, loc, tensor, zero, dims,
                                  [](OpBuilder &inner, Location at, ValueRange args) {
                                    Value s = arith::AddFOp::create(inner, at, args[0], args[1]);
                                    linalg::YieldOp::create(inner, at, s);
                                  })
      .getResult(0);
}

Value Writer::repeat(Value value, RankedTensorType type, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return value;
  Value shape = tensor::EmptyOp::create(b, loc, type.getShape(), getElementTypeOrSelf(value));
  return linalg::BroadcastOp::create(b, loc, value, shape, dims).getResult().front();
}

Value Writer::reshape(Value tensor, RankedTensorType type) {
  RankedTensorType from = tensorOf(tensor);
  if (from == type)
    return tensor;
  auto flat = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  auto groupOf = [](RankedTensorType t) {
    SmallVector<ReassociationIndices> groups(1);
    llvm::append_range(groups[0], allDims(t));
    return groups;
  };
  if (from.getRank() != 1)
    tensor = from.getRank() == 0
                 ? tensor::ExpandShapeOp::create(b, loc, flat, tensor, ArrayRef<ReassociationIndices>()).getResult()
                 : tensor::CollapseShapeOp::create(b, loc, flat, tensor, groupOf(from)).getResult();
  if (type.getRank() == 1)
    return tensor;
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, loc, type, tensor, ArrayRef<ReassociationIndices>());
  return tensor::ExpandShapeOp::create(b, loc, type, tensor, groupOf(type));
}

Value Writer::add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
Value Writer::sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
Value Writer::mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }

static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

Value Writer::widen(Value x) {
  if (getElementTypeOrSelf(x).getIntOrFloatBitWidth() >= 32)
    return x;
  return arith::ExtFOp::create(b, loc, withElement(x.getType(), b.getF32Type()), x);
}

Value Writer::narrow(Value x, Type type) {
  return x.getType() == type ? x : arith::TruncFOp::create(b, loc, type, x).getResult();
}

Value Writer::scalar(Value tensor) { return tensor::ExtractOp::create(b, loc, tensor, ValueRange()); }

Value Writer::oneHot(RankedTensorType type, ValueRange indices, Value inside, Value outside) {
  unsigned rank = type.getRank();
  AffineMap same = b.getMultiDimIdentityMap(rank), none = AffineMap::get(rank, 0, b.getContext());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  // (What a body captures has no derivative.)
  auto isInput = [](Value side) {
    Operation *made = side.getDefiningOp();
    return isa<RankedTensorType>(side.getType()) || !made || !made->hasTrait<OpTrait::ConstantLike>();
  };
  for (Value side : {inside, outside})
    if (isInput(side)) {
      inputs.push_back(side);
      maps.push_back(isa<RankedTensorType>(side.getType()) ? same : none);
    }
  maps.push_back(same);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, TypeRange{type}, inputs, ValueRange{empty}, maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange args) {
               unsigned next = 0;
               Value in = isInput(inside) ? args[next++] : inside;
               Value out = isInput(outside) ? args[next++] : outside;
               Value hit;
               for (auto [d, index] : llvm::enumerate(indices)) {
                 Value here = linalg::IndexOp::create(inner, at, d);
                 Value isHere = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq, here, index);
                 hit = hit ? arith::AndIOp::create(inner, at, hit, isHere).getResult() : isHere;
               }
               linalg::YieldOp::create(inner, at,
                                       hit ? arith::SelectOp::create(inner, at, hit, in, out).getResult() : in);
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

Value Writer::map(ValueRange lists, llvm::function_ref<Value(Writer &, ValueRange)> body) {
  Block block;
  for (Value list : lists)
    block.addArgument(listOf(list).getPeeled(), loc);
  OpBuilder inner(b.getContext());
  inner.setInsertionPointToEnd(&block);
  Writer writer{inner, loc};
  Value made = body(writer, block.getArguments());
  YieldOp::create(inner, loc, ValueRange{made}, ValueRange());
  ComputeOp op = createCompute(b, loc, OperatorKind::Map, ListType::wrap(listOf(lists[0]).getLength(), made.getType()), lists);
  // The block is filled first: it tells the type of the result.
  auto *moved = new Block();
  op.getBody().push_back(moved);
  for (BlockArgument argument : block.getArguments())
    argument.replaceAllUsesWith(moved->addArgument(argument.getType(), loc));
  moved->getOperations().splice(moved->end(), block.getOperations());
  return op->getResult(0);
}

Value Writer::sumOf(Value list) {
  Type peeled = listOf(list).getPeeled();
  Value zero = buildZero(b, loc, peeled);
  ComputeOp op = createCompute(b, loc, OperatorKind::Reduce, peeled, list, zero);
  auto *block = new Block();
  op.getBody().push_back(block);
  block->addArguments({peeled, peeled}, {loc, loc});
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  Value total = buildSum(inner, loc, block->getArgument(0), block->getArgument(1));
  YieldOp::create(inner, loc, ValueRange{total}, ValueRange());
  return op->getResult(0);
}

Value Writer::keepWhere(Value flag, Value value) {
  if (isa<ListType>(value.getType()))
    return map(value, [&](Writer &w, ValueRange v) { return w.keepWhere(flag, v[0]); });
  RankedTensorType type = tensorOf(value);
  Value zero = splat(type, 0.0);
  if (type.getRank() == 0)
    return arith::SelectOp::create(b, loc, flag, value, zero);
  AffineMap same = b.getMultiDimIdentityMap(type.getRank());
  AffineMap none = AffineMap::get(type.getRank(), 0, b.getContext());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  return linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange{flag, value}, ValueRange{empty},
                                   ArrayRef<AffineMap>{none, same, same}, iterators,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     Value zero = Writer{inner, at}.splat(args[1].getType(), 0.0);
                                     Value kept = arith::SelectOp::create(inner, at, args[0], args[1], zero);
                                     linalg::YieldOp::create(inner, at, kept);
                                   })
      .getResult(0);
}

Value Writer::zeros(Type peeled, LengthAttr length) {
  return RepeatOp::create(b, loc, buildZero(b, loc, peeled), length);
}

Value Writer::surround(Value list, LengthAttr before, LengthAttr after) {
  Type peeled = listOf(list).getPeeled();
  SmallVector<Value> parts;
  if (before.getConstant() != 0)
    parts.push_back(zeros(peeled, before));
  parts.push_back(list);
  if (after.getConstant() != 0)
    parts.push_back(zeros(peeled, after));
  return concat(parts);
}

Value Writer::concat(ValueRange parts) {
  return parts.size() == 1 ? parts[0] : ConcatOp::create(b, loc, parts).getResult();
}

Value Writer::slice(Value list, LengthAttr lo, LengthAttr hi) {
  if (lo.getConstant() == 0 && hi == listOf(list).getLength())
    return list;
  return SliceOp::create(b, loc, list, lo, hi);
}

Value Writer::cast(Value list, Type type) {
  return list.getType() == type ? list : CastOp::create(b, loc, type, list).getResult();
}

Value Writer::iota(LengthAttr length, Type element) {
  return IotaOp::create(b, loc, ListType::wrap(length, RankedTensorType::get({}, element)));
}

Value Writer::isFilled(LengthAttr length, LengthAttr offset) {
  auto flag = RankedTensorType::get({}, b.getI1Type());
  auto constant = [&](bool value) -> Value {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(flag, value));
  };
  Value none = RepeatOp::create(b, loc, constant(false), length);
  return ShiftOp::create(b, loc, none, offset, constant(true));
}

//===----------------------------------------------------------------------===//
// Values of any type
//===----------------------------------------------------------------------===//

bool mlir::ft::isDifferentiableType(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return isDifferentiableType(list.getElement());
  return isa<FloatType>(getElementTypeOrSelf(type)) && (isa<FloatType, RankedTensorType>(type));
}

Value mlir::ft::buildZero(OpBuilder &b, Location loc, Type type) {
  Writer w{b, loc};
  auto list = dyn_cast<ListType>(type);
  return list ? w.zeros(list.getPeeled(), list.getLength()) : w.splat(type, 0.0);
}

Value mlir::ft::buildSum(OpBuilder &b, Location loc, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  Writer w{b, loc};
  if (isa<ListType>(x.getType()))
    return w.map({x, y}, [&](Writer &inner, ValueRange v) { return buildSum(inner.b, loc, v[0], v[1]); });
  return w.add(x, y);
}

Value mlir::ft::buildSumOfFilled(OpBuilder &b, Location loc, Value list, LengthAttr offset) {
  Writer w{b, loc};
  ListType type = listOf(list);
  std::optional<int64_t> constant = offset.getConstant();
  Value zero = buildZero(b, loc, type.getPeeled());
  if (constant == 0)
    return zero;
  if (constant == 1)
    return LastOp::create(b, loc, ReverseOp::create(b, loc, list), zero);
  if (constant == -1)
    return LastOp::create(b, loc, list, zero);
  Value filled = w.isFilled(type.getLength(), offset);
  return w.sumOf(w.map({filled, list}, [](Writer &inner, ValueRange v) { return inner.keepWhere(v[0], v[1]); }));
}
