//===- CpuBundle.cpp - graphs to the CPU code of bundles ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of the CPU engine after the one signature that launch plans know,
// `void kernel(void **arguments)`: each gets a function that makes its
// environment and shares its tasks among the threads of the runtime's pool.
//
//===----------------------------------------------------------------------===//

#include "ft/Engine/CPU/CpuBundle.h"

#include "ft-c/Runtime.h"
#include "ft/Conversion/LaunchPlan/Arena.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Conversion/LaunchPlan/Guards.h"
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Support/ArrayType.h"
#include "ft/Support/Interrupt.h"
#include "ft/Support/WholeFile.h"
#include "ft/Target/Host/HostLibrary.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

namespace {

/// A graph's kernels, in the module that all graphs share.
struct LoweredGraph {
  CpuModule lowered;
  std::string prefix; // of its symbols, where there are several graphs
  std::vector<std::string> launchers; // by kernel: the function that launch plans call
};

/// Writes the functions that launch plans call.
class Wrappers {
public:
  explicit Wrappers(ModuleOp module)
      : module(module), b(module.getLoc(), module.getContext()), ptr(LLVM::LLVMPointerType::get(module.getContext())),
        i64(b.getI64Type()), i32(b.getI32Type()) {}

  /// The module is in the LLVM dialect. All that was there becomes internal.
  void begin();
  void write(LoweredGraph &graph);

private:
  void writeOne(const CpuKernel &kernel, StringRef name, int64_t index);
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

  ModuleOp module;
  ImplicitLocOpBuilder b;
  Type ptr, i64, i32;
  llvm::StringSet<> taken;
  LLVM::LLVMFuncOp parallelFor, parallelRegion, barrier, numThreads, wait;
};
} // namespace

void Wrappers::begin() {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    taken.insert(function.getName());
    if (!function.isExternal())
      function.setLinkage(LLVM::Linkage::Internal);
  }
  parallelFor = declare("ft_parallel_for", {ptr, ptr, i64, i64});
  parallelRegion = declare("ft_parallel_region", {ptr, ptr});
  barrier = declare("ft_barrier", {});
  numThreads = declare("ft_num_threads", {}, i64);
  wait = declare("ft_wait_for_team", {ptr, i64});
  wait.setLinkage(LLVM::Linkage::Internal);
  b.setInsertionPointToEnd(wait.addEntryBlock(b));
  LLVM::CallOp::create(b, barrier, ValueRange{});
  LLVM::ReturnOp::create(b, ValueRange{});
}

void Wrappers::write(LoweredGraph &graph) {
  llvm::StringMap<std::string> written; // equal kernels have one function
  for (const CpuKernel &kernel : graph.lowered.kernels) {
    auto [it, isNew] = written.try_emplace(kernel.name);
    if (isNew) {
      std::string name = StringRef(kernel.name).drop_front(graph.prefix.size()).str() + "_launch";
      it->second = name;
      for (unsigned n = 1; !taken.insert(it->second).second; ++n)
        it->second = name + std::to_string(n);
      writeOne(kernel, it->second, int64_t(written.size()) - 1);
    }
    graph.launchers.push_back(it->second);
  }
}

/// Arguments: the error record, then what the slots of the kernel's environment hold. `index` is the
/// kernel's in the plan.
void Wrappers::writeOne(const CpuKernel &kernel, StringRef name, int64_t index) {
  auto run = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name);
  auto count = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name + "_count");
  LLVM::LLVMFuncOp function = declare(name, {ptr});
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
  LLVM::StoreOp::create(b, LLVM::ConstantOp::create(b, i32, int32_t(index)), at(record, 1, i32));
  // Of the kernel: code, block, value, bound. Of the record: code, kernel, then value, bound and block.
  for (auto [from, to] : {std::pair(2, 1), std::pair(3, 2), std::pair(1, 3)})
    LLVM::StoreOp::create(b, LLVM::LoadOp::create(b, i64, at(errors, from, i64)), at(record, to, i64));
  LLVM::StoreOp::create(b, LLVM::ConstantOp::create(b, i32, 1), record);
  LLVM::BrOp::create(b, ValueRange{}, done);

  b.setInsertionPointToEnd(done);
  LLVM::ReturnOp::create(b, ValueRange{});
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Puts `prefix` before the name of every symbol of the module, and of every reference to one.
static void prefixSymbols(ModuleOp module, StringRef prefix) {
  MLIRContext *context = module.getContext();
  auto rename = [&](StringAttr name) { return StringAttr::get(context, prefix + name.getValue()); };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr reference) -> Attribute {
    return FlatSymbolRefAttr::get(rename(reference.getAttr()));
  });
  module.walk([&](Operation *op) {
    if (op == module)
      return;
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      symbol.setName(rename(symbol.getNameAttr()));
    replacer.replaceElementsIn(op);
  });
}

/// Kernels and wrappers of all graphs, in one module in the LLVM dialect.
static FailureOr<OwningOpRef<ModuleOp>> lowerGraphs(ArrayRef<etdg::GraphOp> graphs, StringRef target,
                                                    CpuOptions options, std::vector<LoweredGraph> &lowered) {
  std::optional<CpuTarget> processor = getCpuTarget(target);
  if (!processor)
    return graphs.front()->emitError() << "no code can be made for the processor " << target << " here";
  options.target = *processor;
  OwningOpRef<ModuleOp> all = ModuleOp::create(wholeFile(graphs.front()->getLoc()));
  for (auto [i, graph] : llvm::enumerate(graphs)) {
    FailureOr<CpuModule> one = lowerGraphToCpu(graph, options);
    if (failed(one))
      return failure();
    std::string prefix;
    if (graphs.size() > 1) {
      prefix = "g" + std::to_string(i) + "_";
      prefixSymbols(*one->module, prefix);
      for (CpuKernel &kernel : one->kernels)
        kernel.name = prefix + kernel.name;
    }
    all->getBody()->getOperations().splice(all->getBody()->end(), one->module->getBody()->getOperations());
    lowered.push_back({std::move(*one), prefix, {}});
  }
  PassManager pm(all->getContext());
  // Once, after the last pass: each of them verifies as long as some of them run.
  pm.enableVerifier(false);
  if (options.configure)
    options.configure(pm);
  buildLeafToLLVMPipeline(pm);
  if (failed(verify(*all)) || failed(unlessInterrupted(pm.run(*all))))
    return failure();
  // A compilation that is cancelled runs no more passes: what they did not lower is no code.
  WalkResult lowers = all->walk([](Operation *op) {
    return isa<ModuleOp>(op) || isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()) ? WalkResult::advance()
                                                                                     : WalkResult::interrupt();
  });
  if (lowers.wasInterrupted())
    return emitError(all->getLoc()) << "the kernels are not in the LLVM dialect after the last pass";
  Wrappers wrappers(*all);
  wrappers.begin();
  for (LoweredGraph &graph : lowered)
    wrappers.write(graph);
  if (failed(verify(*all)))
    return failure();
  return std::move(all);
}

FailureOr<OwningOpRef<ModuleOp>> mlir::ft::lowerToLibraryFunctions(ArrayRef<etdg::GraphOp> graphs, StringRef target,
                                                                   const CpuOptions &options) {
  std::vector<LoweredGraph> lowered;
  return lowerGraphs(graphs, target, options, lowered);
}

static std::vector<std::string> launchersOf(ArrayRef<LoweredGraph> lowered) {
  std::vector<std::string> launchers;
  for (const LoweredGraph &graph : lowered)
    llvm::append_range(launchers, graph.launchers);
  return launchers;
}

FailureOr<std::string> mlir::ft::lowerToAssembly(ArrayRef<etdg::GraphOp> graphs, StringRef target, const CpuOptions &options) {
  std::vector<LoweredGraph> lowered;
  FailureOr<OwningOpRef<ModuleOp>> module = lowerGraphs(graphs, target, options, lowered);
  if (failed(module))
    return failure();
  return translateToAssembly(**module, target, launchersOf(lowered));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// One element of an attribute into an array.
static void storeElement(rt::HostArray &array, int64_t i, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    array.setFloat(i, number.getValueAsDouble());
  else if (auto integer = dyn_cast<IntegerAttr>(value))
    array.setInt(i, integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                                   : integer.getValue().getSExtValue());
}

/// The contents of a constant or splat buffer.
static FailureOr<rt::HostArray> makeConstantArray(const CpuBuffer &buffer, Location loc) {
  std::optional<rt::DType> dtype = arrayTypeOf(buffer.element.getElementType());
  if (!dtype)
    return emitError(loc) << "the CPU engine has no arrays of " << buffer.element.getElementType();
  rt::HostArray array;
  if (auto status = rt::HostArray::create(*dtype, buffer.element.getShape().vec(), array); !status.ok())
    return emitError(loc) << status.message();
  if (buffer.kind == CpuBuffer::Splat) {
    for (int64_t i = 0; i < array.numElements(); ++i)
      storeElement(array, i, buffer.value);
  } else {
    int64_t i = 0;
    for (Attribute value : cast<DenseElementsAttr>(buffer.value).getValues<Attribute>())
      storeElement(array, i++, value);
  }
  return array;
}

namespace {
/// Writes the plan of one graph.
class PlanBuilder {
public:
  PlanBuilder(etdg::GraphOp graph, const LoweredGraph &kernels, rt::Bundle &bundle, rt::Entry &entry)
      : graph(graph), kernels(kernels), lowered(kernels.lowered), bundle(bundle), entry(entry) {}

  LogicalResult build(rt::Plan &plan);

private:
  LogicalResult addBuffers(rt::Plan &plan);
  LogicalResult addConstant(const CpuBuffer &buffer, rt::Buffer &made);
  rt::Step makeLaunch(rt::Plan &plan, unsigned number);
  std::vector<rt::Step> makeSteps(rt::Plan &plan, ArrayRef<CpuStep> from);

  etdg::GraphOp graph;
  const LoweredGraph &kernels;
  const CpuModule &lowered;
  rt::Bundle &bundle;
  rt::Entry &entry;
  std::map<unsigned, int64_t> bufferOf; // by slot of the environment
  std::map<unsigned, rt::Expr> strideOf;
  int64_t errorBuffer = 0;
};
} // namespace

LogicalResult PlanBuilder::addConstant(const CpuBuffer &buffer, rt::Buffer &made) {
  FailureOr<rt::HostArray> array = makeConstantArray(buffer, graph.getLoc());
  if (failed(array))
    return failure();
  made = {rt::Buffer::constant, int64_t(bundle.sections.size()), 0};
  bundle.sections.push_back(
      {rt::Section::data, "", std::string(static_cast<const char *>(array->data()), size_t(array->numBytes()))});
  return success();
}

LogicalResult PlanBuilder::addBuffers(rt::Plan &plan) {
  Arena arena;
  std::optional<Interface> code = getInterface(graph); // (its entry was made)
  for (const CpuBuffer &buffer : lowered.buffers) {
    if (!arrayTypeOf(buffer.element.getElementType()))
      return graph.emitError() << "the CPU engine has no arrays of " << buffer.element.getElementType();
    rt::Buffer made;
    switch (buffer.kind) {
    case CpuBuffer::Argument:
      made = {rt::Buffer::argument, buffer.index, 0};
      for (auto [d, slot] : llvm::enumerate(buffer.strideSlots))
        strideOf[slot] = getHostStride(entry, *code, buffer.index, d);
      break;
    case CpuBuffer::Result:
      made = {rt::Buffer::argument, int64_t(graph.getArgumentTypes().size() + buffer.index), 0};
      break;
    case CpuBuffer::Intermediate:
      made = {rt::Buffer::workspace, 0, 0};
      arena.add(int64_t(plan.buffers.size()), getHostBytes(buffer.lengths, buffer.planes, buffer.element, lowered.symbols), buffer.shared);
      break;
    case CpuBuffer::Constant:
    case CpuBuffer::Splat:
      if (failed(addConstant(buffer, made)))
        return failure();
      break;
    }
    bufferOf[buffer.slot] = int64_t(plan.buffers.size());
    plan.buffers.push_back(made);
  }
  plan.workspaceBytes = arena.place(plan);
  errorBuffer = int64_t(plan.buffers.size());
  plan.buffers.push_back({rt::Buffer::error, 0, 0});
  return success();
}

rt::Step PlanBuilder::makeLaunch(rt::Plan &plan, unsigned number) {
  const CpuKernel &kernel = lowered.kernels[number];
  const std::string &name = kernels.launchers[number];
  rt::Step step;
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
    if (symbol < lowered.symbols.size()) {
      argument.value = rt::Expr::var(symbol);
    } else if (auto stride = strideOf.find(slot); stride != strideOf.end()) {
      argument.value = stride->second;
    } else {
      argument.kind = rt::KernelArgument::pointer;
      argument.buffer = bufferOf.at(slot);
    }
    step.launched.arguments.push_back(argument);
  }
  return step;
}

std::vector<rt::Step> PlanBuilder::makeSteps(rt::Plan &plan, ArrayRef<CpuStep> from) {
  std::vector<rt::Step> steps;
  for (const CpuStep &one : from) {
    if (!one.guard) {
      steps.push_back(makeLaunch(plan, one.kernel));
      continue;
    }
    rt::Step branch;
    branch.kind = rt::Step::branch;
    branch.condition = getHostGuard(one.guard, lowered.symbols);
    branch.body = makeSteps(plan, one.body);
    branch.otherwise = makeSteps(plan, one.otherwise);
    steps.push_back(std::move(branch));
  }
  return steps;
}

LogicalResult PlanBuilder::build(rt::Plan &plan) {
  plan.variant = "generic";
  if (failed(addBuffers(plan)))
    return failure();
  plan.steps = makeSteps(plan, lowered.steps);
  for (Location location : lowered.blockLocations)
    plan.places.push_back(getPlaceText(location));
  return success();
}

LogicalResult mlir::ft::addCpuPlans(ArrayRef<etdg::GraphOp> graphs, StringRef target, const CpuOptions &options,
                                    rt::Bundle &bundle, MutableArrayRef<rt::Entry> entries, CpuReport *report) {
  if (graphs.empty())
    return success();
  std::vector<LoweredGraph> lowered;
  FailureOr<OwningOpRef<ModuleOp>> module = lowerGraphs(graphs, target, options, lowered);
  if (failed(module))
    return failure();
  FailureOr<HostObjects> code = translateToObjects(**module, target, launchersOf(lowered));
  if (failed(code))
    return failure();
  std::string name = target == "cpu" ? ft_host_processor() : target.str();
  if (report) {
    report->instructions += code->translated;
    report->codeBytes += int64_t(code->image.size());
  }
  int64_t section = int64_t(bundle.sections.size());
  bundle.sections.push_back({rt::Section::cpu, name, std::move(code->image)});
  for (auto [graph, kernels, entry] : llvm::zip_equal(graphs, lowered, entries)) {
    rt::Plan plan;
    plan.target = name;
    plan.modules.push_back(section);
    if (failed(PlanBuilder(graph, kernels, bundle, entry).build(plan)))
      return failure();
    entry.plans.push_back(std::move(plan));
    if (!report)
      continue;
    for (const CpuKernel &kernel : kernels.lowered.kernels) {
      report->plans.push_back(kernel.name.substr(kernels.prefix.size()) + ": " + kernel.plan);
      report->estimatedSeconds += kernel.estimatedSeconds;
    }
  }
  return success();
}
