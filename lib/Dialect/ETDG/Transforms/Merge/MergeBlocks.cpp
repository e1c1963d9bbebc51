//===- MergeBlocks.cpp - width-wise coarsening ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Horizontal and vertical merges (FT §5.1) in one body of blocks after the other:
// each block, in textual order, is merged into the producers that it can be merged
// with, else with an independent block of the same domain and operators.
//
//===----------------------------------------------------------------------===//
#include "MergeBody.h"
#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGMERGE
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

/// How many leaves of one block may run at iterations of their own.
static constexpr unsigned maxGuarded = 64;
/// How many partners a block is tried with, of each kind.
static constexpr unsigned maxPartners = 8;

static std::string nameOf(BlockOp block) { return block.getBlockName().value_or("").str(); }

//===----------------------------------------------------------------------===//
// Vertical merges
//===----------------------------------------------------------------------===//

BlockOp BodyMerger::mergeVertically(BlockOp a, BlockOp b, MergeRefusal &refusal) {
  SmallVector<Flow, 0> flows = legality.getFlows(a, b, weight[b] <= weight[a]);
  if (flows.empty())
    return {};
  SmallVector<Alignment, 0> ways;
  ways.push_back(legality.align(a, b, flows));
  unsigned most = std::min(a.getNumOwnDims(), b.getNumOwnDims());
  if (ways.front().size < most || !ways.front().domains.back().isShared) {
    for (auto &[x, y] : findCoordinates(a, b, flows))
      if (legality.mayReorder(x) && legality.mayReorder(y))
        ways.push_back(legality.align(x, y, flows));
  }
  // Of equally good ones the first: as they stand.
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, ways.size()));
  llvm::sort(order, [&](unsigned x, unsigned y) {
    return std::pair(ways[y].size, x) < std::pair(ways[x].size, y);
  });
  for (unsigned w : order) {
    MergeRefusal why;
    if (BlockOp merged = mergeAligned(ways[w], flows, why))
      return merged;
    if (!refusal)
      refusal = why;
  }
  return {};
}

bool BodyMerger::isWorthGuards(const Alignment &aligned, const OuterDomain &outer, unsigned k,
                               MergeRefusal &refusal) {
  if (outer.isShared)
    return true;
  BlockOp a = aligned.a.block, b = aligned.b.block;
  unsigned leaves = weight[a] + weight[b], numAncestors = a.getNumAncestors();
  if (leaves > maxGuarded) {
    refusal = {"cost", std::to_string(leaves) +
                           " leaves would run at iterations of their own, the limit is " +
                           std::to_string(maxGuarded)};
    return false;
  }
  // An iteration in which a leaf has nothing to do costs a test. One leaf at least is
  // busy nearly always; a chain in which each starts one later ends where that is no longer so.
  unsigned numDims = numAncestors + k;
  double all = legality.getTypicalSize(outer.set, outer.symbols, numAncestors, numDims);
  double busiest = 0;
  for (const Coordinates *c : {&aligned.a, &aligned.b}) {
    BlockOp block = c->block;
    if (block.isLeaf()) {
      busiest =
          std::max(busiest, legality.getTypicalSize(c->domain, c->symbols, numAncestors, numDims));
      continue;
    }
    double own = legality.getTypicalSize(c->domain, c->symbols, numAncestors, numDims);
    for (ArrayRef<BlockOp> nest : getNests(block.getBody()))
      for (BlockOp child : nest) {
        countMergeVisits(1);
        // What a child says of dimensions around it is in their old coordinates: sizes stay.
        BlockBuilder joined = BlockBuilder::from(child);
        SmallVector<AffineExpr> constraints(joined.domain.getConstraints());
        SmallVector<bool> flags(joined.domain.getEqFlags());
        for (AffineExpr constraint : block.getDomainSet().getConstraints())
          constraints.push_back(joined.importExpr(constraint, block.getSymbolNames()));
        llvm::append_range(flags, block.getDomainSet().getEqFlags());
        IntegerSet set =
            IntegerSet::get(joined.dims.size(), joined.symbols.size(), constraints, flags);
        // In the order of the coordinates the first k count.
        double size = 1;
        for (unsigned d = 0; d < k; ++d) {
          unsigned dim = numAncestors + c->own[d].dim;
          size *= legality.getTypicalSize(set, joined.symbols, dim, dim + 1);
        }
        busiest = std::max(busiest, std::min(size, own));
      }
  }
  if (all <= 1.25 * busiest)
    return true;
  refusal = {"cost", "of about " + std::to_string(static_cast<int64_t>(all)) +
                         " iterations no block would run in more than " +
                         std::to_string(static_cast<int64_t>(busiest))};
  return false;
}

SmallVector<Coordinates> BodyMerger::getGroup(const Alignment &aligned, unsigned k, Value buffer) {
  SmallVector<Coordinates> group = {aligned.a, aligned.b};
  BlockOp a = aligned.a.block;
  llvm::SetVector<Operation *> others;
  for (Operation *user : buffer.getUsers())
    if (Operation *item = itemOf(user); item && item != a && item != aligned.b.block)
      if (others.insert(item); others.size() > maxPartners)
        return {};
  for (Operation *other : others) {
    auto reader = dyn_cast<BlockOp>(other);
    if (!reader || group.size() >= maxPartners || reader.getNumOwnDims() < k)
      return {};
    SmallVector<Flow, 0> flows = legality.getFlows(a, reader);
    if (flows.empty())
      return {};
    auto joins = [&](const Coordinates &x, const Coordinates &y) {
      if (!(x == aligned.a) || legality.align(x, y, flows).size < k)
        return false;
      group.push_back(y);
      return true;
    };
    bool found = joins(Coordinates(a), Coordinates(reader));
    if (!found)
      for (auto &[x, y] : findCoordinates(a, reader, flows))
        if (legality.mayReorder(y) && joins(x, y)) {
          found = true;
          break;
        }
    if (!found)
      return {};
  }
  return group;
}

/// The width of a map that becomes a reduction is kept by cuts alone: other
/// iterations must run at once, and nothing else may want the map's elements.
bool BodyMerger::narrowsWell(const Alignment &aligned, unsigned k, MergeRefusal &refusal) {
  BlockOp a = aligned.a.block;
  unsigned numAncestors = a.getNumAncestors();
  if (llvm::none_of(aligned.narrowed, [&](unsigned d) { return d < k; }))
    return true;
  bool outer = false;
  for (BlockOp parent = a.getParentBlock(); parent; parent = parent.getParentBlock())
    for (unsigned d = 0; d < parent.getNumOwnDims(); ++d)
      outer |= parent.getOperator(d) == OperatorKind::Map;
  for (unsigned d = 0; d < k; ++d)
    outer |= aligned.operators[d] == OperatorKind::Map;
  if (!outer) {
    refusal = {"width", "no other map dimension would be left"};
    return false;
  }
  bool all = true;
  forEachAccess(a, [&](Access &access) {
    if (access.isWrite() && !a->isAncestor(access.buffer.getParentBlock()->getParentOp()))
      all &= getPrivateType(access.buffer, {aligned.a, aligned.b}, numAncestors + k) != nullptr;
  });
  if (!all)
    refusal = {"width", "another block reads what a map computes, or the reduction reads it "
                        "elsewhere than at its own iteration"};
  return all;
}

/// Merges the two at their first k aligned dimensions; `saved` become private to the merged block.
BlockOp BodyMerger::join(const Alignment &aligned, unsigned k, const OuterDomain &outer, ArrayRef<Value> saved) {
  BlockOp a = aligned.a.block, b = aligned.b.block;
  unsigned numAncestors = a.getNumAncestors();
  std::string first = nameOf(a), second = nameOf(b);
  unsigned place = number[a], leaves = weight[a] + weight[b];
  number.erase(a);
  number.erase(b);
  scans.erase(a);
  scans.erase(b);
  MergedDomain united{outer, legality.getGuard(aligned.a, outer, numAncestors + k),
                      legality.getGuard(aligned.b, outer, numAncestors + k)};
  std::string how = describeCoordinates(aligned, united, k);
  for (const Coordinates *c : {&aligned.a, &aligned.b})
    if (!c->isIdentity())
      remapBlock(c->block, c->getRemap());
  BlockOp merged = mergeBlocks(a, b, k, ArrayRef(aligned.operators).take_front(k), &united);
  number[merged] = place;
  weight[merged] = leaves;
  MLIRContext *context = merged.getContext();
  ft::LengthAttr before = ft::LengthAttr::get(context, 0), left = before;
  for (Value buffer : saved) {
    ft::LengthAttr bytes = getLiveBytes(buffer.getDefiningOp<BufferOp>());
    Value inside = makePrivate(buffer, merged);
    if (!inside)
      continue;
    before = before + bytes;
    left = left + getLiveBytes(inside.getDefiningOp<BufferOp>());
  }
  explainMerge(merged, "vertical", first, second, k, before, left, how);
  return merged;
}

BlockOp BodyMerger::mergeAligned(const Alignment &aligned, ArrayRef<Flow> flows,
                                 MergeRefusal &refusal) {
  BlockOp a = aligned.a.block, b = aligned.b.block;
  llvm::SetVector<Value> handed;
  for (const Flow &flow : flows)
    handed.insert(flow.write.buffer);
  unsigned numAncestors = a.getNumAncestors();
  bool moves = !aligned.a.isIdentity() || !aligned.b.isIdentity();

  for (unsigned k = aligned.size; k > 0; --k) {
    if (!narrowsWell(aligned, k, refusal))
      continue;
    unsigned restA = a.getNumOwnDims() - k, restB = b.getNumOwnDims() - k;
    for (const Coordinates *c : {&aligned.a, &aligned.b})
      if (std::optional<std::string> dim = findScanInside(*c, k)) {
        // What stops the alignment says more.
        refusal = aligned.stop
                      ? aligned.stop
                      : MergeRefusal{"pipeline",
                                     *dim +
                                         " is a scan: merged, its order and wavefront would be "
                                         "decided inside each iteration of the " +
                                         std::to_string(k) + " aligned dimensions"};
        return {};
      }
    if (!canMergeCombine(a, b, k)) {
      refusal = {"combine", "one combines partial states, the other does not"};
      continue;
    }
    OuterDomain outer = aligned.domains[k - 1];
    SmallVector<Value> saved;
    bool saves = false;
    for (Value buffer : handed) {
      if (getPrivateType(buffer, {aligned.a, aligned.b}, numAncestors + k))
        saved.push_back(buffer);
      // Its other readers may follow.
      else if ((moves || !outer.isShared || restA || restB) && !saves)
        if (SmallVector<Coordinates> group = getGroup(aligned, k, buffer); group.size() > 2)
          saves = getPrivateType(buffer, group, numAncestors + k) != nullptr;
    }
    if (saved.empty() && !saves && (restA || restB || moves || !outer.isShared)) {
      refusal = {"cost", "no intermediate would become smaller with the first " +
                             std::to_string(k) + " dimensions aligned"};
      continue;
    }
    // What nothing but the second reads is computed where the second runs.
    bool isForSecond = !outer.isShared;
    if (isForSecond)
      forEachAccess(a, [&](Access &access) {
        if (access.isWrite() && !a->isAncestor(access.buffer.getParentBlock()->getParentOp()))
          isForSecond &= llvm::is_contained(saved, access.buffer);
      });
    if (isForSecond)
      outer = legality.getOuterDomainOf(aligned.b, numAncestors + k);
    if (!isWorthGuards(aligned, outer, k, refusal) || !makesSmaller(aligned, outer, k, refusal))
      continue;
    if (!leavesTiles(aligned, flows, outer, k, refusal))
      return {};
    if (!bringTogether(a, b)) {
      refusal = {"order",
                 "blocks between them read what the first writes, and the second reads what "
                 "blocks between them write"};
      return {};
    }
    if (products && !nameOfProducts.empty())
      products->made.push_back(nameOfProducts);
    return join(aligned, k, outer, saved);
  }
  if (!refusal)
    refusal = aligned.stop ? aligned.stop
                           : MergeRefusal{"domain", "one has no dimension that could be aligned"};
  return {};
}

//===----------------------------------------------------------------------===//
// Horizontal merges
//===----------------------------------------------------------------------===//

/// Equal for items whose blocks have equal numbers of dimensions, operators and domains.
std::string BodyMerger::keyOf(Operation *item) {
  std::string key;
  llvm::raw_string_ostream os(key);
  for (BlockOp block : blocksOf(item)) {
    SmallVector<StringAttr> names;
    for (unsigned d = 0; d < block.getNumDims(); ++d)
      names.push_back(StringAttr::get(block.getContext(), "$" + Twine(d)));
    os << block.getOperators() << ' '
       << conditionsToString(block.getDomainSet(), names, block.getSymbolNames()) << ';';
  }
  return key;
}

Operation *BodyMerger::mergeHorizontally(Operation *a, Operation *b, MergeRefusal &refusal) {
  SmallVector<BlockOp> first = blocksOf(a), second = blocksOf(b);
  unsigned k = first.front().getNumOwnDims();
  unsigned ordered = 0;
  for (unsigned d = 0; d < k; ++d)
    ordered += first.front().getOperator(d) != OperatorKind::Map;
  if (ordered > 1) {
    // Along one dimension all distances point the same way. Along several, a
    // schedule that suits one need not suit the other.
    refusal = {"pipeline", std::to_string(ordered) + " dimensions run in order: as two, each has "
                                                     "a wavefront of its own"};
    return nullptr;
  }
  for (Operation *item : {a, b})
    if (auto it = scans.find(item); it != scans.end()) {
      refusal = {"pipeline", it->second + " is a scan: its order would be decided inside"};
      return nullptr;
    }
  for (auto [x, y] : llvm::zip_equal(first, second)) {
    if (!canMergeCombine(x, y, k)) {
      refusal = {"combine", "one combines partial states, the other does not"};
      return nullptr;
    }
    Alignment aligned = legality.align(x, y, {});
    if (aligned.size != k) {
      refusal = aligned.stop;
      return nullptr;
    }
  }
  if (!bringTogether(a, b)) {
    refusal = {"order", "blocks between them read what the first writes, and the second reads what "
                        "blocks between them write"};
    return nullptr;
  }
  unsigned place = number[a], leaves = weight[a] + weight[b];
  number.erase(a);
  number.erase(b);
  // Two blocks make a third one and are erased; a nest takes in what the second one held.
  bool intoNest = isa<NestOp>(a), fromNest = isa<NestOp>(b);
  Operation *result = a;
  for (auto [x, y] : llvm::zip_equal(first, second)) {
    std::string nameA = nameOf(x), nameB = nameOf(y);
    SmallVector<OperatorKind> operators;
    for (unsigned d = 0; d < k; ++d)
      operators.push_back(x.getOperator(d));
    BlockOp merged = mergeBlocks(x, y, k, operators);
    explainMerge(merged, "horizontal", nameA, nameB, k);
    if (!intoNest)
      result = merged;
  }
  if (fromNest)
    b->erase();
  number[result] = place;
  weight[result] = leaves;
  return result;
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

/// Each sweep but the last one merges something; two are the rule.
static constexpr unsigned maxSweeps = 8;

MergeRefusal BodyMerger::refuseNest(Operation *a, Operation *b) {
  MergeRefusal refusal;
  for (BlockOp x : blocksOf(a))
    for (BlockOp y : blocksOf(b)) {
      SmallVector<Flow, 0> flows = legality.getFlows(x, y);
      if (flows.empty())
        continue;
      Alignment aligned = legality.align(x, y, flows);
      if (!aligned.stop)
        aligned.stop = {"width",
                        "the regions of a nest run in one order, which is that of its scans"};
      // The domain of one region differs from that of the nest: others say more.
      if (!refusal || refusal.rule == "domain")
        refusal = aligned.stop;
    }
  return refusal;
}

/// Whether a block reads nothing and another one reads what it writes: merged with a third one, it would keep its reader out.
static bool isMadeOfNothing(Operation *item) {
  bool isRead = false;
  // The first read tells, so that a merged block is not walked as a whole.
  WalkResult walked = item->walk([&](BlockOp leaf) {
    for (Access &access : getAccesses(leaf)) {
      countMergeVisits(1);
      if (!access.isWrite())
        return WalkResult::interrupt();
      isRead |= llvm::any_of(access.buffer.getUsers(), [&](Operation *user) { return !item->isAncestor(user) && isa<BlockOp>(user); });
    }
    return WalkResult::advance();
  });
  return !walked.wasInterrupted() && isRead;
}

unsigned BodyMerger::sweep() {
  collect();
  refused.clear();
  unsigned merges = 0;
  llvm::StringMap<SmallVector<Operation *>> byKey;
  SmallVector<Operation *> given = items;
  for (unsigned next = 0; next < given.size(); ++next) {
    Operation *item = given[next];
    if (blocksOf(item).front().getNumOwnDims() == 0)
      continue; // nothing to align: statements are joined by etdg-form-leaves
    SmallVector<Operation *> producers = getProducers(item);
    unsigned tries = 0;
    for (Operation *producer : producers) {
      auto it = number.find(producer);
      if (!vertical || it == number.end() || producer == item || it->second >= number[item] ||
          blocksOf(producer).front().getNumOwnDims() == 0)
        continue;
      if (++tries > maxPartners)
        break;
      BlockOp front = blocksOf(producer).front(), own = blocksOf(item).front();
      if (isa<NestOp>(producer) || isa<NestOp>(item)) {
        if (legality.explain)
          refused.push_back({"vertical", front, own, refuseNest(producer, item)});
        continue;
      }
      MergeRefusal refusal;
      if (BlockOp merged = mergeVertically(front, own, refusal)) {
        item = merged;
        ++merges;
      } else {
        refused.push_back({"vertical", front, own, refusal});
      }
    }
    if (!horizontal || isMadeOfNothing(item))
      continue;
    BlockOp front = blocksOf(item).front();
    SmallVector<Operation *> &partners = byKey[keyOf(item)];
    llvm::erase_if(partners, [&](Operation *p) { return !number.contains(p) || p == item; });
    if (partners.size() > maxPartners)
      partners.erase(partners.begin(), partners.end() - maxPartners);
    tries = 0;
    // What was merged into the item needs producers of its own.
    if (item != given[next] && !partners.empty())
      producers = getProducers(item);
    SmallVector<Operation *> tried(llvm::reverse(partners));
    for (Operation *a : tried) {
      if (++tries > maxPartners)
        break;
      // A path from one to the other ends in a producer of the second.
      if (llvm::is_contained(producers, a) || number[a] >= number[item])
        continue;
      MergeRefusal refusal;
      if (Operation *merged = mergeHorizontally(a, item, refusal)) {
        llvm::erase(partners, a);
        item = merged;
        ++merges;
        break;
      }
      refused.push_back({"horizontal", blocksOf(a).front(), front, refusal});
    }
    partners.push_back(item);
  }
  return merges;
}

unsigned BodyMerger::run() {
  for (Operation &op : body)
    if (isa<KernelOp>(op))
      return 0; // partition has decided
  unsigned merges = 0;
  for (unsigned i = 0; i < maxSweeps; ++i) {
    // Reasons in words are for what stays.
    legality.explain = i > 0;
    unsigned more = sweep();
    merges += more;
    if (more || i == 0)
      continue;
    for (const Refused &r : refused)
      if (r.refusal)
        explainRefusal(r.kind, r.a, r.b, r.refusal);
    break;
  }
  return merges;
}

static void mergeBelow(Block &body, MergeLegality &legality, const ft::Machine &machine, bool horizontal, bool vertical,
                       ProductMerges *products = nullptr) {
  BodyMerger(body, legality, machine, horizontal, vertical, products).run();
  for (ArrayRef<BlockOp> nest : getNests(*body.getParent()))
    for (BlockOp block : nest)
      if (!block.isLeaf())
        mergeBelow(block.getBody().front(), legality, machine, horizontal, vertical, products);
}

void etdg::mergeBlocksBut(GraphOp graph, const ft::Machine &machine, ProductMerges &products) {
  if (graph.isExternal() || llvm::is_contained(products.apart, "*") || namesReads(graph, "etdg-merge"))
    return;
  MergeLegality legality(graph);
  mergeBelow(graph.getBody().front(), legality, machine, /*horizontal=*/true, /*vertical=*/true, &products);
}

namespace {
struct ETDGMerge : etdg::impl::ETDGMergeBase<ETDGMerge> {
  using ETDGMergeBase::ETDGMergeBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (namesReads(getOperation(), getArgument()))
      return markAllAnalysesPreserved();
    FailureOr<ft::MachineRef> model = ft::findMachine(getOperation().getLoc(), machine, "cpu");
    if (failed(model))
      return signalPassFailure();
    MergeLegality legality(getOperation());
    mergeBelow(getOperation().getBody().front(), legality, **model, horizontal, vertical);
  }
};
} // namespace
