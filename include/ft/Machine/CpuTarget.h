//===- CpuTarget.h - what code for a processor asks of it -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_MACHINE_CPUTARGET_H
#define FT_MACHINE_CPUTARGET_H

#include "ft/Machine/CpuPlanning.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>

namespace mlir::ft {

struct Machine;

/// How many rows of a product register tiles have: most of them `rows`, what these leave is cut by `rests`. Where `join` rows are
/// left (0: never), the last tile of `rows` is cut with them.
struct RowTiles {
  int64_t rows = 1;
  llvm::SmallVector<int64_t, 4> rests;
  int64_t join = 0;
};

/// What code for a processor has to know of its vector registers, and of the machine that it is planned for.
struct CpuTarget {
  unsigned vectorBytes = 64;     // of one vector register; a power of two
  unsigned vectorRegisters = 32; // that the register allocator can use

  /// Bytes of the nearest and of the second cache of a core, and of what one request brings.
  int64_t nearestBytes = std::numeric_limits<int64_t>::max(), secondBytes = std::numeric_limits<int64_t>::max();
  int64_t lineBytes = 0;
  /// FLOP of f32 products that a core computes while what it asked for comes from beyond them; 0: it does not ask ahead.
  double flopsAhead = 0;
  RowTiles rowTiles;
  CpuPlanning planning;

  /// Takes what is not the registers' from a machine, a CPU.
  void planFor(const Machine &machine);

  /// The processor that runs this program, planned for as `machine/cpu.json` says.
  static CpuTarget host();
};

} // namespace mlir::ft

#endif // FT_MACHINE_CPUTARGET_H
