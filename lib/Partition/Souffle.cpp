//===- Souffle.cpp - Algorithm 1 of Souffle -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// §5.4 and lines 2 to 9 of Algorithm 1 (§6.6): nests are added breadth first to the
// kernel at hand. Grid barriers want all blocks of a kernel resident at once. So at a
// compute-intensive nest the most thread blocks of such nests, times the most that one
// of their blocks occupies, are held against what the GPU has.
//
//===----------------------------------------------------------------------===//
#include "Modes.h"

#include "ft/Analysis/TensorExpressions/TensorExpressions.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::partition;

namespace {
/// What the compute-intensive nests of a kernel need at most.
struct Resources {
  double grid = 0, registers = 0, shared = 0;

  void add(const schedule::KernelPrice &price) {
    grid = std::max(grid, price.tasks);
    registers = std::max(registers, price.registers);
    shared = std::max(shared, price.shared);
  }
  bool fit(const GpuScheduleOptions &options) const {
    const Machine::Occupancy &limits = options.getMachine().occupancy;
    const auto units = double(options.getMultiprocessors());
    return grid * registers < units * double(limits.registersPerUnit) && grid * shared < units * double(limits.sharedBytesPerUnit);
  }
};

/// Goes through the items once.
class Souffle {
public:
  Souffle(etdg::GraphOp graph, const Items &items, Prices &prices, const GpuScheduleOptions &options)
      : items(items), prices(prices), options(options), analysis(graph, options.getMachine().groups.computeIntensive) {}
  SmallVector<Group> run();

private:
  bool isComputeIntensive(unsigned number) const;
  void add(unsigned number);
  void cut(unsigned number, StringRef why);

  const Items &items;
  Prices &prices;
  const GpuScheduleOptions &options;
  etdg::TensorExpressionAnalysis analysis;
  SmallVector<Group> groups;
  Resources resources;
  bool hasSteps = false;
};
} // namespace

bool Souffle::isComputeIntensive(unsigned number) const {
  return llvm::any_of(analysis.getStatements(), [&](const etdg::TensorExpression &statement) {
    return statement.isComputeIntensive && items[number]->isAncestor(statement.block);
  });
}

void Souffle::cut(unsigned number, StringRef why) {
  if (!groups.empty())
    remark::passed(items[number]->getLoc(), remark::RemarkOpts::name("cut").category("partition")) << remark::reason("{0}", why);
  groups.push_back({});
  resources = Resources();
  hasSteps = false;
}

void Souffle::add(unsigned number) {
  std::optional<schedule::KernelPrice> alone = prices.of({number});
  if (groups.empty() || !items.mayJoin(number) || !items.mayJoin(groups.back().front()) || !alone) {
    cut(number, "a kernel that stays whole, or a nest that says how it runs");
  } else if (hasSteps && alone->steps > 0) {
    cut(number, "a kernel has one nest that runs in steps");
  } else if (isComputeIntensive(number)) {
    Resources more = resources;
    more.add(*alone);
    if (!more.fit(options))
      cut(number, llvm::formatv("compute-intensive: {0:F0} thread blocks of {1:F0} registers and {2:F0} bytes of shared memory are no one wave", more.grid,
                                more.registers, more.shared)
                      .str());
  }
  // What no kernel of this machine can run together is cut as well.
  Group together = groups.back();
  together.push_back(number);
  if (together.size() > 1 && !prices.of(together))
    cut(number, "the kernels of this GPU can't run it with those before it");
  groups.back().push_back(number);
  hasSteps |= alone && alone->steps > 0;
  if (alone && isComputeIntensive(number))
    resources.add(*alone);
}

SmallVector<Group> Souffle::run() {
  for (unsigned number : items.breadthFirst())
    add(number);
  return std::move(groups);
}

SmallVector<Group> partition::followSouffle(etdg::GraphOp graph, const Items &items, Prices &prices, const GpuScheduleOptions &options) {
  return Souffle(graph, items, prices, options).run();
}

SmallVector<Group> partition::draw(const Items &items, uint64_t seed) {
  std::mt19937_64 random(seed);
  SmallVector<Group> groups;
  SmallVector<unsigned> order = items.breadthFirst();
  if (random() % 2)
    llvm::sort(order); // as they stand in the text
  for (unsigned number : order) {
    bool joins = !groups.empty() && items.mayJoin(number) && items.mayJoin(groups.back().front()) && random() % 3 != 0;
    if (!joins)
      groups.push_back({});
    groups.back().push_back(number);
  }
  return groups;
}
