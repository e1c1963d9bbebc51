//===- CompileBundle.cpp - graphs to bundles and code as text -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/Bundle/CompileBundle.h"

#include "ft/Analysis/Rounding.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Conversion/LaunchPlan/Writebacks.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Targets.h"
#include "ft/Runtime/Bundle/PlanSeal.h"
#include "ft/Support/ArrayType.h"
#include "ft/Support/InputLimits.h"
#include "ft/Support/Interrupt.h"
#include "ft/Support/WholeFile.h"
#include "ft/Target/Host/HostLibrary.h"
#include "ft/Target/PTX/PTX.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>
#include <thread>

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

/// Runs phases on a module, with a pass manager as the options' caller wants it.
static LogicalResult runPhases(ModuleOp module, const PipelineOptions &phases, const BundleOptions &options) {
  PassManager pm(module.getContext());
  if (options.configure)
    options.configure(pm);
  buildPipeline(pm, phases);
  return unlessInterrupted(pm.run(module));
}

/// Functions over lists become graphs, where there are any, and graphs get what engines take up:
/// schedules, applied.
static LogicalResult makeGraphs(ModuleOp module, const BundleOptions &options, const TargetPipeline &target) {
  bool functions =
      llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isExternal(); });
  PipelineOptions phases;
  phases.from = functions ? Phase::Input : options.from;
  phases.target = &target;
  phases.skip.assign(options.skip.begin(), options.skip.end());
  phases.validate = options.validate;
  phases.rounding = options.rounding;
  phases.completes = true;
  phases.appliesOrders = !functions && hasOpenOrders(module);
  phases.dump = options.dump;
  if (failed(runPhases(module, phases, options)))
    return failure();
  if (module.getOps<etdg::GraphOp>().empty())
    return module.emitError("holds no function or graph to compile");
  return success();
}

/// The options with the machine for which code of the target is planned.
static FailureOr<BundleOptions> resolveMachine(ModuleOp module, BundleOptions options, StringRef target) {
  FailureOr<MachineRef> machine = findMachineFor(wholeFile(module.getLoc()), target, options.machines);
  if (failed(machine))
    return failure();
  if (isGpuTarget(target)) {
    options.gpu.target = target.str();
    options.gpu.machine = *machine;
  } else {
    options.cpu.machine = *machine;
    options.cpu.configure = options.configure;
    options.cpu.dump = options.dump;
  }
  return options;
}

/// The same where there is one target: a machine that does not serve it is a slip.
static FailureOr<BundleOptions> resolveOnlyMachine(ModuleOp module, const BundleOptions &options, StringRef target) {
  if (failed(checkMachinesServe(wholeFile(module.getLoc()), options.machines, target.str())))
    return failure();
  return resolveMachine(module, options, target);
}

/// A program says how its graphs are cut into kernels where nothing else does.
static LogicalResult makeGpuGraphs(ModuleOp module, const BundleOptions &options) {
  GpuPipelineOptions gpu(options.gpu);
  for (auto function : module.getOps<FunctionOpInterface>())
    if (auto mode = function->getAttrOfType<StringAttr>(mlir::ft::names::partition); mode && gpu.partition.empty())
      gpu.partition = mode.str();
  return makeGraphs(module, options, *makeGpuPipeline(std::move(gpu)));
}

static LogicalResult makeCpuGraphs(ModuleOp module, const BundleOptions &options) {
  return makeGraphs(module, options, *makeTargetPipeline(options.cpu));
}

namespace {
/// Changes a module of kernels in the place of a pass.
struct KernelHook : PassWrapper<KernelHook, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelHook)
  explicit KernelHook(BundleOptions::KernelFn change) : change(std::move(change)) {}
  void runOnOperation() override {
    if (failed(change(getOperation())))
      signalPassFailure();
  }
  BundleOptions::KernelFn change;
};
} // namespace

/// Runs the phases after `from`, which a module has reached with all that is decided there, for a GPU.
static FailureOr<GpuModule> lowerModule(ModuleOp module, StringRef entry, Phase from, const BundleOptions &options,
                                        const std::vector<rt::Entry::Extent> &numbered = {}) {
  std::unique_ptr<TargetPipeline> target = makeGpuPipeline(GpuPipelineOptions(options.gpu));
  PipelineOptions phases;
  phases.from = from;
  phases.to = Phase::Target;
  phases.target = target.get();
  phases.validate = false;
  phases.isContinued = true;
  phases.dump = options.dump;
  if (options.withKernels)
    phases.after = [&](OpPassManager &pm, Phase phase) {
      if (phase == Phase::Threads)
        pm.addNestedPass<gpu::GPUModuleOp>(std::make_unique<KernelHook>(options.withKernels));
    };
  if (failed(runPhases(module, phases, options)))
    return failure();
  return takeGpuModule(module, entry, options.gpu.target, numbered);
}

/// In the LLVM dialect. The graph stays as it is.
static FailureOr<GpuModule> lowerGraph(etdg::GraphOp graph, const BundleOptions &options) {
  // The plan goes to an entry that numbers extents as the graph's own does.
  FailureOr<rt::Entry> own = makeEntry(graph);
  if (failed(own))
    return failure();
  OwningOpRef<ModuleOp> module = ModuleOp::create(graph.getLoc());
  module->push_back(graph->clone());
  return lowerModule(*module, graph.getSymName(), Phase::Storage, options, own->extents);
}

static FailureOr<std::string> compileGraph(etdg::GraphOp graph, const BundleOptions &options,
                                           rt::Entry &entry) {
  FailureOr<GpuModule> lowered = lowerGraph(graph, options);
  if (failed(lowered))
    return failure();
  entry = std::move(lowered->entry);
  return translateToPTX(*lowered->module, options.gpu.target);
}

/// Moves all of a module to the end of another one; of two symbols of one name the second gets a new
/// one, and functions without a body are declared once.
static LogicalResult append(ModuleOp into, ModuleOp from) {
  SymbolTable old(into), added(from);
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    Operation *same = symbol ? old.lookup(symbol.getNameAttr()) : nullptr;
    if (!same)
      continue;
    if (symbol.isDeclaration() && cast<SymbolOpInterface>(same).isDeclaration())
      op.erase();
    else if (failed(added.renameToUnique(&op, {&old})))
      return failure();
  }
  into.getBody()->getOperations().splice(into.getBody()->end(), from.getBody()->getOperations());
  return success();
}

/// What `lower` makes of each of these operations, as one module.
template <typename OpTy>
static FailureOr<OwningOpRef<ModuleOp>> lowerAll(ArrayRef<OpTy> operations,
                                                 llvm::function_ref<FailureOr<OwningOpRef<ModuleOp>>(OpTy)> lower) {
  OwningOpRef<ModuleOp> all;
  for (OpTy operation : operations) {
    FailureOr<OwningOpRef<ModuleOp>> one = lower(operation);
    if (failed(one) || (all && failed(append(*all, **one))))
      return failure();
    if (!all)
      all = std::move(*one);
  }
  return all;
}

static FailureOr<OwningOpRef<ModuleOp>> lowerAllToGpu(ModuleOp module, const BundleOptions &options) {
  auto moduleOf = [](FailureOr<GpuModule> lowered) -> FailureOr<OwningOpRef<ModuleOp>> {
    if (failed(lowered))
      return failure();
    return std::move(lowered->module);
  };
  // What the phase `threads` printed has no graphs any more.
  if (auto kernels = llvm::to_vector(module.getOps<gpu::GPUModuleOp>()); !kernels.empty())
    return lowerAll<gpu::GPUModuleOp>(
        kernels, [&](gpu::GPUModuleOp one) { return moduleOf(lowerModule(module, one.getName(), Phase::Threads, options)); });
  if (failed(makeGpuGraphs(module, options)))
    return failure();
  return lowerAll<etdg::GraphOp>(llvm::to_vector(module.getOps<etdg::GraphOp>()),
                                 [&](etdg::GraphOp graph) { return moduleOf(lowerGraph(graph, options)); });
}

FailureOr<std::string> mlir::ft::compileToPTX(ModuleOp module, const BundleOptions &options) {
  FailureOr<BundleOptions> resolved = resolveOnlyMachine(module, options, options.gpu.target);
  if (failed(resolved))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> code = lowerAllToGpu(module, *resolved);
  if (failed(code))
    return failure();
  return translateToPTX(**code, options.gpu.target);
}

FailureOr<GpuModule> mlir::ft::compileToGpuModule(ModuleOp module, StringRef entry, const BundleOptions &options) {
  FailureOr<BundleOptions> resolved = resolveOnlyMachine(module, options, options.gpu.target);
  if (failed(resolved) || failed(makeGpuGraphs(module, *resolved)))
    return failure();
  auto graph = module.lookupSymbol<etdg::GraphOp>(entry);
  if (!graph)
    return module.emitError() << "holds no graph @" << entry;
  forgetStrideGroups(graph); // its entry is the graph's own
  return lowerGraph(graph, *resolved);
}

FailureOr<GpuModule> mlir::ft::lowerKernels(ModuleOp module, StringRef entry, const BundleOptions &options) {
  FailureOr<BundleOptions> resolved = resolveOnlyMachine(module, options, options.gpu.target);
  if (failed(resolved))
    return failure();
  if (options.withKernels)
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      if (failed(options.withKernels(kernels)))
        return failure();
  return lowerModule(module, entry, Phase::Threads, *resolved);
}

FailureOr<std::string> mlir::ft::compileToLLVMIR(ModuleOp module, StringRef target, const BundleOptions &given) {
  FailureOr<BundleOptions> resolved = resolveOnlyMachine(module, given, target);
  if (failed(resolved))
    return failure();
  const BundleOptions &options = *resolved;
  if (isGpuTarget(target)) {
    FailureOr<OwningOpRef<ModuleOp>> code = lowerAllToGpu(module, options);
    if (failed(code))
      return failure();
    return translateToNVPTXText(**code, target);
  }
  if (failed(makeCpuGraphs(module, options)))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> code =
      lowerToLibraryFunctions(llvm::to_vector(module.getOps<etdg::GraphOp>()), target, options.cpu);
  if (failed(code))
    return failure();
  return translateToLLVMText(**code, target);
}

FailureOr<std::string> mlir::ft::compileToAssembly(ModuleOp module, StringRef target, const BundleOptions &given) {
  FailureOr<BundleOptions> options = resolveOnlyMachine(module, given, target);
  if (failed(options))
    return failure();
  if (isGpuTarget(target)) {
    options->gpu.target = target.str();
    return compileToPTX(module, *options);
  }
  if (failed(makeCpuGraphs(module, *options)))
    return failure();
  return lowerToAssembly(llvm::to_vector(module.getOps<etdg::GraphOp>()), target, options->cpu);
}

/// `ft.gen` of the arguments and default lengths: what a test fills them with.
static rt::Json describeTest(etdg::GraphOp graph) {
  rt::Json arguments = rt::Json::makeArray(), lengths = rt::Json::makeObject();
  for (unsigned i = 0; i < graph.getArgumentTypes().size(); ++i) {
    if (graph.getArgAttr(i, mlir::ft::names::held)) // (calls do not pass it)
      continue;
    rt::Json one = rt::Json::makeObject();
    Attribute generator = graph.getArgAttr(i, mlir::ft::names::gen);
    auto integers = [&](int64_t lo, int64_t hi) {
      one.set("kind", "integer").set("lo", LengthAttr::get(graph.getContext(), lo).str());
      one.set("hi", LengthAttr::get(graph.getContext(), hi).str());
    };
    auto type = cast<etdg::BufferType>(graph.getArgumentTypes()[i]).getElement().getElementType();
    if (auto index = dyn_cast_or_null<IndexAttr>(generator)) {
      one.set("kind", "index").set("lo", index.getLo().str()).set("hi", index.getHi().str());
    } else if (auto uniform = dyn_cast_or_null<UniformAttr>(generator)) {
      if (isa<FloatType>(type))
        one.set("kind", "uniform")
            .set("lo", double(uniform.getLo()))
            .set("hi", double(uniform.getHi()));
      else
        integers(int64_t(double(uniform.getLo())), int64_t(double(uniform.getHi())));
    } else if (!isa<FloatType>(type)) {
      integers(-3, 3);
    } else if (auto normal = dyn_cast_or_null<NormalAttr>(generator)) {
      one.set("kind", "normal").set("scale", double(normal.getScale()));
    } else {
      one.set("kind", "default");
    }
    arguments.push(std::move(one));
  }
  if (auto defaults = graph->getAttrOfType<DictionaryAttr>(mlir::ft::names::lengths))
    for (NamedAttribute attr : defaults)
      if (auto value = dyn_cast<IntegerAttr>(attr.getValue()))
        lengths.set(attr.getName().getValue().str(), value.getInt());
  // What results were rounded to on the way says how closely they must agree.
  rt::Json roundings = rt::Json::makeArray();
  for (FloatType type : findCoarsestRounding(graph)) {
    std::optional<rt::DType> dtype = type ? arrayTypeOf(type) : std::nullopt;
    roundings.push(dtype ? rt::Json(rt::dtypeName(*dtype)) : rt::Json());
  }
  return rt::Json::makeObject()
      .set("arguments", std::move(arguments))
      .set("lengths", std::move(lengths))
      .set("roundings", std::move(roundings));
}

/// Whether a plan has kernels of both forms, or of the one that waits.
static bool hasSteps(const rt::Plan &plan) {
  return llvm::any_of(plan.steps, [](const rt::Step &step) {
    return step.kind == rt::Step::branch || step.launched.cooperative;
  });
}

namespace {
/// Texts that the assembler works on while the next ones are compiled.
class Assemblies {
public:
  /// Machine code of a plan's text, which is the plan's only module so far.
  void add(StringRef ptx, const std::string &target, Location loc, rt::Entry &entry, size_t plan) {
    if (started.size() >= most)
      started[started.size() - most].assembly.wait();
    if (std::optional<PtxAssembly> assembly = PtxAssembly::start(ptx, target))
      started.push_back({std::move(*assembly), target, loc, &entry, plan});
  }
  /// Puts what came out into the bundle, in the order of the plans, each in front of its text.
  void finish(rt::Bundle &bundle) {
    for (Started &one : started) {
      std::optional<std::string> code = one.assembly.finish(one.loc);
      if (!code)
        continue;
      std::vector<int64_t> &modules = one.entry->plans[one.plan].modules;
      modules.insert(modules.begin(), int64_t(bundle.sections.size()));
      bundle.sections.push_back({rt::Section::cubin, one.target, std::move(*code)});
    }
  }

private:
  struct Started {
    PtxAssembly assembly;
    std::string target;
    Location loc;
    rt::Entry *entry;
    size_t plan;
  };
  std::vector<Started> started;
  const size_t most = std::max(1u, std::thread::hardware_concurrency()); // processes at a time
};
} // namespace

/// Gives the graph of a name with schedules for some forms of kernels; null after an error.
using GraphOfForms = llvm::function_ref<etdg::GraphOp(GpuOptions::Steps)>;

/// The plans of one graph for one GPU.
static LogicalResult addGpuPlans(GraphOfForms graphOf, const std::string &target, const BundleOptions &given,
                                 rt::Bundle &bundle, rt::Entry &entry, Assemblies &assemblies) {
  using Steps = GpuOptions::Steps;
  BundleOptions options = given;
  auto addPlan = [&](StringRef variant, Steps steps) -> FailureOr<bool> {
    options.gpu.steps = steps;
    etdg::GraphOp graph = graphOf(steps);
    if (!graph)
      return failure();
    rt::Entry one;
    FailureOr<std::string> ptx = compileGraph(graph, options, one);
    if (failed(ptx))
      return failure();
    rt::Plan plan = std::move(one.plans.front());
    plan.variant = variant.str();
    bool choice = hasSteps(plan);
    assemblies.add(*ptx, target, graph.getLoc(), entry, entry.plans.size());
    plan.modules.push_back(int64_t(bundle.sections.size()));
    bundle.sections.push_back({rt::Section::ptx, target, std::move(*ptx)});
    entry.plans.push_back(std::move(plan));
    return choice;
  };
  FailureOr<bool> choice = addPlan("generic", given.gpu.steps);
  if (failed(choice))
    return failure();
  if (!given.variants || !*choice)
    return success();
  return success(succeeded(addPlan("steps", Steps::always)) && succeeded(addPlan("blocks", Steps::never)));
}

/// What callers of the module's functions give and get, before they become graphs.
static llvm::StringMap<Interface> getInterfaces(ModuleOp module) {
  llvm::StringMap<Interface> interfaces;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (std::optional<Interface> found = function.isExternal() ? std::nullopt : getInterface(function))
      interfaces.try_emplace(function.getName(), std::move(*found));
  return interfaces;
}

/// The module as one target compiles it. What stands in it is called with its own dimensions.
static OwningOpRef<ModuleOp> cloneForTarget(ModuleOp module) {
  OwningOpRef<ModuleOp> own = module.clone();
  for (auto function : own->getOps<FunctionOpInterface>())
    forgetStrideGroups(function);
  return own;
}

/// Whether a function takes lists of different lengths, which are compiled as padded ones.
static bool hasRaggedArguments(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return !function.isExternal() && llvm::any_of(function.getArgumentTypes(), [](Type type) {
      auto list = dyn_cast<ListType>(type);
      return list && list.hasRagged();
    });
  });
}

/// Phases of several targets have a directory each.
static LogicalResult useDumpOf(StringRef target, ModuleOp module, BundleOptions &options) {
  if (options.dump.empty())
    return success();
  SmallString<128> folder(options.dump);
  llvm::sys::path::append(folder, target);
  if (std::error_code code = llvm::sys::fs::create_directory(folder))
    return emitError(wholeFile(module.getLoc())) << "can't make the directory '" << folder << "': " << code.message();
  options.dump = options.cpu.dump = std::string(folder);
  return success();
}

/// Adds the entry of each graph, and with what it may be tested.
static LogicalResult addEntries(ModuleOp module, const llvm::StringMap<Interface> &interfaces, ArrayRef<std::string> targets,
                                rt::Bundle &bundle, rt::Json &tests) {
  for (etdg::GraphOp graph : module.getOps<etdg::GraphOp>()) {
    auto program = interfaces.find(graph.getSymName());
    FailureOr<rt::Entry> entry =
        program == interfaces.end() ? makeEntry(graph) : makeEntry(graph, program->second);
    if (failed(entry))
      return failure();
    // Code of the CPU asks for no more than its numbers do.
    if (llvm::none_of(targets, [](const std::string &target) { return isGpuTarget(target); }))
      for (rt::Argument &argument : entry->arguments)
        argument.alignment = 0;
    tests.set(graph.getSymName().str(), describeTest(graph));
    bundle.entries.push_back(std::move(*entry));
  }
  return success();
}

/// Lists of different lengths are compiled as padded ones: a module of its own, or the one that is given.
static LogicalResult padRagged(ModuleOp given, OwningOpRef<ModuleOp> &padded, ModuleOp &module) {
  module = given;
  if (hasRaggedArguments(given)) {
    padded = given.clone();
    module = *padded;
    PassManager pm(given.getContext());
    buildPadRaggedPipeline(pm);
    if (failed(unlessInterrupted(pm.run(module))))
      return failure();
  }
  return success();
}

FailureOr<rt::Bundle> mlir::ft::compileToBundle(ModuleOp given, ArrayRef<std::string> targets,
                                                const BundleOptions &options) {
  OwningOpRef<ModuleOp> padded;
  ModuleOp module;
  if (failed(padRagged(given, padded, module)))
    return failure();
  if (failed(checkMachinesServe(wholeFile(module.getLoc()), options.machines, targets)))
    return failure();
  llvm::StringMap<Interface> interfaces = getInterfaces(module);
  // Phases plan for a machine: each has a module of its own; and for forms of kernels.
  std::map<std::string, OwningOpRef<ModuleOp>> modules;
  auto forForms = [&](const BundleOptions &resolved, GpuOptions::Steps steps) -> ModuleOp {
    OwningOpRef<ModuleOp> &own = modules[resolved.gpu.getMachine().reference + " " + resolved.gpu.target + " " +
                                         std::to_string(int(steps))];
    if (own)
      return *own;
    OwningOpRef<ModuleOp> made = cloneForTarget(module);
    BundleOptions changed = resolved;
    changed.gpu.steps = steps;
    if (failed(makeGpuGraphs(*made, changed)))
      return {};
    own = std::move(made);
    return *own;
  };
  std::vector<std::pair<BundleOptions, ModuleOp>> ofTargets;
  for (const std::string &target : targets) {
    FailureOr<BundleOptions> resolved = resolveMachine(module, options, target);
    if (failed(resolved) || (targets.size() > 1 && failed(useDumpOf(target, module, *resolved))))
      return failure();
    if (isGpuTarget(target)) {
      ModuleOp own = forForms(*resolved, resolved->gpu.steps);
      if (!own)
        return failure();
      ofTargets.push_back({std::move(*resolved), own});
      continue;
    }
    OwningOpRef<ModuleOp> &own = modules[resolved->cpu.machine->reference];
    if (!own) {
      own = cloneForTarget(module);
      if (failed(makeCpuGraphs(*own, *resolved)))
        return failure();
    }
    ofTargets.push_back({std::move(*resolved), *own});
  }
  rt::Bundle bundle;
  bundle.producer = "FractalTensor";
  rt::Json tests = rt::Json::makeObject();
  Assemblies assemblies;
  if (targets.empty())
    return bundle;
  if (failed(addEntries(ofTargets.front().second, interfaces, targets, bundle, tests)))
    return failure();
  for (auto [target, planned] : llvm::zip_equal(targets, ofTargets)) {
    auto &[resolved, own] = planned;
    SmallVector<etdg::GraphOp> graphs = llvm::to_vector(own.getOps<etdg::GraphOp>());
    for (auto [graph, entry] : llvm::zip_equal(graphs, bundle.entries))
      restrictWritebacks(graph, entry);
    if (!isGpuTarget(target)) {
      if (failed(addCpuPlans(graphs, target, resolved.cpu, bundle, bundle.entries, options.report)))
        return failure();
      continue;
    }
    for (auto [graph, entry] : llvm::zip_equal(graphs, bundle.entries)) {
      StringRef name = graph.getSymName();
      auto graphOf = [&, &resolved = resolved](GpuOptions::Steps steps) {
        ModuleOp own = forForms(resolved, steps);
        return own ? own.lookupSymbol<etdg::GraphOp>(name) : etdg::GraphOp();
      };
      if (failed(addGpuPlans(graphOf, target, resolved, bundle, entry, assemblies)))
        return failure();
    }
  }
  assemblies.finish(bundle);
  bundle.sections.push_back({rt::Section::data, "generators", tests.dump()});
  rt::sealPlans(bundle);
  return bundle;
}
