//===- InPlace.h - results in the memory of arguments -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `etdg.in_place = array<i64: argument, result, ...>` of a graph: a call may give
// the result the argument's memory. `etdg-bind-in-place` writes it, where no old
// element is read after a new one has been written.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_IR_INPLACE_H
#define FT_DIALECT_ETDG_IR_INPLACE_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::etdg {

/// The results of a graph that may lie in an argument's memory, each with that argument.
llvm::SmallMapVector<Value, Value, 4> getInPlaceArguments(GraphOp graph);

/// Whether the leaf's write takes each of its elements from the same one of `source`: in place nothing would move.
bool isCopyFrom(BlockOp leaf, unsigned write, Value source);

/// The pairs of a result and its argument that the leaf copies from one to the other, where it does nothing else;
/// none where it does.
SmallVector<std::pair<Value, Value>> getCopiesInPlace(BlockOp leaf);

/// Whether a leaf's body makes an output that takes the memory of an input, element by element, without looking at an element of it that has
/// been overwritten: all that comes from the input is elementwise, and no other output does. The storage of buffers asks it before it lets
/// two of them have one slot, and leaves as loops ask it of what may overlap.
bool isMadeInPlace(Block &body, unsigned input, unsigned output);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_IR_INPLACE_H
