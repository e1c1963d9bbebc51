//===- LoopTree.cpp - fused loop nests and what they exactly move ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Legality and the closed form of the rules `exact` (see LoopTree.h). "Depth p"
// is the body inside an operator's first p loops.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/LoopTree/LoopTree.h"

#include "ft/Dataflow/LoopTree/GroupShape.h"

#include <algorithm>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

unsigned exact::commonLoops(const Group &group, unsigned i, unsigned j) {
  unsigned least = group.ops[j].shared;
  for (unsigned k = i + 1; k < j; ++k)
    least = std::min(least, group.ops[k].shared);
  return least;
}

// ---- GroupShape ----

GroupShape::GroupShape(const Graph &graph, const Group &group) : graph(graph), group(group) {
  for (unsigned i = 0; i < group.ops.size(); ++i)
    place[group.ops[i].op] = i;
  for (unsigned i = 0; i < group.ops.size(); ++i)
    addBinding(i);
  addSlots();
}

const Operator &GroupShape::op(unsigned i) const { return graph.operators[group.ops[i].op]; }

Count GroupShape::trips(unsigned i, unsigned position) const {
  unsigned d = group.ops[i].order[position];
  return ceilDivide(graph.size(op(i), d), group.ops[i].tiles[d]);
}

void GroupShape::addBinding(unsigned i) {
  int tensor = op(i).output.tensor;
  Binding binding;
  binding.tensor = tensor;
  binding.producer = i;
  binding.stored = graph.tensors[tensor].isResult;
  for (int consumer : graph.tensors[tensor].consumers) {
    auto found = place.find(consumer);
    if (found == place.end())
      binding.stored = true;
    else
      binding.consumers.push_back(found->second);
  }
  if (binding.consumers.empty())
    return;
  std::sort(binding.consumers.begin(), binding.consumers.end());
  binding.depth = group.ops[i].order.size();
  for (unsigned consumer : binding.consumers)
    if (consumer > i)
      binding.depth = std::min(binding.depth, commonLoops(group, i, consumer));
  bindings.push_back(binding);
}

void GroupShape::addSlots() {
  std::map<std::pair<int, unsigned>, SharedSlot> known;
  for (unsigned i = 0; i < group.ops.size(); ++i)
    for (unsigned k = 0; k < op(i).inputs.size(); ++k) {
      const int tensor = op(i).inputs[k].tensor;
      const unsigned number = group.ops[i].slot(k);
      if (!number || bindingOf(tensor))
        continue;
      SharedSlot &slot = known[{tensor, number}];
      slot.tensor = tensor, slot.number = number;
      slot.users.push_back({i, k});
    }
  for (auto &[key, slot] : known)
    if (slot.users.size() > 1)
      slots.push_back(std::move(slot));
}

const SharedSlot *GroupShape::slotOf(unsigned i, unsigned k) const {
  for (const SharedSlot &slot : slots)
    for (const SharedSlot::User &user : slot.users)
      if (user.op == i && user.operand == k)
        return &slot;
  return nullptr;
}

int GroupShape::lastChange(unsigned i, unsigned k) const {
  const OpPlan &plan = group.ops[i];
  int last = -1;
  for (unsigned p = 0; p < plan.holds[k]; ++p)
    if ((op(i).mask(k) >> plan.order[p] & 1) && trips(i, p) > 1)
      last = p;
  return last;
}

bool GroupShape::together(unsigned i, unsigned k, unsigned depth) const {
  for (unsigned p = depth; p < common(i, k); ++p)
    if (trips(i, p) > 1)
      return true;
  return false;
}

const Binding *GroupShape::bindingOf(int tensor) const {
  for (const Binding &binding : bindings)
    if (binding.tensor == tensor)
      return &binding;
  return nullptr;
}

Count GroupShape::block(unsigned i, uint32_t mask, unsigned depth) const {
  const OpPlan &plan = group.ops[i];
  Count size = 1;
  for (unsigned p = 0; p < plan.order.size(); ++p)
    if (mask >> plan.order[p] & 1)
      size = multiply(size, p < depth ? plan.tiles[plan.order[p]] : graph.size(op(i), plan.order[p]));
  return size;
}

unsigned GroupShape::rowDepth(unsigned i) const {
  const OpPlan &plan = group.ops[i];
  for (unsigned p = 0; p < plan.order.size(); ++p)
    if ((op(i).rows() >> plan.order[p] & 1) && trips(i, p) > 1)
      return p;
  return plan.order.size();
}

bool GroupShape::online(unsigned i) const {
  if (!op(i).normalizes() || rowDepth(i) == group.ops[i].order.size())
    return false;
  const Binding *binding = bindingOf(op(i).output.tensor);
  return binding && binding->depth > rowDepth(i);
}

bool GroupShape::sweeps(unsigned i) const {
  return op(i).normalizes() && rowDepth(i) < group.ops[i].order.size() && !online(i);
}

int GroupShape::inPlace(unsigned i) const {
  const Operator &what = op(i);
  if ((what.kind != Kind::Point && !what.normalizes()) || !bindingOf(what.output.tensor))
    return -1;
  for (const Operand &input : what.inputs) {
    const Binding *binding = bindingOf(input.tensor);
    bool once = std::count_if(what.inputs.begin(), what.inputs.end(), [&](const Operand &other) {
                  return other.tensor == input.tensor;
                }) == 1;
    if (binding && once && !binding->stored && input.dims == what.output.dims &&
        graph.tensors[input.tensor].consumers.size() == 1)
      return input.tensor;
  }
  return -1;
}

// ---- legality ----

namespace {

class Checker {
public:
  Checker(const Graph &graph, const Group &group) : graph(graph), group(group), shape(graph, group) {}

  std::string run() const {
    for (unsigned i = 0; i < group.ops.size(); ++i) {
      if (std::string wrong = loops(i); !wrong.empty())
        return wrong;
    }
    for (const Binding &binding : shape.bindings)
      if (std::string wrong = bound(binding); !wrong.empty())
        return wrong;
    for (unsigned i = 0; i < group.ops.size(); ++i)
      if (std::string wrong = rows(i); !wrong.empty())
        return wrong;
    for (const SharedSlot &slot : shape.slots)
      for (size_t k = 1; k < slot.users.size(); ++k)
        if (std::string wrong = sharedBlock(slot.users[k - 1], slot.users[k]); !wrong.empty())
          return wrong;
    return "";
  }

private:
  std::string loops(unsigned i) const {
    const OpPlan &plan = group.ops[i];
    const Operator &op = shape.op(i);
    std::vector<uint8_t> sorted(plan.order);
    std::sort(sorted.begin(), sorted.end());
    for (unsigned d = 0; d < sorted.size(); ++d)
      if (sorted[d] != d)
        return "the loops of '" + op.name + "' are no permutation of its dimensions";
    if (sorted.size() != op.dims.size() || plan.tiles.size() != op.dims.size() ||
        plan.holds.size() != op.numOperands())
      return "the plan of '" + op.name + "' is incomplete";
    for (unsigned d = 0; d < op.dims.size(); ++d)
      if (plan.tiles[d] < 1 || plan.tiles[d] > graph.size(op, d))
        return "a tile of '" + op.name + "' is not within its dimension";
    for (unsigned k = 0; k < op.numOperands(); ++k)
      if (plan.holds[k] > plan.order.size())
        return "a hold depth of '" + op.name + "' is beyond its loops";
    if (i == 0)
      return plan.shared ? "the first operator shares loops" : "";
    const OpPlan &before = group.ops[i - 1];
    const Operator &other = shape.op(i - 1);
    if (plan.shared > std::min(plan.order.size(), before.order.size()))
      return "'" + op.name + "' shares more loops than there are";
    for (unsigned p = 0; p < plan.shared; ++p) {
      if (op.dims[plan.order[p]] != other.dims[before.order[p]])
        return "'" + op.name + "' shares a loop with '" + other.name + "' over another dimension";
      if (plan.tiles[plan.order[p]] != before.tiles[before.order[p]])
        return "'" + op.name + "' shares a loop with '" + other.name + "' and differs in its tile";
    }
    return "";
  }

  std::string bound(const Binding &binding) const {
    const unsigned from = binding.producer;
    const Operator &writer = shape.op(from);
    const std::string &name = graph.tensors[binding.tensor].name;
    for (unsigned to : binding.consumers) {
      if (to <= from)
        return "'" + name + "' is read before it is written";
      const Operator &reader = shape.op(to);
      for (unsigned p = 0; p < commonLoops(group, from, to); ++p) {
        unsigned d = group.ops[from].order[p];
        if (writer.reduced() >> d & 1)
          return "'" + name + "' is read while '" + writer.name + "' still sums";
        // The shared loop must walk the same dimension of the tensor on both sides.
        int dim = writer.dims[d];
        auto at = std::find(writer.output.dims.begin(), writer.output.dims.end(), dim);
        for (const Operand &input : reader.inputs)
          if (input.tensor == binding.tensor &&
              input.dims[at - writer.output.dims.begin()] != dim)
            return "'" + name + "' is read along another dimension than the shared loop's";
      }
    }
    return "";
  }

  /// Dimensions of the operand that an operator's loop at a position walks, as a set.
  uint32_t walked(const SharedSlot::User &user, unsigned position) const {
    const Operator &op = shape.op(user.op);
    const Operand &operand = op.inputs[user.operand];
    const int dim = op.dims[group.ops[user.op].order[position]];
    uint32_t result = 0;
    for (size_t d = 0; d < operand.dims.size(); ++d)
      result |= uint32_t(operand.dims[d] == dim) << d;
    return result;
  }

  /// Two that share a slot use the same block at the same time.
  std::string sharedBlock(const SharedSlot::User &a, const SharedSlot::User &b) const {
    const std::string &first = shape.op(a.op).name, &second = shape.op(b.op).name;
    const std::string &tensor = graph.tensors[shape.op(a.op).inputs[a.operand].tensor].name;
    if (a.op == b.op)
      return "'" + first + "' reads '" + tensor + "' twice from one slot";
    const int last = shape.lastChange(a.op, a.operand);
    bool same = last == shape.lastChange(b.op, b.operand) &&
                last < int(commonLoops(group, a.op, b.op));
    for (int p = 0; same && p <= last; ++p)
      same = shape.trips(a.op, p) == 1 || walked(a, p) == walked(b, p);
    return same ? "" : "'" + first + "' and '" + second + "' share a slot for '" + tensor +
                           "' and hold different blocks of it";
  }

  std::string rows(unsigned i) const {
    const Operator &op = shape.op(i);
    if (!op.normalizes())
      return "";
    if (shape.sweeps(i)) {
      unsigned depth = shape.rowDepth(i);
      bool before = i > 0 && group.ops[i].shared > depth;
      bool after = i + 1 < group.ops.size() && group.ops[i + 1].shared > depth;
      return before || after ? "'" + op.name + "' walks its rows twice and shares them" : "";
    }
    if (!shape.online(i))
      return "";
    const Binding &binding = *shape.bindingOf(op.output.tensor);
    if (binding.stored)
      return "'" + op.name + "' is online and its result is wanted elsewhere";
    for (unsigned to : binding.consumers)
      if (!canCorrect(op, shape.op(to)))
        return "'" + shape.op(to).name + "' can't correct what it made of '" + op.name + "'";
    return "";
  }

  static bool canCorrect(const Operator &op, const Operator &reader) {
    return correctsOnline(op, reader);
  }

  const Graph &graph;
  const Group &group;
  GroupShape shape;
};

} // namespace

bool exact::correctsOnline(const Operator &op, const Operator &reader) {
  if (reader.kind != Kind::Product)
    return false;
  // It sums over the rows and nothing else, and its result has what a row belongs to.
  uint32_t rows = 0;
  for (int dim : op.over) {
    int local = reader.local(dim);
    if (local < 0)
      return false;
    rows |= 1u << local;
  }
  int reads = 0;
  for (const Operand &input : reader.inputs)
    if (input.tensor == op.output.tensor) {
      if (input.dims != op.output.dims)
        return false;
      ++reads;
    }
  return reads == 1 && reader.reduced() == rows;
}

std::string exact::check(const Graph &graph, const Group &group) {
  return Checker(graph, group).run();
}

bool exact::isOnline(const Graph &graph, const Group &group, unsigned i) {
  return GroupShape(graph, group).online(i);
}

// ---- the closed form ----

namespace {

class Evaluator {
public:
  Evaluator(const Graph &graph, const Group &group, const Rules &rules)
      : group(group), rules(rules), shape(graph, group), use(group.ops.size(), 0) {}

  GroupCost run() {
    for (unsigned i = 0; i < group.ops.size(); ++i) {
      const Operator &op = shape.op(i);
      for (unsigned k = 0; k < op.numOperands(); ++k)
        if (!shape.bindingOf(op.operand(k).tensor))
          outside(i, k);
      states(i);
    }
    bindings();
    for (Count sum : use)
      cost.footprint = std::max(cost.footprint, sum);
    return cost;
  }

private:
  unsigned length(unsigned i) const { return group.ops[i].order.size(); }

  /// The first loop at depth p or deeper with several iterations.
  unsigned nextLoop(unsigned i, unsigned p) const {
    unsigned sweep = shape.sweeps(i) ? shape.rowDepth(i) : length(i);
    while (p < length(i) && p < sweep && shape.trips(i, p) == 1)
      ++p;
    return p;
  }

  void outside(unsigned i, unsigned k) {
    const OpPlan &plan = group.ops[i];
    const Operator &op = shape.op(i);
    const uint32_t mask = op.mask(k);
    const bool isOutput = k == op.inputs.size();
    const int last = shape.lastChange(i, k);
    const SharedSlot *slot = shape.slotOf(i, k);
    if (slot && slot->users.front().op != i)
      return reuse(i, k);
    Count again = 1, blocks = 1;
    for (int p = 0; p <= last; ++p) {
      // The sweep is a loop of two iterations right around the rows; results come in the second.
      if (shape.sweeps(i) && shape.rowDepth(i) == unsigned(p) && !isOutput)
        again = multiply(again, 2);
      if (!(mask >> plan.order[p] & 1))
        again = multiply(again, shape.trips(i, p));
      else
        blocks = multiply(blocks, shape.trips(i, p));
    }
    OperandTraffic traffic;
    traffic.op = plan.op;
    traffic.operand = k;
    Count times = isOutput ? subtract(multiply(2, again), 1) : again;
    traffic.volume = multiply(times, shape.graph.tensors[op.operand(k).tensor].size());
    traffic.accesses = multiply(times, blocks);
    traffic.block = shape.block(i, mask, plan.holds[k]);
    const Count held = multiply(traffic.block, rules.doubleBuffer && multiply(again, blocks) > 1 ? 2 : 1);
    if (slot)
      reserveBetween(i, slot->users.back().op, last + 1, held);
    else
      reserve(i, nextLoop(i, last + 1), held);
    record(traffic);
  }

  /// The block is there: another one read it.
  void reuse(unsigned i, unsigned k) {
    OperandTraffic traffic;
    traffic.op = group.ops[i].op;
    traffic.operand = k;
    traffic.block = shape.block(i, shape.op(i).mask(k), group.ops[i].holds[k]);
    traffic.isReused = true;
    record(traffic);
  }

  /// From the first to the last operator of one body, and for all that run in one more loop with either.
  void reserveBetween(unsigned first, unsigned last, unsigned depth, Count size) {
    for (unsigned k = 0; k < group.ops.size(); ++k)
      if (k < first ? shape.together(k, first, depth) : k <= last || shape.together(last, k, depth))
        use[k] = add(use[k], size);
  }

  void record(const OperandTraffic &traffic) {
    cost.volume = add(cost.volume, traffic.volume);
    cost.accesses = add(cost.accesses, traffic.accesses);
    cost.operands.push_back(traffic);
  }

  /// Reserves for operator i, and for all that run inside its loop at this depth.
  void reserve(unsigned i, unsigned depth, Count size) {
    for (unsigned k = 0; k < group.ops.size(); ++k)
      if (k == i || shape.common(i, k) > depth)
        use[k] = add(use[k], size);
  }

  void states(unsigned i) {
    const Operator &op = shape.op(i);
    if (!op.normalizes())
      return;
    unsigned depth = shape.rowDepth(i);
    uint32_t rest = op.mask(op.inputs.size()) & ~op.rows();
    reserve(i, depth, multiply(op.states, shape.block(i, rest, depth)));
  }

  void bindings() {
    // Tensors that are written in place of another have its storage.
    std::map<int, int> storage;
    for (const Binding &binding : shape.bindings) {
      int before = shape.inPlace(binding.producer);
      storage[binding.tensor] = before >= 0 ? storage.at(before) : binding.tensor;
    }
    for (unsigned k = 0; k < group.ops.size(); ++k) {
      std::map<int, Count> held;
      for (const Binding &binding : shape.bindings)
        if (isLive(binding, k)) {
          Count &size = held[storage[binding.tensor]];
          size = std::max(size, sizeOf(binding));
        }
      for (auto [root, size] : held)
        use[k] = add(use[k], size);
    }
    for (const Binding &binding : shape.bindings) {
      const Operator &op = shape.op(binding.producer);
      OperandTraffic traffic;
      traffic.op = group.ops[binding.producer].op;
      traffic.operand = op.inputs.size();
      traffic.block = sizeOf(binding);
      if (binding.stored) {
        traffic.volume = shape.graph.tensors[binding.tensor].size();
        traffic.accesses = 1;
        for (unsigned p = 0; p < binding.depth; ++p)
          traffic.accesses = multiply(traffic.accesses, shape.trips(binding.producer, p));
      }
      record(traffic);
    }
  }

  Count sizeOf(const Binding &binding) const {
    const Operator &op = shape.op(binding.producer);
    return shape.block(binding.producer, op.mask(op.inputs.size()), binding.depth);
  }

  bool isLive(const Binding &binding, unsigned k) const {
    if (k < binding.producer)
      return shape.together(k, binding.producer, binding.depth);
    if (k > binding.consumers.back())
      return shape.together(binding.consumers.back(), k, binding.depth);
    return true;
  }

  const Group &group;
  const Rules &rules;
  GroupShape shape;
  std::vector<Count> use;
  GroupCost cost;
};

} // namespace

GroupCost exact::evaluate(const Graph &graph, const Group &group, const Rules &rules) {
  return Evaluator(graph, group, rules).run();
}

std::string exact::print(const Graph &graph, const Group &group) {
  GroupShape shape(graph, group);
  std::string text;
  for (unsigned i = 0; i < group.ops.size(); ++i) {
    const OpPlan &plan = group.ops[i];
    const Operator &op = shape.op(i);
    for (unsigned p = plan.shared; p < plan.order.size(); ++p) {
      unsigned d = plan.order[p];
      text += std::string(2 * p, ' ') + "for " + graph.dims[op.dims[d]].name + " in " +
              std::to_string(shape.trips(i, p)) + " tiles of " + std::to_string(plan.tiles[d]) +
              "\n";
    }
    auto name = [&](const Operand &operand) {
      std::string result = graph.tensors[operand.tensor].name + "[";
      for (size_t k = 0; k < operand.dims.size(); ++k)
        result += (k ? "," : "") + graph.dims[operand.dims[k]].name;
      return result + "]";
    };
    text += std::string(2 * plan.order.size(), ' ') + name(op.output) + " = " + op.name + "(";
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const SharedSlot *slot = shape.slotOf(i, k);
      text += (k ? ", " : "") + name(op.inputs[k]) +
              (slot && slot->users.front().op != i ? " as held" : "");
    }
    text += ")";
    if (shape.online(i))
      text += "  online";
    else if (shape.sweeps(i))
      text += "  in two sweeps";
    text += "\n";
  }
  return text;
}
