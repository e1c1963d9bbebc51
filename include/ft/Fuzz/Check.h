//===- Check.h - every engine agrees on a program ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program verifies and prints as it parses; the interpreter of lists is the
// reference; its graph passes etdg-verify and gives the same in all three orders
// of the graph interpreter, on the CPU engine and in emulated GPU kernels, at every binding of lengths; after
// each phase the validator accepts the graph and it gives the same in declared order.
//
//===----------------------------------------------------------------------===//
#ifndef FT_FUZZ_CHECK_H
#define FT_FUZZ_CHECK_H

#include "ft/Fuzz/Generator.h"

namespace mlir::ft::fuzz {

enum class Outcome { Equal, Refused, Failed };

struct Verdict {
  Outcome outcome = Outcome::Equal;
  std::string stage;   // where it failed: "graph interpreter, random order"
  std::string message; // what was said there
  int binding = -1;    // which lengths, if it is about a run
};

struct CheckOptions {
  bool cpu = true, graphInterpreter = true, verifyGraph = true, roundTrip = true;
  /// Phase by phase, from coarsen on.
  bool phases = false;
  /// The GPU's kernels, thread by thread on this machine.
  bool emulate = false;
  /// Derivatives instead of the programs themselves; the engines then run the derivatives.
  bool gradients = false;
  /// Upstream's passes after each phase.
  bool upstream = true;
  uint64_t seed = 0;
};

/// Seconds spent in each stage, over all programs.
struct StageTimes {
  double roundTrip = 0, interpreter = 0, conversion = 0, verification = 0, graphInterpreter = 0,
         compilation = 0, cpu = 0, emulation = 0, phases = 0, validation = 0, declared = 0;
};

/// One verdict for each program; the graphs of all share one JIT module.
std::vector<Verdict> checkPrograms(MLIRContext *context, MutableArrayRef<Program> programs,
                                   const CheckOptions &options, StageTimes &times);

} // namespace mlir::ft::fuzz

#endif // FT_FUZZ_CHECK_H
