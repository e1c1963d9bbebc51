//===- CodeTranslations.cpp - programs to code and bundles ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mlir-to-ptx, --mlir-to-llvmir, --mlir-to-assembly and --mlir-to-bundle of ft-translate.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Tools/ToolHelp.h"
#include "ft/Tools/ToolOptions.h"
#include "Translations.h"

#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Runtime/Program/Target.h"
#include "ft/Support/PartitionModes.h"
#include "ft/Target/Host/HostLibrary.h"
#include "ft/Target/PTX/PTX.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;
namespace cl = llvm::cl;

namespace {
/// The options of these translations.
struct CodeOptions {
  cl::opt<bool> variants{"variants", cl::desc("put each form of a kernel into the bundle, for --tune"), cl::cat(tools::ownOptions())};
  cl::opt<GpuOptions::Steps> steps{
      "gpu-steps", cl::desc("whether nests run in steps of the whole grid"),
      cl::values(clEnumValN(GpuOptions::Steps::choose, "choose", "where that pays"),
                 clEnumValN(GpuOptions::Steps::always, "always", "where it is possible"),
                 clEnumValN(GpuOptions::Steps::never, "never", "no kernel does")),
      cl::init(GpuOptions::Steps::choose), cl::cat(tools::ownOptions())};
  cl::opt<int64_t> barrierLimit{"gpu-barrier-limit",
                                cl::desc("looks at a grid barrier before a kernel traps (0: no end)"), cl::cat(tools::ownOptions())};
  cl::opt<int64_t> stepThreads{
      "gpu-step-threads",
      cl::desc("threads of a block in kernels with grid barriers (0: as the machine says)"), cl::init(0), cl::cat(tools::ownOptions())};
  cl::opt<std::string> partition{"partition", cl::desc("how a GPU's graphs are cut into kernels: boundary, souffle or cost (default: each nest is one, short "
                                                       "ones are joined)"), cl::cat(tools::ownOptions())};
  cl::opt<int64_t> candidate{"gpu-candidate", cl::desc("the order or division of this rank, not the cheapest"), cl::init(-1), cl::cat(tools::ownOptions())};
  cl::list<std::string> skip{"skip", cl::CommaSeparated,
                             cl::desc("phases to leave out: coarsen, reorder, storage (of functions: who brings "
                                      "graphs has decided)"), cl::cat(tools::ownOptions())};
  cl::list<std::string> typical{"typical", cl::CommaSeparated, cl::value_desc("NAME=NUMBER,..."),
                                cl::desc("lengths to plan for, in the place of what the program says is typical"), cl::cat(tools::ownOptions())};
  cl::list<std::string> targets{
      "target",
      cl::desc("sm_80, sm_90a, cpu, or a class of processors such as x86-64-v3 (default: all in a bundle)"),
      cl::CommaSeparated, cl::cat(tools::ownOptions())};
  cl::list<std::string> machines{
      "machine", cl::desc("machines to plan for, by name (cpu, a100, h200) or file, in place of a target's own"),
      cl::CommaSeparated, cl::cat(tools::ownOptions())};

  BundleOptions getBundleOptions() const {
    BundleOptions options;
    options.gpu.steps = steps;
    options.gpu.barrierLimit = barrierLimit;
    options.gpu.stepThreads = stepThreads;
    options.gpu.candidate = candidate;
    options.gpu.partition = partition;
    options.variants = variants;
    options.validate = tools::isValidating();
    options.rounding = tools::getRounding();
    options.skip = {skip.begin(), skip.end()};
    options.machines = {machines.begin(), machines.end()};
    options.configure = tools::makePassSettings();
    return options;
  }
  FailureOr<std::vector<std::string>> getTargets(bool withCpu) const;
  /// What `--typical` says, as `ft.typical` of the functions and graphs with such lengths.
  LogicalResult setTypical(ModuleOp module) const;

private:
  LogicalResult check() const;
};
} // namespace

static std::vector<std::string> *machinesOfOptions = nullptr;

ArrayRef<std::string> tools::getMachines() { return machinesOfOptions ? ArrayRef(*machinesOfOptions) : ArrayRef<std::string>(); }

static raw_ostream &error() { return llvm::errs() << "error: "; }

LogicalResult CodeOptions::check() const {
  int64_t threads = stepThreads;
  if (stepThreads.getNumOccurrences() && (threads < 32 || threads > 1024 || threads % 32 != 0)) {
    error() << "--gpu-step-threads=" << threads << ": expected a multiple of 32 up to 1024\n";
    return failure();
  }
  if (const std::string &mode = partition; !mode.empty() && !isPartitionMode(mode)) {
    error() << "--partition=" << mode << ": expected " << partitionModesText << '\n';
    return failure();
  }
  for (const std::string &name : skip)
    if (std::optional<Phase> phase = symbolizePhase(name); !phase || !mayBeSkipped(*phase)) {
      error() << "--skip=" << name << ": expected coarsen, reorder, partition or storage\n";
      return failure();
    }
  return success();
}

/// What --target asks for; `cpu` stands for every class of processors.
FailureOr<std::vector<std::string>> CodeOptions::getTargets(bool withCpu) const {
  if (failed(check()))
    return failure();
  std::vector<std::string> result;
  for (const std::string &target : targets) {
    if (withCpu && target == "cpu") {
      llvm::append_range(result, llvm::map_range(getCpuTargets(), [](StringRef name) { return name.str(); }));
    } else if (isGpuTarget(target) || (withCpu && getCpuTarget(target))) {
      result.push_back(target);
    } else {
      error() << "--target=" << target << ": expected "
              << (withCpu ? llvm::join(targetsOf(Machine::Kind::GPU), ", ") + ", cpu, " + llvm::join(getCpuTargets(), " or ")
                          : listTargetsOf(Machine::Kind::GPU))
              << "\n";
      return failure();
    }
  }
  return result;
}

/// Whether a function has a length of this name by default.
static bool hasLength(FunctionOpInterface function, StringRef name) {
  auto lengths = function->getAttrOfType<DictionaryAttr>(mlir::ft::names::lengths);
  return lengths && lengths.contains(name);
}

LogicalResult CodeOptions::setTypical(ModuleOp module) const {
  Builder builder(module.getContext());
  for (StringRef text : typical) {
    auto [name, number] = text.split('=');
    int64_t value = 0;
    if (name.empty() || number.getAsInteger(10, value) || value < 0) {
      error() << "--typical=" << text << ": expected NAME=NUMBER with a number of at least 0\n";
      return failure();
    }
    bool isKnown = false;
    for (auto function : module.getOps<FunctionOpInterface>()) {
      if (!hasLength(function, name))
        continue;
      isKnown = true;
      NamedAttrList ranges(function->getAttrOfType<DictionaryAttr>(mlir::ft::names::typical));
      ranges.set(name, builder.getI64ArrayAttr({value, value}));
      function->setAttr(mlir::ft::names::typical, ranges.getDictionary(module.getContext()));
    }
    if (!isKnown) {
      error() << "--typical=" << text << ": expected a length of 'ft.lengths' of some function, found none of this name\n";
      return failure();
    }
  }
  return success();
}

static LogicalResult writePTX(const CodeOptions &flags, ModuleOp module, raw_ostream &os) {
  FailureOr<std::vector<std::string>> wanted = flags.getTargets(/*withCpu=*/false);
  if (failed(wanted) || failed(flags.setTypical(module)))
    return failure();
  BundleOptions options = flags.getBundleOptions();
  if (!wanted->empty())
    options.gpu.target = wanted->front();
  FailureOr<std::string> ptx = compileToPTX(module, options);
  if (succeeded(ptx))
    os << *ptx;
  return ptx;
}

static LogicalResult writeLLVMIR(const CodeOptions &flags, ModuleOp module, raw_ostream &os) {
  FailureOr<std::vector<std::string>> wanted = flags.getTargets(/*withCpu=*/true);
  if (failed(wanted) || failed(flags.setTypical(module)))
    return failure();
  std::string target = flags.targets.size() == 1 && flags.targets.front() != "cpu" ? wanted->front() : "";
  if (target.empty()) // the most capable class that this processor has
    for (StringRef name : getCpuTargets())
      if (target.empty() || rt::hostFitness(name.str()) > 0)
        target = name.str();
  FailureOr<std::string> text = compileToLLVMIR(module, target, flags.getBundleOptions());
  if (succeeded(text))
    os << *text;
  return text;
}

static LogicalResult writeAssembly(const CodeOptions &flags, ModuleOp module, raw_ostream &os) {
  FailureOr<std::vector<std::string>> wanted = flags.getTargets(/*withCpu=*/true);
  if (failed(wanted) || failed(flags.setTypical(module)))
    return failure();
  std::string target = flags.targets.size() == 1 && flags.targets.front() != "cpu" ? wanted->front() : "cpu";
  FailureOr<std::string> text = compileToAssembly(module, target, flags.getBundleOptions());
  if (succeeded(text))
    os << *text;
  return text;
}

static LogicalResult writeBundle(const CodeOptions &flags, ModuleOp module, raw_ostream &os) {
  FailureOr<std::vector<std::string>> wanted = flags.getTargets(/*withCpu=*/true);
  if (failed(wanted) || failed(flags.setTypical(module)))
    return failure();
  if (wanted->empty()) {
    llvm::append_range(*wanted, llvm::map_range(targetsOf(Machine::Kind::GPU), [](StringRef name) { return name.str(); }));
    llvm::append_range(*wanted, llvm::map_range(getCpuTargets(), [](StringRef name) { return name.str(); }));
  }
  FailureOr<rt::Bundle> bundle = compileToBundle(module, *wanted, flags.getBundleOptions());
  if (succeeded(bundle))
    os << bundle->serialize();
  return bundle;
}

void tools::registerCodeTranslations() {
  static CodeOptions options;
  machinesOfOptions = &options.machines;
  auto dialects = [](DialectRegistry &registry) {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  };
  static TranslateFromMLIRRegistration toPTX(
      "mlir-to-ptx", "compile functions and graphs to PTX",
      [](ModuleOp module, raw_ostream &os) { return writePTX(options, module, os); }, dialects);
  static TranslateFromMLIRRegistration toLLVM(
      "mlir-to-llvmir", "compile functions and graphs to LLVM IR (default: for this processor's class)",
      [](ModuleOp module, raw_ostream &os) { return writeLLVMIR(options, module, os); }, dialects);
  static TranslateFromMLIRRegistration toAssembly(
      "mlir-to-assembly", "compile functions and graphs to assembly, with the lines of the source (default: for this processor)",
      [](ModuleOp module, raw_ostream &os) { return writeAssembly(options, module, os); }, dialects);
  static TranslateFromMLIRRegistration toBundle(
      "mlir-to-bundle", "compile functions and graphs to a bundle (.ftb)",
      [](ModuleOp module, raw_ostream &os) { return writeBundle(options, module, os); }, dialects);
}
