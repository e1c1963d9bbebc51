//===- CpuBundle.cpp - graphs to the CPU code of bundles ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of the CPU engine behind the one signature that launch plans know,
// `void kernel(void **arguments)`: each gets a function that makes its
// environment and shares its tasks among the threads of the runtime's pool.
//
//===----------------------------------------------------------------------===//

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Engine/CPU/CpuBundle.h"
#include "ft/Engine/CPU/CpuProgram.h"
#include "ft/Target/Host/HostLibrary.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

namespace {

/// Writes the functions that launch plans call.
class Wrappers {
public:
  Wrappers(const CpuModule &lowered)
      : lowered(lowered), module(*lowered.module), b(module.getLoc(), module.getContext()),
        ptr(LLVM::LLVMPointerType::get(module.getContext())), i64(b.getI64Type()), i32(b.getI32Type()) {}

  /// The module is in the LLVM dialect. All that was there becomes internal.
  void write();
  static std::string getName(const CpuKernel &kernel) { return kernel.name + "_launch"; }

private:
  void writeOne(const CpuKernel &kernel);
  LLVM::LLVMFuncOp declare(StringRef name, ArrayRef<Type> inputs, Type result = nullptr) {
    b.setInsertionPointToEnd(module.getBody());
    return LLVM::LLVMFuncOp::create(
        b, name, LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(b.getContext()), inputs));
  }
  Value number(int64_t value) { return LLVM::ConstantOp::create(b, i64, value); }
  Value at(Value base, int64_t index, Type type) {
    return LLVM::GEPOp::create(b, ptr, type, base, ArrayRef<LLVM::GEPArg>{int32_t(index)});
  }
  Value address(LLVM::LLVMFuncOp function) { return LLVM::AddressOfOp::create(b, function); }

  const CpuModule &lowered;
  ModuleOp module;
  ImplicitLocOpBuilder b;
  Type ptr, i64, i32;
  LLVM::LLVMFuncOp parallelFor, parallelRegion, barrier, numThreads, wait;
};
} // namespace

void Wrappers::write() {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      function.setLinkage(LLVM::Linkage::Internal);
  parallelFor = declare("ft_parallel_for", {ptr, ptr, i64, i64});
  parallelRegion = declare("ft_parallel_region", {ptr, ptr});
  barrier = declare("ft_barrier", {});
  numThreads = declare("ft_num_threads", {}, i64);
  wait = declare("ft_wait_for_team", {ptr, i64});
  wait.setLinkage(LLVM::Linkage::Internal);
  b.setInsertionPointToEnd(wait.addEntryBlock(b));
  LLVM::CallOp::create(b, barrier, ValueRange{});
  LLVM::ReturnOp::create(b, ValueRange{});
  llvm::StringSet<> written;
  for (const CpuKernel &kernel : lowered.kernels) // equal ones have one function
    if (written.insert(kernel.name).second)
      writeOne(kernel);
}

/// Arguments: the error record, then what the slots of the kernel's environment hold.
void Wrappers::writeOne(const CpuKernel &kernel) {
  auto run = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name);
  auto count = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name + "_count");
  LLVM::LLVMFuncOp function = declare(getName(kernel), {ptr});
  Block *entry = function.addEntryBlock(b);
  auto addBlock = [&] { return b.createBlock(&function.getBody(), function.getBody().end()); };
  Block *launch = addBlock(), *check = addBlock(), *report = addBlock(), *first = addBlock(), *done = addBlock();

  b.setInsertionPointToEnd(entry);
  auto argument = [&](int64_t index, Type type) -> Value {
    return LLVM::LoadOp::create(b, type, LLVM::LoadOp::create(b, ptr, at(function.getArgument(0), index, ptr)));
  };
  int64_t numSlots = Environment::kFirstSymbol + kernel.slots.size();
  Value env = LLVM::AllocaOp::create(b, ptr, i64, number(numSlots), 8);
  Value errors = LLVM::AllocaOp::create(b, ptr, i64, number(4), 8);
  Value statistics = LLVM::AllocaOp::create(b, ptr, i64, number(1), 8);
  auto set = [&](int64_t slot, Value value) { LLVM::StoreOp::create(b, value, at(env, slot, i64)); };
  LLVM::StoreOp::create(b, number(0), errors);
  LLVM::StoreOp::create(b, number(0), statistics);
  set(Environment::kThreads, LLVM::CallOp::create(b, numThreads, ValueRange{}).getResult());
  set(Environment::kError, errors);
  set(Environment::kBarrier, address(wait));
  set(Environment::kStatistics, statistics);
  for (unsigned i = 0; i < kernel.slots.size(); ++i)
    set(Environment::kFirstSymbol + i, argument(1 + i, i64));
  Value tasks = LLVM::CallOp::create(b, count, env).getResult();
  LLVM::CondBrOp::create(b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sgt, tasks, number(0)), launch, done);

  b.setInsertionPointToEnd(launch);
  if (kernel.team)
    LLVM::CallOp::create(b, parallelRegion, ValueRange{address(run), env});
  else
    LLVM::CallOp::create(b, parallelFor, ValueRange{address(run), env, tasks, number(1)});
  LLVM::BrOp::create(b, ValueRange{}, check);

  b.setInsertionPointToEnd(check);
  Value code = LLVM::LoadOp::create(b, i64, errors);
  LLVM::CondBrOp::create(b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, code, number(0)), report, done);

  // The first error of a call stays.
  b.setInsertionPointToEnd(report);
  Value record = argument(0, ptr);
  Value old = LLVM::LoadOp::create(b, i32, record);
  Value zero = LLVM::ConstantOp::create(b, i32, 0);
  LLVM::CondBrOp::create(b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, old, zero), first, done);

  b.setInsertionPointToEnd(first);
  int64_t index = llvm::find_if(lowered.kernels, [&](const CpuKernel &k) { return k.name == kernel.name; }) -
                  lowered.kernels.begin();
  LLVM::StoreOp::create(b, LLVM::ConstantOp::create(b, i32, int32_t(index)), at(record, 1, i32));
  // Of the kernel: code, block, value, bound. Of the record: code, kernel, then value and bound.
  for (int64_t i : {2, 3})
    LLVM::StoreOp::create(b, LLVM::LoadOp::create(b, i64, at(errors, i, i64)), at(record, i - 1, i64));
  LLVM::StoreOp::create(b, LLVM::ConstantOp::create(b, i32, 1), record);
  LLVM::BrOp::create(b, ValueRange{}, done);

  b.setInsertionPointToEnd(done);
  LLVM::ReturnOp::create(b, ValueRange{});
}

/// Kernels and wrappers in the LLVM dialect.
static FailureOr<CpuModule> lowerForTarget(etdg::GraphOp graph, StringRef target) {
  std::optional<CpuTarget> processor = getCpuTarget(target);
  if (!processor)
    return graph.emitError() << "no code can be made for the processor " << target << " here";
  CpuOptions options;
  options.target = *processor;
  FailureOr<CpuModule> lowered = lowerGraphToCpu(graph, options);
  if (failed(lowered))
    return failure();
  PassManager pm(graph.getContext());
  buildLeafToLLVMPipeline(pm);
  if (failed(pm.run(*lowered->module)))
    return failure();
  Wrappers(*lowered).write();
  if (failed(verify(*lowered->module)))
    return failure();
  return lowered;
}

FailureOr<OwningOpRef<ModuleOp>> mlir::ft::lowerToLibraryFunctions(etdg::GraphOp graph, StringRef target) {
  FailureOr<CpuModule> lowered = lowerForTarget(graph, target);
  if (failed(lowered))
    return failure();
  return std::move(lowered->module);
}

LogicalResult mlir::ft::addCpuPlan(etdg::GraphOp graph, StringRef target, rt::Bundle &bundle, rt::Entry &entry) {
  FailureOr<CpuModule> lowered = lowerForTarget(graph, target);
  if (failed(lowered))
    return failure();
  FailureOr<std::string> library = translateToLibrary(*lowered->module, target);
  if (failed(library))
    return failure();

  rt::Plan plan;
  plan.target = target.str();
  plan.variant = "generic";
  plan.modules.push_back(int64_t(bundle.sections.size()));
  bundle.sections.push_back({rt::Section::cpu, target.str(), std::move(*library)});

  // Buffers, by slot of the environment.
  ArrayRef<StringAttr> symbols = lowered->symbols;
  std::map<unsigned, int64_t> planBuffer;
  std::map<int64_t, std::pair<rt::Expr, SmallVector<int64_t>>> arena; // number to bytes and buffers of the plan
  rt::Expr bytes = 0;
  auto place = [&](const rt::Expr &size) {
    rt::Expr offset = bytes;
    bytes = bytes + alignHostBytes(size);
    return offset;
  };
  for (const CpuBuffer &buffer : lowered->buffers) {
    rt::Buffer made;
    rt::Expr size = getHostBytes(buffer.lengths, buffer.planes, buffer.element, symbols);
    switch (buffer.kind) {
    case CpuBuffer::Argument:
      made = {rt::Buffer::argument, buffer.index, 0};
      break;
    case CpuBuffer::Result:
      made = {rt::Buffer::argument, int64_t(graph.getArgumentTypes().size() + buffer.index), 0};
      break;
    case CpuBuffer::Intermediate:
      made = {rt::Buffer::workspace, 0, buffer.shared ? rt::Expr(0) : place(size)};
      break;
    case CpuBuffer::Constant:
    case CpuBuffer::Splat: {
      FailureOr<rt::HostArray> array = makeConstantArray(buffer, graph.getLoc());
      if (failed(array))
        return failure();
      made = {rt::Buffer::constant, int64_t(bundle.sections.size()), 0};
      bundle.sections.push_back(
          {rt::Section::data, "", std::string(static_cast<const char *>(array->data()), size_t(array->numBytes()))});
      break;
    }
    }
    planBuffer[buffer.slot] = int64_t(plan.buffers.size());
    if (buffer.shared) {
      auto [it, isNew] = arena.try_emplace(*buffer.shared, size, SmallVector<int64_t>());
      if (!isNew)
        it->second.first = rt::Expr::binary(rt::Expr::max, it->second.first, size);
      it->second.second.push_back(int64_t(plan.buffers.size()));
    }
    plan.buffers.push_back(made);
  }
  for (auto &[number, part] : arena) {
    rt::Expr offset = place(part.first);
    for (int64_t buffer : part.second)
      plan.buffers[size_t(buffer)].offset = offset;
  }
  plan.workspaceBytes = bytes;
  int64_t errorBuffer = int64_t(plan.buffers.size());
  plan.buffers.push_back({rt::Buffer::error, 0, 0});

  for (const CpuKernel &kernel : lowered->kernels) {
    rt::Step step;
    std::string name = Wrappers::getName(kernel);
    auto known = llvm::find(plan.kernels, name);
    step.launched.kernel = known - plan.kernels.begin();
    if (known == plan.kernels.end())
      plan.kernels.push_back(name);
    rt::KernelArgument error;
    error.kind = rt::KernelArgument::pointer;
    error.buffer = errorBuffer;
    step.launched.arguments.push_back(error);
    for (unsigned slot : kernel.slots) {
      rt::KernelArgument argument;
      unsigned symbol = slot - Environment::kFirstSymbol;
      if (symbol < symbols.size()) {
        argument.value = rt::Expr::var(symbol);
      } else {
        argument.kind = rt::KernelArgument::pointer;
        argument.buffer = planBuffer.at(slot);
      }
      step.launched.arguments.push_back(argument);
    }
    plan.steps.push_back(std::move(step));
  }
  entry.plans.push_back(std::move(plan));
  return success();
}
