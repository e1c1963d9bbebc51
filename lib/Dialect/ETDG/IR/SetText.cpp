//===- SetText.cpp - conditions as a person writes them -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear forms, the canonical form of integer sets, and sets as text.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Linear forms
//===----------------------------------------------------------------------===//

/// Coefficients beyond this are left where they are, so that sums of two never overflow.
static constexpr int64_t maxCoefficient = int64_t(1) << 60;

static bool addChecked(int64_t &sum, int64_t value) {
  return !llvm::AddOverflow(sum, value, sum) && std::abs(sum) <= maxCoefficient;
}

/// Adds `factor · expr` to the form; false on overflow.
static bool addTerms(AffineExpr expr, int64_t factor, LinearForm &form) {
  int64_t product;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return !llvm::MulOverflow(factor, constant.getValue(), product) &&
           addChecked(form.constant, product);
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    if (expr.getKind() == AffineExprKind::Add)
      return addTerms(binary.getLHS(), factor, form) && addTerms(binary.getRHS(), factor, form);
    if (expr.getKind() == AffineExprKind::Mul)
      for (auto [value, other] :
           {std::pair(binary.getRHS(), binary.getLHS()), {binary.getLHS(), binary.getRHS()}})
        if (auto constant = dyn_cast<AffineConstantExpr>(value))
          return !llvm::MulOverflow(factor, constant.getValue(), product) &&
                 addTerms(other, product, form);
  }
  for (auto &[atom, coefficient] : form.terms)
    if (atom == expr)
      return addChecked(coefficient, factor);
  form.terms.push_back({expr, factor});
  return std::abs(factor) <= maxCoefficient;
}

LinearForm LinearForm::of(AffineExpr expr) {
  LinearForm form;
  if (!addTerms(expr, 1, form)) {
    form.terms.assign(1, {expr, 1});
    form.constant = 0;
    return form;
  }
  llvm::erase_if(form.terms, [](const auto &term) { return term.second == 0; });
  // An order that does not depend on how the expression was written: dimensions,
  // what has dimensions, symbols, what has none; otherwise by how they print.
  // MLIR puts what is symbolic last: in this order its sums nest to the left, as
  // those nest that it parses.
  auto rank = [](AffineExpr atom) -> std::tuple<int, unsigned, std::string> {
    if (auto dim = dyn_cast<AffineDimExpr>(atom))
      return {0, dim.getPosition(), ""};
    if (auto symbol = dyn_cast<AffineSymbolExpr>(atom))
      return {2, symbol.getPosition(), ""};
    std::string text;
    llvm::raw_string_ostream(text) << atom;
    return {atom.isSymbolicOrConstant() ? 3 : 1, 0, text};
  };
  if (form.terms.size() > 1)
    llvm::sort(form.terms,
               [&](const auto &a, const auto &b) { return rank(a.first) < rank(b.first); });
  return form;
}

AffineExpr LinearForm::toExpr(MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto [atom, coefficient] : terms)
    sum = sum + atom * coefficient;
  return sum + constant;
}

int64_t LinearForm::coefficient(AffineExpr atom) const {
  for (auto [term, coefficient] : terms)
    if (term == atom)
      return coefficient;
  return 0;
}

bool LinearForm::isLinearIn(unsigned dim) const {
  bool found = false;
  for (auto [atom, coefficient] : terms) {
    if (auto d = dyn_cast<AffineDimExpr>(atom)) {
      found |= d.getPosition() == dim;
      continue;
    }
    if (atom.isFunctionOfDim(dim))
      return false;
  }
  return found;
}

int LinearForm::getLastDim() const {
  int last = -1;
  for (auto [atom, coefficient] : terms)
    atom.walk([&](AffineExpr e) {
      if (auto d = dyn_cast<AffineDimExpr>(e))
        last = std::max(last, static_cast<int>(d.getPosition()));
    });
  return last;
}

static bool isVariable(AffineExpr expr) { return isa<AffineDimExpr, AffineSymbolExpr>(expr); }

/// The canonical form, also of what divisions and products are made of. MLIR's
/// simplification takes remainders apart: it is used where it leaves fewer terms.
static LinearForm simplify(AffineExpr expr, unsigned numDims, unsigned numSymbols) {
  MLIRContext *context = expr.getContext();
  LinearForm form = LinearForm::of(expr);
  // Putting the parts together may simplify again; in practice once.
  for (unsigned round = 0; round < 4; ++round) {
    if (llvm::all_of(form.terms, [](auto &term) { return isVariable(term.first); }))
      return form;
    LinearForm flat = LinearForm::of(simplifyAffineExpr(form.toExpr(context), numDims, numSymbols));
    if (flat.terms.size() < form.terms.size())
      form = flat;
    LinearForm inner = form;
    for (auto &[atom, coefficient] : inner.terms)
      if (auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
          binary && atom.getKind() != AffineExprKind::Add)
        atom = getAffineBinaryOpExpr(atom.getKind(),
                                     canonicalizeExpr(binary.getLHS(), numDims, numSymbols),
                                     canonicalizeExpr(binary.getRHS(), numDims, numSymbols));
    LinearForm next = LinearForm::of(inner.toExpr(context));
    bool same = next.terms == form.terms && next.constant == form.constant;
    form = next;
    if (same)
      break;
  }
  return form;
}

AffineExpr etdg::canonicalizeExpr(AffineExpr expr, unsigned numDims, unsigned numSymbols) {
  return simplify(expr, numDims, numSymbols).toExpr(expr.getContext());
}

BoundClass etdg::classifyConstraint(AffineExpr constraint, bool isEq, int dim) {
  if (dim < 0)
    return BoundClass::Other;
  LinearForm form = LinearForm::of(constraint);
  if (!form.isLinearIn(dim))
    return BoundClass::Other;
  int64_t c = form.coefficient(getAffineDimExpr(dim, constraint.getContext()));
  if (isEq)
    return c == 1 || c == -1 ? BoundClass::Equal : BoundClass::Other;
  return c == 1 ? BoundClass::Lower : c == -1 ? BoundClass::Upper : BoundClass::Other;
}

//===----------------------------------------------------------------------===//
// Canonical sets
//===----------------------------------------------------------------------===//

IntegerSet etdg::getUniverse(MLIRContext *context, unsigned numDims, unsigned numSymbols) {
  return IntegerSet::get(numDims, numSymbols, {getAffineConstantExpr(0, context)}, {true});
}

bool etdg::isUniverse(IntegerSet set) {
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    auto constant = dyn_cast<AffineConstantExpr>(set.getConstraint(i));
    if (!constant || (set.isEq(i) ? constant.getValue() != 0 : constant.getValue() < 0))
      return false;
  }
  return true;
}

namespace {
struct Constraint {
  LinearForm form;
  bool isEq;
};
} // namespace

static bool sameTerms(const LinearForm &a, const LinearForm &b, int sign) {
  if (a.terms.size() != b.terms.size())
    return false;
  for (auto [x, y] : llvm::zip(a.terms, b.terms))
    if (x.first != y.first || x.second != sign * y.second)
      return false;
  return true;
}

/// Divides by the greatest common divisor, and gives an equality a positive
/// coefficient of its last dimension. False: the constraint has no solution.
static bool normalize(Constraint &c) {
  int64_t gcd = 0;
  for (auto [atom, coefficient] : c.form.terms)
    gcd = std::gcd(gcd, coefficient);
  if (gcd > 1) {
    if (c.isEq && c.form.constant % gcd != 0)
      return false;
    for (auto &term : c.form.terms)
      term.second /= gcd;
    c.form.constant = llvm::divideFloorSigned(c.form.constant, gcd);
  }
  if (c.isEq && !c.form.terms.empty()) {
    int64_t lead = c.form.terms.front().second;
    for (auto [atom, coefficient] : c.form.terms)
      if (isa<AffineDimExpr>(atom))
        lead = coefficient;
    if (lead < 0) {
      for (auto &term : c.form.terms)
        term.second = -term.second;
      c.form.constant = -c.form.constant;
    }
  }
  return true;
}

/// Adds `next` to `list`, merging it with constraints on the same terms. False: no solution.
static bool addConstraint(SmallVectorImpl<Constraint> &list, Constraint next) {
  if (!normalize(next))
    return false;
  if (next.form.terms.empty())
    return next.isEq ? next.form.constant == 0 : next.form.constant >= 0;
  for (auto it = list.begin(); it != list.end(); ++it) {
    int sign = sameTerms(it->form, next.form, 1) ? 1 : sameTerms(it->form, next.form, -1) ? -1 : 0;
    if (sign == 0)
      continue;
    // it: t + a (>=|=) 0, next: sign·t + b (>=|=) 0.
    int64_t a = it->form.constant, b = next.form.constant;
    if (it->isEq && next.isEq)
      return a == sign * b;
    if (it->isEq) // t = -a
      return b - sign * a >= 0;
    if (next.isEq) { // t = -sign·b
      if (a - sign * b < 0)
        return false;
      list.erase(it);
      return addConstraint(list, next);
    }
    if (sign == 1) {
      it->form.constant = std::min(a, b);
      return true;
    }
    // -a <= t <= b
    if (a + b < 0)
      return false;
    if (a + b == 0) {
      Constraint equal{it->form, true};
      list.erase(it);
      return addConstraint(list, equal);
    }
  }
  list.push_back(std::move(next));
  return true;
}

IntegerSet etdg::canonicalizeSet(IntegerSet set) {
  MLIRContext *context = set.getContext();
  unsigned numDims = set.getNumDims(), numSymbols = set.getNumSymbols();
  SmallVector<Constraint> list;
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    if (!addConstraint(list, {simplify(set.getConstraint(i), numDims, numSymbols), set.isEq(i)}))
      return IntegerSet::getEmptySet(numDims, numSymbols, context);
  }
  // Where a dimension is a constant, the others speak of the constant: `D >= 1`
  // where `j = 0` and `j < D`.
  for (unsigned i = 0; i < list.size(); ++i) {
    const LinearForm &form = list[i].form;
    if (!list[i].isEq || form.terms.size() != 1 || !isa<AffineDimExpr>(form.terms.front().first) ||
        form.terms.front().second != 1)
      continue;
    AffineExpr dim = form.terms.front().first,
               value = getAffineConstantExpr(-form.constant, context);
    SmallVector<Constraint> old = std::move(list);
    list.clear();
    bool changed = false;
    for (const Constraint &c : old) {
      if (c.isEq && sameTerms(c.form, old[i].form, 1)) {
        list.push_back(c);
        continue;
      }
      AffineExpr expr = c.form.toExpr(context), replaced = expr.replace(dim, value);
      changed |= expr != replaced;
      if (!addConstraint(list, {simplify(replaced, numDims, numSymbols), c.isEq}))
        return IntegerSet::getEmptySet(numDims, numSymbols, context);
    }
    if (changed)
      i = -1;
  }
  if (list.empty())
    return getUniverse(context, numDims, numSymbols);

  SmallVector<std::tuple<int, int, unsigned, AffineExpr, bool>> sorted;
  for (const Constraint &c : list) {
    int last = c.form.getLastDim();
    AffineExpr expr = c.form.toExpr(context);
    BoundClass kind = classifyConstraint(expr, c.isEq, last);
    // What speaks of symbols alone comes last.
    sorted.push_back({last < 0 ? std::numeric_limits<int>::max() : last, static_cast<int>(kind),
                      static_cast<unsigned>(sorted.size()), expr, c.isEq});
  }
  llvm::sort(sorted, [](const auto &a, const auto &b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
  });
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> eqs;
  for (auto &[last, kind, index, expr, isEq] : sorted) {
    exprs.push_back(expr);
    eqs.push_back(isEq);
  }
  return IntegerSet::get(numDims, numSymbols, exprs, eqs);
}

IntegerSet etdg::intersect(IntegerSet a, IntegerSet b) {
  SmallVector<AffineExpr> exprs(a.getConstraints());
  SmallVector<bool> eqs(a.getEqFlags());
  llvm::append_range(exprs, b.getConstraints());
  llvm::append_range(eqs, b.getEqFlags());
  return canonicalizeSet(IntegerSet::get(std::max(a.getNumDims(), b.getNumDims()),
                                         std::max(a.getNumSymbols(), b.getNumSymbols()), exprs,
                                         eqs));
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void etdg::printCondition(raw_ostream &os, AffineExpr constraint, bool isEq,
                          ArrayRef<StringAttr> dims, ArrayRef<StringAttr> symbols) {
  LinearForm form = LinearForm::of(constraint), positive, negative;
  bool dimPositive = false, dimNegative = false;
  for (auto [atom, coefficient] : form.terms) {
    bool hasDim = !atom.isSymbolicOrConstant();
    if (coefficient > 0) {
      positive.terms.push_back({atom, coefficient});
      dimPositive |= hasDim;
    } else {
      negative.terms.push_back({atom, -coefficient});
      dimNegative |= hasDim;
    }
  }
  (form.constant > 0 ? positive : negative).constant = std::abs(form.constant);
  // Dimensions are written on the left: `i + 2 <= L`, not `L >= i + 2`.
  bool flip = !dimPositive && (dimNegative || positive.terms.empty()) && !negative.terms.empty();
  MLIRContext *context = constraint.getContext();
  ft::printNamedExpr(os, (flip ? negative : positive).toExpr(context), dims, symbols);
  os << (isEq ? " = " : flip ? " <= " : " >= ");
  ft::printNamedExpr(os, (flip ? positive : negative).toExpr(context), dims, symbols);
}

void etdg::printConditions(raw_ostream &os, IntegerSet set, ArrayRef<StringAttr> dims,
                           ArrayRef<StringAttr> symbols) {
  if (isUniverse(set)) {
    os << "true";
    return;
  }
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    if (i)
      os << " and ";
    printCondition(os, set.getConstraint(i), set.isEq(i), dims, symbols);
  }
}

std::string etdg::conditionsToString(IntegerSet set, ArrayRef<StringAttr> dims,
                                     ArrayRef<StringAttr> symbols) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printConditions(os, set, dims, symbols);
  return text;
}

ParseResult etdg::parseConditions(AsmParser &parser, ft::NamedExprParser &exprs,
                                  SmallVectorImpl<AffineExpr> &constraints,
                                  SmallVectorImpl<bool> &eqs) {
  if (succeeded(parser.parseOptionalKeyword("true")))
    return success();
  do {
    AffineExpr lhs, rhs;
    if (exprs.parse(lhs))
      return failure();
    enum { GE, GT, LE, LT, EQ } op;
    if (succeeded(parser.parseOptionalGreater()))
      op = succeeded(parser.parseOptionalEqual()) ? GE : GT;
    else if (succeeded(parser.parseOptionalLess()))
      op = succeeded(parser.parseOptionalEqual()) ? LE : LT;
    else if (succeeded(parser.parseOptionalEqual())) {
      (void)parser.parseOptionalEqual();
      op = EQ;
    } else
      return parser.emitError(parser.getCurrentLocation(),
                              "expected one of '>=', '<=', '=', '>', '<' in a condition");
    if (exprs.parse(rhs))
      return failure();
    switch (op) {
    case GE:
    case EQ:
      constraints.push_back(lhs - rhs);
      break;
    case GT:
      constraints.push_back(lhs - rhs - 1);
      break;
    case LE:
      constraints.push_back(rhs - lhs);
      break;
    case LT:
      constraints.push_back(rhs - lhs - 1);
      break;
    }
    eqs.push_back(op == EQ);
  } while (succeeded(parser.parseOptionalKeyword("and")));
  return success();
}
