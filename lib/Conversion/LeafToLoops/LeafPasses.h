//===- LeafPasses.h - Passes of the leaf pipeline ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LEAFTOLOOPS_LEAFPASSES_H
#define FT_LIB_CONVERSION_LEAFTOLOOPS_LEAFPASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft::leaf {

/// On LLVM dialect modules.
std::unique_ptr<Pass> createHalfMemoryPass();

} // namespace mlir::ft::leaf

#endif // FT_LIB_CONVERSION_LEAFTOLOOPS_LEAFPASSES_H
