//===- MemoryAlignment.h - where memory of a CPU begins ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_MEMORYALIGNMENT_H
#define FT_SUPPORT_MEMORYALIGNMENT_H

#include <cstdint>

namespace mlir::ft {

/// Memory of kernels, and of values between loop nests, begins at multiples of it on a CPU: bytes of a line of the caches, and of the
/// widest vectors.
inline constexpr int64_t memoryAlignment = 64;

} // namespace mlir::ft

#endif // FT_SUPPORT_MEMORYALIGNMENT_H
