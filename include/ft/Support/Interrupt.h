//===- Interrupt.h - compilations that the caller ends ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that have not begun are left out of a cancelled compilation. One that
// has may take minutes: its analyzes ask here, and answer at once what they
// answer where they find nothing. What comes out is thrown away.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_INTERRUPT_H
#define FT_SUPPORT_INTERRUPT_H

#include "llvm/Support/LogicalResult.h"
#include <cstdint>

namespace mlir::ft {

/// While it lives, `flag` cancels what this thread compiles by being no longer 0; null cancels nothing.
class InterruptScope {
public:
  explicit InterruptScope(const volatile int32_t *flag);
  ~InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

private:
  const volatile int32_t *before;
};

/// Whether this thread's compilation was cancelled.
bool isInterrupted();

/// `result` of a pass manager, or failure where this thread's compilation was cancelled. A pass that was left out
/// counts as a success in MLIR, and the caller would read IR that is not lowered.
llvm::LogicalResult unlessInterrupted(llvm::LogicalResult result);

} // namespace mlir::ft

#endif // FT_SUPPORT_INTERRUPT_H
