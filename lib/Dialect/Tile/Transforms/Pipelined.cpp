//===- Pipelined.cpp - kernels with roles, and how they are launched -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pipelined.h"

#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::tile;
namespace rt = ::ft::rt;

LogicalResult tile::eachPipelined(Operation *root, llvm::function_ref<LogicalResult(LLVM::LLVMFuncOp, PipelineAttr)> change) {
  WalkResult walked = root->walk([&](LLVM::LLVMFuncOp kernel) {
    auto pipeline = kernel->getAttrOfType<PipelineAttr>(tile::names::pipeline);
    return pipeline && failed(change(kernel, pipeline)) ? WalkResult::interrupt() : WalkResult::skip();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult tile::eachRoles(Operation *root, llvm::function_ref<LogicalResult(RolesOp)> change) {
  WalkResult walked = root->walk([&](RolesOp roles) { return failed(change(roles)) ? WalkResult::interrupt() : WalkResult::skip(); });
  return failure(walked.wasInterrupted());
}

bool tile::hasJoins(RolesOp roles) {
  return roles->walk([](JoinOp) { return WalkResult::interrupt(); }).wasInterrupted();
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
static LogicalResult changePlans(LLVM::LLVMFuncOp kernel, llvm::function_ref<LogicalResult(rt::Entry &, rt::Plan &, int64_t)> change) {
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  auto text = module ? module->getAttrOfType<StringAttr>(tile::names::plan) : StringAttr();
  if (!text)
    return success();
  rt::Json json;
  rt::Entry entry;
  rt::Status read = rt::Json::parse(std::string_view(text.getValue()), json);
  if (read.ok())
    read = rt::Entry::fromJson(json, /*numSections=*/0, entry);
  if (!read.ok())
    return module.emitError() << "'" << tile::names::plan << "' is no launch plan: " << read.message();
  for (rt::Plan &plan : entry.plans)
    for (auto [i, name] : llvm::enumerate(plan.kernels))
      if (name == kernel.getName() && failed(change(entry, plan, int64_t(i))))
        return failure();
  module->setAttr(tile::names::plan, StringAttr::get(kernel.getContext(), entry.toJson().dump(/*pretty=*/false)));
  return success();
}

static LogicalResult changeLaunches(LLVM::LLVMFuncOp kernel, llvm::function_ref<LogicalResult(rt::Launch &)> change) {
  return changePlans(kernel, [&](rt::Entry &, rt::Plan &plan, int64_t number) { return changeSteps(plan.steps, number, change); });
}

LogicalResult tile::addThreads(LLVM::LLVMFuncOp kernel, int64_t threads) {
  const StringRef limitName = NVVM::NVVMDialect::getMaxntidAttrName();
  auto limit = kernel->getAttrOfType<DenseI32ArrayAttr>(limitName);
  if (!limit || limit.empty())
    return kernel.emitError() << "a kernel with '" << tile::names::pipeline << "' says how many threads it has ('" << limitName << "')";
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

FailureOr<Value> tile::makeSharedMemory(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp kernel, int64_t bytes, int64_t alignment, int64_t most, int64_t &after) {
  constexpr StringLiteral memoryName = "ft_shared"; // all that the kernels of a module share within a block
  FailureOr<int64_t> begin = addSharedMemory(kernel, bytes, alignment, most, after);
  if (failed(begin))
    return failure();
  after = *begin + bytes;
  auto memory = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(kernel, StringAttr::get(b.getContext(), memoryName));
  if (!memory)
    return kernel.emitError() << "expected shared memory '" << memoryName << "' beside a kernel with roles";
  memory.setAlignment(std::max<uint64_t>(memory.getAlignment().value_or(1), uint64_t(alignment)));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), sharedSpace);
  Value all = LLVM::AddressOfOp::create(b, pointer, memoryName);
  return LLVM::GEPOp::create(b, pointer, b.getI8Type(), all, ArrayRef<LLVM::GEPArg>{int32_t(*begin)}).getResult();
}

/// Whether two buffers of a plan may have memory in common. What a kernel needs at the same time lies apart in the workspace, or begins at the same place.
static bool mayOverlap(const rt::Entry &entry, const rt::Buffer &one, const rt::Buffer &other) {
  if (one.kind != other.kind)
    return false;
  if (one.kind == rt::Buffer::workspace)
    return one.offset == other.offset;
  if (one.kind != rt::Buffer::argument || one.index == other.index)
    return one.index == other.index;
  return entry.arguments[size_t(one.index)].writeback == other.index || entry.arguments[size_t(other.index)].writeback == one.index;
}

bool tile::areApart(LLVM::LLVMFuncOp kernel, ArrayRef<unsigned> written) {
  bool areApart = false; // (as a launch says)
  LogicalResult changed = changePlans(kernel, [&](rt::Entry &entry, rt::Plan &plan, int64_t number) {
    return changeSteps(plan.steps, number, [&](rt::Launch &launch) {
      auto bufferOf = [&](size_t argument) -> const rt::Buffer & { return plan.buffers[size_t(launch.arguments[argument].buffer)]; };
      areApart = true;
      for (size_t one : written)
        for (size_t other = 0; other < launch.arguments.size(); ++other)
          if (other != one && launch.arguments[other].kind != rt::KernelArgument::integer && mayOverlap(entry, bufferOf(one), bufferOf(other)))
            return failure();
      return success();
    });
  });
  return succeeded(changed) && areApart;
}

/// Whether calls only read a buffer: constants, and arguments that are no results and share no result's memory.
static bool isInput(const rt::Entry &entry, const rt::Buffer &buffer) {
  auto isInPlace = [&](const rt::Argument &other) { return other.writeback == buffer.index; };
  return buffer.kind == rt::Buffer::constant ||
         (buffer.kind == rt::Buffer::argument && !entry.arguments[size_t(buffer.index)].output && llvm::none_of(entry.arguments, isInPlace));
}

bool tile::isNeverWritten(LLVM::LLVMFuncOp kernel, Value map) {
  auto made = map.getDefiningOp<TensorMapOp>();
  auto argument = made ? dyn_cast<BlockArgument>(made->getOperand(0)) : BlockArgument();
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return false;
  bool isRead = false; // (as a launch says)
  LogicalResult changed = changePlans(kernel, [&](rt::Entry &entry, rt::Plan &plan, int64_t number) {
    return changeSteps(plan.steps, number, [&](rt::Launch &launch) {
      isRead = isInput(entry, plan.buffers[size_t(launch.arguments[argument.getArgNumber()].buffer)]);
      return success(isRead);
    });
  });
  return succeeded(changed) && isRead;
}
