//===- QuasiPolynomial.cpp - normal form of quasi-affine expressions ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of multiples of monomials, with overflow checks throughout.
//
//===----------------------------------------------------------------------===//
#include "ft/Support/QuasiPolynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::ft;

static constexpr size_t maxTerms = 1024, maxDegree = 32;

/// An order that does not depend on addresses: dimensions, symbols, the rest.
static int compare(AffineExpr a, AffineExpr b) {
  if (a == b)
    return 0;
  auto rank = [](AffineExpr e) {
    switch (e.getKind()) {
    case AffineExprKind::Constant:
      return 0;
    case AffineExprKind::DimId:
      return 1;
    case AffineExprKind::SymbolId:
      return 2;
    default:
      return 3 + static_cast<int>(e.getKind());
    }
  };
  if (rank(a) != rank(b))
    return rank(a) < rank(b) ? -1 : 1;
  switch (a.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(a).getValue() < cast<AffineConstantExpr>(b).getValue() ? -1 : 1;
  case AffineExprKind::DimId:
    return cast<AffineDimExpr>(a).getPosition() < cast<AffineDimExpr>(b).getPosition() ? -1 : 1;
  case AffineExprKind::SymbolId:
    return cast<AffineSymbolExpr>(a).getPosition() < cast<AffineSymbolExpr>(b).getPosition() ? -1
                                                                                             : 1;
  default:
    auto x = cast<AffineBinaryOpExpr>(a), y = cast<AffineBinaryOpExpr>(b);
    if (int left = compare(x.getLHS(), y.getLHS()))
      return left;
    return compare(x.getRHS(), y.getRHS());
  }
}

bool MonomialLess::operator()(const Monomial &a, const Monomial &b) const {
  // Products come first and the constant last, as a person writes them.
  if (a.size() != b.size())
    return a.size() > b.size();
  for (auto [x, y] : llvm::zip(a, b))
    if (int order = compare(x, y))
      return order < 0;
  return false;
}

bool QuasiPolynomial::add(const Monomial &monomial, int64_t coefficient) {
  if (coefficient == 0)
    return true;
  auto [it, inserted] = terms.try_emplace(monomial, coefficient);
  if (inserted)
    return terms.size() <= maxTerms && monomial.size() <= maxDegree;
  if (llvm::AddOverflow(it->second, coefficient, it->second))
    return false;
  if (it->second == 0)
    terms.erase(it);
  return true;
}

bool QuasiPolynomial::add(const QuasiPolynomial &other, int64_t factor) {
  for (const auto &[monomial, coefficient] : other.terms) {
    int64_t product;
    if (llvm::MulOverflow(coefficient, factor, product) || !add(monomial, product))
      return false;
  }
  return true;
}

int64_t QuasiPolynomial::getConstantTerm() const {
  auto it = terms.find(Monomial());
  return it == terms.end() ? 0 : it->second;
}

bool QuasiPolynomial::isConstant() const {
  return terms.empty() || (terms.size() == 1 && terms.begin()->first.empty());
}

std::optional<QuasiPolynomial> QuasiPolynomial::multiply(const QuasiPolynomial &a, const QuasiPolynomial &b) {
  QuasiPolynomial result;
  for (const auto &[x, c] : a.terms)
    for (const auto &[y, d] : b.terms) {
      int64_t product;
      Monomial monomial(x);
      monomial.append(y.begin(), y.end());
      llvm::sort(monomial, [](AffineExpr p, AffineExpr q) { return compare(p, q) < 0; });
      if (llvm::MulOverflow(c, d, product) || !result.add(monomial, product))
        return std::nullopt;
    }
  return result;
}

/// Takes the atoms of `divisor` out of `monomial` when all are there.
static bool cancel(Monomial &monomial, const Monomial &divisor) {
  Monomial rest(monomial);
  for (AffineExpr atom : divisor) {
    auto *it = llvm::find(rest, atom);
    if (it == rest.end())
      return false;
    rest.erase(it);
  }
  monomial = rest;
  return true;
}

/// Floor division; `d` > 0.
static int64_t floorDiv(int64_t n, int64_t d) { return n / d - (n % d < 0); }
static int64_t floorMod(int64_t n, int64_t d) { return n % d + (n % d < 0 ? d : 0); }

/// An atom, or what MLIR makes of the expression on its own account, which `read` takes apart.
static std::optional<QuasiPolynomial> wrapAtom(AffineExpr expr, AffineExprKind kind,
                                               llvm::function_ref<std::optional<QuasiPolynomial>(AffineExpr)> read) {
  if (expr.getKind() == kind) {
    QuasiPolynomial form;
    form.terms[Monomial{expr}] = 1;
    return form;
  }
  return read(expr);
}

/// floordiv(floordiv(A, b) + k, d) = floordiv(A + k·b, b·d).
std::optional<QuasiPolynomial> QuasiPolynomial::divideTwice(const QuasiPolynomial &numerator, int64_t d,
                                                  MLIRContext *context) {
  const auto &[monomial, coefficient] = *numerator.terms.begin();
  size_t numTerms = numerator.getConstantTerm() == 0 ? 1 : 2;
  if (numerator.terms.size() != numTerms || coefficient != 1 || monomial.size() != 1)
    return std::nullopt;
  AffineExpr atom = monomial.front();
  bool isCeil = atom.getKind() == AffineExprKind::CeilDiv;
  if (!isCeil && atom.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto binary = cast<AffineBinaryOpExpr>(atom);
  auto b = dyn_cast<AffineConstantExpr>(binary.getRHS());
  std::optional<QuasiPolynomial> inner = expand(binary.getLHS());
  int64_t offset, product;
  if (!b || b.getValue() < 1 || !inner ||
      llvm::MulOverflow(numerator.getConstantTerm(), b.getValue(), offset) ||
      llvm::MulOverflow(d, b.getValue(), product) || !inner->add(Monomial(), offset) ||
      (isCeil && !inner->add(Monomial(), b.getValue() - 1)))
    return std::nullopt;
  QuasiPolynomial divisor;
  divisor.add(Monomial(), product);
  return divide(std::move(*inner), divisor, AffineExprKind::FloorDiv, context);
}

std::optional<QuasiPolynomial> QuasiPolynomial::divide(QuasiPolynomial numerator, const QuasiPolynomial &divisor,
                                             AffineExprKind kind, MLIRContext *context) {
  QuasiPolynomial quotient, rest;
  auto finish = [&](std::optional<QuasiPolynomial> atom) -> std::optional<QuasiPolynomial> {
    if (!atom || !quotient.add(*atom, 1))
      return std::nullopt;
    return quotient;
  };

  int64_t d = divisor.getConstantTerm();
  if (divisor.isConstant() && d > 0) {
    if (kind == AffineExprKind::CeilDiv && !numerator.add(Monomial(), d - 1))
      return std::nullopt;
    int64_t common = d;
    for (const auto &[monomial, coefficient] : numerator.terms) {
      int64_t left = floorMod(coefficient, d);
      if (!quotient.add(monomial, floorDiv(coefficient, d)) || !rest.add(monomial, left))
        return std::nullopt;
      if (!monomial.empty())
        common = std::gcd(common, left);
    }
    if (rest.isConstant())
      return quotient;
    // floordiv(g·E + r, g·d) = floordiv(E + floordiv(r, g), d)
    QuasiPolynomial reduced;
    for (const auto &[monomial, coefficient] : rest.terms)
      reduced.add(monomial, coefficient / common);
    d /= common;
    if (std::optional<QuasiPolynomial> nested = divideTwice(reduced, d, context))
      return finish(nested);
    if (d > 1 && reduced.getConstantTerm() == d - 1) {
      reduced.terms.erase(Monomial());
      return finish(wrapAtom(reduced.contract(context).toExpr(context).ceilDiv(d), AffineExprKind::CeilDiv, expand));
    }
    return finish(wrapAtom(reduced.contract(context).toExpr(context).floorDiv(d), AffineExprKind::FloorDiv, expand));
  }

  if (divisor.terms.size() == 1 && !divisor.terms.begin()->first.empty() &&
      divisor.terms.begin()->second > 0) {
    const auto &[divisorMonomial, c] = *divisor.terms.begin();
    for (const auto &[monomial, coefficient] : numerator.terms) {
      Monomial left(monomial);
      bool divides = coefficient % c == 0 && cancel(left, divisorMonomial);
      if (!(divides ? quotient.add(left, coefficient / c) : rest.add(monomial, coefficient)))
        return std::nullopt;
    }
    if (rest.terms.empty())
      return quotient;
  } else {
    rest = numerator;
  }
  AffineExpr lhs = rest.contract(context).toExpr(context), rhs = divisor.contract(context).toExpr(context);
  return finish(
      wrapAtom(kind == AffineExprKind::CeilDiv ? lhs.ceilDiv(rhs) : lhs.floorDiv(rhs), kind, expand));
}

std::optional<QuasiPolynomial> QuasiPolynomial::remainder(const QuasiPolynomial &numerator, const QuasiPolynomial &divisor,
                                                MLIRContext *context) {
  int64_t d = divisor.getConstantTerm();
  if (!divisor.isConstant() || d < 1)
    return wrapAtom(numerator.contract(context).toExpr(context) % divisor.contract(context).toExpr(context),
                    AffineExprKind::Mod, expand);
  // What is a multiple of the divisor leaves no remainder.
  QuasiPolynomial rest;
  for (const auto &[monomial, coefficient] : numerator.terms)
    if (!rest.add(monomial, floorMod(coefficient, d)))
      return std::nullopt;
  if (rest.isConstant())
    return rest;
  std::optional<QuasiPolynomial> quotient = divide(rest, divisor, AffineExprKind::FloorDiv, context);
  if (!quotient || !rest.add(*quotient, -d))
    return std::nullopt;
  return rest;
}

/// Whether `count` times `numerator` times `factor` is among the terms, none of which changes its sign without it.
bool QuasiPolynomial::takes(const QuasiPolynomial &numerator, const Monomial &factor, int64_t count) const {
  std::optional<QuasiPolynomial> one = multiply(numerator, QuasiPolynomial::of(factor, count));
  return one && llvm::all_of(one->terms, [&](const auto &term) {
           auto found = terms.find(term.first);
           if (found == terms.end() || (found->second < 0) != (term.second < 0))
             return false;
           return term.second < 0 ? found->second <= term.second : found->second >= term.second;
         });
}

bool QuasiPolynomial::contractOne(MLIRContext *context) {
  for (const auto &[monomial, coefficient] : terms)
    for (const auto *it = monomial.begin(); it != monomial.end(); ++it) {
      bool isCeil = it->getKind() == AffineExprKind::CeilDiv;
      if (!isCeil && it->getKind() != AffineExprKind::FloorDiv)
        continue;
      auto binary = cast<AffineBinaryOpExpr>(*it);
      auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      int64_t d = divisor ? divisor.getValue() : 0;
      if (d < 1 || coefficient >= 0 || coefficient % d != 0 || coefficient == std::numeric_limits<int64_t>::min())
        continue;
      std::optional<QuasiPolynomial> numerator = expand(binary.getLHS());
      if (!numerator || (isCeil && !numerator->add(Monomial(), d - 1)))
        continue;
      Monomial factor(monomial);
      factor.erase(factor.begin() + (it - monomial.begin()));
      int64_t count = -coefficient / d;
      if (!takes(*numerator, factor, count))
        continue;
      AffineExpr expr = numerator->contract(context).toExpr(context) % d;
      if (expr.getKind() != AffineExprKind::Mod)
        continue;
      Monomial whole(monomial);
      QuasiPolynomial made = *this;
      std::optional<QuasiPolynomial> part = multiply(*numerator, of(factor, count));
      std::optional<QuasiPolynomial> remainder = multiply(of(Monomial{expr}, count), of(factor, 1));
      if (!part || !remainder || !made.add(whole, -coefficient) || !made.add(*part, -1) || !made.add(*remainder, 1))
        continue;
      *this = made;
      return true;
    }
  return false;
}

QuasiPolynomial QuasiPolynomial::contract(MLIRContext *context) const {
  QuasiPolynomial made = *this;
  while (made.contractOne(context)) {
  }
  return made;
}

std::optional<QuasiPolynomial> QuasiPolynomial::get(AffineExpr expr) {
  std::optional<QuasiPolynomial> form = expand(expr);
  return form ? std::optional(form->contract(expr.getContext())) : std::nullopt;
}

std::optional<QuasiPolynomial> QuasiPolynomial::expand(AffineExpr expr) {
  QuasiPolynomial result;
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    result.add(Monomial(), cast<AffineConstantExpr>(expr).getValue());
    return result;
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    result.add(Monomial{expr}, 1);
    return result;
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<QuasiPolynomial> lhs = expand(binary.getLHS()), rhs = expand(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    if (!lhs->add(*rhs, 1))
      return std::nullopt;
    return lhs;
  case AffineExprKind::Mul:
    return multiply(*lhs, *rhs);
  case AffineExprKind::Mod:
    return remainder(*lhs, *rhs, expr.getContext());
  default:
    return divide(std::move(*lhs), *rhs, expr.getKind(), expr.getContext());
  }
}

AffineExpr QuasiPolynomial::toExpr(MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const auto &[monomial, coefficient] : terms) {
    AffineExpr product;
    for (AffineExpr atom : monomial)
      product = product ? product * atom : atom;
    product = product ? product * coefficient : getAffineConstantExpr(coefficient, context);
    sum = sum + product;
  }
  return sum;
}

/// No constant in the expression, multiplied out, is larger.
static double magnitudeOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::max(1.0, std::abs(static_cast<double>(constant.getValue())));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  double a = magnitudeOf(binary.getLHS()), b = magnitudeOf(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul ? a * b : a + b;
}

bool mlir::ft::mayOverflow(AffineExprKind kind, AffineExpr a, AffineExpr b) {
  double x = magnitudeOf(a), y = magnitudeOf(b);
  return (kind == AffineExprKind::Mul ? x * y : x + y) >= 0x1p63;
}

AffineExpr mlir::ft::normalizeExpr(AffineExpr expr) {
  // Building a sum may let MLIR find a remainder in it, which is then an atom:
  // a second round gives the fixed point.
  for (int round = 0; round != 4; ++round) {
    std::optional<QuasiPolynomial> form = QuasiPolynomial::get(expr);
    if (!form)
      return expr;
    AffineExpr next = form->toExpr(expr.getContext());
    if (next == expr)
      return expr;
    expr = next;
  }
  return expr;
}
