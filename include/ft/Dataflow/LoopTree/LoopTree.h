//===- LoopTree.h - fused loop nests and what they exactly move -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules `exact`. Operators that are fused form a *group*: one loop nest, a
// tree whose leaves are the operators' tiles, visited in order. Each operator
// has one loop per dimension; operators that follow one another may share
// outer loops, tiles included:
//
//   for n                    flash attention: S, P and A share n and m; S sums
//     for m                  over q by itself, A walks d by itself
//       for q: S[n,m] += Q[n,q] K[m,q]
//       P[n,m] = softmax(S[n,m])           (online: m is shared)
//       for d: A[n,d] += P[n,m] V[m,d]
//
// A dimension that two operators do not share is walked twice (DAT §3.2's L'
// and L''), each time with tiles of its own; what binds the operators is then
// held whole in that dimension.
//
// Rules, and what they cost:
//
//  * Operands from outside of the group have a slot each. It holds one *block*:
//    the tile in the dimensions of the loops around the operand's hold depth,
//    everything in the others. A read costs the block's elements unless the slot
//    holds that very block. A result's block costs its elements when it leaves,
//    and again when it comes back for more partial sums.
//  * Operators that read one tensor from outside may share a slot: all of them use
//    the same block at the same time, so the loops that change it are shared by
//    all. The first one reads it, and it is reserved until the last one is done.
//  * A tensor between operators of a group never moves. Its block is fixed by
//    the loops that all its users share; it must be complete when it is read,
//    so no shared loop may be one that its producer sums over. If others want
//    it, too, each of its elements leaves once.
//  * A row-wise operator that normalises (softmax, layer norm) walks its rows
//    twice: statistics, then results. It need not if a row is one tile, nor in
//    its *online* form (DAT §3.3): all its readers are products that sum over
//    the rows, in the shared loops; they correct their sums. Either way it holds
//    its states.
//  * A slot is reserved while the loop runs all of whose iterations use the same
//    block. Use is the largest sum of reservations. A point-wise operator, and
//    one that normalises, works in place where its argument is not needed again.
//
// Tiles are any sizes; the last one may be partial.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_LOOPTREE_LOOPTREE_H
#define FT_DATAFLOW_LOOPTREE_LOOPTREE_H

#include "ft/Dataflow/Graph/Graph.h"

namespace ft::dataflow::exact {

/// One operator's loops.
struct OpPlan {
  int op = -1;
  /// The number of outer loops shared with the operator before it in the group.
  unsigned shared = 0;
  /// Places in Operator::dims, the outermost loop first.
  std::vector<uint8_t> order;
  /// By place in Operator::dims.
  std::vector<Count> tiles;
  /// By operand, the output last: the number of loops around its block. Only operands from outside
  /// of the group use it.
  std::vector<uint8_t> holds;
  /// By input: operators of the group that read one tensor with the same number, not 0, share its slot.
  /// 0, or no entry: a slot of its own.
  std::vector<uint8_t> slots = {};
  unsigned slot(unsigned input) const { return input < slots.size() ? slots[input] : 0; }
};

struct Group {
  std::vector<OpPlan> ops; // in the order of execution
};

struct Schedule {
  std::vector<Group> groups; // in the order of execution
};

struct Rules {
  /// A slot whose block changes is reserved twice, so that the next block can come while one works.
  bool doubleBuffer = false;
};

/// One operand's share of the cost.
struct OperandTraffic {
  int op = -1;
  unsigned operand = 0;
  Count volume = 0, accesses = 0; // elements, blocks
  Count block = 0;                // elements held
  bool isReused = false;          // another operator brought the block into the slot that both share
};

struct GroupCost {
  Count volume = 0, accesses = 0, footprint = 0;
  std::vector<OperandTraffic> operands;
};

/// Empty, or why the group is no legal loop nest.
std::string check(const Graph &graph, const Group &group);

/// The closed form. The group must be legal.
GroupCost evaluate(const Graph &graph, const Group &group, const Rules &rules = {});

/// What the simulator saw.
struct Replay {
  Count volume = 0, accesses = 0, footprint = 0;
  /// Empty, or what went wrong: a tile read before it was complete, a block that changed while it
  /// was reserved.
  std::string error;
};

/// Walks all tiles of a group, moves them between a memory and slots, and counts.
Replay simulate(const Graph &graph, const Group &group, const Rules &rules = {});

/// The number of leading loops that the operators at places i < j of a group share.
unsigned commonLoops(const Group &group, unsigned i, unsigned j);

/// Whether operator i of the group normalises its rows online.
bool isOnline(const Graph &graph, const Group &group, unsigned i);

/// A loop nest in the manner of the comment above, for people.
std::string print(const Graph &graph, const Group &group);

} // namespace ft::dataflow::exact

#endif // FT_DATAFLOW_LOOPTREE_LOOPTREE_H
