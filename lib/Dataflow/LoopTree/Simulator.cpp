//===- Simulator.cpp - moves tiles and counts elements --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a group's loop nest tile by tile, with slots that really hold blocks and
// counters on every element of what is computed. It shares no formula with the
// closed form: what moves, what is held and whether a tile is complete when it
// is read all come out of the run. Plain and slow; meant for small graphs.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/LoopTree/GroupShape.h"

#include <algorithm>
#include <set>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// A block of a tensor: the first element and the end in each of its dimensions.
using Key = std::vector<Count>;

struct Slot {
  bool reserved = false, filled = false;
  bool outlives = false; // reserved by one branch, to be freed by another
  Key key;
  Count elements = 0;          // of the block that is there
  std::set<Key> left;          // results: blocks that left with partial sums
};

/// A tensor that is computed here: contributions to each element.
struct Computed {
  std::vector<Count> sums;
  bool reserved = false;
  Count complete = 0; // contributions that make an element complete
  Count stored = 0;   // elements that left
};

class Simulation {
public:
  Simulation(const Graph &graph, const Group &group, const Rules &rules)
      : graph(graph), group(group), rules(rules), shape(graph, group) {
    for (unsigned i = 0; i < group.ops.size(); ++i) {
      const Operator &op = shape.op(i);
      slots.emplace_back(op.numOperands());
      Computed &result = computed[op.output.tensor];
      result.sums.assign(graph.tensors[op.output.tensor].size(), 0);
      result.complete = 1;
      for (unsigned d = 0; d < op.dims.size(); ++d)
        if (op.reduced() >> d & 1)
          result.complete *= graph.size(op, d);
    }
    index.assign(32, 0);
    for (const Binding &binding : shape.bindings) {
      int before = shape.inPlace(binding.producer);
      storage[binding.tensor] = before >= 0 ? storage.at(before) : binding.tensor;
    }
  }

  Replay run() {
    body(0, 0, group.ops.size());
    for (auto &[tensor, result] : computed) {
      const Binding *binding = shape.bindingOf(tensor);
      if (!binding)
        for (Count sum : result.sums)
          if (sum != result.complete)
            fail("'" + graph.tensors[tensor].name + "' is not computed whole, or twice");
      if (binding && binding->stored && result.stored != graph.tensors[tensor].size())
        fail("'" + graph.tensors[tensor].name + "' is not stored whole, or twice");
    }
    return replay;
  }

private:
  void fail(const std::string &what) {
    if (replay.error.empty())
      replay.error = what;
  }

  // ---- the loop nest ----

  /// The operators [from, to), inside their first `depth` loops.
  void body(unsigned depth, unsigned from, unsigned to) {
    for (unsigned begin = from; begin < to;) {
      unsigned end = begin + 1;
      while (end < to && group.ops[end].shared > depth)
        ++end;
      branch(depth, begin, end);
      begin = end;
    }
  }

  void branch(unsigned depth, unsigned from, unsigned to) {
    const bool leaf = depth == group.ops[from].order.size();
    const Count trips = leaf ? 1 : shape.trips(from, depth);
    enter(depth, from, to, leaf, trips);
    if (leaf) {
      visit(from);
    } else {
      const bool sweeps = to == from + 1 && shape.sweeps(from) && shape.rowDepth(from) == depth;
      for (int sweep = 0; sweep < (sweeps ? 2 : 1); ++sweep) {
        if (sweeps)
          second = sweep == 1;
        for (index[depth] = 0; index[depth] < trips; ++index[depth])
          body(depth + 1, from, to);
      }
    }
    leave(depth, from, to, leaf, trips);
  }

  // ---- reservations ----

  bool changes(unsigned i, unsigned k, unsigned depth) const {
    const OpPlan &plan = group.ops[i];
    for (unsigned p = depth; p < plan.holds[k]; ++p)
      if ((shape.op(i).mask(k) >> plan.order[p] & 1) && shape.trips(i, p) > 1)
        return true;
    return false;
  }

  Count operandSize(unsigned i, unsigned k) const {
    bool moves = changes(i, k, 0);
    Count size = shape.block(i, shape.op(i).mask(k), group.ops[i].holds[k]);
    return rules.doubleBuffer && moves ? 2 * size : size;
  }

  void enter(unsigned depth, unsigned from, unsigned to, bool leaf, Count trips) {
    if (!leaf && trips == 1)
      return;
    for (unsigned i = from; i < to; ++i) {
      for (unsigned k = 0; k < shape.op(i).numOperands(); ++k) {
        Slot &slot = slots[i][k];
        const SharedSlot *shared = shape.slotOf(i, k);
        if (shape.bindingOf(shape.op(i).operand(k).tensor) || slot.reserved ||
            changes(i, k, depth) || (shared && shared->users.front().op != i))
          continue;
        slot.reserved = true;
        slot.filled = false;
        // What is shared with an operator outside of this branch stays until that one is done.
        slot.outlives = shared && shared->users.back().op >= to;
        if (!slot.outlives)
          owner[{depth, i, k}] = true;
        hold(operandSize(i, k));
      }
      if (shape.op(i).normalizes() && shape.rowDepth(i) == depth)
        hold(statesOf(i));
    }
    for (const Binding &binding : shape.bindings) {
      Computed &result = computed[binding.tensor];
      if (binding.producer < from || binding.producer >= to || depth < binding.depth ||
          result.reserved)
        continue;
      result.reserved = true;
      std::fill(result.sums.begin(), result.sums.end(), 0);
      bound.insert({storage.at(binding.tensor), sizeOf(binding), binding.tensor});
    }
    note();
  }

  void leave(unsigned depth, unsigned from, unsigned to, bool leaf, Count trips) {
    if (leaf || trips > 1)
      for (unsigned i = from; i < to; ++i) {
        for (unsigned k = 0; k < shape.op(i).numOperands(); ++k) {
          if (!owner.erase({depth, i, k}))
            continue;
          Slot &slot = slots[i][k];
          if (k == shape.op(i).inputs.size())
            evict(slot);
          slot.reserved = slot.filled = false;
          hold(-operandSize(i, k));
        }
        if (shape.op(i).normalizes() && shape.rowDepth(i) == depth)
          hold(-statesOf(i));
      }
    for (const SharedSlot &shared : shape.slots)
      if (!(from <= shared.users.front().op && shared.users.front().op < to))
        leaveShared(shared, depth, from, to);
    for (const Binding &binding : shape.bindings) {
      unsigned last = binding.consumers.back();
      if (!computed[binding.tensor].reserved || last < from || last >= to ||
          depth < binding.depth || (from <= binding.producer && binding.producer < to))
        continue;
      bool once = true;
      for (unsigned p = binding.depth; p < depth; ++p)
        once &= shape.trips(last, p) == 1;
      if (once)
        release(binding);
    }
  }

  /// Frees a slot that was reserved in another branch when the outermost loop of its last user ends.
  void leaveShared(const SharedSlot &shared, unsigned depth, unsigned from, unsigned to) {
    const auto [first, operand] = shared.users.front();
    const unsigned last = shared.users.back().op;
    Slot &slot = slots[first][operand];
    if (!slot.reserved || !slot.outlives || last < from || last >= to)
      return;
    for (unsigned p = shape.common(first, last); p < depth; ++p)
      if (shape.trips(last, p) > 1)
        return; // an inner loop of the last user
    slot.reserved = slot.filled = false;
    hold(-operandSize(first, operand));
  }

  void release(const Binding &binding) {
    Computed &result = computed[binding.tensor];
    result.reserved = false;
    bound.erase({storage.at(binding.tensor), sizeOf(binding), binding.tensor});
    if (!binding.stored)
      return;
    Count elements = std::count(result.sums.begin(), result.sums.end(), result.complete);
    result.stored += elements;
    replay.volume += elements;
    ++replay.accesses;
  }

  Count statesOf(unsigned i) const {
    const Operator &op = shape.op(i);
    return op.states * shape.block(i, op.mask(op.inputs.size()) & ~op.rows(), shape.rowDepth(i));
  }

  Count sizeOf(const Binding &binding) const {
    const Operator &op = shape.op(binding.producer);
    return shape.block(binding.producer, op.mask(op.inputs.size()), binding.depth);
  }

  void hold(Count size) { held += size; }

  /// Compares with the peak. What is written in place is there once.
  void note() {
    std::map<int, Count> largest;
    for (auto [root, size, tensor] : bound)
      largest[root] = std::max(largest[root], size);
    Count sum = held;
    for (auto [root, size] : largest)
      sum += size;
    replay.footprint = std::max(replay.footprint, sum);
  }

  // ---- one tile of one operator ----

  void visit(unsigned i) {
    const Operator &op = shape.op(i);
    const bool write = !shape.sweeps(i) || second;
    for (unsigned k = 0; k < op.inputs.size(); ++k) {
      int tensor = op.inputs[k].tensor;
      if (!shape.bindingOf(tensor)) {
        read(i, k);
        continue;
      }
      const Computed &source = computed.at(tensor);
      if (!source.reserved)
        fail("'" + graph.tensors[tensor].name + "' is read and not held");
      box(i, k, [&](size_t element) {
        if (source.sums[element] != source.complete)
          fail("'" + graph.tensors[tensor].name + "' is read before it is complete");
      });
    }
    if (!write)
      return;
    const unsigned out = op.inputs.size();
    Computed &result = computed.at(op.output.tensor);
    Count terms = 1;
    for (unsigned p = 0; p < group.ops[i].order.size(); ++p)
      if (op.reduced() >> group.ops[i].order[p] & 1)
        terms *= extent(i, p);
    if (!shape.bindingOf(op.output.tensor))
      store(i, out);
    else if (!result.reserved)
      fail("'" + graph.tensors[op.output.tensor].name + "' is written and not held");
    box(i, out, [&](size_t element) { result.sums[element] += terms; });
  }

  /// Elements that the current tile has along the loop at a position.
  Count extent(unsigned i, unsigned p) const {
    const OpPlan &plan = group.ops[i];
    Count size = graph.size(shape.op(i), plan.order[p]), tile = plan.tiles[plan.order[p]];
    return std::min(tile, size - index[p] * tile);
  }

  Key keyOf(unsigned i, unsigned k, Count &elements) const {
    const OpPlan &plan = group.ops[i];
    const Operator &op = shape.op(i);
    Key key;
    elements = 1;
    for (int dim : op.operand(k).dims) {
      const int local = op.local(dim);
      const unsigned p = std::find(plan.order.begin(), plan.order.end(), local) - plan.order.begin();
      const bool isTile = p < plan.holds[k];
      key.push_back(isTile ? index[p] * plan.tiles[local] : 0);
      key.push_back(isTile ? key.back() + extent(i, p) : graph.size(op, local));
    }
    for (unsigned p = 0; p < plan.order.size(); ++p)
      if (op.mask(k) >> plan.order[p] & 1)
        elements *= p < plan.holds[k] ? extent(i, p) : graph.size(op, plan.order[p]);
    return key;
  }

  void move(Count elements) {
    replay.volume += elements;
    ++replay.accesses;
  }

  void read(unsigned i, unsigned k) {
    const SharedSlot *shared = shape.slotOf(i, k);
    Slot &slot = shared ? slots[shared->users.front().op][shared->users.front().operand] : slots[i][k];
    Count elements;
    Key key = keyOf(i, k, elements);
    if (slot.filled && slot.key == key)
      return;
    expectReserved(slot);
    slot.filled = true;
    slot.key = key;
    move(elements);
  }

  void store(unsigned i, unsigned k) {
    Slot &slot = slots[i][k];
    Count elements;
    Key key = keyOf(i, k, elements);
    if (slot.filled && slot.key == key)
      return;
    expectReserved(slot);
    evict(slot);
    if (slot.left.count(key))
      move(elements); // its partial sums come back
    slot.filled = true;
    slot.key = key;
    slot.elements = elements;
  }

  void expectReserved(const Slot &slot) {
    if (!slot.reserved)
      fail("a slot is used that is not reserved");
    if (slot.filled)
      fail("a block changes while its slot is reserved for it");
  }

  void evict(Slot &slot) {
    if (!slot.filled)
      return;
    move(slot.elements);
    slot.left.insert(slot.key);
    slot.filled = false;
  }

  /// Calls `take` with the number of every element of an operand's tile.
  template <typename Take>
  void box(unsigned i, unsigned k, Take take) const {
    const OpPlan &plan = group.ops[i];
    const Operator &op = shape.op(i);
    const std::vector<int> &dims = op.operand(k).dims;
    std::vector<Count> low, high;
    for (int dim : dims) {
      int local = op.local(dim);
      unsigned p = std::find(plan.order.begin(), plan.order.end(), local) - plan.order.begin();
      low.push_back(index[p] * plan.tiles[local]);
      high.push_back(low.back() + extent(i, p));
    }
    std::vector<Count> at = low;
    for (;;) {
      size_t element = 0;
      for (size_t d = 0; d < dims.size(); ++d)
        element = element * graph.dims[dims[d]].size + at[d];
      take(element);
      size_t d = dims.size();
      while (d > 0 && ++at[d - 1] == high[d - 1]) {
        at[d - 1] = low[d - 1];
        --d;
      }
      if (d == 0)
        return;
    }
  }

  const Graph &graph;
  const Group &group;
  const Rules &rules;
  GroupShape shape;
  std::vector<std::vector<Slot>> slots;
  std::map<int, Computed> computed;
  std::map<int, int> storage;
  std::vector<Count> index;
  std::map<std::tuple<unsigned, unsigned, unsigned>, bool> owner;
  std::set<std::tuple<int, Count, int>> bound;
  Count held = 0;
  bool second = false; // whether a row-wise operator is in its second sweep
  Replay replay;
};

} // namespace

Replay exact::simulate(const Graph &graph, const Group &group, const Rules &rules) {
  return Simulation(graph, group, rules).run();
}
