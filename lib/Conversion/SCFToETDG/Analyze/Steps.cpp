//===- Steps.cpp - nests, conditions and copies ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies become blocks: loops with nothing beside them share an iteration vector. What never runs
// for any lengths is left out.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

static constexpr StringLiteral notComputedHere = "an array takes a value that is not computed here";

/// The context of a loop's body.
IterationVector ProgramAnalysis::extended(const IterationVector &at, Block *body) {
  IterationVector result = at;
  const BlockInfo &info = infoOf(body);
  for (unsigned d = at.numDims(); d < info.depth(); ++d) {
    const Loop &loop = *info.loops[d];
    result.open(loop.carries ? OperatorKind::ScanL : OperatorKind::Map, sets->getNames(), context);
    for (AffineExpr e : loop.lowers)
      result.domain.push_back({sets->dim(d) - e});
    for (AffineExpr e : loop.uppers)
      result.domain.push_back({e - sets->dim(d) - 1});
  }
  return result;
}

LogicalResult ProgramAnalysis::planLoop(const Item &item, const IterationVector &at, Steps &steps) {
  Block *body = &item.ops.front()->getRegion(0).front();
  IterationVector inner = extended(at, body);
  if (sets->isEmpty(inner.domain))
    return success();
  if (at.isPending())
    return planBody(body, inner, steps);
  Step nest{Step::Nest, item.ops.front()->getLoc()};
  if (failed(planBody(body, inner, nest.steps)))
    return failure();
  steps.push_back(std::move(nest));
  return success();
}

LogicalResult ProgramAnalysis::planBranches(const Item &item, const IterationVector &at, Steps &steps) {
  const Condition condition = conditions[item.ops.front()];
  auto branch = cast<scf::IfOp>(item.ops.front());
  for (auto [region, alternatives] : {std::pair(&branch.getThenRegion(), &condition.yes),
                                      std::pair(&branch.getElseRegion(), &condition.no)}) {
    if (region->empty() || items[&region->front()].empty())
      continue;
    for (const Conjunction &when : *alternatives) {
      IterationVector inner = at;
      llvm::append_range(inner.domain, when);
      if (!sets->isEmpty(inner.domain) && failed(planBody(&region->front(), inner, steps)))
        return failure();
    }
  }
  return success();
}

/// An update, or a loop's state that is kept anew at each iteration.
LogicalResult ProgramAnalysis::planUpdateCopy(const Item &item, const IterationVector &at, Steps &steps) {
  Operation *op = item.ops.front();
  if (!item.writer) {
    auto arg = cast<BlockArgument>(item.carried);
    auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return planCopy(op, at, loop.getTiedLoopYieldedValue(arg)->get(), materialized[arg],
                    {Conjunction()},
                    "a loop's state that is another state, or is kept under a condition", steps);
  }
  Writer &w = *item.writer;
  if (!w.family->byCells)
    return planCopy(op, at, w.source, w.place, {Conjunction()}, notComputedHere, steps);
  // One copy for each offset.
  SmallVector<SmallVector<AffineExpr>> seen;
  for (const Writer::Alternative &alternative : w.alternatives) {
    if (llvm::is_contained(seen, alternative.offsets))
      continue;
    seen.push_back(alternative.offsets);
    // The cases of the offset restrict the copy.
    SmallVector<Conjunction> where;
    for (const Writer::Alternative &other : w.alternatives)
      if (other.offsets == alternative.offsets && !sets->isEmpty(at.domain, other.domain))
        where.push_back(other.domain);
    if (failed(planCopy(op, at, w.source, insertedPlace(w, alternative), where, notComputedHere, steps)))
      return failure();
  }
  return success();
}

LogicalResult ProgramAnalysis::planItem(const Item &item, const IterationVector &at, Steps &steps) {
  switch (item.kind) {
  case Item::Run:
    return planRun(item.ops, at, steps);
  case Item::Loop:
    return planLoop(item, at, steps);
  case Item::If:
    return planBranches(item, at, steps);
  case Item::Copy:
    return planUpdateCopy(item, at, steps);
  }
  return success();
}

LogicalResult ProgramAnalysis::planBlock(Block *block, const IterationVector &at, Steps &steps) {
  for (const Item &item : items[block])
    if (failed(planItem(item, at, steps)))
      return failure();
  return success();
}

LogicalResult ProgramAnalysis::planBody(Block *block, const IterationVector &at, Steps &steps) {
  if (!graphBodies.contains(block))
    return planBlock(block, at, steps);
  Step body{Step::Body, block->getParentOp()->getLoc(), at, plan.numBlocks++};
  body.scope = scopeOf[block];
  IterationVector inner = at;
  inner.numAncestors = at.numDims();
  inner.ancestors = at.domain;
  inner.operators.clear();
  if (failed(planBlock(block, inner, body.steps)))
    return failure();
  steps.push_back(std::move(body));
  return success();
}

/// Dimensions of the source that index the home; the others are its element.
unsigned ProgramAnalysis::leadingOfCopy(const Place &place, unsigned rank) {
  unsigned leading = 0;
  for (unsigned d = 0; d < place.home->depth(); ++d)
    for (unsigned c = 0; c < rank; ++c)
      place.index[d].walk([&](AffineExpr expr) {
        if (expr == sets->cell(c))
          leading = std::max(leading, c + 1);
      });
  return leading;
}

/// The iteration vectors of a copy: one for each region where some iteration runs; an iteration of one is in no other.
SmallVector<IterationVector, 0> ProgramAnalysis::contextsOfCopy(const IterationVector &outer, ArrayRef<AffineExpr> sizes,
                                                        ArrayRef<Conjunction> where) {
  SmallVector<IterationVector, 0> contexts;
  for (const Conjunction &region : where) {
    IterationVector at = outer;
    SmallVector<AffineExpr> cells;
    for (AffineExpr size : sizes) {
      AffineExpr dim = sets->dim(at.numDims());
      at.open(OperatorKind::Map, sets->getNames(), context);
      at.domain.push_back({dim});
      at.domain.push_back({size - dim - 1});
      cells.push_back(dim);
    }
    for (const Constraint &c : region)
      at.domain.push_back({sets->withCells(c.expr, cells), c.isEquality});
    if (!sets->isEmpty(at.domain))
      contexts.push_back(at);
  }
  return contexts;
}

/// Writes a value, element by element of the home's, where it belongs.
LogicalResult ProgramAnalysis::planCopy(Operation *op, const IterationVector &outer, Value source, const Place &place,
                                        ArrayRef<Conjunction> where, StringRef why, Steps &steps) {
  FailureOr<View> view = viewOf(source);
  std::optional<SmallVector<AffineExpr>> sizes = sizesOf(source);
  if (!sizes)
    return refuse(op, "the size of what is copied is not an affine function of loops and lengths");
  if (failed(view))
    return failure();
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (!type)
    type = RankedTensorType::get({}, source.getType());
  unsigned leading = leadingOfCopy(place, type.getRank());
  SmallVector<IterationVector, 0> contexts = contextsOfCopy(outer, ArrayRef(*sizes).take_front(leading), where);
  if (contexts.empty())
    return success();
  SmallVector<AffineExpr> cells;
  for (unsigned d = 0; d < leading; ++d)
    cells.push_back(sets->dim(outer.numDims() + d));
  for (unsigned d = leading; d < static_cast<unsigned>(type.getRank()); ++d)
    cells.push_back(sets->cell(d - leading));
  Step nest{Step::Nest, op->getLoc()};
  for (const IterationVector &at : contexts) {
    FailureOr<View> element = restricted(*view, {}, cells, {});
    if (failed(element))
      return failure();
    Step copy{Step::Leaf, op->getLoc(), at, plan.numBlocks++};
    FailureOr<ReadPlan> read = planRead(op->getLoc(), at, *element, elementOf(type, leading));
    if (failed(read))
      return failure();
    FailureOr<WritePlan> write = planWrite(op->getLoc(), at, source, place, cells);
    if (failed(write))
      return failure();
    read->value = source;
    copy.reads.push_back(std::move(*read));
    copy.writes.push_back(*write);
    copy.why = why.str();
    ++plan.numCopies;
    nest.steps.push_back(std::move(copy));
  }
  if (!outer.isPending() && leading > 0)
    steps.push_back(std::move(nest));
  else
    std::move(nest.steps.begin(), nest.steps.end(), std::back_inserter(steps));
  return success();
}

/// Results that are kept elsewhere, and cells of returned arrays that nothing writes.
LogicalResult ProgramAnalysis::planResultCopies(func::ReturnOp ret, Steps &steps) {
  IterationVector top;
  for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
    Place place;
    place.home = plan.results[i];
    for (unsigned d = 0, e = cast<RankedTensorType>(v.getType()).getRank(); d < e; ++d)
      place.index.push_back(sets->cell(d));
    if (resultCopied[i]) {
      if (failed(planCopy(ret, top, v, place, {Conjunction()}, "a returned value that is kept elsewhere", steps)))
        return failure();
      continue;
    }
    Family *family = familyOf.lookup(v);
    if (!family)
      continue;
    FailureOr<SmallVector<Conjunction>> rest = unwritten(*family, v);
    if (failed(rest))
      return failure();
    if (!rest->empty() && failed(planCopy(ret, top, family->root, place, *rest,
                                          "cells of an array that the program leaves as they were", steps)))
      return failure();
  }
  return success();
}
