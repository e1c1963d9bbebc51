//===- Phases.h - the phases of a compilation -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// input → ft → etdg → coarsen → reorder → partition → schedule → storage → tile → threads → pipeline → target.
// Each has a name, a pipeline and a contract; one can stop at, start from and dump each.
//
//===----------------------------------------------------------------------===//
#ifndef FT_PIPELINES_PHASES_H
#define FT_PIPELINES_PHASES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <optional>

namespace mlir {
class OpPassManager;
class PassManager;

namespace ft {

enum class Phase { Input, FT, ETDG, Coarsen, Reorder, Partition, Schedule, Storage, Tile, Threads, Pipeline, Target };
inline constexpr unsigned numPhases = 12;

llvm::StringRef stringifyPhase(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);
/// `input, ft, …, target`: for messages.
std::string listPhases();

/// Whether a phase has passes; one that has none is the identity.
bool isBuilt(Phase phase);

/// Whether a phase may be left out: those that only improve a graph.
bool mayBeSkipped(Phase phase);

struct CompileOptions : PassPipelineOptions<CompileOptions> {
  /// The names of all of these, for messages.
  std::string listNames() const;

  Option<std::string> from{
      *this, "from",
      llvm::cl::desc("The phase that the input has reached: input (default), ft, etdg, coarsen, reorder, "
                     "partition, schedule, storage, tile, threads, pipeline or target"),
      llvm::cl::init("input")};
  Option<std::string> to{*this, "to", llvm::cl::desc("The phase to stop at: one of those (default: target)"),
                         llvm::cl::init("target")};
  Option<std::string> target{*this, "target", llvm::cl::desc("cpu, sm_80 or sm_90a"),
                             llvm::cl::init("cpu")};
  Option<std::string> machine{*this, "machine",
                              llvm::cl::desc("What the phases plan for: a machine of the target by its name "
                                             "(cpu, a100, h200) or file (default: the target's)")};
  Option<unsigned> threads{*this, "threads", llvm::cl::desc("Of a CPU: threads to plan for (default: the machine's cores)"),
                           llvm::cl::init(0)};
  ListOption<std::string> lengths{*this, "lengths",
                                  llvm::cl::desc("Of a CPU: lengths to plan for, NAME=NUMBER, in the place of typical ones")};
  Option<uint64_t> planSeed{*this, "plan-seed",
                            llvm::cl::desc("Not 0: any legal plan, drawn by this seed, in the place of the cheapest (for tests)"),
                            llvm::cl::init(0)};
  Option<int64_t> candidate{*this, "candidate",
                            llvm::cl::desc("Not negative: the order or loop distribution of this rank, in the place of the cheapest"),
                            llvm::cl::init(-1)};
  Option<int64_t> multiprocessors{*this, "multiprocessors",
                                  llvm::cl::desc("Of a GPU: SMs to plan for (default: as many as the machine has)"),
                                  llvm::cl::init(0)};
  Option<std::string> steps{*this, "steps",
                            llvm::cl::desc("Of a GPU: steps of the whole grid with a barrier after each: choose (default), always or never"),
                            llvm::cl::init("choose")};
  Option<int64_t> stepThreads{*this, "step-threads",
                              llvm::cl::desc("Of a GPU: threads of a thread block in such kernels (default: the machine's)"),
                              llvm::cl::init(0)};
  Option<int64_t> barrierLimit{*this, "barrier-limit",
                               llvm::cl::desc("Of a GPU: polls of a grid barrier before a kernel traps (default: no limit)"),
                               llvm::cl::init(0)};
  Option<std::string> partition{*this, "partition",
                                llvm::cl::desc("Of a GPU: how a graph is cut into kernels, boundary, souffle or cost (default: each nest is one, short "
                                               "ones are joined when schedules are written)")};
  Option<bool> dataflow{*this, "dataflow",
                        llvm::cl::desc("Ask the dataflow search for order and tiles of nests, before and after they are coarsened "
                                       "(default: true, of graphs of a few operators; where this is said, of all that it can take, "
                                       "and what it finds is told)"),
                        llvm::cl::init(true)};
  Option<std::string> rounding{*this, "rounding",
                               llvm::cl::desc("Of f16 and bf16: excess (what stands between the operations of a body is f32; "
                                              "default) or exact (after each operation)"),
                               llvm::cl::init("excess")};
  Option<std::string> dump{*this, "dump",
                           llvm::cl::desc("A folder for the module after each phase")};
  ListOption<std::string> skip{
      *this, "skip", llvm::cl::desc("Phases to leave out: coarsen, reorder, partition, storage")};
  Option<bool> verify{*this, "verify",
                      llvm::cl::desc("Check the contracts of phases; of those after etdg that of the last one"),
                      llvm::cl::init(true)};
  Option<bool> verifyEach{*this, "verify-each",
                          llvm::cl::desc("Check the contract of each phase, beside the proof of what it made"),
                          llvm::cl::init(false)};
  Option<std::string> validate{
      *this, "validate", llvm::cl::desc("Prove what each phase from coarsen on made: on or off"),
      llvm::cl::init("on")};
};

class TargetPipeline;

/// What a run of the phases does.
struct PipelineOptions {
  Phase from = Phase::Input, to = Phase::Storage;
  /// The target whose passes run; null: none of any target, as for graphs that are looked at or interpreted. It need live no longer
  /// than the call that adds the passes.
  const TargetPipeline *target = nullptr;
  /// What phases before a target's plan for, where there is no target: a machine by name or file (empty: `cpu`).
  std::string machine = {};
  /// Phases to leave out, which is how a caller compares a program with its unoptimised self.
  llvm::SmallVector<std::string> skip = {};
  /// Of f16 and bf16: `excess` or `exact`.
  std::string rounding = "excess";
  /// Ask the dataflow search for order and tiles of nests, and report what it finds.
  bool dataflow = true, reportsDataflow = false;
  /// Prove what each phase from coarsen on made, and what is given.
  bool validate = true;
  /// Check the contract of the last phase, and of those that conversions made; or of each phase.
  bool verify = false, verifyEach = false;
  /// Report which phases have no passes.
  bool reportsSkipped = false;
  /// The input is the result of an earlier run up to `from`: it is not checked.
  bool isContinued = false;
  /// What is given at `storage` or `tile` may leave open what these phases decide: their passes run first. Where it is off, the
  /// input is what the phase left, and a phase that was printed goes on as if it never had been.
  bool completes = false;
  /// The graphs come with orders that are still to be applied (`hasOpenOrders`).
  bool appliesOrders = false;
  /// A directory for the module after each phase; empty: none.
  std::string dump = {};
  /// Is called after each phase's own passes and before what the phase made is proved; may add passes.
  std::function<void(OpPassManager &, Phase)> after = {};
  /// Of `makeGraph`: is called with the pass manager before it runs.
  std::function<void(PassManager &)> configure = {};
};

/// Adds the passes that lead from one phase to another. A graph at `schedule` may leave open what that phase decides: its passes
/// run after storage and keep existing decisions.
void buildPipeline(OpPassManager &pm, const PipelineOptions &options);

/// Whether nests have orders that are still to be applied.
bool hasOpenOrders(ModuleOp module);

/// Adds what makes graphs of functions over lists, ragged ones padded: before all phases.
void buildPadRaggedPipeline(OpPassManager &pm);

/// Runs the phases up to `options.to` on a module, in place, from the phase that `entry` (a function, or a graph) has reached, and
/// gives the graph that it became. Errors are emitted at operations of the module.
FailureOr<etdg::GraphOp> makeGraph(ModuleOp module, llvm::StringRef entry, PipelineOptions options = {});

/// From one phase to another, each followed by its contract (`--ft-compile`). Nothing is proved where
/// the options say so or `validates` is false.
void buildCompilePipeline(OpPassManager &pm, const CompileOptions &options, bool validates = true);

/// The passes of this folder and `--ft-compile`, which asks `validates` (a tool's flag; null: always) each
/// time that it is built.
void registerPipelines(std::function<bool()> validates = nullptr);

#define GEN_PASS_DECL
#include "ft/Pipelines/Passes.h.inc"

} // namespace ft
} // namespace mlir

#endif // FT_PIPELINES_PHASES_H
