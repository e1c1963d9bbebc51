//===- GrowTiles.cpp - the same traffic in fewer steps --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many tiles move equally little. Of these, few large ones keep an array busy:
// tiles are doubled, and one is halved where that lets others grow by more, as
// long as the number of steps falls.
//
//===----------------------------------------------------------------------===//

#include "TileMoves.h"

#include <algorithm>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

class Grower {
public:
  Grower(const Graph &graph, GroupResult &group, const Options &options)
      : graph(graph), group(group), options(options), least(steps(group.group)) {}

  void run() {
    do {
      while (everywhere([&](Loop loop) { return grow(loop); })) {
      }
    } while (everywhere([&](Loop loop) { return exchange(loop); }));
  }

private:
  /// A loop, by the first operator that has it.
  struct Loop {
    unsigned op = 0, position = 0;
  };

  template <typename Try>
  bool everywhere(Try attempt) {
    bool any = false;
    for (unsigned i = 0; i < group.group.ops.size(); ++i)
      for (unsigned p = group.group.ops[i].order.size(); p-- > group.group.ops[i].shared;)
        any |= attempt(Loop{i, p});
    return any;
  }

  /// Tiles that are computed.
  Count steps(const Group &plans) const {
    Count sum = 0;
    for (const OpPlan &plan : plans.ops) {
      Count product = 1;
      for (unsigned d = 0; d < plan.tiles.size(); ++d)
        product = multiply(product, ceilDivide(graph.size(graph.operators[plan.op], d), plan.tiles[d]));
      sum = add(sum, product);
    }
    return sum;
  }

  Count tileOf(const Group &plans, Loop loop) const {
    const OpPlan &plan = plans.ops[loop.op];
    return plan.tiles[plan.order[loop.position]];
  }
  Count sizeOf(Loop loop) const {
    const OpPlan &plan = group.group.ops[loop.op];
    return graph.size(graph.operators[plan.op], plan.order[loop.position]);
  }

  int dimOf(Loop loop) const {
    const OpPlan &plan = group.group.ops[loop.op];
    return graph.operators[plan.op].dims[plan.order[loop.position]];
  }

  void set(Group &plans, Loop loop, Count tile) const {
    setTile(graph, plans, loop.op, loop.position, tile);
  }

  bool isAllowed(const Group &plans) const {
    if (!check(graph, plans).empty())
      return false;
    GroupCost cost = evaluate(graph, plans, options.rules);
    return cost.footprint <= options.buffer && cost.volume <= group.cost.volume;
  }

  /// Takes tiles that need fewer steps.
  bool take(Group plans) {
    const Count now = steps(plans);
    if (now >= least)
      return false;
    least = now;
    group.cost = evaluate(graph, plans, options.rules);
    group.group = std::move(plans);
    return true;
  }

  bool doubled(Group &plans, Loop loop) const {
    const Count size = sizeOf(loop), before = tileOf(plans, loop);
    if (before == size)
      return false;
    Group larger = plans;
    set(larger, loop, before > size / 2 ? size : before * 2);
    if (!isAllowed(larger))
      return false;
    plans = std::move(larger);
    return true;
  }

  bool grow(Loop loop) {
    Group plans = group.group;
    return doubled(plans, loop) && take(std::move(plans));
  }

  /// Half of this tile, and all others as large as they may be then.
  bool exchange(Loop loop) {
    const Count unit = std::max<Count>(options.granularity, 1), tile = tileOf(group.group, loop);
    const Count half = ceilDivide(ceilDivide(tile, 2), unit) * unit;
    Group plans = group.group;
    set(plans, loop, half);
    if (half < leastTile(graph, options, dimOf(loop)) || half >= tile || !isAllowed(plans))
      return false;
    for (bool more = true; more;) {
      more = false;
      for (unsigned i = 0; i < plans.ops.size(); ++i)
        for (unsigned p = plans.ops[i].order.size(); p-- > plans.ops[i].shared;)
          if (i != loop.op || p != loop.position)
            more |= doubled(plans, Loop{i, p});
    }
    return take(std::move(plans));
  }

  const Graph &graph;
  GroupResult &group;
  const Options &options;
  Count least;
};

} // namespace

void exact::setTile(const Graph &graph, Group &group, unsigned op, unsigned position, Count tile) {
  const OpPlan &plan = group.ops[op];
  const int dim = graph.operators[plan.op].dims[plan.order[position]];
  for (unsigned k = 0; k < group.ops.size(); ++k)
    if (k == op || commonLoops(group, std::min(op, k), std::max(op, k)) > position)
      group.ops[k].tiles[graph.operators[group.ops[k].op].local(dim)] = tile;
}

void exact::growTiles(const Graph &graph, GroupResult &group, const Options &options) {
  Grower(graph, group, options).run();
}
