//===- WriteSchedules.h - a dataflow as schedules of blocks -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_ETDGTODATAFLOW_WRITESCHEDULES_H
#define FT_LIB_CONVERSION_ETDGTODATAFLOW_WRITESCHEDULES_H

#include "ft/Conversion/ETDGToDataflow/ETDGToDataflow.h"
#include "ft/Dataflow/Search.h"

namespace mlir::etdg {

/// Writes the order and the tiles that a search found as `#etdg.schedule` of the nests and blocks at the top of
/// a graph, for a machine of so many units that share their points; a call of the nest's leaves touches no more than these elements. What is scheduled already stays; a nest whose results
/// the search fuses with another one's gets none (coarsening joins them first), and a remark says so.
void writeSchedules(GraphOp graph, const ::ft::dataflow::Graph &dataflow, const DataflowOrigin &origin,
                    ArrayRef<::ft::dataflow::exact::GroupResult> groups, int64_t units, int64_t elements);

} // namespace mlir::etdg

#endif // FT_LIB_CONVERSION_ETDGTODATAFLOW_WRITESCHEDULES_H
