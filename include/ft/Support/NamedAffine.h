//===- NamedAffine.h - affine expressions over names ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses and prints quasi-affine expressions as a person writes them: `L - 2`,
// `ceildiv(L, 2)`, `2 * i + k - 1`. Dimensions have given names; every other
// name is a symbol, collected in order of appearance.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_NAMEDAFFINE_H
#define FT_SUPPORT_NAMEDAFFINE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::ft {

/// Grammar: sum := term (('+' | '-') term)*, term := factor ('*' factor)*,
/// factor := integer | name | '-' factor | '(' sum ')' |
///           ('floordiv' | 'ceildiv' | 'mod') '(' sum ',' sum ')'.
class NamedExprParser {
public:
  NamedExprParser(AsmParser &parser, ArrayRef<StringAttr> dims = {}) : parser(parser), dims(dims) {}

  ParseResult parse(AffineExpr &expr);
  /// Nothing is consumed and no error emitted when no expression starts here.
  OptionalParseResult parseOptional(AffineExpr &expr);

  /// Symbol i of the parsed expressions is `symbols[i]`.
  SmallVector<StringAttr> symbols;

private:
  AsmParser &parser;
  ArrayRef<StringAttr> dims;
};

/// The same grammar over a string; null, and what is wrong in `error`, when it is no expression.
AffineExpr parseNamedExpr(MLIRContext *context, StringRef text,
                          SmallVectorImpl<StringAttr> &symbols, std::string &error);

/// Positive terms come first: `N - i - 1`, not `-i + N - 1`.
void printNamedExpr(raw_ostream &os, AffineExpr expr, ArrayRef<StringAttr> dims, ArrayRef<StringAttr> symbols);

/// Sorts `names`, drops those that occur in none of `exprs`, and renumbers the symbols.
void canonicalizeSymbols(SmallVectorImpl<StringAttr> &names, MutableArrayRef<AffineExpr> exprs, unsigned numDims);

/// `expr` with its symbols renumbered from `from` to `to`; every name that occurs must be in `to`.
AffineExpr alignSymbols(AffineExpr expr, ArrayRef<StringAttr> from, ArrayRef<StringAttr> to);

} // namespace mlir::ft

#endif // FT_SUPPORT_NAMEDAFFINE_H
