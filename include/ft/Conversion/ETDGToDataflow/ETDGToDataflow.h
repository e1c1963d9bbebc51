//===- ETDGToDataflow.h - task dependence graphs for DAT --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_ETDGTODATAFLOW_ETDGTODATAFLOW_H
#define FT_CONVERSION_ETDGTODATAFLOW_ETDGTODATAFLOW_H

#include "ft/Analysis/GraphSummary.h"
#include "ft/Dataflow/Graph.h"

namespace mlir::etdg {

/// The operator graph of a task dependence graph at these lengths (DAT §4): each tensor operation of a
/// leaf with the dimensions of its blocks around it is an operator, its reads and writes by bare
/// dimensions are its tensors. A fold is a sum over its dimension. Reductions and what divides by
/// them become row-wise operators. Recurrences (scans), windows, gathers and domains that are no boxes are
/// located errors.
FailureOr<::ft::dataflow::Graph> convertToDataflow(GraphOp graph, const LengthValues &lengths);

} // namespace mlir::etdg

#endif // FT_CONVERSION_ETDGTODATAFLOW_ETDGTODATAFLOW_H
