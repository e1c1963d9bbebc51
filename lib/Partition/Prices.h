//===- Prices.h - what a kernel of several nests costs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_PARTITION_PRICES_H
#define FT_LIB_PARTITION_PRICES_H

#include "Items.h"

#include "ft/Schedule/GPU/Prices/KernelPrices.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ft::partition {

/// Schedules groups of items on copies, as `etdg-schedule-for-gpu` will schedule them, and prices what that wrote. Groups that are equal but for
/// names have one price.
class Prices {
public:
  Prices(etdg::GraphOp graph, const Items &items, const GpuScheduleOptions &options, unsigned budget)
      : graph(graph), items(items), options(options), budget(budget) {}

  /// Of one kernel of these items, with the boundary before it. None where a GPU can't run it, the model has no price for it, or the budget is
  /// spent.
  std::optional<schedule::KernelPrice> of(const Group &group);
  /// Of kernels one after the other. What they hand on to each other costs the same through barriers and boundaries, and is left out.
  std::optional<double> ofAll(ArrayRef<Group> groups);
  /// Of groups that have short nests beside what runs in order, as `etdg-schedule-for-gpu` joins them; none where that can't be planned.
  std::optional<SmallVector<Group>> joinShort();
  unsigned getNumPriced() const { return unsigned(known.size()); }

private:
  SmallVector<Operation *> membersOf(const Group &group) const;
  /// A copy of the graph that has this group alone, with the orders that its items have; null where those can't be applied.
  OwningOpRef<etdg::GraphOp> extract(const Group &group);
  /// The group as text, names numbered as they come.
  std::string keyOf(const Group &group);

  etdg::GraphOp graph;
  const Items &items;
  const GpuScheduleOptions &options;
  unsigned budget;
  llvm::StringMap<std::optional<schedule::KernelPrice>> known; // by key
  llvm::DenseMap<Operation *, std::string> texts;              // of what stands at the top of the graph
  std::map<std::vector<unsigned>, std::optional<schedule::KernelPrice>> ofNumbers;
};

} // namespace mlir::ft::partition

#endif // FT_LIB_PARTITION_PRICES_H
