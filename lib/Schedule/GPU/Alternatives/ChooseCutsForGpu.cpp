//===- ChooseCutsForGpu.cpp - which reductions thread blocks share ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction with few points beside it leaves SMs idle: one thread block takes all of its terms. Where the points are few,
// shares of several lengths are tried on a copy that is scheduled and priced. What is cut is a loop inside of a leaf (CutLeaf.cpp), or a dimension
// of its block whose iterations can be joined, so that a share is computed at once (CutJoined.cpp).
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Alternatives/PricedAlternatives.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/CutLeaves.h"
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h"
#include "ft/Schedule/Analysis/TypicalRanges.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <random>

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGCHOOSECUTSFORGPU
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// From one number of shares that is tried to the next.
static constexpr int64_t moreShares = 4;

/// Shares that are joined at once, where the number of them is not known before the call: more are joined so many at a time.
static constexpr int64_t joinedShares = 1024;

namespace {
/// What of a leaf can be cut, and how long that is.
struct Cuttable {
  std::optional<etdg::LeafReduction> leaf;
  std::optional<etdg::JoinableReduction> dimension;
  bool isDerived = false; // its `combine` has only been made for the cut

  std::optional<unsigned> cutDim() const { return dimension ? std::optional(dimension->dim) : std::nullopt; }
};

/// Decides for one graph, leaf by leaf.
class GpuCutChooser {
public:
  GpuCutChooser(etdg::GraphOp graph, const GpuScheduleOptions &options) : graph(graph), options(options), random(options.planSeed) {}
  void run();

private:
  struct Choice {
    int64_t terms = 0; // of a share; 0: as it stands
    std::string prices;
  };
  static SmallVector<BlockOp> leavesIn(etdg::GraphOp graph);
  Cuttable find(BlockOp leaf) const;
  bool leavesIdle(BlockOp leaf, std::optional<unsigned> cut) const;
  int64_t extentOf(const Cuttable &found);
  Choice choose(BlockOp leaf, const Cuttable &found);
  Choice draw(int64_t extent);
  void chooseFor(BlockOp leaf);
  void tell(Location loc, const Choice &choice) const;

  etdg::GraphOp graph;
  const GpuScheduleOptions &options;
  std::mt19937_64 random;
};
} // namespace

SmallVector<BlockOp> GpuCutChooser::leavesIn(etdg::GraphOp graph) {
  SmallVector<BlockOp> leaves;
  for (auto block : graph.getBody().front().getOps<BlockOp>())
    if (block.isLeaf())
      leaves.push_back(block);
  return leaves;
}

/// Whether the leaf's points beside what is cut, whatever lengths a call has, are fewer than SMs.
bool GpuCutChooser::leavesIdle(BlockOp leaf, std::optional<unsigned> cut) const {
  int64_t points = 1;
  for (unsigned d = 0; d < leaf.getNumDims(); ++d) {
    int64_t extent = d == cut ? 1 : constantExtent({leaf}, d);
    if (extent == 0 || extent >= options.getMultiprocessors())
      return false;
    points *= extent;
  }
  return points < options.getMultiprocessors();
}

Cuttable GpuCutChooser::find(BlockOp leaf) const {
  Cuttable found;
  std::string why;
  bool reduces = llvm::any_of(llvm::seq(leaf.getNumOwnDims()), [&](unsigned d) { return leaf.getOperator(d) != OperatorKind::Map; });
  if (!reduces) {
    found.leaf = etdg::findLeafReduction(leaf, options.getMultiprocessors(), why);
    return found;
  }
  found.isDerived = etdg::deriveCombine(leaf);
  found.dimension = etdg::findJoinable(leaf, why);
  if (found.dimension && !etdg::canMask(*found.dimension))
    found.dimension.reset();
  if (!found.dimension && found.isDerived)
    etdg::dropCombine(leaf);
  return found;
}

int64_t GpuCutChooser::extentOf(const Cuttable &found) {
  return found.leaf ? found.leaf->extent : int64_t(TypicalRanges(graph).typically(found.dimension->getLength()));
}

/// What stands for the leaf then; none where it can't be cut.
static SmallVector<BlockOp> cutInto(const Cuttable &found, int64_t terms) {
  if (found.leaf) {
    etdg::CutLeaf cut = etdg::cutLeaf(*found.leaf, terms);
    return cut.rest ? SmallVector<BlockOp>{cut.shares, cut.rest, cut.join} : SmallVector<BlockOp>{cut.shares, cut.join};
  }
  std::string why;
  std::optional<etdg::JoinedShares> cut = etdg::cutIntoJoined(*found.dimension, terms, joinedShares, why);
  return cut ? SmallVector<BlockOp>{cut->shares} : SmallVector<BlockOp>{};
}

/// So many terms, or about as many where all shares are equally long then.
static int64_t evenTerms(int64_t extent, int64_t terms) {
  for (int64_t off = 0; off <= terms / 2; ++off)
    for (int64_t even : {terms + off, terms - off})
      if (extent % even == 0)
        return even;
  return terms;
}

GpuCutChooser::Choice GpuCutChooser::choose(BlockOp leaf, const Cuttable &found) {
  constexpr double percent = 100; // shares of the time are given in
  PricedAlternatives forms(leaf, options, {double(options.getMachine().gpu.divisionShare) / percent, /*ofBest=*/1});
  if (!forms.isPriced())
    return {};
  int64_t extent = extentOf(found), before = 0;
  // A share of one term would be joined as it is.
  int64_t most = found.leaf && found.leaf->getTerms() > 1 ? extent : extent / 2;
  for (int64_t shares = std::min(options.getMultiprocessors(), most); shares > 1; shares = std::min(shares * moreShares, most)) {
    int64_t terms = evenTerms(extent, llvm::divideCeilSigned(extent, shares));
    if (terms == before)
      break;
    before = terms;
    forms.consider(terms, [&](etdg::GraphOp copy) { return !cutInto(find(leavesIn(copy).front()), terms).empty(); });
  }
  return {forms.getBest().value_or(0), forms.describe(/*digits=*/1)};
}

/// Any shares, or none, by the seed (for tests).
GpuCutChooser::Choice GpuCutChooser::draw(int64_t extent) {
  constexpr int64_t longest = 7; // odd and even shares, shorter and longer ones than the small sizes of tests
  Choice choice;
  uint64_t drawn = random();
  if (drawn % 2 == 1 && extent > 1)
    choice.terms = 1 + int64_t(drawn / 2 % uint64_t(std::min(longest, extent - 1)));
  return choice;
}

void GpuCutChooser::tell(Location loc, const Choice &choice) const {
  if (choice.prices.empty())
    return;
  auto about = remark::RemarkOpts::name("cut-reduction").category("gpu");
  auto tell = choice.terms > 0 ? remark::passed(loc, about) : remark::missed(loc, about);
  tell << (choice.terms > 0 ? llvm::formatv("shares of {0} iterations", choice.terms).str() : std::string("all iterations by one thread block"))
       << llvm::formatv(" (percent of the time of one block, by iterations of a share: {0})", choice.prices).str();
}

/// Whether no annotation specifies how the leaf runs, but in which order.
static bool isOpen(BlockOp leaf) {
  etdg::ScheduleAttr schedule = scheduleOf({leaf});
  auto saysMore = [](etdg::LoopAttr loop) { return loop.getKind() == etdg::LoopKind::Associative; };
  return !leaf->hasAttr(etdg::names::layouts) && !leaf->hasAttr(etdg::names::cut) &&
         (!schedule || (!isBinding(schedule) && schedule.getMap().getValue().isIdentity() && llvm::none_of(schedule.getLoops(), saysMore)));
}

void GpuCutChooser::chooseFor(BlockOp leaf) {
  Cuttable found = isOpen(leaf) ? find(leaf) : Cuttable();
  if (!found.leaf && !found.dimension)
    return;
  Choice choice;
  if (leavesIdle(leaf, found.cutDim()))
    choice = options.planSeed != 0 ? draw(extentOf(found)) : choose(leaf, found);
  tell(leaf.getLoc(), choice);
  SmallVector<BlockOp> parts = choice.terms > 0 ? cutInto(found, choice.terms) : SmallVector<BlockOp>();
  if (parts.empty() && found.isDerived)
    etdg::dropCombine(leaf);
  // What is left to be joined may be long itself.
  if (options.planSeed == 0)
    llvm::for_each(parts, [&](BlockOp part) { chooseFor(part); });
}

void GpuCutChooser::run() {
  for (BlockOp leaf : leavesIn(graph))
    chooseFor(leaf);
}

namespace {
struct ETDGChooseCutsForGPU : ft::impl::ETDGChooseCutsForGPUBase<ETDGChooseCutsForGPU> {
  using ETDGChooseCutsForGPUBase::ETDGChooseCutsForGPUBase;
  void runOnOperation() override {
    FailureOr<GpuScheduleOptions> options =
        readGpuOptions(getOperation().getLoc(), {target, machine, steps, int64_t(multiprocessors), uint64_t(planSeed)});
    if (failed(options))
      return signalPassFailure();
    if (!getOperation().isExternal())
      GpuCutChooser(getOperation(), *options).run();
  }
};
} // namespace
