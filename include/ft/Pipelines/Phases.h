//===- Phases.h - the phases of a compilation -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// input → ft → etdg → coarsen → reorder → partition → schedule → storage → tile → threads → target.
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

namespace ft {

enum class Phase { Input, FT, ETDG, Coarsen, Reorder, Partition, Schedule, Storage, Tile, Threads, Target };
inline constexpr unsigned numPhases = 11;

llvm::StringRef stringifyPhase(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);
/// `input, ft, …, target`: for messages.
std::string listPhases();

/// Whether a phase has passes; one that has none is the identity.
bool isBuilt(Phase phase);

/// Whether a phase may be left out: those that only improve a graph.
bool mayBeSkipped(Phase phase);

/// The passes that lead from the phase before to this one, without its contract, for a machine by
/// its name or file (empty: `cpu`). `rounding` is that of etdg-excess-precision.
void buildPhase(OpPassManager &pm, Phase phase, llvm::StringRef machine = "", llvm::StringRef rounding = "excess");

struct CompileOptions : PassPipelineOptions<CompileOptions> {
  Option<std::string> from{
      *this, "from",
      llvm::cl::desc("The phase that the input has reached: input (default), ft, etdg, coarsen, reorder, "
                     "partition, schedule, storage, tile, threads or target"),
      llvm::cl::init("input")};
  Option<std::string> to{*this, "to", llvm::cl::desc("The phase to stop at: one of those (default: target)"),
                         llvm::cl::init("target")};
  Option<std::string> target{*this, "target", llvm::cl::desc("cpu, sm_80 or sm_90a"),
                             llvm::cl::init("cpu")};
  Option<std::string> machine{*this, "machine",
                              llvm::cl::desc("What the phases plan for: a machine of the target by its name "
                                             "(cpu, a100, h200) or file (default: the target's)")};
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
      *this, "skip", llvm::cl::desc("Phases to leave out: coarsen, reorder, storage")};
  Option<bool> verify{*this, "verify",
                      llvm::cl::desc("Check the contracts of phases; of those behind etdg that of the last one"),
                      llvm::cl::init(true)};
  Option<bool> verifyEach{*this, "verify-each",
                          llvm::cl::desc("Check the contract of each phase, beside the proof of what it made"),
                          llvm::cl::init(false)};
  Option<std::string> validate{
      *this, "validate", llvm::cl::desc("Prove what each phase from coarsen on made: on or off"),
      llvm::cl::init("on")};
};

/// How a graph is made ready for an engine.
struct EngineOptions {
  /// Phases to leave out, which is how a caller compares a program with its unoptimised self.
  llvm::SmallVector<std::string> skip;
  Phase to = Phase::Storage;
  /// As in `buildPhase`.
  std::string machine = {};
  /// Of f16 and bf16: `excess` or `exact`.
  std::string rounding = "excess";
  /// Ask the dataflow search for order and tiles of nests.
  bool dataflow = true;
  /// Prove what each phase from coarsen on made.
  bool validate = true;
  /// May add passes behind a phase, before it is validated.
  std::function<void(OpPassManager &, Phase)> after;
};

/// What leads from a phase to one that engines take up, without dumps and contracts.
void buildEnginePipeline(OpPassManager &pm, Phase from, const EngineOptions &options = {});

/// Runs that pipeline on a module, in place, from the phase that `entry` (a function, or a graph) has
/// reached, and gives the graph that it became. Errors are emitted at operations of the module.
FailureOr<etdg::GraphOp> makeEngineGraph(ModuleOp module, llvm::StringRef entry, const EngineOptions &options = {});

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
