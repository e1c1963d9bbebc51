//===- GpuPlan.h - how a GPU runs a nest ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest's own dimensions, outermost first:
//
//   steps   sequential loops that all thread blocks take together; after an
//           iteration they may wait for each other (`sync = grid`)
//   outer, flat   parallel loops whose points are dealt to the thread blocks
//           (`level = grid`); ranges of others depend on the outer ones
//   columns the leaves' columns after the bar, dealt to them, too
//   inner   loops that one thread block runs in order
//   row     a flat dimension, points of which a leaf computes together (`level = rows`)
//   lift    a dimension that a leaf computes at once (`level = lifted`)
//
// Inside the body of a block one thread block runs all: there are inner loops,
// rows and lifts. A plan is written into the IR as a schedule, which the
// validator proves and from which the emitter reads it again.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_PLAN_GPUPLAN_H
#define FT_SCHEDULE_GPU_PLAN_GPUPLAN_H

#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"
#include "ft/Schedule/Options.h"

#include <optional>

namespace mlir::ft::schedule {

/// Rows of one call of a leaf, at most: a bound of what a schedule may say, whatever the machine. (How many pay on one say
/// `task_elements` and its neighbours.)
inline constexpr int64_t mostTaskRows = 4096;

struct GpuPlan {
  SmallVector<unsigned> steps;
  SmallVector<bool> waits; // by step: all thread blocks, after each iteration
  SmallVector<unsigned> outer, flat; // (flat without the row)
  SmallVector<unsigned> inner;
  std::optional<unsigned> row, lift;
  int64_t maxRows = 1;
  /// Points of the row that a task has: 0 where the code that deals them decides.
  int64_t rowTile = 0;
  int64_t columns = 0, unit = 1; // 0: leaves are not shared
  int64_t columnTile = 0;        // as `rowTile`
  SmallVector<etdg::PlacementAttr> placements; // reads that thread blocks keep (StagedReads.h)
  etdg::IterationMapping mapping = etdg::IterationMapping::Cyclic; // of points to thread blocks
  bool waitsBefore = false; // all thread blocks, before the nest
  bool products = false;    // made for tiles of products (not part of the schedule, whose leaves say so)
  etdg::ThreadBlockAttr block;

  /// Whether thread blocks wait for each other.
  bool isWaiting() const { return waitsBefore || llvm::is_contained(waits, true); }
  bool isDealt(unsigned dim) const {
    return row == dim || llvm::is_contained(outer, dim) || llvm::is_contained(flat, dim);
  }
};

/// Where a nest stands: all thread blocks are there (the nests of a kernel, which share their first
/// `shared` loops), or inside what one of them runs.
struct GpuPlace {
  bool isGrid = true;
  bool isGrouped = false;
  unsigned shared = 0;
  bool hasRows = false; // a dimension outside already serves as rows
};

/// A plan as a schedule of the nest.
etdg::ScheduleAttr toGpuSchedule(ArrayRef<BlockOp> nest, const GpuPlan &plan, const GpuPlace &place,
                                 StringRef target);
/// Makes it the nest's.
void setSchedule(ArrayRef<BlockOp> nest, etdg::ScheduleAttr schedule);

/// The plan that a binding schedule is. An error at the nest, with loop, level and limit, where it is none that a
/// GPU of this machine runs.
FailureOr<GpuPlan> readGpuPlan(ArrayRef<BlockOp> nest, const GpuPlace &place, const GpuScheduleOptions &options);
/// What only the nests of a kernel together can get wrong: barriers, thread blocks.
LogicalResult checkGpuKernel(ArrayRef<SmallVector<BlockOp>> nests, ArrayRef<GpuPlan> plans, const GpuPlace &place);

/// Between which nests of a kernel, in textual order, all thread blocks have to wait for each other.
struct GridWaits {
  SmallVector<bool> before; // by nest
  bool atEnd = false;       // of an iteration of the loops that the nests share
};
/// `shared` loops are around all of them, with a wait after an iteration of these.
GridWaits findGridWaits(ArrayRef<SmallVector<BlockOp>> nests, ArrayRef<bool> hasOwnSteps, unsigned shared);

/// What surrounds a leaf in a plan.
struct LeafContext {
  std::optional<unsigned> row, lift;
  int64_t maxRows = 1, lifts = 1;
  /// The leaf's buffers that differ from lift to lift, where no dimension of a block says that.
  SmallVector<bool> lifted;
  int64_t columns = 0, unit = 1, columnTile = 0;
  bool products = false; // the plan was made for tiles of products
  bool groups = true;    // warp groups may multiply them
  int64_t threads = 0;
  int64_t resident = 1; // thread blocks of an SM, where the leaf is all of the kernel's
  bool alone = false;   // thread blocks wait for each other: an SM has one
  int64_t stageBytes = 0; // of shared memory, for operands of products and values between loop nests; 0: two stages have room
  int64_t sums = etdg::ThreadBlockAttr::usualSums; // bytes for those that a thread leaves to others
  /// The blocks whose private buffers each row has for itself.
  SmallVector<BlockOp> rowOwner;

  bool isPerRow(Value buffer) const {
    Operation *definition = buffer.getDefiningOp();
    return definition && llvm::any_of(rowOwner, [&](BlockOp block) { return BlockOp(block)->isProperAncestor(definition); });
  }
};

/// Whether the nest is one leaf without a loop around it but those that are dealt: what its products keep in registers is all that is kept there.
bool isOneLeaf(ArrayRef<BlockOp> nest, const GpuPlan &plan);

/// Iterations of a dimension that every block bounds by constants; 0 where they do not.
int64_t constantExtent(ArrayRef<BlockOp> nest, unsigned dim, int64_t *lower = nullptr);
/// Whether a leaf may compute all iterations of the dimension at once.
bool canLift(ArrayRef<BlockOp> nest, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf);

/// The tilings of a leaf's nests in this context.
SmallVector<Attribute> chooseLayouts(const LeafForm &form, const LeafContext &context, bool rowWise,
                                     const Machine &machine);
/// Which tile context a nest of the leaf has, with its loops collapsed.
TileContext tileContextOf(const LeafForm &form, unsigned number, const LeafContext &context, bool rowWise,
                          leaf::Nest &collapsed);

/// The leaves of one block's body, by their operations, in the context of the nest's plan; with how they share
/// columns, where they do. An error where they can't share so many.
LogicalResult makeLeafForms(BlockOp block, const LeafContext &context, const Machine &machine,
                            llvm::function_ref<int64_t(Value, unsigned)> planesOf,
                            llvm::function_ref<LeafForm &(BlockOp)> formOf);

/// What of a thread block is beyond a machine, for a message; empty where nothing is.
std::string describeBeyond(etdg::ThreadBlockAttr block, const Machine &machine);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_PLAN_GPUPLAN_H
