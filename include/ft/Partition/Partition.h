//===- Partition.h - graphs that are priced before they are cut -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_PARTITION_PARTITION_H
#define FT_PARTITION_PARTITION_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/Options.h"

#include <map>

namespace mlir::ft {

ArrayAttr toAttribute(MLIRContext *context, ArrayRef<std::string> names);
SmallVector<std::string> namesIn(Attribute list);

/// What a graph costs, and each of its items by its text, in which names are numbered as they come.
struct GraphPrice {
  double seconds = 0;
  std::multimap<std::string, double> items;

  /// Seconds of the items that another form of the graph has not.
  double ofItemsMissingIn(const GraphPrice &other) const;
};

/// The price of a graph whose orders are applied. Its kernels are scheduled on a copy. None where a GPU can't run it, or the model has no price for
/// it.
std::optional<GraphPrice> priceItems(etdg::GraphOp graph, const GpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_PARTITION_PARTITION_H
