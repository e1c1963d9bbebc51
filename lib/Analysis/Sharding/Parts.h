//===- Parts.h - parts of results that a reduction joins --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_SHARDING_PARTS_H
#define FT_ANALYSIS_SHARDING_PARTS_H

#include "ft/Analysis/Sharding/Sharding.h"

namespace mlir::etdg {

/// How the states of shards join where a leaf computes `next` from `state`. It is a sum where next is state + x, and x depends
/// on no state. It is `Combine` where the body has no such form.
PartialKind getUpdateKind(Value next, BlockArgument state, ArrayRef<BlockArgument> states);

/// Whether a splat is what this reduction starts from, so that each rank may start from it.
bool isNeutral(PartialKind kind, Attribute splat);

/// What each rank has of a value: all of it, a zero, a part, or nothing that a reduction of it would join.
struct PartStatus {
  enum State { All, Zero, Part, Wrong } state = All;
  PartialKind kind = PartialKind::None;
  Operation *wrong = nullptr; // the first operation that is not linear in a part

  bool operator==(const PartStatus &other) const { return state == other.state && kind == other.kind; }
};

/// Of what a leaf yields, where its arguments have these. Sums of parts, and products with what all ranks have, are parts.
SmallVector<PartStatus> getYieldedParts(BlockOp leaf, ArrayRef<PartStatus> arguments);

/// Of a value that is the one or the other, by cases.
PartStatus joinParts(const PartStatus &a, const PartStatus &b);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SHARDING_PARTS_H
