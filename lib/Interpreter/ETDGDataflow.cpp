//===- ETDGDataflow.cpp - Iterations in the order of their data -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dataflow and the random order: each iteration of each leaf is tried; one
// that finds an element unwritten waits until that element is written.
//
//===----------------------------------------------------------------------===//
#include "ETDGOrders.h"
#include <deque>
#include <random>

using namespace mlir;
using namespace mlir::ft::interp;
using etdg::BlockOp;

namespace {

struct Instance {
  BlockOp block;
  SmallVector<int64_t, 6> point;
};

class DependenceOrder {
public:
  DependenceOrder(ETDGMachine &machine, bool random, uint64_t seed)
      : machine(machine), isRandom(random), generator(seed) {}

  LogicalResult run();

private:
  LogicalResult collect(Region &body, ArrayRef<int64_t> ancestors);
  /// Takes the next instance to try.
  size_t take();

  ETDGMachine &machine;
  bool isRandom;
  std::mt19937_64 generator;
  std::vector<Instance> instances;
  std::deque<size_t> ready;
  /// Who waits for an element.
  llvm::DenseMap<std::pair<BufferState *, int64_t>, SmallVector<size_t>> waiting;
};

} // namespace

LogicalResult DependenceOrder::collect(Region &body, ArrayRef<int64_t> ancestors) {
  for (Operation &op : body.front()) {
    if (auto block = dyn_cast<BlockOp>(op)) {
      auto visit = [&](ArrayRef<int64_t> point) -> LogicalResult {
        if (!block.isLeaf())
          return collect(block.getBody(), point);
        instances.push_back({block, SmallVector<int64_t, 6>(point)});
        return success();
      };
      if (failed(machine.forEachPoint(block, ancestors, visit)))
        return failure();
    } else if (isa<etdg::NestOp, etdg::KernelOp>(op)) {
      if (failed(collect(op.getRegion(0), ancestors)))
        return failure();
    } else if (!isa<etdg::ETDGDialect>(op.getDialect())) {
      if (failed(machine.evalOther(&op)))
        return failure();
    }
  }
  return success();
}

size_t DependenceOrder::take() {
  if (isRandom)
    std::swap(ready.front(), ready[generator() % ready.size()]);
  size_t next = ready.front();
  ready.pop_front();
  return next;
}

LogicalResult DependenceOrder::run() {
  if (failed(collect(machine.getGraph().getBody(), {})))
    return failure();
  for (size_t i = 0; i < instances.size(); ++i)
    ready.push_back(i);
  std::vector<CellRef> blockedBy(instances.size());
  size_t finished = 0;
  while (!ready.empty()) {
    size_t next = take();
    Instance &instance = instances[next];
    CellRef cell;
    switch (machine.run(instance.block, instance.point, nullptr, cell)) {
    case Outcome::Failed:
      return failure();
    case Outcome::Waiting:
      waiting[{cell.buffer, cell.offset}].push_back(next);
      blockedBy[next] = cell;
      break;
    case Outcome::Ran:
      ++finished;
      blockedBy[next] = {};
      for (CellRef written : machine.lastWritten()) {
        auto it = waiting.find({written.buffer, written.offset});
        if (it == waiting.end())
          continue;
        ready.insert(ready.end(), it->second.begin(), it->second.end());
        waiting.erase(it);
      }
      break;
    }
  }
  if (finished == instances.size())
    return success();
  for (auto [instance, cell] : llvm::zip_equal(instances, blockedBy))
    if (cell.buffer) {
      machine.reportUnwritten(instance.block, instance.point, cell,
                              ": no iteration that can run writes it");
      break;
    }
  return failure();
}

LogicalResult mlir::ft::interp::runByDependences(ETDGMachine &machine, bool random, uint64_t seed) {
  return DependenceOrder(machine, random, seed).run();
}
