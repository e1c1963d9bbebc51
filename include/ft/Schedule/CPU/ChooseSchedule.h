//===- ChooseSchedule.h - the candidate of least time -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_CPU_CHOOSESCHEDULE_H
#define FT_SCHEDULE_CPU_CHOOSESCHEDULE_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
struct CpuScheduleOptions;

#define GEN_PASS_DECL_ETDGCHOOSESCHEDULE
#include "ft/Schedule/Passes.h.inc"

} // namespace mlir::ft

#endif // FT_SCHEDULE_CPU_CHOOSESCHEDULE_H
