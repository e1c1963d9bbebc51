//===- OnlineWiden.h - bodies over wider numbers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A state of f16 that is corrected in every iteration would round twice in each. It
// runs as f32 instead, and with it everything in the bodies that is made of it; what
// it is joined with is extended, exactly. The numbers that the program declares come
// back at the end, rounded once.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEWIDEN_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEWIDEN_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::etdg::online {

/// The wider of two float types; f32 at least, or null where one is no float.
FloatType getWideType(Type a, Type b = {});
/// `value` with elements of type `element`: extended, rounded or as it is. Constants stay
/// constants.
Value convertElements(OpBuilder &builder, Location loc, Value value, Type element);

/// Splats of a read as numbers of type `wide`.
ReadAttr widenRead(ReadAttr read, FloatType wide);

/// What a clone computes wide.
enum class Widening {
  /// What is made of arguments that are wide.
  ofWide,
  /// All arithmetic on f16 and bf16, which then rounds where the program says so, at operands of products
  /// and of what has no wide form; what integers and comparisons are computed from is left as it is.
  ofAll,
};

/// Clones the operations of a straight-line region, some of whose arguments are replaced by values
/// with wider elements: all that is made of these is as wide, and roundings on the way are left
/// out. Returns what the terminator hands over; null where an operation has no wide form
/// (`culprit`). `original`, where given, gets the operation of each clone.
std::optional<SmallVector<Value>> cloneWidened(OpBuilder &builder, Block &from,
                                               ValueRange arguments,
                                               llvm::DenseMap<Operation *, Operation *> *original,
                                               Operation **culprit = nullptr,
                                               Widening widening = Widening::ofWide);

} // namespace mlir::etdg::online

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEWIDEN_H
