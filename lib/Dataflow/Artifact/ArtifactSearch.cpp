//===- ArtifactSearch.cpp - exact search under the artifact's rules -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traffic is a sum over chains, so the best fusion is the best way to cut the
// forest of binding tensors into trees. A tree is searched only if what it must
// move at least is less than what its best cut moves. Inside a tree every
// operator has a table of all its orders, pins and tiles that fit by
// themselves; a depth-first search takes one row of each, the last consumer's
// first, and bounds what is left by the least rows. Nothing is left out, so the
// result is an optimum.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/Artifact/Artifact.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

using namespace ft::dataflow;
using namespace ft::dataflow::artifact;

namespace {

/// One row of an operator's table.
struct Row {
  Count volume, time, accesses;
  Count external; // footprint of the operands that are not binding tensors
  Count all;      // and of all operands
  uint32_t tile;  // index into OpTable::tiles
  uint32_t order; // index into OpTable::orders
  uint32_t pins;
};

/// All schedules of one operator that can be part of a chain.
struct OpTable {
  int op = -1;
  uint32_t internal = 0; // operands that are binding tensors
  std::vector<std::vector<uint8_t>> orders;
  std::vector<std::vector<Count>> tiles;
  std::vector<Row> rows;
  Cost least; // by component over all rows
};

/// The numbers that operandCost works with, divided once per tiling.
struct Trips {
  std::array<Count, 16> trips;
};

class ChainSearch {
public:
  ChainSearch(const Graph &graph, std::vector<int> members, const Options &options,
              const Cost *cutoff)
      : graph(graph), members(std::move(members)), options(options) {
    if (cutoff)
      best = *cutoff, hasBest = true;
    arrange();
  }

  ChainSearchResult run() {
    ChainSearchResult result;
    result.lowerBound = compulsory();
    if (!hasBest || result.lowerBound <= best.volume)
      explore(result);
    result.nodes = nodes;
    result.complete = !stopped;
    if (found)
      result.best = ChainResult{*found, best};
    // All that is better than the cutoff was looked at.
    if (result.complete)
      result.lowerBound = std::max(result.lowerBound, hasBest ? best.volume : tooLarge);
    return result;
  }

private:
  void explore(ChainSearchResult &result) {
    if (list.size() == 1)
      return single();
    for (size_t i = 0; i < list.size(); ++i)
      if (!table(i))
        return;
    if (!filter())
      return;
    bucket();
    result.lowerBound = std::max(result.lowerBound, suffix[0].volume);
    chosen.resize(list.size());
    descend(0, {});
  }

  /// What leaves or enters the chain moves at least once.
  Count compulsory() const {
    Count sum = 0;
    for (const OpTable &entry : list)
      sum = add(sum, ownCompulsory(entry));
    return sum;
  }
  Count ownCompulsory(const OpTable &entry) const {
    Count sum = 0;
    const Operator &op = graph.operators[entry.op];
    for (unsigned k = 0; k < op.numOperands(); ++k)
      if (!(entry.internal >> k & 1))
        sum = add(sum, graph.tensors[op.operand(k).tensor].size());
    return sum;
  }

  /// Whether the time is up; asked at every row, it looks at the clock now and then.
  bool timeIsUp() {
    if (!stopped && options.stop && (++nodes & 0xfff) == 0)
      stopped = options.stop();
    else if (!options.stop)
      ++nodes;
    return stopped;
  }

  // ---- what the chain is ----

  /// The operators with every consumer before its producers, and who reads whom.
  void arrange() {
    std::set<int> inside(members.begin(), members.end());
    std::vector<int> order(members);
    std::sort(order.begin(), order.end(), std::greater<int>());
    for (int op : order) {
      OpTable &entry = list.emplace_back();
      entry.op = op;
    }
    parent.assign(list.size(), -1);
    operand.assign(list.size(), 0);
    for (size_t i = 0; i < list.size(); ++i) {
      const Operator &op = graph.operators[list[i].op];
      for (unsigned k = 0; k < op.inputs.size(); ++k) {
        int producer = graph.tensors[op.inputs[k].tensor].producer;
        if (!inside.count(producer))
          continue;
        list[i].internal |= 1u << k;
        for (size_t j = i + 1; j < list.size(); ++j)
          if (list[j].op == producer) {
            parent[j] = i;
            operand[j] = k;
            list[j].internal |= 1u << graph.operators[producer].inputs.size();
          }
      }
    }
  }

  /// Whether every operand of the operator has every batch dimension that the operator has: then a
  /// tile of 1 is as good as any.
  bool isBatched(const Operator &op) const {
    for (int dim : graph.batch) {
      int local = op.local(dim);
      for (unsigned k = 0; local >= 0 && k < op.numOperands(); ++k)
        if (!(op.mask(k) >> local & 1))
          return false;
    }
    return true;
  }

  std::vector<Count> candidates(const Operator &op, unsigned d) const {
    const Count size = graph.size(op, d);
    const bool batch =
        std::find(graph.batch.begin(), graph.batch.end(), op.dims[d]) != graph.batch.end();
    if (batch && (list.size() > 1 || isBatched(op)))
      return {1};
    const Count least = batch ? 1 : std::min(options.minTile, size);
    std::vector<Count> result;
    for (Count tile = 1; tile <= size / tile; ++tile)
      if (size % tile == 0) {
        if (tile >= least)
          result.push_back(tile);
        if (size / tile != tile && size / tile >= least)
          result.push_back(size / tile);
      }
    std::sort(result.begin(), result.end());
    return result;
  }

  void tilings(const Operator &op, std::vector<std::vector<Count>> &into) const {
    std::vector<Count> tiles(op.dims.size());
    auto recurse = [&](auto &self, unsigned d) -> void {
      if (d == op.dims.size()) {
        into.push_back(tiles);
        return;
      }
      for (Count tile : candidates(op, d)) {
        tiles[d] = tile;
        self(self, d + 1);
      }
    };
    recurse(recurse, 0);
  }

  /// All orders. A dimension that every operand of every operator of the chain has goes outermost:
  /// there it neither opens nor expands anything that it would not open elsewhere.
  void orders(const Operator &op, std::vector<std::vector<uint8_t>> &into) const {
    std::vector<uint8_t> inner, outer;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      (everywhere(op.dims[d]) ? outer : inner).push_back(d);
    std::sort(outer.begin(), outer.end(),
              [&](uint8_t a, uint8_t b) { return op.dims[a] < op.dims[b]; });
    do {
      std::vector<uint8_t> order = inner;
      order.insert(order.end(), outer.begin(), outer.end());
      if (allowed(op, order))
        into.push_back(std::move(order));
    } while (std::next_permutation(inner.begin(), inner.end()));
  }

  /// The fixed dataflows of the baselines' pairs. TANGRAM: output-stationary producer (its sums
  /// innermost), input-stationary consumer (the dimensions that the binding tensor lacks innermost).
  /// FLAT: both output-stationary.
  bool allowed(const Operator &op, const std::vector<uint8_t> &order) const {
    if (list.size() == 1 || (options.mode != Mode::Tangram && options.mode != Mode::Flat))
      return true;
    uint32_t inside = op.reduced();
    if (options.mode == Mode::Tangram && &op == &graph.operators[list[0].op])
      inside = ~op.mask(operand[1]);
    bool left = false;
    for (uint8_t d : order) {
      if (left && (inside >> d & 1))
        return false;
      left |= !(inside >> d & 1);
    }
    return true;
  }

  bool mayPin() const {
    return list.size() == 1 || (options.mode != Mode::Tangram && options.mode != Mode::Flat);
  }

  bool everywhere(int dim) const {
    for (const OpTable &entry : list) {
      const Operator &op = graph.operators[entry.op];
      int local = op.local(dim);
      if (local < 0)
        return false;
      for (unsigned k = 0; k < op.numOperands(); ++k)
        if (!(op.mask(k) >> local & 1))
          return false;
    }
    return true;
  }

  // ---- costs of one operator, fast ----

  struct Part {
    Count volume, accesses, footprint;
  };

  /// operandCost with the divisions done before, for one operand and both ways to have it.
  static void parts(uint32_t mask, bool isOutput, Count tile, Count size,
                    const std::vector<uint8_t> &order, const Trips &trips, Part &moves,
                    Part &held) {
    bool open = false;
    Count times = 1;
    for (uint8_t d : order) {
      open |= mask >> d & 1;
      if (open)
        times = multiply(times, trips.trips[d]);
    }
    moves.accesses = isOutput ? multiply(2, times) : times;
    moves.volume = multiply(times, tile);
    if (isOutput)
      moves.volume = subtract(multiply(2, moves.volume), size);
    moves.footprint = tile;
    bool whole = false;
    held.footprint = tile;
    for (size_t i = order.size(); i-- > 0;) {
      uint8_t d = order[i];
      if (!(mask >> d & 1))
        whole = true;
      else if (whole)
        held.footprint = multiply(held.footprint, trips.trips[d]);
    }
    held.volume = size;
    held.accesses = size / tile;
  }

  /// Calls `take(order, pins, volume, accesses, external footprint, inner footprints)` for all
  /// schedules of an operator with these tiles.
  template <typename Take>
  void schedules(const Operator &op, uint32_t internal, const std::vector<Count> &tiles,
                 const std::vector<std::vector<uint8_t>> &orderList, Take take) {
    const unsigned operands = op.numOperands();
    Trips trips;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      trips.trips[d] = graph.size(op, d) / tiles[d];
    std::array<uint32_t, 16> masks;
    std::array<Count, 16> tile, size;
    for (unsigned k = 0; k < operands; ++k) {
      masks[k] = op.mask(k);
      tile[k] = size[k] = 1;
      for (unsigned d = 0; d < op.dims.size(); ++d)
        if (masks[k] >> d & 1) {
          tile[k] = multiply(tile[k], tiles[d]);
          size[k] = multiply(size[k], graph.size(op, d));
        }
    }
    std::array<Part, 16> moves, held;
    for (size_t o = 0; o < orderList.size(); ++o) {
      uint32_t useful = 0; // operands that pinning changes
      for (unsigned k = 0; k < operands; ++k) {
        parts(masks[k], k == op.inputs.size(), tile[k], size[k], orderList[o], trips, moves[k],
              held[k]);
        if (mayPin() && !(internal >> k & 1) && (held[k].volume < moves[k].volume ||
                                     held[k].accesses < moves[k].accesses))
          useful |= 1u << k;
      }
      // All subsets of the operands for which it pays.
      for (uint32_t pins = useful;; pins = (pins - 1) & useful) {
        if (timeIsUp())
          return;
        Count volume = 0, accesses = 0, external = 0;
        for (unsigned k = 0; k < operands; ++k) {
          if (internal >> k & 1)
            continue;
          const Part &part = pins >> k & 1 ? held[k] : moves[k];
          volume = add(volume, part.volume);
          accesses = add(accesses, part.accesses);
          external = add(external, part.footprint);
        }
        take(o, pins, volume, accesses, external, held);
        if (pins == 0)
          break;
      }
    }
  }

  // ---- one operator alone ----

  void single() {
    OpTable &entry = list[0];
    const Operator &op = graph.operators[entry.op];
    orders(op, entry.orders);
    tilings(op, entry.tiles);
    for (const std::vector<Count> &tiles : entry.tiles) {
      Count time = -1;
      schedules(op, 0, tiles, entry.orders,
                [&](size_t order, uint32_t pins, Count volume, Count accesses, Count external,
                    const auto &) {
                  if (external > options.buffer || (hasBest && volume > best.volume))
                    return;
                  if (time < 0)
                    time = computeTime(graph, op, tiles, options.computePower);
                  Cost cost{volume, time, __builtin_popcount(pins), external, accesses};
                  if (hasBest && !(cost < best))
                    return;
                  best = cost, hasBest = true;
                  found = Chain{{OpSchedule{entry.op, entry.orders[order], tiles, pins}}};
                });
    }
  }

  // ---- tables ----

  /// All schedules of an operator, less those that another one replaces: one that looks the same to
  /// the neighbours in the chain and moves, computes and holds no more.
  bool table(size_t index) {
    OpTable &entry = list[index];
    const Operator &op = graph.operators[entry.op];
    orders(op, entry.orders);
    tilings(op, entry.tiles);
    uint32_t bound = 0; // dimensions of binding tensors
    for (unsigned k = 0; k < op.numOperands(); ++k)
      if (entry.internal >> k & 1)
        bound |= op.mask(k);
    std::map<std::vector<Count>, std::vector<uint32_t>> byBound;
    for (uint32_t t = 0; t < entry.tiles.size(); ++t) {
      std::vector<Count> key;
      for (unsigned d = 0; d < op.dims.size(); ++d)
        if (bound >> d & 1)
          key.push_back(entry.tiles[t][d]);
      byBound[key].push_back(t);
    }
    // What the others move at least.
    Count others = subtract(compulsory(), ownCompulsory(entry));
    std::map<std::vector<Count>, std::vector<Row>> kept;
    std::vector<std::vector<Row>> byOrder(entry.orders.size());
    for (const auto &[key, tilings] : byBound) {
      for (uint32_t t : tilings)
        gather(entry, t, others, byOrder);
      for (std::vector<Row> &rows : byOrder) {
        if (rows.empty())
          continue;
        std::vector<Row> &into = kept[face(index, rows[0])];
        for (const Row &row : rows)
          keepBest(into, row);
        rows.clear();
      }
    }
    for (auto &[key, rows] : kept)
      entry.rows.insert(entry.rows.end(), rows.begin(), rows.end());
    entry.least = leastOf(entry.rows);
    return !entry.rows.empty();
  }

  /// The rows of one tiling, by order.
  void gather(OpTable &entry, uint32_t tiling, Count others,
              std::vector<std::vector<Row>> &byOrder) {
    const Operator &op = graph.operators[entry.op];
    Count time = computeTime(graph, op, entry.tiles[tiling], options.computePower);
    schedules(op, entry.internal, entry.tiles[tiling], entry.orders,
              [&](size_t order, uint32_t pins, Count volume, Count accesses, Count external,
                  const auto &held) {
                Count all = external;
                for (unsigned k = 0; k < op.numOperands(); ++k)
                  if (entry.internal >> k & 1)
                    all = add(all, held[k].footprint);
                if (all > options.buffer || (hasBest && add(volume, others) > best.volume))
                  return;
                keepBest(byOrder[order],
                         Row{volume, time, accesses, external, all, tiling, uint32_t(order), pins});
              });
  }

  static void keepBest(std::vector<Row> &rows, const Row &row) {
    auto covers = [](const Row &a, const Row &b) {
      return a.volume <= b.volume && a.time <= b.time && a.external <= b.external;
    };
    for (const Row &other : rows)
      if (covers(other, row) &&
          (!covers(row, other) || std::make_pair(__builtin_popcount(other.pins), other.accesses) <=
                                      std::make_pair(__builtin_popcount(row.pins), row.accesses)))
        return;
    std::erase_if(rows, [&](const Row &other) { return covers(row, other); });
    rows.push_back(row);
  }

  /// What the neighbours see of a row: tiles, held dimensions and footprint of every binding tensor,
  /// and the order of the dimensions that are shared with each neighbour.
  std::vector<Count> face(size_t index, const Row &row) const {
    const OpTable &entry = list[index];
    const Operator &op = graph.operators[entry.op];
    OpSchedule schedule{entry.op, entry.orders[row.order], entry.tiles[row.tile], row.pins};
    std::vector<Count> result;
    for (unsigned k = 0; k < op.numOperands(); ++k) {
      if (!(entry.internal >> k & 1))
        continue;
      OperandCost held = operandCost(graph, op, k, schedule, Use::Internal);
      result.push_back(held.footprint);
      result.push_back(held.expanded);
      for (int dim : op.operand(k).dims)
        result.push_back(schedule.tiles[op.local(dim)]);
    }
    auto seen = [&](size_t other) {
      for (int dim : key(entry, row, list[other]))
        result.push_back(dim);
      result.push_back(-1);
    };
    for (size_t i = 0; i < list.size(); ++i)
      if (parent[index] == int(i) || parent[i] == int(index))
        seen(i);
    return result;
  }

  static Cost leastOf(const std::vector<Row> &rows) {
    Cost least{tooLarge, tooLarge, 0, 0, 0};
    for (const Row &row : rows) {
      least.volume = std::min(least.volume, row.volume);
      least.time = std::min(least.time, row.time);
    }
    return least;
  }

  /// Leaves out rows that no combination can afford; again, until nothing changes.
  bool filter() {
    if (!hasBest)
      return true;
    for (bool changed = true; changed;) {
      changed = false;
      Cost all = sumOfLeast(0);
      for (OpTable &entry : list) {
        size_t before = entry.rows.size();
        std::erase_if(entry.rows, [&](const Row &row) {
          Cost bound{add(all.volume - entry.least.volume, row.volume),
                     add(all.time - entry.least.time, row.time), 0, 0, 0};
          return !improves(bound);
        });
        if (entry.rows.empty())
          return false;
        if (entry.rows.size() == before)
          continue;
        changed = true;
        entry.least = leastOf(entry.rows);
        all = sumOfLeast(0);
      }
    }
    return true;
  }

  /// Whether a bound leaves room for a better result. In a chain of several operators ties of
  /// traffic and time are not searched for fewer pins.
  bool improves(const Cost &bound) const {
    return !hasBest ||
           std::tie(bound.volume, bound.time) < std::tie(best.volume, best.time);
  }

  Cost sumOfLeast(size_t from) const {
    Cost sum;
    for (size_t i = from; i < list.size(); ++i)
      sum = sum + list[i].least;
    sum.footprint = 0;
    return sum;
  }

  // ---- combining ----

  /// What a row must share with the consumer's row: the relative order of common dimensions.
  std::vector<int> key(const OpTable &entry, const Row &row, const OpTable &other) const {
    std::vector<int> result;
    const Operator &op = graph.operators[entry.op], &with = graph.operators[other.op];
    for (uint8_t d : entry.orders[row.order])
      if (with.local(op.dims[d]) >= 0)
        result.push_back(op.dims[d]);
    return result;
  }

  /// Sorts every operator's rows by cost and groups them by the order they share with the consumer.
  void bucket() {
    buckets.resize(list.size());
    suffix.resize(list.size() + 1);
    for (size_t i = 0; i < list.size(); ++i) {
      OpTable &entry = list[i];
      std::sort(entry.rows.begin(), entry.rows.end(), [](const Row &a, const Row &b) {
        return std::tie(a.volume, a.time, a.all) < std::tie(b.volume, b.time, b.all);
      });
      std::vector<std::vector<int>> byOrder(entry.orders.size());
      if (parent[i] >= 0)
        for (size_t o = 0; o < entry.orders.size(); ++o) {
          Row row{};
          row.order = o;
          byOrder[o] = key(entry, row, list[parent[i]]);
        }
      for (uint32_t r = 0; r < entry.rows.size(); ++r)
        buckets[i][byOrder[entry.rows[r].order]].push_back(r);
    }
    for (size_t i = list.size() + 1; i-- > 0;)
      suffix[i] = sumOfLeast(i);
  }

  OpSchedule schedule(size_t i) const {
    const Row &row = list[i].rows[chosen[i]];
    return {list[i].op, list[i].orders[row.order], list[i].tiles[row.tile], row.pins};
  }

  void descend(size_t i, Cost sum) {
    if (i == list.size())
      return complete();
    const OpTable &entry = list[i];
    std::vector<int> wanted;
    if (parent[i] >= 0)
      wanted = key(list[parent[i]], list[parent[i]].rows[chosen[parent[i]]], entry);
    auto bucket = buckets[i].find(wanted);
    if (bucket == buckets[i].end())
      return;
    for (uint32_t r : bucket->second) {
      const Row &row = entry.rows[r];
      if (timeIsUp())
        return;
      Cost partial = sum + Cost{row.volume, row.time, __builtin_popcount(row.pins), 0, row.accesses};
      Cost bound = partial + suffix[i + 1];
      if (hasBest && bound.volume > best.volume)
        break; // sorted by traffic: no later row is better
      if (!improves(bound))
        continue;
      chosen[i] = r;
      if (parent[i] >= 0 && !agrees(i))
        continue;
      if (i > 0 && !fitsSoFar(i))
        continue;
      descend(i + 1, partial);
    }
  }

  /// The tiles of the binding tensor agree with the consumer's.
  bool agrees(size_t i) const {
    const OpSchedule from = schedule(i), to = schedule(parent[i]);
    const Operator &writer = graph.operators[from.op], &reader = graph.operators[to.op];
    unsigned out = writer.inputs.size(), in = operand[i];
    bool differs = false;
    for (size_t k = 0; k < writer.output.dims.size() && !differs; ++k)
      differs = from.tiles[writer.local(writer.output.dims[k])] !=
                to.tiles[reader.local(reader.inputs[in].dims[k])];
    if (!differs)
      return true;
    uint32_t wrote = operandCost(graph, writer, out, from, Use::Internal).expanded;
    uint32_t read = operandCost(graph, reader, in, to, Use::Internal).expanded;
    for (size_t k = 0; k < writer.output.dims.size(); ++k) {
      int w = writer.local(writer.output.dims[k]), r = reader.local(reader.inputs[in].dims[k]);
      if (from.tiles[w] != to.tiles[r] && !(wrote >> w & 1) && !(read >> r & 1))
        return false;
    }
    return true;
  }

  /// The chain of the rows chosen so far; what is missing holds nothing yet.
  bool fitsSoFar(size_t i) const {
    Chain chain;
    for (size_t k = 0; k <= i; ++k)
      chain.ops.push_back(schedule(k));
    return footprintOfPart(chain) <= options.buffer;
  }

  /// The footprint of the first operators of the list, at least.
  Count footprintOfPart(const Chain &chain) const {
    const size_t count = chain.ops.size();
    std::vector<Count> group(count, 0), binding(count, 0);
    std::vector<int> of(count);
    Count peak = 0;
    for (size_t k = 0; k < count; ++k) {
      const OpSchedule &part = chain.ops[k];
      const Operator &op = graph.operators[part.op];
      const Row &row = list[k].rows[chosen[k]];
      of[k] = k;
      Count toConsumer = 0;
      if (parent[k] >= 0) {
        const OpSchedule &to = chain.ops[parent[k]];
        const Operator &reader = graph.operators[to.op];
        OperandCost seen = operandCost(graph, reader, operand[k], to, Use::Internal);
        if (seen.expanded & reader.reduced())
          of[k] = of[parent[k]];
        Count wrote = operandCost(graph, op, op.inputs.size(), part, Use::Internal).footprint;
        toConsumer = std::max(seen.footprint, wrote);
        // The consumer's group counts the binding tensor as the consumer sees it.
        Count &consumer = group[of[parent[k]]];
        consumer = add(consumer, toConsumer - seen.footprint);
        if (of[k] != of[parent[k]])
          group[of[k]] = add(group[of[k]], toConsumer);
        peak = std::max(peak, consumer);
      }
      group[of[k]] = add(group[of[k]], row.external);
      for (unsigned in = 0; in < op.inputs.size(); ++in)
        if (list[k].internal >> in & 1)
          group[of[k]] =
              add(group[of[k]], operandCost(graph, op, in, part, Use::Internal).footprint);
      peak = std::max(peak, group[of[k]]);
    }
    return peak;
  }

  void complete() {
    Chain chain;
    for (size_t k = 0; k < list.size(); ++k)
      chain.ops.push_back(schedule(k));
    Cost cost = evaluate(graph, chain, options.computePower);
    if (cost.footprint > options.buffer || (hasBest && !(cost < best)))
      return;
    best = cost, hasBest = true;
    found = chain;
  }

  const Graph &graph;
  std::vector<int> members;
  const Options &options;
  Count nodes = 0;
  Cost best;
  bool hasBest = false, stopped = false;
  std::optional<Chain> found;
  std::vector<OpTable> list;
  std::vector<int> parent;
  std::vector<unsigned> operand;
  std::vector<uint32_t> chosen;
  std::vector<std::map<std::vector<int>, std::vector<uint32_t>>> buckets;
  std::vector<Cost> suffix;
};

} // namespace

ChainSearchResult artifact::searchChain(const Graph &graph, const std::vector<int> &ops,
                                        const Options &options, const Cost *cutoff) {
  return ChainSearch(graph, ops, options, cutoff).run();
}
