//===- Conjunction.cpp - affine constraints, with a quick test ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Conjunction.h"
#include "ft/Analysis/Sets.h"
#include "ft/Validator/Validator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::etdg::validator;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;
using mlir::presburger::VarKind;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Room for a negation and a few sums more.
static bool isLarge(int64_t value) {
  constexpr int64_t limit = int64_t(1) << 61;
  return value > limit || value < -limit;
}

void Row::add(unsigned v, int64_t factor) {
  if (v >= coefficients.size())
    coefficients.resize(v + 1, 0);
  overflow |= llvm::AddOverflow(coefficients[v], factor, coefficients[v]);
  overflow |= isLarge(coefficients[v]);
}

void Row::addConstant(int64_t value) {
  overflow |= llvm::AddOverflow(constant, value, constant);
  overflow |= isLarge(constant);
}

void Row::addScaled(const Row &other, int64_t factor) {
  if (other.coefficients.size() > coefficients.size())
    coefficients.resize(other.coefficients.size(), 0);
  overflow |= other.overflow;
  for (unsigned v = 0, e = other.coefficients.size(); v < e; ++v) {
    if (!other.coefficients[v])
      continue;
    int64_t product;
    overflow |= llvm::MulOverflow(other.coefficients[v], factor, product);
    overflow |= llvm::AddOverflow(coefficients[v], product, coefficients[v]);
    overflow |= isLarge(coefficients[v]);
  }
  int64_t product;
  overflow |= llvm::MulOverflow(other.constant, factor, product);
  addConstant(product);
}

Row Row::negated() const {
  Row row;
  row.addScaled(*this, -1);
  return row;
}

Row Row::minus(const Row &other) const {
  Row row = *this;
  row.addScaled(other, -1);
  return row;
}

void Row::trim() {
  while (!coefficients.empty() && coefficients.back() == 0)
    coefficients.pop_back();
}

bool Row::isConstant() const {
  return llvm::all_of(coefficients, [](int64_t c) { return c == 0; });
}

static int64_t divisorOf(const Row &row) {
  uint64_t divisor = 0;
  for (int64_t c : row.coefficients) {
    divisor = std::gcd(divisor, c < 0 ? 0 - static_cast<uint64_t>(c) : static_cast<uint64_t>(c));
    if (divisor == 1)
      return 1;
  }
  return divisor > static_cast<uint64_t>(INT64_MAX) ? 1 : static_cast<int64_t>(divisor);
}

/// Divides an inequality; its constant is rounded down, which loses no integer point.
static void tighten(Row &row) {
  row.trim();
  int64_t divisor = divisorOf(row);
  if (divisor <= 1)
    return;
  for (int64_t &c : row.coefficients)
    c /= divisor;
  row.constant = llvm::divideFloorSigned(row.constant, divisor);
}

//===----------------------------------------------------------------------===//
// Conjunctions
//===----------------------------------------------------------------------===//

void Conjunction::addEq(Row row) {
  if (row.overflow) {
    overflow = true;
    return;
  }
  row.trim();
  if (row.coefficients.empty()) {
    contradiction |= row.constant != 0;
    return;
  }
  int64_t divisor = divisorOf(row);
  if (divisor > 1) {
    if (row.constant % divisor != 0) {
      contradiction = true;
      return;
    }
    for (int64_t &c : row.coefficients)
      c /= divisor;
    row.constant /= divisor;
  }
  numVars = std::max<unsigned>(numVars, row.coefficients.size());
  eqs.push_back(std::move(row));
}

void Conjunction::addGe(Row row) {
  if (row.overflow) {
    overflow = true;
    return;
  }
  tighten(row);
  if (row.coefficients.empty()) {
    contradiction |= row.constant < 0;
    return;
  }
  numVars = std::max<unsigned>(numVars, row.coefficients.size());
  for (Row &known : ges)
    if (known.coefficients == row.coefficients) {
      known.constant = std::min(known.constant, row.constant);
      return;
    }
  ges.push_back(std::move(row));
}

void Conjunction::addNegated(const Row &row) {
  Row less = row.negated();
  less.addConstant(-1);
  addGe(std::move(less));
}

void Conjunction::add(const Conjunction &other) {
  numVars = std::max(numVars, other.numVars);
  contradiction |= other.contradiction;
  overflow |= other.overflow;
  for (const Row &row : other.eqs)
    addEq(row);
  for (const Row &row : other.ges)
    addGe(row);
}

SmallVector<unsigned> Conjunction::eliminate(unsigned from, unsigned to,
                                             MutableArrayRef<Row> tracked) {
  SmallVector<unsigned> solved;
  for (bool progress = true; progress && !contradiction && !overflow;) {
    progress = false;
    for (unsigned e = 0; e < eqs.size() && !progress; ++e)
      for (unsigned v = std::min<unsigned>(to, eqs[e].coefficients.size()); v-- > from;) {
        int64_t pivot = eqs[e].coefficients[v];
        if (pivot != 1 && pivot != -1)
          continue;
        Row row = std::move(eqs[e]);
        eqs.erase(eqs.begin() + e);
        // v = -pivot · (row without v): subtract row as often as v occurs. Rows without v, which are most, stay.
        auto takeWith = [&](SmallVectorImpl<Row> &rows) {
          auto with = std::stable_partition(rows.begin(), rows.end(), [&](const Row &other) { return !other.at(v); });
          SmallVector<Row, 0> taken(std::make_move_iterator(with), std::make_move_iterator(rows.end()));
          rows.erase(with, rows.end());
          for (Row &other : taken)
            other.addScaled(row, -other.at(v) * pivot);
          return taken;
        };
        for (Row &other : takeWith(eqs))
          addEq(std::move(other));
        for (Row &other : takeWith(ges))
          addGe(std::move(other));
        for (Row &other : tracked) {
          if (int64_t factor = other.at(v))
            other.addScaled(row, -factor * pivot);
          overflow |= other.overflow;
        }
        solved.push_back(v);
        progress = true;
        break;
      }
  }
  return solved;
}

bool Conjunction::states(const Row &given) const {
  if (given.overflow)
    return false;
  Row row = given;
  tighten(row);
  if (row.coefficients.empty())
    return row.constant >= 0;
  auto isOpposite = [](int64_t a, int64_t b) { return a == -b; };
  return llvm::any_of(ges,
                      [&](const Row &known) {
                        return known.constant <= row.constant &&
                               known.coefficients == row.coefficients;
                      }) ||
         llvm::any_of(eqs, [&](const Row &known) {
           return known.coefficients == row.coefficients
                      ? known.constant <= row.constant
                      : llvm::equal(known.coefficients, row.coefficients, isOpposite) &&
                            -known.constant <= row.constant;
         });
}

static thread_local etdg::ValidatorWork work;

etdg::ValidatorWork etdg::getValidatorWork() { return work; }

bool Conjunction::isProvedEmpty() const {
  ++work.questions;
  if (overflow)
    return false;
  if (contradiction)
    return true;
  Conjunction set = *this;
  set.eliminate(0, numVars);
  for (const Row &row : set.eqs) {
    set.addGe(row);
    set.addGe(row.negated());
  }
  set.eqs.clear();
  constexpr size_t limit = 160;
  SmallVector<unsigned> positive(numVars), negative(numVars);
  while (!set.contradiction && !set.overflow && !set.ges.empty()) {
    // The variable whose elimination makes the fewest rows.
    std::fill(positive.begin(), positive.end(), 0);
    std::fill(negative.begin(), negative.end(), 0);
    for (const Row &row : set.ges)
      for (unsigned v = 0, e = row.coefficients.size(); v < e; ++v)
        if (int64_t c = row.coefficients[v])
          ++(c > 0 ? positive : negative)[v];
    std::optional<unsigned> best;
    int64_t bestCost = 0;
    for (unsigned v = 0; v < numVars; ++v) {
      if (positive[v] + negative[v] == 0)
        continue;
      int64_t p = positive[v], n = negative[v], cost = p * n - p - n;
      if (!best || cost < bestCost) {
        best = v;
        bestCost = cost;
      }
    }
    if (!best || static_cast<int64_t>(set.ges.size()) + bestCost > static_cast<int64_t>(limit))
      return false;
    SmallVector<Row, 0> old, lower, upper;
    std::swap(set.ges, old);
    for (Row &row : old) {
      int64_t c = row.at(*best);
      if (c == 0)
        set.ges.push_back(std::move(row));
      else
        (c > 0 ? lower : upper).push_back(std::move(row));
    }
    work.constraints += int64_t(lower.size() * upper.size());
    for (const Row &l : lower)
      for (const Row &u : upper) {
        int64_t a = l.at(*best), b = -u.at(*best), divisor = std::gcd(a, b);
        Row sum;
        sum.addScaled(l, b / divisor);
        sum.addScaled(u, a / divisor);
        set.addGe(std::move(sum));
      }
  }
  return set.contradiction && !set.overflow;
}

Emptiness Conjunction::isEmpty() const {
  if (overflow)
    return Emptiness::Open;
  if (isProvedEmpty())
    return Emptiness::Empty;
  ++work.exact;
  SmallVector<unsigned> dims(numVars);
  std::iota(dims.begin(), dims.end(), 0);
  return etdg::isEmpty(toPolyhedron(dims, 0)) ? Emptiness::Empty : Emptiness::NotEmpty;
}

IntegerPolyhedron Conjunction::toPolyhedron(ArrayRef<unsigned> dims, unsigned numSymbols) const {
  SmallVector<int> column(numVars, -1);
  for (auto [i, v] : llvm::enumerate(dims))
    column[v] = i;
  unsigned next = dims.size();
  for (unsigned v = 0; v < numVars; ++v)
    if (v < numSymbols || column[v] < 0)
      column[v] = next++;
  IntegerPolyhedron poly(
      PresburgerSpace::getSetSpace(dims.size(), numSymbols, next - dims.size() - numSymbols));
  auto toRow = [&](const Row &row) {
    SmallVector<int64_t> wide(next + 1, 0);
    for (auto [v, c] : llvm::enumerate(row.coefficients))
      wide[column[v]] = c;
    wide.back() = row.constant;
    return wide;
  };
  for (const Row &row : eqs)
    poly.addEquality(toRow(row));
  for (const Row &row : ges)
    poly.addInequality(toRow(row));
  if (contradiction) {
    SmallVector<int64_t> never(next + 1, 0);
    never.back() = -1;
    poly.addInequality(never);
  }
  return poly;
}

//===----------------------------------------------------------------------===//
// Cover
//===----------------------------------------------------------------------===//

bool etdg::validator::isProvedCovered(const Conjunction &set, ArrayRef<Conjunction> cover) {
  // What is left, piece by piece: inside all constraints up to one, outside that one.
  constexpr size_t limit = 64;
  SmallVector<Conjunction, 0> rest;
  if (!set.isProvedEmpty())
    rest.push_back(set);
  for (const Conjunction &by : cover) {
    if (by.hasOverflow())
      return false;
    if (by.isFalse())
      continue;
    SmallVector<Conjunction, 0> next;
    for (Conjunction &piece : rest) {
      Conjunction inside = std::move(piece);
      auto cut = [&](const Row &row) {
        if (inside.states(row))
          return;
        Conjunction outside = inside;
        outside.addNegated(row);
        if (!outside.isProvedEmpty())
          next.push_back(std::move(outside));
        inside.addGe(row);
      };
      for (const Row &row : by.getGes())
        cut(row);
      for (const Row &row : by.getEqs()) {
        cut(row);
        cut(row.negated());
      }
    }
    rest = std::move(next);
    if (rest.empty())
      return true;
    if (rest.size() > limit)
      return false;
  }
  return rest.empty();
}
