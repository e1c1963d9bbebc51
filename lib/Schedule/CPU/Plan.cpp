//===- Plan.cpp - the ways to run a nest ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/Analysis/Dimensions.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

NestLoops schedule::getLoops(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed) {
  BlockOp front = nest.front();
  unsigned ancestors = front.getNumAncestors(), own = front.getNumOwnDims();
  etdg::ScheduleAttr schedule = scheduleOf(nest);
  // A schedule that was not applied says nothing of these dimensions; their own order is legal.
  if (schedule && !schedule.getMap().getValue().isIdentity())
    schedule = nullptr;

  SmallVector<bool> isMap(own, true);
  for (BlockOp block : nest)
    for (unsigned d = 0; d < own; ++d)
      isMap[d] = isMap[d] && block.getOperator(d) == OperatorKind::Map;

  SmallVector<std::pair<unsigned, bool>> order; // own dimension, parallel
  SmallVector<bool> seen(own, false);
  if (schedule)
    for (etdg::LoopAttr loop : schedule.getLoops()) {
      unsigned d = loop.getDimension();
      if (d >= own || seen[d])
        continue;
      seen[d] = true;
      order.push_back({d, loop.getKind() == etdg::LoopKind::Parallel ||
                              loop.getKind() == etdg::LoopKind::Vector});
    }
  for (unsigned d = 0; d < own; ++d)
    if (!seen[d])
      order.push_back({d, !schedule && isMap[d]});

  NestLoops result;
  unsigned sequential = 0;
  for (auto [d, parallel] : order) {
    if (llvm::is_contained(fixed, ancestors + d))
      continue;
    NestLoops::Loop loop;
    loop.dim = ancestors + d;
    loop.free = isMap[d] && isFreeDimension(nest, loop.dim);
    loop.moved = loop.free && !parallel;
    loop.parallel = parallel || loop.free;
    loop.outside = loop.free ? 0 : sequential;
    sequential += !loop.parallel;
    result.loops.push_back(loop);
  }
  return result;
}

std::string schedule::describe(ArrayRef<BlockOp> nest, const NestPlan &plan) {
  SmallVector<StringAttr> names = BlockOp(nest.front()).getDimNames();
  std::string text;
  auto add = [&](StringRef what, ArrayRef<unsigned> dims) {
    if (dims.empty())
      return;
    text += (text.empty() ? "" : ", ") + what.str();
    for (unsigned d : dims)
      text += " " + names[d].str();
  };
  add("team", plan.team);
  add("shared", plan.shared);
  add(plan.listed ? "listed rows" : "rows", plan.rowDims());
  add("inner", plan.inner);
  for (TileLoop loop : plan.tiled)
    if (loop.tile > 1)
      text += llvm::formatv(", tiles of {0} {1}", loop.tile, names[loop.dim].getValue()).str();
  add("unrolled", plan.unrolled);
  if (plan.columns)
    text += (text.empty() ? "" : ", ") + llvm::formatv("columns {0} of {1}", plan.columnTile, plan.columns).str();
  return text;
}

SmallVector<NestGroup> schedule::getGroups(Region &body) {
  SmallVector<NestGroup> groups;
  Operation *previous = nullptr;
  for (SmallVector<BlockOp> &nest : etdg::getNests(body)) {
    BlockOp front = nest.front();
    auto kernel = front->getParentOfType<etdg::KernelOp>();
    // (A kernel around the whole body is not one in it.)
    if (kernel && (kernel->getParentRegion() != &body || kernel.getShared() == 0))
      kernel = nullptr;
    Operation *op = kernel ? kernel.getOperation() : front.getOperation();
    if (op != previous) {
      groups.emplace_back();
      groups.back().op = previous = op;
    }
    groups.back().nests.push_back(std::move(nest));
  }
  for (NestGroup &group : groups) {
    group.common.resize(group.nests.size());
    auto kernel = dyn_cast<etdg::KernelOp>(group.op);
    if (!kernel || group.nests.size() == 1)
      continue;
    // Of the loops that nests share, parallel ones may stand inside the sequential ones: nothing
    // depends on other values of them. What is sequential in one nest is so for all.
    SmallVector<NestLoops> loops;
    for (const SmallVector<BlockOp> &nest : group.nests)
      loops.push_back(getLoops(nest));
    for (unsigned i = 0; i < kernel.getShared(); ++i) {
      auto isParallel = [&](const NestLoops &all) {
        return i < all.loops.size() && all.loops[i].parallel && !all.loops[i].moved;
      };
      if (llvm::all_of(loops, isParallel) ||
          llvm::any_of(loops, [&](const NestLoops &all) { return i >= all.loops.size(); }))
        continue;
      for (auto [all, common] : llvm::zip_equal(loops, group.common))
        common.push_back(all.loops[i].dim);
    }
  }
  return groups;
}

bool schedule::canBeRow(ArrayRef<BlockOp> nest, unsigned dim, ArrayRef<unsigned> inner) {
  for (BlockOp block : nest) {
    IntegerSet set = block.getDomainSet();
    for (AffineExpr expr : set.getConstraints()) {
      if (!expr.isFunctionOfDim(dim))
        continue;
      if (!stepAlong(expr, dim, set.getNumDims(), set.getNumSymbols()))
        return false;
      for (unsigned other : inner)
        if (expr.isFunctionOfDim(other))
          return false;
    }
    WalkResult asked = block->walk([&](BlockOp child) {
      if (child != block)
        for (AffineExpr expr : child.getDomainSet().getConstraints())
          if (expr.isFunctionOfDim(dim))
            return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (asked.wasInterrupted())
      return false;
  }
  return true;
}

/// Plans whose rows come from all dimensions along which rows can share the right-hand sides of
/// products. One dimension alone is worth a list where regions share a line.
static void addListed(ArrayRef<BlockOp> nest, const NestPlan &base, bool any,
                      std::vector<NestPlan> &plans) {
  bool products = false;
  for (BlockOp block : nest) {
    if (!block.isLeaf())
      return;
    products |= rightHandSides(block).any();
  }
  if (!products && !any)
    return;
  auto shares = [&](unsigned dim) {
    return llvm::all_of(nest, [&](BlockOp block) {
      llvm::SmallBitVector right = rightHandSides(block);
      return llvm::none_of(right.set_bits(),
                           [&](unsigned read) { return variesAlong(block, read, dim); });
    });
  };
  SmallVector<unsigned> rows, shared;
  for (unsigned dim : base.shared)
    (canBeRow(nest, dim, base.inner) && shares(dim) ? rows : shared).push_back(dim);
  if (rows.empty() || (rows.size() == 1 && !any && (nest.size() == 1 || !base.inner.empty())))
    return;
  // Any of them may run along the lines.
  for (unsigned row : llvm::reverse(rows)) {
    NestPlan plan = base;
    plan.listed = true;
    plan.shared = shared;
    plan.row = row;
    for (unsigned dim : rows)
      if (dim != row)
        plan.lines.push_back(dim);
    plans.push_back(plan);
  }
}

std::vector<NestPlan> schedule::enumeratePlans(ArrayRef<BlockOp> nest, bool withTeam, bool fixedRow,
                                            ArrayRef<unsigned> fixed, bool anyLists) {
  NestLoops all = getLoops(nest, fixed);
  SmallVector<unsigned> sequential, cuts;
  for (const NestLoops::Loop &loop : all.loops) {
    if (!loop.parallel)
      sequential.push_back(loop.dim);
    else if (!llvm::is_contained(cuts, loop.outside))
      cuts.push_back(loop.outside);
  }
  llvm::sort(cuts);
  std::vector<NestPlan> plans;
  // All loops inside one point; and all in the team, whose threads share the children's work.
  NestPlan plain, body;
  for (const NestLoops::Loop &loop : all.loops) {
    plain.inner.push_back(loop.dim);
    body.team.push_back(loop.dim);
  }
  body.rectangular = false;
  bool hasChildren = llvm::any_of(nest, [](BlockOp block) { return !block.isLeaf(); });
  if (fixedRow || cuts.empty())
    plans.push_back(plain);
  if (fixedRow)
    return plans;
  for (unsigned cut : cuts) {
    NestPlan base;
    base.team.assign(sequential.begin(), sequential.begin() + cut);
    base.rectangular = cut == 0;
    for (const NestLoops::Loop &loop : all.loops) {
      if (loop.parallel && loop.outside <= cut) {
        base.shared.push_back(loop.dim);
        base.rectangular &= isRectangular(nest, loop.dim);
      } else if (!llvm::is_contained(base.team, loop.dim)) {
        base.inner.push_back(loop.dim);
      }
    }
    // What weights vary along stays with one thread: its points come together.
    llvm::stable_sort(base.shared, [&](unsigned a, unsigned b) {
      return varyingInputBytes(nest, a) > varyingInputBytes(nest, b);
    });
    for (unsigned dim : base.shared) {
      if (!canBeRow(nest, dim, base.inner))
        continue;
      NestPlan plan = base;
      plan.row = dim;
      plan.shared.erase(llvm::find(plan.shared, dim));
      plans.push_back(plan);
    }
    plans.push_back(base);
    addListed(nest, base, anyLists, plans);
  }
  if (withTeam && hasChildren)
    plans.push_back(body);
  return plans;
}
