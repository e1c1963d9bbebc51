//===- LeafPasses.h - Passes of the leaf pipeline ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_FT_ENGINE_LEAF_LEAFPASSES_H
#define LIB_FT_ENGINE_LEAF_LEAFPASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft::leaf {

/// On LLVM dialect modules.
std::unique_ptr<Pass> createHalfMemoryPass();

} // namespace mlir::ft::leaf

#endif // LIB_FT_ENGINE_LEAF_LEAFPASSES_H
