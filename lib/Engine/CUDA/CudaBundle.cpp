//===- CudaBundle.cpp - graphs to bundles for GPUs ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/CudaBundle.h"

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

/// Functions over lists become graphs, where there are any.
static LogicalResult makeGraphs(ModuleOp module) {
  bool functions =
      llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isExternal(); });
  if (functions) {
    PassManager pm(module.getContext());
    buildToETDGPipeline(pm);
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

FailureOr<rt::Bundle> mlir::ft::compileToBundle(ModuleOp module, ArrayRef<std::string> targets) {
  if (failed(makeGraphs(module)))
    return failure();
  rt::Bundle bundle;
  bundle.producer = "FractalTensor";
  rt::Json tests = rt::Json::makeObject();
  for (etdg::GraphOp graph : module.getOps<etdg::GraphOp>()) {
    rt::Entry entry;
    for (const std::string &target : targets) {
      GpuOptions options;
      options.target = target;
      options.multiprocessors = target == "sm_80" ? 108 : 132;
      rt::Entry one;
      FailureOr<std::string> ptx = compileGraph(graph, options, one);
      if (failed(ptx))
        return failure();
      rt::Plan plan = std::move(one.plans.front());
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
  static llvm::cl::list<std::string> targets(
      "target", llvm::cl::desc("sm_80 or sm_90a (default: both in a bundle)"),
      llvm::cl::CommaSeparated);
  auto dialects = [](DialectRegistry &registry) {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  };
  auto check = [](ModuleOp module) -> LogicalResult {
    for (const std::string &target : targets)
      if (!isGpuTarget(target))
        return module.emitError() << "--target=" << target << ": expected sm_80 or sm_90a";
    return success();
  };
  static TranslateFromMLIRRegistration toPTX(
      "mlir-to-ptx", "compile functions and graphs to PTX",
      [check](ModuleOp module, raw_ostream &os) -> LogicalResult {
        GpuOptions options;
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
      [check](ModuleOp module, raw_ostream &os) -> LogicalResult {
        if (failed(check(module)))
          return failure();
        std::vector<std::string> chosen(targets.begin(), targets.end());
        if (chosen.empty())
          chosen = {"sm_80", "sm_90a"};
        FailureOr<rt::Bundle> bundle = compileToBundle(module, chosen);
        if (succeeded(bundle))
          os << bundle->serialize();
        return bundle;
      },
      dialects);
}
