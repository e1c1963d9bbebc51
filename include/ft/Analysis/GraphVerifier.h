//===- GraphVerifier.h - is a graph well formed, exactly --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_GRAPHVERIFIER_H
#define FT_ANALYSIS_GRAPHVERIFIER_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// What `etdg-verify` asks, by Presburger sets, for all lengths that the graph's
/// bounds allow. Emits one error for each thing that is wrong, with a point that
/// shows it and a note at the other end.
LogicalResult verifyGraph(GraphOp graph);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_GRAPHVERIFIER_H
