//===- ChooseCutsForGpu.cpp - which reductions blocks of threads share ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction with few points beside it leaves multiprocessors idle: one block of threads takes its iterations in order, or all wait for each
// other after each. Where the points are few for all lengths, shares of any of several lengths are tried on a copy that is scheduled and priced.
//
//===----------------------------------------------------------------------===//
#include "KernelPrices.h"

#include "ft/Dialect/ETDG/Transforms/CutReductions.h"
#include "ft/Schedule/ChooseCuts.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/ScheduleForGpu.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGCHOOSECUTSFORGPU
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// From one number of shares that is tried to the next.
static constexpr int64_t moreShares = 4;

namespace {
/// Decides for one graph, leaf by leaf.
class GpuCutChooser {
public:
  GpuCutChooser(etdg::GraphOp graph, const GpuScheduleOptions &options) : graph(graph), options(options) {}
  void run();

private:
  struct Choice {
    int64_t tile = 0; // iterations of a share; 0: as it stands
    double seconds = 0, whole = 0;
    std::string prices;
  };
  static SmallVector<BlockOp> leavesIn(etdg::GraphOp graph);
  bool leavesIdle(const etdg::Reduction &reduction);
  std::optional<double> priceCut(size_t number, int64_t tile);
  Choice choose(size_t number, const etdg::Reduction &reduction);
  void chooseFor(size_t number);

  etdg::GraphOp graph;
  const GpuScheduleOptions &options;
};
} // namespace

/// Those at the top of the graph, alone or in a nest.
SmallVector<BlockOp> GpuCutChooser::leavesIn(etdg::GraphOp graph) {
  SmallVector<BlockOp> leaves;
  graph.walk<WalkOrder::PreOrder>([&](BlockOp block) {
    if (block.isLeaf() && block.getNumAncestors() == 0)
      leaves.push_back(block);
  });
  return leaves;
}

static void cutInto(const etdg::Reduction &reduction, int64_t tile) {
  BlockOp leaf = reduction.leaf;
  etdg::ScheduleAttr schedule = scheduleOf({leaf});
  etdg::cutReduction(reduction, tile, schedule ? etdg::scheduleOfShares(schedule, reduction.dim) : schedule);
}

/// Whether the points beside the reduction, whatever lengths a call has, are fewer than multiprocessors.
bool GpuCutChooser::leavesIdle(const etdg::Reduction &reduction) {
  BlockOp leaf = reduction.leaf;
  int64_t points = 1;
  for (unsigned d = 0; d < leaf.getNumDims(); ++d)
    if (d != reduction.dim) {
      int64_t extent = constantExtent({leaf}, d);
      if (extent == 0 || extent >= options.getMultiprocessors())
        return false;
      points *= extent;
    }
  return points < options.getMultiprocessors();
}

std::optional<double> GpuCutChooser::priceCut(size_t number, int64_t tile) {
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
  bool isDerived = false;
  std::optional<etdg::Reduction> reduction = asOpenReduction(leavesIn(*copy)[number], isDerived);
  if (!reduction)
    return std::nullopt;
  cutInto(*reduction, tile);
  return priceAsScheduled(*copy, options);
}

GpuCutChooser::Choice GpuCutChooser::choose(size_t number, const etdg::Reduction &reduction) {
  constexpr double percent = 100; // shares of the time are given in
  Choice choice;
  std::optional<double> whole = priceAsScheduled(graph, options);
  if (!whole)
    return choice;
  choice.whole = *whole;
  choice.seconds = *whole * double(options.getMachine().gpu.divisionShare) / percent;
  auto length = int64_t(TypicalRanges(graph).typically(reduction.getLength()));
  // A share of one iteration would be joined as it is.
  for (int64_t shares = options.getMultiprocessors(); 2 * shares <= length; shares *= moreShares) {
    int64_t tile = llvm::divideCeilSigned(length, shares);
    std::optional<double> seconds = priceCut(number, tile);
    choice.prices += llvm::formatv("{0}{1}: ", choice.prices.empty() ? "" : ", ", tile).str() +
                     (seconds ? llvm::formatv("{0:F1}", *seconds / *whole * percent).str() : "not on this machine");
    if (seconds && *seconds <= choice.seconds)
      choice.seconds = *seconds, choice.tile = tile;
  }
  return choice;
}

void GpuCutChooser::chooseFor(size_t number) {
  BlockOp leaf = leavesIn(graph)[number];
  bool isDerived = false;
  std::optional<etdg::Reduction> reduction = asOpenReduction(leaf, isDerived);
  if (!reduction)
    return;
  Location loc = leaf.getLoc();
  Choice choice;
  if (!reduction->isScan && leavesIdle(*reduction))
    choice = choose(number, *reduction);
  if (!choice.prices.empty()) {
    auto about = remark::RemarkOpts::name("cut-reduction").category("gpu");
    auto tell = choice.tile > 0 ? remark::passed(loc, about) : remark::missed(loc, about);
    tell << (choice.tile > 0 ? llvm::formatv("shares of {0} iterations", choice.tile).str() : std::string("all iterations in order"))
         << llvm::formatv(" (percent of the time of all in order, by iterations of a share: {0})", choice.prices).str();
  }
  if (choice.tile > 0)
    cutInto(*reduction, choice.tile);
  else if (isDerived)
    etdg::dropCombine(leaf);
}

void GpuCutChooser::run() {
  // From the last one on: a leaf becomes several, and those before keep their number.
  for (size_t number = leavesIn(graph).size(); number > 0; --number)
    chooseFor(number - 1);
}

namespace {
struct ETDGChooseCutsForGPU : ft::impl::ETDGChooseCutsForGPUBase<ETDGChooseCutsForGPU> {
  using ETDGChooseCutsForGPUBase::ETDGChooseCutsForGPUBase;
  void runOnOperation() override {
    FailureOr<GpuScheduleOptions> options = readGpuOptions(getOperation().getLoc(), target, machine, steps);
    if (failed(options))
      return signalPassFailure();
    options->multiprocessors = multiprocessors;
    if (!getOperation().isExternal() && planSeed == 0)
      GpuCutChooser(getOperation(), *options).run();
  }
};
} // namespace

std::unique_ptr<Pass> mlir::ft::createChooseCutsForGpu(const GpuScheduleOptions &options) {
  ETDGChooseCutsForGPUOptions pass;
  pass.target = options.target;
  pass.machine = machineAsText(options.machine);
  pass.multiprocessors = options.multiprocessors;
  pass.steps = stepsAsText(options.steps).str();
  pass.planSeed = options.planSeed;
  return createETDGChooseCutsForGPU(pass);
}
