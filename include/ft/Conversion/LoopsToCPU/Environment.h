//===- Environment.h - what a kernel of the CPU is called with --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_LOOPSTOCPU_ENVIRONMENT_H
#define FT_CONVERSION_LOOPSTOCPU_ENVIRONMENT_H

namespace mlir::ft {

/// Slots of a kernel's environment, an array of 64-bit slots.
struct Environment {
  static constexpr unsigned kThreads = 0; // number of threads that share the tasks
  static constexpr unsigned kError = 1;   // pointer to four i64: code, block, value, bound
  static constexpr unsigned kBarrier = 2; // void (*)(void *env, int64_t tid), of all threads of a team
  static constexpr unsigned kStatistics = 3; // pointer for the engine that made the environment
  static constexpr unsigned kFirstSymbol = 4; // from here on what the program gives the kernel
};

} // namespace mlir::ft

#endif // FT_CONVERSION_LOOPSTOCPU_ENVIRONMENT_H
