//===- Passes.h - conversions between the dialects --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_PASSES_H
#define FT_CONVERSION_PASSES_H

#include "ft/Conversion/ETDGToLoops/ETDGToLoops.h"
#include "ft/Conversion/FTToETDG/FTToETDG.h"
#include "ft/Conversion/LinalgToETDG/LinalgToETDG.h"
#include "ft/Conversion/LoopsToCPU/LoopsToCPU.h"
#include "ft/Conversion/SCFToETDG/SCFToETDG.h"
#include "ft/Conversion/TSSAToTensor/TSSAToTensor.h"

namespace mlir::ft {
#define GEN_PASS_REGISTRATION
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_CONVERSION_PASSES_H
