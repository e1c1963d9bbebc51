//===- PrivateLoops.cpp - the loops that an operator shares with nothing ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PrivateLoops.h"

#include <algorithm>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

bool contains(uint64_t set, uint64_t part) { return (part & ~set) == 0; }

class Enumeration {
public:
  Enumeration(const OpInfo &info, uint64_t classes, uint64_t divisible, bool doubled,
              const std::vector<Settled> &operands)
      : info(info), divisible(divisible), doubled(doubled), operands(operands) {
    for (uint8_t entry : info.classes)
      if (classes >> entry & 1)
        order.push_back(entry);
    std::sort(order.begin(), order.end());
  }

  std::vector<PrivatePlan> run(bool sweeps) {
    const unsigned open = std::count_if(operands.begin(), operands.end(),
                                        [](Settled settled) { return settled != Settled::Yes; });
    // A row in one tile costs nothing if no block depends on it.
    for (bool whole : {true, false}) {
      if (whole ? !sweeps : sweeps && open == 0)
        continue;
      plan.rowWhole = whole;
      rows = sweeps ? info.rows : 0;
      if (open < 2 && !doubled && (!sweeps || whole))
        membersFirst();
      else
        allOrders();
    }
    return std::move(result);
  }

private:
  /// With one open operand, its own loops outermost are as good as any order.
  void membersFirst() {
    for (unsigned k = 0; k < operands.size(); ++k)
      if (operands[k] != Settled::Yes)
        moveToFront(info.operands[k]);
    take();
  }

  /// The entries of a set first, all in the order that they have.
  void moveToFront(uint64_t entries) {
    auto before = order;
    auto next = order.begin();
    for (bool isIn : {true, false})
      for (uint8_t entry : before)
        if (bool(entries >> entry & 1) == isIn)
          *next++ = entry;
  }

  void allOrders() {
    std::sort(order.begin(), order.end());
    do {
      take();
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void take() {
    plan.order = order;
    plan.operands.assign(operands.size(), {});
    rowAt = order.size();
    for (unsigned p = order.size(); p-- > 0;)
      if (!plan.rowWhole && (rows >> order[p] & 1))
        rowAt = p;
    plan.statesTiled = 0;
    for (unsigned p = 0; p < rowAt; ++p)
      plan.statesTiled |= bit(order[p]) & ~rows;
    holds(0);
  }

  void holds(unsigned k) {
    if (k == operands.size())
      return keep();
    if (operands[k] == Settled::Yes)
      return holds(k + 1);
    PrivatePlan::Use &use = plan.operands[k];
    use = {};
    if (operands[k] == Settled::Free)
      holds(k + 1);
    uint64_t foreign = 0, tiled = 0;
    for (unsigned p = 0; p < order.size(); ++p) {
      const uint64_t loop = bit(order[p]);
      // A loop of one iteration neither repeats nor divides.
      const bool single = !(divisible & loop) || (plan.rowWhole && (rows & loop));
      if (!(info.operands[k] & loop)) {
        foreign |= single ? 0 : loop;
        continue;
      }
      if (single)
        continue;
      tiled |= loop;
      plan.operands[k] = {foreign, tiled, p >= rowAt && k < info.operands.size() - 1,
                          uint8_t(p + 1)};
      holds(k + 1);
    }
  }

  bool asGood(const PrivatePlan &a, const PrivatePlan &b) const {
    if (a.rowWhole != b.rowWhole || !contains(a.statesTiled, b.statesTiled))
      return false;
    for (unsigned k = 0; k < a.operands.size(); ++k) {
      const PrivatePlan::Use &x = a.operands[k], &y = b.operands[k];
      if (!contains(y.repeats, x.repeats) || !contains(x.tiled, y.tiled) || x.twice > y.twice)
        return false;
      // A block that does not change is not reserved twice.
      if (doubled && (x.tiled == 0) != (y.tiled == 0))
        return false;
      // What must change changes by its innermost loop, which so has two iterations.
      if (operands[k] == Settled::Changes && a.order[x.hold - 1] != b.order[y.hold - 1])
        return false;
    }
    return true;
  }

  void keep() {
    for (const PrivatePlan &other : result)
      if (asGood(other, plan))
        return;
    std::erase_if(result, [&](const PrivatePlan &other) { return asGood(plan, other); });
    result.push_back(plan);
  }

  const OpInfo &info;
  const uint64_t divisible;
  const bool doubled;
  const std::vector<Settled> &operands;
  std::vector<uint8_t> order;
  uint64_t rows = 0;
  unsigned rowAt = 0;
  PrivatePlan plan;
  std::vector<PrivatePlan> result;
};

} // namespace

std::vector<PrivatePlan> exact::privatePlans(const OpInfo &info, uint64_t classes,
                                             uint64_t divisible, bool doubled,
                                             const std::vector<Settled> &operands, bool sweeps) {
  return Enumeration(info, classes, divisible, doubled, operands).run(sweeps);
}
