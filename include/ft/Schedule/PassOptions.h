//===- PassOptions.h - options of passes and of their callers ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of this folder say all that they are made for in their options, so
// a pipeline that was printed chooses the same schedules again. Callers in C++
// hold a struct (Options.h); here one becomes the other.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_PASSOPTIONS_H
#define FT_SCHEDULE_PASSOPTIONS_H

#include "ft/Schedule/Options.h"

#include "mlir/IR/Location.h"

namespace mlir::ft {

/// `NAME=NUMBER` for each length.
SmallVector<std::string> lengthsAsText(const CpuScheduleOptions &options);

/// By what a machine is found again; empty for the default one.
std::string machineAsText(const std::shared_ptr<const Machine> &machine);

StringRef stepsAsText(GpuScheduleOptions::Steps steps);

/// Machine and lengths of a pass for the CPU. An error at `loc` where the machine is unknown or no CPU, or a length is
/// not `NAME=NUMBER`.
FailureOr<CpuScheduleOptions> readCpuOptions(Location loc, StringRef machine, unsigned threads, ArrayRef<std::string> lengths);

/// Lengths that a pass is told, NAME=NUMBER each; an error at `loc` where one is not.
using NamedLengths = SmallVector<std::pair<StringAttr, int64_t>>;
FailureOr<NamedLengths> readLengths(Location loc, ArrayRef<std::string> lengths);

/// What passes are told that choose among forms for a GPU.
struct GpuPassOptions {
  StringRef target, machine, steps;
  int64_t multiprocessors = 0; // 0: the machine's
  uint64_t planSeed = 0;
};
FailureOr<GpuScheduleOptions> readGpuOptions(Location loc, const GpuPassOptions &options);

/// The same for a GPU; errors of the target and of `steps`, too.
FailureOr<GpuScheduleOptions> readGpuOptions(Location loc, StringRef target, StringRef machine, StringRef steps);

} // namespace mlir::ft

#endif // FT_SCHEDULE_PASSOPTIONS_H
