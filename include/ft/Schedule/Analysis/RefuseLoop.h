//===- RefuseLoop.h - which loop of a schedule an engine can't run -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_ANALYSIS_REFUSELOOP_H
#define FT_SCHEDULE_ANALYSIS_REFUSELOOP_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::ft::schedule {

/// Begins the error that the engine ("CPU", "GPU") can't run this loop of a nest's schedule, with the loop's name and level;
/// why is to follow.
InFlightDiagnostic refuseLoop(etdg::BlockOp front, etdg::ScheduleAttr schedule, etdg::LoopAttr loop, StringRef engine);
/// Begins the error that the engine can't run a placement of a nest's schedule, with its read, loop and memory; why is to follow.
InFlightDiagnostic refusePlacement(etdg::BlockOp front, etdg::ScheduleAttr schedule, etdg::PlacementAttr placement, StringRef engine);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_REFUSELOOP_H
