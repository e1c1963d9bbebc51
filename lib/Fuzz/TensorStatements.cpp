//===- TensorStatements.cpp - random bodies -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// arith and math on tensors, linalg, tensor. Integers wrap and may do anything;
// floats stay of scale 1, so that a recurrence does not turn rounding into noise.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

TypedAttr ProgramBuilder::numberAttr(Type type, int64_t value) {
  if (auto f = dyn_cast<FloatType>(type))
    return FloatAttr::get(f, isPolynomial() ? value : value * 0.5);
  return IntegerAttr::get(type, value);
}

Value ProgramBuilder::splat(RankedTensorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, Attribute(numberAttr(type.getElementType(), value))));
}

Value ProgramBuilder::constant(RankedTensorType type) {
  if (type.getNumElements() > 64 || rng.percent(60))
    return splat(type, rng.between(-2, 3));
  SmallVector<Attribute> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(numberAttr(type.getElementType(), rng.between(-3, 3)));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, values));
}

Value ProgramBuilder::empty(RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
}

/// Floats only: keeps what grows.
Value ProgramBuilder::tame(Value a) {
  auto type = cast<RankedTensorType>(a.getType());
  if (!isa<FloatType>(type.getElementType()) || isPolynomial())
    return a;
  if (rng.percent(50))
    return math::TanhOp::create(b, loc, a);
  return arith::MulFOp::create(b, loc, a, splat(type, 1));
}

/// Floats only: an operand of a product that sums so many terms, small enough that a recurrence
/// through the product forgets its rounding.
Value ProgramBuilder::weights(Value a, int64_t summed) {
  auto type = cast<RankedTensorType>(a.getType());
  auto scalarType = dyn_cast<FloatType>(type.getElementType());
  if (!scalarType || isPolynomial())
    return a;
  auto factor = FloatAttr::get(scalarType, 0.5 / static_cast<double>(std::max<int64_t>(summed, 1)));
  Value small = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(factor)));
  return arith::MulFOp::create(b, loc, a, small);
}

Value ProgramBuilder::binaryOfFloats(Value x, Value y) {
  if (isPolynomial())
    switch (rng.weighted({35, 25, 40})) {
    case 0:
      return arith::AddFOp::create(b, loc, x, y);
    case 1:
      return arith::SubFOp::create(b, loc, x, y);
    default:
      return arith::MulFOp::create(b, loc, x, y);
    }
  switch (rng.weighted({30, 20, 20, 15, 15})) {
  case 0:
    return tame(arith::AddFOp::create(b, loc, x, y));
  case 1:
    return tame(arith::SubFOp::create(b, loc, x, y));
  case 2: {
    Value t = math::TanhOp::create(b, loc, x);
    return arith::MulFOp::create(b, loc, t, y);
  }
  case 3:
    return arith::MaximumFOp::create(b, loc, x, y);
  default:
    return arith::MinimumFOp::create(b, loc, x, y);
  }
}

Value ProgramBuilder::binary(Value x, Value y) {
  auto type = cast<RankedTensorType>(x.getType());
  if (isa<FloatType>(type.getElementType()))
    return binaryOfFloats(x, y);
  switch (rng.weighted({28, 18, 18, 7, 7, 4, 4, 4, 3, 7})) {
  case 0:
    return arith::AddIOp::create(b, loc, x, y);
  case 1:
    return arith::SubIOp::create(b, loc, x, y);
  case 2:
    return arith::MulIOp::create(b, loc, x, y);
  case 3:
    return arith::MaxSIOp::create(b, loc, x, y);
  case 4:
    return arith::MinSIOp::create(b, loc, x, y);
  case 5:
    return arith::AndIOp::create(b, loc, x, y);
  case 6:
    return arith::XOrIOp::create(b, loc, x, y);
  case 7:
    return arith::OrIOp::create(b, loc, x, y);
  case 8:
    return arith::MaxUIOp::create(b, loc, x, y);
  default: {
    auto predicate =
        rng.pick({arith::CmpIPredicate::slt, arith::CmpIPredicate::eq, arith::CmpIPredicate::sge,
                  arith::CmpIPredicate::ult, arith::CmpIPredicate::ne});
    Value c = arith::CmpIOp::create(b, loc, predicate, x, y);
    Value d = arith::SubIOp::create(b, loc, y, x);
    return arith::SelectOp::create(b, loc, c, x, d);
  }
  }
}

Value ProgramBuilder::unaryOfFloats(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  if (isPolynomial())
    switch (rng.below(4)) {
    case 0:
      return arith::NegFOp::create(b, loc, x);
    case 1:
      return arith::MulFOp::create(b, loc, x, x);
    case 2:
      return arith::MulFOp::create(b, loc, x, constant(type));
    default:
      return arith::AddFOp::create(b, loc, x, constant(type));
    }
  switch (rng.below(6)) {
  case 0:
    return arith::NegFOp::create(b, loc, x);
  case 1:
    return math::TanhOp::create(b, loc, x);
  case 2: {
    Value a = math::AbsFOp::create(b, loc, x);
    Value n = arith::NegFOp::create(b, loc, a);
    return math::ExpOp::create(b, loc, n);
  }
  case 3:
    return arith::MulFOp::create(b, loc, x, splat(type, 1));
  case 4: {
    Value a = math::AbsFOp::create(b, loc, x);
    Value one = splat(type, 2);
    Value s = arith::AddFOp::create(b, loc, a, one);
    return arith::DivFOp::create(b, loc, x, s);
  }
  default: {
    Value a = math::AbsFOp::create(b, loc, x);
    Value one = splat(type, 2);
    Value s = arith::AddFOp::create(b, loc, a, one);
    return math::SqrtOp::create(b, loc, s);
  }
  }
}

Value ProgramBuilder::unary(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  if (isa<FloatType>(type.getElementType()))
    return unaryOfFloats(x);
  switch (rng.below(8)) {
  case 0: {
    Value zero = splat(type, 0);
    return arith::SubIOp::create(b, loc, zero, x);
  }
  case 1: {
    Value c = constant(type);
    return arith::AddIOp::create(b, loc, x, c);
  }
  case 2: {
    Value c = constant(type);
    return arith::MulIOp::create(b, loc, x, c);
  }
  case 3: {
    Value c = splat(type, rng.between(1, 3));
    return arith::ShRSIOp::create(b, loc, x, c);
  }
  case 4: {
    Value c = splat(type, rng.pick<int64_t>({2, 3, 5, -3}));
    return arith::DivSIOp::create(b, loc, x, c);
  }
  case 5: {
    Value c = splat(type, rng.pick<int64_t>({3, 7}));
    return arith::RemSIOp::create(b, loc, x, c);
  }
  case 6:
    return math::AbsIOp::create(b, loc, x);
  default: {
    // There and back through the other width.
    Type other = type.getElementType().isInteger(32) ? b.getI64Type() : b.getI32Type();
    auto otherType = RankedTensorType::get(type.getShape(), other);
    if (other.isInteger(64)) {
      Value wide = arith::ExtSIOp::create(b, loc, otherType, x);
      Value square = arith::MulIOp::create(b, loc, wide, wide);
      Value seven = splat(otherType, 7);
      Value shifted = arith::ShRSIOp::create(b, loc, square, seven);
      return arith::TruncIOp::create(b, loc, type, shifted);
    }
    Value narrow = arith::TruncIOp::create(b, loc, otherType, x);
    return arith::ExtSIOp::create(b, loc, type, narrow);
  }
  }
}

/// A tensor of integers of any width as one of the program's scalar type.
Value ProgramBuilder::convert(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  auto to = RankedTensorType::get(type.getShape(), scalar);
  Type from = type.getElementType();
  if (from == scalar)
    return x;
  if (from.isIndex()) {
    x = arith::IndexCastOp::create(b, loc, RankedTensorType::get(type.getShape(), b.getI64Type()),
                                   x);
    from = b.getI64Type();
    if (from == scalar)
      return x;
  }
  if (isa<FloatType>(scalar)) {
    if (isa<FloatType>(from))
      return {};
    Value f = from.isInteger(1) ? Value(arith::UIToFPOp::create(b, loc, to, x))
                                : Value(arith::SIToFPOp::create(b, loc, to, x));
    if (isPolynomial())
      return f;
    Value s = arith::MulFOp::create(b, loc, f, splat(to, 1));
    return math::TanhOp::create(b, loc, s);
  }
  if (isa<FloatType>(from))
    return {};
  if (from.getIntOrFloatBitWidth() > scalar.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, to, x);
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, loc, to, x);
  return arith::ExtSIOp::create(b, loc, to, x);
}

/// A type beside the program's own: of fewer digits, or integers of another width.
Type ProgramBuilder::otherScalar() {
  if (scalar.isF32())
    return side.percent(60) ? Type(b.getF16Type()) : Type(b.getBF16Type());
  if (scalar.isF64())
    return side.percent(60) ? Type(b.getF32Type()) : Type(b.getF16Type());
  switch (side.below(3)) {
  case 0:
    return b.getIntegerType(8);
  case 1:
    return b.getIntegerType(16);
  default:
    return b.getIntegerType(scalar.isInteger(32) ? 64 : 32);
  }
}

/// A tensor of the program's scalars as one of another type.
Value ProgramBuilder::narrow(Value x, Type to) {
  auto type = cast<RankedTensorType>(x.getType()).clone(to);
  if (isa<FloatType>(scalar))
    return arith::TruncFOp::create(b, loc, type, x);
  if (to.getIntOrFloatBitWidth() > scalar.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, loc, type, x);
  return arith::TruncIOp::create(b, loc, type, x);
}

/// Back again; null where the type is none that a conversion leads back from.
Value ProgramBuilder::widen(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  Type from = type.getElementType();
  if (!isa<FloatType>(scalar) || !isa<FloatType>(from))
    return isa<FloatType>(from) ? Value() : convert(x);
  if (from.getIntOrFloatBitWidth() >= scalar.getIntOrFloatBitWidth())
    return {};
  return arith::ExtFOp::create(b, loc, type.clone(scalar), x);
}

/// In a program of mixed types the value as another type has it; integers are computed with in
/// that type, too. What is in between may go into lists and states.
Value ProgramBuilder::throughOther(Scope &scope, Value x) {
  if (!mixed || !side.percent(50))
    return x;
  Value other = narrow(x, otherScalar());
  auto type = cast<RankedTensorType>(other.getType());
  if (!isa<FloatType>(type.getElementType())) {
    Value square = arith::MulIOp::create(b, loc, other, other);
    other = arith::AddIOp::create(b, loc, square, splat(type, side.between(-2, 3)));
  }
  if (side.percent(50))
    add(scope, other);
  return widen(other);
}

//===----------------------------------------------------------------------===//
// Tensors of a wanted type
//===----------------------------------------------------------------------===//

/// A tensor of another element type than the program's.
Value ProgramBuilder::makeOtherElements(Scope &scope, RankedTensorType type) {
  if (Value v = pickType(scope, type))
    return v;
  // (What compares numbers is no polynomial.)
  if (!type.getElementType().isInteger(1) || isPolynomial())
    return splat(type, 1);
  auto wide = tensorType(type.getShape());
  Value x = makeTensor(scope, wide, 0), y = splat(wide, 0);
  if (isa<FloatType>(scalar))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}

Value ProgramBuilder::makeTranspose(Scope &scope, RankedTensorType type, int effort) {
  auto turned = tensorType({type.getDimSize(1), type.getDimSize(0)});
  Value x = makeTensor(scope, turned, effort - 1), e = empty(type);
  return linalg::TransposeOp::create(b, loc, x, e, ArrayRef<int64_t>{1, 0})->getResult(0);
}

/// One of the operations, drawn; null where it cannot make this type here.
Value ProgramBuilder::computeTensor(Scope &scope, RankedTensorType type, int effort) {
  unsigned rank = type.getRank();
  switch (rng.weighted({22, 8, rank ? 8 : 0, rank == 2 ? 5 : 0, 8, rank == 2 ? 14 : 0, 8, 6, 5, 12, 4})) {
  case 0: {
    Value x = makeTensor(scope, type, effort - 1), y = makeTensor(scope, type, effort - 1);
    return binary(x, y);
  }
  case 1:
    return unary(makeTensor(scope, type, effort - 1));
  case 2:
    return makeBroadcast(scope, type, effort);
  case 3:
    return makeTranspose(scope, type, effort);
  case 4:
    return makeReduce(scope, type, effort);
  case 5:
    return makeMatmul(scope, type, effort);
  case 6:
    return makeGeneric(scope, type, effort);
  case 7:
    return makeSlice(scope, type, effort);
  case 8:
    return makeReshape(scope, type, effort);
  case 9: {
    // An element of a list.
    Value list = pick(scope, [&](Value v) {
      auto l = dyn_cast<ListType>(v.getType());
      return l && l.getPeeled() == type;
    });
    return list ? at(list) : Value();
  }
  default:
    return pickType(scope, type);
  }
}

/// Something that is there: of the type itself or of another one, which is converted; null where nothing is.
Value ProgramBuilder::findTensor(Scope &scope, RankedTensorType type) {
  // Of another type, of which a program of mixed types has some.
  if (mixed && side.percent(60))
    if (Value other = pick(scope, [&](Value v) {
          auto t = dyn_cast<RankedTensorType>(v.getType());
          return t && t.getShape() == type.getShape() && t.getElementType() != scalar &&
                 isa<FloatType>(t.getElementType()) == isa<FloatType>(scalar) &&
                 !t.getElementType().isIndex();
        }))
      if (Value v = widen(other))
        return v;
  if (Value v = pickType(scope, type))
    return v;
  Value number = pick(scope, [&](Value v) {
    auto t = dyn_cast<RankedTensorType>(v.getType());
    return t && t.getRank() == 0 && t.getElementType() != type.getElementType() &&
           !isa<FloatType>(t.getElementType());
  });
  return number && type.getRank() == 0 && rng.percent(70) ? convert(number) : Value();
}

Value ProgramBuilder::makeTensor(Scope &scope, RankedTensorType type, int effort) {
  if (type.getElementType() != scalar)
    return makeOtherElements(scope, type);
  if (effort > 0 && afford(scope, type.getNumElements()))
    for (int attempt = 0; attempt < 3; ++attempt)
      if (Value v = computeTensor(scope, type, effort))
        return v;
  if (Value v = findTensor(scope, type))
    return v;
  // A smaller one spread out.
  if (type.getRank() > 0 && rng.percent(60))
    if (Value v = makeBroadcast(scope, type, 0))
      return v;
  if (scope.depth == 0 || rng.percent(25))
    if (Value v = argumentOrNull(type))
      return v;
  return constant(type);
}

Value ProgramBuilder::makeBroadcast(Scope &scope, RankedTensorType type, int effort) {
  // With no effort: something that is there.
  SmallVector<int64_t> dropped, kept;
  if (effort == 0) {
    Value x = pick(scope, [&](Value v) {
      auto t = dyn_cast<RankedTensorType>(v.getType());
      return t && isScalarTensor(t) && t.getRank() + 1 == type.getRank() &&
             (t.getShape() == type.getShape().drop_front() ||
              t.getShape() == type.getShape().drop_back());
    });
    if (!x)
      return {};
    bool front = cast<RankedTensorType>(x.getType()).getShape() == type.getShape().drop_front();
    Value e = empty(type);
    return linalg::BroadcastOp::create(b, loc, x, e,
                                       ArrayRef<int64_t>{front ? 0 : type.getRank() - 1})
        ->getResult(0);
  }
  for (int64_t d = 0; d < type.getRank(); ++d)
    (rng.percent(60) ? dropped : kept).push_back(d);
  if (dropped.empty())
    return {};
  SmallVector<int64_t> shape;
  for (int64_t d : kept)
    shape.push_back(type.getDimSize(d));
  Value x = makeTensor(scope, tensorType(shape), effort - 1), e = empty(type);
  return linalg::BroadcastOp::create(b, loc, x, e, dropped)->getResult(0);
}

Value ProgramBuilder::makeReduce(Scope &scope, RankedTensorType type, int effort) {
  SmallVector<int64_t> shape(type.getShape());
  int64_t position = rng.below(type.getRank() + 1),
          size = rng.percent(30) ? randomSize() : rng.pickFrom(sizes);
  if (type.getNumElements() * size > 1500 || type.getRank() >= 3 ||
      !afford(scope, type.getNumElements() * size))
    return {};
  shape.insert(shape.begin() + position, size);
  Value x = makeTensor(scope, tensorType(shape), effort - 1);
  Value init = rng.percent(60) ? splat(type, 0) : makeTensor(scope, type, 0);
  bool isFloat = isa<FloatType>(scalar);
  unsigned kind = rng.below(3);
  Value sum = linalg::ReduceOp::create(
                  b, loc, ValueRange{x}, ValueRange{init}, ArrayRef<int64_t>{position},
                  [&](OpBuilder &nested, Location at, ValueRange args) {
                    Value r;
                    if (isFloat)
                      r = kind || isPolynomial() ? Value(arith::AddFOp::create(nested, at, args[0], args[1]))
                               : Value(arith::MaximumFOp::create(nested, at, args[0], args[1]));
                    else if (kind == 0)
                      r = arith::AddIOp::create(nested, at, args[0], args[1]);
                    else if (kind == 1)
                      r = arith::MaxSIOp::create(nested, at, args[0], args[1]);
                    else
                      r = arith::XOrIOp::create(nested, at, args[0], args[1]);
                    linalg::YieldOp::create(nested, at, r);
                  })
                  ->getResult(0);
  return tame(sum);
}

Value ProgramBuilder::makeMatmul(Scope &scope, RankedTensorType type, int effort) {
  int64_t m = type.getDimSize(0), n = type.getDimSize(1),
          k = rng.percent(25) ? randomSize() : rng.pickFrom(sizes);
  if (m * k > 1500 || k * n > 1500 || !afford(scope, m * n * k))
    return {};
  bool turnedLeft = rng.percent(20), turnedRight = rng.percent(25);
  Value x =
      makeTensor(scope, tensorType(turnedLeft ? ArrayRef<int64_t>{k, m} : ArrayRef<int64_t>{m, k}),
                 effort - 1);
  Value y =
      makeTensor(scope, tensorType(turnedRight ? ArrayRef<int64_t>{n, k} : ArrayRef<int64_t>{k, n}),
                 effort - 1);
  Value init = rng.percent(60) ? splat(type, 0) : makeTensor(scope, type, 0);
  y = weights(y, k);
  if (mixed && isa<FloatType>(scalar) && !turnedLeft && !turnedRight) { // summed in the wider type
    Type other = otherScalar();
    x = narrow(x, other);
    y = narrow(y, other);
    return tame(
        linalg::MatmulOp::create(b, loc, TypeRange{type}, ValueRange{x, y}, ValueRange{init})
            ->getResult(0));
  }
  if (!turnedLeft && !turnedRight && rng.percent(75))
    return tame(
        linalg::MatmulOp::create(b, loc, TypeRange{type}, ValueRange{x, y}, ValueRange{init})
            ->getResult(0));
  AffineExpr dm, dn, dk;
  bindDims(context, dm, dn, dk);
  SmallVector<AffineMap> maps{
      AffineMap::get(3, 0, turnedLeft ? ArrayRef<AffineExpr>{dk, dm} : ArrayRef<AffineExpr>{dm, dk},
                     context),
      AffineMap::get(
          3, 0, turnedRight ? ArrayRef<AffineExpr>{dn, dk} : ArrayRef<AffineExpr>{dk, dn}, context),
      AffineMap::get(3, 0, {dm, dn}, context)};
  SmallVector<utils::IteratorType> iterators{
      utils::IteratorType::parallel, utils::IteratorType::parallel, utils::IteratorType::reduction};
  bool isFloat = isa<FloatType>(scalar);
  auto op =
      linalg::GenericOp::create(b, loc, TypeRange{type}, ValueRange{x, y}, ValueRange{init}, maps,
                                iterators, [&](OpBuilder &nested, Location at, ValueRange args) {
                                  Value product, sum;
                                  if (isFloat) {
                                    product = arith::MulFOp::create(nested, at, args[0], args[1]);
                                    sum = arith::AddFOp::create(nested, at, args[2], product);
                                  } else {
                                    product = arith::MulIOp::create(nested, at, args[0], args[1]);
                                    sum = arith::AddIOp::create(nested, at, args[2], product);
                                  }
                                  linalg::YieldOp::create(nested, at, sum);
                                });
  return tame(op->getResult(0));
}

/// A little arithmetic on scalars inside a linalg region.
Value ProgramBuilder::scalarCode(OpBuilder &nested, Location at, SmallVector<Value> values) {
  bool isFloat = isa<FloatType>(scalar);
  Value r = values.front();
  for (Value v : ArrayRef(values).drop_front()) {
    if (isPolynomial() && rng.percent(40)) {
      r = arith::MulFOp::create(nested, at, r, v);
      continue;
    }
    if (isFloat) {
      Value s = rng.percent(50) ? Value(arith::AddFOp::create(nested, at, r, v))
                                : Value(arith::SubFOp::create(nested, at, r, v));
      if (isPolynomial()) {
        r = s;
        continue;
      }
      Value half = arith::ConstantOp::create(nested, at, nested.getFloatAttr(scalar, 0.5));
      r = arith::MulFOp::create(nested, at, s, half);
      continue;
    }
    switch (rng.below(4)) {
    case 0:
      r = arith::AddIOp::create(nested, at, r, v);
      break;
    case 1:
      r = arith::SubIOp::create(nested, at, r, v);
      break;
    case 2:
      r = arith::MulIOp::create(nested, at, r, v);
      break;
    default: {
      Value c = arith::CmpIOp::create(nested, at, arith::CmpIPredicate::slt, r, v);
      r = arith::SelectOp::create(nested, at, c, v, r);
    }
    }
  }
  return r;
}

/// An elementwise generic whose second input is spread or turned, and which may ask where it is.
Value ProgramBuilder::makeGeneric(Scope &scope, RankedTensorType type, int effort) {
  if (rng.percent(40))
    if (Value odd = makeOddGeneric(scope, type, effort))
      return odd;
  unsigned rank = type.getRank();
  SmallVector<int64_t> kept, shape;
  for (unsigned d = 0; d < rank; ++d)
    if (rng.percent(60))
      kept.push_back(d);
  if (kept.size() == 2 && rng.percent(40))
    std::swap(kept[0], kept[1]);
  SmallVector<AffineExpr> exprs;
  for (int64_t d : kept) {
    shape.push_back(type.getDimSize(d));
    exprs.push_back(b.getAffineDimExpr(d));
  }
  Value x = makeTensor(scope, type, effort - 1),
        y = makeTensor(scope, tensorType(shape), effort - 1);
  Value init = rng.percent(60) ? empty(type) : makeTensor(scope, type, 0);
  bool readsInit = !init.getDefiningOp<tensor::EmptyOp>();
  bool asksWhere = rank > 0 && !isa<FloatType>(scalar) && rng.percent(30);
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps{identity, AffineMap::get(rank, 0, exprs, context), identity};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  int64_t where = rank ? rng.below(rank) : 0;
  auto op = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange{x, y}, ValueRange{init}, maps, iterators,
      [&](OpBuilder &nested, Location at, ValueRange args) {
        SmallVector<Value> values{args[0], args[1]};
        if (readsInit)
          values.push_back(args[2]);
        if (asksWhere) {
          Value i = linalg::IndexOp::create(nested, at, where);
          values.push_back(arith::IndexCastOp::create(nested, at, scalar, i));
        }
        linalg::YieldOp::create(nested, at, scalarCode(nested, at, values));
      });
  return op->getResult(0);
}

Value ProgramBuilder::makeSlice(Scope &scope, RankedTensorType type, int effort) {
  unsigned rank = type.getRank();
  SmallVector<OpFoldResult> offsets, extents, strides;
  if (type.getNumElements() == 0)
    return {}; // upstream's verifier wants the first element to be there
  if (rng.percent(50)) { // out of a larger one
    SmallVector<int64_t> shape;
    for (int64_t size : type.getShape()) {
      int64_t before = rng.below(3), after = rng.below(3), step = rng.percent(20) ? 2 : 1;
      shape.push_back(before + (size - 1) * step + 1 + after);
      offsets.push_back(b.getIndexAttr(before));
      extents.push_back(b.getIndexAttr(size));
      strides.push_back(b.getIndexAttr(step));
    }
    auto from = tensorType(shape);
    // Or one row of a matrix.
    if (rank < 2 && rng.percent(50)) {
      shape.insert(shape.begin(), rng.between(1, 4));
      from = tensorType(shape);
      offsets.insert(offsets.begin(), b.getIndexAttr(rng.below(shape[0])));
      extents.insert(extents.begin(), b.getIndexAttr(1));
      strides.insert(strides.begin(), b.getIndexAttr(1));
    }
    if (from.getNumElements() > 1500)
      return {};
    Value x = makeTensor(scope, from, effort - 1);
    return tensor::ExtractSliceOp::create(b, loc, type, x, offsets, extents, strides);
  }
  if (rank == 0)
    return {};
  if (rng.percent(40)) { // two halves
    int64_t axis = rng.below(rank), cut = rng.below(type.getDimSize(axis)) + 1;
    if (cut >= type.getDimSize(axis))
      return {};
    SmallVector<int64_t> low(type.getShape()), high(type.getShape());
    low[axis] = cut;
    high[axis] -= cut;
    Value x = makeTensor(scope, tensorType(low), effort - 1),
          y = makeTensor(scope, tensorType(high), effort - 1);
    return tensor::ConcatOp::create(b, loc, type, axis, ValueRange{x, y});
  }
  SmallVector<int64_t> shape;
  for (int64_t size : type.getShape()) {
    int64_t part = rng.between(1, size);
    shape.push_back(part);
    offsets.push_back(b.getIndexAttr(rng.below(size - part + 1)));
    extents.push_back(b.getIndexAttr(part));
    strides.push_back(b.getIndexAttr(1));
  }
  Value into = makeTensor(scope, type, effort - 1),
        x = makeTensor(scope, tensorType(shape), effort - 1);
  return tensor::InsertSliceOp::create(b, loc, x, into, offsets, extents, strides);
}

Value ProgramBuilder::makeReshape(Scope &scope, RankedTensorType type, int effort) {
  if (type.getRank() == 1) {
    int64_t n = type.getDimSize(0), inner = 1;
    for (int64_t d : {2, 3, 4, 5, 7, 8})
      if (n % d == 0 && rng.percent(60))
        inner = d;
    Value x = makeTensor(scope, tensorType({n / inner, inner}), effort - 1);
    return tensor::CollapseShapeOp::create(b, loc, type, x, ArrayRef<ReassociationIndices>{{0, 1}});
  }
  if (type.getRank() == 2) {
    Value x = makeTensor(scope, tensorType(type.getNumElements()), effort - 1);
    return tensor::ExpandShapeOp::create(b, loc, type, x, ArrayRef<ReassociationIndices>{{0, 1}});
  }
  if (type.getRank() == 0 && rng.percent(50)) {
    Value x = makeTensor(scope, tensorType(rng.pickFrom(sizes)), effort - 1);
    int64_t extent = cast<RankedTensorType>(x.getType()).getDimSize(0);
    if (extent == 0)
      return {};
    Value i = arith::ConstantIndexOp::create(b, loc, rng.below(extent));
    Value s = tensor::ExtractOp::create(b, loc, x, ValueRange{i});
    return tensor::FromElementsOp::create(b, loc, type, ValueRange{s});
  }
  return {};
}

void ProgramBuilder::tensorStep(Scope &scope) {
  // Go on from something that is there, mostly.
  Value like = pick(scope, [&](Value v) { return isScalarTensor(v.getType()); });
  if (like && rng.percent(75)) {
    auto type = cast<RankedTensorType>(like.getType());
    if (!afford(scope, type.getNumElements()))
      return;
    if (rng.percent(30))
      return add(scope, throughOther(scope, unary(like)));
    Value other = makeTensor(scope, type, 2);
    return add(scope, throughOther(scope, binary(like, other)));
  }
  Value list = pick(scope, [&](Value v) { return isa<ListType>(v.getType()); });
  if (list && rng.percent(30))
    if (auto element = dyn_cast<RankedTensorType>(cast<ListType>(list.getType()).getElement());
        element && isScalarTensor(element))
      return add(scope, makeTensor(scope, element, 2));
  add(scope, makeTensor(scope, randomTensorType(), 2));
}
