//===- Phases.cpp - the phases of a compilation ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, pipelines and contracts of the phases, and --ft-compile.
//
//===----------------------------------------------------------------------===//
#include "ft/Pipelines/Phases.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Conversion/Passes.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/TSSA/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Schedule/ChooseSchedule.h"
#include "ft/Schedule/ScheduleForCpu.h"
#include "ft/Support/WholeFile.h"
#include "ft/Validator/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTDUMPPHASE
#define GEN_PASS_DEF_FTSKIPPHASE
#define GEN_PASS_DEF_FTVERIFYPHASE
#include "ft/Pipelines/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "ft/Pipelines/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

namespace {
enum class Validation { On, Off };
} // namespace

static llvm::cl::opt<Validation> validateOption(
    "ft-validate", llvm::cl::desc("Prove what each phase from coarsen on makes of a graph"),
    llvm::cl::values(clEnumValN(Validation::On, "on", "do (default)"),
                     clEnumValN(Validation::Off, "off", "take it as it comes")),
    llvm::cl::init(Validation::On));

bool ft::isValidating() { return validateOption == Validation::On; }

static constexpr llvm::StringLiteral phaseNames[numPhases] = {
    "input",     "ft",       "etdg",    "coarsen", "reorder",
    "partition", "schedule", "storage", "tile",    "target"};

StringRef ft::stringifyPhase(Phase phase) { return phaseNames[static_cast<unsigned>(phase)]; }

std::optional<Phase> ft::symbolizePhase(StringRef name) {
  for (unsigned i = 0; i < numPhases; ++i)
    if (phaseNames[i] == name)
      return static_cast<Phase>(i);
  return std::nullopt;
}

std::string ft::listPhases() {
  std::string text;
  for (StringRef name : phaseNames)
    text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

bool ft::isBuilt(Phase phase) {
  switch (phase) {
  case Phase::Input:
  case Phase::FT:
  case Phase::ETDG:
  case Phase::Coarsen:
  case Phase::Reorder:
  case Phase::Schedule:
  case Phase::Storage:
    return true;
  default:
    return false;
  }
}

/// Rows of whole tensors, whatever front end they came from.
static void addSpreadRows(OpPassManager &pm, StringRef machine) {
  etdg::ETDGSpreadRowsOptions options;
  options.machine = machine.str();
  pm.addNestedPass<etdg::GraphOp>(etdg::createETDGSpreadRows(options));
}

void ft::buildPhase(OpPassManager &pm, Phase phase, StringRef machine) {
  switch (phase) {
  case Phase::Input:
    break;
  case Phase::FT:
    pm.addPass(createFTInline());
    pm.addPass(createFTExpand());
    pm.addPass(tssa::createTSSAFunctionalize());
    pm.addPass(createConvertTSSAToTensor());
    pm.addPass(createFTSelect());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    break;
  case Phase::ETDG:
    pm.addPass(createConvertFTToETDG());
    pm.addPass(createConvertSCFToETDG());
    pm.addPass(createConvertLinalgToETDG());
    addSpreadRows(pm, machine);
    break;
  case Phase::Coarsen:
    // Before, where the program has chains in one body; after, where merging has made some.
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGOnline());
    etdg::buildCoarsenPipeline(pm, machine);
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGOnline());
    break;
  case Phase::Reorder:
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGReorder());
    break;
  case Phase::Schedule:
    // The target's pass follows: what it knows of lengths and machine is the caller's.
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGApplySchedule());
    break;
  case Phase::Storage:
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGStorage());
    break;
  default: {
    FTSkipPhaseOptions options;
    options.phase = stringifyPhase(phase).str();
    pm.addPass(createFTSkipPhase(options));
    break;
  }
  }
}

namespace {
/// Stands for a pipeline whose options make none.
struct BadOptions : PassWrapper<BadOptions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BadOptions)
  explicit BadOptions(std::string message = "", std::string machine = "")
      : message(std::move(message)), machine(std::move(machine)) {}
  StringRef getArgument() const override { return "ft-bad-options"; }
  StringRef getDescription() const override { return "report options that make no pipeline"; }
  void runOnOperation() override {
    // No note of the whole module: the program is not what is wrong.
    Location loc = wholeFile(getOperation().getLoc());
    if (machine.empty() || succeeded(findMachine(loc, machine, "")))
      emitError(loc) << message;
    signalPassFailure();
  }
  std::string message, machine;
};
} // namespace

bool ft::mayBeSkipped(Phase phase) {
  return Phase::ETDG < phase && phase < Phase::Tile && phase != Phase::Schedule;
}

/// What is wrong with the options, or nothing.
static std::string checkOptions(const CompileOptions &options) {
  for (auto [name, value] :
       {std::pair<StringRef, StringRef>("from", options.from), {"to", options.to}})
    if (!symbolizePhase(value))
      return ("ft-compile: " + name + ": expected one of " + listPhases() + ", found '" + value +
              "'")
          .str();
  if (*symbolizePhase(options.from) > *symbolizePhase(options.to))
    return "ft-compile: phase '" + options.from.getValue() + "' comes after '" +
           options.to.getValue() + "'";
  for (const std::string &name : options.skip)
    if (std::optional<Phase> phase = symbolizePhase(name); !phase || !mayBeSkipped(*phase))
      return "ft-compile: skip: expected coarsen, reorder, partition or storage, found '" + name +
             "'";
  StringRef target = options.target;
  if (target != "cpu" && target != "sm_80" && target != "sm_90a")
    return ("ft-compile: target: expected one of cpu, sm_80, sm_90a, found '" + target + "'").str();
  if (!options.machine.empty()) {
    llvm::Expected<MachineRef> machine = Machine::find(options.machine);
    if (!machine) { // (BadOptions says what, at the lines of the file)
      llvm::consumeError(machine.takeError());
      return "ft-compile: machine: '" + options.machine.getValue() + "' is none";
    }
    if (!(*machine)->serves(target))
      return ("ft-compile: machine: '" + options.machine.getValue() + "' serves " +
              ((*machine)->targets.empty() ? "no target" : llvm::join((*machine)->targets, ", ")) + ", not '" + target + "'")
          .str();
  }
  if (!options.dump.empty() && !llvm::sys::fs::is_directory(options.dump.getValue()))
    return "ft-compile: dump: no such folder: '" + options.dump.getValue() + "'";
  if (options.validate != "on" && options.validate != "off")
    return "ft-compile: validate: expected on or off, found '" + options.validate.getValue() + "'";
  return "";
}

void ft::buildCompilePipeline(OpPassManager &pm, const CompileOptions &options) {
  std::string wrong = checkOptions(options);
  if (!wrong.empty()) {
    pm.addPass(std::make_unique<BadOptions>(wrong, options.machine));
    return;
  }
  Phase from = *symbolizePhase(options.from), to = *symbolizePhase(options.to);
  const std::string machine =
      options.machine.empty() ? Machine::forTarget(options.target)->reference : options.machine.getValue();
  auto snapshots = std::make_shared<etdg::Snapshots>();
  const bool validates = options.validate == "on" && isValidating();
  if (!validates && Phase::ETDG < to)
    pm.addPass(etdg::createValidationOffPass());
  // A proof reads the whole graph like its contract does: where each phase is proved, the contracts of
  // what conversions made and of the last phase are enough.
  Phase last = from;
  for (unsigned i = static_cast<unsigned>(from) + 1; i <= static_cast<unsigned>(to); ++i)
    if (Phase phase = static_cast<Phase>(i);
        isBuilt(phase) && !llvm::is_contained(options.skip, stringifyPhase(phase)))
      last = phase;
  auto isVerified = [&](Phase phase) {
    if (!options.verify || (phase != from && !isBuilt(phase)))
      return false;
    return options.verifyEach || !validates || phase == from || phase <= Phase::ETDG || phase == last;
  };
  auto finish = [&](Phase phase) {
    if (validates && (phase == Phase::ETDG || (phase == from && Phase::ETDG < phase)))
      pm.addPass(etdg::createSnapshotPass(snapshots));
    // What is the identity keeps the contract.
    if (isVerified(phase)) {
      FTVerifyPhaseOptions verify;
      verify.phase = stringifyPhase(phase).str();
      pm.addPass(createFTVerifyPhase(verify));
    }
    if (validates && Phase::ETDG < phase && (phase == from || isBuilt(phase)))
      pm.addPass(etdg::createValidatePhasePass(stringifyPhase(phase), snapshots));
    if (!options.dump.empty()) {
      FTDumpPhaseOptions dump;
      dump.phase = stringifyPhase(phase).str();
      dump.folder = options.dump.getValue();
      pm.addPass(createFTDumpPhase(dump));
    }
  };
  // What the caller says of the input is checked like what a phase did.
  finish(from);
  for (unsigned i = static_cast<unsigned>(from) + 1; i <= static_cast<unsigned>(to); ++i) {
    Phase phase = static_cast<Phase>(i);
    if (llvm::is_contained(options.skip, stringifyPhase(phase)))
      continue;
    buildPhase(pm, phase, machine);
    // The order of the fewest steps need not be the one of the least time on this machine.
    if (phase == Phase::Reorder && options.target == "cpu") {
      ETDGChooseScheduleOptions choose;
      choose.machine = machine;
      pm.addNestedPass<etdg::GraphOp>(createETDGChooseSchedule(choose));
    }
    if (phase == Phase::Schedule && options.target == "cpu") {
      ETDGScheduleForCPUOptions loops;
      loops.machine = machine;
      pm.addNestedPass<etdg::GraphOp>(createETDGScheduleForCPU(loops));
    }
    finish(phase);
  }
}

void ft::buildEnginePipeline(OpPassManager &pm, Phase from, const EngineOptions &options) {
  auto snapshots = std::make_shared<etdg::Snapshots>();
  bool isTaken = false;
  if (!options.validate && Phase::ETDG < options.to)
    pm.addPass(etdg::createValidationOffPass());
  for (unsigned i = static_cast<unsigned>(from) + 1; i <= static_cast<unsigned>(options.to); ++i) {
    Phase phase = static_cast<Phase>(i);
    if (!isBuilt(phase) ||
        (mayBeSkipped(phase) && llvm::is_contained(options.skip, stringifyPhase(phase))))
      continue;
    if (options.validate && Phase::ETDG < phase && !isTaken) {
      pm.addPass(etdg::createSnapshotPass(snapshots));
      isTaken = true;
    }
    buildPhase(pm, phase, options.machine);
    if (options.after)
      options.after(pm, phase);
    if (options.validate && Phase::ETDG < phase)
      pm.addPass(etdg::createValidatePhasePass(stringifyPhase(phase), snapshots));
  }
}

FailureOr<etdg::GraphOp> ft::makeEngineGraph(ModuleOp module, StringRef entry, const EngineOptions &options) {
  Operation *op = module.lookupSymbol(entry);
  if (!isa_and_nonnull<func::FuncOp, etdg::GraphOp>(op))
    return module.emitError() << "expected a function or a graph '" << entry << "', "
                              << (op ? "found '" + op->getName().getStringRef().str() + "'" : "found none");
  Location loc = op->getLoc();
  PassManager pm(module.getContext());
  buildEnginePipeline(pm, isa<etdg::GraphOp>(op) ? Phase::ETDG : Phase::Input, options);
  if (failed(pm.run(module)))
    return failure();
  auto graph = dyn_cast_or_null<etdg::GraphOp>(module.lookupSymbol(entry));
  if (!graph)
    return emitError(loc) << "did not become a graph";
  return graph;
}

//===----------------------------------------------------------------------===//
// Contracts
//===----------------------------------------------------------------------===//

static bool isOfFT(Type type) { return isa<FTDialect>(type.getDialect()); }

static bool isOverLists(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  return llvm::any_of(type.getInputs(), isOfFT) || llvm::any_of(type.getResults(), isOfFT);
}

/// `ft`: calls are inlined. What else is asked of functions, `ft-verify` asks.
static LogicalResult verifyFTContract(ModuleOp module) {
  bool ok = true;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!isOverLists(function))
      continue;
    function.walk([&](func::CallOp call) {
      // What has no body can't be inlined, and is refused by name later.
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        return;
      InFlightDiagnostic diag =
          call.emitError() << "phase 'ft': a function over lists calls no other, this one calls '"
                           << call.getCallee() << "' (run ft-inline)";
      diag.attachNote(callee.getLoc()) << "it is here";
      ok = false;
    });
  }
  return success(ok);
}

/// `etdg`: graphs alone, and each is one.
static LogicalResult verifyETDGContract(ModuleOp module, Phase phase) {
  bool ok = true;
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op); function && isOverLists(function)) {
      function.emitError() << "phase '" << stringifyPhase(phase)
                           << "': a function over lists has become a graph, '"
                           << function.getSymName() << "' has not";
      ok = false;
      return WalkResult::skip();
    }
    if (isa_and_nonnull<FTDialect>(op->getDialect())) {
      op->emitError() << "phase '" << stringifyPhase(phase)
                      << "': no operation of ft is left, found '" << op->getName() << "'";
      ok = false;
    }
    return WalkResult::advance();
  });
  for (auto graph : module.getOps<etdg::GraphOp>())
    ok &= succeeded(etdg::verifyGraph(graph));
  return success(ok);
}

static LogicalResult verifyContract(ModuleOp module, Phase phase) {
  switch (phase) {
  case Phase::Input:
    return success();
  case Phase::FT:
    return verifyFTContract(module);
  default:
    return verifyETDGContract(module, phase);
  }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {
struct FTVerifyPhase : ft::impl::FTVerifyPhaseBase<FTVerifyPhase> {
  using FTVerifyPhaseBase::FTVerifyPhaseBase;
  void runOnOperation() override {
    std::optional<Phase> which = symbolizePhase(phase);
    if (!which) {
      emitError(wholeFile(getOperation().getLoc()))
          << "ft-verify-phase: expected one of " << listPhases() << ", found '" << phase << "'";
      return signalPassFailure();
    }
    bool ok = succeeded(verifyContract(getOperation(), *which));
    if (*which == Phase::FT) {
      OpPassManager pm(ModuleOp::getOperationName());
      pm.addPass(createFTVerify());
      ok &= succeeded(runPipeline(pm, getOperation()));
    }
    if (!ok)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct FTSkipPhase : ft::impl::FTSkipPhaseBase<FTSkipPhase> {
  using FTSkipPhaseBase::FTSkipPhaseBase;
  void runOnOperation() override {
    remark::analysis(
        getOperation().getLoc(),
        remark::RemarkOpts::name("identity").category("phase").subCategory(phase.getValue()))
        << remark::reason("phase '{0}' is not built: it leaves the program as it is",
                          phase.getValue());
    markAllAnalysesPreserved();
  }
};

struct FTDumpPhase : ft::impl::FTDumpPhaseBase<FTDumpPhase> {
  using FTDumpPhaseBase::FTDumpPhaseBase;
  void runOnOperation() override {
    std::optional<Phase> which = symbolizePhase(phase);
    if (!which) {
      emitError(wholeFile(getOperation().getLoc()))
          << "ft-dump-phase: expected one of " << listPhases() << ", found '" << phase << "'";
      return signalPassFailure();
    }
    SmallString<128> path(folder.getValue());
    llvm::sys::path::append(path, std::to_string(static_cast<unsigned>(*which)) + "-" +
                                      phase.getValue() + ".mlir");
    std::error_code code;
    llvm::ToolOutputFile file(path, code, llvm::sys::fs::OF_Text);
    if (code) {
      emitError(wholeFile(getOperation().getLoc()))
          << "ft-dump-phase: can't write '" << path << "': " << code.message();
      return signalPassFailure();
    }
    getOperation().print(file.os());
    file.os() << "\n";
    file.keep();
    markAllAnalysesPreserved();
  }
};
} // namespace

void ft::registerPipelines() {
  registerFTPipelinesPasses();
  PassPipelineRegistration<CompileOptions>(
      "ft-compile", "from one phase to another, each followed by its contract",
      buildCompilePipeline);
}
