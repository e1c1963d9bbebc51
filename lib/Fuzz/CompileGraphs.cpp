//===- CompileGraphs.cpp - code of graphs for this processor --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileGraphs.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Schedule/LeafRows.h"
#include "ft/Schedule/ScheduleForCpu.h"

using namespace mlir;
using namespace mlir::ft;

FailureOr<std::unique_ptr<CompiledProgram>> mlir::ft::fuzz::compileGraphs(ArrayRef<etdg::GraphOp> graphs, const CpuOptions &options) {
  ::ft::rt::Bundle bundle;
  SmallVector<OwningOpRef<etdg::GraphOp>> copies;
  SmallVector<etdg::GraphOp> scheduled;
  for (auto [i, graph] : llvm::enumerate(graphs)) {
    FailureOr<::ft::rt::Entry> entry = makeEntry(graph);
    copies.emplace_back(cast<etdg::GraphOp>(graph->clone()));
    scheduled.push_back(*copies.back());
    if (failed(entry) || failed(scheduleForCpu(scheduled.back(), options)) || failed(chooseLeafRows(scheduled.back())))
      return failure();
    entry->name = "f" + std::to_string(i);
    bundle.entries.push_back(std::move(*entry));
  }
  if (failed(addCpuPlans(scheduled, "cpu", options, bundle, bundle.entries)))
    return failure();
  return CompiledProgram::load(bundle, graphs.front()->getLoc());
}
