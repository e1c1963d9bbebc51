//===- StepLeaf.cpp - the step of a recurrence as one leaf ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step of a recurrent cell is a block with a few points inside: gates, and what takes them. As one leaf the products of its gates are computed
// side by side, and the cell after them while their sums are in registers. Each scan around it makes its first iterations a region, whose state is
// a constant. A tile of rows has all of its rows in one of them, so that they can be one region, which chooses by its iteration what it reads.
//
//===----------------------------------------------------------------------===//
#include "StepLeaf.h"

#include "RegionUnion.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/Sums.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/ExcessPrecision.h"
#include "ft/Dialect/ETDG/Transforms/JoinPoints.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::BlockBuilder;
using etdg::BlockImporter;
using etdg::BlockOp;
using etdg::PieceAttr;
using etdg::ReadAttr;

/// Points of one leaf: each has code of its own.
static constexpr int64_t mostPoints = 16;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {
/// Two bodies that compute the same of what they read. One may read a value twice where the other reads two.
class SameBodies {
public:
  SameBodies(BlockOp one, BlockOp other) : one(one.getBody().front()), other(other.getBody().front()) {}
  bool compare();
  /// Gives the first body an argument for each pair of reads.
  void rewrite();
  /// By argument of the body that is both: the reads of the two.
  SmallVector<std::pair<unsigned, unsigned>> pairs;

private:
  LogicalResult compare(Value mine, Value its);
  std::optional<std::pair<unsigned, unsigned>> pairOf(Value mine, Value its) const;

  Block &one, &other;
  llvm::DenseMap<Value, Value> same; // values of the first body in the second
};
} // namespace

std::optional<std::pair<unsigned, unsigned>> SameBodies::pairOf(Value mine, Value its) const {
  auto a = dyn_cast<BlockArgument>(mine), b = dyn_cast<BlockArgument>(its);
  if (!a || !b || a.getOwner() != &one || b.getOwner() != &other)
    return std::nullopt;
  return std::pair(a.getArgNumber(), b.getArgNumber());
}

LogicalResult SameBodies::compare(Value mine, Value its) {
  if (mine.getType() != its.getType())
    return failure();
  if (auto pair = pairOf(mine, its)) {
    if (!llvm::is_contained(pairs, *pair))
      pairs.push_back(*pair);
    return success();
  }
  auto found = same.find(mine);
  return success(found != same.end() && found->second == its);
}

bool SameBodies::compare() {
  if (one.getOperations().size() != other.getOperations().size())
    return false;
  return llvm::all_of(llvm::zip_equal(one, other), [&](auto both) {
    auto &[mine, its] = both;
    return OperationEquivalence::isEquivalentTo(
        &mine, &its, [&](Value a, Value b) { return compare(a, b); }, [&](Value a, Value b) { same[a] = b; }, OperationEquivalence::IgnoreLocations);
  });
}

void SameBodies::rewrite() {
  unsigned numBefore = one.getNumArguments();
  for (auto [mine, its] : pairs)
    one.addArgument(one.getArgument(mine).getType(), one.getArgument(mine).getLoc());
  SmallVector<Operation *> mine, its;
  for (Operation &op : one)
    op.walk([&](Operation *inner) { mine.push_back(inner); });
  for (Operation &op : other)
    op.walk([&](Operation *inner) { its.push_back(inner); });
  for (auto [a, b] : llvm::zip_equal(mine, its))
    for (auto [operand, value] : llvm::zip_equal(a->getOpOperands(), b->getOperands()))
      if (auto pair = pairOf(operand.get(), value))
        operand.set(one.getArgument(numBefore + unsigned(llvm::find(pairs, *pair) - pairs.begin())));
  one.eraseArguments(0, numBefore);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// Whether the read is whole elements, or constants, at places that no data decide.
static bool isPlain(const BlockBuilder &block, ReadAttr read) {
  return read.getElementRank() == 0 && llvm::all_of(read.getPieces(), [&](PieceAttr piece) {
           if (piece.getKind() == etdg::SourceKind::Splat)
             return true;
           return piece.getKind() == etdg::SourceKind::Buffer && piece.getGathers().empty() &&
                  piece.getMap().getValue().getNumResults() == cast<etdg::BufferType>(block.buffers[size_t(piece.getOperand())].getType()).getLengths().size();
         });
}

static PieceAttr onSet(PieceAttr piece, IntegerSet set) {
  return PieceAttr::get(piece.getContext(), IntegerSetAttr::get(set), piece.getKind(), piece.getOperand(), piece.getMap(), piece.getGathers(), piece.getValue());
}

static bool isSameSource(PieceAttr one, PieceAttr other) {
  return onSet(one, other.getSet().getValue()) == other;
}

namespace {
/// Unites two regions of a nest.
class RegionPair {
public:
  RegionPair(BlockOp one, BlockOp other, const etdg::SymbolSpace &space)
      : one(one), other(other), space(space), joined(BlockBuilder::from(one)), source(BlockBuilder::from(other)) {}
  /// Whether they are one region now, the first one.
  bool unite();

private:
  std::optional<ReadAttr> uniteReads(ReadAttr mine, ReadAttr its, const RegionUnion &both, IntegerSet ownDomain, IntegerSet itsDomain) const;

  BlockOp one, other;
  const etdg::SymbolSpace &space;
  BlockBuilder joined, source;
};
} // namespace

/// What is read in the union. Two sources are told apart by as few constraints as possible; more of them where each part has them.
std::optional<ReadAttr> RegionPair::uniteReads(ReadAttr mine, ReadAttr its, const RegionUnion &both, IntegerSet ownDomain, IntegerSet itsDomain) const {
  struct Source {
    PieceAttr piece;
    std::optional<IntegerSet> domain; // nothing: it is no set
  };
  SmallVector<Source> sources;
  SmallVector<PieceAttr> pieces;
  for (auto [read, part, domain] : {std::tuple(mine, both.first, ownDomain), std::tuple(its, both.second, itsDomain)})
    for (PieceAttr piece : read.getPieces()) {
      IntegerSet set = piece.getSet().getValue();
      pieces.push_back(onSet(piece, etdg::canonicalizeSet(etdg::intersect(part, set))));
      IntegerSet own = etdg::canonicalizeSet(etdg::intersect(domain, set));
      auto *known = llvm::find_if(sources, [&, piece = piece](const Source &s) { return isSameSource(s.piece, piece); });
      if (known == sources.end()) {
        sources.push_back({piece, own});
        continue;
      }
      std::optional<RegionUnion> united;
      if (known->domain)
        united = uniteRegions(*known->domain, own, joined.numAncestors, joined.symbols, space);
      known->domain = united ? std::optional(united->domain) : std::nullopt;
    }
  if (sources.size() == 1)
    return ReadAttr::get(mine.getContext(), {onSet(sources.front().piece, etdg::getUniverse(mine.getContext(), ownDomain.getNumDims(), unsigned(joined.symbols.size())))}, 0);
  if (sources.size() == 2 && sources[0].domain && sources[1].domain)
    if (std::optional<RegionUnion> parts = uniteRegions(*sources[0].domain, *sources[1].domain, joined.numAncestors, joined.symbols, space))
      return ReadAttr::get(mine.getContext(), {onSet(sources[0].piece, parts->first), onSet(sources[1].piece, parts->second)}, 0);
  return ReadAttr::get(mine.getContext(), pieces, 0);
}

bool RegionPair::unite() {
  if (!one.isLeaf() || !other.isLeaf() || !one.getCombine().empty() || !other.getCombine().empty() || one.getDims() != other.getDims() ||
      one.getOperators() != other.getOperators() || one.getNumWrites() != other.getNumWrites() ||
      one->getDiscardableAttrDictionary() != other->getDiscardableAttrDictionary())
    return false;
  SameBodies bodies(one, other);
  if (!bodies.compare())
    return false;
  BlockImporter importer(joined, source);
  IntegerSet ownDomain = joined.domain, itsDomain = importer.set(source.domain);
  for (auto [mine, its] : llvm::zip_equal(joined.writes, source.writes))
    if (mine != importer.write(its))
      return false;
  SmallVector<ReadAttr> reads;
  std::optional<RegionUnion> both = uniteRegions(ownDomain, itsDomain, joined.numAncestors, joined.symbols, space);
  if (!both)
    return false;
  for (auto [mine, its] : bodies.pairs) {
    ReadAttr own = joined.reads[mine], read = importer.read(source.reads[its]);
    if (own != read) {
      if (!isPlain(joined, own) || !isPlain(joined, read))
        return false;
      own = *uniteReads(own, read, *both, ownDomain, itsDomain);
    }
    reads.push_back(own);
  }
  bodies.rewrite();
  joined.reads = reads;
  joined.domain = both->domain;
  joined.assign(one);
  other.erase();
  return true;
}

/// Unites regions of a nest as long as two of them can be one.
static void uniteRegionsOf(etdg::NestOp nest) {
  etdg::SymbolSpace space(nest->getParentOfType<etdg::GraphOp>());
  auto uniteTwo = [&] {
    SmallVector<BlockOp> regions = etdg::blocksOf(nest);
    for (size_t i = 0; i < regions.size(); ++i)
      for (size_t k = i + 1; k < regions.size(); ++k)
        if (RegionPair(regions[i], regions[k], space).unite())
          return true;
    return false;
  };
  while (uniteTwo())
    ;
}

/// The block as one leaf; null, with nothing changed, where it can't be one. What its points handed each other as halves is not rounded in between, where
/// that may be left out: the sums of a product then go on in the next one.
static BlockOp asLeaf(BlockOp block) {
  if (block.isLeaf())
    return block;
  bool mayBeWide = block->getParentOfType<etdg::GraphOp>()->hasAttr(etdg::names::excess);
  BlockOp leaf = etdg::joinPoints(block, mostPoints);
  if (leaf && mayBeWide)
    (void)etdg::leaveOutRoundings(leaf); // (a failure: there is none)
  return leaf;
}

Operation *schedule::makeStepLeaf(Operation *item) {
  OpBuilder builder(item);
  builder.setInsertionPointAfter(item);
  Operation *copy = builder.clone(*item);
  if (auto block = dyn_cast<BlockOp>(copy)) {
    if (BlockOp leaf = asLeaf(block))
      return leaf;
  } else if (llvm::all_of(etdg::blocksOf(copy), [](BlockOp block) { return bool(asLeaf(block)); })) {
    uniteRegionsOf(cast<etdg::NestOp>(copy));
    return copy;
  }
  copy->erase();
  return nullptr;
}
