//===- Passes.h - choices among schedules -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_PASSES_H
#define FT_SCHEDULE_PASSES_H

#include "ft/Schedule/Apply/ApplyPlacements.h"
#include "ft/Schedule/Apply/ApplyTiles.h"
#include "ft/Schedule/Apply/BindInPlace.h"
#include "ft/Schedule/CPU/ChooseSchedule.h"
#include "ft/Schedule/GPU/Plan/JoinRegions.h"
#include "ft/Schedule/Apply/LeafRows.h"
#include "ft/Schedule/GPU/Plan/PlaceBuffers.h"
#include "ft/Schedule/CPU/ScheduleForCpu.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

namespace mlir::ft {
#define GEN_PASS_REGISTRATION
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_SCHEDULE_PASSES_H
