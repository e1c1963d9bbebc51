//===- Partition.cpp - cuts a graph into kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass `etdg-partition`: which nests are one kernel, and how each edge waits.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Partition/Partition.h"
#include "ft/Partition/Passes.h"

#include "Modes.h"

#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Support/PartitionModes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGPARTITION
#include "ft/Partition/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::partition;

SmallVector<Group> partition::boundaries(const Items &items) {
  return llvm::map_to_vector<6>(llvm::seq<unsigned>(0, items.size()), [](unsigned number) { return Group{number}; });
}

namespace {
struct ETDGPartition : ft::impl::ETDGPartitionBase<ETDGPartition> {
  using ETDGPartitionBase::ETDGPartitionBase;

  void runOnOperation() override {
    etdg::GraphOp graph = getOperation();
    if (!isPartitionMode(mode)) {
      graph.emitError() << "etdg-partition: mode: expected " << partitionModesText << ", found '" << mode << "'";
      return signalPassFailure();
    }
    FailureOr<GpuScheduleOptions> options = readGpuOptions(graph.getLoc(), {target, machine, steps, int64_t(multiprocessors), uint64_t(planSeed)});
    if (failed(options))
      return signalPassFailure();
    if (graph.isExternal())
      return;
    Items items(graph);
    if (items.size() > 0)
      formKernels(graph, items, choose(items, *options));
    writeEdges(graph);
    graph->removeAttr(etdg::names::together);
    graph->setAttr(etdg::names::partitioned, StringAttr::get(&getContext(), mode));
  }

private:
  SmallVector<Group> choose(const Items &items, const GpuScheduleOptions &options) {
    if (planSeed != 0)
      return draw(items, planSeed);
    if (mode == boundaryMode)
      return boundaries(items);
    Prices prices(getOperation(), items, options, budget);
    if (mode == souffleMode)
      return followSouffle(getOperation(), items, prices, options);
    return chooseByPrice(getOperation(), items, prices, beam, longest);
  }
};
} // namespace
