//===- Pipelines.cpp - from one phase to another --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop over the phases serves --ft-compile and the engines.
//
//===----------------------------------------------------------------------===//
#include "ft/Pipelines/Pipelines.h"
#include "PhasePasses.h"
#include "ft/Conversion/ETDGToDataflow/Passes.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Pipelines/Targets.h"
#include "ft/Support/Interrupt.h"
#include "ft/Validator/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::ft;

void ft::buildToETDGPipeline(OpPassManager &pm) {
  for (Phase phase : {Phase::FT, Phase::ETDG})
    addPhasePasses(pm, phase, /*machine=*/"", /*rounding=*/"excess");
}

//===----------------------------------------------------------------------===//
// One phase after the other
//===----------------------------------------------------------------------===//

namespace {
/// The passes that lead from one phase to another.
class PhaseSequence {
public:
  PhaseSequence(OpPassManager &pm, const PipelineOptions &options)
      : pm(pm), options(options), from(options.from), to(options.to),
        machine(options.target ? options.target->getMachine() : options.machine) {}

  void build();

private:
  /// What a target leaves out is the identity.
  bool isBuilt(Phase phase) const { return ft::isBuilt(phase) || (phase == Phase::Partition && options.target && options.target->partitions()); }
  bool isSkipped(Phase phase) const { return mayBeSkipped(phase) && llvm::is_contained(options.skip, stringifyPhase(phase)); }
  /// Whether a graph has reached the phase, which its proof and its contract ask.
  bool isProved(Phase phase) const { return options.validate && Phase::ETDG < phase && isBuilt(phase); }
  Phase getLastBuilt() const;
  void addPhase(Phase phase);
  void addTarget(Phase phase) {
    if (options.target)
      options.target->addPasses(pm, phase);
  }
  void addDataflow(bool isAgain);
  void addSkipped(Phase phase);
  void begin();
  void complete();
  void validateGiven();
  void finish(Phase phase);
  void addHook(Phase phase) {
    if (options.after)
      options.after(pm, phase);
  }
  void addContract(Phase phase);
  void addDump(Phase phase);

  OpPassManager &pm;
  const PipelineOptions &options;
  const Phase from, to;
  const std::string machine;
  bool hasSnapshots = false;
};
} // namespace

void PhaseSequence::build() {
  if (!options.validate && Phase::ETDG < to && !options.isContinued)
    pm.addPass(etdg::createETDGValidationOff());
  if (!options.isContinued)
    begin();
  for (unsigned i = static_cast<unsigned>(from) + 1; i <= static_cast<unsigned>(to); ++i)
    if (Phase phase = static_cast<Phase>(i); !isSkipped(phase)) {
      addPhase(phase);
    } else {
      if (phase == Phase::Storage)
        addTarget(phase); // where buffers lie a target asks, however many planes they have
      addHook(phase);
    }
  if (hasSnapshots)
    pm.addPass(etdg::createETDGDropSnapshots());
}

/// The last phase with passes of its own.
Phase PhaseSequence::getLastBuilt() const {
  Phase last = from;
  for (unsigned i = static_cast<unsigned>(from) + 1; i <= static_cast<unsigned>(to); ++i)
    if (Phase phase = static_cast<Phase>(i); isBuilt(phase) && !isSkipped(phase))
      last = phase;
  return last;
}

void PhaseSequence::addDataflow(bool isAgain) {
  const std::string searched = machine.empty() ? "cpu" : machine; // as for the phases' own passes
  pm.addNestedPass<etdg::GraphOp>(etdg::createOptionalExploreDataflow(searched, isAgain, !options.reportsDataflow));
}

/// Reports that a phase has no passes.
void PhaseSequence::addSkipped(Phase phase) {
  if (!options.reportsSkipped || isBuilt(phase) || (options.target && phase >= Phase::Tile))
    return;
  FTSkipPhaseOptions skipped;
  skipped.phase = stringifyPhase(phase).str();
  pm.addPass(createFTSkipPhase(skipped));
}

void PhaseSequence::addPhase(Phase phase) {
  // (Before snapshots: what it writes is proved with what coarsening makes of it.)
  if (options.dataflow && phase == Phase::Coarsen)
    addDataflow(/*isAgain=*/false);
  // Nests that the search fused are one now, or stayed apart.
  if (options.dataflow && phase == Phase::Reorder)
    addDataflow(/*isAgain=*/true);
  if (!hasSnapshots && isProved(phase)) {
    pm.addPass(etdg::createETDGTakeSnapshots());
    hasSnapshots = true;
  }
  if (phase == Phase::Coarsen && options.target && options.target->addChoiceOfMerges(pm, options.rounding))
    addCoarsenApart(pm.nest<etdg::GraphOp>(), machine, options.rounding);
  else
    addPhasePasses(pm, phase, machine, options.rounding);
  addSkipped(phase);
  // A schedule that came with the graph may leave loops to be completed, and reductions to be split.
  if (phase == Phase::Storage && from == Phase::Schedule && !options.isContinued)
    addTarget(Phase::Schedule);
  addTarget(phase);
  finish(phase);
}

/// What is wrong with the order of graphs that are input is the input's error, not a phase's. (Without a schedule, what has no
/// phase after it yet has the order of its operators.)
void PhaseSequence::validateGiven() {
  if (!options.validate || to <= Phase::ETDG)
    return;
  etdg::ETDGValidatePhaseOptions given;
  given.phase = stringifyPhase(from).str();
  given.given = true;
  given.schedules = from <= Phase::ETDG;
  pm.addPass(etdg::createETDGValidatePhase(given));
}

static void addVerifyPhase(OpPassManager &pm, Phase phase) {
  FTVerifyPhaseOptions verify;
  verify.phase = stringifyPhase(phase).str();
  pm.addPass(createFTVerifyPhase(verify));
}

/// A graph that is input may be none: what a phase says of it afterwards would be called the phase's fault. (One that is interpreted as it
/// stands may be wrong, and its interpreter says where.)
void PhaseSequence::begin() {
  if (options.verify || (from == Phase::ETDG && to != from))
    addVerifyPhase(pm, from);
  validateGiven();
  addDump(from);
  complete();
}

/// What is given may leave open what its phase decides.
void PhaseSequence::complete() {
  if (options.appliesOrders && Phase::Schedule <= from && from <= Phase::Storage)
    pm.addNestedPass<etdg::GraphOp>(etdg::createETDGApplySchedule());
  if (!options.completes)
    return;
  if (from == Phase::Storage) {
    addTarget(Phase::Schedule);
    addTarget(Phase::Storage);
  } else if (from == Phase::Tile) {
    addTarget(Phase::Tile);
  }
}

void PhaseSequence::finish(Phase phase) {
  addHook(phase);
  addContract(phase);
  if (isProved(phase)) {
    etdg::ETDGValidatePhaseOptions validate;
    validate.phase = stringifyPhase(phase).str();
    pm.addPass(etdg::createETDGValidatePhase(validate));
  }
  // (Kernels may change in both.)
  if (options.validate && (phase == Phase::Threads || phase == Phase::Pipeline)) {
    etdg::ValidateLaunchesOptions launches;
    launches.phase = stringifyPhase(phase).str();
    pm.addPass(etdg::createValidateLaunches(launches));
  }
  addDump(phase);
}

/// A proof reads the whole graph like its contract does: where each phase is proved, the contracts of what conversions made
/// and of the last phase are enough. What is the identity keeps the contract.
void PhaseSequence::addContract(Phase phase) {
  if (!options.verify || !isBuilt(phase))
    return;
  if (options.verifyEach || !options.validate || phase <= Phase::ETDG || phase == getLastBuilt())
    addVerifyPhase(pm, phase);
}

void PhaseSequence::addDump(Phase phase) {
  if (options.dump.empty())
    return;
  FTDumpPhaseOptions dump;
  dump.phase = stringifyPhase(phase).str();
  dump.folder = options.dump;
  pm.addPass(createFTDumpPhase(dump));
}

void ft::buildPipeline(OpPassManager &pm, const PipelineOptions &options) { PhaseSequence(pm, options).build(); }

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

bool ft::hasOpenOrders(ModuleOp module) {
  auto isOpen = [](Operation *op) {
    etdg::ScheduleAttr schedule = etdg::scheduleOf(op);
    return schedule && !schedule.getMap().getValue().isIdentity() ? WalkResult::interrupt() : WalkResult::advance();
  };
  return module.walk(isOpen).wasInterrupted();
}

FailureOr<etdg::GraphOp> ft::makeGraph(ModuleOp module, StringRef entry, PipelineOptions options) {
  Operation *op = module.lookupSymbol(entry);
  if (!isa_and_nonnull<func::FuncOp, etdg::GraphOp>(op))
    return module.emitError() << "expected a function or a graph '" << entry << "', "
                              << (op ? "found '" + op->getName().getStringRef().str() + "'" : "found none");
  Location loc = op->getLoc();
  options.from = isa<etdg::GraphOp>(op) ? Phase::ETDG : Phase::Input;
  PassManager pm(module.getContext());
  if (options.configure)
    options.configure(pm);
  buildPipeline(pm, options);
  if (failed(unlessInterrupted(pm.run(module))))
    return failure();
  auto graph = dyn_cast_or_null<etdg::GraphOp>(module.lookupSymbol(entry));
  if (!graph)
    return emitError(loc) << "did not become a graph";
  return graph;
}
