//===- CpuTarget.h - vector registers of a processor ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_MACHINE_CPUTARGET_H
#define FT_MACHINE_CPUTARGET_H

namespace mlir::ft {

/// What code for a processor has to know of its vector registers.
struct CpuTarget {
  unsigned vectorBytes = 64;     // of one vector register; a power of two
  unsigned vectorRegisters = 32; // that the register allocator can use

  /// The processor that runs this program.
  static CpuTarget host();
};

} // namespace mlir::ft

#endif // FT_MACHINE_CPUTARGET_H
