//===- Targets.h - the passes of each target --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One list of passes for each target, by phase. `--ft-compile`, `ft-run`, bundles, the C interface, Python and the
// fuzzer all run these lists, so that what one of them prints is what another one executes.
//
//===----------------------------------------------------------------------===//
#ifndef FT_PIPELINES_TARGETS_H
#define FT_PIPELINES_TARGETS_H

#include "ft/Machine/CpuTarget.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Schedule/Options.h"

#include <memory>
#include <string>

namespace mlir::ft {

struct GpuOptions;

/// What the passes for a CPU are made for. All of it is text or numbers, as the passes print it.
struct CpuPipelineOptions {
  CpuPipelineOptions() = default;
  CpuPipelineOptions(const CpuScheduleOptions &schedules, const CpuTarget &processor);

  std::string machine = "cpu"; // by name or file
  unsigned threads = 0;        // to plan for; 0: the machine's cores
  llvm::SmallVector<std::string> lengths; // NAME=NUMBER, in the place of typical ones
  uint64_t planSeed = 0;       // not 0: any legal plan, drawn by this seed
  int64_t candidate = -1;      // not negative: the order or loop distribution of this rank
  unsigned vectorBytes = 0, vectorRegisters = 0; // of the processor; 0: of this machine
  bool poison = false;         // for tests: memory of iterations is all ones when they begin
};

/// What the passes for a GPU are made for.
struct GpuPipelineOptions {
  GpuPipelineOptions() = default;
  explicit GpuPipelineOptions(const GpuScheduleOptions &schedules);
  explicit GpuPipelineOptions(const GpuOptions &options);

  std::string target = "sm_90a";
  std::string machine;         // by name or file; empty: the target's own
  int64_t multiprocessors = 0; // to plan for; 0: as many as the machine has
  std::string steps = "choose"; // of the whole grid: choose, always, never
  int64_t stepThreads = 0;     // of a thread block in such kernels; 0: as the machine's planning has it
  uint64_t planSeed = 0;       // not 0: any legal plan, drawn by this seed
  int64_t candidate = -1;      // not negative: the order or loop distribution of this rank
  std::string partition;       // boundary, souffle or cost; empty: the phase is the identity
  int64_t barrierLimit = 0;    // for tests: polls of a grid barrier before a kernel traps; 0: no limit
};

/// The passes of one target.
class TargetPipeline {
public:
  virtual ~TargetPipeline() = default;
  /// The machine that all phases plan for, by name or file.
  virtual std::string getMachine() const = 0;
  /// Whether it has passes in the phase `partition`.
  virtual bool partitions() const { return false; }
  /// Adds what asks prices which merges `coarsen` is to leave out; false where nothing does.
  virtual bool addChoiceOfMerges(OpPassManager &pm, llvm::StringRef rounding) const { return false; }
  /// Adds what the target runs in a phase, after the passes that all targets have there.
  virtual void addPasses(OpPassManager &pm, Phase phase) const = 0;
};

std::unique_ptr<TargetPipeline> makeCpuPipeline(CpuPipelineOptions options = {});
std::unique_ptr<TargetPipeline> makeGpuPipeline(GpuPipelineOptions options = {});

/// For tests: schedules of a GPU, whose thread blocks the cores of a CPU run.
std::unique_ptr<TargetPipeline> makeGridOnCoresPipeline(CpuPipelineOptions cores, GpuPipelineOptions grid);

/// From kernels on tiles to the LLVM dialect: for whatever operation holds such kernels.
void buildKernelsToLLVMPipeline(OpPassManager &pm);

} // namespace mlir::ft

#endif // FT_PIPELINES_TARGETS_H
