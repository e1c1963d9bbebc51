//===- KernelPrices.h - seconds that scheduled kernels take -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices what `etdg-schedule-for-gpu` has written, from the schedules and layouts
// alone, at typical lengths: launches, barriers of the grid, and of each step what
// the thread blocks with the most tasks do. A loop nest of a leaf takes as long
// as its loads wait for each other, or as its multiply-adds and bytes take where
// that is longer. For comparing forms of a graph with each other.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_PRICES_KERNELPRICES_H
#define FT_SCHEDULE_GPU_PRICES_KERNELPRICES_H

#include "ft/Schedule/GPU/Prices/ReadSources.h"

#include "ft/Schedule/GPU/Plan/GpuPlan.h"
#include "ft/Schedule/Analysis/TypicalRanges.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

namespace mlir::ft::schedule {

/// While it lives, what this thread says of forms that are only priced is heard by nothing; what other threads say of their graphs is.
class QuietForms : public ScopedDiagnosticHandler {
public:
  explicit QuietForms(MLIRContext *context)
      : ScopedDiagnosticHandler(context, [own = llvm::get_threadid()](Diagnostic &) { return success(llvm::get_threadid() == own); }) {}
};

/// What a kernel costs, and the figures that explain it.
struct KernelPrice {
  double seconds = 0;
  double steps = 0, barriers = 0; // of the grid
  double resident = 0, shared = 0; // thread blocks on an SM, and about how many bytes of shared memory each has, of the last nest
  double tasks = 0, registers = 0; // of the nest that has most of them; registers of a thread block
  unsigned products = 0;           // leaves that tiles of products compute
};

/// What a graph costs as `etdg-schedule-for-gpu` will schedule it, tried on a copy, at these lengths and typical ones of others; nothing where a GPU
/// can't run it, or the model has no price for it.
std::optional<double> priceAsScheduled(etdg::GraphOp graph, const GpuScheduleOptions &options, ArrayRef<std::pair<StringAttr, int64_t>> lengths = {});

/// What a task takes for a loop nest of a leaf.
struct LoopsPrice {
  BlockOp leaf;
  unsigned nest = 0;
  double rows = 1, columns = 1;
  double waits = 0, computing = 0, moving = 0; // seconds, of a thread block alone
};

class KernelPrices {
public:
  using Listener = std::function<void(const LoopsPrice &)>;
  /// Is told of each loop nest when it is first met.
  void listen(Listener to) { listener = std::move(to); }

  /// At typical lengths, and `lengths` in the place of some.
  KernelPrices(etdg::GraphOp graph, const GpuScheduleOptions &options, ArrayRef<std::pair<StringAttr, int64_t>> lengths = {})
      : ranges(graph, lengths), options(options), machine(options.getMachine()), graph(graph) {}
  /// All kernels of the graph, one after the other.
  FailureOr<KernelPrice> priceGraph();
  /// One of them.
  FailureOr<KernelPrice> priceItem(Operation &item);
  TypicalRanges &getRanges() { return ranges; }
  /// Prices from now on are for these lengths, and typical ones of others.
  void setLengths(ArrayRef<std::pair<StringAttr, int64_t>> lengths) { ranges = TypicalRanges(graph, lengths); }

private:
  /// What one thread block does: how long it takes alone, how much of its multiprocessor's time that is, and by how much it takes longer than
  /// that because its threads are too few to use the SM while they compute: then others compute beside them, and disturb nothing.
  struct TaskCost {
    double seconds = 0, busy = 0, beside = 0;
    void add(const TaskCost &other, double times) {
      seconds += times * other.seconds;
      busy += times * other.busy;
      beside += times * other.beside;
    }
  };
  /// Where the code is: values of dimensions, and what surrounds leaves in the plan of the kernel's nest.
  struct Place {
    SmallVector<std::optional<int64_t>> dims;
    LeafContext context;
    double rows = 1;
    double columns = 1; // the part of the leaves' columns that a task has
    int64_t resident = 1;
    ReadPlace reads;
    /// Bytes that the tasks of an SM go through for each row, and that its nearest cache has left for them.
    double passing = 0, near = 0, shared = 0;
    double registers = 0; // of a thread block
  };
  /// Points of one step that are dealt.
  struct Points {
    double tiles = 0, rows = 1;
  };

  FailureOr<KernelPrice> priceBody(Block &body);
  FailureOr<KernelPrice> priceKernel(Operation &item);
  FailureOr<KernelPrice> priceVariants(etdg::VariantsOp variants);
  LogicalResult makeFormsOfColumns(ArrayRef<BlockOp> nest, const Place &place);
  LogicalResult settle(ArrayRef<BlockOp> nest, const GpuPlan &plan, Place &place);
  LogicalResult addNest(ArrayRef<BlockOp> nest, const GpuPlan &plan, unsigned shared, KernelPrice &total);
  LogicalResult addSteps(ArrayRef<BlockOp> nest, const GpuPlan &plan, unsigned step, Place &place, double weight, KernelPrice &total);
  LogicalResult addStep(ArrayRef<BlockOp> nest, const GpuPlan &plan, Place place, double weight, KernelPrice &total);
  void countPoints(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, std::optional<unsigned> row, Place &place, double weight, Points &points);
  double countIterations(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, Place &place);
  FailureOr<TaskCost> costOfRegions(ArrayRef<BlockOp> nest, const GpuPlan &plan, ArrayRef<unsigned> dealt, const Place &place);
  FailureOr<TaskCost> costOfNest(ArrayRef<BlockOp> nest, ArrayRef<unsigned> inner, Place place);
  FailureOr<TaskCost> costOfBody(BlockOp block, const Place &place);
  FailureOr<TaskCost> costOfInside(ArrayRef<BlockOp> nest, const GpuPlace &where, const Place &outside);
  FailureOr<TaskCost> costOfLeaf(BlockOp leaf, const Place &place);
  TaskCost costOfLoops(const LeafForm &form, unsigned number, Attribute layout, bool isRowWise, const Place &place);
  TaskCost costOfChain(const LeafForm &form, tile::ChainAttr layout, bool isRowWise, const Place &place);
  TaskCost costOfJoined(const LeafForm &form, unsigned number, tile::ProductAttr layout, bool isRowWise, const Place &place);
  TaskCost costOfFused(const LeafForm &form, unsigned number, bool isRowWise, const Place &place);
  Source metBefore(BlockOp leaf, unsigned read, const Place &place);
  bool isRowWiseAt(BlockOp leaf, const Place &place) const;
  FailureOr<LeafForm *> formOf(BlockOp leaf, const Place &place);
  /// Where a leaf's operands and the values between its loop nests lie.
  struct LeafBytes {
    double shared = 0, moved = 0; // moved: to the workspace and back
  };
  FailureOr<LeafBytes> bytesOfProducts(BlockOp leaf, const Place &place, double room);
  TaskCost costOfRows(BlockOp leaf, const Place &place);
  double rateOf(Source source) const;
  double secondsBeside(const TaskCost &cost, double tasks, bool isDealt, double resident);
  static double secondsOfTasks(const TaskCost &cost, double tasks, double resident);

  TypicalRanges ranges;
  const GpuScheduleOptions &options;
  const Machine &machine;
  etdg::GraphOp graph;
  /// What was dealt since thread blocks of the kernel waited.
  struct Dealt {
    double tasks = 0, seconds = 0;
  };
  SmallVector<Dealt> dealtBefore; // by sampled step
  size_t sample = 0;         // the step at hand
  llvm::DenseMap<Operation *, double> movedBetween; // bytes, by leaf, between its loop nests
  /// Of the nest at hand.
  llvm::DenseMap<Operation *, std::shared_ptr<LeafForm>> forms;
  /// A leaf's form does not depend on lengths: it is made once.
  struct KnownForm {
    SmallVector<bool> ofRows;
    std::shared_ptr<LeafForm> form;
  };
  llvm::DenseMap<Operation *, SmallVector<KnownForm, 1>> known;
  llvm::DenseMap<Operation *, std::shared_ptr<LeafForm>> knownColumns; // whose columns thread blocks share, as the leaf's nest says
  void tell(const LoopsPrice &price) {
    if (isTelling)
      listener(price);
  }
  llvm::DenseMap<Value, Operation *> met; // buffers that the task at hand has read, and the first leaf that did
  Listener listener;
  bool isTelling = false;
  llvm::DenseSet<Operation *> told; // leaves
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_PRICES_KERNELPRICES_H
