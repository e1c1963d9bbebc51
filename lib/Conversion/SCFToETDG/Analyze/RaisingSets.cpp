//===- RaisingSets.cpp - the latest points of conditions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lexicographic maxima of sets, and ranges as the program wrote them.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/RaisingSets.h"

#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Analysis/SimplifySet.h"
#include "mlir/Analysis/Presburger/PWMAFunction.h"
#include "mlir/Analysis/Presburger/Simplex.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;
using graphwriter::addDivisions;
using graphwriter::toExpr;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

AffineExpr RaisingSets::withDims(AffineExpr expr, ArrayRef<AffineExpr> dims) const {
  return expr.replaceDims(dims);
}

/// No division and no remainder.
static bool isPlain(AffineExpr expr) {
  bool plain = true;
  expr.walk([&](AffineExpr e) {
    plain &= !llvm::is_contained(
        {AffineExprKind::FloorDiv, AffineExprKind::CeilDiv, AffineExprKind::Mod}, e.getKind());
  });
  return plain;
}

Conjunction RaisingSets::reduce(ArrayRef<Constraint> all, ArrayRef<Constraint> context) const {
  Conjunction equal(context), kept;
  for (const Constraint &c : all)
    if (c.isEquality && !isImplied(equal, c)) {
      // Engines take ranges from constraints without divisions.
      if (isPlain(c.expr))
        equal.push_back(c);
      kept.push_back(c);
    }
  for (const Constraint &c : all)
    if (!c.isEquality && !llvm::is_contained(kept, c) && !isImplied(equal, c))
      kept.push_back(c);
  for (unsigned i = 0; i < kept.size();) {
    bool weaker = false;
    for (unsigned j = 0; j < kept.size() && !weaker; ++j)
      weaker = j != i && !kept[i].isEquality && (isPlain(kept[j].expr) || !isPlain(kept[i].expr)) &&
               isImplied({kept[j]}, kept[i]);
    if (weaker)
      kept.erase(kept.begin() + i);
    else
      ++i;
  }
  return kept;
}

/// Numbers with a·x + b·y = 1; a and b have no common divisor.
static std::pair<DynamicAPInt, DynamicAPInt> solveBezout(DynamicAPInt a, DynamicAPInt b) {
  DynamicAPInt x(1), y(0), nextX(0), nextY(1);
  while (b != 0) {
    DynamicAPInt quotient = llvm::floorDiv(a, b);
    a = std::exchange(b, a - quotient * b);
    x = std::exchange(nextX, x - quotient * nextX);
    y = std::exchange(nextY, y - quotient * nextY);
  }
  return {x * a, y * a}; // a is 1 or −1 now
}

namespace {
/// Gives the free variables of a lexicographic maximum that have remainders others in their place.
/// An equality `a·f + s·l = R` with one local l is, for g = gcd(a, s) and r = R / g, solved by
/// f = f0·r + (s / g)·k and l = l0·r − (a / g)·k with an integer k that it does not restrict: k
/// takes the place of f, and of `c = t mod 5` stays t = c + 5·k. With s > 0 an order by f is one
/// by k, as R holds only what comes before f. The symbolic maximum would cut its way to the same
/// in very many pieces.
class RemainderSolver {
public:
  /// `columns` stand for the set's dimensions and symbols; those of free variables for what
  /// takes their places.
  RemainderSolver(IntegerPolyhedron &set, ArrayRef<AffineExpr> columns)
      : set(set), columns(columns), locals(set.getNumLocalVars()) {}
  /// What variable f is over the columns; null where it stays itself.
  AffineExpr solve(unsigned f, unsigned endOfFree);

private:
  std::optional<unsigned> findLocal(unsigned equality, unsigned f, unsigned endOfFree);
  AffineExpr express(ArrayRef<DynamicAPInt> row, const DynamicAPInt &constant);
  void substitute(unsigned equality, unsigned f, unsigned local, ArrayRef<DynamicAPInt> rest);

  IntegerPolyhedron &set;
  SmallVector<AffineExpr> columns;
  /// Of locals that are known to be divisions of what comes before; else null.
  SmallVector<AffineExpr> locals;
  DynamicAPInt a, b, x, y; // of the equality that is solved: a·x + b·y = 1
};
} // namespace

std::optional<unsigned> RemainderSolver::findLocal(unsigned equality, unsigned f,
                                                   unsigned endOfFree) {
  if (set.atEq(equality, f) == 0)
    return std::nullopt;
  for (unsigned v = f + 1; v < endOfFree; ++v)
    if (set.atEq(equality, v) != 0)
      return std::nullopt;
  std::optional<unsigned> local;
  unsigned firstLocal = set.getVarKindOffset(VarKind::Local);
  for (unsigned v = firstLocal; v < set.getNumVars(); ++v) {
    if (set.atEq(equality, v) == 0 || locals[v - firstLocal])
      continue;
    if (local)
      return std::nullopt;
    local = v;
  }
  return local;
}

AffineExpr RemainderSolver::express(ArrayRef<DynamicAPInt> row, const DynamicAPInt &constant) {
  AffineExpr sum = getAffineConstantExpr(int64_t(constant), columns.front().getContext());
  for (unsigned v = 0; v < row.size(); ++v)
    if (row[v] != 0)
      sum = sum + (v < columns.size() ? columns[v] : locals[v - columns.size()]) * int64_t(row[v]);
  return sum;
}

/// f := x·rest + b·k and l := y·rest − a·k in all constraints, k being column f.
void RemainderSolver::substitute(unsigned equality, unsigned f, unsigned local,
                                 ArrayRef<DynamicAPInt> rest) {
  DynamicAPInt sign(b > 0 ? 1 : -1);
  auto change = [&](auto at) {
    DynamicAPInt ofFree = at(f), ofLocal = at(local), ofRest = ofFree * x + ofLocal * y;
    for (unsigned c = 0; c < rest.size(); ++c)
      at(c) += ofRest * rest[c];
    at(f) = (ofFree * b - ofLocal * a) * sign;
    at(local) = 0;
  };
  for (unsigned i = 0; i < set.getNumEqualities(); ++i)
    change([&](unsigned c) -> DynamicAPInt & { return set.atEq(i, c); });
  for (unsigned i = 0; i < set.getNumInequalities(); ++i)
    change([&](unsigned c) -> DynamicAPInt & { return set.atIneq(i, c); });
  set.removeEquality(equality);
  set.removeVar(local);
  locals.erase(locals.begin() + (local - columns.size()));
}

AffineExpr RemainderSolver::solve(unsigned f, unsigned endOfFree) {
  for (unsigned e = 0; e < set.getNumEqualities(); ++e) {
    std::optional<unsigned> local = findLocal(e, f, endOfFree);
    if (!local)
      continue;
    a = set.atEq(e, f);
    b = set.atEq(e, *local);
    SmallVector<DynamicAPInt> rest;
    for (const DynamicAPInt &c : set.getEquality(e))
      rest.push_back(-c);
    rest[f] = rest[*local] = 0;
    AffineExpr value = express(ArrayRef(rest).drop_back(), rest.back());
    if (DynamicAPInt divisor = llvm::gcd(llvm::abs(a), llvm::abs(b)); divisor != 1) {
      // A local r with R = divisor · r.
      value = value.floorDiv(int64_t(divisor));
      unsigned r = set.appendVar(VarKind::Local);
      locals.push_back(value);
      SmallVector<DynamicAPInt> exact(rest);
      exact.insert(exact.end() - 1, -divisor);
      set.addEquality(exact);
      llvm::fill(rest, DynamicAPInt(0));
      rest.push_back(DynamicAPInt(0));
      rest[r] = 1;
      a = a / divisor;
      b = b / divisor;
    }
    std::tie(x, y) = solveBezout(a, b);
    substitute(e, f, *local, rest);
    DynamicAPInt factor = llvm::abs(b);
    return value * int64_t(x) + columns[f] * int64_t(factor);
  }
  return AffineExpr();
}

bool RaisingSets::isLatest(ArrayRef<Constraint> set, const Conjunction &domain, ArrayRef<AffineExpr> point,
                           unsigned numFixed) const {
  SmallVector<AffineExpr> at;
  for (unsigned d = 0; d < numFixed + point.size(); ++d)
    at.push_back(d < numFixed ? dim(d) : point[d - numFixed]);
  for (const Constraint &c : set) {
    AffineExpr value = withDims(c.expr, at);
    for (int sign : {1, -1}) {
      if (sign < 0 && !c.isEquality)
        continue;
      Conjunction outside(domain);
      outside.push_back({-value * sign - 1, /*isEquality=*/false});
      if (!isEmpty(outside))
        return false;
    }
  }
  Conjunction greater(domain);
  greater.append(set.begin(), set.end());
  for (auto [i, value] : llvm::enumerate(point)) {
    AffineExpr apart = dim(numFixed + unsigned(i)) - value;
    Conjunction later(greater);
    later.push_back({apart - 1, /*isEquality=*/false});
    if (!isEmpty(later))
      return false;
    greater.push_back({apart, /*isEquality=*/true});
  }
  return true;
}

FailureOr<SmallVector<LatestPiece>> RaisingSets::latest(ArrayRef<Constraint> set, unsigned numFixed,
                                                 unsigned numFree, unsigned numCells) const {
  // The library wants something to depend on.
  unsigned cells = numFixed + numCells ? numCells : 1;
  etdg::SetBuilder builder(space, numFixed + cells + numFree);
  // The minimum of the negated point: findSymbolicIntegerLexMax of LLVM 22 forgets the divisions of its result.
  SmallVector<AffineExpr> negated;
  for (unsigned d = 0; d < numFixed + numFree; ++d)
    negated.push_back(d < numFixed ? dim(d) : -dim(d));
  Conjunction mirrored;
  for (const Constraint &c : set)
    mirrored.push_back({withDims(c.expr, negated), c.isEquality});
  if (failed(build(builder, mirrored, numFixed, cells)))
    return failure();
  SmallVector<LatestPiece> result;
  if (etdg::isEmpty(builder.get()))
    return result;
  // Columns of the set; dimensions after the fixed ones stand for the free variables.
  SmallVector<AffineExpr> columns;
  for (unsigned d = 0; d < numFixed; ++d)
    columns.push_back(dim(d));
  for (unsigned c = 0; c < cells; ++c)
    columns.push_back(cell(c));
  for (unsigned i = 0; i < numFree; ++i)
    columns.push_back(dim(numFixed + i));
  for (unsigned i = 0, e = names.size(); i < e; ++i)
    columns.push_back(name(i));
  IntegerPolyhedron solved = builder.get();
  RemainderSolver solver(solved, columns);
  SmallVector<AffineExpr> definitions;
  for (unsigned i = 0; i < numFree; ++i)
    definitions.push_back(solver.solve(numFixed + cells + i, numFixed + cells + numFree));
  solved.removeTrivialRedundancy();
  IntegerRelation relation = etdg::simplify(solved);
  relation.convertVarKind(VarKind::SetDim, 0, numFixed + cells, VarKind::Domain);
  SymbolicLexOpt best = relation.findSymbolicIntegerLexMin();
  if (!best.unboundedDomain.isIntegerEmpty())
    return failure();
  SmallVector<AffineExpr> variables;
  for (unsigned d = 0; d < numFixed; ++d)
    variables.push_back(dim(d));
  for (unsigned c = 0; c < cells; ++c)
    variables.push_back(cell(c));
  for (unsigned i = 0, e = names.size(); i < e; ++i)
    variables.push_back(name(i));
  for (const PWMAFunction::Piece &piece : best.lexopt.getAllPieces()) {
    SmallVector<AffineExpr> all(variables);
    if (!addDivisions(piece.output.getDivs(), all, context) ||
        all.size() + 1 != piece.output.getOutputMatrix().getNumColumns())
      return failure();
    SmallVector<AffineExpr> point, dims;
    for (unsigned d = 0; d < numFixed; ++d)
      dims.push_back(dim(d));
    for (unsigned i = 0; i < numFree; ++i)
      dims.push_back(toExpr(piece.output.getOutputExpr(i), all, context));
    for (unsigned i = 0; i < numFree; ++i) {
      AffineExpr value = definitions[i] ? definitions[i].replaceDims(dims) : dims[numFixed + i];
      point.push_back(-value);
    }
    SmallVector<Conjunction> domains;
    if (failed(toConjunctions(piece.domain, numFixed, cells, domains)))
      return failure();
    SmallVector<Conjunction> seen;
    for (const Conjunction &domain : domains) {
      FailureOr<SmallVector<Conjunction>> fresh = subtract(domain, seen);
      if (failed(fresh))
        return failure();
      for (Conjunction &f : *fresh)
        if (!isEmpty(f)) {
          // With several remainders the library may give a point that is not the last.
          if (builder.get().getNumLocalVars() > 1 && !isLatest(set, f, point, numFixed))
            return failure();
          result.push_back({std::move(f), point});
        }
      seen.push_back(domain);
    }
  }
  return result;
}

AffineExpr RaisingSets::boundQuotients(AffineExpr expr, ArrayRef<SmallVector<AffineExpr>> lowers, ArrayRef<SmallVector<AffineExpr>> uppers) const {
  etdg::LinearForm form = etdg::LinearForm::of(expr);
  AffineExpr sum = getAffineConstantExpr(form.constant, expr.getContext());
  for (auto [atom, factor] : form.terms) {
    auto quotient = dyn_cast<AffineBinaryOpExpr>(atom);
    if (!quotient || atom.isSymbolicOrConstant()) {
      sum = sum + atom * factor;
      continue;
    }
    auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (atom.getKind() == AffineExprKind::Mod && divisor && divisor.getValue() > 0) {
      sum = sum + (factor > 0 ? (divisor.getValue() - 1) * factor : 0);
      continue;
    }
    bool rounds = atom.getKind() == AffineExprKind::FloorDiv || atom.getKind() == AffineExprKind::CeilDiv;
    if (!rounds || !divisor || divisor.getValue() <= 0)
      return AffineExpr();
    // A quotient grows with what is divided: its least value is that of the least.
    AffineExpr bound = upperBound(factor > 0 ? quotient.getLHS() : -quotient.getLHS(), lowers, uppers);
    if (!bound)
      return AffineExpr();
    bound = factor > 0 ? bound : -bound;
    sum = sum + (atom.getKind() == AffineExprKind::FloorDiv ? bound.floorDiv(divisor) : bound.ceilDiv(divisor)) * factor;
  }
  return simplifyAffineExpr(sum, lowers.size(), names.size());
}

AffineExpr RaisingSets::upperBound(AffineExpr expr, ArrayRef<SmallVector<AffineExpr>> lowers,
                            ArrayRef<SmallVector<AffineExpr>> uppers) const {
  for (unsigned d = lowers.size(); d-- > 0;) {
    if (expr.isFunctionOfDim(d) && !etdg::LinearForm::of(expr).isLinearIn(d))
      expr = boundQuotients(expr, lowers, uppers);
    if (!expr)
      return AffineExpr();
    etdg::LinearForm form = etdg::LinearForm::of(expr);
    AffineExpr variable = dim(d);
    int64_t factor = form.coefficient(variable);
    if (!expr.isFunctionOfDim(d))
      continue;
    if (!form.isLinearIn(d))
      return AffineExpr();
    // Any upper end of a minimum is one; the last is the program's own more often.
    ArrayRef<AffineExpr> ends = factor > 0 ? uppers[d] : lowers[d];
    if (ends.empty())
      return AffineExpr();
    AffineExpr end = ends.front();
    for (AffineExpr e : ends)
      if (e.isSymbolicOrConstant())
        end = e;
    SmallVector<AffineExpr> dims;
    for (unsigned i = 0; i <= d; ++i)
      dims.push_back(i == d ? (factor > 0 ? end - 1 : end) : dim(i));
    // A loop's variable may cancel: i < N - len bounds i + len.
    expr = simplifyAffineExpr(withDims(expr, dims), lowers.size(), names.size());
  }
  return expr.isSymbolicOrConstant() ? expr : AffineExpr();
}
