//===- TensorMaps.h - boxes of tensors, and operands of wgmma ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ENGINE_EMULATOR_TENSORMAPS_H
#define FT_LIB_ENGINE_EMULATOR_TENSORMAPS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ft::emulate {

/// What the emulator keeps in a descriptor's 128 bytes; the innermost dimension comes first.
struct TensorMapData {
  static constexpr uint32_t isMap = 0x46544d50, mostDims = 5;
  uint32_t magic = 0; // isMap
  uint8_t rank = 0, elementBytes = 0, swizzleBytes = 0, fillsWithNaN = 0;
  uint64_t base = 0;
  uint64_t extents[mostDims] = {};
  uint64_t strides[mostDims - 1] = {}; // bytes
  uint32_t box[mostDims] = {};

  uint32_t boxBytes() const;
};
static_assert(sizeof(TensorMapData) <= 128);

/// Bytes of a box that lie side by side in memory, and where in the box; `from` is 0 outside the tensor.
struct BoxPiece {
  uint64_t from = 0, to = 0;
  uint32_t bytes = 0;
};
/// The pieces of the box that begins at `coordinates`, for the shared address `to`, each of at most 16 bytes.
std::vector<BoxPiece> piecesOf(const TensorMapData &map, const int32_t *coordinates, uint64_t to);

/// An address in shared memory after TMA's swizzle over rows of `bytes` (0: none): bits 4 to 6 are
/// combined with bits 7 to 9, as many as `bytes` needs.
uint64_t swizzle(uint64_t address, uint32_t bytes);

/// A product of 64 rows and 16 terms: its columns, the elements' type and whether the right operand's
/// (the left one's) consecutive elements lie along the columns (rows) and not along the terms.
struct ProductForm {
  uint32_t columns = 8;
  bool isBrain = false, leftAcross = false, rightAcross = false;
};

/// A matrix in shared memory, as PTX describes it to wgmma.
struct MatrixDescriptor {
  uint64_t start = 0; // the low 18 bits of an address
  uint32_t leading = 0, stride = 0, swizzleBytes = 0;

  static MatrixDescriptor decode(uint64_t bits);
  /// The address, before swizzling, of an element of 16 bits; `line` is its row or column, `term` is below 16.
  uint64_t place(uint32_t line, uint32_t term, bool across) const;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_TENSORMAPS_H
