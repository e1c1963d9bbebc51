//===- JoinIterations.h - several iterations of a reduction as one -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations of a dimension that may be re-associated (`reduce`, `fold`) are joined where the algebra of their body lets all states take in
// what several of them bring at once: n products that are added to one sum are one product with n times as many terms; n iterations of an
// online reduction one over a row that is n times as long, its maximum first, then its sums, each corrected once.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_JOINITERATIONS_H
#define FT_DIALECT_ETDG_TRANSFORMS_JOINITERATIONS_H

#include "ft/Dialect/ETDG/Transforms/CutReductions.h"

namespace mlir::etdg {

/// A reduction whose iterations can be joined.
struct JoinableReduction : Reduction {
  /// For each state the operation by which it takes in what an iteration brings.
  SmallVector<Operation *> grows;
  /// Reads that differ between iterations, without those of states.
  SmallVector<bool> varies;
};

/// The leaf as such a reduction; nothing, and why, where it is none.
std::optional<JoinableReduction> findJoinable(BlockOp leaf, std::string &why);

/// For each state the operation by which it takes in what iterations bring, whose other operands are no function of the states, or move with
/// them as the state's own correction does (`why` not).
bool findGrowth(const Reduction &reduction, SmallVectorImpl<Operation *> &grows, std::string &why);

/// Joins `count` iterations at a time, and leaves those behind the last multiple of it as they are. The leaf, and a nest that holds it alone,
/// is gone then. Returns the block of joined iterations.
BlockOp joinIterations(const JoinableReduction &reduction, int64_t count);

/// Fills the empty body of `joined` with `count` iterations of the reduction's leaf; false, and why, where it has an operation that this has no
/// rule for. Without `joined` it only looks.
bool joinBodies(const JoinableReduction &reduction, BlockOp joined, int64_t count, std::string &why);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_JOINITERATIONS_H
