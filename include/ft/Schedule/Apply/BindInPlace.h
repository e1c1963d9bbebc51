//===- BindInPlace.h - mutated arguments keep their memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_APPLY_BINDINPLACE_H
#define FT_SCHEDULE_APPLY_BINDINPLACE_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL_ETDGBINDINPLACE
#include "ft/Schedule/Passes.h.inc"

} // namespace mlir::ft

#endif // FT_SCHEDULE_APPLY_BINDINPLACE_H
