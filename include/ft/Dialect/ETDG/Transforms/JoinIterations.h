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

/// What reads that differ between iterations may be.
enum class ReadsOfJoined {
  OnePiece,  ///< of one piece, the same at all iterations
  AnyPieces, ///< put together of pieces, also of those that only some of the iterations read: what is joined is put together, too
};

/// The leaf as such a reduction; nothing, and why, where it is none.
std::optional<JoinableReduction> findJoinable(BlockOp leaf, std::string &why, ReadsOfJoined reads = ReadsOfJoined::OnePiece);

/// For each state the operation by which it takes in what iterations bring, whose other operands are no function of the states, or move with
/// them as the state's own correction does (`why` not).
bool findGrowth(const Reduction &reduction, SmallVectorImpl<Operation *> &grows, std::string &why);

/// What becomes of iterations after the last multiple of those that are joined.
enum class RestOfJoined {
  OneByOne, ///< they stay as they are
  Masked,   ///< the last joined one has them: as many terms as the others, of which those of iterations that there are not are neutral
};

/// Joins `count` iterations at a time. The leaf, and a nest that holds it alone, is gone then. Returns the block of joined iterations;
/// the leaf, as it was, where it never has as many.
BlockOp joinIterations(const JoinableReduction &reduction, int64_t count, RestOfJoined rest = RestOfJoined::OneByOne);

/// Whether each state grows by what has a neutral element, so that terms can be left out.
bool canMask(const JoinableReduction &reduction);

/// Cuts a reduction into shares of `count` iterations, each of which is computed at once, as one iteration of a map, and a reduction over what they come
/// to, `joined` of which are computed at a time. The leaf, and a nest that holds it alone, is gone then. Nothing, and why, where that can't be.
struct JoinedShares {
  BlockOp shares, rest, join; // `rest` is null where all shares are whole
};
std::optional<JoinedShares> cutIntoJoined(const JoinableReduction &reduction, int64_t count, int64_t joined, std::string &why);

/// Fills the empty body of `joined` with `count` iterations of the reduction's leaf; false, and why, where it has an operation that this has no
/// rule for. Without `joined` it only looks. With `isMasked` the last argument says how many of the iterations there are.
bool joinBodies(const JoinableReduction &reduction, BlockOp joined, int64_t count, std::string &why, bool isMasked = false);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_JOINITERATIONS_H
