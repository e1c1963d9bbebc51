//===- Fission.cpp - a loop for each part of a parallel loop's body -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map of lists whose body computes several things may be a loop for each of them
// (loop fission). What was inside of the one loop is then perfectly nested in its own,
// and one nest with it: all of its parallel dimensions are shared out, where before
// the outer one alone was. Parts that need nothing of each other are apart at once;
// what one part hands on to another gets planes for each iteration.
//
//===----------------------------------------------------------------------===//
#include "TypicalWork.h"
#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/BufferIndices.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGFISSION
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

namespace {
/// Items of a body that need each other, in their order.
using Part = SmallVector<Operation *>;
} // namespace

/// Whether a schedule says nothing but that the loops are those of the block, in their order.
static bool isAsDeclared(ScheduleAttr schedule) {
  auto isPlain = [](LoopAttr loop) {
    return (loop.getKind() == LoopKind::Parallel || loop.getKind() == LoopKind::Sequential) &&
           loop == LoopAttr::get(loop.getContext(), loop.getDimension(), 1, loop.getKind());
  };
  return schedule.getMap().getValue().isIdentity() && llvm::all_of(schedule.getLoops(), isPlain) &&
         schedule == ScheduleAttr::get(schedule.getContext(), schedule.getMap(), schedule.getLoops());
}

/// Whether the block is a loop of maps alone, around others.
static bool isMapOfItems(BlockOp block) {
  if (block.isLeaf() || block.getNumOwnDims() == 0 || !block.getCombine().empty() || (block.getScheduleAttr() && !isAsDeclared(block.getScheduleAttr())))
    return false;
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
    if (block.getOperator(d) != OperatorKind::Map)
      return false;
  return llvm::all_of(block.getBody().front().without_terminator(),
                      [](Operation &op) { return isa<BlockOp, NestOp, BufferOp, ConstantOp>(op); });
}

/// The parts of a body: two items are in one where one of them reads what the other writes.
static SmallVector<Part> findParts(BlockOp block) {
  SmallVector<Operation *> items;
  llvm::EquivalenceClasses<Operation *> together;
  for (Operation &op : block.getBody().front())
    if (isa<BlockOp, NestOp>(op)) {
      items.push_back(&op);
      together.insert(&op);
    }
  // (Writers of one buffer that nothing reads here write places of their own.)
  llvm::DenseMap<Value, SmallVector<Operation *>> writers, readers;
  for (Operation *item : items)
    item->walk([&](BlockOp leaf) {
      for (Access &access : getAccesses(leaf))
        (access.isWrite() ? writers : readers)[access.buffer].push_back(item);
    });
  for (auto &[buffer, from] : writers)
    if (auto to = readers.find(buffer); to != readers.end())
      for (auto *list : {&from, &to->second})
        for (Operation *item : *list)
          together.unionSets(from.front(), item);
  llvm::MapVector<Operation *, Part> parts;
  for (Operation *item : items)
    parts[together.getLeaderValue(item)].push_back(item);
  return llvm::map_to_vector(parts, [](auto &entry) { return entry.second; });
}

static bool hasProduct(const Part &part) {
  return llvm::any_of(part, [](Operation *item) {
    return item
        ->walk([](linalg::LinalgOp op) { return linalg::isaContractionOpInterface(op) ? WalkResult::interrupt() : WalkResult::advance(); })
        .wasInterrupted();
  });
}

/// Parts that multiply nothing stay one: what they read alike is most of what they do.
static SmallVector<Part> joinWithoutProducts(ArrayRef<Part> parts) {
  SmallVector<Part> joined;
  std::optional<size_t> rest;
  for (const Part &part : parts) {
    if (hasProduct(part) || !rest) {
      if (!hasProduct(part))
        rest = joined.size();
      joined.push_back(part);
    } else {
      llvm::append_range(joined[*rest], part);
    }
  }
  return joined;
}

/// Leaves the block the items of one part, by their places in its body, and the buffers that these use.
static void keepItems(BlockOp block, const llvm::SmallSetVector<unsigned, 4> &kept) {
  SmallVector<Operation *> dropped;
  for (auto [i, op] : llvm::enumerate(block.getBody().front().without_terminator()))
    if (isa<BlockOp, NestOp>(op) && !kept.contains(unsigned(i)))
      dropped.push_back(&op);
  for (Operation *op : dropped)
    op->erase();
  for (Operation &op : llvm::make_early_inc_range(block.getBody().front().without_terminator()))
    if (isa<BufferOp, ConstantOp>(op) && op.use_empty())
      op.erase();
}

/// A name that no block of the graph has.
static std::string freshName(GraphOp graph, StringRef name) {
  llvm::StringSet<> taken;
  graph->walk([&](BlockOp block) { taken.insert(block.getBlockName().value_or("")); });
  for (unsigned number = 1;; ++number)
    if (std::string fresh = (name + "_" + Twine(number)).str(); !taken.contains(fresh))
      return fresh;
}

/// A loop for each part, in the order of their first items, each one nest with what is perfectly inside.
static SmallVector<BlockOp> splitBlock(BlockOp block, ArrayRef<Part> parts) {
  llvm::DenseMap<Operation *, unsigned> places;
  for (auto [i, op] : llvm::enumerate(block.getBody().front()))
    places[&op] = unsigned(i);
  SmallVector<llvm::SmallSetVector<unsigned, 4>> kept;
  for (const Part &part : parts) {
    kept.emplace_back();
    for (Operation *item : part)
      kept.back().insert(places[item]);
  }
  // Each copy goes right after the block: the last part's first.
  OpBuilder builder(block);
  SmallVector<BlockOp> made(parts.size());
  for (size_t i = parts.size(); i-- > 1;)
    made[i] = cloneBlock(builder, block);
  made[0] = block;
  std::string name = block.getBlockName().value_or("").str();
  for (auto [i, one] : llvm::enumerate(made)) {
    keepItems(one, kept[i]);
    one.removeScheduleAttr(); // of loops that are others now
    one = flattenBlock(one);
    if (i > 0 && !name.empty())
      one.setBlockName(freshName(one->getParentOfType<GraphOp>(), name));
  }
  return made;
}

//===----------------------------------------------------------------------===//
// Parts that need each other
//===----------------------------------------------------------------------===//

/// Whether an item has no iterations of its own, and no product of more than one number: there is nothing to share out inside of it.
static bool isSmall(Operation *item) {
  auto block = dyn_cast<BlockOp>(item);
  if (!block || !block.isLeaf() || block.getNumOwnDims() > 0)
    return false;
  return !block
              ->walk([](linalg::LinalgOp op) {
                auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
                bool isNumber = type && type.hasStaticShape() && type.getNumElements() == 1;
                return linalg::isaContractionOpInterface(op) && !isNumber ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// A part for each item. Small ones that follow each other stay one, since apart they would wait for each other and gain nothing.
static SmallVector<Part> eachItem(BlockOp block) {
  SmallVector<Part> items;
  for (Operation &op : block.getBody().front()) {
    if (!isa<BlockOp, NestOp>(op))
      continue;
    if (!items.empty() && isSmall(&op) && isSmall(items.back().back()))
      items.back().push_back(&op);
    else
      items.push_back({&op});
  }
  return items;
}

/// Buffers of the loop's body that several of its items use.
static SmallVector<BufferOp> findHandedOn(BlockOp block) {
  SmallVector<BufferOp> handed;
  Block &body = block.getBody().front();
  for (BufferOp buffer : body.getOps<BufferOp>()) {
    llvm::SmallPtrSet<Operation *, 2> items;
    for (Operation *user : buffer->getUsers())
      items.insert(body.findAncestorOpInBlock(*user));
    if (items.size() > 1)
      handed.push_back(buffer);
  }
  return handed;
}

/// What stands in a loop that may be taken apart, as parts: those that need nothing of each other, or else its items; none where it has one alone, or
/// where nothing says how many iterations hand on values.
static SmallVector<Part> partsOf(GraphOp graph, Operation *item, bool &areIndependent) {
  auto block = dyn_cast<BlockOp>(item);
  if (!block || block->getParentOp() != graph || !isMapOfItems(block))
    return {};
  SmallVector<Part> parts = findParts(block);
  areIndependent = parts.size() > 1;
  if (areIndependent)
    return parts;
  parts = eachItem(block);
  return parts.size() > 1 && getOuterLengths(block, SymbolSpace(graph)) ? parts : SmallVector<Part>();
}

/// The loops that a loop of such parts becomes; `wide`: buffers between them.
static SmallVector<BlockOp> splitParts(GraphOp graph, BlockOp block, ArrayRef<Part> parts, bool areIndependent, SmallVectorImpl<BufferOp> *wide = nullptr) {
  if (!areIndependent) {
    keepAllPlanes(block);
    SmallVector<ft::LengthAttr> lengths = *getOuterLengths(block, SymbolSpace(graph));
    OpBuilder builder(block);
    for (BufferOp buffer : findHandedOn(block)) {
      BufferOp widened = widenBuffer(builder, buffer, block, lengths);
      if (wide)
        wide->push_back(widened);
    }
  }
  return splitBlock(block, parts);
}

bool etdg::mayBeTakenApart(GraphOp graph, Operation *item) {
  bool areIndependent = false;
  return !partsOf(graph, item, areIndependent).empty();
}

std::optional<DividedNest> etdg::takeApart(GraphOp graph, Operation *item) {
  bool areIndependent = false;
  if (partsOf(graph, item, areIndependent).empty())
    return std::nullopt;
  DividedNest divided;
  SmallVector<BlockOp> open = {cast<BlockOp>(item)};
  while (!open.empty()) {
    BlockOp block = open.pop_back_val();
    if (SmallVector<Part> parts = partsOf(graph, block, areIndependent); !parts.empty())
      llvm::append_range(open, splitParts(graph, block, parts, areIndependent, &divided.buffers));
  }
  // Each is filled once, whatever the loop's length.
  divided.times.resize(divided.buffers.size());
  return divided;
}

namespace {
struct ETDGFission : etdg::impl::ETDGFissionBase<ETDGFission> {
  using ETDGFissionBase::ETDGFissionBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    if (graph.isExternal() || namesReads(graph, getArgument()))
      return markAllAnalysesPreserved();
    FailureOr<ft::MachineRef> model = ft::findMachine(graph.getLoc(), machine, "cpu");
    if (failed(model))
      return signalPassFailure();
    SmallVector<BlockOp> open(graph.getBody().front().getOps<BlockOp>());
    bool isChanged = false;
    while (!open.empty()) {
      BlockOp block = open.pop_back_val();
      SmallVector<BlockOp> made = takeApart(graph, block, **model);
      isChanged |= !made.empty();
      llvm::append_range(open, made);
    }
    if (!isChanged)
      markAllAnalysesPreserved();
  }

private:
  /// What there is to share out at typical lengths: iterations of the loop, or tiles of the part that has most of them.
  struct Shares {
    double together = 0, apart = 0;
  };

  /// The loops that a loop became; none where it stays.
  SmallVector<BlockOp> takeApart(GraphOp graph, BlockOp block, const ft::Machine &machine) {
    bool areIndependent = false;
    SmallVector<Part> parts = partsOf(graph, block, areIndependent);
    if (parts.empty())
      return {};
    std::string why;
    if (!all) {
      Shares shares = areIndependent ? Shares() : countShares(graph, block, parts, machine);
      if (!areIndependent && shares.apart <= shares.together)
        return {}; // nothing to gain
      parts = areIndependent ? joinWithoutProducts(parts) : parts;
      why = whyOneLoop(parts.size(), areIndependent, shares, machine);
    }
    auto options = remark::RemarkOpts::name("fission").category("coarsen");
    auto tell = why.empty() ? remark::passed(block.getLoc(), options) : remark::missed(block.getLoc(), options);
    tell << remark::reason(areIndependent ? "parts of a loop's body that need nothing of each other: {0}" : "parts of a loop's body that need each other: {0}",
                           why.empty() ? "each gets a loop of its own" : why)
         << remark::metric("block", block.getBlockName().value_or("").str())
         << remark::metric("loops", std::to_string(why.empty() ? parts.size() : 1));
    return why.empty() ? splitParts(graph, block, parts, areIndependent) : SmallVector<BlockOp>();
  }

  static std::string whyOneLoop(size_t parts, bool areIndependent, const Shares &shares, const ft::Machine &machine) {
    if (machine.kind != ft::Machine::Kind::GPU)
      return "one loop: the cores of a machine share out the loops inside of one, too";
    if (parts < 2)
      return "one loop: without a product more is read twice than is gained";
    if (!areIndependent && shares.together >= machine.units)
      return "one loop: each unit of the machine has an iteration, and finds near what one leaves to the next";
    return "";
  }

  static Shares countShares(GraphOp graph, BlockOp block, ArrayRef<Part> parts, const ft::Machine &machine) {
    MergeLegality legality(graph);
    BlockBuilder spec = BlockBuilder::from(block);
    Shares shares;
    shares.together = legality.getTypicalSize(spec.domain, spec.symbols, spec.numAncestors, block.getNumDims());
    for (const Part &part : parts)
      shares.apart = std::max(shares.apart, tilesOfWork(shares.together, workInside(part.front(), 0, legality), machine));
    return shares;
  }
};
} // namespace
