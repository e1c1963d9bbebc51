//===- Passes.h - exploring dataflow from task dependence graphs *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_ETDGTODATAFLOW_PASSES_H
#define FT_CONVERSION_ETDGTODATAFLOW_PASSES_H

#include "ft/Analysis/GraphSummary.h"

namespace mlir::etdg {

/// Registers `etdg-explore-dataflow`.
void registerExploreDataflowPass();

/// Writes the operator graph of a task dependence graph as JSON, the form that ft-dataflow reads.
LogicalResult writeDataflow(GraphOp graph, const LengthValues &lengths, llvm::raw_ostream &os);

} // namespace mlir::etdg

#endif // FT_CONVERSION_ETDGTODATAFLOW_PASSES_H
