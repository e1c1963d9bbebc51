//===- Objective.h - the least time or energy on an array -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches fusion, orders and tiles for the least time or the least energy of
// an accelerator, with a proved lower bound. Both are sums over fused groups
// (Accelerator.h), so the best schedule is the best partition into groups, as
// for traffic; what a group takes at least follows from what it moves at least
// and from the fewest cycles of its operators.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_SEARCH_OBJECTIVE_H
#define FT_DATAFLOW_SEARCH_OBJECTIVE_H

#include "ft/Dataflow/Graph/Accelerator.h"

namespace ft::dataflow {

enum class Objective { Traffic, Time, Energy };
const char *name(Objective objective);
std::optional<Objective> parseObjective(std::string_view name);

struct ObjectiveResult {
  /// The schedule; its traffic's lower bound is that of any schedule.
  exact::Result schedule;
  /// Seconds or joules of the schedule, and what no schedule that fits stays below.
  double value = 0, lowerBound = 0;
};

/// The best schedule by time or energy within options.budget seconds. The machine is an accelerator (units > 0);
/// it is never worse than the schedules of least traffic of this fusion mode and of the narrower ones.
ObjectiveResult searchObjective(const Graph &graph, const exact::Options &options,
                                const Accelerator &machine, Objective objective);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_SEARCH_OBJECTIVE_H
