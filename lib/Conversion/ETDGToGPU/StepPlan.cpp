//===- StepPlan.cpp - which nests the whole grid runs step by step --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the dimensions of scheduled nests into steps, tasks and what a task runs
// in order, and decides between the two forms of a kernel: steps of the grid
// (Steps.cpp) and independent blocks of threads (ETDGToGPU.cpp).
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using schedule::boundsOf;
using schedule::DimBounds;
using schedule::isFreeDimension;
using schedule::leavesOf;

//===----------------------------------------------------------------------===//
// What becomes a kernel
//===----------------------------------------------------------------------===//

/// The schedule of a nest, where it is in applied form.
static etdg::ScheduleAttr appliedSchedule(ArrayRef<BlockOp> nest) {
  BlockOp front = nest.front();
  etdg::ScheduleAttr schedule = front.getScheduleAttr();
  if (etdg::NestOp parent = front.getNest(); parent && parent.getScheduleAttr())
    schedule = parent.getScheduleAttr();
  if (!schedule)
    return nullptr;
  AffineMap map = schedule.getMap().getValue();
  if (map.isIdentity() && map.getNumResults() == front.getNumOwnDims())
    return schedule;
  remark::missed(front.getLoc(), remark::RemarkOpts::name("gpu-schedule").category("gpu"))
      << "the schedule is not in applied form: the nest runs in lexicographic order";
  return nullptr;
}

StepNest GraphEmitter::planNest(ArrayRef<BlockOp> nest) {
  StepNest plan;
  plan.blocks.assign(nest.begin(), nest.end());
  BlockOp front = nest.front();
  unsigned numDims = front.getNumDims();
  SmallVector<bool> free(numDims), parallel(numDims);
  for (unsigned d = 0; d < numDims; ++d) {
    bool map = llvm::all_of(
        nest, [&](BlockOp block) { return block.getOperator(d) == OperatorKind::Map; });
    free[d] = parallel[d] = map && isFreeDimension(nest, d);
  }
  if (etdg::ScheduleAttr schedule = appliedSchedule(nest)) {
    SmallVector<bool> sequential(numDims);
    for (etdg::LoopAttr loop : schedule.getLoops())
      sequential[loop.getDimension()] |= loop.getKind() == etdg::LoopKind::Sequential;
    for (unsigned d = 0; d < numDims && !schedule.getLoops().empty(); ++d)
      parallel[d] = free[d] || !sequential[d];
    plan.scheduled = !schedule.getLoops().empty();
  }
  // Steps come first; a parallel dimension inside of one that each task runs in order is part
  // of what the task runs.
  bool inside = false;
  for (unsigned d = 0; d < numDims; ++d) {
    inside |= !parallel[d] &&
              llvm::any_of(ArrayRef(parallel).take_front(d), [](bool p) { return p; }) &&
              !llvm::all_of(llvm::seq(d), [&](unsigned e) { return !parallel[e] || free[e]; });
    if (free[d])
      plan.flat.push_back(d);
    else if (inside)
      plan.inner.push_back(d);
    else
      (parallel[d] ? plan.flat : plan.steps).push_back(d);
  }
  // A range that depends on another parallel dimension is known only inside of that.
  SmallVector<unsigned> flat;
  auto isAskedFor = [&](unsigned d) {
    for (unsigned other : plan.flat)
      for (BlockOp block : nest) {
        DimBounds bounds = boundsOf(block, other);
        if (other != d &&
            (llvm::any_of(bounds.lowers, [&](AffineExpr e) { return e.isFunctionOfDim(d); }) ||
             llvm::any_of(bounds.uppers, [&](AffineExpr e) { return e.isFunctionOfDim(d); })))
          return true;
      }
    return false;
  };
  for (unsigned d : plan.flat)
    (isAskedFor(d) ? plan.outer : flat).push_back(d);
  plan.flat = flat;
  SmallVector<unsigned> freeDims;
  for (unsigned d : plan.flat)
    if (free[d])
      freeDims.push_back(d);
  plan.rowDim = schedule::chooseRowDimension(nest, freeDims);
  return plan;
}

std::vector<GraphEmitter::Kernel> GraphEmitter::planKernels() {
  std::vector<Kernel> kernels;
  for (Operation &op : graph.getBody().front()) {
    if (auto grouped = dyn_cast<etdg::KernelOp>(op)) {
      Kernel kernel;
      for (ArrayRef<BlockOp> nest : etdg::getNests(grouped.getBody()))
        kernel.nests.push_back(planNest(nest));
      kernel.shared = unsigned(grouped.getShared());
      kernel.grouped = kernel.nests.size() > 1;
      if (!kernel.nests.empty())
        kernels.push_back(std::move(kernel));
    } else if (auto nest = dyn_cast<etdg::NestOp>(op)) {
      kernels.emplace_back();
      kernels.back().nests.push_back(planNest(llvm::to_vector(nest.getBody().getOps<BlockOp>())));
    } else if (auto block = dyn_cast<BlockOp>(op)) {
      kernels.emplace_back();
      kernels.back().nests.push_back(planNest({block}));
    }
  }
  for (Kernel &kernel : kernels) {
    if (!kernel.grouped) {
      kernel.shared = kernel.nests.front().steps.size();
      continue;
    }
    // Nests share their first dimensions as loops, even those that are parallel.
    for (StepNest &nest : kernel.nests)
      for (unsigned d = 0; d < kernel.shared; ++d) {
        for (auto *list : {&nest.outer, &nest.flat, &nest.inner})
          llvm::erase(*list, d);
        if (!llvm::is_contained(nest.steps, d))
          nest.steps.push_back(d);
        llvm::sort(nest.steps);
        if (nest.rowDim == d)
          nest.rowDim.reset();
      }
  }
  return kernels;
}

/// Points of one step run side by side: their planes must not fall on each other. What `live`
/// keeps of a dimension counts iterations that follow each other.
void GraphEmitter::keepConcurrentPlanes(ArrayRef<Kernel> kernels) {
  for (const Kernel &kernel : kernels)
    for (const StepNest &nest : kernel.nests)
      for (BlockOp block : nest.blocks)
        for (BlockOp leaf : leavesOf(block)) {
          auto keep = [&](Value buffer, AffineMap map) {
            auto found = callBuffers.find(buffer);
            if (found == callBuffers.end())
              return;
            for (auto [p, planes] : llvm::enumerate(found->second.planes))
              for (auto *list : {&nest.outer, &nest.flat})
                for (unsigned d : *list)
                  if (map.getResult(p).isFunctionOfDim(d))
                    planes = 0;
          };
          for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
            keep(leaf.getBuffers()[leaf.getWrite(i).getOperand()],
                 leaf.getWrite(i).getMap().getValue());
          for (unsigned i = 0; i < leaf.getNumReads(); ++i)
            for (etdg::PieceAttr piece : leaf.getRead(i).getPieces())
              if (piece.getKind() == etdg::SourceKind::Buffer)
                keep(leaf.getBuffers()[piece.getOperand()], piece.getMap().getValue());
        }
}

/// Finds columns that blocks of threads can share, the same number in all regions of the nest.
LogicalResult GraphEmitter::shareColumns(StepNest &nest) {
  nest.columns = 0;
  int64_t bytes = 1;
  for (BlockOp block : nest.blocks) {
    SmallVector<LeafForm *> forms;
    for (BlockOp leaf : leavesOf(block)) {
      bool rowWise = nest.rowDim && isUniform(leaf, *nest.rowDim);
      FailureOr<LeafForm *> form = leafForm(leaf, nest.rowDim, rowWise);
      if (failed(form))
        return failure();
      forms.push_back(*form);
      for (const leaf::Buffer &buffer : (*form)->graph.buffers)
        bytes = std::max(bytes, bytesOf(buffer.elementType));
    }
    int64_t columns = togpu::shareColumns(block, forms);
    if (columns == 0 || (nest.columns != 0 && columns != nest.columns)) {
      nest.columns = 0;
      return success();
    }
    nest.columns = columns;
  }
  // What 32 bytes hold is moved together.
  nest.unit = std::max<int64_t>(32 / bytes, 1);
  while (nest.columns % nest.unit != 0)
    nest.unit /= 2;
  return success();
}

/// Iterations of the free dimensions: what the kernel without steps runs in parallel.
HostExpr GraphEmitter::freeTasks(const StepNest &nest) {
  HostExpr tasks = 1;
  for (unsigned d : nest.flat)
    if (isFreeDimension(nest.blocks, d)) {
      auto [lower, upper] = hostBounds(nest.blocks, d);
      tasks = tasks * HostExpr::binary(HostExpr::max, upper - lower, 0);
    }
  return tasks;
}

/// Bytes that all rows of a leaf read alike: weights.
static int64_t sharedReadBytes(const StepNest &nest) {
  int64_t most = 0;
  for (BlockOp block : nest.blocks) {
    int64_t bytes = 0;
    for (BlockOp leaf : leavesOf(block))
      for (unsigned i = 0; i < leaf.getNumReads(); ++i) {
        bool varies = false, buffers = false;
        for (etdg::PieceAttr piece : leaf.getRead(i).getPieces()) {
          buffers |= piece.getKind() == etdg::SourceKind::Buffer;
          varies |= nest.rowDim && piece.getKind() == etdg::SourceKind::Buffer &&
                    piece.getMap().getValue().isFunctionOfDim(*nest.rowDim);
        }
        auto type = cast<RankedTensorType>(leaf.getBody().getArgument(i).getType());
        if (buffers && !varies)
          bytes += type.getNumElements() * bytesOf(type.getElementType());
      }
    most = std::max(most, bytes);
  }
  return most;
}

LogicalResult GraphEmitter::emitPlanned(Kernel &kernel, StringRef name) {
  if (kernel.grouped)
    return emitStepKernel(kernel, name);
  StepNest &nest = kernel.nests.front();
  auto isFree = [&](unsigned d) { return isFreeDimension(nest.blocks, d); };
  bool anyFree = llvm::any_of(nest.flat, isFree);
  bool onlySteps = !nest.outer.empty() || !llvm::all_of(nest.flat, isFree);
  if (options.steps == GpuOptions::Steps::never || (nest.steps.empty() && !onlySteps))
    return emitKernel(nest.blocks, name);
  int64_t weights = sharedReadBytes(nest);
  bool always = options.steps == GpuOptions::Steps::always;
  if (!onlySteps) {
    // Only columns can be shared among more blocks than there are free iterations: a barrier
    // a step pays where that many read large operands.
    if (weights < machine.gpu.columnWeightBytes && !always)
      return emitKernel(nest.blocks, name);
    leafForms.clear();
    rowWiseBuffers.clear();
    if (failed(shareColumns(nest)))
      return failure();
    if (nest.columns == 0)
      return emitKernel(nest.blocks, name);
  }
  std::vector<::ft::rt::Step> &steps = result.entry.plans.front().steps;
  auto take = [&] {
    ::ft::rt::Step last = std::move(steps.back());
    steps.pop_back();
    return std::vector<::ft::rt::Step>{std::move(last)};
  };
  if (failed(emitStepKernel(kernel, (name + "_steps").str())))
    return failure();
  if (!anyFree || always)
    return success();
  // Both, and the host chooses: with enough free iterations nobody needs to wait.
  int64_t enough = multiprocessors * (onlySteps && weights >= machine.gpu.stepWeightBytes
                                        ? machine.gpu.stepWeightTasksPerUnit
                                        : machine.gpu.stepTasksPerUnit);
  ::ft::rt::Step branch;
  branch.kind = ::ft::rt::Step::branch;
  branch.condition = HostExpr(enough - 1) - freeTasks(nest);
  branch.body = take();
  if (failed(emitKernel(nest.blocks, name)))
    return failure();
  branch.otherwise = take();
  steps.push_back(std::move(branch));
  return success();
}
