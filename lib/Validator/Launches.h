//===- Launches.h - what kernels touch, and when --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_FT_VALIDATOR_LAUNCHES_H
#define LIB_FT_VALIDATOR_LAUNCHES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace mlir::etdg::validator {

/// An access of the device's memory, through a pointer that comes from an argument of the kernel; none: one of which nothing is known.
struct Touch {
  std::optional<unsigned> argument;
  bool writes;
  Operation *op;
};

/// What a kernel does to launches beside it.
struct KernelFacts {
  /// All that it touches; and what of that some path touches before it has waited (`griddepcontrol wait`). Each argument once as read, and once as written.
  SmallVector<Touch> all, early;
  /// Where a path ends that has never waited.
  Operation *unwaited = nullptr;
  /// The next launch may begin before this one has waited, on some path.
  bool letsGoEarly = false;
};

KernelFacts findFacts(FunctionOpInterface kernel);

} // namespace mlir::etdg::validator

#endif // LIB_FT_VALIDATOR_LAUNCHES_H
