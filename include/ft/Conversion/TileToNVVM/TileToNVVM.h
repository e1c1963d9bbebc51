//===- TileToNVVM.h - tiles to a thread's values ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile in registers becomes one value for each element that a thread holds; a
// tile in shared memory a pointer; copies, loads and products what one thread does.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_TILETONVVM_TILETONVVM_H
#define FT_CONVERSION_TILETONVVM_TILETONVVM_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::ft {

/// Lowers the operations of the tile dialect below `root`, whatever stands around them.
LogicalResult lowerTiles(Operation *root);

/// What a view and shared memory are to code of threads, the code that runs it: a pointer and numbers, as `converter` has their types.
void populateTileMemoryPatterns(const TypeConverter &converter, RewritePatternSet &patterns);

/// Where in swizzled shared memory what would lie there lies: an access of at most 16 bytes that is aligned so far.
Value createSwizzledAddress(ImplicitLocOpBuilder &builder, Value pointer);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ft/Conversion/TileToNVVM/Passes.h.inc"

} // namespace mlir::ft

#endif // FT_CONVERSION_TILETONVVM_TILETONVVM_H
