//===- Passes.h - exploring dataflow from task dependence graphs *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_ETDGTODATAFLOW_PASSES_H
#define FT_CONVERSION_ETDGTODATAFLOW_PASSES_H

#include "ft/Analysis/GraphSummary.h"

#include "mlir/Pass/Pass.h"

namespace mlir::etdg {

/// Registers `etdg-explore-dataflow`.
void registerExploreDataflowPass();

/// The pass for a machine's buffer. What it can't explore, it leaves as it is, with a remark. `isQuiet`: as part of compiling, see
/// the pass's option `quiet`.
std::unique_ptr<Pass> createOptionalExploreDataflow(StringRef machine, bool isAgain, bool isQuiet);

/// Writes the operator graph of a task dependence graph as JSON, the form that ft-dataflow reads, or as a table for people.
LogicalResult writeDataflow(GraphOp graph, const LengthValues &lengths, llvm::raw_ostream &os, bool asTable = false);

} // namespace mlir::etdg

#endif // FT_CONVERSION_ETDGTODATAFLOW_PASSES_H
