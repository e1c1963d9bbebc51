//===- ReorderSplit.cpp - imperfect nests as one nest ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of the item in its body becomes a dimension, as in schedules of
// 2d + 1 dimensions: (j, s, k) in lexicographic order is the order in which the
// parent ran, so that nothing need be asked before; hyperplanes over all of it
// are per-leaf schedules. Whether one pays is tried on a copy of the graph.
//
//===----------------------------------------------------------------------===//
#include "ReorderSplit.h"
#include "MergeInternal.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;
using ft::LengthAttr;

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

namespace {
/// A nest or lone block whose body could be distributed.
struct Site {
  Operation *item;
  /// Its own dimensions are all parallel: worth it only for a kernel with others.
  bool forKernel;
};
} // namespace

static SmallVector<Operation *> getItems(Region &body) {
  SmallVector<Operation *> items;
  for (Operation &op : body.front())
    if (isa<NestOp, BlockOp>(op))
      items.push_back(&op);
  return items;
}

static bool hasSequentialDim(ArrayRef<BlockOp> blocks) {
  return llvm::any_of(blocks, [](BlockOp block) {
    for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
      if (block.getOperator(d) != ft::OperatorKind::Map)
        return true;
    return false;
  });
}

/// Whether the item reads or writes a buffer of another item of its body.
static bool touchesNeighbour(Operation *item) {
  llvm::SmallPtrSet<Operation *, 4> seen;
  bool found = false;
  item->walk([&](BlockOp block) {
    for (Value buffer : block.getBuffers()) {
      Operation *def = buffer.getDefiningOp();
      if (!def || item->isProperAncestor(def) || !seen.insert(def).second)
        continue;
      found |= llvm::any_of(buffer.getUsers(), [&](Operation *user) {
        return isa<BlockOp>(user) && !item->isAncestor(user);
      });
    }
  });
  return found;
}

static std::optional<Site> getSite(Operation *item) {
  SmallVector<BlockOp> blocks = getBlocks(item);
  if (blocks.empty() || isScheduled(item) || isa<KernelOp>(item->getParentOp()))
    return std::nullopt;
  unsigned numChild = 0;
  bool sequentialInside = false, oneItem = true;
  for (BlockOp block : blocks) {
    if (block.isLeaf() || block.getNumOwnDims() == 0)
      return std::nullopt;
    for (Operation &op : block.getBody().front())
      if (!isa<NestOp, BlockOp, BufferOp, ConstantOp, YieldOp>(op))
        return std::nullopt;
    SmallVector<Operation *> items = getItems(block.getBody());
    // More would make a dimension of its own length out of straight-line code.
    constexpr unsigned maxItems = 8;
    if (items.empty() || items.size() > maxItems)
      return std::nullopt;
    oneItem &= items.size() == 1;
    for (Operation *child : items) {
      SmallVector<BlockOp> inner = getBlocks(child);
      if (inner.empty() || isScheduled(child))
        return std::nullopt;
      numChild = std::max(numChild, inner.front().getNumOwnDims());
      sequentialInside |= hasSequentialDim(inner);
    }
  }
  constexpr unsigned maxDims = 7;
  if (!sequentialInside || blocks.front().getNumOwnDims() + 1 + numChild > maxDims)
    return std::nullopt;
  if (hasSequentialDim(blocks))
    return Site{item, false};
  if (oneItem && touchesNeighbour(item))
    return Site{item, true};
  return std::nullopt;
}

/// All nests and lone blocks, a copy's in the same order.
static SmallVector<Operation *> getAllItems(GraphOp graph) {
  SmallVector<Operation *> items;
  graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto block = dyn_cast<BlockOp>(op);
    if (isa<NestOp>(op) || (block && !block.getNest()))
      items.push_back(op);
  });
  return items;
}

/// The outermost sites, in textual order, but those whose numbers are in `skipped`.
static SmallVector<Site> getSites(GraphOp graph, const llvm::SmallDenseSet<unsigned> &skipped) {
  SmallVector<Site> sites;
  for (auto [number, item] : llvm::enumerate(getAllItems(graph))) {
    if (skipped.contains(number) || (!sites.empty() && sites.back().item->isAncestor(item)))
      continue;
    if (std::optional<Site> site = getSite(item))
      sites.push_back(*site);
  }
  return sites;
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

/// Gives every access to `buffer` `dims` as its first indices.
static void prependPositions(Value buffer, Value replacement, unsigned from, unsigned count) {
  MLIRContext *context = buffer.getContext();
  auto wider = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (unsigned d = 0; d < count; ++d)
      results.push_back(getAffineDimExpr(from + d, context));
    llvm::append_range(results, map.getResults());
    return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
  };
  llvm::SetVector<Operation *> users(buffer.user_begin(), buffer.user_end());
  for (Operation *user : users) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block)
      continue;
    BlockBuilder b = BlockBuilder::from(block);
    auto isOurs = [&](int64_t operand) { return operand >= 0 && b.buffers[operand] == buffer; };
    auto change = [&](ReadAttr read) {
      return transformRead(
          read, [&](AffineMap map, int64_t operand) { return isOurs(operand) ? wider(map) : map; },
          [](IntegerSet set) { return set; }, [](int64_t operand) { return operand; },
          [&](int64_t operand, int64_t position) {
            return isOurs(operand) ? position + static_cast<int64_t>(count) : position;
          });
    };
    for (ReadAttr &read : b.reads)
      read = change(read);
    for (ReadAttr &read : b.identity)
      read = change(read);
    for (WriteAttr &write : b.writes)
      if (isOurs(write.getOperand()))
        write = WriteAttr::get(context, write.getOperand(),
                               AffineMapAttr::get(wider(write.getMap().getValue())));
    for (Value &operand : b.buffers)
      if (operand == buffer)
        operand = replacement;
    b.assign(block);
  }
}

/// The lengths that a buffer of a block gets for the block's dimensions: indices
/// are the dimensions themselves. None where a range has no such bound.
static std::optional<SmallVector<LengthAttr>> getOuterLengths(BlockOp block,
                                                              const SymbolSpace &space) {
  SmallVector<LengthAttr> lengths;
  for (const DimRange &range : getOwnRanges(block, space)) {
    auto lower = range.lower ? range.lower.getConstant() : std::nullopt;
    if (!lower || *lower < 0 || !range.upper)
      return std::nullopt;
    lengths.push_back(range.upper);
  }
  return lengths;
}

static bool canDistribute(const Site &site, const SymbolSpace &space) {
  return llvm::all_of(getBlocks(site.item), [&](BlockOp block) {
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

static NestOp distribute(const Site &site, const SymbolSpace &space) {
  Operation *item = site.item;
  auto graph = item->getParentOfType<GraphOp>();
  MLIRContext *context = item->getContext();
  SmallVector<BlockOp> parents = getBlocks(item);
  BlockOp front = parents.front();
  unsigned numAncestors = front.getNumAncestors(), numOwn = front.getNumOwnDims();
  unsigned numChild = 0, numItems = 0;
  SmallVector<StringAttr> childNames;
  for (BlockOp parent : parents) {
    SmallVector<Operation *> items = getItems(parent.getBody());
    numItems = std::max<unsigned>(numItems, items.size());
    for (Operation *child : items) {
      BlockOp block = getBlocks(child).front();
      if (block.getNumOwnDims() <= numChild && !childNames.empty())
        continue;
      numChild = block.getNumOwnDims();
      childNames = llvm::to_vector(ArrayRef(block.getDimNames()).take_back(numChild));
    }
  }

  // (ancestors, the parent's, number of the item, the children's)
  llvm::SmallDenseSet<StringAttr> taken(space.getNames().begin(), space.getNames().end());
  SmallVector<StringAttr> dims = front.getDimNames();
  taken.insert(dims.begin(), dims.end());
  std::optional<unsigned> itemDim;
  if (numItems > 1) {
    graph.walk([&](BlockOp block) {
      for (StringAttr name : block.getDimNames())
        taken.insert(name);
    });
    itemDim = dims.size();
    dims.push_back(getFreshName(graph, "s", taken));
  }
  unsigned firstChild = dims.size();
  for (StringAttr name : childNames) {
    taken.erase(name);
    dims.push_back(getFreshName(graph, name.getValue(), taken));
  }

  OpBuilder builder(item);
  for (BlockOp parent : parents)
    for (Operation &op : llvm::make_early_inc_range(parent.getBody().front())) {
      if (isa<ConstantOp>(op)) {
        op.moveBefore(item);
        continue;
      }
      auto buffer = dyn_cast<BufferOp>(op);
      if (!buffer)
        continue;
      BufferType type = buffer.getResult().getType();
      SmallVector<LengthAttr> lengths = *getOuterLengths(parent, space);
      llvm::append_range(lengths, type.getLengths());
      auto outer = BufferOp::create(builder, buffer.getLoc(),
                                    BufferType::get(context, lengths, type.getElement()),
                                    DenseI64ArrayAttr(), buffer.getNameHintAttr());
      prependPositions(buffer.getResult(), outer.getResult(), numAncestors, numOwn);
      buffer.erase();
    }

  auto nest = NestOp::create(builder, item->getLoc(), ScheduleAttr());
  Block *body =
      nest.getBody().empty() ? builder.createBlock(&nest.getBody()) : &nest.getBody().front();
  for (BlockOp parent : parents)
    for (auto [number, child] : llvm::enumerate(getItems(parent.getBody())))
      for (BlockOp block : getBlocks(child)) {
        unsigned own = block.getNumOwnDims();
        BlockRemap remap;
        remap.dims = dims;
        remap.numAncestors = numAncestors;
        for (unsigned d = 0; d < numOwn; ++d)
          remap.operators.push_back(getOrdered(parent.getOperator(d)));
        if (itemDim)
          remap.operators.push_back(ft::OperatorKind::ScanL);
        for (unsigned d = 0; d < numChild; ++d)
          remap.operators.push_back(d < own ? block.getOperator(d) : ft::OperatorKind::ScanL);
        for (unsigned d = 0; d < numAncestors + numOwn; ++d)
          remap.exprs.push_back(getAffineDimExpr(d, context));
        for (unsigned d = 0; d < own; ++d)
          remap.exprs.push_back(getAffineDimExpr(firstChild + d, context));
        block->moveBefore(body, body->end());
        remapBlock(block, remap);
        restrictTo(block, parent, itemDim, number, firstChild + own);
      }
  item->erase();
  return nest;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Typical steps of an item, with what stands in its bodies.
static double getTypicalSteps(Operation *item,
                              const llvm::DenseMap<Operation *, const Nest *> &nests) {
  double own = 1;
  if (const Nest *nest = nests.lookup(item)) {
    if (nest->wavefront)
      own = nest->getTypicalSteps(nest->wavefront->rows.getRow(0));
    else if (nest->isRefused())
      for (unsigned d = 0; d < nest->numOwn && d < nest->extents.size(); ++d)
        if (!nest->getDeclared().parallel[d])
          own *= nest->extents[d];
  }
  double inside = 1;
  for (BlockOp block : getBlocks(item)) {
    double sum = 0;
    if (!block.isLeaf())
      for (Operation *child : getItems(block.getBody()))
        sum += getTypicalSteps(child, nests);
    inside = std::max(inside, sum);
  }
  return own * inside;
}

static llvm::DenseMap<Operation *, const Nest *> indexNests(const Plan &plan) {
  llvm::DenseMap<Operation *, const Nest *> nests;
  for (const Nest &nest : plan.nests)
    nests[nest.op] = &nest;
  return nests;
}

//===----------------------------------------------------------------------===//
// Trial
//===----------------------------------------------------------------------===//

namespace {
struct Verdict {
  bool accepted = false;
  double before = 0, after = 0;
  std::string reason;
};
} // namespace

static remark::RemarkOpts remarkOf(StringRef name) {
  return remark::RemarkOpts::name(name).category("reorder").subCategory("etdg-reorder");
}

/// What each site would gain, all of them being distributed.
static SmallVector<Verdict> tryOut(GraphOp graph, const llvm::SmallDenseSet<unsigned> &skipped) {
  OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone());
  SmallVector<Site> sites = getSites(*copy, skipped);
  SmallVector<Verdict> verdicts(sites.size());
  TypicalLengths lengths(*copy);
  SmallVector<bool> possible;
  {
    DependenceAnalysis analysis(*copy);
    Plan plan = makePlan(*copy, analysis, lengths);
    auto nests = indexNests(plan);
    for (auto [site, verdict] : llvm::zip_equal(sites, verdicts)) {
      verdict.before = getTypicalSteps(site.item, nests);
      possible.push_back(canDistribute(site, analysis.getSpace()));
    }
  }
  SymbolSpace space(*copy);
  SmallVector<Operation *> items;
  for (auto [site, can] : llvm::zip_equal(sites, possible))
    items.push_back(can ? distribute(site, space).getOperation() : nullptr);
  DependenceAnalysis analysis(*copy);
  Plan plan = makePlan(*copy, analysis, lengths);
  auto nests = indexNests(plan);
  llvm::SmallPtrSet<Operation *, 8> grouped;
  for (const Group &group : plan.groups)
    for (const GroupMember &member : group.members)
      grouped.insert(member.nest->op);
  for (auto [site, verdict, item] : llvm::zip_equal(sites, verdicts, items)) {
    if (!item) {
      verdict.reason = "a dimension has no bound that a buffer could have as its length";
      continue;
    }
    verdict.after = getTypicalSteps(item, nests);
    const Nest *nest = nests.lookup(item);
    if (site.forKernel) {
      verdict.accepted = grouped.contains(item);
      verdict.reason = "no other nest would join its wavefront";
    } else {
      verdict.accepted = nest && nest->wavefront && verdict.after < verdict.before;
      verdict.reason = nest && nest->isRefused() ? nest->refusal : "it takes no fewer steps";
    }
  }
  return verdicts;
}

void reorder::splitNests(GraphOp graph) {
  llvm::SmallPtrSet<Operation *, 8> refused;
  constexpr unsigned maxRounds = 4;
  for (unsigned round = 0; round < maxRounds; ++round) {
    llvm::SmallDenseSet<unsigned> skipped;
    for (auto [number, item] : llvm::enumerate(getAllItems(graph)))
      if (refused.contains(item))
        skipped.insert(number);
    SmallVector<Site> sites = getSites(graph, skipped);
    if (sites.empty())
      return;
    SmallVector<Verdict> verdicts = tryOut(graph, skipped);
    SymbolSpace space(graph);
    bool changed = false;
    for (auto [site, verdict] : llvm::zip_equal(sites, verdicts)) {
      std::string what;
      for (BlockOp block : getBlocks(site.item))
        what += (what.empty() ? "" : ", ") + describeBlock(block);
      Location loc = site.item->getLoc();
      if (verdict.accepted) {
        distribute(site, space);
        changed = true;
        remark::passed(loc, remarkOf("distribute"))
            << remark::add("the items of its body became regions of one nest")
            << remark::metric("nest", what)
            << remark::metric("typical-steps-before", static_cast<int64_t>(verdict.before))
            << remark::metric("typical-steps-after", static_cast<int64_t>(verdict.after));
        continue;
      }
      refused.insert(site.item);
      if (!site.forKernel)
        remark::missed(loc, remarkOf("keep-nesting"))
            << remark::reason("{0}", verdict.reason) << remark::metric("nest", what)
            << remark::metric("typical-steps", static_cast<int64_t>(verdict.before));
    }
    if (!changed)
      return;
  }
}
