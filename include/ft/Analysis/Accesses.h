//===- Accesses.h - who reads and writes a buffer, and in which order -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of a graph's blocks as sets over iteration vectors, and the order in
// which an untransformed graph runs two of them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_ACCESSES_H
#define FT_ANALYSIS_ACCESSES_H

#include "ft/Analysis/Sets.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::etdg {

/// One write of a block, one buffer piece of a read, or the index of a gather.
///
/// Its *point* is the block's iteration vector, followed by the element's
/// dimensions where the read ranges over them.
struct Access {
  enum Kind { Write, Read, Identity, GatherIndex } kind;
  BlockOp block;
  Value buffer;
  unsigned index = 0; // number of the write or read
  unsigned piece = 0;
  AffineMap map;
  IntegerSet set; // of the piece; null for writes
  SmallVector<GatherAttr> gathers;
  SmallVector<int64_t> elementShape; // of the read's element dimensions

  bool isWrite() const { return kind == Write; }
  unsigned getPointSize() { return block.getNumDims() + elementShape.size(); }
  BufferType getBufferType() const { return cast<BufferType>(buffer.getType()); }
  const GatherAttr *getGather(unsigned result) const;
  /// `write 0`, `read 2, piece 1`.
  std::string describe() const;
  /// The names of the point's variables.
  SmallVector<StringAttr> getPointNames();
};

/// How many dimensions of enclosing blocks a buffer is private to: it exists
/// once for each point of them.
unsigned getNumOwnerDims(Value buffer);
/// `'ys'`, `argument 0`, or the type.
std::string describeBuffer(Value buffer);
/// `block @r3` or `block`.
std::string describeBlock(BlockOp block);

/// The reads, reads of identities, indices of gathers and writes of a leaf, in
/// this order; none of a graph block.
SmallVector<Access, 0> getAccesses(BlockOp leaf);

class GraphAccesses {
public:
  explicit GraphAccesses(GraphOp graph);

  ArrayRef<BlockOp> getBlocks() const { return blocks; }
  ArrayRef<BlockOp> getLeaves() const { return leaves; }
  ArrayRef<Access> getWrites(Value buffer) const;
  ArrayRef<Access> getReads(Value buffer) const;
  /// Every buffer that is accessed or defined, in textual order.
  ArrayRef<Value> getBuffers() const { return buffers; }

private:
  void addBlock(BlockOp block);
  struct OfBuffer {
    SmallVector<Access, 0> writes, reads;
  };
  SmallVector<BlockOp> blocks, leaves;
  SmallVector<Value> buffers;
  llvm::DenseMap<Value, OfBuffer> accesses;
};

/// The domain in full: the block's own set and its ancestors', at variables `offset` and after.
LogicalResult addDomain(SetBuilder &builder, BlockOp block, unsigned offset = 0);
FailureOr<presburger::IntegerPolyhedron> getDomain(BlockOp block, const SymbolSpace &space);

/// The points of an access: domain, piece, element dimensions.
LogicalResult addPoint(SetBuilder &builder, Access &access, unsigned offset = 0);

/// The plane that an access touches: the point of the buffer's owner, then the
/// map's results (a gathered result is null: any index of the dimension).
FailureOr<SmallVector<std::optional<LinearExpr>>> getPlane(SetBuilder &builder, Access &access,
                                                           unsigned offset = 0);

/// Relation {iteration (and element) dims → plane of the buffer}.
FailureOr<presburger::IntegerRelation> getAccessRelation(Access &access, const SymbolSpace &space);

/// The block and the blocks around it, outermost first.
SmallVector<BlockOp> getBlockChain(BlockOp block);
/// The nest that a block is a region of, or the block, which stands alone.
Operation *getItem(BlockOp block);
/// Whether an item stands before another one of the same body in the text; kernels only group.
bool isTextuallyBefore(Operation *a, Operation *b);

/// One way in which a point p of one block precedes a point q of another: they
/// agree in the first `equal` dimensions, and p is less than q in the next one
/// where `strict`.
struct Precedence {
  unsigned equal;
  bool strict;
  /// The operator of the dimension that decides, for a strict one.
  std::optional<ft::OperatorKind> carrier;
};

/// In an untransformed graph: nests in textual order, a nest in lexicographic
/// order, children inside an iteration of their parent.
SmallVector<Precedence> getPrecedence(BlockOp before, BlockOp after);

/// Adds a case to a set that holds both points.
void addPrecedence(SetBuilder &builder, const Precedence &order, unsigned before, unsigned after);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_ACCESSES_H
