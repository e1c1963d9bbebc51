//===- Passes.h - choices among schedules -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_PASSES_H
#define FT_SCHEDULE_PASSES_H

#include "ft/Schedule/ApplyPlacements.h"
#include "ft/Schedule/ApplyTiles.h"
#include "ft/Schedule/BindInPlace.h"
#include "ft/Schedule/ChooseSchedule.h"
#include "ft/Schedule/JoinRegions.h"
#include "ft/Schedule/LeafRows.h"
#include "ft/Schedule/PlaceBuffers.h"
#include "ft/Schedule/ScheduleForCpu.h"
#include "ft/Schedule/ScheduleForGpu.h"

namespace mlir::ft {
#define GEN_PASS_REGISTRATION
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_SCHEDULE_PASSES_H
