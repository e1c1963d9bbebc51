//===- WriteSchedules.h - a dataflow as schedules of blocks -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_ETDGTODATAFLOW_WRITESCHEDULES_H
#define FT_LIB_CONVERSION_ETDGTODATAFLOW_WRITESCHEDULES_H

#include "ft/Conversion/ETDGToDataflow/ETDGToDataflow.h"
#include "ft/Dataflow/Search/Search.h"

namespace mlir::etdg {

/// What schedules are written for.
struct ScheduleTarget {
  int64_t units = 1;         // of a machine, that share the points of a nest
  int64_t elements = 0;      // that one call of a nest's leaves touches at most
  bool isCoarsened = false;  // nests are what coarsening made of them
  bool isQuiet = false;      // what is written is said in the compiler's own remarks alone
};

/// Whether a nest or block at the top of the graph has no schedule.
bool hasOpenNests(GraphOp graph);

/// Writes the order and the tiles that a search found as `#etdg.schedule` of the nests and blocks at the top of
/// a graph. What is scheduled already stays. A nest whose results the search fuses with another one's gets none before coarsening, which joins
/// them first; what coarsening left apart walks its dimensions by itself (DAT §3.2's L' and L''), in tiles of its own. A remark says so.
void writeSchedules(GraphOp graph, const ::ft::dataflow::Graph &dataflow, const DataflowOrigin &origin,
                    ArrayRef<::ft::dataflow::exact::GroupResult> groups, const ScheduleTarget &target);

} // namespace mlir::etdg

#endif // FT_LIB_CONVERSION_ETDGTODATAFLOW_WRITESCHEDULES_H
