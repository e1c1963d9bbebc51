//===- MergeRows.h - reductions and what divides by them --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DATAFLOW_GRAPH_MERGEROWS_H
#define FT_DATAFLOW_GRAPH_MERGEROWS_H

#include "ft/Dataflow/Graph/Graph.h"

namespace ft::dataflow {

/// Makes one normalising row-wise operator of a reduction over rows and the point-wise operator that
/// uses its result together with the reduced tensor, and of two such operators in a row. So softmax,
/// written as maximum, difference, sum and quotient, becomes one operator with two states per row,
/// which has an online form (DAT §3.3). The graph must be finished; it is again.
void mergeRows(Graph &graph);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_GRAPH_MERGEROWS_H
