//===- SetText.h - conditions as a person writes them -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear forms of quasi-affine expressions, and integer sets as conditions:
// `k >= 1 and i + 2 <= L`. Used by the printer and parser of etdg.block and by
// every message that speaks about a set.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_IR_SETTEXT_H
#define FT_DIALECT_ETDG_IR_SETTEXT_H

#include "ft/Support/NamedAffine.h"
#include "mlir/IR/IntegerSet.h"

namespace mlir::etdg {

/// A sum `Σ coefficient · atom + constant`. An atom is a dimension, a symbol, or
/// an expression that is not linear (a division, a remainder, a product).
struct LinearForm {
  SmallVector<std::pair<AffineExpr, int64_t>> terms;
  int64_t constant = 0;

  static LinearForm of(AffineExpr expr);
  AffineExpr toExpr(MLIRContext *context) const;
  int64_t coefficient(AffineExpr atom) const;
  /// Whether dimension `dim` occurs, and only as a term of its own.
  bool isLinearIn(unsigned dim) const;
  /// The highest dimension that occurs anywhere, or -1.
  int getLastDim() const;
};

/// The expression with its terms combined and in canonical order.
AffineExpr canonicalizeExpr(AffineExpr expr, unsigned numDims, unsigned numSymbols);

/// How a constraint takes part in the range of its last dimension `dim`.
enum class BoundClass { Lower, Upper, Equal, Other };
BoundClass classifyConstraint(AffineExpr constraint, bool isEq, int dim);

/// `k >= 1`, `i + 2 <= L`, `j = 0`.
void printCondition(raw_ostream &os, AffineExpr constraint, bool isEq, ArrayRef<StringAttr> dims,
                    ArrayRef<StringAttr> symbols);
/// Conditions joined by `and`; `true` for a set without constraints.
void printConditions(raw_ostream &os, IntegerSet set, ArrayRef<StringAttr> dims,
                     ArrayRef<StringAttr> symbols);
std::string conditionsToString(IntegerSet set, ArrayRef<StringAttr> dims,
                               ArrayRef<StringAttr> symbols);

/// Parses what `printConditions` prints, and `<`, `>`, `==` besides. Each
/// constraint is an expression that is at least 0, or equal to 0.
ParseResult parseConditions(AsmParser &parser, ft::NamedExprParser &exprs,
                            SmallVectorImpl<AffineExpr> &constraints, SmallVectorImpl<bool> &eqs);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_IR_SETTEXT_H
