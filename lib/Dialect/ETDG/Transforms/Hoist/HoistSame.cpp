//===- HoistSame.cpp - the same value in several leaves --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal operations on equal reads, these compared as functions of the iteration
// vector where the second leaf runs.
//
//===----------------------------------------------------------------------===//
#include "HoistInvariants.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;

SmallVector<AffineExpr> hoist::getPins(BlockOp leaf, CommonNames &names) {
  SmallVector<AffineExpr> pins;
  MLIRContext *context = leaf.getContext();
  for (unsigned d = 0; d < leaf.getNumDims(); ++d)
    pins.push_back(getAffineDimExpr(d, context));
  for (BlockOp block = leaf; block; block = block.getParentBlock()) {
    IntegerSet set = block.getDomainSet();
    for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
      LinearForm form = LinearForm::of(set.getConstraint(i));
      int last = form.getLastDim();
      if (!set.isEq(i) || last < 0 || !form.isLinearIn(last))
        continue;
      AffineExpr dim = getAffineDimExpr(last, context);
      int64_t c = form.coefficient(dim);
      AffineExpr rest = set.getConstraint(i).replace(dim, getAffineConstantExpr(0, context)) * -c;
      if ((c == 1 || c == -1) && rest.isSymbolicOrConstant())
        pins[last] = names.import(rest, block);
    }
  }
  return pins;
}

namespace {
/// Compares what two reads say, with dimensions replaced.
struct ReadComparison {
  const Repeat &a, &b;
  CommonNames &names;
  SmallVector<AffineExpr> pins;

  AffineExpr normalize(AffineExpr expr, BlockOp block, unsigned numDims) {
    SmallVector<AffineExpr> all(pins);
    for (unsigned d = all.size(); d < numDims; ++d)
      all.push_back(getAffineDimExpr(d, expr.getContext()));
    AffineExpr common = names.import(expr, block).replaceDims(all);
    return canonicalizeExpr(common, numDims, names.list.symbols.size());
  }
  bool same(ArrayRef<AffineExpr> x, ArrayRef<AffineExpr> y, unsigned numDims) {
    if (x.size() != y.size())
      return false;
    for (auto [p, q] : llvm::zip_equal(x, y)) {
      // The first one may bring names that the second one's form is written with.
      normalize(p, a.leaf, numDims);
      if (normalize(q, b.leaf, numDims) != normalize(p, a.leaf, numDims))
        return false;
    }
    return true;
  }
  bool same(AffineMap x, AffineMap y) {
    return x.getNumDims() == y.getNumDims() && same(x.getResults(), y.getResults(), x.getNumDims());
  }
  bool same(ReadAttr x, ReadAttr y) {
    BlockOp p = a.leaf, q = b.leaf;
    if (x.getElementRank() != y.getElementRank() || x.getPieces().size() != y.getPieces().size())
      return false;
    for (auto [u, v] : llvm::zip_equal(x.getPieces(), y.getPieces())) {
      IntegerSet s = u.getSet().getValue(), t = v.getSet().getValue();
      if (u.getKind() != v.getKind() || u.getValue() != v.getValue() ||
          u.getGathers().size() != v.getGathers().size() || s.getEqFlags() != t.getEqFlags() ||
          s.getNumDims() != t.getNumDims() ||
          !same(s.getConstraints(), t.getConstraints(), s.getNumDims()) ||
          !same(u.getMap().getValue(), v.getMap().getValue()))
        return false;
      if (u.getKind() == SourceKind::Buffer &&
          p.getBuffers()[u.getOperand()] != q.getBuffers()[v.getOperand()])
        return false;
      for (auto [g, h] : llvm::zip_equal(u.getGathers(), v.getGathers()))
        if (g.getPosition() != h.getPosition() ||
            p.getBuffers()[g.getOperand()] != q.getBuffers()[h.getOperand()] ||
            !same(g.getMap().getValue(), h.getMap().getValue()))
          return false;
    }
    return true;
  }
};
} // namespace

bool hoist::isSame(const Repeat &a, const Repeat &b, CommonNames &names) {
  BlockOp p = a.leaf, q = b.leaf;
  if (a.split != b.split || a.ops.size() != b.ops.size() || a.reads.size() != b.reads.size() ||
      a.getType() != b.getType() || p.getNumDims() != q.getNumDims())
    return false;
  llvm::DenseMap<Value, Value> values;
  for (auto [x, y] : llvm::zip_equal(a.reads, b.reads)) {
    Value u = p.getBody().getArgument(x), v = q.getBody().getArgument(y);
    if (u.getType() != v.getType())
      return false;
    values[u] = v;
  }
  Value startA = a.split ? getInit(a.getOp()) : Value(),
        startB = b.split ? getInit(b.getOp()) : Value();
  for (auto [x, y] : llvm::zip_equal(a.ops, b.ops)) {
    bool last = x == a.getOp();
    auto check = [&](Value u, Value v) {
      auto it = values.find(u);
      if (it != values.end())
        return success(it->second == v);
      return success(last && a.split && u == startA && v == startB);
    };
    auto mark = [&](Value u, Value v) { values[u] = v; };
    if (!OperationEquivalence::isEquivalentTo(x, y, check, mark,
                                              OperationEquivalence::IgnoreLocations))
      return false;
  }
  if (values.lookup(a.root) != b.root)
    return false;
  ReadComparison compare{a, b, names, getPins(b.leaf, names)};
  for (auto [x, y] : llvm::zip_equal(a.reads, b.reads))
    if (!compare.same(p.getRead(x), q.getRead(y)))
      return false;
  return true;
}
