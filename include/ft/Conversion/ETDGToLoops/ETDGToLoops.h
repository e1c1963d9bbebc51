//===- ETDGToLoops.h - scheduled graphs to structured loops -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each nest of a graph becomes the loops that its schedule says, over memory that
// storage has laid out (the dialect `loops`).
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_ETDGTOLOOPS_ETDGTOLOOPS_H
#define FT_CONVERSION_ETDGTOLOOPS_ETDGTOLOOPS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL_CONVERTETDGTOLOOPS
#include "ft/Conversion/Passes.h.inc"

/// Adds to `module` the program `graph` and its kernels. The graph stays as it is. `options` say for which lengths and
/// machine the program's estimates are made. Emits errors, and fails, on schedules that are open (`etdg-schedule-for-cpu` completes
/// them), on those for another engine and on loops whose bounds do not follow from the domain.
LogicalResult convertGraphToLoops(etdg::GraphOp graph, ModuleOp module, const CpuScheduleOptions &options = {});

/// The same for the schedules of a GPU (`etdg-schedule-for-gpu`, `etdg-place-buffers`): loops that its thread blocks share have the
/// level `grid`.
LogicalResult convertGridGraphToLoops(etdg::GraphOp graph, ModuleOp module, const GpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTOLOOPS_ETDGTOLOOPS_H
