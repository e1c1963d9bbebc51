//===- ReorderDistribute.cpp - items of a body as nests -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a nest or block is taken apart into the items of its body: coordinates,
// domains, and private buffers that become buffers of the body around.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/BufferIndices.h"
#include "ReorderSplit.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;
using ft::LengthAttr;

SmallVector<Operation *> reorder::getItems(Region &body) {
  SmallVector<Operation *> items;
  for (Operation &op : body.front())
    if (isa<NestOp, BlockOp>(op))
      items.push_back(&op);
  return items;
}


bool reorder::canDistribute(const Site &site, const SymbolSpace &space) {
  return llvm::all_of(blocksOf(site.item), [&](BlockOp block) {
    return block.getBody().getOps<BufferOp>().empty() || getOuterLengths(block, space);
  });
}

/// A name that no one in the graph has as a dimension or length.
static StringAttr getFreshName(GraphOp graph, StringRef base,
                               llvm::SmallDenseSet<StringAttr> &taken) {
  StringAttr name = StringAttr::get(graph.getContext(), base);
  for (unsigned i = 0; !taken.insert(name).second; ++i)
    name = StringAttr::get(graph.getContext(), base + Twine(i));
  return name;
}

/// What may be cut where it stood may not be cut where it runs with others.
static ft::OperatorKind getOrdered(ft::OperatorKind kind) {
  switch (kind) {
  case ft::OperatorKind::Reduce:
  case ft::OperatorKind::Fold:
    return ft::OperatorKind::FoldL;
  case ft::OperatorKind::Scan:
    return ft::OperatorKind::ScanL;
  default:
    return kind;
  }
}

/// Adds the parent's domain, the item's number, and 0 for dimensions it lacks.
static void restrictTo(BlockOp block, BlockOp parent, std::optional<unsigned> itemDim,
                       unsigned item, unsigned firstMissing) {
  MLIRContext *context = block.getContext();
  BlockBuilder b = BlockBuilder::from(block);
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> eqs;
  auto addSet = [&](IntegerSet set, ArrayRef<StringAttr> symbols) {
    for (unsigned i = 0; i < set.getNumConstraints() && !isUniverse(set); ++i) {
      constraints.push_back(b.importExpr(set.getConstraint(i), symbols));
      eqs.push_back(set.isEq(i));
    }
  };
  SmallVector<StringAttr> own = b.symbols;
  addSet(parent.getDomainSet(), parent.getSymbolNames());
  addSet(b.domain, own);
  if (itemDim) {
    constraints.push_back(getAffineDimExpr(*itemDim, context) - static_cast<int64_t>(item));
    eqs.push_back(true);
  }
  for (unsigned d = firstMissing; d < b.dims.size(); ++d) {
    constraints.push_back(getAffineDimExpr(d, context));
    eqs.push_back(true);
  }
  unsigned numSymbols = b.symbols.size();
  b.domain = constraints.empty() ? getUniverse(context, b.dims.size(), numSymbols)
                                 : IntegerSet::get(b.dims.size(), numSymbols, constraints, eqs);
  // Everything speaks of the longer list of symbols.
  auto widenMap = [&](AffineMap map) {
    return AffineMap::get(map.getNumDims(), numSymbols, map.getResults(), context);
  };
  auto widenSet = [&](IntegerSet set) {
    return IntegerSet::get(set.getNumDims(), numSymbols, set.getConstraints(), set.getEqFlags());
  };
  auto widen = [&](ReadAttr read) {
    return transformRead(
        read, [&](AffineMap map, int64_t) { return widenMap(map); }, widenSet,
        [](int64_t operand) { return operand; });
  };
  for (ReadAttr &read : b.reads)
    read = widen(read);
  for (ReadAttr &read : b.identity)
    read = widen(read);
  for (WriteAttr &write : b.writes)
    write = WriteAttr::get(context, write.getOperand(),
                           AffineMapAttr::get(widenMap(write.getMap().getValue())));
  b.assign(block);
}

namespace {
/// Takes a nest or block apart into its items.
class Distributor {
public:
  Distributor(const Site &site, const SymbolSpace &space)
      : site(site), space(space), graph(site.item->getParentOfType<GraphOp>()),
        parents(blocksOf(site.item)), builder(site.item) {}
  /// The nests and blocks that stand now.
  SmallVector<Operation *> run();

private:
  /// Buffers and constants move out; buffers get the parent's dimensions.
  void hoistBuffers();
  SmallVector<SitePart> getParts();
  /// (ancestors, the parent's, number of the item, the children's)
  void chooseDims(const SitePart &part);
  /// A nest, or the only block of the part.
  Operation *emit(const SitePart &part);
  void place(BlockOp block, BlockOp parent, unsigned number);

  const Site &site;
  const SymbolSpace &space;
  GraphOp graph;
  SmallVector<BlockOp> parents;
  OpBuilder builder;
  SmallVector<StringAttr> dims;
  std::optional<unsigned> itemDim;
  unsigned firstChild = 0;
};
} // namespace

void Distributor::hoistBuffers() {
  for (BlockOp parent : parents)
    for (Operation &op : llvm::make_early_inc_range(parent.getBody().front())) {
      if (isa<ConstantOp>(op)) {
        op.moveBefore(site.item);
        continue;
      }
      auto buffer = dyn_cast<BufferOp>(op);
      if (!buffer)
        continue;
      widenBuffer(builder, buffer, parent, *getOuterLengths(parent, space));
    }
}

SmallVector<SitePart> Distributor::getParts() {
  if (site.kind == Distribution::Parts)
    return findParts(site.item);
  SmallVector<SitePart> parts;
  for (auto [p, parent] : llvm::enumerate(parents))
    for (auto [number, item] : llvm::enumerate(getItems(parent.getBody()))) {
      bool each = site.kind == Distribution::Each;
      if (each || parts.empty())
        parts.emplace_back();
      parts.back().items.push_back(
          {item, static_cast<unsigned>(p), each ? 0 : static_cast<unsigned>(number)});
      parts.back().isNumbered |= !each && number > 0;
    }
  return parts;
}

void Distributor::chooseDims(const SitePart &part) {
  BlockOp front = parents.front();
  SmallVector<StringAttr> childNames;
  for (const PartItem &entry : part.items) {
    BlockOp block = blocksOf(entry.item).front();
    if (block.getNumOwnDims() <= childNames.size())
      continue;
    SmallVector<StringAttr> names = block.getDimNames();
    childNames = llvm::to_vector(ArrayRef<StringAttr>(names).take_back(block.getNumOwnDims()));
  }
  llvm::SmallDenseSet<StringAttr> taken(space.getNames().begin(), space.getNames().end());
  dims = front.getDimNames();
  taken.insert(dims.begin(), dims.end());
  itemDim.reset();
  if (part.isNumbered) {
    graph.walk([&](BlockOp block) {
      for (StringAttr name : block.getDimNames())
        taken.insert(name);
    });
    itemDim = dims.size();
    dims.push_back(getFreshName(graph, "s", taken));
  }
  firstChild = dims.size();
  for (StringAttr name : childNames) {
    taken.erase(name);
    dims.push_back(getFreshName(graph, name.getValue(), taken));
  }
}

void Distributor::place(BlockOp block, BlockOp parent, unsigned number) {
  MLIRContext *context = graph.getContext();
  unsigned numOuter = parent.getNumDims(), own = block.getNumOwnDims();
  BlockRemap remap;
  remap.dims = dims;
  remap.numAncestors = parent.getNumAncestors();
  for (unsigned d = 0; d < parent.getNumOwnDims(); ++d)
    remap.operators.push_back(getOrdered(parent.getOperator(d)));
  if (itemDim)
    remap.operators.push_back(ft::OperatorKind::ScanL);
  for (unsigned d = 0, e = dims.size() - firstChild; d < e; ++d)
    remap.operators.push_back(d < own ? block.getOperator(d) : ft::OperatorKind::ScanL);
  for (unsigned d = 0; d < numOuter; ++d)
    remap.exprs.push_back(getAffineDimExpr(d, context));
  for (unsigned d = 0; d < own; ++d)
    remap.exprs.push_back(getAffineDimExpr(firstChild + d, context));
  remapBlock(block, remap);
  restrictTo(block, parent, itemDim, number, firstChild + own);
}

Operation *Distributor::emit(const SitePart &part) {
  chooseDims(part);
  unsigned count = 0;
  for (const PartItem &entry : part.items)
    count += blocksOf(entry.item).size();
  Block *body = nullptr;
  Operation *result = nullptr;
  if (count > 1 || site.kind == Distribution::OneNest) {
    auto nest = NestOp::create(builder, site.item->getLoc(), ScheduleAttr());
    OpBuilder::InsertionGuard guard(builder);
    body = nest.getBody().empty() ? builder.createBlock(&nest.getBody()) : &nest.getBody().front();
    result = nest;
  }
  for (const PartItem &entry : part.items)
    for (BlockOp block : blocksOf(entry.item)) {
      if (body) {
        block->moveBefore(body, body->end());
      } else {
        block->moveBefore(site.item);
        result = block;
      }
      place(block, parents[entry.parent], entry.number);
    }
  return result;
}

SmallVector<Operation *> Distributor::run() {
  if (site.kind == Distribution::Parts)
    for (BlockOp parent : parents)
      keepAllPlanes(parent);
  hoistBuffers();
  SmallVector<Operation *> results;
  for (const SitePart &part : getParts())
    results.push_back(emit(part));
  site.item->erase();
  return results;
}

SmallVector<Operation *> reorder::distribute(const Site &site, const SymbolSpace &space) {
  return Distributor(site, space).run();
}
