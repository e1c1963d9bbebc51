//===- SCFToETDG.h - imperative loops over tensors to graphs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_SCFTOETDG_SCFTOETDG_H
#define FT_CONVERSION_SCFTOETDG_SCFTOETDG_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DECL_CONVERTSCFTOETDG
#define GEN_PASS_DECL_SCFPRINTRAISING
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_CONVERSION_SCFTOETDG_SCFTOETDG_H
