//===- Passes.h - the validator's passes ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_VALIDATOR_PASSES_H
#define FT_VALIDATOR_PASSES_H

#include "ft/Validator/Validator.h"
#include "mlir/Pass/Pass.h"

namespace mlir::etdg {
#define GEN_PASS_DECL
#include "ft/Validator/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ft/Validator/Passes.h.inc"
} // namespace mlir::etdg

#endif // FT_VALIDATOR_PASSES_H
