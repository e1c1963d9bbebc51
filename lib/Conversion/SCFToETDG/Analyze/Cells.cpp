//===- Cells.cpp - arrays that are written once at each cell --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Such an array is a buffer as it stands: a graph writes each index once, too.
// Another one is kept by the iterations that write it, and each read looks for its
// last writer.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

FailureOr<bool> ProgramAnalysis::isWrittenOnce(Family &family) {
  unsigned shared = infoOf(family.block).depth();
  for (Writer *a : family.writers)
    for (Writer *b : family.writers) {
      unsigned depthA = infoOf(a->op->getBlock()).depth(),
               depthB = infoOf(b->op->getBlock()).depth();
      SmallVector<AffineExpr> later;
      for (unsigned d = 0; d < depthB; ++d)
        later.push_back(sets->dim(depthA + d));
      for (const Writer::Alternative &altA : a->alternatives)
        for (const Writer::Alternative &altB : b->alternatives) {
          Conjunction all(altA.domain);
          for (const Constraint &c : altB.domain)
            all.push_back({sets->withDims(c.expr, later), c.isEquality});
          for (unsigned d = 0; d < shared; ++d)
            all.push_back({sets->dim(d) - later[d], true});
          for (unsigned d = 0; d < a->sizes.size(); ++d) {
            addTouched(all, sets->cell(d), altA.offsets[d], a->sizes[d], a->strides[d]);
            addTouched(all, sets->cell(d), sets->withDims(altB.offsets[d], later),
                       sets->withDims(b->sizes[d], later), b->strides[d]);
          }
          if (a != b) {
            // Each pair once.
            if (a->op->isBeforeInBlock(b->op) || a->op->getBlock() != b->op->getBlock())
              if (!sets->isEmpty(all))
                return false;
            continue;
          }
          for (unsigned d = shared; d < depthA; ++d) {
            Conjunction ordered(all);
            for (unsigned e = shared; e < d; ++e)
              ordered.push_back({sets->dim(e) - later[e], true});
            ordered.push_back({later[d] - sets->dim(d) - 1});
            if (!sets->isEmpty(ordered))
              return false;
          }
        }
    }
  return true;
}

/// The fewest dimensions that leave a static element which every writer writes whole.
unsigned ProgramAnalysis::leadingNeeded(Family &family) {
  auto type = cast<RankedTensorType>(family.root.getType());
  unsigned needed = type.getRank();
  for (; needed > 0; --needed) {
    unsigned d = needed - 1;
    if (type.isDynamicDim(d))
      break;
    bool whole = llvm::all_of(family.writers, [&](Writer *w) {
      return w->strides[d] == 1 && w->sizes[d] == sets->constant(type.getDimSize(d)) &&
             llvm::all_of(w->alternatives, [&](const Writer::Alternative &a) {
               return a.offsets[d] == sets->constant(0);
             });
    });
    if (!whole)
      break;
  }
  for (Writer *w : family.writers) {
    Family *inner = familyOf.lookup(w->source);
    if (!inner || inner->insertedBy != w)
      continue;
    // The inserted array's own leading dimensions lead here, too.
    unsigned innerNeeded = leadingNeeded(*inner);
    for (unsigned d = 0, kept = 0; d < w->sizes.size(); ++d)
      if (!w->dropped.test(d) && kept++ < innerNeeded)
        needed = std::max(needed, d + 1);
  }
  return needed;
}

/// A body that writes an array of its own and then inserts it whole into another
/// one writes where it goes at once.
LogicalResult ProgramAnalysis::decideInsertions() {
  for (Writer &w : plan.writers) {
    Family *inner = familyOf.lookup(w.source);
    Block *body = bodyOf(w.op);
    if (!inner || inner == w.family || !w.family->byCells || !inner->byCells || inner->insertedBy ||
        inner->block != body || w.alternatives.size() != 1)
      continue;
    // Arrays that contain each other would go in circles.
    bool circular = false;
    for (Family *f = w.family; f; f = f->insertedBy ? f->insertedBy->family : nullptr)
      circular |= f == inner;
    if (circular)
      continue;
    FailureOr<SmallVector<Conjunction>> rest = unwritten(*inner, w.source);
    if (failed(rest))
      return failure();
    if (rest->empty())
      inner->insertedBy = &w;
  }
  return success();
}

LogicalResult ProgramAnalysis::decideCells() {
  for (Family &family : plan.families) {
    FailureOr<bool> once = isWrittenOnce(family);
    if (failed(once))
      return failure();
    family.byCells = *once;
  }
  if (failed(decideInsertions()))
    return failure();
  std::function<void(Family &)> setLeading = [&](Family &family) {
    if (Writer *w = family.insertedBy) {
      setLeading(*w->family);
      family.leading = 0;
      for (unsigned d = 0; d < w->family->leading; ++d)
        family.leading += !w->dropped.test(d);
      return;
    }
    family.leading = leadingNeeded(family);
  };
  for (Family &family : plan.families)
    setLeading(family);
  return success();
}
