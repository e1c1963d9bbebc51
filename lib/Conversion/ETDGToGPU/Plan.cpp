//===- Plan.cpp - what the host does for a graph --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workspace and the launches, as expressions over the graph's names.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Conversion/LaunchPlan/Guards.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
namespace rt = ::ft::rt;

HostExpr GraphEmitter::hostExpr(AffineExpr expr, ArrayRef<StringAttr> names) {
  return toHostExpr(expr, names, symbols);
}

HostExpr GraphEmitter::hostLength(LengthAttr length) {
  return hostExpr(length.getExpr(), length.getNames());
}

HostExpr GraphEmitter::hostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes,
                                 RankedTensorType element) {
  return getHostBytes(lengths, planes, element, symbols);
}

/// A buffer of the plan in the workspace.
int64_t GraphEmitter::addWorkspace(HostExpr offset) {
  rt::Plan &plan = result.entry.plans.front();
  plan.buffers.push_back({rt::Buffer::workspace, 0, offset});
  return int64_t(plan.buffers.size()) - 1;
}

LogicalResult GraphEmitter::makeEntry() {
  FailureOr<rt::Entry> entry = ft::makeEntry(graph);
  if (failed(entry))
    return failure();
  result.entry = std::move(*entry);
  rt::Plan plan;
  plan.target = options.target;
  plan.variant = "generic";
  result.entry.plans.push_back(std::move(plan));
  return success();
}

LogicalResult GraphEmitter::collectBuffers() {
  rt::Plan &plan = result.entry.plans.front();
  auto describe = [&](Value value) -> CallBuffer & {
    auto type = cast<etdg::BufferType>(value.getType());
    CallBuffer &buffer = callBuffers[value];
    buffer.lengths = llvm::to_vector(type.getLengths());
    buffer.element = type.getElement();
    return buffer;
  };
  auto addArgument = [&](Value value, int64_t index) {
    plan.buffers.push_back({rt::Buffer::argument, index, 0});
    describe(value).planBuffer = int64_t(plan.buffers.size()) - 1;
  };
  for (BlockArgument argument : graph.getBody().getArguments()) {
    addArgument(argument, argument.getArgNumber());
    CallBuffer &buffer = callBuffers[argument];
    buffer.argument = argument.getArgNumber();
    buffer.stridedDims = getStridedDims(graph, buffer.argument);
  }
  Operation *terminator = graph.getBody().front().getTerminator();
  int64_t numArguments = graph.getArgumentTypes().size();
  for (auto [i, operand] : llvm::enumerate(terminator->getOperands()))
    addArgument(operand, numArguments + int64_t(i));
  for (Operation &op : graph.getBody().front()) {
    if (auto constant = dyn_cast<etdg::ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!dense)
        return constant.emitError("the GPU takes dense constants only");
      describe(constant.getResult()).constant = addConstant(dense);
    } else if (auto declared = dyn_cast<etdg::BufferOp>(op);
               declared && !callBuffers.contains(declared.getResult())) {
      CallBuffer &buffer = describe(declared.getResult());
      buffer.planes = llvm::to_vector(kept.declare(declared));
      buffer.planBuffer = addWorkspace(0);
      intermediates.push_back(declared.getResult());
    }
  }
  plan.buffers.push_back({rt::Buffer::error, 0, 0});
  errorBuffer = int64_t(plan.buffers.size()) - 1;
  graph.walk([&](etdg::BufferOp buffer) {
    if (!callBuffers.contains(buffer.getResult()))
      (void)kept.declare(buffer);
  });
  return success();
}

/// Intermediate buffers lie one after the other; those of one slot never live at once, and take the same
/// memory.
void GraphEmitter::placeIntermediates() {
  struct Slot {
    SmallVector<int64_t> buffers; // of the plan
    HostExpr bytes = 0;
  };
  llvm::MapVector<int64_t, Slot> slots;
  int64_t next = -1; // without a number from `etdg-storage`
  for (Value value : intermediates) {
    const CallBuffer &buffer = callBuffers.find(value)->second;
    auto given = value.getDefiningOp()->getAttrOfType<IntegerAttr>("etdg.slot");
    Slot &slot = slots[given ? given.getInt() : next--];
    HostExpr bytes = alignHostBytes(hostBytes(buffer.lengths, buffer.planes, buffer.element));
    slot.bytes = slot.buffers.empty() ? bytes : HostExpr::binary(HostExpr::max, slot.bytes, bytes);
    slot.buffers.push_back(buffer.planBuffer);
  }
  for (auto &[number, slot] : slots) {
    for (int64_t buffer : slot.buffers)
      result.entry.plans.front().buffers[buffer].offset = intermediateBytes;
    intermediateBytes = intermediateBytes + slot.bytes;
  }
}

HostExpr GraphEmitter::hostGuard(etdg::GuardAttr guard) { return getHostGuard(guard, symbols); }

/// The launch, now that the kernel's arguments and memory are known.
void GraphEmitter::addLaunch(StringRef name, HostExpr tasks, bool shrinks) {
  rt::Plan &plan = result.entry.plans.front();
  // Memory for each block of threads bounds how many there are; blocks loop over tasks.
  constexpr int64_t largestGrid = int64_t(1) << 30; // that a launch may have, below 2^31
  int64_t most = blockParts.empty() ? largestGrid : multiprocessors * machine.gpu.workspaceBlocksPerUnit;
  HostExpr grid = HostExpr::binary(HostExpr::min, tasks, most);
  HostExpr bytes = intermediateBytes;
  for (const BlockPart &part : blockParts) {
    plan.buffers[part.planBuffer].offset = bytes;
    bytes = bytes + alignHostBytes(part.bytes * grid);
  }
  kernelBytes = HostExpr::binary(HostExpr::max, kernelBytes, bytes);
  rt::Step step;
  step.kind = rt::Step::launch;
  step.launched.kernel = int64_t(plan.kernels.size());
  step.launched.grid[0] = grid;
  step.launched.block[0] = threads.count;
  step.launched.sharedBytes = int64_t(llvm::alignTo(sharedUsed, 64)) + leafShared;
  step.launched.cooperative = cooperative;
  step.launched.shrinks = shrinks;
  step.launched.arguments = kernelArguments;
  plan.steps.push_back(std::move(step));
  plan.kernels.push_back(name.str());
  plan.workspaceBytes = kernelBytes;
}
