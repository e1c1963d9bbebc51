//===- SymbolGroups.cpp - the lengths that a question depends on ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/SymbolGroups.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::etdg;

SetBuilder SymbolPart::makeSet(unsigned numDims) const {
  SetBuilder set(space, numDims);
  for (ft::LengthAttr fact : facts)
    (void)set.add(fact.getExpr(), false, fact.getNames());
  return set;
}

/// The names that the text of a symbol mentions: `M * N` is a symbol of its own, of M and N.
static void forEachName(StringRef text, llvm::function_ref<void(StringRef)> visit) {
  auto isInName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    text = text.drop_until(isInName);
    StringRef name = text.take_while(isInName);
    if (!name.empty())
      visit(name);
    text = text.drop_front(name.size());
  }
}

SymbolGroups::SymbolGroups(GraphOp graph) : space(graph) {
  llvm::IntEqClasses classes(space.size());
  for (unsigned v = 0; v < space.size(); ++v)
    forEachName(space.getNames()[v].getValue(), [&](StringRef name) {
      if (std::optional<unsigned> other = space.find(name))
        classes.join(v, *other);
    });
  SmallVector<int> first;
  for (ft::LengthAttr fact : space.getFacts()) {
    llvm::SmallBitVector used(space.size());
    collect(fact.getExpr(), fact.getNames(), used);
    first.push_back(used.find_first());
    for (unsigned v : used.set_bits())
      classes.join(first.back(), v);
  }
  classes.compress();
  mayBeNegative.resize(classes.getNumClasses());
  for (unsigned v = 0; v < space.size(); ++v) {
    groups.push_back(classes[v]);
    if (!space.getNonNegative()[v])
      mayBeNegative.set(classes[v]);
  }
  for (int v : first)
    factGroups.push_back(v < 0 ? classes.getNumClasses() : groups[v]);
  isSatisfiable = space.getFacts().empty() || !isEmpty(SetBuilder(space, 0).get());
}

void SymbolGroups::collect(AffineExpr expr, ArrayRef<StringAttr> names,
                           llvm::SmallBitVector &used) const {
  expr.walk([&](AffineExpr e) {
    auto symbol = dyn_cast<AffineSymbolExpr>(e);
    if (!symbol || symbol.getPosition() >= names.size())
      return;
    if (std::optional<unsigned> index = space.find(names[symbol.getPosition()].getValue()))
      used.set(*index);
  });
}

void SymbolGroups::collect(BufferType type, llvm::SmallBitVector &used) const {
  for (ft::LengthAttr length : type.getLengths())
    collect(length.getExpr(), length.getNames(), used);
}

/// Calls `visit` with the expressions of a block's own domain, reads, identities and writes.
static void forEachExpr(BlockOp block, llvm::function_ref<void(AffineExpr)> visit) {
  llvm::for_each(block.getDomainSet().getConstraints(), visit);
  for (ArrayAttr reads : {block.getReads(), block.getIdentity()})
    for (ReadAttr read : reads.getAsRange<ReadAttr>())
      for (PieceAttr piece : read.getPieces()) {
        llvm::for_each(piece.getSet().getValue().getConstraints(), visit);
        llvm::for_each(piece.getMap().getValue().getResults(), visit);
        for (GatherAttr gather : piece.getGathers())
          llvm::for_each(gather.getMap().getValue().getResults(), visit);
      }
  for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
    llvm::for_each(write.getMap().getValue().getResults(), visit);
}

void SymbolGroups::collect(BlockOp block, llvm::SmallBitVector &used) const {
  for (BlockOp b = block; b; b = b.getParentBlock()) {
    SmallVector<StringAttr> symbols = b.getSymbolNames();
    forEachExpr(b, [&](AffineExpr expr) { collect(expr, symbols, used); });
  }
}

SymbolPart SymbolGroups::restrictTo(const llvm::SmallBitVector &used) const {
  llvm::SmallDenseSet<unsigned> touched;
  bool isPlain = isSatisfiable;
  for (unsigned v : used.set_bits()) {
    touched.insert(groups[v]);
    isPlain &= !mayBeNegative.test(groups[v]);
  }
  // The names of a space are not negative.
  if (!isPlain)
    return {space, {}};
  SmallVector<StringAttr> names;
  for (unsigned v = 0; v < space.size(); ++v)
    if (touched.contains(groups[v]))
      names.push_back(space.getNames()[v]);
  SymbolPart part{SymbolSpace(names), {}};
  for (auto [fact, group] : llvm::zip_equal(space.getFacts(), factGroups))
    if (touched.contains(group))
      part.facts.push_back(fact);
  return part;
}
