//===- CoverByPoints.cpp - covers of small sets ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CoverByPoints.h"
#include "ft/Support/Interrupt.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

/// A set of more points is not gone through: about a second's work.
static constexpr int64_t maxPoints = int64_t(1) << 20;
/// Numbers above are left to exact arithmetic of any size, so that no sum here overflows.
static constexpr int64_t maxNumber = int64_t(1) << 24;
/// A local variable of a wider range is not tried value by value.
static constexpr int64_t maxRange = int64_t(1) << 12;

namespace {

/// `Σ factors · variables + constant`, at least 0 or equal to it.
struct Row {
  SmallVector<int64_t> factors;
  int64_t constant;
  bool isEquality;
};

struct Interval {
  int64_t low, high;
};

/// A polyhedron in machine numbers. Its first variables are given by a point, the others are local.
class SmallSet {
public:
  static std::optional<SmallSet> of(const IntegerPolyhedron &set);

  /// Whether a point lies in it; none where that is not found out.
  std::optional<bool> contains(ArrayRef<int64_t> point);

private:
  std::optional<bool> hasLocals(MutableArrayRef<int64_t> rests, uint64_t open);
  std::optional<Interval> rangeOf(unsigned local, ArrayRef<int64_t> rests, uint64_t open) const;

  unsigned numGiven = 0, numLocals = 0;
  SmallVector<Row, 0> rows;
};

} // namespace

static bool addRow(ArrayRef<DynamicAPInt> wide, bool isEquality, SmallVectorImpl<Row> &rows) {
  Row row{{}, 0, isEquality};
  for (const DynamicAPInt &number : wide) {
    if (llvm::abs(number) > DynamicAPInt(maxNumber))
      return false;
    row.factors.push_back(int64_t(number));
  }
  row.constant = row.factors.pop_back_val();
  rows.push_back(std::move(row));
  return true;
}

std::optional<SmallSet> SmallSet::of(const IntegerPolyhedron &set) {
  constexpr unsigned maxLocals = 64; // bits of a mask
  SmallSet small;
  small.numLocals = set.getNumLocalVars();
  small.numGiven = set.getNumVars() - small.numLocals;
  if (small.numLocals >= maxLocals)
    return std::nullopt;
  for (unsigned i = 0; i < set.getNumEqualities(); ++i)
    if (!addRow(set.getEquality(i), true, small.rows))
      return std::nullopt;
  for (unsigned i = 0; i < set.getNumInequalities(); ++i)
    if (!addRow(set.getInequality(i), false, small.rows))
      return std::nullopt;
  return small;
}

/// What the rows that count no other open local say of one.
std::optional<Interval> SmallSet::rangeOf(unsigned local, ArrayRef<int64_t> rests, uint64_t open) const {
  std::optional<int64_t> low, high;
  auto raise = [&](int64_t value) { low = low ? std::max(*low, value) : value; };
  auto lower = [&](int64_t value) { high = high ? std::min(*high, value) : value; };
  for (auto [row, rest] : llvm::zip_equal(rows, rests)) {
    int64_t factor = row.factors[numGiven + local];
    bool isAlone = factor != 0;
    for (unsigned l = 0; l < numLocals && isAlone; ++l)
      isAlone = l == local || !(open >> l & 1) || row.factors[numGiven + l] == 0;
    if (!isAlone)
      continue;
    // factor · x + rest ≥ 0
    if (factor > 0)
      raise(llvm::divideCeilSigned(-rest, factor));
    else
      lower(llvm::divideFloorSigned(rest, -factor));
    if (row.isEquality && factor > 0)
      lower(llvm::divideFloorSigned(-rest, factor));
    else if (row.isEquality)
      raise(llvm::divideCeilSigned(rest, -factor));
  }
  if (!low || !high)
    return std::nullopt;
  return Interval{*low, *high};
}

/// Whether the open locals can be chosen so that all rows hold; `rests` are the rows without these.
std::optional<bool> SmallSet::hasLocals(MutableArrayRef<int64_t> rests, uint64_t open) {
  std::optional<unsigned> best;
  Interval range{0, 0};
  for (unsigned l = 0; l < numLocals; ++l) {
    std::optional<Interval> found = open >> l & 1 ? rangeOf(l, rests, open) : std::nullopt;
    if (!found)
      continue;
    if (found->low > found->high)
      return false;
    if (!best || found->high - found->low < range.high - range.low) {
      best = l;
      range = *found;
    }
  }
  if (!open)
    return llvm::all_of(llvm::zip_equal(rows, rests), [](auto pair) {
      auto [row, rest] = pair;
      return row.isEquality ? rest == 0 : rest >= 0;
    });
  if (!best || range.high - range.low >= maxRange)
    return std::nullopt;
  for (int64_t value = range.low; value <= range.high; ++value) {
    SmallVector<int64_t> next(rests);
    for (auto [row, rest] : llvm::zip_equal(rows, next))
      rest += row.factors[numGiven + *best] * value;
    std::optional<bool> found = hasLocals(next, open & ~(uint64_t(1) << *best));
    if (!found || *found)
      return found;
  }
  return false;
}

std::optional<bool> SmallSet::contains(ArrayRef<int64_t> point) {
  SmallVector<int64_t> rests;
  for (const Row &row : rows) {
    int64_t rest = row.constant;
    bool hasLocal = false;
    for (auto [v, factor] : llvm::enumerate(row.factors)) {
      rest += v < numGiven ? factor * point[v] : 0;
      hasLocal |= v >= numGiven && factor != 0;
    }
    if (!hasLocal && (row.isEquality ? rest != 0 : rest < 0))
      return false;
    rests.push_back(rest);
  }
  if (numLocals == 0)
    return true;
  return hasLocals(rests, (uint64_t(1) << numLocals) - 1);
}

/// The range of each variable that a point gives; none where one has no end, or where the box has too many points.
static std::optional<SmallVector<Interval>> boxOf(const IntegerPolyhedron &set) {
  Simplex simplex(set);
  if (simplex.isEmpty())
    return std::nullopt;
  SmallVector<Interval> box;
  int64_t numPoints = 1;
  unsigned numGiven = set.getNumVars() - set.getNumLocalVars();
  SmallVector<DynamicAPInt> row(set.getNumVars() + 1, DynamicAPInt(0));
  for (unsigned v = 0; v < numGiven; ++v) {
    row[v] = 1;
    auto [low, high] = simplex.computeIntegerBounds(row);
    row[v] = 0;
    if (!low.isBounded() || !high.isBounded() || llvm::abs(*low) > DynamicAPInt(maxNumber) || llvm::abs(*high) > DynamicAPInt(maxNumber))
      return std::nullopt;
    box.push_back({int64_t(*low), int64_t(*high)});
    numPoints *= std::max<int64_t>(0, box.back().high - box.back().low + 1);
    if (numPoints > maxPoints)
      return std::nullopt;
  }
  return box;
}

/// The next point of a box in lexicographic order; whether there is one.
static bool advance(MutableArrayRef<int64_t> point, ArrayRef<Interval> box) {
  for (unsigned v = point.size(); v-- > 0;) {
    if (++point[v] <= box[v].high)
      return true;
    point[v] = box[v].low;
  }
  return false;
}

std::optional<bool> etdg::isCoveredByPoints(const IntegerPolyhedron &set, ArrayRef<IntegerPolyhedron> cover) {
  std::optional<SmallVector<Interval>> box = boxOf(set);
  std::optional<SmallSet> all = box ? SmallSet::of(set) : std::nullopt;
  if (!all)
    return std::nullopt;
  SmallVector<SmallSet, 0> pieces;
  for (const IntegerPolyhedron &piece : cover) {
    std::optional<SmallSet> small = SmallSet::of(piece);
    if (!small)
      return std::nullopt;
    pieces.push_back(std::move(*small));
  }
  if (llvm::any_of(*box, [](Interval range) { return range.low > range.high; }))
    return true;
  SmallVector<int64_t> point;
  for (Interval range : *box)
    point.push_back(range.low);
  int64_t left = maxPoints;
  // Neighbours lie in one piece most often: it is asked first.
  unsigned last = 0;
  do {
    std::optional<bool> isThere = all->contains(point);
    if (!isThere || ft::isInterrupted())
      return std::nullopt;
    bool isCovered = !*isThere;
    for (unsigned i = 0; i < pieces.size() && !isCovered; ++i) {
      unsigned at = (last + i) % pieces.size();
      std::optional<bool> found = pieces[at].contains(point);
      if (!found || --left < 0)
        return std::nullopt;
      if ((isCovered = *found))
        last = at;
    }
    if (!isCovered)
      return false;
  } while (advance(point, *box));
  return true;
}
