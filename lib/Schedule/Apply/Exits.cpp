//===- Exits.cpp - loops that end on data ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value of a step is tried as the exit: leaves get `false` in the place of what the step before made of it, and
// are folded. What they still read then decides.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/Apply/Exits.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::ft;
using etdg::BlockOp;
using etdg::KernelOp;
using etdg::PieceAttr;
using etdg::SourceKind;

namespace {
/// One result of one nest.
struct Place {
  unsigned nest, write;
  bool operator==(const Place &other) const { return nest == other.nest && write == other.write; }
};

class Ending {
public:
  explicit Ending(KernelOp kernel);

  /// Whether the kernel's loop has the form at all: leaves that share one dimension, all over the same range.
  bool isPlain() const { return !leaves.empty(); }
  ArrayRef<BlockOp> getLeaves() const { return leaves; }
  Value bufferOf(Place place) const;
  /// Leaves as they are once `exit` is false; empty where it is no exit. The caller erases them.
  SmallVector<BlockOp> end(Place exit);

private:
  bool isFlag(BlockOp leaf, unsigned read, Place exit) const;
  bool isAlike(BlockOp leaf) const;
  bool readsItsOwn(BlockOp ended, unsigned nest) const;
  bool isItsOwn(BlockOp ended, unsigned nest, unsigned read, PieceAttr piece) const;

  SmallVector<BlockOp> leaves;
  llvm::DenseMap<Value, SmallVector<Place>> writers;
  /// Arguments in whose memory results of the kernel may lie.
  llvm::SmallDenseSet<Value> overwritten;
};
} // namespace

static bool isTrue(PieceAttr piece) {
  if (piece.getKind() == SourceKind::Splat) {
    auto value = dyn_cast<IntegerAttr>(piece.getValue());
    return value && !value.getValue().isZero();
  }
  if (piece.getKind() != SourceKind::Index)
    return false;
  auto value = dyn_cast<AffineConstantExpr>(piece.getMap().getValue().getResult(0));
  return value && value.getValue() != 0;
}

/// The map of the step before.
static AffineMap before(AffineMap map) {
  AffineExpr step = getAffineDimExpr(0, map.getContext());
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(simplifyAffineExpr(result.replace(step, step - 1), map.getNumDims(), map.getNumSymbols()));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
}

/// Whether what is specified for the first dimension ties it to no other one, and the leaf's other loops are parallel and dealt alike in
/// each step.
static bool isSteady(BlockOp leaf) {
  for (AffineExpr expr : leaf.getDomainSet().getConstraints())
    if (expr.isFunctionOfDim(0))
      for (unsigned d = 1; d < leaf.getNumDims(); ++d)
        if (expr.isFunctionOfDim(d))
          return false;
  etdg::ScheduleAttr schedule = leaf.getScheduleAttr();
  if (!schedule)
    return false;
  for (etdg::LoopAttr loop : schedule.getLoops()) {
    bool isSequential = loop.getKind() == etdg::LoopKind::Sequential;
    bool anyTakes = loop.getLevel() == etdg::LoopLevel::Core && loop.getMapping() == etdg::IterationMapping::Dynamic;
    if (isSequential != (loop.getDimension() == 0) || anyTakes)
      return false;
  }
  return true;
}

bool Ending::isAlike(BlockOp leaf) const {
  auto ofStep = [](BlockOp of) {
    SmallVector<std::pair<AffineExpr, bool>> found;
    IntegerSet set = of.getDomainSet();
    for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
      if (expr.isFunctionOfDim(0))
        found.push_back({expr, equality});
    return found;
  };
  BlockOp first = leaves.front();
  return ofStep(first) == ofStep(leaf) && (first.getSymbolNames() == leaf.getSymbolNames() || llvm::none_of(ofStep(leaf), [&](auto &constraint) {
           for (unsigned s = 0; s < leaf.getSymbolNames().size(); ++s)
             if (constraint.first.isFunctionOfSymbol(s))
               return true;
           return false;
         }));
}

Ending::Ending(KernelOp kernel) {
  if (kernel.getShared() != 1 || isa<BlockOp>(kernel->getParentOp()))
    return;
  SmallVector<SmallVector<BlockOp>> nests = etdg::getNests(kernel.getBody());
  for (const SmallVector<BlockOp> &nest : nests) {
    BlockOp leaf = nest.front();
    if (nest.size() != 1 || !leaf.isLeaf() || leaf.getNumAncestors() != 0 || leaf.getNumOwnDims() == 0 || !isSteady(leaf)) {
      leaves.clear();
      return;
    }
    leaves.push_back(leaf);
  }
  if (leaves.size() < 2 || !llvm::all_of(leaves, [&](BlockOp leaf) { return isAlike(leaf); })) {
    leaves.clear();
    return;
  }
  for (auto [n, leaf] : llvm::enumerate(leaves))
    for (unsigned w = 0; w < leaf.getNumWrites(); ++w)
      writers[leaf.getBuffers()[leaf.getWrite(w).getOperand()]].push_back({unsigned(n), w});
  auto graph = kernel->getParentOfType<etdg::GraphOp>();
  Operation *end = graph.getBody().front().getTerminator();
  for (StringRef name : {StringRef(etdg::names::inPlace), StringRef("tssa.writeback")})
    if (auto pairs = graph->getAttrOfType<DenseI64ArrayAttr>(name))
      for (size_t i = 0; i + 1 < size_t(pairs.size()); i += 2)
        if (writers.contains(end->getOperand(pairs[i + 1])))
          overwritten.insert(graph.getBody().getArgument(pairs[i]));
}

Value Ending::bufferOf(Place place) const {
  BlockOp leaf = leaves[place.nest];
  return leaf.getBuffers()[leaf.getWrite(place.write).getOperand()];
}

/// Whether a read is what the step before made of the exit; before the first step it is true.
bool Ending::isFlag(BlockOp leaf, unsigned read, Place exit) const {
  Value buffer = bufferOf(exit);
  bool any = false;
  for (PieceAttr piece : leaf.getRead(read).getPieces()) {
    if (piece.getKind() != SourceKind::Buffer) {
      if (!isTrue(piece))
        return false;
      continue;
    }
    if (leaf.getBuffers()[piece.getOperand()] != buffer || !piece.getGathers().empty())
      return false;
    AffineExpr step = getAffineDimExpr(0, leaf.getContext());
    if (piece.getMap().getValue().getResult(0) != step - 1)
      return false;
    any = true;
  }
  return any;
}

/// Whether a piece of a read is data from outside of the kernel, or the cell that the leaf itself fills in this step with the same.
bool Ending::isItsOwn(BlockOp ended, unsigned nest, unsigned read, PieceAttr piece) const {
  if (piece.getKind() != SourceKind::Buffer)
    return true;
  auto isOutside = [&](int64_t operand) {
    Value buffer = ended.getBuffers()[operand];
    return !writers.contains(buffer) && !overwritten.contains(buffer);
  };
  if (!llvm::all_of(piece.getGathers(), [&](etdg::GatherAttr gather) { return isOutside(gather.getOperand()); }))
    return false;
  if (isOutside(piece.getOperand()))
    return true;
  auto found = writers.find(ended.getBuffers()[piece.getOperand()]);
  if (found == writers.end() || found->second.size() != 1 || found->second.front().nest != nest || !piece.getGathers().empty())
    return false;
  unsigned write = found->second.front().write;
  if (ended.getRead(read).getElementRank() != 0 || piece.getMap().getValue() != before(ended.getWrite(write).getMap().getValue()))
    return false;
  BlockArgument argument = ended.getBody().getArgument(read);
  return llvm::all_of(argument.getUses(), [&](OpOperand &use) {
    return use.getOwner() == ended.getYield() && use.getOperandNumber() == write;
  });
}

bool Ending::readsItsOwn(BlockOp ended, unsigned nest) const {
  for (unsigned read = 0; read < ended.getNumReads(); ++read)
    if (!ended.getBody().getArgument(read).use_empty())
      for (PieceAttr piece : ended.getRead(read).getPieces())
        if (!isItsOwn(ended, nest, read, piece))
          return false;
  return true;
}

SmallVector<BlockOp> Ending::end(Place exit) {
  SmallVector<BlockOp> ended;
  for (BlockOp leaf : leaves) {
    OpBuilder builder(leaf.getContext());
    builder.setInsertionPointAfter(leaf);
    auto copy = cast<BlockOp>(builder.clone(*leaf));
    // Layouts are of the loop nests that the leaf had.
    copy->removeAttr(etdg::names::layouts);
    builder.setInsertionPointToStart(&copy.getBody().front());
    for (unsigned read = 0; read < leaf.getNumReads(); ++read)
      if (isFlag(leaf, read, exit)) {
        auto type = cast<RankedTensorType>(copy.getBody().getArgument(read).getType());
        Value never = arith::ConstantOp::create(builder, leaf.getLoc(), DenseElementsAttr::get(type, false));
        copy.getBody().getArgument(read).replaceAllUsesWith(never);
      }
    (void)applyPatternsGreedily(copy.getBody(), FrozenRewritePatternSet());
    ended.push_back(copy);
  }
  DenseElementsAttr stays;
  bool holds = matchPattern(ended[exit.nest].getYield().getOperand(exit.write), m_Constant(&stays)) && stays.isSplat() &&
               !stays.getSplatValue<bool>();
  for (auto [n, leaf] : llvm::enumerate(ended))
    holds = holds && readsItsOwn(leaf, unsigned(n));
  if (!holds) {
    for (BlockOp leaf : ended)
      leaf.erase();
    ended.clear();
  }
  return ended;
}

etdg::ExitAttr schedule::findExit(KernelOp kernel) {
  Ending ending(kernel);
  for (unsigned n = 0; n < ending.getLeaves().size(); ++n) {
    BlockOp leaf = ending.getLeaves()[n];
    for (unsigned w = 0; w < leaf.getNumWrites(); ++w) {
      Place place{n, w};
      auto type = cast<etdg::BufferType>(ending.bufferOf(place).getType());
      bool isStep = leaf.getWrite(w).getMap().getValue().getResult(0) == getAffineDimExpr(0, kernel.getContext());
      if (type.getDepth() != 1 || type.getElement().getRank() != 0 || !type.getElement().getElementType().isInteger(1) || !isStep)
        continue;
      SmallVector<BlockOp> ended = ending.end(place);
      for (BlockOp copy : ended)
        copy.erase();
      if (!ended.empty())
        return etdg::ExitAttr::get(kernel.getContext(), int64_t(n), w);
    }
  }
  return {};
}

SmallVector<BlockOp> schedule::makeEndedLeaves(KernelOp kernel, etdg::ExitAttr exit) {
  Ending ending(kernel);
  if (!ending.isPlain())
    return {};
  return ending.end({unsigned(exit.getNest()), unsigned(exit.getWrite())});
}

void schedule::writeExits(etdg::GraphOp graph) {
  SmallVector<KernelOp> kernels;
  graph->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  for (KernelOp kernel : kernels)
    if (etdg::ExitAttr exit = kernel.getExitAttr() ? etdg::ExitAttr() : findExit(kernel))
      kernel.setExitAttr(exit);
}
