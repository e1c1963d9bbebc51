//===- RowGroups.cpp - which regions' points are rows of one call ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of a nest with equal bodies and the same right-hand sides of their
// products may share one call of a leaf, each point a row of it.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/Analysis/Dimensions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

llvm::SmallBitVector schedule::rightHandSides(BlockOp leaf) {
  Block &body = leaf.getBody().front();
  llvm::SmallBitVector found(leaf.getNumReads());
  SmallVector<Value> values;
  for (Operation &op : body)
    if (auto product = dyn_cast<linalg::LinalgOp>(op);
        product && linalg::isaContractionOpInterface(product))
      values.push_back(op.getOperand(1));
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &body)
        found.set(argument.getArgNumber());
      continue;
    }
    Operation *definition = value.getDefiningOp();
    // What is computed here for each row is no operand that rows could share.
    if (definition->getBlock() == &body)
      llvm::append_range(values, definition->getOperands());
  }
  return found;
}

bool schedule::variesAlong(BlockOp leaf, unsigned read, ArrayRef<unsigned> dims) {
  auto uses = [&](AffineExpr expr) {
    return llvm::any_of(dims, [&](unsigned d) { return expr.isFunctionOfDim(d); });
  };
  ArrayRef<etdg::PieceAttr> pieces = leaf.getRead(read).getPieces();
  for (etdg::PieceAttr piece : pieces) {
    if (pieces.size() > 1 && llvm::any_of(piece.getSet().getValue().getConstraints(), uses))
      return true;
    if (piece.getKind() == etdg::SourceKind::Splat)
      continue;
    if (llvm::any_of(piece.getMap().getValue().getResults(), uses))
      return true;
    for (etdg::GatherAttr gather : piece.getGathers())
      if (llvm::any_of(gather.getMap().getValue().getResults(), uses))
        return true;
  }
  return false;
}

/// Whether two leaves read the same by their i-th reads, whatever the point.
static bool readsAlike(BlockOp a, BlockOp b, unsigned i) {
  etdg::ReadAttr one = a.getRead(i), other = b.getRead(i);
  if (one.getElementRank() != other.getElementRank() ||
      one.getPieces().size() != other.getPieces().size())
    return false;
  SmallVector<StringAttr> names;
  auto sameMap = [&](AffineMap x, AffineMap y) {
    return x.getNumResults() == y.getNumResults() &&
           llvm::all_of(llvm::zip_equal(x.getResults(), y.getResults()), [&](auto pair) {
             return withNames(std::get<0>(pair), a, names) ==
                    withNames(std::get<1>(pair), b, names);
           });
  };
  for (auto [x, y] : llvm::zip_equal(one.getPieces(), other.getPieces())) {
    if (x.getKind() != y.getKind() || x.getGathers().size() != y.getGathers().size())
      return false;
    if (one.getPieces().size() > 1) {
      IntegerSet p = x.getSet().getValue(), q = y.getSet().getValue();
      if (p.getNumConstraints() != q.getNumConstraints() || p.getEqFlags() != q.getEqFlags())
        return false;
      for (auto [e, f] : llvm::zip_equal(p.getConstraints(), q.getConstraints()))
        if (withNames(e, a, names) != withNames(f, b, names))
          return false;
    }
    if (x.getKind() == etdg::SourceKind::Splat) {
      if (x.getValue() != y.getValue())
        return false;
      continue;
    }
    if (!sameMap(x.getMap().getValue(), y.getMap().getValue()))
      return false;
    if (x.getKind() != etdg::SourceKind::Buffer)
      continue;
    if (a.getBuffers()[x.getOperand()] != b.getBuffers()[y.getOperand()])
      return false;
    for (auto [g, h] : llvm::zip_equal(x.getGathers(), y.getGathers()))
      if (g.getPosition() != h.getPosition() ||
          a.getBuffers()[g.getOperand()] != b.getBuffers()[h.getOperand()] ||
          !sameMap(g.getMap().getValue(), h.getMap().getValue()))
        return false;
  }
  return true;
}

SmallVector<RowGroup> schedule::groupRegions(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims) {
  SmallVector<RowGroup> groups;
  for (BlockOp block : nest) {
    unsigned reads = block.getNumReads();
    llvm::SmallBitVector right = rightHandSides(block);
    SmallVector<bool> varies;
    for (unsigned i = 0; i < reads; ++i)
      varies.push_back(variesAlong(block, i, dims));
    auto *group = llvm::find_if(groups, [&](const RowGroup &group) {
      BlockOp front = group.regions.front();
      if (front.getNumReads() != reads || front.getNumWrites() != block.getNumWrites() ||
          !OperationEquivalence::isRegionEquivalentTo(&front.getBody(), &block.getBody(),
                                                      OperationEquivalence::IgnoreLocations))
        return false;
      for (unsigned i = 0; i < reads; ++i)
        if (right.test(i) && (group.varies[i] != varies[i] ||
                              (!varies[i] && !readsAlike(front, block, i))))
          return false;
      return true;
    });
    if (group == groups.end()) {
      groups.push_back({{block}, varies});
      continue;
    }
    for (unsigned i = 0; i < reads; ++i)
      group->varies[i] = group->varies[i] || varies[i] ||
                         !readsAlike(group->regions.front(), block, i);
    group->regions.push_back(block);
  }
  return groups;
}
