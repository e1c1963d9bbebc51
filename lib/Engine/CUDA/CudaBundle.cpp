//===- CudaBundle.cpp - graphs to bundles for GPUs ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/CudaBundle.h"

#include "ft/Pipelines/Phases.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Support/InputLimits.h"
#include "ft/Target/PTX.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

/// Functions over lists become graphs, where there are any, and graphs get what engines take up:
/// schedules, applied. Who brings graphs has decided about these.
static LogicalResult makeGraphs(ModuleOp module) {
  bool functions =
      llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isExternal(); });
  if (functions) {
    PassManager pm(module.getContext());
    buildToETDGPipeline(pm);
    buildEnginePipeline(pm, Phase::ETDG);
    if (failed(pm.run(module)))
      return failure();
  }
  if (module.getOps<etdg::GraphOp>().empty())
    return module.emitError("holds no function or graph to compile");
  return success();
}

static FailureOr<std::string> compileGraph(etdg::GraphOp graph, const GpuOptions &options,
                                           rt::Entry &entry) {
  FailureOr<GpuModule> lowered = lowerGraphToGpu(graph, options);
  if (failed(lowered) || failed(lowerGpuModuleToLLVM(*lowered->module)))
    return failure();
  entry = std::move(lowered->entry);
  return translateToPTX(*lowered->module, options.target);
}

FailureOr<std::string> mlir::ft::compileToPTX(ModuleOp module, const GpuOptions &options) {
  if (failed(makeGraphs(module)))
    return failure();
  std::string all;
  for (etdg::GraphOp graph : module.getOps<etdg::GraphOp>()) {
    rt::Entry entry;
    FailureOr<std::string> ptx = compileGraph(graph, options, entry);
    if (failed(ptx))
      return failure();
    all += *ptx;
  }
  return all;
}

/// `ft.gen` of the arguments and default lengths: what a test fills them with.
static rt::Json describeTest(etdg::GraphOp graph) {
  rt::Json arguments = rt::Json::makeArray(), lengths = rt::Json::makeObject();
  for (unsigned i = 0; i < graph.getArgumentTypes().size(); ++i) {
    rt::Json one = rt::Json::makeObject();
    Attribute generator = graph.getArgAttr(i, "ft.gen");
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
  if (auto defaults = graph->getAttrOfType<DictionaryAttr>("ft.lengths"))
    for (NamedAttribute attr : defaults)
      if (auto value = dyn_cast<IntegerAttr>(attr.getValue()))
        lengths.set(attr.getName().getValue().str(), value.getInt());
  return rt::Json::makeObject()
      .set("arguments", std::move(arguments))
      .set("lengths", std::move(lengths));
}

/// Whether a plan has kernels of both forms, or of the one that waits.
static bool hasSteps(const rt::Plan &plan) {
  return llvm::any_of(plan.steps, [](const rt::Step &step) {
    return step.kind == rt::Step::branch || step.launched.cooperative;
  });
}

FailureOr<rt::Bundle> mlir::ft::compileToBundle(ModuleOp module, ArrayRef<std::string> targets,
                                                const BundleOptions &bundleOptions) {
  if (failed(makeGraphs(module)))
    return failure();
  rt::Bundle bundle;
  bundle.producer = "FractalTensor";
  rt::Json tests = rt::Json::makeObject();
  using Steps = GpuOptions::Steps;
  for (etdg::GraphOp graph : module.getOps<etdg::GraphOp>()) {
    rt::Entry entry;
    for (const std::string &target : targets) {
      GpuOptions options = bundleOptions.gpu;
      options.target = target;
      if (target == "sm_80") {
        options.multiprocessors = 108;
        options.sharedBytes = 80 << 10;
        options.sharedBytesAlone = 160 << 10;
      }
      auto addPlan = [&](StringRef variant, Steps steps) -> FailureOr<bool> {
        options.steps = steps;
        rt::Entry one;
        FailureOr<std::string> ptx = compileGraph(graph, options, one);
        if (failed(ptx))
          return failure();
        rt::Plan plan = std::move(one.plans.front());
        plan.variant = variant.str();
        bool choice = hasSteps(plan);
        if (std::optional<std::string> code = assemblePTX(*ptx, target, graph.getLoc())) {
          plan.modules.push_back(int64_t(bundle.sections.size()));
          bundle.sections.push_back({rt::Section::cubin, target, std::move(*code)});
        }
        plan.modules.push_back(int64_t(bundle.sections.size()));
        bundle.sections.push_back({rt::Section::ptx, target, std::move(*ptx)});
        if (entry.plans.empty()) {
          entry = std::move(one);
          entry.plans.clear();
        }
        entry.plans.push_back(std::move(plan));
        return choice;
      };
      FailureOr<bool> choice = addPlan("generic", bundleOptions.gpu.steps);
      if (failed(choice))
        return failure();
      if (!bundleOptions.variants || !*choice)
        continue;
      if (failed(addPlan("steps", Steps::always)) || failed(addPlan("blocks", Steps::never)))
        return failure();
    }
    tests.set(graph.getSymName().str(), describeTest(graph));
    bundle.entries.push_back(std::move(entry));
  }
  bundle.sections.push_back({rt::Section::data, "generators", tests.dump()});
  return bundle;
}

//===----------------------------------------------------------------------===//
// Translations
//===----------------------------------------------------------------------===//

void mlir::ft::registerGpuTranslations() {
  static llvm::cl::opt<bool> variants(
      "variants", llvm::cl::desc("put each form of a kernel into the bundle, for --tune"));
  static llvm::cl::opt<GpuOptions::Steps> steps(
      "gpu-steps", llvm::cl::desc("whether nests run in steps of the whole grid"),
      llvm::cl::values(clEnumValN(GpuOptions::Steps::choose, "choose", "where that pays"),
                       clEnumValN(GpuOptions::Steps::always, "always", "where it is possible"),
                       clEnumValN(GpuOptions::Steps::never, "never", "no kernel does")),
      llvm::cl::init(GpuOptions::Steps::choose));
  static llvm::cl::opt<int64_t> barrierLimit(
      "gpu-barrier-limit",
      llvm::cl::desc("looks at a grid barrier before a kernel traps (0: no end)"));
  static llvm::cl::opt<int64_t> stepThreads(
      "gpu-step-threads", llvm::cl::desc("threads of a block in kernels with grid barriers"),
      llvm::cl::init(256));
  static llvm::cl::list<std::string> targets(
      "target", llvm::cl::desc("sm_80 or sm_90a (default: both in a bundle)"),
      llvm::cl::CommaSeparated);
  auto dialects = [](DialectRegistry &registry) {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  };
  auto fromFlags = [] {
    GpuOptions options;
    options.steps = steps;
    options.barrierLimit = barrierLimit;
    options.stepThreads = stepThreads;
    return options;
  };
  auto check = [](ModuleOp module) -> LogicalResult {
    if (stepThreads < 32 || stepThreads > 1024 || stepThreads % 32 != 0)
      return module.emitError() << "--gpu-step-threads=" << int64_t(stepThreads)
                                << ": expected a multiple of 32 up to 1024";
    for (const std::string &target : targets)
      if (!isGpuTarget(target))
        return module.emitError() << "--target=" << target << ": expected sm_80 or sm_90a";
    return success();
  };
  static TranslateFromMLIRRegistration toPTX(
      "mlir-to-ptx", "compile functions and graphs to PTX",
      [check, fromFlags](ModuleOp module, raw_ostream &os) -> LogicalResult {
        GpuOptions options = fromFlags();
        if (failed(check(module)))
          return failure();
        if (!targets.empty())
          options.target = targets.front();
        FailureOr<std::string> ptx = compileToPTX(module, options);
        if (succeeded(ptx))
          os << *ptx;
        return ptx;
      },
      dialects);
  static TranslateFromMLIRRegistration toBundle(
      "mlir-to-bundle", "compile functions and graphs to a bundle (.ftb)",
      [check, fromFlags](ModuleOp module, raw_ostream &os) -> LogicalResult {
        if (failed(check(module)))
          return failure();
        std::vector<std::string> chosen(targets.begin(), targets.end());
        if (chosen.empty())
          chosen = {"sm_80", "sm_90a"};
        FailureOr<rt::Bundle> bundle = compileToBundle(module, chosen, {fromFlags(), variants});
        if (succeeded(bundle))
          os << bundle->serialize();
        return bundle;
      },
      dialects);
}
