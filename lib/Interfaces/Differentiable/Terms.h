//===- Terms.h - formulas over values of the program ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the formulas of MathDerivatives.def are written in.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERFACES_DIFFERENTIABLE_TERMS_H
#define LIB_FT_INTERFACES_DIFFERENTIABLE_TERMS_H

#include "ft/Interfaces/Differentiable.h"

namespace mlir::ft::derivatives {

inline constexpr double twoBySqrtPi = 1.12837916709551257390;
inline constexpr double logOf2 = 0.69314718055994530942, logOf10 = 2.30258509299404568402;

/// Where a formula is built.
struct Place {
  OpBuilder &builder;
  Location loc;
  PrimalReader primal;
  Type type; // of the result, which the numbers in a formula have too
};

/// A number, a value, or an operand or result of the program that is read when it is first used.
class Term {
public:
  Term(double number) : number(number) {}
  Term(Place &place, Value built) : place(&place), built(built) {}
  static Term read(Place &place, Value source) {
    Term term(place, Value());
    term.source = source;
    return term;
  }
  static Term none() {
    Term term(0.0);
    term.isNone = true;
    return term;
  }

  bool isNumber() const { return !place; }
  /// The value at `where`, or null where the derivative is none.
  Value get(Place &where) const;
  Place *getPlace() const { return place; }
  bool isZero() const { return isNone; }

private:
  Place *place = nullptr;
  Value built, source;
  double number = 0.0;
  bool isNone = false;
};

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator-(Term a);

// Comparisons of floats, ordered: false where a side is NaN.
Term operator==(Term a, Term b);
Term operator>(Term a, Term b);
Term operator<(Term a, Term b);
Term operator>=(Term a, Term b);
Term operator<=(Term a, Term b);

/// `a` where the condition holds, else `b`.
Term when(Term condition, Term a, Term b);

Term exp(Term x);
Term log(Term x);
Term sin(Term x);
Term cos(Term x);
Term sinh(Term x);
Term cosh(Term x);
Term rsqrt(Term x);
Term trunc(Term x);
Term pow(Term x, Term y);
Term isNaN(Term x);

// Of an integer n: whether it is 0, n as a float, and x to the n - 1.
Term isZero(Term n);
Term toFloat(Term n);
Term powLess(Term x, Term n);

/// Of an operation whose results do not change with its operands: a constant, a shape, a function that is constant piece by piece.
template <typename Op>
struct ConstantModel : DifferentiableOpInterface::ExternalModel<ConstantModel<Op>, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &, PrimalReader, ArrayRef<Value>, ArrayRef<bool>,
                         SmallVectorImpl<Value> &gradients) const {
    gradients.append(op->getNumOperands(), Value());
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &, PrimalReader, ArrayRef<Value>,
                         SmallVectorImpl<Value> &results) const {
    results.append(op->getNumResults(), Value());
    return success();
  }
};

/// Models of `arith` and `math`, `tensor`, `linalg`, and of `ft`'s access operators and short forms.
void registerScalarModels(DialectRegistry &registry);
void registerTensorModels(DialectRegistry &registry);
void registerLinalgModels(DialectRegistry &registry);
void registerListModels(DialectRegistry &registry);
void registerFormModels(DialectRegistry &registry);

} // namespace mlir::ft::derivatives

#endif // LIB_FT_INTERFACES_DIFFERENTIABLE_TERMS_H
