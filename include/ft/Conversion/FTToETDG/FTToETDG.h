//===- FTToETDG.h - nested lists to the task dependence graph ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_FTTOETDG_FTTOETDG_H
#define FT_CONVERSION_FTTOETDG_FTTOETDG_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DECL_CONVERTFTTOETDG
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_CONVERSION_FTTOETDG_FTTOETDG_H
