//===- Terms.cpp - formulas over values of the program --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft::derivatives;

/// A constant of a float type, or of a tensor of floats.
static Value numberOf(Place &place, double number) {
  auto element = cast<FloatType>(getElementTypeOrSelf(place.type));
  TypedAttr value = place.builder.getFloatAttr(element, number);
  if (auto tensor = dyn_cast<RankedTensorType>(place.type))
    value = DenseElementsAttr::get(tensor, value);
  return arith::ConstantOp::create(place.builder, place.loc, value);
}

Value Term::get(Place &where) const {
  if (isNone)
    return Value();
  if (!place)
    return numberOf(where, number);
  return built ? built : place->primal(source);
}

static Place &placeOf(const Term &a, const Term &b) { return a.getPlace() ? *a.getPlace() : *b.getPlace(); }

template <typename Op>
static Term binary(const Term &a, const Term &b) {
  Place &place = placeOf(a, b);
  Value left = a.get(place), right = b.get(place);
  return Term(place, Op::create(place.builder, place.loc, left, right).getResult());
}

template <typename Op>
static Term unary(const Term &a) {
  Place &place = *a.getPlace();
  return Term(place, Op::create(place.builder, place.loc, a.get(place)).getResult());
}

static Term compare(arith::CmpFPredicate predicate, const Term &a, const Term &b) {
  Place &place = placeOf(a, b);
  Value left = a.get(place), right = b.get(place);
  return Term(place, arith::CmpFOp::create(place.builder, place.loc, predicate, left, right).getResult());
}

namespace mlir::ft::derivatives {
Term operator+(Term a, Term b) { return binary<arith::AddFOp>(a, b); }
Term operator-(Term a, Term b) { return binary<arith::SubFOp>(a, b); }
Term operator*(Term a, Term b) { return binary<arith::MulFOp>(a, b); }
Term operator/(Term a, Term b) { return binary<arith::DivFOp>(a, b); }
Term operator-(Term a) { return unary<arith::NegFOp>(a); }

Term operator==(Term a, Term b) { return compare(arith::CmpFPredicate::OEQ, a, b); }
Term operator>(Term a, Term b) { return compare(arith::CmpFPredicate::OGT, a, b); }
Term operator<(Term a, Term b) { return compare(arith::CmpFPredicate::OLT, a, b); }
Term operator>=(Term a, Term b) { return compare(arith::CmpFPredicate::OGE, a, b); }
Term operator<=(Term a, Term b) { return compare(arith::CmpFPredicate::OLE, a, b); }
Term isNaN(Term x) { return compare(arith::CmpFPredicate::UNO, x, x); }

Term when(Term condition, Term a, Term b) {
  Place &place = *condition.getPlace();
  Value first = a.get(place), second = b.get(place);
  return Term(place, arith::SelectOp::create(place.builder, place.loc, condition.get(place), first, second).getResult());
}

Term exp(Term x) { return unary<math::ExpOp>(x); }
Term log(Term x) { return unary<math::LogOp>(x); }
Term sin(Term x) { return unary<math::SinOp>(x); }
Term cos(Term x) { return unary<math::CosOp>(x); }
Term sinh(Term x) { return unary<math::SinhOp>(x); }
Term cosh(Term x) { return unary<math::CoshOp>(x); }
Term rsqrt(Term x) { return unary<math::RsqrtOp>(x); }
Term trunc(Term x) { return unary<math::TruncOp>(x); }
Term pow(Term x, Term y) { return binary<math::PowFOp>(x, y); }

static Value integer(Place &place, Type type, int64_t number) {
  TypedAttr value = place.builder.getIntegerAttr(getElementTypeOrSelf(type), number);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    value = DenseElementsAttr::get(tensor, value);
  return arith::ConstantOp::create(place.builder, place.loc, value);
}

Term isZero(Term n) {
  Place &place = *n.getPlace();
  Value value = n.get(place), zero = integer(place, value.getType(), 0);
  return Term(place, arith::CmpIOp::create(place.builder, place.loc, arith::CmpIPredicate::eq, value, zero).getResult());
}

Term toFloat(Term n) {
  Place &place = *n.getPlace();
  return Term(place, arith::SIToFPOp::create(place.builder, place.loc, place.type, n.get(place)).getResult());
}

Term powLess(Term x, Term n) {
  Place &place = *n.getPlace();
  Value value = n.get(place), one = integer(place, value.getType(), 1);
  Value less = arith::SubIOp::create(place.builder, place.loc, value, one);
  return Term(place, math::FPowIOp::create(place.builder, place.loc, x.get(place), less).getResult());
}
} // namespace mlir::ft::derivatives
