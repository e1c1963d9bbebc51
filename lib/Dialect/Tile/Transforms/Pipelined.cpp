//===- Pipelined.cpp - kernels with roles, and how they are launched -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pipelined.h"

#include "ft/Runtime/Bundle/LaunchPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::tile;
namespace rt = ::ft::rt;

LogicalResult tile::eachPipelined(Operation *root, llvm::function_ref<LogicalResult(LLVM::LLVMFuncOp, PipelineAttr)> change) {
  WalkResult walked = root->walk([&](LLVM::LLVMFuncOp kernel) {
    auto pipeline = kernel->getAttrOfType<PipelineAttr>(pipelineName);
    return pipeline && failed(change(kernel, pipeline)) ? WalkResult::interrupt() : WalkResult::skip();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult tile::eachRoles(Operation *root, llvm::function_ref<LogicalResult(RolesOp)> change) {
  WalkResult walked = root->walk([&](RolesOp roles) { return failed(change(roles)) ? WalkResult::interrupt() : WalkResult::skip(); });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static LogicalResult changeSteps(std::vector<rt::Step> &steps, int64_t kernel, llvm::function_ref<LogicalResult(rt::Launch &)> change) {
  for (rt::Step &step : steps) {
    if (step.kind == rt::Step::launch && step.launched.kernel == kernel && failed(change(step.launched)))
      return failure();
    if (failed(changeSteps(step.body, kernel, change)) || failed(changeSteps(step.otherwise, kernel, change)))
      return failure();
  }
  return success();
}

/// Changes the launches of a kernel in the plan of its module, if it has one.
static LogicalResult changePlans(LLVM::LLVMFuncOp kernel, llvm::function_ref<LogicalResult(rt::Plan &, int64_t)> change) {
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  const StringRef planName = TileDialect::PlanAttrHelper::getNameStr();
  auto text = module ? module->getAttrOfType<StringAttr>(planName) : StringAttr();
  if (!text)
    return success();
  rt::Json json;
  rt::Entry entry;
  rt::Status read = rt::Json::parse(std::string_view(text.getValue()), json);
  if (read.ok())
    read = rt::Entry::fromJson(json, /*numSections=*/0, entry);
  if (!read.ok())
    return module.emitError() << "'" << planName << "' is no launch plan: " << read.message();
  for (rt::Plan &plan : entry.plans)
    for (auto [i, name] : llvm::enumerate(plan.kernels))
      if (name == kernel.getName() && failed(change(plan, int64_t(i))))
        return failure();
  module->setAttr(planName, StringAttr::get(kernel.getContext(), entry.toJson().dump(/*pretty=*/false)));
  return success();
}

static LogicalResult changeLaunches(LLVM::LLVMFuncOp kernel, llvm::function_ref<LogicalResult(rt::Launch &)> change) {
  return changePlans(kernel, [&](rt::Plan &plan, int64_t number) { return changeSteps(plan.steps, number, change); });
}

LogicalResult tile::addThreads(LLVM::LLVMFuncOp kernel, int64_t threads) {
  const StringRef limitName = NVVM::NVVMDialect::getMaxntidAttrName();
  auto limit = kernel->getAttrOfType<DenseI32ArrayAttr>(limitName);
  if (!limit || limit.empty())
    return kernel.emitError() << "a kernel with '" << pipelineName << "' says how many threads it has ('" << limitName << "')";
  SmallVector<int32_t> more(limit.asArrayRef());
  more.front() += int32_t(threads);
  kernel->setAttr(limitName, DenseI32ArrayAttr::get(kernel.getContext(), more));
  return changeLaunches(kernel, [&](rt::Launch &launch) {
    std::optional<int64_t> own = launch.block[0].asConstant();
    launch.block[0] = own ? rt::Expr(*own + threads) : launch.block[0] + rt::Expr(threads);
    return success();
  });
}

FailureOr<int64_t> tile::addSharedMemory(LLVM::LLVMFuncOp kernel, int64_t bytes, int64_t alignment, int64_t most, int64_t after) {
  std::optional<int64_t> begin;
  LogicalResult changed = changeLaunches(kernel, [&](rt::Launch &launch) -> LogicalResult {
    std::optional<int64_t> own = launch.sharedBytes.asConstant();
    if (!own || (begin && *begin != int64_t(llvm::alignTo(*own, alignment))))
      return kernel.emitError("a kernel with roles has as much shared memory in each launch");
    begin = int64_t(llvm::alignTo(*own, alignment));
    launch.sharedBytes = rt::Expr(*begin + bytes);
    return success();
  });
  if (failed(changed))
    return failure();
  const int64_t first = begin.value_or(int64_t(llvm::alignTo(after, alignment)));
  if (most > 0 && first + bytes > most)
    return kernel.emitError() << "slots for operands take " << bytes << " bytes of shared memory after the " << first
                              << " that the kernel has otherwise: expected at most " << most << " together";
  return first;
}

FailureOr<std::pair<Value, int64_t>> tile::addErrorRecord(LLVM::LLVMFuncOp kernel) {
  int64_t own = 0;
  LogicalResult changed = changePlans(kernel, [&](rt::Plan &plan, int64_t number) {
    own = number;
    auto found = llvm::find_if(plan.buffers, [](const rt::Buffer &buffer) { return buffer.kind == rt::Buffer::error; });
    rt::KernelArgument record;
    record.kind = rt::KernelArgument::pointer;
    record.buffer = int64_t(found - plan.buffers.begin());
    if (found == plan.buffers.end())
      plan.buffers.push_back({rt::Buffer::error, 0, 0});
    return changeSteps(plan.steps, number, [&](rt::Launch &launch) {
      launch.arguments.push_back(record);
      return success();
    });
  });
  if (failed(changed))
    return failure();
  constexpr unsigned globalSpace = 1;
  Block &body = kernel.getBody().front();
  Value record = body.addArgument(LLVM::LLVMPointerType::get(kernel.getContext(), globalSpace), kernel.getLoc());
  SmallVector<Attribute> attributes(body.getNumArguments(), DictionaryAttr::get(kernel.getContext()));
  if (ArrayAttr before = kernel.getArgAttrsAttr())
    llvm::copy(before, attributes.begin());
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(kernel.getContext()), llvm::to_vector(body.getArgumentTypes())));
  kernel.setArgAttrsAttr(ArrayAttr::get(kernel.getContext(), attributes));
  return std::pair(record, own);
}
