//===- SwizzledAddress.h - the order of bytes in swizzled memory ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In each line of 128 bytes, which is what the banks of shared memory give at a time, pieces of 16 bytes change places with each other: piece p
// of line l lies where piece p xor (l mod 8) would. Rows that are a line long begin in other banks each.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_SWIZZLEDADDRESS_H
#define FT_SUPPORT_SWIZZLEDADDRESS_H

#include <cstdint>

namespace mlir::ft {

/// Bits of an address that say which line of eight it is in, and how far they stand above those that say which piece of the line.
inline constexpr int64_t swizzleLineBits = 0x380, swizzleShift = 3;

/// Where the byte lies that would lie at this address.
constexpr uint64_t swizzledAddress(uint64_t address) { return address ^ ((address & uint64_t(swizzleLineBits)) >> swizzleShift); }

} // namespace mlir::ft

#endif // FT_SUPPORT_SWIZZLEDADDRESS_H
