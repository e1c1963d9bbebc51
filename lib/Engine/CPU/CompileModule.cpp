//===- CompileModule.cpp - from a module to a program ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every phase between a front end and the CPU engine, for callers that hold a
// module and want to run it.
//
//===----------------------------------------------------------------------===//

#include "ft/Engine/CPU/CpuProgram.h"
#include "ft/Schedule/ChooseSchedule.h"
#include "ft/Schedule/ScheduleForCpu.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::ft;

FailureOr<etdg::GraphOp> mlir::ft::makeCpuGraph(ModuleOp module, StringRef entry, const CpuOptions &options,
                                                const EngineOptions &phases) {
  EngineOptions engine = phases;
  engine.after = [&](OpPassManager &pm, Phase phase) {
    if (phases.after)
      phases.after(pm, phase);
    if (phase == Phase::Reorder)
      pm.addNestedPass<etdg::GraphOp>(createChooseSchedule(options));
    if (phase == Phase::Schedule)
      pm.addNestedPass<etdg::GraphOp>(createScheduleForCpu(options));
  };
  return makeEngineGraph(module, entry, engine);
}

FailureOr<std::unique_ptr<CpuProgram>> CpuProgram::compile(ModuleOp module, StringRef entry,
                                                           const CpuOptions &options) {
  FailureOr<etdg::GraphOp> graph = makeCpuGraph(module, entry, options);
  if (failed(graph))
    return failure();
  return compile(*graph, options);
}
