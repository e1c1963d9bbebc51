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

#include "ft/Schedule/ChooseCuts.h"

#include "ft/Dialect/ETDG/Transforms/CutReductions.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"
#include "ft/Schedule/CostModel.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::Reduction;

static SmallVector<BlockOp> blocksOf(Operation *item) {
  if (auto nest = dyn_cast<etdg::NestOp>(item))
    return llvm::to_vector(nest.getBody().getOps<BlockOp>());
  return {cast<BlockOp>(item)};
}

/// What an item of the graph may be cut at, by the number of the leaf in it. What somebody has scheduled stays whole.
static SmallVector<std::pair<unsigned, Reduction>> getReductions(Operation *item) {
  SmallVector<std::pair<unsigned, Reduction>> found;
  unsigned number = 0;
  item->walk<WalkOrder::PreOrder>([&](BlockOp block) {
    std::string why;
    unsigned own = number++;
    if (block.getCombine().empty() || block->hasAttr("etdg.cut") || isBinding(scheduleOf({block})))
      return;
    if (std::optional<Reduction> reduction = etdg::findReduction(block, why))
      found.emplace_back(own, *reduction);
  });
  return found;
}

static std::optional<Reduction> getReduction(Operation *item, unsigned number) {
  for (auto &[own, reduction] : getReductions(item))
    if (own == number)
      return reduction;
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
    seconds += CostModel(of, options).estimateBest(blocksOf(item)).seconds;
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

void CutChooser::chooseFor(unsigned number) {
  SmallVector<std::pair<unsigned, Reduction>> all = getReductions(etdg::getTopItems(graph)[number]);
  // From the last one on: what stands before keeps its number.
  for (auto &[leaf, reduction] : llvm::reverse(all)) {
    Location loc = BlockOp(reduction.leaf).getLoc();
    int64_t tile = tileOf(reduction);
    std::optional<double> divided = priceCut(number, leaf, tile);
    double whole = price(graph, number, 1);
    if (!divided || *divided >= options.getMachine().cpu.sureGain * whole)
      continue;
    cut(reduction, tile, options.getMachine());
    remark::passed(loc, remark::RemarkOpts::name("cut-reduction").category("cpu"))
        << remark::reason("a reduction is cut into shares of {0} iterations, which the cores share", tile)
        << remark::metric("seconds", *divided) << remark::metric("seconds-whole", whole);
    // (A cut item at the top is two: the other leaves are no part of it.)
    if (etdg::getTopItems(graph)[number]->hasAttr("etdg.cut"))
      return;
  }
}

void schedule::drawCuts(etdg::GraphOp graph, uint64_t seed, const Machine &machine) {
  constexpr int64_t longest = 7; // odd and even shares, shorter and longer ones than the short lists of tests
  SmallVector<BlockOp> blocks;
  graph.walk<WalkOrder::PreOrder>([&](BlockOp block) { blocks.push_back(block); });
  for (auto [number, block] : llvm::enumerate(blocks)) {
    std::string why;
    uint64_t drawn = std::mt19937_64(seed + number)();
    if (drawn % 2 == 0 || block.getCombine().empty() || isBinding(scheduleOf({block})))
      continue;
    if (std::optional<Reduction> reduction = etdg::findReduction(block, why))
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
