//===- HandedStates.h - states of which the last one alone is read -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_IR_HANDEDSTATES_H
#define FT_DIALECT_ETDG_IR_HANDEDSTATES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::etdg {

/// Of a leaf whose work the threads of a GPU share: pairs of a write and a dimension. What the leaf writes there its next iteration along the
/// dimension reads, and nothing else but of the last one. `etdg-hand-states` says so, and T15 of the validator proves it: a thread that has the state in
/// registers need not store it before the loop has ended.
inline constexpr llvm::StringLiteral handedName = "etdg.handed";

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_IR_HANDEDSTATES_H
