//===- GroupShape.h - what follows from a group's plans ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about a fused group that its legality, its closed form and its
// simulation all need (see LoopTree.h).
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_LOOPTREE_GROUPSHAPE_H
#define FT_DATAFLOW_LOOPTREE_GROUPSHAPE_H

#include "ft/Dataflow/LoopTree/LoopTree.h"

#include <map>

namespace ft::dataflow::exact {

/// A tensor that one operator of the group writes and others of it read.
struct Binding {
  int tensor = -1;
  unsigned producer = 0;           // place in the group
  std::vector<unsigned> consumers; // places, ascending
  /// The number of loops that all of them share.
  unsigned depth = 0;
  /// Whether others want it, too, so that it leaves once.
  bool stored = false;
};

/// A tensor from outside that several operators read from one slot.
struct SharedSlot {
  int tensor = -1;
  unsigned number = 0; // in OpPlan::slots
  struct User {
    unsigned op = 0, operand = 0; // a place in the group; an input
  };
  std::vector<User> users; // in the order of execution, at least two
};

struct GroupShape {
  GroupShape(const Graph &graph, const Group &group);

  const Operator &op(unsigned i) const;
  /// Iterations of operator i's loop at this position.
  Count trips(unsigned i, unsigned position) const;
  const Binding *bindingOf(int tensor) const;
  /// Elements of a block with these dimensions: a tile within the first `depth` loops, else all.
  Count block(unsigned i, uint32_t mask, unsigned depth) const;
  /// The position of the outermost loop over rows with several iterations, or the number of loops.
  unsigned rowDepth(unsigned i) const;
  bool online(unsigned i) const;
  /// Whether operator i walks its rows twice.
  bool sweeps(unsigned i) const;
  /// The tensor in whose place operator i writes, or -1.
  int inPlace(unsigned i) const;
  /// Loops that the operators at two places share.
  unsigned common(unsigned i, unsigned k) const {
    return i == k ? group.ops[i].order.size()
                  : commonLoops(group, i < k ? i : k, i < k ? k : i);
  }

  const Graph &graph;
  const Group &group;
  std::map<int, unsigned> place; // of an operator
  std::vector<Binding> bindings; // by producer
  std::vector<SharedSlot> slots;
  /// The slot that an operand shares with others, or null.
  const SharedSlot *slotOf(unsigned i, unsigned k) const;
  /// The position of the last loop that changes the block of an operand from outside, or -1.
  int lastChange(unsigned i, unsigned k) const;
  /// Whether the two operators run in one loop of several iterations at this depth or deeper.
  bool together(unsigned i, unsigned k, unsigned depth) const;

private:
  void addBinding(unsigned i);
  void addSlots();
};

/// Whether a reader of an online operator's result can correct its own sums.
bool correctsOnline(const Operator &op, const Operator &reader);

} // namespace ft::dataflow::exact

#endif // FT_DATAFLOW_LOOPTREE_GROUPSHAPE_H
