//===- MergeUtils.h - mechanics of merging blocks ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How two blocks become one (FT §5.1), without asking whether they may: dims
// renamed and substituted, blocks put under others, buffers made private, leaves
// joined. `MergeLegality.h` asks.
//
// Two blocks with the same ancestors whose outermost k own dimensions are
// aligned have the same first (ancestors + k) coordinates, so sets and maps of
// either stay as they are: only names and the split of the domain change.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_MERGEUTILS_H
#define FT_DIALECT_ETDG_TRANSFORMS_MERGEUTILS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {
struct Coordinates;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// New coordinates for a block: each dimension of its old iteration vector
/// (ancestors first) as an expression over the new one.
struct BlockRemap {
  /// The new iteration vector, ancestors first, and how many are ancestors'.
  SmallVector<StringAttr> dims;
  unsigned numAncestors = 0;
  /// Operators of the new own dimensions.
  SmallVector<ft::OperatorKind> operators;
  /// Old dimension d over the new dimensions, and over `symbols`.
  SmallVector<AffineExpr> exprs;
  SmallVector<StringAttr> symbols;
};

/// The map with old dimensions replaced; dimensions from `exprs.size()` on are
/// the element's and follow the new ones. Symbols of `map` and `exprs` must be
/// those of one list already.
AffineMap remapMap(AffineMap map, ArrayRef<AffineExpr> exprs, unsigned numDims,
                   unsigned numSymbols);
IntegerSet remapSet(IntegerSet set, ArrayRef<AffineExpr> exprs, unsigned numDims,
                    unsigned numSymbols);

/// Rewrites a block and all blocks inside it to new coordinates: domain, sets
/// and maps are composed, descendants keep their own dimensions (renamed where a
/// name is taken). The caller has put the block where its ancestors are the new
/// ones. Schedules inside are dropped: they speak of old dimensions.
void remapBlock(BlockOp block, const BlockRemap &remap);

/// Names the first dimensions of a block `ancestors` (as many as it has names
/// for them), keeps its other names where they are free, and does the same below.
/// The blocks of a nest are renamed together: pass all of them.
void renameDims(ArrayRef<BlockOp> nest, ArrayRef<StringAttr> prefix);

/// A deep copy of a block after it, in the same coordinates.
BlockOp cloneBlock(OpBuilder &builder, BlockOp block);

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// The constraints on dimensions below `numDims` and on symbols alone / all others.
/// Both have the block's number of dimensions and symbols.
IntegerSet getOuterDomain(IntegerSet set, unsigned numDims);
IntegerSet getOuterDomain(BlockOp block, unsigned numDims);
IntegerSet getInnerDomain(BlockOp block, unsigned numDims);

/// Conditions over an iteration vector, and the names of their symbols.
struct Conditions {
  IntegerSet set;
  SmallVector<StringAttr> symbols;
};

/// The outer domain of a block that two others become. `isShared`: both have it,
/// and nothing is left of it inside.
struct OuterDomain : Conditions {
  bool isShared = true;
};

/// Whether each own dimension below `numDims` has a lower and an upper bound
/// among the constraints of `getOuterDomain`, over dimensions before it.
bool isOuterDomainBounded(IntegerSet set, unsigned numAncestors, unsigned numDims);
bool isOuterDomainBounded(BlockOp block, unsigned numDims);

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Makes `block` a graph block whose own dimensions are its first `k`: the block
/// itself where it is one, else a new one in its place with the block as child.
/// With `outer` that is the new one's domain, and `guard` the child's conditions on it.
BlockOp splitOuterDims(BlockOp block, unsigned k, const OuterDomain *outer = nullptr,
                       const Conditions *guard = nullptr);

/// Turns `block` into the last child of `parent`: its first own dimensions
/// become those of `parent`, which has the same ancestors. A graph block without
/// own dimensions left is dissolved into its items. `guard`: conditions on dimensions
/// of `parent` under which it runs.
void sinkBlock(BlockOp block, BlockOp parent, const Conditions *guard = nullptr);

/// Merges `b` into `a` with the outermost `k` own dimensions aligned: one graph
/// block in the place of `a`, with the items of `a`, then those of `b`. Both stand
/// in the same block of operations, with the same ancestors and equal outer
/// domains; what `b` reads is written by `a` or before it. `operators` are the
/// merged block's. Buffers that `b` uses are moved up where they stand after `a`.
/// Returns null, with nothing changed, where regions to combine partial states
/// don't go together (`canMergeCombine`).
///
/// With `united`, whose dimensions are the ancestors' and the first `k`, the outer domains
/// may differ: that is the merged block's, and the two run where their guards say.
struct MergedDomain {
  OuterDomain outer;
  Conditions guardA, guardB;
};
BlockOp mergeBlocks(BlockOp a, BlockOp b, unsigned k, ArrayRef<ft::OperatorKind> operators,
                    const MergedDomain *united = nullptr);

/// Whether a block of the merged dimensions has one `combine` for both: neither
/// has one for them, both have, or one has and the other's dimensions are maps.
bool canMergeCombine(BlockOp a, BlockOp b, unsigned k);

/// Makes a buffer private to `owner` where all its users are inside and each
/// dimension between is an index of its own in all accesses: that index is
/// dropped (a plane lives in one iteration alone). Results of graphs stay.
/// Returns the new buffer, or null.
Value makePrivate(Value buffer, BlockOp owner);

/// The type that `makePrivate` would give once `owners` (one block, or several that
/// will be merged, in the coordinates that they then have) are a block with `numDims`
/// dimensions, ancestors included; or null.
BufferType getPrivateType(Value buffer, ArrayRef<Coordinates> owners, unsigned numDims);
BufferType getPrivateType(Value buffer, ArrayRef<BlockOp> owners, unsigned numDims);

/// Replaces a buffer in all its users; the given positions of its index disappear.
void dropPositions(Value buffer, Value replacement, ArrayRef<unsigned> positions);

/// Erases buffers that are neither read nor returned, the writes to them, and
/// what computes nothing else.
void eraseDeadBuffers(GraphOp graph);

/// Erases blocks and nests that hold only blocks that are gone: a block without items
/// would be a leaf without writes.
void eraseEmptyBlocks(GraphOp graph);

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// Whether `b` can be joined to leaf `a` that stands before it: same ancestors,
/// operators and domain, and each read of `b` from what `a` writes is the same
/// element at the same point, as a whole. On failure `why` says what is in the way.
bool canMergeLeaves(BlockOp a, BlockOp b, std::string *why = nullptr);

/// Joins `b` to `a`, in the place of `b`: equal reads are shared, what `b` reads
/// from `a` becomes an SSA value, and a write that nothing reads any more is
/// dropped with its buffer (a leaf keeps one write at least).
BlockOp mergeLeaves(BlockOp a, BlockOp b);

/// Makes a graph block with one leaf of zero dimensions inside, and nothing
/// else, that leaf; one with one block inside and no buffer, one block with the
/// dimensions of both. Returns the block that stands now.
BlockOp flattenBlock(BlockOp block);

/// Splits a leaf into one leaf per statement (a tensor operation; constants,
/// empty tensors and scalars are repeated where they are used). A leaf with
/// dimensions becomes a graph block with children of zero dimensions; one without
/// is replaced by siblings. Returns the number of leaves, 1 where nothing changed.
unsigned splitLeaf(BlockOp leaf);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_MERGEUTILS_H
