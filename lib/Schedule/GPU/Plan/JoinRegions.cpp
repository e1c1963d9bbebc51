//===- JoinRegions.cpp - regions of a nest that share their code ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each scan around a leaf doubles its code: its first iterations are a region of their own. On a GPU code is long, as threads have tiles in registers, and
// compilers take seconds for it. Where two regions differ in an address, which is asked once for many multiply-adds, they are one.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/JoinRegions.h"

#include "RegionUnion.h"

#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGJOINREGIONS
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using etdg::BlockBuilder;
using etdg::BlockImporter;
using etdg::BlockOp;
using etdg::BufferMemory;
using etdg::BufferOp;
using etdg::LoopLevel;
using etdg::NestOp;
using etdg::PieceAttr;
using etdg::ReadAttr;

namespace {
/// Joins the regions of one nest.
class RegionJoiner {
public:
  RegionJoiner(NestOp nest, const etdg::SymbolSpace &space) : nest(nest), space(space) {}
  void run();

private:
  static bool haveSameCode(BlockOp one, BlockOp other);
  static bool isPlain(const BlockBuilder &block, ReadAttr read);
  static std::optional<BufferMemory> memoryOf(const BlockBuilder &block, ReadAttr read);
  bool isOfRows(IntegerSet set);
  std::optional<BlockBuilder> join(BlockOp one, BlockOp other);

  NestOp nest;
  const etdg::SymbolSpace &space;
};
} // namespace

/// Whether two leaves compute the same of what they read, in the same way.
bool RegionJoiner::haveSameCode(BlockOp one, BlockOp other) {
  auto areEqual = [](Region &a, Region &b) {
    return OperationEquivalence::isRegionEquivalentTo(&a, &b, OperationEquivalence::IgnoreLocations);
  };
  return one.isLeaf() && other.isLeaf() && one.getDims() == other.getDims() && one.getOperators() == other.getOperators() &&
         one.getNumReads() == other.getNumReads() && one.getNumWrites() == other.getNumWrites() && !one.getSchedule() && !other.getSchedule() &&
         one->getDiscardableAttrDictionary() == other->getDiscardableAttrDictionary() && areEqual(one.getBody(), other.getBody()) &&
         areEqual(one.getCombine(), other.getCombine());
}

/// Whether the read is whole elements of memory, at places that no data decide.
bool RegionJoiner::isPlain(const BlockBuilder &block, ReadAttr read) {
  return read.getElementRank() == 0 && llvm::all_of(read.getPieces(), [&](PieceAttr piece) {
           return piece.getKind() == etdg::SourceKind::Buffer && piece.getGathers().empty() &&
                  piece.getMap().getValue().getNumResults() == cast<etdg::BufferType>(block.buffers[size_t(piece.getOperand())].getType()).getLengths().size();
         });
}

/// Where all that a plain read meets lies: in shared memory, or elsewhere (`call`); nothing where that is not said, or not one kind.
std::optional<BufferMemory> RegionJoiner::memoryOf(const BlockBuilder &block, ReadAttr read) {
  std::optional<BufferMemory> common;
  for (PieceAttr piece : read.getPieces()) {
    BufferMemory memory = BufferMemory::Call;
    if (auto buffer = block.buffers[size_t(piece.getOperand())].getDefiningOp<BufferOp>()) {
      if (!buffer.getMemory())
        return std::nullopt;
      memory = *buffer.getMemory() == BufferMemory::Shared ? BufferMemory::Shared : BufferMemory::Call;
    }
    if (common.value_or(memory) != memory)
      return std::nullopt;
    common = memory;
  }
  return common;
}

/// Whether a set says something of iterations that a leaf computes at once.
bool RegionJoiner::isOfRows(IntegerSet set) {
  auto first = cast<BlockOp>(nest.getBody().front().front());
  return llvm::any_of(nest.getScheduleAttr().getLoops(), [&](etdg::LoopAttr loop) {
    auto dim = unsigned(loop.getDimension() + int64_t(first.getNumAncestors()));
    bool isInLeaf = loop.getLevel() == LoopLevel::Rows || loop.getLevel() == LoopLevel::ListedRows || loop.getLevel() == LoopLevel::Lifted;
    return isInLeaf && llvm::any_of(set.getConstraints(), [&](AffineExpr constraint) { return constraint.isFunctionOfDim(dim); });
  });
}

/// The pieces of a read, each where `part` holds.
static void addPieces(ReadAttr read, IntegerSet part, SmallVectorImpl<PieceAttr> &pieces) {
  for (PieceAttr piece : read.getPieces()) {
    IntegerSet set = etdg::canonicalizeSet(etdg::intersect(part, piece.getSet().getValue()));
    pieces.push_back(PieceAttr::getBuffer(set, piece.getOperand(), piece.getMap().getValue()));
  }
}

/// What the region of both says; nothing where they stay apart.
std::optional<BlockBuilder> RegionJoiner::join(BlockOp one, BlockOp other) {
  BlockBuilder joined = BlockBuilder::from(one), source = BlockBuilder::from(other);
  BlockImporter importer(joined, source);
  IntegerSet domain = importer.set(source.domain);
  for (auto [mine, its] : llvm::zip_equal(joined.writes, source.writes))
    if (mine != importer.write(its))
      return std::nullopt;
  for (auto [mine, its] : llvm::zip_equal(joined.identity, source.identity))
    if (mine != importer.read(its))
      return std::nullopt;
  SmallVector<std::pair<size_t, ReadAttr>> different;
  for (auto [i, its] : llvm::enumerate(source.reads)) {
    ReadAttr mine = joined.reads[i], read = importer.read(its);
    if (mine == read)
      continue;
    if (!isPlain(joined, mine) || !isPlain(joined, read))
      return std::nullopt;
    std::optional<BufferMemory> memory = memoryOf(joined, mine);
    if (!memory || memory != memoryOf(joined, read))
      return std::nullopt;
    different.emplace_back(i, read);
  }
  std::optional<schedule::RegionUnion> both = schedule::uniteRegions(joined.domain, domain, joined.numAncestors, joined.symbols, space);
  if (!both || isOfRows(both->first) || isOfRows(both->second))
    return std::nullopt;
  for (auto [i, read] : different) {
    SmallVector<PieceAttr> pieces;
    addPieces(joined.reads[i], both->first, pieces);
    addPieces(read, both->second, pieces);
    joined.reads[i] = ReadAttr::get(read.getContext(), pieces, 0);
  }
  joined.domain = both->domain;
  return joined;
}

void RegionJoiner::run() {
  etdg::ScheduleAttr schedule = nest.getScheduleAttr();
  // (Nothing has planned one without a target; weights are a list over regions, placements say numbers of reads.)
  if (!schedule || !schedule.getTarget() || !schedule.getPlacements().empty() || !schedule.getWeights().empty())
    return;
  // Where nothing runs in order no scan has first iterations. Regions are statements of a body there, whose ranges are constants that a grid deals: those
  // of their union may depend on each other.
  if (llvm::none_of(schedule.getLoops(), [](etdg::LoopAttr loop) { return loop.getKind() == etdg::LoopKind::Sequential; }))
    return;
  SmallVector<BlockOp> regions = llvm::to_vector(nest.getOps<BlockOp>());
  for (size_t i = 0; i < regions.size(); ++i)
    for (size_t k = i + 1; k < regions.size();) {
      std::optional<BlockBuilder> joined;
      if (haveSameCode(regions[i], regions[k]))
        joined = join(regions[i], regions[k]);
      if (!joined) {
        ++k;
        continue;
      }
      remark::passed(regions[i].getLoc(), remark::RemarkOpts::name("join-regions").category("storage"))
          << ("regions " + regions[i].getBlockName().value_or("") + " and " + regions[k].getBlockName().value_or("") + " are one leaf's code").str();
      joined->assign(regions[i]);
      regions[k].erase();
      regions.erase(regions.begin() + ptrdiff_t(k));
      k = i + 1; // what stayed apart from one of them may be next to both
    }
}

void mlir::ft::joinRegions(etdg::GraphOp graph) {
  std::optional<etdg::SymbolSpace> space;
  graph.walk([&](NestOp nest) {
    if (llvm::range_size(nest.getOps<BlockOp>()) < 2)
      return;
    if (!space)
      space.emplace(graph);
    RegionJoiner(nest, *space).run();
  });
}

namespace {
struct ETDGJoinRegions : ft::impl::ETDGJoinRegionsBase<ETDGJoinRegions> {
  void runOnOperation() override { joinRegions(getOperation()); }
};
} // namespace
