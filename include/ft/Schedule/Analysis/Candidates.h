//===- Candidates.h - among what a schedule is chosen -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The orders (`etdg.candidates`) and divisions (`etdg.divisions`) that etdg-reorder
// leaves for an item of a graph, numbered alike for each target: the orders, then
// the divisions. An item that has fewer than another takes its last order.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_CANDIDATES_H
#define FT_SCHEDULE_ANALYSIS_CANDIDATES_H

#include "ft/Dialect/ETDG/Transforms/Distribute.h"

#include <optional>

namespace mlir::ft::schedule {

/// The orders of an item, not all where there are many.
SmallVector<etdg::ScheduleAttr> getOrders(Operation *item);
/// A division, for a remark.
std::string describe(const etdg::Division &division);
/// The rank among so many that was asked for, by number (not negative) or by a seed (not 0); none: the cheapest.
std::optional<uint64_t> getRank(int64_t candidate, uint64_t planSeed, size_t count);
/// Fails where `candidate` is a rank that no item of the graph has, and names the ranks that there are. Of several graphs in a
/// module each takes what it has. `countDivisions` says how many divisions of an item have a rank.
LogicalResult checkRank(etdg::GraphOp graph, int64_t candidate, llvm::function_ref<size_t(Operation *)> countDivisions);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_CANDIDATES_H
