//===- Scheduler.h - schedules and layouts for a GPU, item by item -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ScheduleForGpu.cpp writes what a plan says, KernelForms.cpp chooses between forms of a kernel.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_SCHEDULE_GPU_PLAN_SCHEDULER_H
#define FT_LIB_SCHEDULE_GPU_PLAN_SCHEDULER_H

#include "ft/Dialect/ETDG/IR/Variants.h"
#include "ft/Schedule/Analysis/FormGuards.h"
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

namespace mlir::ft::schedule {

using Nests = SmallVector<SmallVector<BlockOp>>;

/// The nests of a kernel, or the one that an item is.
Nests nestsOf(Operation *item);
/// Where they stand.
GpuPlace placeOf(Operation *item, const Nests &nests);
/// A variant of which some nest has two forms becomes two variants. Buffers stand outside of all.
void flattenVariants(etdg::VariantsOp variants);

struct StepForm;

class Scheduler {
public:
  Scheduler(etdg::GraphOp graph, const GpuScheduleOptions &options)
      : graph(graph), options(options), machine(options.getMachine()), planner(options) {}
  LogicalResult run();

private:
  /// Of a graph, or of one of several variants.
  LogicalResult scheduleBody(Block &body);
  LogicalResult scheduleItem(Operation *item);
  LogicalResult readItem(const Nests &nests, const GpuPlace &place);
  LogicalResult planGrouped(const Nests &nests, const GpuPlace &place);
  LogicalResult planItem(Operation *item);
  LogicalResult planAsItStands(Operation *item);
  LogicalResult planStepLeaf(Operation *item);
  bool prefersBlocks(Operation *item);
  /// Forms of steps, one for each guard and one elsewhere: the lengths that tiles of their products are for, or nothing where these are in none.
  struct StepChoice {
    SmallVector<std::optional<Lengths>> tiles;
    SmallVector<etdg::GuardAttr> guards;
  };
  StepChoice chooseStepForm(Operation *item);
  std::vector<StepForm> makeStepForms(Operation *item);
  std::vector<Lengths> lengthsOfTiles(Operation *item);
  std::vector<std::pair<StringAttr, int64_t>> namesOfRows(Operation *item);
  LogicalResult writeSteps(const Nests &nests, GpuPlan plan);
  LogicalResult writeBlocks(ArrayRef<BlockOp> nest, RowsOf rowsOf);
  LogicalResult writeBlocks(Operation *item);
  FormChoice chooseRowsOf(Operation *item);

  /// All inside the nests of a kernel; tells whether threads keep tiles of sums in registers.
  LogicalResult complete(const Nests &nests, ArrayRef<GpuPlan> plans, bool &usesTiles);
  LogicalResult complete(ArrayRef<BlockOp> nest, const LeafContext &context, bool &usesTiles);
  LogicalResult completeBody(Region &body, const LeafContext &context, bool &usesTiles);
  LogicalResult completeInside(ArrayRef<BlockOp> nest, const GpuPlace &place, const LeafContext &context, bool &usesTiles);
  LogicalResult layOut(BlockOp leaf, const LeafContext &context, bool &usesTiles);
  void keepDealtPlanes();

  etdg::GraphOp graph;
  const GpuScheduleOptions &options;
  const Machine &machine;
  GpuPlanner planner;
  llvm::DenseMap<Operation *, std::unique_ptr<LeafForm>> forms; // of the nest at hand
};

} // namespace mlir::ft::schedule

#endif // FT_LIB_SCHEDULE_GPU_PLAN_SCHEDULER_H
