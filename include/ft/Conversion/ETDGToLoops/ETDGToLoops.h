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

/// Adds to `module` the program `graph` and its kernels. The graph stays as it is. Of
/// variants the last one is taken, which has no condition. `options` say for which lengths and
/// machine the program's estimates are made, and what is open in schedules. Emits errors, and fails,
/// on schedules for another engine and on loops whose bounds do not follow from the domain.
LogicalResult convertGraphToLoops(etdg::GraphOp graph, ModuleOp module, const CpuScheduleOptions &options = {});

/// The same for the schedules of a GPU: loops that its blocks of threads share have the level `grid`. Buffers of which nobody has said where they lie are
/// placed first, as graphs are scheduled that their callers have not (the pass refuses them).
LogicalResult convertGridGraphToLoops(etdg::GraphOp graph, ModuleOp module, const GpuScheduleOptions &options);

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTOLOOPS_ETDGTOLOOPS_H
