//===- HandedStates.h - outputs of which the last one alone is read -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_IR_HANDEDSTATES_H
#define FT_DIALECT_LOOPS_IR_HANDEDSTATES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::loops {

/// Of a leaf in a sequential loop: numbers of outputs (`array<i64>`). After the loop others read what its last iteration makes, and nothing that
/// an earlier one does (`etdg.handed` of the loop's dimension).
inline constexpr llvm::StringLiteral handedName = "loops.handed";

} // namespace mlir::loops

#endif // FT_DIALECT_LOOPS_IR_HANDEDSTATES_H
