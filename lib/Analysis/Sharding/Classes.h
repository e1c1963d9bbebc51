//===- Classes.h - dimensions that are divided together ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_SHARDING_CLASSES_H
#define FT_ANALYSIS_SHARDING_CLASSES_H

#include "ft/Analysis/Sharding/Sharding.h"

namespace mlir::etdg {

/// Classes of dimensions of blocks and buffers, each with a direction.
class DimClasses {
public:
  explicit DimClasses(GraphOp graph, const GraphAccesses &accesses);

  /// A dimension in its class: the class's number, and whether its index counts down there.
  struct Place {
    unsigned root;
    bool isReversed;
  };
  Place ofBlock(BlockOp block, unsigned dim) const;
  Place ofBuffer(Value buffer, unsigned dim) const;
  /// The dimension of a block (ancestors' count) or of a buffer that is in a class, if any.
  std::optional<unsigned> findDim(BlockOp block, unsigned root) const;
  std::optional<unsigned> findRow(Value buffer, unsigned root) const;

  /// Members by class, in the order in which they are found: arguments, buffers and blocks of the text.
  const llvm::MapVector<unsigned, SmallVector<ShardingMember>> &getMembers() const { return members; }

private:
  struct Node {
    unsigned parent;
    bool isReversed; // against the parent
    Value buffer;
    BlockOp block;
    unsigned dim;
  };
  void addNodes(const GraphAccesses &accesses);
  Place find(unsigned node) const;
  void couple(const Access &access, bool mayRefuse);
  void coupleWindow(const Access &access);
  bool hasBlock(unsigned root) const;
  bool hasNamedLength(unsigned root) const;
  void join(Place block, Place buffer, bool isReversed);
  bool wouldMeet(unsigned a, unsigned b) const;
  bool meetsIn(ArrayRef<unsigned> roots, unsigned a, unsigned b) const;
  SmallVector<unsigned> rootsOf(BlockOp block) const;

  SmallVector<Node> nodes;
  llvm::DenseMap<std::pair<void *, unsigned>, unsigned> numbers;
  SmallVector<BlockOp> blocks;
  SmallVector<Value> buffers;
  llvm::MapVector<unsigned, SmallVector<ShardingMember>> members;
};

/// The block that a dimension of a block belongs to: itself or one around it.
BlockOp getDimOwner(BlockOp block, unsigned dim);
/// The operator of a dimension, ancestors counted.
ft::OperatorKind getDimOperator(BlockOp block, unsigned dim);

/// A dimension's own index, or counted from the other end of a length.
struct BareIndex {
  unsigned dim;
  bool isReversed;
};
std::optional<BareIndex> getBareIndex(AffineExpr expr, ArrayRef<StringAttr> symbols, ft::LengthAttr length);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SHARDING_CLASSES_H
