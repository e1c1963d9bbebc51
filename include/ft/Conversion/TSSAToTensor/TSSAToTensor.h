//===- TSSAToTensor.h - accesses and assigns to upstream dialects -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_TSSATOTENSOR_TSSATOTENSOR_H
#define FT_CONVERSION_TSSATOTENSOR_TSSATOTENSOR_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DECL_CONVERTTSSATOTENSOR
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_CONVERSION_TSSATOTENSOR_TSSATOTENSOR_H
