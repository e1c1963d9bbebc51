//===- MaximumShift.h - what a running maximum changes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MAXIMUMSHIFT_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MAXIMUMSHIFT_H

#include "ft/Dialect/FT/IR/FT.h"

namespace mlir::ft::differentiate {

/// How a value follows from a maximum m: by the factor exp(-power · m), or by the summand shift · m. Not at all where both are 0.
struct MaximumShift {
  int64_t power = 0, shift = 0;
  SmallVector<int64_t> dims = {}; // of the value: which of m's each is; -1: none
  bool isNone() const { return power == 0 && shift == 0; }
};

/// The dimensions of an operation's result, where `source` is the operand that follows m; nothing where its dimensions are mixed.
std::optional<SmallVector<int64_t>> moveDims(Operation *op, Value source, ArrayRef<int64_t> dims);

/// Whether nothing that the values' block hands on depends on m: the factors of quotients and the summands of logarithms cancel.
bool isFreeOfMaximum(Block &block, DenseMap<Value, MaximumShift> shifts, bool isBaseTwo);

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MAXIMUMSHIFT_H
