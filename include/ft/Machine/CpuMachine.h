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
  /// FLOP/s of one core's f32 product whose register tile has 1, 2, … rows.
  SmallVector<double> productFlopsByRows;
  /// Results per second of one core: an addition or the like, an exponential or the like.
  double elementwisePerSecond = 1, elementaryPerSecond = 1;
  double launchSeconds = 0, barrierSeconds = 0, leafCallSeconds = 0;

  /// The model in JSON, or what is wrong with it: a level, rate or cost that is missing or not
  /// positive.
  static llvm::Expected<CpuMachine> parse(llvm::StringRef json);
  static llvm::Expected<CpuMachine> load(llvm::StringRef path);
  /// machine/cpu.json as it was when this library was built.
  static const CpuMachine &builtin();

  /// The nearest level that holds so many bytes.
  const Level &levelFor(double bytes) const;
  /// FLOP/s of one core for a product with `rows` rows: full register tiles and a rest.
  double productFlops(int64_t rows) const;
};

} // namespace mlir::ft

#endif // FT_MACHINE_CPUMACHINE_H
