//===- CpuMachine.h - what a processor can do -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine model of a CPU (DESIGN §6), read from a file of machine/. Passes
// ask it for sizes, rates and costs; they hold no such constants of their own.
//
//===----------------------------------------------------------------------===//
#ifndef FT_MACHINE_CPUMACHINE_H
#define FT_MACHINE_CPUMACHINE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::ft {

struct CpuMachine {
  struct Level {
    std::string name;
    int64_t bytes = 0; // 0: without limit
    bool shared = false;
    double bytesPerSecond = 0; // that one core reads
  };
  std::string name;
  unsigned cores = 1;
  SmallVector<Level> levels; // nearest first; the last one has no limit
  /// FLOP/s of one core's f32 product whose register tile has 1, 2, … rows, all operands in the nearest cache.
  SmallVector<double> productFlopsByRows;
  /// Results per second of one core: an addition or the like, an exponential or the like.
  double elementwisePerSecond = 1, elementaryPerSecond = 1;
  double launchSeconds = 0, barrierSeconds = 0, leafCallSeconds = 0;

  /// The part of a machine (Machine.h) that CPU code is planned by.
  static llvm::Expected<CpuMachine> load(llvm::StringRef path);
  static const CpuMachine &builtin();

  /// The nearest level that holds so many bytes.
  const Level &levelFor(double bytes) const;
  /// From where so many bytes are read that are used in turn, and how fast: of a cache (but the nearest)
  /// that is too small, a part still hits, up to twice its size.
  struct Source {
    unsigned level;
    double bytesPerSecond;
  };
  Source sourceFor(double bytes) const;
  /// Full register tiles that a product with `rows` rows consists of, and rests, as the leaf generator takes
  /// them: how many rows, how often. Each reads the whole right-hand side.
  SmallVector<std::pair<int64_t, int64_t>, 4> tilesOf(int64_t rows) const;
  /// FLOP/s of one core in a register tile of so many rows, its right-hand side in the nearest cache.
  double tileFlops(int64_t rows) const { return productFlopsByRows[rows - 1]; }
};

} // namespace mlir::ft

#endif // FT_MACHINE_CPUMACHINE_H
