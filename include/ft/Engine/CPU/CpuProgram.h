//===- CpuProgram.h - a graph, compiled and ready to run --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a graph for the processor that runs this program and runs it on
// arrays. Lengths are arguments of a run: one compilation serves all of them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ENGINE_CPU_CPUPROGRAM_H
#define FT_ENGINE_CPU_CPUPROGRAM_H

#include "ft/Conversion/ETDGToCPU/ETDGToCPU.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Support/ArrayType.h"

#include <memory>
#include <vector>

namespace mlir {
namespace ft {
class JitCode;

/// `makeEngineGraph` with the CPU engine's choice among the schedules that reordering found.
FailureOr<etdg::GraphOp> makeCpuGraph(ModuleOp module, StringRef entry, const CpuOptions &options,
                                      const EngineOptions &phases = {});

/// Lengths bound to a graph's names.
using LengthValues = llvm::DenseMap<StringAttr, int64_t>;

class CpuProgram {
public:
  /// From whatever a front end made: all phases run on the module, which they change.
  static FailureOr<std::unique_ptr<CpuProgram>> compile(ModuleOp module, StringRef entry,
                                                        const CpuOptions &options = {});
  /// Of a graph that the phases are done with. Errors are emitted at the graph's operations.
  static FailureOr<std::unique_ptr<CpuProgram>> compile(etdg::GraphOp graph, const CpuOptions &options = {});
  /// Compiles several graphs as one JIT module, which costs less than one module each. A graph that
  /// cannot be lowered gives null, and its errors; a failure of the rest fails the whole.
  static FailureOr<std::vector<std::unique_ptr<CpuProgram>>> compileMany(ArrayRef<etdg::GraphOp> graphs,
                                                                         const CpuOptions &options = {});
  ~CpuProgram();

  /// Everything that one call needs besides its arguments; keep it to call again at the same lengths.
  class Call {
  public:
    ~Call();
    std::vector<::ft::rt::HostArray> &results() { return outputs; }
    /// How often threads waited for each other in the last run.
    int64_t numBarriers() const { return barriers; }
    /// Memory of buffers that are neither arguments nor results.
    int64_t intermediateBytes() const;

  private:
    friend class CpuProgram;
    std::vector<::ft::rt::HostArray> outputs, intermediates;
    std::vector<int64_t> environment, ofKernel;
    int64_t errors[4] = {0, 0, 0, 0};
    int64_t barriers = 0;
  };

  /// Allocates results and intermediates for these lengths. Fails (with errors at the graph) when a
  /// name has no length, a bound does not hold, or memory runs out.
  FailureOr<std::unique_ptr<Call>> prepare(const LengthValues &lengths);
  /// Runs on arrays whose shapes are those of the arguments' types; they are not checked here.
  LogicalResult run(Call &call, ArrayRef<const ::ft::rt::HostArray *> arguments);

  unsigned numKernels() const { return kernels.size(); }
  /// The kernels with their plans, in the order in which they run.
  ArrayRef<CpuKernel> getKernels() const { return lowered.kernels; }
  /// What LLVM was given and what it made of it, of all programs that were compiled together: instructions
  /// of its representation, bytes of object files. They depend on nothing but program and processor.
  int64_t numInstructions() const;
  int64_t codeBytes() const;

private:
  CpuProgram(CpuModule &&lowered, Location loc);

  /// Lowers to kernels and makes the constants; no code yet.
  static FailureOr<std::unique_ptr<CpuProgram>> lower(etdg::GraphOp graph, const CpuOptions &options);
  static FailureOr<std::shared_ptr<JitCode>> generate(ModuleOp code, ArrayRef<std::string> entries);
  void addEntries(std::vector<std::string> &entries) const;
  LogicalResult lookUpKernels();

  using KernelFn = void (*)(void *env, int64_t begin, int64_t end);
  using CountFn = int64_t (*)(void *env);

  CpuModule lowered;
  Location loc;
  std::shared_ptr<JitCode> code; // shared by what was compiled together
  struct Kernel {
    KernelFn run;
    CountFn count;
    bool team;
  };
  std::vector<Kernel> kernels;
  std::vector<std::pair<unsigned, ::ft::rt::HostArray>> fixed; // constants and splats, by slot
  BoundsAttr bounds;
  ArrayAttr checks;
};

/// The contents of a constant or splat buffer.
FailureOr<::ft::rt::HostArray> makeConstantArray(const CpuBuffer &buffer, Location loc);

/// What a call must satisfy: names ≥ 0, the function's bounds, and the checks that
/// `ft.split` and `ft.cast` asked for. Emits an error at `loc` for the first that fails.
LogicalResult checkLengths(Location loc, ArrayRef<StringAttr> names, BoundsAttr bounds, ArrayAttr checks,
                           const LengthValues &lengths);

} // namespace ft
} // namespace mlir

#endif // FT_ENGINE_CPU_CPUPROGRAM_H
