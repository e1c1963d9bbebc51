//===- Items.cpp - the nests at the top of a graph ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who needs whom is asked of whole buffers, as it is where thread blocks wait: an edge
// that no element crosses costs a wait, and is never wrong.
//
//===----------------------------------------------------------------------===//
#include "Items.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/Analysis/Syncs.h"
#include "ft/Schedule/CPU/Plan.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::partition;

static bool isItem(Operation &op) { return isa<etdg::VariantsOp, etdg::KernelOp, etdg::NestOp, etdg::BlockOp>(op); }

namespace {
/// The buffers that an item touches.
struct Touched {
  llvm::DenseSet<Value> reads, writes;

  explicit Touched(Operation *item) {
    item->walk([&](etdg::BlockOp block) {
      if (block.isLeaf())
        schedule::collectAccesses(block, reads, writes);
    });
  }
  /// Whether what runs later has to see, or must not disturb, what this one does.
  bool meets(const Touched &later) const {
    auto touches = [](const llvm::DenseSet<Value> &one, const llvm::DenseSet<Value> &other) {
      return llvm::any_of(one, [&](Value buffer) { return other.contains(buffer); });
    };
    return touches(writes, later.reads) || touches(later.writes, reads);
  }
};
} // namespace

Items::Items(etdg::GraphOp graph) {
  for (Operation &op : graph.getBody().front())
    if (isItem(op))
      ops.push_back(&op);
  joins.resize(size());
  needed.assign(size(), llvm::BitVector(size()));
  std::vector<Touched> touched;
  for (unsigned number = 0; number < size(); ++number) {
    SmallVector<etdg::BlockOp> blocks = etdg::blocksOf(ops[number]);
    etdg::ScheduleAttr given = blocks.empty() ? etdg::ScheduleAttr() : schedule::scheduleOf(blocks);
    joins[number] = !blocks.empty() && !schedule::isBinding(given) && (!given || given.getPlacements().empty());
    touched.emplace_back(ops[number]);
    for (unsigned earlier = 0; earlier < number; ++earlier)
      needed[number][earlier] = touched[earlier].meets(touched[number]);
  }
}

SmallVector<unsigned> Items::breadthFirst() const {
  SmallVector<unsigned> order, level(size());
  for (unsigned number = 0; number < size(); ++number) // (an item stands after all that it needs)
    for (unsigned before : needed[number].set_bits())
      level[number] = std::max(level[number], level[before] + 1);
  for (unsigned number = 0; number < size(); ++number)
    order.push_back(number);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return level[a] < level[b]; });
  return order;
}

void partition::formKernels(etdg::GraphOp graph, const Items &items, ArrayRef<Group> groups) {
  // Buffers stand before all kernels, so that these may stand in any order.
  Block &body = graph.getBody().front();
  Operation *end = body.getTerminator(), *first = items[0];
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(Block::iterator(first), Block::iterator(end))))
    if (!isItem(op))
      op.moveBefore(first);
  for (const Group &group : groups) {
    Operation *front = items[group.front()];
    if (isa<etdg::KernelOp, etdg::VariantsOp>(front)) {
      front->moveBefore(end);
      continue;
    }
    OpBuilder builder(end);
    auto kernel = etdg::KernelOp::create(builder, front->getLoc());
    Block &inside = kernel.getBody().emplaceBlock();
    for (unsigned number : group)
      items[number]->moveBefore(&inside, inside.end());
  }
  for (auto variants : body.getOps<etdg::VariantsOp>())
    for (Region &region : variants.getVariants())
      for (Operation &op : llvm::make_early_inc_range(region.front()))
        if (isa<etdg::NestOp, etdg::BlockOp>(op)) {
          OpBuilder builder(&op);
          auto kernel = etdg::KernelOp::create(builder, op.getLoc());
          Block &inside = kernel.getBody().emplaceBlock();
          op.moveBefore(&inside, inside.end());
        }
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

namespace {
/// A nest, in its kernel.
struct Numbered {
  Operation *item;
  etdg::KernelOp kernel;
  Touched touched;
};
} // namespace

/// Whether the nests are in different variants, of which one runs.
static bool areAlternatives(Operation *a, Operation *b) {
  Region *x = a->getParentRegion(), *y = b->getParentRegion();
  return x != y && isa<etdg::VariantsOp>(x->getParentOp()) && x->getParentOp() == y->getParentOp();
}

void partition::writeEdges(etdg::GraphOp graph) {
  std::vector<Numbered> nests;
  graph.walk([&](etdg::KernelOp kernel) {
    if (!isa<etdg::GraphOp, etdg::VariantsOp>(kernel->getParentOp()))
      return;
    for (Operation &item : kernel.getBody().front())
      if (isa<etdg::NestOp, etdg::BlockOp>(item))
        nests.push_back({&item, kernel, Touched(&item)});
  });
  Builder builder(graph.getContext());
  for (auto [number, nest] : llvm::enumerate(nests))
    nest.item->setAttr(etdg::names::number, builder.getI64IntegerAttr(int64_t(number)));
  llvm::MapVector<Operation *, SmallVector<Attribute>> edges;
  for (auto [to, reader] : llvm::enumerate(nests)) {
    SmallVector<Attribute> &list = edges[reader.kernel];
    for (auto [from, writer] : llvm::enumerate(nests)) {
      bool isInside = writer.kernel == reader.kernel;
      // In shared loops the next step of an earlier nest may need a later one.
      bool mayFollow = from < to || (isInside && reader.kernel.getShared() > 0);
      if (from == to || !mayFollow || areAlternatives(writer.kernel, reader.kernel) || !writer.touched.meets(reader.touched))
        continue;
      etdg::SyncKind kind = isInside ? etdg::SyncKind::Grid : etdg::SyncKind::Kernel;
      list.push_back(etdg::EdgeAttr::get(graph.getContext(), int64_t(from), int64_t(to), kind));
    }
  }
  for (auto &[kernel, list] : edges)
    kernel->setAttr(etdg::names::edges, builder.getArrayAttr(list));
}
