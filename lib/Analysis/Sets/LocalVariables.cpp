//===- LocalVariables.cpp - existential variables of sets -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LocalVariables.h"
#include "mlir/Analysis/Presburger/Utils.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <utility>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

using Numbers = SmallVector<DynamicAPInt>;

/// A variable of [from, to) that an equality, not one of `done`, counts once: what it is follows
/// from the others. The first one from equality `first` on.
static std::optional<std::pair<unsigned, unsigned>> findPivot(const IntegerPolyhedron &set,
                                                              unsigned from, unsigned to,
                                                              unsigned first,
                                                              const llvm::BitVector &done) {
  for (unsigned e = first; e < set.getNumEqualities(); ++e) {
    if (done.test(e))
      continue;
    for (unsigned v = from; v < to; ++v)
      if (DynamicAPInt factor = set.atEq(e, v); factor == 1 || factor == -1)
        return std::pair(e, v);
  }
  return std::nullopt;
}

/// Replaces variable `v` by what equality `e` says, in all other rows. Returns the first equality
/// that is another one now.
static unsigned substitute(IntegerPolyhedron &set, unsigned e, unsigned v) {
  DynamicAPInt pivot = set.atEq(e, v);
  Numbers row(set.getEquality(e));
  // Most rows are about few variables: only these change.
  SmallVector<unsigned> columns;
  for (unsigned c = 0; c < set.getNumCols(); ++c)
    if (row[c] != 0)
      columns.push_back(c);
  unsigned firstChanged = set.getNumEqualities();
  for (unsigned i = set.getNumEqualities(); i-- > 0;) {
    DynamicAPInt factor = set.atEq(i, v) * pivot;
    if (i == e || factor == 0)
      continue;
    for (unsigned c : columns)
      set.atEq(i, c) -= factor * row[c];
    firstChanged = i;
  }
  for (unsigned i = 0; i < set.getNumInequalities(); ++i) {
    DynamicAPInt factor = set.atIneq(i, v) * pivot;
    if (factor == 0)
      continue;
    for (unsigned c : columns)
      set.atIneq(i, c) -= factor * row[c];
  }
  return firstChanged;
}

/// Calls `fn` with each run of set bits in [begin, end), the last one first.
static void forEachRun(const llvm::BitVector &bits, unsigned begin, unsigned end,
                       llvm::function_ref<void(unsigned, unsigned)> fn) {
  while (end > begin) {
    int last = bits.find_last_in(begin, end);
    if (last < 0)
      return;
    int before = bits.find_last_unset_in(begin, unsigned(last));
    end = before < 0 ? begin : unsigned(before) + 1;
    fn(end, unsigned(last) + 1);
  }
}

Solved etdg::solveAll(IntegerPolyhedron &set, unsigned from, unsigned to) {
  Solved solved{llvm::BitVector(set.getNumEqualities()), llvm::BitVector(set.getNumVars())};
  for (unsigned first = 0;;) {
    auto pivot = findPivot(set, from, to, first, solved.equalities);
    if (!pivot)
      return solved;
    auto [e, v] = *pivot;
    first = std::min(e, substitute(set, e, v));
    solved.equalities.set(e);
    solved.variables.set(v);
  }
}

void etdg::eliminateAll(IntegerPolyhedron &set, unsigned from, unsigned to) {
  Solved solved = solveAll(set, from, to);
  // Rows and columns move once, not once for each variable.
  forEachRun(solved.equalities, 0, solved.equalities.size(),
             [&](unsigned begin, unsigned end) { set.removeEqualityRange(begin, end); });
  for (VarKind kind : {VarKind::Local, VarKind::Symbol, VarKind::SetDim}) {
    unsigned offset = set.getVarKindOffset(kind);
    forEachRun(solved.variables, offset, set.getVarKindEnd(kind), [&](unsigned begin, unsigned end) {
      set.removeVarRange(kind, begin - offset, end - offset);
    });
  }
}

bool etdg::eliminateOne(IntegerPolyhedron &set, unsigned from, unsigned to) {
  auto pivot = findPivot(set, from, to, 0, llvm::BitVector(set.getNumEqualities()));
  if (!pivot)
    return false;
  auto [e, v] = *pivot;
  substitute(set, e, v);
  set.removeEquality(e);
  set.removeVar(v);
  return true;
}

bool etdg::hasFalseConstraint(const IntegerPolyhedron &set) {
  auto isConstantRow = [](ArrayRef<DynamicAPInt> row) {
    return llvm::all_of(row.drop_back(), [](const DynamicAPInt &c) { return c == 0; });
  };
  for (unsigned i = 0; i < set.getNumEqualities(); ++i)
    if (isConstantRow(set.getEquality(i)) && set.getEquality(i).back() != 0)
      return true;
  for (unsigned i = 0; i < set.getNumInequalities(); ++i)
    if (isConstantRow(set.getInequality(i)) && set.getInequality(i).back() < 0)
      return true;
  return false;
}

namespace {

/// `0 ≤ g·u + f ≤ width`, as two inequalities; u is what they say of the locals that nothing
/// determines yet, over g; f has the rest. With width = g − 1, it determines u.
struct Band {
  unsigned low, up;
  DynamicAPInt width;
  /// 0 where there is no such local.
  DynamicAPInt divisor;
};

class Resolver {
public:
  explicit Resolver(IntegerPolyhedron given) : set(std::move(given)) {}

  /// One step. Returns whether anything was done.
  bool step();
  /// What a step has split off.
  SmallVector<IntegerPolyhedron, 0> takeOthers() { return std::exchange(others, {}); }

  IntegerPolyhedron set;

private:
  unsigned firstLocal() const { return set.getVarKindOffset(VarKind::Local); }
  bool isOpen(unsigned v) const { return !known[v - firstLocal()]; }
  std::optional<Band> getBand(unsigned low, unsigned up) const;
  bool isTight(const Band &band) const;
  void addMultiple(unsigned from, unsigned to, const DynamicAPInt &factor);
  bool gather(Numbers row);
  void split(const Band &band);
  bool gatherEquality();
  bool projectOne();

  SmallVector<IntegerPolyhedron, 0> others;
  std::vector<MaybeLocalRepr> known;
};

} // namespace

std::optional<Band> Resolver::getBand(unsigned low, unsigned up) const {
  unsigned numVars = set.getNumVars();
  Band band{low, up, set.atIneq(low, numVars) + set.atIneq(up, numVars), DynamicAPInt(0)};
  bool hasLocal = false;
  for (unsigned v = 0; v < numVars; ++v) {
    DynamicAPInt c = set.atIneq(low, v);
    if (c + set.atIneq(up, v) != 0)
      return std::nullopt;
    if (v < firstLocal() || c == 0)
      continue;
    hasLocal = true;
    if (isOpen(v))
      band.divisor = llvm::gcd(band.divisor, llvm::abs(c));
  }
  return hasLocal ? std::optional(band) : std::nullopt;
}

/// Whether the band states a remainder of what some local of it divides.
bool Resolver::isTight(const Band &band) const {
  for (unsigned v = firstLocal(); v < set.getNumVars(); ++v)
    if (band.width < llvm::abs(set.atIneq(band.low, v)) - 1)
      return true;
  return false;
}

/// For the local x = `to`, x + factor·y becomes the variable, y = `from`: a unimodular change,
/// after which y is counted `factor` times less often with x.
void Resolver::addMultiple(unsigned from, unsigned to, const DynamicAPInt &factor) {
  for (unsigned i = 0; i < set.getNumEqualities(); ++i)
    set.atEq(i, from) -= factor * set.atEq(i, to);
  for (unsigned i = 0; i < set.getNumInequalities(); ++i)
    set.atIneq(i, from) -= factor * set.atIneq(i, to);
}

/// Changes the basis of the open locals until the combination of them in `row`, over its greatest
/// common divisor, is one of them (Euclid's algorithm on the coefficients), and that one takes over
/// what it can of the others in `row`. Returns whether anything has changed.
bool Resolver::gather(Numbers row) {
  bool changed = false;
  std::optional<unsigned> least;
  auto reduce = [&](unsigned v) {
    DynamicAPInt factor = llvm::floorDiv(row[v], row[*least]);
    if (factor == 0)
      return;
    addMultiple(v, *least, factor);
    row[v] -= factor * row[*least];
    changed = true;
  };
  for (bool isAlone = false; !isAlone;) {
    isAlone = true;
    for (unsigned v = firstLocal(); v < set.getNumVars(); ++v)
      if (isOpen(v) && row[v] != 0 &&
          (!least || row[*least] == 0 || llvm::abs(row[v]) < llvm::abs(row[*least])))
        least = v;
    for (unsigned v = firstLocal(); v < set.getNumVars(); ++v)
      if (isOpen(v) && v != *least && row[v] != 0) {
        reduce(v);
        isAlone &= row[v] == 0;
      }
  }
  for (unsigned v = firstLocal(); v < set.getNumVars(); ++v)
    if (!isOpen(v) && llvm::abs(row[v]) >= llvm::abs(row[*least]))
      reduce(v);
  return changed;
}

/// One set for each value that the band has.
void Resolver::split(const Band &band) {
  Numbers row(set.getInequality(band.low));
  IntegerPolyhedron rest = set;
  rest.removeInequality(std::max(band.low, band.up));
  rest.removeInequality(std::min(band.low, band.up));
  for (DynamicAPInt value(0); value <= band.width; ++value) {
    IntegerPolyhedron part = rest;
    Numbers exact(row);
    exact.back() -= value;
    part.addEquality(exact);
    others.push_back(std::move(part));
  }
  if (others.empty()) {
    Numbers never(set.getNumVars(), DynamicAPInt(0));
    never.push_back(DynamicAPInt(-1));
    set.addInequality(never);
    return;
  }
  set = others.pop_back_val();
}

/// Eliminates a local that is no division and whose bounds, on one side, have coefficient 1: then
/// there is an integer between two bounds whenever they are in order.
bool Resolver::projectOne() {
  std::optional<unsigned> best;
  unsigned bestCost = 0;
  for (unsigned v = firstLocal(); v < set.getNumVars(); ++v) {
    if (!isOpen(v))
      continue;
    bool isExact = true, unitLow = true, unitUp = true;
    unsigned numLow = 0, numUp = 0;
    for (unsigned e = 0; e < set.getNumEqualities(); ++e)
      isExact &= set.atEq(e, v) == 0;
    for (unsigned i = 0; i < set.getNumInequalities(); ++i) {
      DynamicAPInt c = set.atIneq(i, v);
      numLow += c > 0;
      numUp += c < 0;
      unitLow &= c <= 1;
      unitUp &= c >= -1;
    }
    unsigned cost = numLow * numUp;
    if (isExact && (unitLow || unitUp) && (!best || cost < bestCost)) {
      best = v;
      bestCost = cost;
    }
  }
  constexpr unsigned maxRows = 64;
  if (!best || bestCost > maxRows)
    return false;
  SmallVector<Numbers, 0> lows, ups;
  for (unsigned i = set.getNumInequalities(); i-- > 0;) {
    DynamicAPInt c = set.atIneq(i, *best);
    if (c == 0)
      continue;
    (c > 0 ? lows : ups).emplace_back(set.getInequality(i));
    set.removeInequality(i);
  }
  for (const Numbers &low : lows)
    for (const Numbers &up : ups) {
      Numbers sum(low.size());
      for (auto [s, a, b] : llvm::zip(sum, low, up))
        s = -up[*best] * a + low[*best] * b;
      set.addInequality(sum);
    }
  set.removeVar(*best);
  set.removeTrivialRedundancy();
  return true;
}

/// An equality of several open locals becomes one of one.
bool Resolver::gatherEquality() {
  for (unsigned e = 0; e < set.getNumEqualities(); ++e) {
    bool hasOpen = false;
    for (unsigned v = firstLocal(); v < set.getNumVars(); ++v)
      hasOpen |= isOpen(v) && set.atEq(e, v) != 0;
    if (hasOpen && gather(Numbers(set.getEquality(e))))
      return true;
  }
  return false;
}

bool Resolver::step() {
  if (!set.getNumLocalVars())
    return false;
  known.assign(set.getNumLocalVars(), MaybeLocalRepr());
  set.getLocalReprs(&known);
  SmallVector<Band> bands;
  for (unsigned low = 0; low < set.getNumInequalities(); ++low)
    for (unsigned up = low + 1; up < set.getNumInequalities(); ++up)
      if (std::optional<Band> band = getBand(low, up))
        bands.push_back(*band);
  if (set.hasOnlyDivLocals() &&
      llvm::none_of(bands, [&](const Band &band) { return isTight(band); }))
    return false;
  if (eliminateOne(set, firstLocal(), set.getNumVars()))
    return true;
  for (const Band &band : bands) {
    if (band.divisor == 0 || band.width >= band.divisor)
      continue;
    if (band.width < band.divisor - 1) {
      split(band);
      return true;
    }
    if (gather(Numbers(set.getInequality(band.low))))
      return true;
  }
  if (gatherEquality())
    return true;
  for (const Band &band : bands)
    if (isTight(band)) {
      split(band);
      return true;
    }
  return projectOne();
}

SmallVector<IntegerPolyhedron, 0> etdg::resolveLocals(IntegerPolyhedron given) {
  // What is not done by then is left as it is.
  constexpr unsigned maxSteps = 64;
  SmallVector<std::pair<IntegerPolyhedron, unsigned>, 0> open;
  SmallVector<IntegerPolyhedron, 0> done;
  open.emplace_back(std::move(given), 0);
  while (!open.empty()) {
    auto [set, steps] = open.pop_back_val();
    Resolver resolver(std::move(set));
    while (steps++ < maxSteps && !hasFalseConstraint(resolver.set) && resolver.step())
      for (IntegerPolyhedron &other : resolver.takeOthers())
        open.emplace_back(std::move(other), steps);
    if (!hasFalseConstraint(resolver.set))
      done.push_back(std::move(resolver.set));
  }
  return done;
}
