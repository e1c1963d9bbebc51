//===- Options.h - what the choice of a schedule is made for ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_OPTIONS_H
#define FT_SCHEDULE_OPTIONS_H

#include "ft/Machine/CpuMachine.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::ft {

struct CpuScheduleOptions {
  /// Most rows that a leaf computes at once.
  int64_t maxRows = 64;
  /// Bytes that the rows of one leaf may touch: a share of the L2 cache.
  int64_t rowBytes = 256 << 10;
  /// What costs are estimated for: typical lengths beside the graph's own (`ft.lengths`,
  /// `etdg.assume`), threads (0: the machine's cores), the machine (null: the built-in model).
  SmallVector<std::pair<StringAttr, int64_t>> lengths;
  unsigned threads = 0;
  const CpuMachine *machine = nullptr;
  /// Not 0: takes any legal plan of each nest, by this seed, instead of the one of least cost (for tests).
  uint64_t planSeed = 0;
  /// Not negative: the candidate of this rank, or the last one, instead of the one of least cost (to compare).
  int64_t candidate = -1;
};

} // namespace mlir::ft

#endif // FT_SCHEDULE_OPTIONS_H
