//===- GpuPlanner.h - chooses how a GPU runs nests --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two forms of a kernel: independent thread blocks, each with its points of
// the free dimensions (`planBlocks`); or steps that the whole grid takes
// together (`planSteps`). GpuForms.cpp decides which, and with what guard.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_PLAN_GPUPLANNER_H
#define FT_SCHEDULE_GPU_PLAN_GPUPLANNER_H

#include "ft/Schedule/GPU/Plan/GpuPlan.h"

#include <random>

namespace mlir::ft::schedule {

struct ProductWork;
struct ProductTasks;

/// What the rows of leaves are in a kernel of independent thread blocks: points of the kernel's nest, or those of nests in its body.
enum class RowsOf { Kernel, Body };

/// How thread blocks wait for each other around a nest that is planned.
struct TileWaits {
  bool alone = false;   // they do: an SM has one
  bool inSteps = false; // after each of the steps in which the nest's points are dealt
  int64_t beside = 1;   // nests of the kernel that share a step, this one included
};

class GpuPlanner {
public:
  explicit GpuPlanner(const GpuScheduleOptions &options)
      : options(options), machine(options.getMachine()), planning(machine.gpu), random(options.planSeed) {}

  /// A kernel of thread blocks that are independent of each other. `rows` gets the plan of
  /// rows in registers where the nest is one leaf that works so.
  FailureOr<GpuPlan> planBlocks(ArrayRef<BlockOp> nest, RowsOf rowsOf, std::optional<RowPlan> &rows);
  /// Whether both kinds of rows are possible, so that their prices decide.
  bool mayHaveRowsInside(ArrayRef<BlockOp> nest);
  bool drawStepLeaf() { return draw(2) == 0; }
  RowsOf drawRowsOf() { return draw(2) == 0 ? RowsOf::Kernel : RowsOf::Body; }
  /// The dimensions of a nest whose steps the whole grid takes; no columns and rows yet.
  GpuPlan sortDimensions(ArrayRef<BlockOp> nest);
  /// Whether the steps of such a plan have bounds outside of what is dealt.
  static bool hasStepBounds(ArrayRef<BlockOp> nest, const GpuPlan &plan);
  /// Completes plans of nests that are one kernel: columns, rows, threads, barriers.
  LogicalResult planSteps(ArrayRef<SmallVector<BlockOp>> nests, MutableArrayRef<GpuPlan> plans, const GpuPlace &place);
  /// A nest in the body of a block.
  GpuPlan planInside(ArrayRef<BlockOp> nest, const LeafContext &outside, const GpuPlace &place);

  /// Which forms a nest that is a kernel by itself takes, and for which lengths it takes steps.
  struct Forms {
    bool steps = false, blocks = false;
    bool isPriced = false; // blocks alone where they have tiles of products, and no higher price than steps
    std::optional<etdg::GuardAttr> guard; // where both
  };
  FailureOr<Forms> chooseForms(ArrayRef<BlockOp> nest, const GpuPlan &steps);

  /// Divides a leaf that runs in steps where its products need each other whole (DivideOnGrid.cpp).
  LogicalResult divideStep(Operation *item);
  /// Makes short nests part of the kernel of one beside them that the grid, or one thread block, runs in order (JoinShort.cpp).
  LogicalResult joinShortNests(Block &body);
  bool isShort(ArrayRef<BlockOp> nest) const;
  FailureOr<bool> isOrdered(ArrayRef<BlockOp> nest);

private:
  LogicalResult planRowLanes(BlockOp leaf, std::optional<unsigned> &row, std::optional<RowPlan> &rows);
  /// Completes the plan where most of the work is products of matrices; false where it is not. `shared` dimensions are steps, or loops around
  /// the nest, which all thread blocks take together.
  FailureOr<bool> planProducts(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, GpuPlan &plan, ArrayRef<unsigned> shared = {}, TileWaits waits = {});
  /// The same of a nest in whose steps the thread blocks share points, rows and columns, beside others of the kernel.
  LogicalResult planProductsInSteps(ArrayRef<BlockOp> nest, GpuPlan &plan, int64_t beside);
  /// What a nest of a kernel with shared loops does in an iteration of these, where nothing has to wait inside of it.
  LogicalResult planInStep(ArrayRef<BlockOp> nest, GpuPlan &plan, unsigned shared);
  FailureOr<ProductTasks> tileTasks(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, const GpuPlan &plan, const ProductWork &work, bool needsAll);
  FailureOr<ProductTasks> chooseTasks(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, const GpuPlan &plan, const ProductWork &work, bool needsAll);
  int64_t sideOfTile() const;
  void shrinkForMemory(int64_t rowBytes, int64_t stageBytes, int64_t &rows) const;
  FailureOr<Forms> chooseFormsOfLeaf(ArrayRef<BlockOp> nest, const GpuPlan &steps);
  LogicalResult shareColumns(ArrayRef<BlockOp> nest, GpuPlan &plan, bool privateRows);
  /// Reads that thread blocks keep over all steps, where shared memory holds them (StagedReads.cpp).
  LogicalResult stageReads(ArrayRef<SmallVector<BlockOp>> nests, MutableArrayRef<GpuPlan> plans);
  /// Those of one nest, and the bytes that a thread block needs for them.
  LogicalResult findStaged(ArrayRef<SmallVector<BlockOp>> nests, ArrayRef<BlockOp> nest, GpuPlan &plan, int64_t &bytes);
  int64_t chooseRows(ArrayRef<BlockOp> nest, unsigned dim);
  std::optional<unsigned> chooseRow(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free);
  int64_t threadsFor(int64_t elements, int64_t most);
  int64_t elementsOf(ArrayRef<BlockOp> nest) const;
  int64_t rowsInside(BlockOp body);
  bool areTasks(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free) const;
  std::optional<unsigned> chooseLift(ArrayRef<BlockOp> nest, unsigned shared);
  bool isResident(int64_t threads, int64_t blocks) const;
  etdg::ThreadBlockAttr makeBlock(MLIRContext *context, int64_t threads, int64_t resident, int64_t shared) const;

  bool draws() const { return options.planSeed != 0; }
  uint64_t draw(uint64_t below) { return random() % below; }

  const GpuScheduleOptions &options;
  const Machine &machine;
  const Machine::GpuPlanning &planning;
  std::mt19937_64 random;
};

/// Planes that a plan may count on: those along dimensions that it deals are all kept (`keepDealtPlanes`).
inline int64_t noPlanes(Value, unsigned) { return 0; }
/// Of a copy that stands in no module nothing is remarked: it may only be priced.
bool isTold(Operation *op);
/// Of loops in this order the first one whose range those outside of it don't bound; `known` gets those before it.
std::optional<unsigned> findUnbounded(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, llvm::SmallBitVector &known);
/// Dimensions that are `map` in all blocks and free.
bool isFreeMap(ArrayRef<BlockOp> nest, unsigned dim);
/// Whether a task of a plan with columns would read other tasks' columns. Its own loops leave only its own columns, and it waits for no other.
bool readsColumnsOfOthers(ArrayRef<BlockOp> nest, const GpuPlan &plan);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_PLAN_GPUPLANNER_H
