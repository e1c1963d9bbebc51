//===- FTBounds.cpp - what follows from the bounds of a function ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a length is never negative, asked exactly: the integer points that
// satisfy the bounds and make it negative must be none.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/QuasiPolynomial.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::presburger;

namespace {
/// Linear constraints over monomials. A product of lengths is not linear, so
/// each distinct one is an unknown of its own, bounded by what bounds its factors;
/// quotients and remainders by constants are defined exactly.
class MonomialSystem {
public:
  explicit MonomialSystem(MLIRContext *context) : context(context) {}

  /// Lengths are never negative, nor what is made of them without subtraction.
  static bool isNonNegativeForm(AffineExpr expr) {
    std::optional<QuasiPolynomial> form = QuasiPolynomial::get(expr);
    return form && llvm::all_of(form->terms, [](const auto &term) {
             return term.second >= 0 && llvm::all_of(term.first, isNonNegativeAtom);
           });
  }

  /// Adds `expr` ≥ 0; false when it has no normal form.
  bool addNonNegative(AffineExpr expr) {
    std::optional<QuasiPolynomial> form = QuasiPolynomial::get(expr);
    if (!form)
      return false;
    constraints.push_back(flatten(*form));
    return true;
  }

  /// Takes note of s ≥ 4 where `expr` ≥ 0 says so.
  void noteLeast(AffineExpr expr) {
    std::optional<QuasiPolynomial> form = QuasiPolynomial::get(expr);
    if (!form || form->isConstant() || form->terms.size() > 2)
      return;
    const auto &[monomial, coefficient] = *form->terms.begin();
    int64_t constant = form->getConstantTerm();
    if (monomial.size() != 1 || (form->terms.size() == 2 && constant == 0) || coefficient < 1 ||
        constant >= 0 || constant == std::numeric_limits<int64_t>::min())
      return;
    int64_t &value = least[monomial];
    value = std::max(value, llvm::divideCeilSigned(-constant, coefficient));
  }

  bool isEmpty() {
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(columns.size()));
    for (const Row &row : constraints) {
      SmallVector<int64_t> dense(columns.size() + 1);
      for (auto [column, coefficient] : row)
        dense[column == constantColumn ? columns.size() : column] = coefficient;
      set.addInequality(dense);
    }
    return set.isIntegerEmpty();
  }

private:
  using Row = std::map<size_t, int64_t>;
  static constexpr size_t constantColumn = ~size_t(0);
  static constexpr size_t maxBoundedDegree = 4;

  Row flatten(const QuasiPolynomial &form) {
    Row row;
    for (const auto &[monomial, coefficient] : form.terms)
      row[monomial.empty() ? constantColumn : getColumn(monomial)] = coefficient;
    return row;
  }

  size_t getColumn(const Monomial &monomial) {
    auto [it, inserted] = columns.try_emplace(monomial, columns.size());
    size_t column = it->second;
    if (!inserted)
      return column;
    if (llvm::all_of(monomial, isNonNegativeAtom))
      constraints.push_back({{column, 1}});
    if (monomial.size() != 1) {
      boundProduct(column, monomial);
      return column;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(monomial.front());
    if (!binary)
      return column;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    std::optional<QuasiPolynomial> numerator = QuasiPolynomial::get(binary.getLHS());
    if (!divisor || divisor.getValue() < 1 || !numerator)
      return column;
    define(column, flatten(*numerator), divisor.getValue(), binary.getKind());
    return column;
  }

  /// (a - p)·(m - q) ≥ 0 for each factor a ≥ p and the rest m ≥ q.
  void boundProduct(size_t column, const Monomial &monomial) {
    if (monomial.size() > maxBoundedDegree || !llvm::all_of(monomial, isNonNegativeAtom))
      return;
    for (size_t factor = 0; factor != monomial.size(); ++factor) {
      Monomial rest(monomial);
      rest.erase(rest.begin() + factor);
      int64_t p = leastOf(monomial[factor]), q = 1, pq;
      bool overflow = false;
      for (AffineExpr atom : rest)
        overflow |= llvm::MulOverflow(q, leastOf(atom), q);
      if (overflow || llvm::MulOverflow(p, q, pq) || (p == 0 && q == 0))
        continue;
      size_t a = getColumn({monomial[factor]}), m = getColumn(rest);
      Row row{{column, 1}, {constantColumn, pq}};
      row[m] -= p;
      row[a] -= q;
      constraints.push_back(row);
    }
  }

  int64_t leastOf(AffineExpr atom) const {
    auto it = least.find(Monomial{atom});
    return it == least.end() ? 0 : it->second;
  }

  /// q = floordiv(n, d): 0 ≤ n - d·q ≤ d - 1; ceildiv: 0 ≤ d·q - n ≤ d - 1;
  /// mod: 0 ≤ m ≤ d - 1 and n - m = d·q for a fresh q.
  void define(size_t column, Row numerator, int64_t d, AffineExprKind kind) {
    auto negated = [](Row row) {
      for (auto &[column, coefficient] : row)
        coefficient = -coefficient;
      return row;
    };
    Row low = numerator;
    if (kind == AffineExprKind::Mod) {
      constraints.push_back({{column, -1}, {constantColumn, d - 1}});
      // The quotient is no atom of any form; lengths have no dimensions, so
      // these can name it.
      Monomial key{getAffineDimExpr(fresh++, context)};
      size_t quotient = columns.try_emplace(key, columns.size()).first->second;
      low[column] -= 1;
      low[quotient] -= d;
      constraints.push_back(low);
      constraints.push_back(negated(low));
      return;
    }
    low[column] -= d;
    if (kind == AffineExprKind::CeilDiv)
      low = negated(low);
    Row high = negated(low);
    high[constantColumn] += d - 1;
    constraints.push_back(low);
    constraints.push_back(high);
  }

  static bool isNonNegativeAtom(AffineExpr atom) {
    if (isa<AffineSymbolExpr>(atom))
      return true;
    auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
    if (!binary)
      return false;
    if (!isNonNegativeForm(binary.getRHS()))
      return false;
    return binary.getKind() == AffineExprKind::Mod || isNonNegativeForm(binary.getLHS());
  }

  MLIRContext *context;
  unsigned fresh = 0;
  std::map<Monomial, size_t, MonomialLess> columns;
  /// The greatest known lower bounds of names.
  std::map<Monomial, int64_t, MonomialLess> least;
  std::vector<Row> constraints;
};
} // namespace

/// In the body of an operator with `for d in [...]` d is between the least and the greatest value.
static void addLayerBounds(Operation *op, SmallVectorImpl<LengthAttr> &bounds) {
  for (auto around = op->getParentOfType<ComputeOp>(); around;
       around = around->getParentOfType<ComputeOp>()) {
    StringAttr name = around.getLayerName();
    ArrayRef<int64_t> values = around.getLayerValues();
    if (!name || values.empty())
      continue;
    LengthAttr length = LengthAttr::get(name);
    bounds.push_back(length - *llvm::min_element(values));
    bounds.push_back(LengthAttr::get(op->getContext(), *llvm::max_element(values)) - length);
  }
}

bool mlir::ft::isProvablyNonNegative(Operation *op, LengthAttr nonNegative) {
  if (std::optional<int64_t> constant = nonNegative.getConstant())
    return *constant >= 0;
  // Each list of a ragged level has a length, whatever it is.
  if (nonNegative.getRagged() || MonomialSystem::isNonNegativeForm(nonNegative.getExpr()))
    return true;

  SmallVector<StringAttr> names(nonNegative.getNames());
  SmallVector<LengthAttr> bounds;
  if (BoundsAttr attr = getBoundsAt(op))
    llvm::append_range(bounds, attr.getNonNegative());
  // A list that is there has no negative length: an argument `[L - 2]` says L >= 2.
  if (auto function = op->getParentOfType<FunctionOpInterface>())
    for (Type type : function.getArgumentTypes())
      ft::detail::forEachLength(type, [&](LengthAttr length) {
        if (!length.getRagged() && !length.getSingleName() && !length.isConstant())
          bounds.push_back(length);
      });
  addLayerBounds(op, bounds);
  for (LengthAttr bound : bounds)
    for (StringAttr name : bound.getNames())
      if (!llvm::is_contained(names, name))
        names.push_back(name);

  MonomialSystem system(op->getContext());
  for (LengthAttr bound : bounds)
    system.noteLeast(bound.exprOver(names));
  for (LengthAttr bound : bounds)
    system.addNonNegative(bound.exprOver(names));
  AffineExpr negative = (nonNegative.exprOver(names) * -1) - 1;
  return system.addNonNegative(negative) && system.isEmpty();
}

LogicalResult mlir::ft::detail::verifyNonNegative(Operation *op, LengthAttr nonNegative,
                                                  const Twine &what, const Twine &otherwise) {
  if (nonNegative && isProvablyNonNegative(op, nonNegative))
    return success();
  if (!nonNegative)
    return op->emitOpError() << what
                             << " cannot be checked: a length is ragged or does not fit 63 bits";
  if (nonNegative.isConstant())
    return op->emitOpError() << what << ' ' << otherwise;
  InFlightDiagnostic diag = op->emitOpError() << what << " needs " << inequalityStr(nonNegative)
                                              << ": add it to ft.bounds of the function";
  if (auto function = op->getParentOfType<FunctionOpInterface>()) {
    Diagnostic &note = diag.attachNote(function.getLoc());
    if (BoundsAttr bounds = getBoundsAt(op))
      note << "the function has " << bounds;
    else
      note << "the function has no ft.bounds";
  }
  return diag;
}
