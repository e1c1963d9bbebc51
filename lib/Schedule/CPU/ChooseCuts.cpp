//===- ChooseCuts.cpp - which reductions the cores share ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction that is long, with few points beside it, leaves cores idle. Where its
// dimension may be cut, it is divided into shares and their join (CutReductions.h) if
// that takes less time. How many shares there are, and whether there are any, depends
// on the machine and the lengths, not on the threads that a call happens to have, so
// that rounding is the same for each number of them.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/CPU/ChooseCuts.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/CutReductions.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"
#include "ft/Schedule/CPU/CostModel.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::Reduction;

namespace {
/// What an item of the graph may be cut at, by the number of the leaf in it.
struct Candidate {
  unsigned number;
  Reduction reduction;
  bool isDerived; // its `combine` has only been made for the cut
};
} // namespace

/// As a reduction, if it is one that nothing has scheduled; a `combine` that is not said is derived.
static std::optional<Reduction> asReduction(BlockOp block, bool &isDerived) {
  std::string why;
  if (!block.isLeaf() || block->hasAttr(etdg::names::cut) || isBinding(scheduleOf({block})))
    return std::nullopt;
  isDerived = etdg::deriveCombine(block);
  if (block.getCombine().empty())
    return std::nullopt;
  std::optional<Reduction> reduction = etdg::findReduction(block, why);
  if (!reduction && isDerived)
    etdg::dropCombine(block);
  return reduction;
}

static SmallVector<Candidate> getReductions(Operation *item) {
  SmallVector<Candidate> found;
  unsigned number = 0;
  item->walk<WalkOrder::PreOrder>([&](BlockOp block) {
    bool isDerived = false;
    unsigned own = number++;
    if (std::optional<Reduction> reduction = asReduction(block, isDerived))
      found.push_back({own, *reduction, isDerived});
  });
  return found;
}

static std::optional<Reduction> getReduction(Operation *item, unsigned number) {
  SmallVector<Candidate> candidates = getReductions(item);
  for (const Candidate &candidate : candidates)
    if (candidate.number == number)
      return candidate.reduction;
  return std::nullopt;
}

/// The loops of a schedule that leaves the rest open are those of the shares, too: of which nothing is said is in no order.
static void cut(const Reduction &reduction, int64_t tile, const Machine &machine) {
  BlockOp leaf = reduction.leaf;
  etdg::ScheduleAttr schedule = scheduleOf({leaf});
  etdg::cutReduction(reduction, tile, schedule ? etdg::scheduleOfShares(schedule, reduction.dim - leaf.getNumAncestors()) : schedule,
                     machine.lineBytes());
}

namespace {
class CutChooser {
public:
  CutChooser(etdg::GraphOp graph, CpuScheduleOptions given) : graph(graph), options(std::move(given)) { options.threads = 0; }
  void chooseFor(unsigned number);

private:
  bool cutIfCheaper(unsigned number, const Candidate &candidate);
  /// Seconds of the items from number `first` on, `count` of them.
  double price(etdg::GraphOp of, unsigned first, unsigned count);
  /// The same with one reduction cut; nothing where it can't be.
  std::optional<double> priceCut(unsigned number, unsigned leaf, int64_t tile);
  int64_t tileOf(const Reduction &reduction);

  etdg::GraphOp graph;
  CpuScheduleOptions options;
};
} // namespace

double CutChooser::price(etdg::GraphOp of, unsigned first, unsigned count) {
  double seconds = 0;
  SmallVector<Operation *> items = etdg::getTopItems(of);
  for (Operation *item : ArrayRef(items).slice(first, count))
    seconds += CostModel(of, options).estimateBest(etdg::blocksOf(item)).seconds;
  return seconds;
}

std::optional<double> CutChooser::priceCut(unsigned number, unsigned leaf, int64_t tile) {
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
  size_t before = etdg::getTopItems(*copy).size();
  std::optional<Reduction> reduction = getReduction(etdg::getTopItems(*copy)[number], leaf);
  if (!reduction)
    return std::nullopt;
  cut(*reduction, tile, options.getMachine());
  return price(*copy, number, unsigned(etdg::getTopItems(*copy).size() - before) + 1);
}

/// As many shares as tasks even out how long they take, on all cores of the machine.
int64_t CutChooser::tileOf(const Reduction &reduction) {
  const Machine &machine = options.getMachine();
  auto length = int64_t(CostModel(graph, options).typically(reduction.getLength()));
  int64_t shares = std::max<int64_t>(1, machine.units * machine.cpu.threadTasks);
  return std::max<int64_t>(1, llvm::divideCeilSigned(length, shares));
}

bool CutChooser::cutIfCheaper(unsigned number, const Candidate &candidate) {
  Location loc = BlockOp(candidate.reduction.leaf).getLoc();
  int64_t tile = tileOf(candidate.reduction);
  std::optional<double> divided = priceCut(number, candidate.number, tile);
  double whole = price(graph, number, 1);
  if (!divided || *divided >= options.getMachine().cpu.sureGain * whole)
    return false;
  cut(candidate.reduction, tile, options.getMachine());
  remark::passed(loc, remark::RemarkOpts::name("cut-reduction").category("cpu"))
      << remark::reason("a reduction is cut into shares of {0} iterations, which the cores share", tile)
      << remark::metric("seconds", *divided) << remark::metric("seconds-whole", whole);
  return true;
}

void CutChooser::chooseFor(unsigned number) {
  // From the last one on: what stands before keeps its number. (A leaf at the top is the only one of its item.)
  SmallVector<Candidate> candidates = getReductions(etdg::getTopItems(graph)[number]);
  for (const Candidate &candidate : llvm::reverse(candidates))
    if (!cutIfCheaper(number, candidate) && candidate.isDerived)
      etdg::dropCombine(candidate.reduction.leaf);
}

void schedule::drawCuts(etdg::GraphOp graph, uint64_t seed, const Machine &machine) {
  constexpr int64_t longest = 7; // odd and even shares, shorter and longer ones than the short lists of tests
  SmallVector<BlockOp> blocks;
  graph.walk<WalkOrder::PreOrder>([&](BlockOp block) { blocks.push_back(block); });
  for (auto [number, block] : llvm::enumerate(blocks)) {
    bool isDerived = false;
    uint64_t drawn = std::mt19937_64(seed + number)();
    if (drawn % 2 == 0)
      continue;
    if (std::optional<Reduction> reduction = asReduction(block, isDerived))
      cut(*reduction, 1 + int64_t(drawn / 2 % longest), machine);
  }
}

void schedule::chooseCuts(etdg::GraphOp graph, const CpuScheduleOptions &options) {
  if (options.planSeed != 0)
    return drawCuts(graph, options.planSeed, options.getMachine());
  CutChooser chooser(graph, options);
  for (unsigned number = etdg::getTopItems(graph).size(); number > 0; --number)
    chooser.chooseFor(number - 1);
}
