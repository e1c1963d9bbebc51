//===- LeafRows.h - which rows of a leaf one call computes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_APPLY_LEAFROWS_H
#define FT_SCHEDULE_APPLY_LEAFROWS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL_ETDGCHOOSELEAFROWS
#include "ft/Schedule/Passes.h.inc"

/// Writes `etdg.rows` on the leaves of a scheduled graph whose calls have rows, and takes `etdg.layouts` away that are of other accesses than storage
/// has left; what is specified already of rows stays, or is refused.
LogicalResult chooseLeafRows(etdg::GraphOp graph);

} // namespace mlir::ft

#endif // FT_SCHEDULE_APPLY_LEAFROWS_H
