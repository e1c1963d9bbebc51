//===- MergeBlocks.cpp - width-wise coarsening ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Horizontal and vertical merges (FT §5.1) in one body of blocks after the other:
// each block, in textual order, is merged into the producers that it can be merged
// with, else with an independent block of the same domain and operators.
//
//===----------------------------------------------------------------------===//
#include "MergeBody.h"
#include "MergeInternal.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Target/GraphSummary.h"

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

static std::string nameOf(BlockOp block) { return block.getBlockName().value_or("").str(); }

//===----------------------------------------------------------------------===//
// Vertical merges
//===----------------------------------------------------------------------===//

BlockOp BodyMerger::mergeVertically(BlockOp a, BlockOp b, MergeRefusal &refusal) {
  SmallVector<Flow, 0> flows = legality.getFlows(a, b, weight[b] <= weight[a]);
  if (flows.empty())
    return {};
  Alignment aligned = legality.align(a, b, flows);
  llvm::SetVector<Value> handed;
  for (Flow &flow : flows)
    handed.insert(flow.write.buffer);
  unsigned numAncestors = a.getNumAncestors();

  // The width of a map that becomes a reduction is kept by cuts alone: other
  // iterations must run at once, and nobody else may want the map's elements.
  auto narrowsWell = [&](unsigned k) {
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
        all &= getPrivateType(access.buffer, {a, b}, numAncestors + k) != nullptr;
    });
    if (!all)
      refusal = {"width", "another block reads what a map computes, or the reduction reads it "
                          "elsewhere than at its own iteration"};
    return all;
  };
  for (unsigned k = aligned.size; k > 0; --k) {
    if (!narrowsWell(k))
      continue;
    unsigned restA = a.getNumOwnDims() - k, restB = b.getNumOwnDims() - k;
    for (BlockOp block : {a, b})
      if (std::optional<std::string> dim = findScanInside(block, k)) {
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
    SmallVector<Value> saved;
    for (Value buffer : handed)
      if (getPrivateType(buffer, {a, b}, numAncestors + k))
        saved.push_back(buffer);
    if (saved.empty() && (restA || restB)) {
      refusal = {"cost", "no intermediate would become smaller with the first " +
                             std::to_string(k) + " dimensions aligned"};
      continue;
    }
    if (!bringTogether(a, b)) {
      refusal = {"order",
                 "blocks between them read what the first writes, and the second reads what "
                 "blocks between them write"};
      return {};
    }
    std::string first = nameOf(a), second = nameOf(b);
    unsigned place = number[a], leaves = weight[a] + weight[b];
    number.erase(a);
    number.erase(b);
    scans.erase(a);
    scans.erase(b);
    BlockOp merged = mergeBlocks(a, b, k, ArrayRef(aligned.operators).take_front(k));
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
    explainMerge(merged, "vertical", first, second, k, before, left);
    return merged;
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

/// How many partners a block is tried with, of each kind.
static constexpr unsigned maxPartners = 8;
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
    if (!horizontal)
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

static void mergeBelow(Block &body, MergeLegality &legality, bool horizontal, bool vertical) {
  BodyMerger(body, legality, horizontal, vertical).run();
  for (ArrayRef<BlockOp> nest : getNests(*body.getParent()))
    for (BlockOp block : nest)
      if (!block.isLeaf())
        mergeBelow(block.getBody().front(), legality, horizontal, vertical);
}

namespace {
struct ETDGMerge : etdg::impl::ETDGMergeBase<ETDGMerge> {
  using ETDGMergeBase::ETDGMergeBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    MergeLegality legality(getOperation());
    mergeBelow(getOperation().getBody().front(), legality, horizontal, vertical);
  }
};
} // namespace
