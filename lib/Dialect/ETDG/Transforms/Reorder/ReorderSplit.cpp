//===- ReorderSplit.cpp - imperfect nests as one nest ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of the item in its body becomes a dimension, as in schedules of
// 2d + 1 dimensions: (j, s, k) in lexicographic order is the order in which the
// parent ran, so that nothing need be asked before; hyperplanes over all of it
// are per-leaf schedules. Whether one pays is tried on a copy of the graph.
//
//===----------------------------------------------------------------------===//
#include "ReorderSplit.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

static bool hasSequentialDim(ArrayRef<BlockOp> blocks) {
  return llvm::any_of(blocks, [](BlockOp block) {
    for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
      if (block.getOperator(d) != ft::OperatorKind::Map)
        return true;
    return false;
  });
}

/// Whether the item reads or writes a buffer of another item of its body.
static bool touchesNeighbour(Operation *item) {
  llvm::SmallPtrSet<Operation *, 4> seen;
  bool found = false;
  item->walk([&](BlockOp block) {
    for (Value buffer : block.getBuffers()) {
      Operation *def = buffer.getDefiningOp();
      if (!def || item->isProperAncestor(def) || !seen.insert(def).second)
        continue;
      found |= llvm::any_of(buffer.getUsers(), [&](Operation *user) {
        return isa<BlockOp>(user) && !item->isAncestor(user);
      });
    }
  });
  return found;
}

static std::optional<Site> getSite(Operation *item) {
  SmallVector<BlockOp> blocks = getBlocks(item);
  if (blocks.empty() || isScheduled(item) || isa<KernelOp>(item->getParentOp()))
    return std::nullopt;
  unsigned numChild = 0;
  bool sequentialInside = false;
  for (BlockOp block : blocks) {
    if (block.isLeaf() || block.getNumOwnDims() == 0)
      return std::nullopt;
    for (Operation &op : block.getBody().front())
      if (!isa<NestOp, BlockOp, BufferOp, ConstantOp, YieldOp>(op))
        return std::nullopt;
    SmallVector<Operation *> items = getItems(block.getBody());
    // More would make a dimension of its own length out of straight-line code.
    constexpr unsigned maxItems = 8;
    if (items.empty() || items.size() > maxItems)
      return std::nullopt;
    for (Operation *child : items) {
      SmallVector<BlockOp> inner = getBlocks(child);
      if (inner.empty() || isScheduled(child))
        return std::nullopt;
      numChild = std::max(numChild, inner.front().getNumOwnDims());
      sequentialInside |= hasSequentialDim(inner);
    }
  }
  constexpr unsigned maxDims = 7;
  if (!sequentialInside || blocks.front().getNumOwnDims() + 1 + numChild > maxDims)
    return std::nullopt;
  if (hasSequentialDim(blocks))
    return Site{item, false};
  // Maps carry nothing: their items may run one after the other for all points.
  if (blocks.size() == 1 && touchesNeighbour(item))
    return Site{item, true};
  return std::nullopt;
}

/// All nests and lone blocks, a copy's in the same order.
static SmallVector<Operation *> getAllItems(GraphOp graph) {
  SmallVector<Operation *> items;
  graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto block = dyn_cast<BlockOp>(op);
    if (isa<NestOp>(op) || (block && !block.getNest()))
      items.push_back(op);
  });
  return items;
}

/// The outermost sites, in textual order, but those whose numbers are in `skipped`.
static SmallVector<Site> getSites(GraphOp graph, const llvm::SmallDenseSet<unsigned> &skipped) {
  SmallVector<Site> sites;
  for (auto [number, item] : llvm::enumerate(getAllItems(graph))) {
    if (skipped.contains(number) || (!sites.empty() && sites.back().item->isAncestor(item)))
      continue;
    if (std::optional<Site> site = getSite(item))
      sites.push_back(*site);
  }
  return sites;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Typical steps of an item, with what stands in its bodies.
static double getTypicalSteps(Operation *item,
                              const llvm::DenseMap<Operation *, const Nest *> &nests) {
  double own = 1;
  if (const Nest *nest = nests.lookup(item)) {
    if (!nest->candidates.empty())
      own = nest->getTypicalSteps(nest->candidates.front());
    else if (nest->isRefused() && !nest->extents.empty())
      own = nest->getTypicalDeclaredSteps();
  }
  double inside = 1;
  for (BlockOp block : getBlocks(item)) {
    double sum = 0;
    if (!block.isLeaf())
      for (Operation *child : getItems(block.getBody()))
        sum += getTypicalSteps(child, nests);
    inside = std::max(inside, sum);
  }
  return own * inside;
}

static llvm::DenseMap<Operation *, const Nest *> indexNests(const Plan &plan) {
  llvm::DenseMap<Operation *, const Nest *> nests;
  for (const Nest &nest : plan.nests)
    nests[nest.op] = &nest;
  return nests;
}

//===----------------------------------------------------------------------===//
// Trial
//===----------------------------------------------------------------------===//

namespace {
struct Verdict {
  bool accepted = false;
  double before = 0, after = 0;
  std::string reason;
};
} // namespace

static remark::RemarkOpts remarkOf(StringRef name) {
  return remark::RemarkOpts::name(name).category("reorder").subCategory("etdg-reorder");
}

/// What each site would gain, all of them being distributed.
static SmallVector<Verdict> tryOut(GraphOp graph, const llvm::SmallDenseSet<unsigned> &skipped) {
  OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone());
  SmallVector<Site> sites = getSites(*copy, skipped);
  SmallVector<Verdict> verdicts(sites.size());
  TypicalLengths lengths(*copy);
  SmallVector<bool> possible;
  {
    DependenceAnalysis analysis(*copy);
    Plan plan = makePlan(*copy, analysis, lengths);
    auto nests = indexNests(plan);
    for (auto [site, verdict] : llvm::zip_equal(sites, verdicts)) {
      verdict.before = getTypicalSteps(site.item, nests);
      possible.push_back(canDistribute(site, analysis.getSpace()));
    }
  }
  SymbolSpace space(*copy);
  SmallVector<SmallVector<Operation *>> items;
  for (auto [site, can] : llvm::zip_equal(sites, possible))
    items.push_back(can ? distribute(site, space) : SmallVector<Operation *>());
  DependenceAnalysis analysis(*copy);
  Plan plan = makePlan(*copy, analysis, lengths);
  auto nests = indexNests(plan);
  llvm::DenseMap<Operation *, const Group *> groups;
  for (const Group &group : plan.groups)
    for (const GroupMember &member : group.members)
      groups[member.nest->op] = &group;
  // Whether one of them shares a kernel with a nest that is none of them.
  auto joinsOthers = [&](ArrayRef<Operation *> own) {
    return llvm::any_of(own, [&](Operation *item) {
      const Group *group = groups.lookup(item);
      return group && llvm::any_of(group->members, [&](const GroupMember &member) {
               return !llvm::is_contained(own, member.nest->op);
             });
    });
  };
  for (auto [site, verdict, own] : llvm::zip_equal(sites, verdicts, items)) {
    if (own.empty()) {
      verdict.reason = "a dimension has no bound that a buffer could have as its length";
      continue;
    }
    for (Operation *item : own)
      verdict.after += getTypicalSteps(item, nests);
    const Nest *nest = nests.lookup(own.front());
    if (site.forKernel) {
      verdict.accepted = joinsOthers(own);
      verdict.reason = "no other nest would join its wavefront";
    } else {
      verdict.accepted = nest && !nest->isRefused() && verdict.after < verdict.before;
      verdict.reason = nest && nest->isRefused() ? nest->refusal : "it takes no fewer steps";
    }
  }
  return verdicts;
}

void reorder::splitNests(GraphOp graph) {
  llvm::SmallPtrSet<Operation *, 8> refused;
  constexpr unsigned maxRounds = 4;
  for (unsigned round = 0; round < maxRounds; ++round) {
    llvm::SmallDenseSet<unsigned> skipped;
    for (auto [number, item] : llvm::enumerate(getAllItems(graph)))
      if (refused.contains(item))
        skipped.insert(number);
    SmallVector<Site> sites = getSites(graph, skipped);
    if (sites.empty())
      return;
    SmallVector<Verdict> verdicts = tryOut(graph, skipped);
    SymbolSpace space(graph);
    bool changed = false;
    for (auto [site, verdict] : llvm::zip_equal(sites, verdicts)) {
      std::string what;
      for (BlockOp block : getBlocks(site.item))
        what += (what.empty() ? "" : ", ") + describeBlock(block);
      Location loc = site.item->getLoc();
      if (verdict.accepted) {
        distribute(site, space);
        changed = true;
        remark::passed(loc, remarkOf("distribute"))
            << remark::add("{0}", site.forKernel
                                      ? "the items of its body became nests"
                                      : "the items of its body became regions of one nest")
            << remark::metric("nest", what)
            << remark::metric("typical-steps-before", static_cast<int64_t>(verdict.before))
            << remark::metric("typical-steps-after", static_cast<int64_t>(verdict.after));
        continue;
      }
      refused.insert(site.item);
      if (!site.forKernel)
        remark::missed(loc, remarkOf("keep-nesting"))
            << remark::reason("{0}", verdict.reason) << remark::metric("nest", what)
            << remark::metric("typical-steps", static_cast<int64_t>(verdict.before));
    }
    if (!changed)
      return;
  }
}
