//===- TensorMaps.cpp - boxes of tensors, and operands of wgmma -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorMaps.h"

#include <algorithm>

using namespace ft::emulate;

uint32_t TensorMapData::boxBytes() const {
  uint32_t bytes = elementBytes;
  for (uint32_t d = 0; d < rank; ++d)
    bytes *= box[d];
  return bytes;
}

uint64_t ft::emulate::swizzle(uint64_t address, uint32_t bytes) {
  constexpr uint64_t unit = 16; // bytes that stay together
  return bytes ? address ^ ((address >> 3) & (bytes - unit)) : address;
}

std::vector<BoxPiece> ft::emulate::piecesOf(const TensorMapData &map, const int32_t *coordinates, uint64_t to) {
  constexpr uint32_t unit = 16;
  std::vector<BoxPiece> result;
  uint32_t step = unit / map.elementBytes; // elements of a piece
  uint32_t at[TensorMapData::mostDims] = {};
  uint64_t offset = 0;
  while (at[map.rank - 1] < map.box[map.rank - 1]) {
    bool isInside = true;
    uint64_t from = map.base;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t index = int64_t(coordinates[d]) + at[d];
      isInside &= index >= 0 && uint64_t(index) < map.extents[d];
      from += uint64_t(index) * map.strides[d - 1];
    }
    uint32_t count = std::min(step, map.box[0] - at[0]);
    // Element by element where the tensor's border lies in the piece.
    int64_t first = int64_t(coordinates[0]) + at[0];
    bool isWhole = isInside && first >= 0 && uint64_t(first) + count <= map.extents[0];
    for (uint32_t i = 0, n = isWhole ? 1 : count; i < n; ++i) {
      int64_t index = first + i;
      bool isElement = isInside && index >= 0 && uint64_t(index) < map.extents[0];
      result.push_back({isElement ? from + uint64_t(index) * map.elementBytes : 0,
                        swizzle(to + offset + i * map.elementBytes, map.swizzleBytes),
                        (isWhole ? count : 1) * map.elementBytes});
    }
    offset += count * map.elementBytes;
    at[0] += count;
    for (uint32_t d = 0; d + 1 < map.rank && at[d] >= map.box[d]; ++d) {
      at[d] = 0;
      ++at[d + 1];
    }
  }
  return result;
}

MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
  // PTX ISA, "Matrix descriptor format" of wgmma: fields of 14 bits in units of 16 bytes.
  constexpr uint64_t field = 0x3fff;
  constexpr uint32_t swizzles[] = {0, 128, 64, 32};
  return {(bits & field) << 4, uint32_t((bits >> 16 & field) << 4), uint32_t((bits >> 32 & field) << 4), swizzles[bits >> 62]};
}

uint64_t MatrixDescriptor::place(uint32_t line, uint32_t term, bool across) const {
  constexpr uint32_t rows = 8, elementBytes = 2; // of a core matrix
  if (!across)
    return uint64_t(line / rows) * stride + (line % rows) * swizzleBytes + term * elementBytes;
  uint32_t width = swizzleBytes / elementBytes;
  return uint64_t(line / width) * leading + uint64_t(term / rows) * stride + (term % rows) * swizzleBytes +
         (line % width) * elementBytes;
}
