//===- LastWriters.cpp - the last writer of each cell ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array dataflow analysis (docs/raising.md, How): at a point of the program, each cell of an
// array holds what its last writer before the point has written; which one that is
// follows by lexicographic maxima over the iterations of the writers, exactly and
// for all lengths.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

static constexpr unsigned maxPieces = 64;

ProgramAnalysis::Point ProgramAnalysis::pointOf(Value member) {
  if (auto arg = dyn_cast<BlockArgument>(member))
    return {arg.getOwner(), nullptr};
  return {member.getDefiningOp()->getBlock(), member.getDefiningOp()};
}

/// Whether a writer comes before a point at equal iterations of the loops around both.
bool ProgramAnalysis::precedes(Operation *writer, const Point &point) {
  for (Block *block = point.block; block;
       block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr) {
    Operation *here = block->findAncestorOpInBlock(*writer);
    if (here) {
      if (block == point.block)
        return point.after && (here == point.after || here->isBeforeInBlock(point.after));
      // The point lies inside an operation of this block.
      Operation *around = block->findAncestorOpInBlock(*point.block->getParentOp());
      return here != around && here->isBeforeInBlock(around);
    }
    if (isa<func::FuncOp>(block->getParentOp()))
      break;
  }
  return false;
}

/// Loops around both, which are the first ones of each.
static unsigned countShared(const BlockInfo &a, const BlockInfo &b) {
  unsigned shared = 0;
  while (shared < a.depth() && shared < b.depth() && a.loops[shared] == b.loops[shared])
    ++shared;
  return shared;
}

/// From the most recent iterations to the oldest: equal in all shared loops, then less in the innermost one, and so
/// on outwards.
SmallVector<ProgramAnalysis::Order> ProgramAnalysis::ordersOf(Writer &w, const Question &question) {
  unsigned shared = countShared(question.at, infoOf(w.op->getBlock()));
  SmallVector<Order> orders;
  if (precedes(w.op, question.point))
    orders.push_back({shared, false});
  for (unsigned d = shared; d-- > question.own;)
    if (question.at.loops[d]->carries)
      orders.push_back({d, true});
  return orders;
}

/// The iterations of a writer, as dimensions after those of the point, at which it writes the cell in this order.
Conjunction ProgramAnalysis::touching(Writer &w, const Writer::Alternative &alternative, const Question &question,
                                      Order order) {
  unsigned depth = infoOf(w.op->getBlock()).depth();
  SmallVector<AffineExpr> shifted;
  for (unsigned d = 0; d < depth; ++d)
    shifted.push_back(sets->dim(question.at.depth() + d));
  Conjunction all(question.context);
  for (const Constraint &c : alternative.domain)
    all.push_back({sets->withDims(c.expr, shifted), c.isEquality});
  for (unsigned d = 0; d < order.equal; ++d)
    all.push_back({shifted[d] - sets->dim(d), true});
  if (order.strict)
    all.push_back({sets->dim(order.equal) - shifted[order.equal] - 1});
  for (unsigned d = 0; d < question.rank; ++d) {
    AffineExpr offset = sets->withDims(alternative.offsets[d], shifted);
    AffineExpr size = sets->withDims(w.sizes[d], shifted);
    if (auto one = dyn_cast<AffineConstantExpr>(size); one && one.getValue() == 1) {
      all.push_back({sets->cell(d) - offset, true});
      continue;
    }
    addTouched(all, sets->cell(d), offset, size, w.strides[d]);
  }
  return all;
}

/// A writer's latest iterations in one order. Of its alternatives the later iteration counts.
FailureOr<SmallVector<ProgramAnalysis::Candidate>> ProgramAnalysis::latestAt(Writer &w, const Question &question,
                                                                             Order order) {
  unsigned depth = infoOf(w.op->getBlock()).depth();
  SmallVector<Candidate> level;
  for (const Writer::Alternative &alternative : w.alternatives) {
    Conjunction all = touching(w, alternative, question, order);
    if (sets->isEmpty(all))
      continue;
    FailureOr<SmallVector<LatestPiece>> pieces = sets->latest(all, question.at.depth(), depth, question.rank);
    if (failed(pieces))
      return refuse(w.op, "the last writer of a cell can't be told: an index is not affine");
    SmallVector<Candidate> more;
    for (LatestPiece &piece : *pieces) {
      Candidate candidate{piece.when, &w, piece.point, {}};
      for (AffineExpr offset : alternative.offsets)
        candidate.offsets.push_back(sets->withDims(offset, piece.point));
      more.push_back(std::move(candidate));
    }
    if (failed(mergeCandidates(level, std::move(more))))
      return failure();
  }
  return level;
}

/// The latest iteration of one writer at each cell: an older order counts where no younger one has written.
FailureOr<SmallVector<ProgramAnalysis::Candidate>> ProgramAnalysis::latestOf(Writer &w, const Question &question) {
  SmallVector<Candidate> latest;
  SmallVector<Conjunction> found;
  for (Order order : ordersOf(w, question)) {
    FailureOr<SmallVector<Candidate>> level = latestAt(w, question, order);
    if (failed(level))
      return failure();
    for (Candidate &candidate : *level) {
      FailureOr<SmallVector<Conjunction>> fresh = sets->subtract(candidate.when, found);
      if (failed(fresh))
        return refuse(w.op, "the last writer of a cell can't be told");
      for (Conjunction &when : *fresh)
        latest.push_back({std::move(when), &w, candidate.point, candidate.offsets});
    }
    for (Candidate &candidate : *level)
      found.push_back(candidate.when);
  }
  return latest;
}

/// Constraints of one set that hold on another one, too; equalities are two of them.
static void addCommon(const RaisingSets &sets, ArrayRef<Constraint> of, ArrayRef<Constraint> other, Conjunction &common) {
  for (const Constraint &c : of)
    for (AffineExpr expr : c.isEquality ? SmallVector<AffineExpr>{c.expr, -c.expr} : SmallVector<AffineExpr>{c.expr})
      if (sets.isImplied(other, {expr}))
        common.push_back({expr});
}

/// The union of two sets within a context, where it is one conjunction.
static std::optional<Conjunction> unite(const RaisingSets &sets, ArrayRef<Constraint> a, ArrayRef<Constraint> b,
                                        ArrayRef<Constraint> context) {
  SmallVector<Conjunction> both{Conjunction(a), Conjunction(b)};
  for (Conjunction &one : both)
    llvm::append_range(one, context);
  Conjunction common, whole(context);
  addCommon(sets, a, both[1], common);
  addCommon(sets, b, both[0], common);
  llvm::append_range(whole, common);
  FailureOr<SmallVector<Conjunction>> rest = sets.subtract(whole, both);
  if (failed(rest) || !rest->empty())
    return std::nullopt;
  return sets.simplify(common, context);
}

/// Joins the cells of one writer that are written at the same point, as far as they are one set: where orders and the
/// maximum's corners cut them is no difference to a reader.
template <typename Candidate>
static void joinParts(const RaisingSets &sets, SmallVectorImpl<Candidate> &all, ArrayRef<Constraint> context) {
  auto isSamePoint = [&](const Candidate &a, const Candidate &b) {
    Conjunction at(context);
    llvm::append_range(at, a.when);
    return a.writer == b.writer && llvm::all_of(llvm::zip_equal(a.point, b.point), [&](auto pair) {
             auto [x, y] = pair;
             return x == y || sets.isImplied(at, {x - y, true});
           });
  };
  for (unsigned i = 0; i < all.size(); ++i)
    for (unsigned j = 0; j < all.size(); ++j) {
      std::optional<Conjunction> joined;
      if (i != j && isSamePoint(all[i], all[j]))
        joined = unite(sets, all[i].when, all[j].when, context);
      if (!joined)
        continue;
      all[j].when = std::move(*joined);
      all.erase(all.begin() + i);
      i = -1; // from the start: what could not be joined before may be now
      break;
    }
}

FailureOr<SmallVector<ProgramAnalysis::Candidate>> ProgramAnalysis::lastWriters(Family &family, Value member) {
  auto known = candidates.find(member);
  if (known != candidates.end())
    return known->second;
  std::optional<SmallVector<AffineExpr>> sizes = sizesOf(member);
  if (!sizes)
    return refuse(member.getLoc(),
                  "the size of this array is not an affine function of loops and lengths");
  Point point = pointOf(member);
  const BlockInfo at = infoOf(point.block);
  Question question{point, at, static_cast<unsigned>(sizes->size()), infoOf(family.block).depth(),
                    commonDomain(point.block)};
  llvm::append_range(question.context, box(*sizes));
  SmallVector<Candidate> best;
  for (Writer *w : llvm::reverse(family.writers)) {
    FailureOr<SmallVector<Candidate>> ofWriter = latestOf(*w, question);
    if (failed(ofWriter) || failed(mergeCandidates(best, std::move(*ofWriter))))
      return failure();
    if (best.size() > maxPieces)
      return refuse(w->op,
                    "the last writers of this array have more than " + Twine(maxPieces) + " cases");
  }
  for (Candidate &candidate : best)
    if (std::optional<Conjunction> simple = sets->simplify(candidate.when, question.context))
      candidate.when = std::move(*simple);
  joinParts(*sets, best, question.context);
  return candidates[member] = best;
}

/// Adds candidates; where two are there, the one that runs later stays.
LogicalResult ProgramAnalysis::mergeCandidates(SmallVectorImpl<Candidate> &best,
                                      SmallVector<Candidate> more) {
  for (Candidate &b : more) {
    SmallVector<Candidate> result;
    SmallVector<Conjunction> lost; // where an older candidate wins over b
    for (Candidate &a : best) {
      if (sets->isEmpty(a.when, b.when)) {
        result.push_back(a);
        continue;
      }
      // Where b is later than a.
      SmallVector<Conjunction> wins;
      unsigned shared =
          countShared(infoOf(a.writer->op->getBlock()), infoOf(b.writer->op->getBlock()));
      Conjunction equal(a.when);
      llvm::append_range(equal, b.when);
      for (unsigned d = 0; d < shared; ++d) {
        Conjunction later(equal);
        later.push_back({b.point[d] - a.point[d] - 1});
        if (!sets->isEmpty(later))
          wins.push_back(later);
        equal.push_back({b.point[d] - a.point[d], true});
      }
      bool textual =
          a.writer != b.writer && precedes(a.writer->op, {b.writer->op->getBlock(), b.writer->op});
      if (textual && !sets->isEmpty(equal))
        wins.push_back(equal);
      FailureOr<SmallVector<Conjunction>> stays = sets->subtract(a.when, wins);
      if (failed(stays))
        return refuse(a.writer->op, "the last writer of a cell can't be told");
      for (Conjunction &when : *stays) {
        if (!sets->isEmpty(when, b.when))
          lost.push_back(when);
        result.push_back({std::move(when), a.writer, a.point, a.offsets});
      }
    }
    FailureOr<SmallVector<Conjunction>> mine = sets->subtract(b.when, lost);
    if (failed(mine))
      return refuse(b.writer->op, "the last writer of a cell can't be told");
    for (Conjunction &when : *mine)
      result.push_back({std::move(when), b.writer, b.point, b.offsets});
    best.assign(result.begin(), result.end());
  }
  return success();
}

FailureOr<SmallVector<Conjunction>> ProgramAnalysis::unwritten(Family &family, Value member) {
  FailureOr<SmallVector<Candidate>> written = lastWriters(family, member);
  if (failed(written))
    return failure();
  Conjunction context = commonDomain(pointOf(member).block);
  llvm::append_range(context, box(*sizesOf(member)));
  SmallVector<Conjunction> covered;
  for (const Candidate &candidate : *written) {
    covered.push_back(candidate.when);
    llvm::append_range(covered.back(), context);
  }
  FailureOr<SmallVector<Conjunction>> rest = sets->subtract(context, covered);
  if (failed(rest))
    return refuse(member.getLoc(), "the cells that are never written can't be told");
  for (Conjunction &r : *rest)
    if (std::optional<Conjunction> simple = sets->simplify(r, context))
      r = std::move(*simple);
  return rest;
}
