//===- AccessFusion.h - copies folded into accesses -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AccessFusion.cpp lets readers of a copy read what was copied,
// AccessFusionConnect.cpp lets writers of what is copied write its copy.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_ACCESSFUSION_H
#define FT_DIALECT_ETDG_TRANSFORMS_ACCESSFUSION_H

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"

namespace mlir::etdg {

/// One write of a buffer, and what it writes where that is moved only.
struct Writer {
  BlockOp leaf;
  unsigned write;
  std::optional<unsigned> read;
  TypedAttr splat;

  bool moves() const { return read || splat; }
};

struct BorderedRead;

class AccessFusion {
public:
  AccessFusion(GraphOp graph, int64_t maxPieces);
  ~AccessFusion();
  unsigned run();
  /// Lets a fold's last iteration write what a copy of its last plane writes (PeelFolds.cpp).
  bool peel(BufferOp state, int64_t maxLength, int64_t maxOperations);

private:
  bool fuse(BufferOp buffer);
  bool collectWriters(BufferOp buffer, SmallVectorImpl<Writer> &writers);
  bool invert(BlockOp leaf, AffineMap named, unsigned numOwner, BlockBuilder &user, AffineMap index,
              SmallVectorImpl<AffineExpr> &dims);
  bool connect(BufferOp source);
  /// Adds the domains of a block and of those around it, up to the owner of a buffer, at a point of another block.
  static void addDomains(BlockOp block, BlockOp owner, BlockBuilder &builder, ArrayRef<AffineExpr> dims,
                         SmallVectorImpl<AffineExpr> &constraints, SmallVectorImpl<bool> &eqs);
  /// Whether the reader sees what a piece of a copy reads, and finds it still there.
  bool seesSources(BufferOp buffer, BlockOp leaf, BlockOp reader, const BlockBuilder &source, PieceAttr from,
                   ArrayRef<AffineExpr> dims);
  bool connectUser(BufferOp source, BufferOp target, BlockOp copy, BlockOp user,
                   BlockBuilder &builder);
  bool forward(BufferOp buffer, ArrayRef<Writer> writers, BlockOp block, BlockBuilder &builder);
  /// Whether a reader may read what a copy put together out of scalars, as it would after fusion.
  bool mayPutTogether(BufferOp buffer, BlockOp block, const BlockBuilder &builder, unsigned read, ReadAttr after);
  /// Lets a reader pad what it reads, where `after` is a box with one scalar around it.
  bool takeBorder(BlockOp block, const BlockBuilder &builder, unsigned read, ReadAttr &after);
  bool forwardPiece(BufferOp buffer, const Writer &writer, BlockOp block, BlockBuilder &builder,
                    PieceAttr piece, RankedTensorType type, unsigned elementRank,
                    SmallVectorImpl<PieceAttr> &pieces);
  /// The constraints that don't follow from the rest and the domain; none when no point is left.
  /// `within`: where else the points lie.
  std::optional<IntegerSet> simplify(BlockOp block, const BlockBuilder &builder, IntegerSet set,
                                     ArrayRef<int64_t> elementShape, IntegerSet within = {});
  // PeelFolds.cpp
  struct LastIteration;
  bool takesLast(LastIteration &last, BlockOp copy, AffineExpr isLast, AffineMap written, IntegerSet domain);
  ReadAttr readOfLast(LastIteration &last, BlockOp copy, ReadAttr read, ArrayRef<int64_t> shape);
  void shorten(BlockOp fold, BlockBuilder spec, unsigned bound, BufferOp state);
  bool refuse(const Twine &reason) {
    why = reason.str();
    return false;
  }

  GraphOp graph;
  SymbolSpace space;
  int64_t maxPieces;
  std::string why;
  /// Readers and numbers of the reads that they will pad.
  std::vector<std::tuple<BlockOp, unsigned, BorderedRead>> bordered;
};

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_ACCESSFUSION_H
