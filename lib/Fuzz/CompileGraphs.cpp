//===- CompileGraphs.cpp - code of graphs for this processor --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileGraphs.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Pipelines/Targets.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::ft;

FailureOr<std::unique_ptr<CompiledProgram>> mlir::ft::fuzz::compileGraphs(ArrayRef<etdg::GraphOp> graphs, const CpuOptions &options) {
  ::ft::rt::Bundle bundle;
  OwningOpRef<ModuleOp> copies = ModuleOp::create(graphs.front()->getLoc());
  SmallVector<etdg::GraphOp> scheduled;
  for (auto [i, graph] : llvm::enumerate(graphs)) {
    FailureOr<::ft::rt::Entry> entry = makeEntry(graph);
    if (failed(entry))
      return failure();
    scheduled.push_back(cast<etdg::GraphOp>(graph->clone()));
    copies->push_back(scheduled.back());
    entry->name = "f" + std::to_string(i);
    bundle.entries.push_back(std::move(*entry));
  }
  // They come as they are, and leave open what the phases up to `storage` decide.
  std::unique_ptr<TargetPipeline> target = makeTargetPipeline(options);
  PipelineOptions phases;
  phases.from = phases.to = Phase::Storage;
  phases.target = target.get();
  phases.validate = false;
  phases.completes = true;
  PassManager pm(copies->getContext());
  buildPipeline(pm, phases);
  if (failed(pm.run(*copies)))
    return failure();
  if (failed(addCpuPlans(scheduled, "cpu", options, bundle, bundle.entries)))
    return failure();
  return CompiledProgram::load(bundle, graphs.front()->getLoc());
}
