//===- ReorderChains.cpp - chains that never meet run side by side --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where every distance is a multiple of g in a dimension k (a scan with a lag of
// g), iterations of different k mod g never wait for one another: k = g·o + i,
// and i is a map. No unimodular T says that; the hyperplane method then works on
// o. Nests that share a wavefront are split together, or not at all: a layer
// without a lag would have to be complete before the layer above it.
//
//===----------------------------------------------------------------------===//
#include "ReorderSplit.h"
#include "ft/Dialect/ETDG/Transforms/MergeDims.h"
#include "mlir/IR/Remarks.h"
#include <numeric>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;

namespace {
/// Dimension `dim` becomes `factor` chains.
struct Split {
  unsigned dim;
  int64_t factor;
};

/// Nests that are split together: the members of a group, or one nest.
struct Unit {
  SmallVector<Operation *> items;
  SmallVector<SmallVector<Split>> splits;
  std::string nests;
  double before = 0;
};
} // namespace

static SmallVector<Split> getSplits(const Nest &nest) {
  SmallVector<Split> splits;
  for (unsigned d = 0; d < nest.numOwn && !nest.distances.empty(); ++d) {
    int64_t factor = 0;
    for (ArrayRef<DistanceRange> distance : nest.distances)
      factor = distance[d].isConstant() ? std::gcd(factor, *distance[d].low) : 1;
    // More chains than iterations are a map already, of a length that is not known.
    constexpr int64_t maxFactor = 1024;
    if (factor > 1 && factor <= maxFactor && nest.extents[d] > 1)
      splits.push_back({d, factor});
  }
  return splits;
}

static SmallVector<Unit> getUnits(const ReorderPlan &plan) {
  SmallVector<Unit> units;
  llvm::SmallPtrSet<const Nest *, 8> grouped;
  auto add = [&](ArrayRef<const Nest *> nests, double before) {
    Unit unit;
    unit.before = before;
    for (const Nest *nest : nests) {
      unit.items.push_back(nest->op);
      unit.splits.push_back(getSplits(*nest));
      // A map takes what steps its neighbours have.
      if (unit.splits.back().empty() && nest->isSequential())
        return;
      for (BlockOp block : nest->blocks)
        if (auto name = block.getBlockName())
          unit.nests += ((unit.nests.empty() ? "@" : ", @") + *name).str();
    }
    if (llvm::any_of(unit.splits, [](auto &splits) { return !splits.empty(); }))
      units.push_back(unit);
  };
  for (const KernelGroup &group : plan.groups) {
    SmallVector<const Nest *> nests;
    for (const GroupMember &member : group.members) {
      nests.push_back(member.nest);
      grouped.insert(member.nest);
    }
    add(nests, group.typicalAfter);
  }
  for (const Nest &nest : plan.nests)
    if (!grouped.contains(&nest) && nest.isSequential())
      add(&nest, nest.candidates.empty() ? nest.getTypicalDeclaredSteps()
                                         : nest.getTypicalSteps(nest.candidates.front()));
  return units;
}

/// Splits the dimensions of a nest; the inner ones are maps.
static bool apply(Operation *item, ArrayRef<Split> splits) {
  for (const Split &split : llvm::reverse(splits)) {
    if (failed(splitDim(blocksOf(item).front(), split.dim, split.factor)))
      return false;
    for (BlockOp block : blocksOf(item)) {
      BlockBuilder builder = BlockBuilder::from(block);
      builder.operators[split.dim + 1] = ft::OperatorKind::Map;
      builder.assign(block);
    }
  }
  return true;
}

/// What a unit takes by a plan made after splitting: each group once, with all of its members.
static double getSteps(ArrayRef<Operation *> items, const ReorderPlan &plan) {
  llvm::SmallPtrSet<const KernelGroup *, 2> groups;
  double steps = 0;
  for (Operation *item : items) {
    const KernelGroup *in = plan.groupOf(item);
    if (in) {
      if (groups.insert(in).second)
        steps += in->typicalAfter;
      continue;
    }
    for (const Nest &nest : plan.nests)
      if (nest.op == item)
        steps += nest.candidates.empty() ? nest.getTypicalDeclaredSteps()
                                         : nest.getTypicalSteps(nest.candidates.front());
  }
  return steps;
}

bool reorder::splitChains(GraphOp graph, const ReorderPlan &plan) {
  SmallVector<Unit> units = getUnits(plan);
  if (units.empty())
    return false;

  // Whether it pays, and can be done, is tried on a copy.
  IRMapping mapping;
  OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone(mapping));
  SmallVector<SmallVector<Operation *>> copies;
  SmallVector<bool> done;
  for (const Unit &unit : units) {
    SmallVector<Operation *> &items = copies.emplace_back();
    bool all = true;
    for (auto [item, splits] : llvm::zip_equal(unit.items, unit.splits)) {
      items.push_back(mapping.lookup(item));
      all = all && apply(items.back(), splits);
    }
    done.push_back(all);
  }
  DependenceAnalysis analysis(*copy);
  ReorderPlan trial = makePlan(*copy, analysis, TypicalLengths(*copy));
  bool changed = false;
  for (auto [unit, items, can] : llvm::zip_equal(units, copies, done)) {
    auto opts = [](StringRef name) {
      return remark::RemarkOpts::name(name).category("reorder").subCategory("etdg-reorder");
    };
    double after = can ? getSteps(items, trial) : unit.before;
    std::string chains;
    for (ArrayRef<Split> splits : unit.splits)
      for (const Split &split : splits)
        chains += (chains.empty() ? "" : ", ") + std::to_string(split.factor);
    bool says = !isOnTrial(graph);
    if (after >= unit.before) {
      if (says)
        remark::missed(unit.items.front()->getLoc(), opts("keep-chains"))
            << remark::reason("{0}", can ? "it takes no fewer steps"
                                         : "a dimension has no bounds of its own")
            << remark::metric("nest", unit.nests) << remark::metric("chains", chains)
            << remark::metric("typical-steps", static_cast<int64_t>(unit.before));
      continue;
    }
    for (auto [item, splits] : llvm::zip_equal(unit.items, unit.splits))
      apply(item, splits);
    changed = true;
    if (says)
      remark::passed(unit.items.front()->getLoc(), opts("chains"))
          << remark::add("chains that never meet run side by side")
          << remark::metric("nest", unit.nests) << remark::metric("chains", chains)
          << remark::metric("typical-steps-before", static_cast<int64_t>(unit.before))
          << remark::metric("typical-steps-after", static_cast<int64_t>(after));
  }
  return changed;
}
