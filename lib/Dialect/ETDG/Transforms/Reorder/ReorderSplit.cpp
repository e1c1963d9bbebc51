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
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

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

/// Whether a body holds nests and blocks alone, and what they need.
static bool holdsItemsAlone(BlockOp block) {
  return llvm::all_of(block.getBody().front(), [](Operation &op) {
    return isa<NestOp, BlockOp, BufferOp, ConstantOp, YieldOp>(op);
  });
}

namespace {
/// A site, or why an item that has something to distribute is none.
struct Candidate {
  std::optional<Site> site;
  std::string reason;
};
} // namespace

/// On items that were tried, while the pass runs: a copy's have it, too.
static Candidate getSite(Operation *item) {
  SmallVector<BlockOp> blocks = blocksOf(item);
  if (blocks.empty() || item->hasAttr(etdg::names::keptTogether) || isScheduled(item) ||
      isa<KernelOp>(item->getParentOp()))
    return {};
  unsigned numChild = 0, numItems = 0;
  bool sequentialInside = false, isPlain = true;
  for (BlockOp block : blocks) {
    if (block.isLeaf() || block.getNumOwnDims() == 0)
      return {};
    isPlain &= holdsItemsAlone(block);
    SmallVector<Operation *> items = getItems(block.getBody());
    numItems = std::max<unsigned>(numItems, items.size());
    for (Operation *child : items) {
      SmallVector<BlockOp> inner = blocksOf(child);
      isPlain &= !inner.empty() && !isScheduled(child);
      if (inner.empty())
        continue;
      numChild = std::max(numChild, inner.front().getNumOwnDims());
      sequentialInside |= hasSequentialDim(inner);
    }
  }
  if (!sequentialInside)
    return {};
  bool isSequential = hasSequentialDim(blocks);
  // Maps carry nothing: their items may run one after the other for all points.
  if (!isSequential && (blocks.size() != 1 || !touchesNeighbour(item)))
    return {};
  // More items would make a dimension of its own length out of straight-line code.
  constexpr unsigned maxItems = 8, maxDims = 7;
  if (!isPlain)
    return {std::nullopt, "its body holds what has an order already"};
  if (numItems == 0)
    return {};
  if (numItems > maxItems)
    return {std::nullopt, "its body has " + std::to_string(numItems) + " items, more than " +
                              std::to_string(maxItems)};
  if (unsigned all = blocks.front().getNumOwnDims() + 1 + numChild; all > maxDims)
    return {std::nullopt, "the nest would have " + std::to_string(all) +
                              " dimensions, more than " + std::to_string(maxDims)};
  return {Site{item, isSequential ? Distribution::OneNest : Distribution::Each}, ""};
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

/// The outermost sites, in textual order.
static SmallVector<Site> getSites(GraphOp graph) {
  SmallVector<Site> sites;
  for (Operation *item : getAllItems(graph)) {
    if (!sites.empty() && sites.back().item->isAncestor(item))
      continue;
    if (std::optional<Site> site = getSite(item).site)
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
  for (BlockOp block : blocksOf(item)) {
    double sum = 0;
    if (!block.isLeaf())
      for (Operation *child : getItems(block.getBody()))
        sum += getTypicalSteps(child, nests);
    inside = std::max(inside, sum);
  }
  return own * inside;
}

static llvm::DenseMap<Operation *, const Nest *> indexNests(const ReorderPlan &plan) {
  llvm::DenseMap<Operation *, const Nest *> nests;
  for (const Nest &nest : plan.nests)
    nests[nest.op] = &nest;
  return nests;
}

/// What items take by a plan; of a kernel, what its other nests would not take without them.
static double getTypicalSteps(ArrayRef<Operation *> items, const ReorderPlan &plan,
                              const llvm::DenseMap<Operation *, const Nest *> &nests) {
  llvm::SmallPtrSet<const KernelGroup *, 2> counted;
  double steps = 0;
  for (Operation *item : items) {
    const KernelGroup *in = plan.groupOf(item);
    if (!in) {
      steps += getTypicalSteps(item, nests);
    } else if (counted.insert(in).second) {
      double others = 0;
      for (const GroupMember &member : in->members)
        if (!llvm::is_contained(items, member.nest->op))
          others += getTypicalSteps(member.nest->op, nests);
      steps += std::max(in->typicalAfter - others, 1.0);
    }
  }
  return steps;
}

//===----------------------------------------------------------------------===//
// Trial
//===----------------------------------------------------------------------===//

namespace {
struct Verdict {
  Distribution kind = Distribution::OneNest;
  bool accepted = false;
  double before = 0, after = 0;
  std::string reason;
};
} // namespace

static remark::RemarkOpts remarkOf(StringRef name) {
  return remark::RemarkOpts::name(name).category("reorder").subCategory("etdg-reorder");
}

/// Whether one of a site's items shares a kernel with a nest that is none of them.
static bool joinsOthers(ArrayRef<Operation *> own, const ReorderPlan &plan) {
  return llvm::any_of(plan.groups, [&](const KernelGroup &group) {
    auto isOwn = [&](const GroupMember &member) {
      return llvm::is_contained(own, member.nest->op);
    };
    return llvm::any_of(group.members, isOwn) && !llvm::all_of(group.members, isOwn);
  });
}

/// What a site gains whose items stand as `own` in a graph with this plan.
static void judge(Verdict &verdict, ArrayRef<Operation *> own, const ReorderPlan &plan,
                  const llvm::DenseMap<Operation *, const Nest *> &nests) {
  if (own.empty()) {
    verdict.reason = "a dimension has no bound that a buffer could have as its length";
    return;
  }
  verdict.after = getTypicalSteps(own, plan, nests);
  const Nest *nest = nests.lookup(own.front());
  if (verdict.kind == Distribution::Each) {
    verdict.accepted = joinsOthers(own, plan);
    verdict.reason = "no other nest would join its wavefront";
    return;
  }
  bool isRefused = verdict.kind == Distribution::OneNest && (!nest || nest->isRefused());
  verdict.accepted = !isRefused && verdict.after < verdict.before;
  verdict.reason = nest && nest->isRefused() ? nest->refusal : "it takes no fewer steps";
}

/// What each site would gain, all of them being distributed; those that can be in parts in these
/// if `inParts`. None of them differs from those of another trial but in that.
static SmallVector<Verdict> tryOut(GraphOp graph, bool inParts) {
  OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone());
  SmallVector<Site> sites = getSites(*copy);
  SmallVector<Verdict> verdicts(sites.size());
  TypicalLengths lengths(*copy);
  SmallVector<bool> possible;
  {
    DependenceAnalysis analysis(*copy);
    ReorderPlan plan = makePlan(*copy, analysis, lengths);
    auto nests = indexNests(plan);
    for (auto [site, verdict] : llvm::zip_equal(sites, verdicts)) {
      if (inParts && site.kind == Distribution::OneNest && findParts(site.item).size() > 1)
        site.kind = Distribution::Parts;
      verdict.kind = site.kind;
      verdict.before = getTypicalSteps(site.item, plan, nests);
      possible.push_back(canDistribute(site, analysis.getSpace()));
    }
  }
  SymbolSpace space(*copy);
  SmallVector<SmallVector<Operation *>> items;
  for (auto [site, can] : llvm::zip_equal(sites, possible))
    items.push_back(can ? distribute(site, space) : SmallVector<Operation *>());
  DependenceAnalysis analysis(*copy);
  ReorderPlan plan = makePlan(*copy, analysis, lengths);
  auto nests = indexNests(plan);
  for (auto [verdict, own] : llvm::zip_equal(verdicts, items))
    judge(verdict, own, plan, nests);
  return verdicts;
}

/// The better of two ways for each site: of as many steps, one nest, which needs less memory.
static SmallVector<Verdict> chooseKinds(GraphOp graph) {
  SmallVector<Verdict> verdicts = tryOut(graph, /*inParts=*/false);
  SmallVector<Site> sites = getSites(graph);
  if (llvm::none_of(sites, [](const Site &site) {
        return site.kind == Distribution::OneNest && findParts(site.item).size() > 1;
      }))
    return verdicts;
  for (auto [verdict, other] : llvm::zip_equal(verdicts, tryOut(graph, /*inParts=*/true)))
    if (other.kind == Distribution::Parts && other.accepted &&
        (!verdict.accepted || other.after < verdict.after))
      verdict = other;
  return verdicts;
}

//===----------------------------------------------------------------------===//
// Maps around
//===----------------------------------------------------------------------===//

/// Bytes of a buffer with `outer` further lengths, typically.
static double getTypicalBytes(BufferType type, ArrayRef<int64_t> outer,
                              const TypicalLengths &lengths) {
  RankedTensorType element = type.getElement();
  double bytes = element.getNumElements() *
                 llvm::divideCeil(element.getElementType().isIndex()
                                      ? unsigned(IndexType::kInternalStorageBitWidth)
                                      : element.getElementTypeBitWidth(),
                                  8);
  for (int64_t extent : outer)
    bytes *= extent;
  for (ft::LengthAttr length : type.getLengths())
    bytes *= lengths.evaluate(length);
  return bytes;
}

/// Maps around items of which one was distributed would keep the new nests apart from their
/// dimensions: rows that share weights would not meet. The items get the maps' dimensions, where
/// what is private to a point does not become more than the graph's arguments and results.
/// Those that are gone leave `others`.
static void takeMapsIn(GraphOp graph, Operation *around,
                       llvm::SetVector<Operation *> &others) {
  while (auto block = dyn_cast_or_null<BlockOp>(around)) {
    around = block->getParentOp();
    if (block.getNest() || block.isLeaf() || block.getNumOwnDims() == 0 || isScheduled(block) ||
        isa<KernelOp>(around) || hasSequentialDim(block) || !holdsItemsAlone(block))
      return;
    for (Operation *item : getItems(block.getBody()))
      if (blocksOf(item).empty() || isScheduled(item))
        return;
    Site site{block, Distribution::Each};
    SymbolSpace space(graph);
    if (!canDistribute(site, space))
      return;
    TypicalLengths lengths(graph);
    double own = 0, all = 0;
    SmallVector<int64_t> outer = getTypicalExtents(getOwnRanges({block}, space), lengths);
    for (auto buffer : block.getBody().getOps<BufferOp>())
      own += getTypicalBytes(buffer.getResult().getType(), outer, lengths);
    for (Type type : llvm::concat<const Type>(graph.getArgumentTypes(), graph.getResultTypes()))
      if (auto buffer = dyn_cast<BufferType>(type))
        all += getTypicalBytes(buffer, {}, lengths);
    if (own > all)
      return;
    Location loc = block.getLoc();
    std::string what = describeBlock(block);
    others.remove(block);
    distribute(site, space);
    if (!isOnTrial(graph))
      remark::passed(loc, remarkOf("distribute"))
          << remark::add("the nests inside got the dimensions of the maps around")
          << remark::metric("nest", what);
  }
}

//===----------------------------------------------------------------------===//
// All sites
//===----------------------------------------------------------------------===//

static StringRef describe(Distribution kind) {
  switch (kind) {
  case Distribution::OneNest:
    return "the items of its body became regions of one nest";
  case Distribution::Parts:
    return "the items of its body that do not need each other became nests";
  case Distribution::Each:
    return "the items of its body became nests";
  }
  llvm_unreachable("a kind of distribution");
}

static std::string describeBlocks(Operation *item) {
  std::string what;
  for (BlockOp block : blocksOf(item))
    what += (what.empty() ? "" : ", ") + describeBlock(block);
  return what;
}

/// What stays in its body because nothing looked at it.
static void remarkNoSites(GraphOp graph) {
  for (Operation *item : getAllItems(graph)) {
    Candidate candidate = getSite(item);
    if (!candidate.site && !candidate.reason.empty() && !isOnTrial(graph))
      remark::missed(item->getLoc(), remarkOf("keep-nesting"))
          << remark::reason("{0}", candidate.reason) << remark::metric("nest", describeBlocks(item));
  }
}

/// Distributes the outermost sites that gain by it, and marks the others.
static void distributeOutermost(GraphOp graph, ArrayRef<Site> sites) {
  SmallVector<Verdict> verdicts = chooseKinds(graph);
  SymbolSpace space(graph);
  llvm::SetVector<Operation *> around;
  for (auto [site, verdict] : llvm::zip_equal(sites, verdicts)) {
    std::string what = describeBlocks(site.item);
    Location loc = site.item->getLoc();
    if (verdict.accepted) {
      around.insert(site.item->getParentOp());
      distribute({site.item, verdict.kind}, space);
      if (isOnTrial(graph))
        continue;
      remark::passed(loc, remarkOf("distribute"))
          << remark::add("{0}", describe(verdict.kind)) << remark::metric("nest", what)
          << remark::metric("typical-steps-before", static_cast<int64_t>(verdict.before))
          << remark::metric("typical-steps-after", static_cast<int64_t>(verdict.after));
      continue;
    }
    site.item->setAttr(etdg::names::keptTogether, UnitAttr::get(graph.getContext()));
    if (site.kind != Distribution::Each && !isOnTrial(graph))
      remark::missed(loc, remarkOf("keep-nesting"))
          << remark::reason("{0}", verdict.reason) << remark::metric("nest", what)
          << remark::metric("typical-steps", static_cast<int64_t>(verdict.before));
  }
  while (!around.empty())
    takeMapsIn(graph, around.pop_back_val(), around);
}

void reorder::splitNests(GraphOp graph) {
  // Each round takes or marks the outermost ones; nests are at most so deep.
  constexpr unsigned maxRounds = 16;
  for (unsigned round = 0; round < maxRounds; ++round) {
    SmallVector<Site> sites = getSites(graph);
    if (sites.empty())
      break;
    distributeOutermost(graph, sites);
  }
  remarkNoSites(graph);
  for (Operation *item : getAllItems(graph))
    item->removeAttr(etdg::names::keptTogether);
}
