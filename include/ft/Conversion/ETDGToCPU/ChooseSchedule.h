//===- ChooseSchedule.h - the candidate of least time -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_ETDGTOCPU_CHOOSESCHEDULE_H
#define FT_CONVERSION_ETDGTOCPU_CHOOSESCHEDULE_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
struct CpuOptions;

#define GEN_PASS_DECL_ETDGCHOOSESCHEDULE
#include "ft/Conversion/Passes.h.inc"

/// `etdg-choose-schedule` with what the caller knows of lengths, threads and machine.
std::unique_ptr<Pass> createChooseSchedule(const CpuOptions &options);

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTOCPU_CHOOSESCHEDULE_H
