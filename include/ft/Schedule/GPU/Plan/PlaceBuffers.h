//===- PlaceBuffers.h - where a GPU has the buffers of a graph --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_GPU_PLAN_PLACEBUFFERS_H
#define FT_SCHEDULE_GPU_PLAN_PLACEBUFFERS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
struct GpuScheduleOptions;
struct Machine;

#define GEN_PASS_DECL_ETDGPLACEBUFFERS
#include "ft/Schedule/Passes.h.inc"

/// Says of each buffer of a graph with binding schedules where it lies; what is specified already stays.
LogicalResult placeBuffers(etdg::GraphOp graph, const GpuScheduleOptions &options);

namespace schedule {

/// Bytes of shared memory that buffers and what is put together may take; the rest is for leaves: what they keep between their loop
/// nests, staged operands, sums of slices.
int64_t sharedBytesForBuffers(etdg::ThreadBlockAttr block);

/// Bytes of shared memory in which the warps of a thread block leave each other sums.
int64_t bytesOfWarps(etdg::ThreadBlockAttr block, const Machine &machine);

} // namespace schedule
} // namespace mlir::ft

#endif // FT_SCHEDULE_GPU_PLAN_PLACEBUFFERS_H
