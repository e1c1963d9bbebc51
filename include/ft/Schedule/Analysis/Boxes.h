//===- Boxes.h - reads of scalars that lie in memory in order ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read that addresses scalars may still be a part of memory without gaps, in its own
// order: a row of a tensor, a tensor whose rows are a list, a reshape, one number. Engines
// read such a box where it is.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_BOXES_H
#define FT_SCHEDULE_ANALYSIS_BOXES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include <optional>

namespace mlir::ft::schedule {

/// Where a box begins, over the block's iteration vector and symbols.
struct Box {
  int64_t operand; // of the block
  /// An index for each length of the buffer; 0 for those that `offset` accounts for.
  AffineMap index;
  /// Scalars from there to the first one that is read.
  AffineExpr offset;
  /// Scalars between neighbours along each dimension of what is read.
  SmallVector<int64_t> strides;
  /// Whether they follow each other without gaps, in the order of what is read.
  bool inOrder = true;
};

/// Whether a read addresses scalars: over the element's dimensions, or one inside of an element.
bool readsScalars(etdg::BlockOp block, etdg::ReadAttr read);

/// Whether an index of a read is a quotient or a remainder: rows of which a reshape has made others.
bool readsDivided(etdg::ReadAttr read);

/// The box that a read of scalars, or of an element at a divided index, is: one piece of a buffer, without
/// data in its index, whose scalars have constant distances along each dimension (a transpose, the part of one head, a window);
/// without `strided` only one whose scalars follow each other in memory as in `type`. `planesOf` gives the planes that
/// are kept of a buffer's dimension (0: all).
std::optional<Box> getBox(etdg::BlockOp block, etdg::ReadAttr read, RankedTensorType type,
                          llvm::function_ref<int64_t(Value, unsigned)> planesOf, bool strided = true);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_BOXES_H
