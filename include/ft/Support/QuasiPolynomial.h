//===- QuasiPolynomial.h - normal form of quasi-affine expressions  -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of integer multiples of monomials. MLIR's affine expressions have no
// normal form once symbols are multiplied or divided; lengths need one, because
// equal lengths must be the same attribute.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_QUASIPOLYNOMIAL_H
#define FT_SUPPORT_QUASIPOLYNOMIAL_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>

namespace mlir::ft {

/// A product of atoms (dimensions, symbols, quotients and remainders), sorted;
/// the empty one is 1.
using Monomial = llvm::SmallVector<AffineExpr, 2>;

struct MonomialLess {
  bool operator()(const Monomial &a, const Monomial &b) const;
};

class QuasiPolynomial {
public:
  /// The normal form of an expression; none when a coefficient overflows or the
  /// form grows beyond reason. Rules: quotients and remainders by a positive
  /// constant have coefficients in [0, divisor) and no common factor with it,
  /// and are written `ceildiv` where the constant term is divisor - 1; divisors
  /// that are one monomial cancel in the terms they divide; a quotient of a quotient is one. A remainder
  /// by a constant is E - d·floordiv(E, d), and such a difference is written as a remainder.
  static std::optional<QuasiPolynomial> get(AffineExpr expr);

  AffineExpr toExpr(MLIRContext *context) const;
  int64_t getConstantTerm() const;
  bool isConstant() const;

  /// Coefficients by monomial, none of them 0.
  std::map<Monomial, int64_t, MonomialLess> terms;

private:
  /// Without remainders by constants.
  static std::optional<QuasiPolynomial> expand(AffineExpr expr);
  /// With a remainder in the place of each c·E - c·d·floordiv(E, d); `this` is expanded.
  QuasiPolynomial contract(MLIRContext *context) const;
  bool contractOne(MLIRContext *context);
  bool takes(const QuasiPolynomial &numerator, const Monomial &factor, int64_t count) const;
  static QuasiPolynomial of(const Monomial &monomial, int64_t coefficient) {
    QuasiPolynomial form;
    form.add(monomial, coefficient);
    return form;
  }
  bool add(const Monomial &monomial, int64_t coefficient);
  bool add(const QuasiPolynomial &other, int64_t factor);
  static std::optional<QuasiPolynomial> multiply(const QuasiPolynomial &a, const QuasiPolynomial &b);
  static std::optional<QuasiPolynomial> divide(QuasiPolynomial numerator, const QuasiPolynomial &divisor,
                                          AffineExprKind kind, MLIRContext *context);
  static std::optional<QuasiPolynomial> divideTwice(const QuasiPolynomial &numerator, int64_t d,
                                               MLIRContext *context);
  static std::optional<QuasiPolynomial> remainder(const QuasiPolynomial &numerator, const QuasiPolynomial &divisor,
                                             MLIRContext *context);
};

/// Whether a constant of `a + b`, `a - b` (kind Add) or `a * b` (kind Mul) may
/// leave 63 bits: MLIR folds constants without looking.
bool mayOverflow(AffineExprKind kind, AffineExpr a, AffineExpr b);

/// `expr` in normal form, or unchanged where it has none.
AffineExpr normalizeExpr(AffineExpr expr);

} // namespace mlir::ft

#endif // FT_SUPPORT_QUASIPOLYNOMIAL_H
