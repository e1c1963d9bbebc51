//===- PriceForGpu.cpp - what a scheduled graph takes on a GPU ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prices by which forms are chosen, of a graph as it is scheduled: who wonders
// at a choice, or compares prices with times, reads them here.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Prices/KernelPrices.h"

#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGPRICEFORGPU
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

static constexpr double micro = 1e6; // in a second

static void tell(Location loc, StringRef name, const std::string &text) {
  remark::analysis(loc, remark::RemarkOpts::name(name).category("gpu")) << text;
}

static std::string describe(const LoopsPrice &price) {
  return llvm::formatv("loop nest {0} of @{1}, {2} rows, {3} of the columns: {4:F3} us waiting, {5:F3} us computing, {6:F3} us reading", price.nest,
                       BlockOp(price.leaf).getBlockName().value_or("?"), price.rows, price.columns, price.waits * micro, price.computing * micro,
                       price.moving * micro)
      .str();
}

namespace {
struct ETDGPriceForGPU : ft::impl::ETDGPriceForGPUBase<ETDGPriceForGPU> {
  using ETDGPriceForGPUBase::ETDGPriceForGPUBase;
  void runOnOperation() override {
    etdg::GraphOp graph = getOperation();
    FailureOr<GpuScheduleOptions> options = readGpuOptions(graph.getLoc(), target, machine, "choose");
    FailureOr<NamedLengths> named = readLengths(graph.getLoc(), lengths);
    if (failed(options) || failed(named))
      return signalPassFailure();
    options->multiprocessors = multiprocessors;
    if (graph.isExternal())
      return;
    KernelPrices prices(graph, *options, *named);
    if (leaves)
      prices.listen([](const LoopsPrice &price) { tell(price.leaf->getLoc(), "leaf-price", describe(price)); });
    double all = 0;
    for (Operation &item : graph.getBody().front()) {
      if (!isa<etdg::VariantsOp, etdg::KernelOp, etdg::NestOp, BlockOp>(item))
        continue;
      FailureOr<KernelPrice> price = prices.priceItem(item);
      if (failed(price))
        return signalPassFailure();
      all += price->seconds;
      tell(item.getLoc(), "price",
           llvm::formatv("{0:F1} us: {1:F0} steps and {2:F0} barriers of the grid, {3:F0} thread blocks on an SM, {4:F0} bytes of shared memory each, {5} leaves in tiles of products",
                         price->seconds * micro, price->steps, price->barriers, price->resident, price->shared, price->products).str());
    }
    tell(graph.getLoc(), "price-of-all", llvm::formatv("{0:F1} us", all * micro).str());
  }
};
} // namespace
