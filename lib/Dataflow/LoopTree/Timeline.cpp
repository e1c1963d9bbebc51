//===- Timeline.cpp - what the buffer holds over time ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a loop nest as the simulator does, but keeps no elements: only which
// slot is reserved, and for which block.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/LoopTree/Timeline.h"

#include "ft/Dataflow/LoopTree/GroupShape.h"

#include <algorithm>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// A slot or a tensor between operators, while the nest is walked.
struct Place {
  unsigned op = 0, operand = 0;
  const Binding *binding = nullptr;
  const SharedSlot *slot = nullptr;
  bool reserved = false;
  int owner = -1; // the depth at which a slot was reserved
  std::vector<Count> key;
  TimelineRow row;
};

class Walker {
public:
  Walker(const Graph &graph, const Group &group, Count most)
      : graph(graph), group(group), most(most), shape(graph, group) {
    for (unsigned i = 0; i < group.ops.size(); ++i)
      addPlaces(i);
  }

  Timeline run() {
    index.assign(32, 0);
    body(0, 0, group.ops.size());
    for (Place &place : places) {
      close(place);
      result.rows.push_back(std::move(place.row));
    }
    for (unsigned i = 0; i < group.ops.size(); ++i) {
      Count steps = shape.sweeps(i) ? 2 : 1;
      for (unsigned p = 0; p < group.ops[i].order.size(); ++p)
        steps = multiply(steps, shape.trips(i, p));
      result.allSteps = add(result.allSteps, steps);
    }
    return std::move(result);
  }

private:
  void addPlaces(unsigned i) {
    const Operator &op = shape.op(i);
    const OpPlan &plan = group.ops[i];
    for (unsigned k = 0; k < op.numOperands(); ++k) {
      const int tensor = op.operand(k).tensor;
      const Binding *binding = shape.bindingOf(tensor);
      if (binding && binding->producer != i)
        continue;
      if (binding && k < op.inputs.size())
        continue;
      const SharedSlot *slot = shape.slotOf(i, k);
      if (slot && slot->users.front().op != i)
        continue;
      Place place;
      place.op = i, place.operand = k, place.binding = binding, place.slot = slot;
      place.row.tensor = graph.tensors[tensor].name;
      place.row.op = binding || slot ? "" : op.name;
      place.row.elements = shape.block(i, op.mask(k), binding ? binding->depth : plan.holds[k]);
      places.push_back(std::move(place));
    }
  }

  Count now() const { return result.steps.size(); }
  bool isFull() const { return now() >= most; }

  void open(Place &place) {
    place.reserved = true;
    place.row.stays.push_back({now(), now(), Count(place.row.stays.size())});
  }
  void close(Place &place) {
    if (!place.reserved)
      return;
    place.reserved = false;
    place.row.stays.back().to = now();
    if (place.row.stays.back().from == now())
      place.row.stays.pop_back();
  }

  // ---- the loop nest, as the simulator walks it ----

  void body(unsigned depth, unsigned from, unsigned to) {
    for (unsigned begin = from; begin < to && !isFull();) {
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
    if (leaf || trips > 1)
      enter(depth, from, to);
    if (leaf) {
      visit(from);
    } else {
      const bool sweeps = to == from + 1 && shape.sweeps(from) && shape.rowDepth(from) == depth;
      for (int sweep = 0; sweep < (sweeps ? 2 : 1); ++sweep)
        for (index[depth] = 0; index[depth] < trips && !isFull(); ++index[depth])
          body(depth + 1, from, to);
    }
    if (!isFull())
      leave(depth, from, to, leaf || trips > 1);
  }

  bool changes(const Place &place, unsigned depth) const {
    const OpPlan &plan = group.ops[place.op];
    for (unsigned p = depth; p < plan.holds[place.operand]; ++p)
      if ((shape.op(place.op).mask(place.operand) >> plan.order[p] & 1) && shape.trips(place.op, p) > 1)
        return true;
    return false;
  }

  void enter(unsigned depth, unsigned from, unsigned to) {
    for (Place &place : places) {
      if (place.reserved || place.op < from || place.op >= to)
        continue;
      if (place.binding ? depth < place.binding->depth : changes(place, depth))
        continue;
      place.owner = depth;
      place.key.clear();
      open(place);
    }
  }

  void leave(unsigned depth, unsigned from, unsigned to, bool isLoop) {
    for (Place &place : places) {
      if (!place.reserved)
        continue;
      const unsigned last = place.binding ? place.binding->consumers.back()
                            : place.slot  ? place.slot->users.back().op
                                          : place.op;
      const bool within = from <= place.op && place.op < to;
      if (!place.binding && within) {
        if (isLoop && place.owner == int(depth) && last < to)
          close(place);
        continue;
      }
      const unsigned shared = place.binding ? place.binding->depth : shape.common(place.op, last);
      const bool isOuter = place.slot && place.owner < int(shared); // freed by the branch that has both
      if (last < from || last >= to || depth < shared || within || isOuter)
        continue;
      bool once = true;
      for (unsigned p = shared; p < depth; ++p)
        once &= shape.trips(last, p) == 1;
      if (once)
        close(place);
    }
  }

  /// A step: slots whose block changes get a new one.
  void visit(unsigned i) {
    for (Place &place : places) {
      if (place.binding || place.op != i)
        continue;
      const OpPlan &plan = group.ops[i];
      std::vector<Count> key{0};
      for (unsigned p = 0; p < plan.holds[place.operand]; ++p)
        if (shape.op(i).mask(place.operand) >> plan.order[p] & 1)
          key.push_back(index[p]);
      if (!place.key.empty() && place.key != key) {
        close(place);
        open(place);
      }
      place.key = std::move(key);
    }
    result.steps.push_back(shape.op(i).name);
  }

  const Graph &graph;
  const Group &group;
  const Count most;
  GroupShape shape;
  std::vector<Place> places;
  std::vector<Count> index;
  Timeline result;
};

} // namespace

Timeline ft::dataflow::timelineOf(const Graph &graph, const Group &group, Count most) {
  return Walker(graph, group, most).run();
}
