//===- Partition.h - graphs that are priced before they are cut -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_PARTITION_PARTITION_H
#define FT_PARTITION_PARTITION_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/Options.h"

namespace mlir::ft {

ArrayAttr toAttribute(MLIRContext *context, ArrayRef<std::string> names);
SmallVector<std::string> namesIn(Attribute list);

/// Seconds that a graph takes after the phase `reorder`. Its orders are applied and its kernels scheduled on a copy. None where a GPU can't run
/// it, or the model has no price for it.
std::optional<double> priceOrdered(etdg::GraphOp graph, const GpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_PARTITION_PARTITION_H
