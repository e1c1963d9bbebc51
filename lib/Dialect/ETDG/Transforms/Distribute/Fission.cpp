//===- Fission.cpp - parallel loops around what is independent ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map of lists whose body computes several things that need nothing of each other
// is a loop for each of them (loop fission). What was inside of the one loop is then
// perfectly nested in its own, and one nest with it: all of its parallel dimensions
// are shared out, where before the outer one alone was.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

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

/// Whether the block is a loop of maps alone, around others.
static bool isMapOfItems(BlockOp block) {
  if (block.isLeaf() || block.getNumOwnDims() == 0 || !block.getCombine().empty() || block.getScheduleAttr())
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
  // (Writers of one buffer that nobody reads here write places of their own.)
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
  // Each copy goes right behind the block: the last part's first.
  OpBuilder builder(block);
  SmallVector<BlockOp> made(parts.size());
  for (size_t i = parts.size(); i-- > 1;)
    made[i] = cloneBlock(builder, block);
  made[0] = block;
  std::string name = block.getBlockName().value_or("").str();
  for (auto [i, one] : llvm::enumerate(made)) {
    keepItems(one, kept[i]);
    one = flattenBlock(one);
    if (i > 0 && !name.empty())
      one.setBlockName(name + "_" + std::to_string(i));
  }
  return made;
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
      SmallVector<Part> parts;
      if (isMapOfItems(block))
        parts = findParts(block);
      if (parts.size() < 2)
        continue;
      parts = joinWithoutProducts(parts);
      if (!isWorthIt(block, parts, **model))
        continue;
      isChanged = true;
      llvm::append_range(open, splitBlock(block, parts));
    }
    if (!isChanged)
      markAllAnalysesPreserved();
  }

private:
  static bool isWorthIt(BlockOp block, ArrayRef<Part> parts, const ft::Machine &machine) {
    const char *why = machine.kind != ft::Machine::Kind::GPU ? "one loop: the cores of a machine share out the loops inside of one, too"
                      : parts.size() < 2 ? "one loop: without a product more is read twice than is gained"
                                         : nullptr;
    auto options = remark::RemarkOpts::name("fission").category("coarsen");
    auto tell = why ? remark::missed(block.getLoc(), options) : remark::passed(block.getLoc(), options);
    tell << remark::reason("parts of a loop's body that need nothing of each other: {0}", why ? why : "each gets a loop of its own")
         << remark::metric("block", block.getBlockName().value_or("").str()) << remark::metric("loops", std::to_string(why ? 1 : parts.size()));
    return !why;
  }
};
} // namespace
