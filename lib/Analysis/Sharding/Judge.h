//===- Judge.h - what an access asks of other ranks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_SHARDING_JUDGE_H
#define FT_ANALYSIS_SHARDING_JUDGE_H

#include "Classes.h"
#include "Parts.h"

namespace mlir::etdg {

/// What all classes of a graph are judged by.
struct ShardingContext {
  GraphOp graph;
  const GraphAccesses &accesses;
  const DimClasses &dims;
  const SymbolSpace &space;
  llvm::DenseMap<unsigned, ft::LengthAttr> lengths; // of the classes that have a buffer
};

/// Finds the kind of one class: every access of every leaf, every condition, then the parts of results.
class ClassJudge {
public:
  ClassJudge(const ShardingContext &context, unsigned root, ShardingClass &found);
  void run();

private:
  void findStates();
  void judgeLengths();
  void judgeDomain(BlockOp block);
  void judgeRead(BlockOp leaf, unsigned number, ReadAttr read, ArrayRef<Access *> pieces);
  void judgeAccess(Access &access);
  void judgeRow(Access &access, unsigned row);
  void judgeOtherRows(Access &access);
  void judgeWrite(Access &access);
  void judgeState(Access &access, unsigned dim, const DistanceRange &distance);

  /// Index read minus the iteration's, in the direction of the iteration; none where it is not quasi-affine.
  std::optional<DistanceRange> getDistance(Access &access, unsigned row, unsigned dim);
  bool mentions(AffineExpr expr, ArrayRef<StringAttr> symbols, std::optional<unsigned> dim) const;
  bool isRange(AffineExpr constraint, BlockOp block) const;
  bool isState(const Access &access) const;
  bool readsLastPlane(const Access &access, unsigned row) const;
  ft::LengthAttr getPlaneBytes(Value buffer, unsigned row, int64_t planes) const;
  void add(Access &access, ShardingKind kind, DistanceRange distance = {}, ft::LengthAttr bytes = {});
  void addPosition(BlockOp block, const Twine &text);

  void findParts();
  bool flowThrough(BlockOp leaf, llvm::SmallPtrSetImpl<void *> &written);
  PartialKind getStateKind(BlockOp leaf, unsigned write, Value buffer);
  std::optional<PartStatus> getReadStatus(BlockOp leaf, ReadAttr read);

  const ShardingContext &context;
  unsigned root;
  ShardingClass &found;
  /// Buffers whose planes along the class are states of one loop.
  llvm::SmallPtrSet<void *, 8> states;
  /// Blocks that own a dimension of the class along which states are carried.
  llvm::SmallPtrSet<Operation *, 8> carriers;
  llvm::DenseMap<Value, PartStatus> parts;
};

/// What a shard of a halo class needs of its neighbours so that the program itself computes its part of the results. None where
/// the program would need the place of the shard in the list.
std::optional<ShardingReach> findReach(const ShardingContext &context, unsigned root, const ShardingClass &found);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SHARDING_JUDGE_H
