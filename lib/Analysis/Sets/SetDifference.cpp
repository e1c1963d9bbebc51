//===- SetDifference.cpp - the points of a set that others have not -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's own difference simplifies what is left by IntegerRelation::simplify, which is wrong in LLVM 22. It multiplies an inequality to
// eliminate a variable by an equality, but not the columns before that variable's. So both are here.
//
//===----------------------------------------------------------------------===//
#include "LocalVariables.h"
#include "ft/Analysis/Sets.h"
#include "ft/Analysis/SimplifySet.h"

#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

using Numbers = SmallVector<DynamicAPInt>;

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

namespace {
/// (A class of its own for the protected members.)
class Simplifier : public IntegerPolyhedron {
public:
  explicit Simplifier(IntegerPolyhedron set) : IntegerPolyhedron(std::move(set)) {}
  void run();

private:
  std::optional<unsigned> findRow(unsigned first, unsigned column) const;
  void eliminate(unsigned pivot, unsigned column);
  bool solve();
};
} // namespace

/// `row`, times a positive number, plus a multiple of `pivot`, so that its column becomes 0.
static void cancel(IntMatrix &matrix, unsigned row, ArrayRef<DynamicAPInt> pivot, unsigned column) {
  DynamicAPInt factor = matrix(row, column);
  if (factor == 0)
    return;
  DynamicAPInt divisor = llvm::gcd(llvm::abs(pivot[column]), llvm::abs(factor));
  DynamicAPInt own = llvm::abs(pivot[column]) / divisor, other = factor / divisor * (pivot[column] > 0 ? -1 : 1);
  for (unsigned c = 0; c < pivot.size(); ++c)
    matrix(row, c) = own * matrix(row, c) + other * pivot[c];
}

std::optional<unsigned> Simplifier::findRow(unsigned first, unsigned column) const {
  for (unsigned e = first; e < getNumEqualities(); ++e)
    if (atEq(e, column) != 0)
      return e;
  return std::nullopt;
}

/// By an equality, in the equalities after it and in all inequalities.
void Simplifier::eliminate(unsigned pivot, unsigned column) {
  Numbers row(getEquality(pivot));
  for (unsigned e = pivot + 1; e < getNumEqualities(); ++e) {
    cancel(equalities, e, row, column);
    equalities.normalizeRow(e);
  }
  for (unsigned i = 0; i < getNumInequalities(); ++i)
    cancel(inequalities, i, row, column);
  gcdTightenInequalities();
}

/// Brings the equalities into echelon form. Returns whether some are superfluous, which are gone then.
bool Simplifier::solve() {
  gcdTightenInequalities();
  unsigned done = 0;
  for (unsigned column = 0; column < getNumVars() && done < getNumEqualities(); ++column) {
    std::optional<unsigned> row = findRow(done, column);
    if (!row)
      continue;
    equalities.swapRows(*row, done);
    eliminate(done++, column);
  }
  if (done == getNumEqualities())
    return false;
  for (unsigned e = done; e < getNumEqualities(); ++e)
    if (atEq(e, getNumVars()) != 0) { // 0 = c
      Numbers never(getNumVars(), DynamicAPInt(0));
      never.push_back(DynamicAPInt(-1));
      addInequality(never);
      break;
    }
  removeEqualityRange(done, getNumEqualities());
  return true;
}

void Simplifier::run() {
  bool isChanged = true;
  while (isChanged && !isObviouslyEmpty()) {
    normalizeConstraintsByGCD();
    isChanged = solve();
    isChanged |= removeDuplicateConstraints();
  }
}

IntegerPolyhedron etdg::simplify(IntegerPolyhedron set) {
  Simplifier simplifier(std::move(set));
  simplifier.run();
  return IntegerPolyhedron(simplifier);
}

//===----------------------------------------------------------------------===//
// Difference
//===----------------------------------------------------------------------===//

static Numbers negated(ArrayRef<DynamicAPInt> row, int64_t constant) {
  Numbers result;
  for (const DynamicAPInt &number : row)
    result.push_back(-number);
  result.back() += constant;
  return result;
}

/// Adds what says of one more local of `piece` what it is, which has a solution everywhere. False where nothing says it. Inequalities of
/// `piece` that say no more than that are marked.
static bool addDefinition(IntegerPolyhedron &part, const IntegerPolyhedron &piece, unsigned local, const MaybeLocalRepr &repr,
                          llvm::BitVector &marked) {
  // By f - m·q >= 0, which `row` is: q = floor(f / m). Returns the other inequality.
  auto define = [&](ArrayRef<DynamicAPInt> row) {
    Numbers upper = negated(row, 0);
    upper.back() += -row[local] - 1;
    part.addInequality(row);
    part.addInequality(upper);
    return upper;
  };
  if (repr.kind == ReprKind::Inequality) {
    unsigned low = repr.repr.inequalityPair.lowerBoundIdx, high = repr.repr.inequalityPair.upperBoundIdx;
    if (piece.atIneq(low, local) > 0)
      std::swap(low, high);
    Numbers upper = define(Numbers(piece.getInequality(low)));
    marked.set(low);
    // A pair 0 <= f - m·q <= c with c < m - 1 also says which remainders there are.
    if (ArrayRef(upper) == piece.getInequality(high))
      marked.set(high);
    return true;
  }
  if (repr.kind != ReprKind::Equality)
    return false;
  // m·q = f: the equality also says that nothing remains.
  Numbers row(piece.getEquality(repr.repr.equalityIdx));
  define(row[local] > 0 ? negated(row, 0) : row);
  return true;
}

/// The rows of `piece` but for those that are marked or that follow from the others and from `part`, as inequalities.
static SmallVector<Numbers> rowsOf(const IntegerPolyhedron &piece, const llvm::BitVector &marked, const IntegerPolyhedron &part) {
  SmallVector<Numbers> all;
  for (unsigned e = 0; e < piece.getNumEqualities(); ++e) {
    all.emplace_back(piece.getEquality(e));
    all.push_back(negated(piece.getEquality(e), 0));
  }
  for (unsigned i = 0; i < piece.getNumInequalities(); ++i)
    if (!marked.test(i))
      all.emplace_back(piece.getInequality(i));
  Simplex simplex(part);
  unsigned first = simplex.getNumConstraints();
  for (ArrayRef<DynamicAPInt> row : all)
    simplex.addInequality(row);
  if (simplex.isEmpty())
    return all;
  simplex.detectRedundant(first, all.size());
  SmallVector<Numbers> needed;
  for (auto [i, row] : llvm::enumerate(all))
    if (!simplex.isMarkedRedundant(first + unsigned(i)))
      needed.push_back(std::move(row));
  return needed;
}

bool etdg::subtractPiece(IntegerPolyhedron part, IntegerPolyhedron piece, SmallVectorImpl<IntegerPolyhedron> &rest) {
  part.removeDuplicateDivs();
  piece.removeDuplicateDivs();
  unsigned numOwn = part.getNumLocalVars(), firstLocal = part.getVarKindOffset(VarKind::Local);
  part.mergeLocalVars(piece);
  std::vector<MaybeLocalRepr> reprs(piece.getNumLocalVars());
  piece.getLocalReprs(&reprs);
  llvm::BitVector marked(piece.getNumInequalities());
  for (unsigned l = numOwn; l < reprs.size(); ++l)
    if (!addDefinition(part, piece, firstLocal + l, reprs[l], marked))
      return false;
  Simplex simplex(part);
  auto without = [&](ArrayRef<DynamicAPInt> row) {
    if (simplex.isRedundantInequality(row))
      return;
    // Rationals tell most cases, integers the others.
    Numbers never = negated(row, -1);
    unsigned before = simplex.getSnapshot();
    simplex.addInequality(never);
    bool isNone = simplex.isEmpty();
    simplex.rollback(before);
    if (!isNone) {
      IntegerPolyhedron open = part;
      open.addInequality(never);
      if (!hasNoPoint(open))
        rest.push_back(simplify(std::move(open)));
    }
    part.addInequality(row);
    simplex.addInequality(row);
  };
  for (ArrayRef<DynamicAPInt> row : rowsOf(piece, marked, part))
    without(row);
  return true;
}
