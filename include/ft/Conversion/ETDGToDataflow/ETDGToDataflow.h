//===- ETDGToDataflow.h - task dependence graphs for DAT --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_ETDGTODATAFLOW_ETDGTODATAFLOW_H
#define FT_CONVERSION_ETDGTODATAFLOW_ETDGTODATAFLOW_H

#include "ft/Analysis/GraphSummary.h"
#include "ft/Dataflow/Graph/Graph.h"

namespace mlir::etdg {

/// Where the parts of an operator graph come from.
struct DataflowOrigin {
  /// Set by the caller: what no operator graph can be is a remark, not an error; and with `isQuiet` not even that.
  bool isOptional = false, isQuiet = false;
  /// The leaf of each operator, by the operator's name.
  llvm::StringMap<BlockOp> leaves;
  /// The dimensions of the operator graph that those of a block are, its ancestors' first; -1: no operator has it.
  llvm::DenseMap<Operation *, SmallVector<int>> dims;
};

/// The operator graph of a task dependence graph at these lengths (DAT §4): each tensor operation of a
/// leaf with the dimensions of its blocks around it is an operator, its reads and writes by bare
/// dimensions are its tensors. A fold is a sum over its dimension. Reductions and what divides by
/// them become row-wise operators. Recurrences (scans), windows, gathers and domains that are no boxes are
/// located errors. `origin`, if it is asked for, gets where things come from.
FailureOr<::ft::dataflow::Graph> convertToDataflow(GraphOp graph, const LengthValues &lengths,
                                                   DataflowOrigin *origin = nullptr);

} // namespace mlir::etdg

#endif // FT_CONVERSION_ETDGTODATAFLOW_ETDGTODATAFLOW_H
