//===- Passes.h - kernels of a graph ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_PARTITION_PASSES_H
#define FT_PARTITION_PASSES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DECL
#include "ft/Partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ft/Partition/Passes.h.inc"
} // namespace mlir::ft

#endif // FT_PARTITION_PASSES_H
