//===- Plan.cpp - what the host does for kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers, the workspace and the launches, as expressions over names of lengths.
//
//===----------------------------------------------------------------------===//
#include "KernelBuilder.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Conversion/LaunchPlan/Guards.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
namespace rt = ::ft::rt;

HostExpr KernelBuilder::hostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes,
                                 RankedTensorType element) {
  return getHostBytes(lengths, planes, element, symbols);
}

void KernelBuilder::begin(rt::Entry entry) {
  result.entry = std::move(entry);
  rt::Plan plan;
  plan.target = options.target;
  plan.variant = "generic";
  result.entry.plans.push_back(std::move(plan));
  result.module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(result.module->getBody());
  // Shared memory is one array whose size the launch gives.
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, bytes, /*isConstant=*/false, LLVM::Linkage::External, "ft_shared", Attribute(),
                         /*alignment=*/accessBytes, shared);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

CallBuffer &KernelBuilder::describe(Value value, ArrayRef<LengthAttr> lengths, RankedTensorType element) {
  CallBuffer &buffer = callBuffers[value];
  buffer.lengths = llvm::to_vector(lengths);
  buffer.element = element;
  return buffer;
}

void KernelBuilder::addArgument(CallBuffer &buffer, int64_t number) {
  plan().buffers.push_back({rt::Buffer::argument, number, 0});
  buffer.planBuffer = int64_t(plan().buffers.size()) - 1;
}

void KernelBuilder::addIntermediate(Value value, ArrayRef<int64_t> planes, std::optional<int64_t> slot) {
  CallBuffer &buffer = callBuffers.find(value)->second;
  buffer.planes = llvm::to_vector(planes);
  buffer.planBuffer = addWorkspace(0);
  intermediates.add(buffer.planBuffer, hostBytes(buffer.lengths, buffer.planes, buffer.element), slot);
}

LogicalResult KernelBuilder::addCallConstant(Operation *op, CallBuffer &buffer, Attribute value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return op->emitError("the GPU takes dense constants only");
  buffer.constant = addConstant(dense);
  return success();
}

void KernelBuilder::addErrorBuffer() {
  plan().buffers.push_back({rt::Buffer::error, 0, 0});
  errorBuffer = int64_t(plan().buffers.size()) - 1;
}

/// A buffer of the plan in the workspace.
int64_t KernelBuilder::addWorkspace(HostExpr offset) {
  plan().buffers.push_back({rt::Buffer::workspace, 0, offset});
  return int64_t(plan().buffers.size()) - 1;
}

void KernelBuilder::placeIntermediates() { kernelBytes = plan().workspaceBytes = intermediateBytes = intermediates.place(plan()); }

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::vector<rt::Step> KernelBuilder::takeSteps(size_t before) {
  std::vector<rt::Step> &steps = plan().steps;
  std::vector<rt::Step> taken(std::make_move_iterator(steps.begin() + before), std::make_move_iterator(steps.end()));
  steps.resize(before);
  return taken;
}

HostExpr KernelBuilder::hostGuard(etdg::GuardAttr guard) { return getHostGuard(guard, symbols); }

/// The launch, now that the kernel's arguments and memory are known.
void KernelBuilder::addLaunch(StringRef name, HostExpr blocks, bool shrinks) {
  HostExpr bytes = intermediateBytes;
  for (const BlockPart &part : blockParts) {
    plan().buffers[part.planBuffer].offset = bytes;
    bytes = bytes + alignHostBytes(part.bytes * blocks);
  }
  kernelBytes = HostExpr::binary(HostExpr::max, kernelBytes, bytes);
  rt::Step step;
  step.kind = rt::Step::launch;
  step.launched.kernel = int64_t(plan().kernels.size());
  step.launched.grid[0] = blocks;
  step.launched.block[0] = threads.count;
  step.launched.sharedBytes = sharedBytes;
  step.launched.cooperative = cooperative;
  step.launched.shrinks = shrinks;
  step.launched.arguments = kernelArguments;
  plan().steps.push_back(std::move(step));
  plan().kernels.push_back(name.str());
  plan().workspaceBytes = kernelBytes;
}
