//===- SetQueries.cpp - emptiness, cover, samples -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact answers, cheap ones first: equalities with a unit coefficient are
// substituted, parts that share no variable taken apart, then a rational test,
// and only then integer programming.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/SetWork.h"
#include "ft/Analysis/Sets.h"
#include "ft/Support/Interrupt.h"
#include "CoverByPoints.h"
#include "LocalVariables.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/Support/MathExtras.h"

#include <atomic>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

/// Passes of several graphs run side by side.
static std::atomic<int64_t> setsAsked;

/// What is left of this thread's budget; null where there is none.
static thread_local int64_t *setsLeft = nullptr;

static void countAsked(int64_t sets) {
  setsAsked.fetch_add(sets, std::memory_order_relaxed);
  if (setsLeft)
    *setsLeft -= sets;
}

/// Whether answers are no longer of use: they are what they would be where nothing is known then.
static bool mustStop() { return ft::isInterrupted() || (setsLeft && *setsLeft < 0); }

SetBudget::SetBudget(int64_t sets) : left(sets), before(setsLeft) { setsLeft = &left; }

SetBudget::~SetBudget() { setsLeft = before; }

int64_t etdg::getNumSetsAsked() { return setsAsked.load(std::memory_order_relaxed); }

IntegerPolyhedron etdg::projectOut(IntegerPolyhedron set, unsigned from, unsigned to) {
  set.convertToLocal(VarKind::SetDim, from, to);
  unsigned firstLocal = set.getVarKindOffset(VarKind::Local);
  eliminateAll(set, firstLocal, set.getNumVars());
  return set;
}

namespace {
/// Looks for an integer point value by value. Bounds of variables follow from each other, so that few values are tried where some
/// ranges are small. Remainders of a counter are such sets, and integer programming takes long for them.
class PointSearch {
public:
  explicit PointSearch(const IntegerPolyhedron &set);
  /// Whether there is a point; nothing where the search gives up.
  std::optional<bool> hasPoint() { return isSmall ? search(Bounds(numVars)) : std::nullopt; }

private:
  /// So many values are tried at most, and bounds follow from each other so many times.
  static constexpr int mostValues = 400, mostRounds = 8;
  /// Numbers below this do not overflow in sums of products.
  static constexpr int64_t large = int64_t(1) << 28;
  static constexpr unsigned mostVariables = 32;
  struct Range {
    int64_t lower = -large * large, upper = large * large;
    bool isFinite() const { return lower > -large && upper < large; }
  };
  using Bounds = SmallVector<Range, 8>;

  bool narrowBy(ArrayRef<int64_t> row, Bounds &bounds, bool &changed) const;
  bool narrow(Bounds &bounds) const;
  std::optional<bool> search(Bounds bounds);

  unsigned numVars;
  bool isSmall;
  /// Sums that are at least 0; the constant is the last number.
  SmallVector<SmallVector<int64_t, 8>> rows;
  int values = 0;
};
} // namespace

PointSearch::PointSearch(const IntegerPolyhedron &set) : numVars(set.getNumVars()), isSmall(numVars <= mostVariables) {
  auto add = [&](ArrayRef<DynamicAPInt> wide, int sign) {
    SmallVector<int64_t, 8> row;
    for (const DynamicAPInt &number : wide) {
      isSmall &= number > -large && number < large;
      row.push_back(isSmall ? sign * int64_t(number) : 0);
    }
    rows.push_back(std::move(row));
  };
  for (unsigned r = 0; r < set.getNumInequalities(); ++r)
    add(set.getInequality(r), 1);
  for (unsigned r = 0; r < set.getNumEqualities(); ++r)
    for (int sign : {1, -1})
      add(set.getEquality(r), sign);
}

/// What one row says of each variable where the others are bounded. False: it holds nowhere.
bool PointSearch::narrowBy(ArrayRef<int64_t> row, Bounds &bounds, bool &changed) const {
  int64_t most = row.back();
  unsigned numOpen = 0;
  auto largest = [&](unsigned v) { return row[v] > 0 ? bounds[v].upper : bounds[v].lower; };
  auto isOpen = [&](unsigned v) { return std::abs(largest(v)) >= large; };
  for (unsigned v = 0; v < numVars; ++v)
    if (row[v] != 0)
      isOpen(v) ? void(++numOpen) : void(most += row[v] * largest(v));
  if (numOpen == 0 && most < 0)
    return false;
  for (unsigned v = 0; v < numVars && numOpen <= 1; ++v) {
    if (row[v] == 0 || (numOpen == 1 && !isOpen(v)))
      continue;
    int64_t rest = numOpen == 1 ? most : most - row[v] * largest(v);
    Range &range = bounds[v];
    int64_t bound = row[v] > 0 ? llvm::divideCeilSigned(-rest, row[v]) : llvm::divideFloorSigned(rest, -row[v]);
    if (row[v] > 0 ? bound <= range.lower : bound >= range.upper)
      continue;
    (row[v] > 0 ? range.lower : range.upper) = bound;
    changed = true;
    if (range.lower > range.upper)
      return false;
  }
  return true;
}

bool PointSearch::narrow(Bounds &bounds) const {
  bool changed = true;
  for (int round = 0; round < mostRounds && changed; ++round) {
    changed = false;
    for (ArrayRef<int64_t> row : rows)
      if (!narrowBy(row, bounds, changed))
        return false;
  }
  return true;
}

std::optional<bool> PointSearch::search(Bounds bounds) {
  if (!narrow(bounds))
    return false;
  std::optional<unsigned> next;
  bool isPoint = true;
  for (unsigned v = 0; v < numVars; ++v) {
    if (bounds[v].lower == bounds[v].upper && !bounds[v].isFinite())
      return std::nullopt;
    if (bounds[v].lower == bounds[v].upper)
      continue;
    isPoint = false;
    if (bounds[v].isFinite() && (!next || bounds[v].upper - bounds[v].lower < bounds[*next].upper - bounds[*next].lower))
      next = v;
  }
  if (isPoint) // (Rounds may have ended before each row was asked about the last bounds.)
    return llvm::all_of(rows, [&](ArrayRef<int64_t> row) {
      int64_t sum = row.back();
      for (unsigned v = 0; v < numVars; ++v)
        sum += row[v] * bounds[v].lower;
      return sum >= 0;
    });
  if (!next)
    return std::nullopt;
  for (int64_t value = bounds[*next].lower; value <= bounds[*next].upper; ++value) {
    if (++values > mostValues)
      return std::nullopt;
    Bounds fixed = bounds;
    fixed[*next] = {value, value};
    std::optional<bool> found = search(std::move(fixed));
    if (!found || *found)
      return found;
  }
  return false;
}

/// Whether a set without trivial contradictions holds no integer point.
static bool isPartEmpty(IntegerPolyhedron part) {
  part.removeTrivialRedundancy();
  Simplex simplex(part);
  if (simplex.isEmpty())
    return true;
  // The point at which the rational test ended is an integer one most often.
  if (simplex.getSamplePointIfIntegral())
    return false;
  if (std::optional<bool> found = PointSearch(part).hasPoint())
    return !*found;
  return !part.findIntegerSample();
}

/// Calls `fn` with the number of each variable that a row counts.
static void forEachVariable(ArrayRef<DynamicAPInt> row, llvm::function_ref<void(unsigned)> fn) {
  for (auto [v, c] : llvm::enumerate(row.drop_back()))
    if (c != 0)
      fn(v);
}

static ArrayRef<DynamicAPInt> getRow(const IntegerPolyhedron &set, unsigned row) {
  unsigned numEqs = set.getNumEqualities();
  return row < numEqs ? set.getEquality(row) : set.getInequality(row - numEqs);
}

/// The rows but for those of `without`, those that are linked by variables together: each part says nothing about the
/// variables of another.
static SmallVector<SmallVector<unsigned>> getUnrelatedRows(const IntegerPolyhedron &set,
                                                           const llvm::BitVector &without) {
  llvm::IntEqClasses related(set.getNumVars());
  unsigned numRows = set.getNumEqualities() + set.getNumInequalities();
  SmallVector<std::optional<unsigned>> variable(numRows);
  for (unsigned r = 0; r < numRows; ++r) {
    if (r < without.size() && without.test(r))
      continue;
    forEachVariable(getRow(set, r), [&](unsigned v) {
      if (variable[r])
        related.join(*variable[r], v);
      variable[r] = v;
    });
  }
  related.compress();
  SmallVector<SmallVector<unsigned>> parts(related.getNumClasses());
  for (unsigned r = 0; r < numRows; ++r)
    if (variable[r])
      parts[related[*variable[r]]].push_back(r);
  llvm::erase_if(parts, [](ArrayRef<unsigned> rows) { return rows.empty(); });
  return parts;
}

/// Those rows, over the variables that they count.
static IntegerPolyhedron extract(const IntegerPolyhedron &set, ArrayRef<unsigned> rows) {
  SmallVector<int> place(set.getNumVars(), -1);
  unsigned numVars = 0;
  for (unsigned r : rows)
    forEachVariable(getRow(set, r), [&](unsigned v) {
      if (place[v] < 0)
        place[v] = int(numVars++);
    });
  IntegerPolyhedron part(PresburgerSpace::getSetSpace(numVars));
  for (unsigned r : rows) {
    ArrayRef<DynamicAPInt> wide = getRow(set, r);
    SmallVector<DynamicAPInt> row(numVars + 1, DynamicAPInt(0));
    row.back() = wide.back();
    forEachVariable(wide, [&](unsigned v) { row[place[v]] = wide[v]; });
    if (r < set.getNumEqualities())
      part.addEquality(row);
    else
      part.addInequality(row);
  }
  return part;
}

/// A set of unrelated parts is empty where one of them is, and integer programming takes much less for each than for
/// all: most loops around a block are such parts.
bool etdg::isEmpty(const IntegerPolyhedron &given) {
  countAsked(1);
  return !mustStop() && hasNoPoint(given);
}

bool etdg::hasNoPoint(const IntegerPolyhedron &given) {
  IntegerPolyhedron set = given;
  Solved solved = solveAll(set, 0, set.getNumVars());
  if (hasFalseConstraint(set) || set.isEmptyByGCDTest())
    return true;
  return llvm::any_of(getUnrelatedRows(set, solved.equalities),
                      [&](ArrayRef<unsigned> rows) { return isPartEmpty(extract(set, rows)); });
}

/// The pieces whose union is `piece`, one for each value of its first local that is no division and has few values. None where no local
/// is such a one.
static SmallVector<IntegerPolyhedron, 0> fixLocal(IntegerPolyhedron piece) {
  constexpr int64_t mostValues = 16;
  piece.removeDuplicateDivs();
  std::vector<MaybeLocalRepr> reprs(piece.getNumLocalVars());
  piece.getLocalReprs(&reprs);
  Simplex simplex(piece);
  unsigned firstLocal = piece.getVarKindOffset(VarKind::Local), numVars = piece.getNumVars();
  for (auto [l, repr] : llvm::enumerate(reprs)) {
    if (repr.kind != ReprKind::None)
      continue;
    SmallVector<DynamicAPInt> direction(numVars + 1, DynamicAPInt(0));
    direction[firstLocal + l] = 1;
    auto [low, high] = simplex.computeIntegerBounds(direction);
    if (!low.isBounded() || !high.isBounded() || *high - *low >= mostValues)
      continue;
    SmallVector<IntegerPolyhedron, 0> pieces;
    for (DynamicAPInt value = *low; value <= *high; ++value) {
      pieces.push_back(piece);
      pieces.back().setAndEliminate(firstLocal + unsigned(l), value);
    }
    return pieces;
  }
  return {};
}

/// Takes `piece` from `part` value by value of locals that are no divisions. False, and nothing appended, where one of them has many
/// values.
static bool subtractFixed(const IntegerPolyhedron &part, const IntegerPolyhedron &piece, SmallVectorImpl<IntegerPolyhedron> &rest) {
  SmallVector<IntegerPolyhedron, 0> pieces = fixLocal(piece), open = {part};
  if (pieces.empty())
    return false;
  for (const IntegerPolyhedron &one : pieces) {
    SmallVector<IntegerPolyhedron, 0> left;
    for (const IntegerPolyhedron &each : open)
      if (hasNoPoint(IntegerPolyhedron(each.intersect(one))))
        left.push_back(each);
      else if (!subtractPiece(each, one, left) && !subtractFixed(each, one, left))
        return false;
    open = std::move(left);
  }
  llvm::append_range(rest, open);
  return true;
}

/// The same for a piece with locals that are no divisions: by others that are, or value by value.
static void subtractAny(const IntegerPolyhedron &part, const IntegerPolyhedron &piece, SmallVectorImpl<IntegerPolyhedron> &rest) {
  if (subtractPiece(part, piece, rest))
    return;
  SmallVector<IntegerPolyhedron, 0> open = {part};
  PresburgerRelation others = PresburgerRelation(piece).computeReprWithOnlyDivLocals();
  for (const IntegerRelation &other : others.getAllDisjuncts()) {
    IntegerPolyhedron one(other);
    SmallVector<IntegerPolyhedron, 0> left;
    for (const IntegerPolyhedron &each : open)
      if (!subtractPiece(each, one, left) && !subtractFixed(each, one, left))
        left.push_back(each); // as if it covered nothing
    open = std::move(left);
  }
  llvm::append_range(rest, open);
}

/// Piece by piece, with parts that hold no integer dropped at once.
PresburgerSet etdg::subtract(const IntegerPolyhedron &set, ArrayRef<IntegerPolyhedron> cover) {
  countAsked(int64_t(1 + cover.size()));
  if (cover.empty() || mustStop())
    return PresburgerSet(set);
  SmallVector<IntegerPolyhedron, 0> rest = {set};
  for (const IntegerPolyhedron &given : llvm::reverse(cover))
    for (const IntegerPolyhedron &piece : resolveLocals(given)) {
      SmallVector<IntegerPolyhedron, 0> left;
      for (IntegerPolyhedron &part : rest) {
        if (mustStop())
          return PresburgerSet(set); // as if no piece covered any of it
        if (hasNoPoint(IntegerPolyhedron(part.intersect(piece))))
          left.push_back(std::move(part));
        else
          subtractAny(part, piece, left);
      }
      rest = std::move(left);
    }
  PresburgerSet result = PresburgerSet::getEmpty(set.getSpaceWithoutLocals());
  for (const IntegerPolyhedron &part : rest)
    result.unionInPlace(part);
  return result;
}

/// Whether `outer`, without local variables, holds on all rational points of `set`.
static bool isImplied(Simplex &set, const IntegerPolyhedron &outer, unsigned numVars) {
  if (outer.getNumLocalVars())
    return false;
  auto padded = [&](ArrayRef<DynamicAPInt> row) {
    SmallVector<DynamicAPInt> wide(row.drop_back());
    wide.resize(numVars, DynamicAPInt(0));
    wide.push_back(row.back());
    return wide;
  };
  for (unsigned i = 0; i < outer.getNumInequalities(); ++i)
    if (!set.isRedundantInequality(padded(outer.getInequality(i))))
      return false;
  for (unsigned i = 0; i < outer.getNumEqualities(); ++i)
    if (!set.isRedundantEquality(padded(outer.getEquality(i))))
      return false;
  return true;
}

bool etdg::isCovered(const IntegerPolyhedron &set, ArrayRef<IntegerPolyhedron> cover) {
  countAsked(int64_t(1 + cover.size()));
  if (mustStop())
    return false;
  if (isEmpty(set))
    return true;
  if (cover.empty())
    return false;
  Simplex simplex(set);
  for (const IntegerPolyhedron &piece : cover)
    if (isImplied(simplex, piece, set.getNumVars()))
      return true;
  // Differences of few sets without remainders are few sets.
  constexpr unsigned maxPlainPieces = 4;
  bool isPlain = cover.size() <= maxPlainPieces && set.getNumLocalVars() == 0 &&
                 llvm::all_of(cover, [](const IntegerPolyhedron &piece) { return piece.getNumLocalVars() == 0; });
  if (!isPlain)
    if (std::optional<bool> found = isCoveredByPoints(set, cover))
      return *found;
  return subtract(set, cover).isIntegerEmpty();
}

std::optional<SmallVector<int64_t>> etdg::findSample(const IntegerPolyhedron &set) {
  countAsked(1);
  unsigned numDims = set.getNumDimVars(), numSymbols = set.getNumSymbolVars();
  // The lexicographic minimum with the symbols first: the smallest example.
  IntegerPolyhedron symbolsFirst = set;
  symbolsFirst.convertVarKind(VarKind::Symbol, 0, numSymbols, VarKind::SetDim, 0);
  SmallVector<DynamicAPInt> values;
  auto lexMin = symbolsFirst.findIntegerLexMin();
  SmallVector<int64_t> sample;
  if (lexMin.isBounded()) {
    auto &point = *lexMin;
    for (unsigned i = 0; i < numDims; ++i)
      sample.push_back(int64_t(point[numSymbols + i]));
    for (unsigned i = 0; i < numSymbols; ++i)
      sample.push_back(int64_t(point[i]));
    return sample;
  }
  auto any = set.findIntegerSample();
  if (!any)
    return std::nullopt;
  for (unsigned i = 0; i < numDims + numSymbols; ++i)
    sample.push_back(int64_t((*any)[i]));
  return sample;
}

std::optional<SmallVector<int64_t>> etdg::findSample(const PresburgerSet &set) {
  std::optional<SmallVector<int64_t>> best;
  auto weight = [](ArrayRef<int64_t> sample) {
    int64_t sum = 0;
    for (int64_t value : sample)
      sum += std::abs(value);
    return sum;
  };
  for (const IntegerRelation &disjunct : set.getAllDisjuncts()) {
    std::optional<SmallVector<int64_t>> sample = findSample(IntegerPolyhedron(disjunct));
    if (sample && (!best || weight(*sample) < weight(*best)))
      best = sample;
  }
  return best;
}

std::string etdg::sampleToString(ArrayRef<int64_t> sample, ArrayRef<StringAttr> dims,
                                 const SymbolSpace &space) {
  std::string text;
  llvm::raw_string_ostream os(text);
  bool first = true;
  auto print = [&](StringAttr name, int64_t value) {
    os << (first ? "" : ", ") << name.getValue() << " = " << value;
    first = false;
  };
  unsigned numDims = sample.size() - space.size();
  for (auto [i, name] : llvm::enumerate(space.getNames()))
    print(name, sample[numDims + i]);
  for (auto [i, name] : llvm::enumerate(dims))
    if (i < numDims)
      print(name, sample[i]);
  return text;
}
