//===- Options.h - what the choice of a schedule is made for ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_OPTIONS_H
#define FT_SCHEDULE_OPTIONS_H

#include "ft/Machine/Machine.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <memory>
#include <string>

namespace mlir::ft {

struct CpuScheduleOptions {
  /// What costs are estimated for: lengths in place of the graph's own typical ones
  /// (TypicalLengths), threads (0: the machine's cores), the machine, a CPU (null: machine/cpu.json).
  SmallVector<std::pair<StringAttr, int64_t>> lengths;
  unsigned threads = 0;
  std::shared_ptr<const Machine> machine;
  /// Not 0: takes any legal plan of each nest, by this seed, instead of the one of least cost (for tests).
  uint64_t planSeed = 0;
  /// Not negative: the candidate of this rank, or the last one, instead of the one of least cost (to compare).
  int64_t candidate = -1;

  const Machine &getMachine() const { return machine ? *machine : Machine::cpuDefault(); }
};

/// What a GPU's schedule is chosen for.
struct GpuScheduleOptions {
  std::string target = "sm_90a";
  /// What kernels are planned for, a GPU; null: the built-in machine of the target.
  std::shared_ptr<const Machine> machine;
  /// How many SMs to plan for; 0: as many as the machine has.
  int64_t multiprocessors = 0;
  /// Whether a nest runs in steps of the whole grid, with a barrier after each: where that pays,
  /// always where it can, never.
  enum class Steps { choose, always, never } steps = Steps::choose;
  int64_t stepThreads = 0; // of a block, in such kernels; 0: as the machine's planning says
  /// Not 0: takes any legal plan of each nest, by this seed, instead of the chosen one (for tests).
  uint64_t planSeed = 0;
  /// As of a CPU's: the order or division of this rank in the place of the one that is chosen.
  int64_t candidate = -1;
  /// Lengths to plan for, in the place of typical ones: of a form that others stand beside.
  using Lengths = SmallVector<std::pair<StringAttr, int64_t>>;
  Lengths lengths;

  const Machine &getMachine() const { return machine ? *machine : *Machine::forTarget(target); }
  int64_t getMultiprocessors() const { return multiprocessors ? multiprocessors : getMachine().units; }
};

} // namespace mlir::ft

#endif // FT_SCHEDULE_OPTIONS_H
