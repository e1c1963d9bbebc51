//===- DeviceMemory.h - elements and places in a GPU's memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_DEVICEMEMORY_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_DEVICEMEMORY_H

#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ft::togpu {

enum AddressSpace : unsigned { generic = 0, global = 1, shared = 3 };

using leaf::isHalf;
/// Bytes of an element in memory; an i1 takes one.
inline int64_t bytesOf(Type element) {
  return element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

using tile::accessBytes;
/// Lanes of a warp: shuffles and what lanes leave for each other count on it.
inline constexpr int64_t warpLanes = tile::warpThreads;
/// Multiples of it begin what leaves have of shared memory.
inline constexpr int64_t leavesAlignment = 64;
/// Multiples of it begin parts of the workspace, so that no two thread blocks share a line of the cache.
inline constexpr int64_t partAlignment = 256;
/// Bytes of what a warp leaves of one sum for the others.
inline constexpr int64_t partialBytes = 8;

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_DEVICEMEMORY_H
