//===- Arena.h - the memory of a launch plan's own buffers ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workspace of a call, wherever it runs: buffers lie one after the other; those of one slot (`etdg-storage`) never live at once,
// and take the same memory.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_LAUNCHPLAN_ARENA_H
#define FT_CONVERSION_LAUNCHPLAN_ARENA_H

#include "ft/Runtime/Bundle/LaunchPlan.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace mlir::ft {

class Arena {
public:
  /// A buffer of the plan, by its number, with so many bytes; without a slot, memory of its own.
  void add(int64_t buffer, const ::ft::rt::Expr &bytes, std::optional<int64_t> slot);
  /// Gives all buffers their offsets, and says how many bytes they have.
  ::ft::rt::Expr place(::ft::rt::Plan &plan) const;

private:
  struct Slot {
    SmallVector<::ft::rt::Expr> sizes; // each once
    SmallVector<int64_t> buffers;
  };
  llvm::MapVector<int64_t, Slot> slots; // negative: of one buffer
};

} // namespace mlir::ft

#endif // FT_CONVERSION_LAUNCHPLAN_ARENA_H
