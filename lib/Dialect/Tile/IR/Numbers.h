//===- Numbers.h - how great numbers of layouts and tiles are ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_IR_NUMBERS_H
#define FT_LIB_DIALECT_TILE_IR_NUMBERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdint>

namespace mlir::tile {

/// The code that counts threads, elements or bytes multiplies up to three numbers of a layout or tile: so great they may be
/// without leaving 64 bits. No thread block comes near it.
inline constexpr int64_t mostNumber = int64_t(1) << 20;
/// Elements of a tile that one thread has, each a value of its code.
inline constexpr int64_t mostElements = int64_t(1) << 16;

/// The first that is too great, or 0.
inline int64_t findTooGreat(llvm::ArrayRef<int64_t> numbers) {
  auto *found = llvm::find_if(numbers, [](int64_t number) { return number > mostNumber; });
  return found == numbers.end() ? 0 : *found;
}

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_IR_NUMBERS_H
