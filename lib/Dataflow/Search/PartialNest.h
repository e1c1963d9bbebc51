//===- PartialNest.h - a loop nest that is decided in part ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of NestSearch.h, and the tile problem that it poses: exact where it
// is decided, a lower bound where it is not.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_SEARCH_PARTIALNEST_H
#define LIB_DATAFLOW_SEARCH_PARTIALNEST_H

#include "PrivateLoops.h"
#include "SlotPatterns.h"

#include <map>

namespace ft::dataflow::exact {

/// A tensor inside, by places of operators.
struct Bound {
  unsigned producer = 0;
  uint64_t consumers = 0, users = 0; // users: with the producer
  uint64_t shareable = 0;            // classes of loops that all users may share
};

struct SharedLoop {
  uint8_t entry = 0, variable = 0;
};

struct OpState {
  static constexpr uint8_t open = 255;
  std::vector<SharedLoop> loops; // outermost first
  /// Which part of each body around it this operator is in. One longer than `loops` if it is by itself.
  std::vector<uint8_t> path;
  /// By operand from outside: the number of shared loops around its block, or `open`.
  std::vector<uint8_t> holds;
  const PrivatePlan *own = nullptr;
  bool alone() const { return path.size() > loops.size(); }
};

/// The inside of a loop: operators that are not divided into parts yet.
struct Body {
  uint64_t left = 0;
  uint8_t depth = 0, parts = 0;
};

struct PartialNest {
  Count bound = 0;
  unsigned decisions = 0;
  std::vector<OpState> ops;
  std::vector<uint8_t> variables; // classes of the shared loops
  std::vector<Body> bodies;       // the outermost first
  /// Operands that the newest loop does not change, to be decided: operator, operand; or `slot` and the number of
  /// a shared one.
  static constexpr uint8_t slot = 255;
  std::vector<std::pair<uint8_t, uint8_t>> pending;
  /// Who shares slots (NestModel::patterns), and by slot the number of loops around its block, or `open` while
  /// all users are in one body.
  unsigned pattern = 0;
  std::vector<uint8_t> slotHolds;
};

/// What stays the same over a search, and the questions that a partial nest answers with it.
class NestModel {
public:
  /// `floors`: by operator, what it moves at least with slots of its own; `wholes`: by pairs of readers of a tensor, as a set, what they
  /// move at least together, where that is known.
  NestModel(const GroupInfo &info, std::vector<Count> floors, std::map<uint64_t, Count> wholes);

  /// The tile problem. `own[i][c]` gets the variable of operator i's private loop over class c, or none.
  static constexpr uint8_t none = 255;
  using OwnVariables = std::vector<std::vector<uint8_t>>;
  void pose(const PartialNest &nest, TileProblem &problem, OwnVariables &own) const;
  /// The plan of a nest that is decided.
  Group plan(const PartialNest &nest, const TileProblem &problem, const OwnVariables &own,
             const std::vector<unsigned> &solution) const;

  /// The shared loops of an operator, as a set of classes.
  static uint64_t shared(const OpState &state);
  /// What an operator's shared loops leave open of its operands.
  std::vector<Settled> settled(const PartialNest &nest, unsigned i) const;
  bool sweeps(const PartialNest &nest, unsigned i) const {
    const OpInfo &info = group.infos[i];
    return info.normalizes && !(info.rows & shared(nest.ops[i]));
  }
  /// The least block of a tensor inside whose users share just these loops.
  Count leastBlock(const Bound &bound, uint64_t shared) const;
  /// The least block of an operand, and of a shared slot, that stays in loops over `tiled`.
  Count leastBlock(unsigned i, unsigned k, uint64_t tiled) const;
  Count leastBlock(const PatternSlot &slot, uint64_t tiled) const {
    return product(slot.block, tiled & slot.members);
  }
  /// What an operator and the shared slots move at least.
  Count floorOf(unsigned pattern, unsigned i) const;
  Count floorOf(const PatternSlot &slot) const { return group.graph.tensors[slot.tensor].size(); }
  Count floorOf(unsigned pattern) const;
  /// What a slot and those that use no other shared slot move at least together.
  JointFloor jointFloor(unsigned pattern, unsigned s) const;
  /// Whether loops that the users of a slot may still share, inside of `around`, can bring its blocks again.
  bool mayRepeat(const PatternSlot &slot, uint64_t around) const;

  const GroupInfo &group;
  const std::vector<Count> floors; // by operator: what it moves at least
  const std::map<uint64_t, Count> wholes;
  std::vector<Bound> bounds;
  std::vector<SlotPattern> patterns;
  bool allPatterns = true;

private:
  struct Posing;
  uint64_t shareable(const Bound &bound) const;
  Count least(unsigned entry) const { return group.classes[entry].choices.back().extent; }
  Count product(uint64_t set, uint64_t tiled) const;
  uint8_t changing(const Posing &posing, unsigned i, unsigned k) const;
  void poseOperand(Posing &posing, unsigned i, unsigned k) const;
  void poseStates(Posing &posing, unsigned i) const;
  void poseBounds(Posing &posing) const;
  void poseSlot(Posing &posing, unsigned s) const;
  bool holdsSlot(const PartialNest &nest, const PatternSlot &slot, unsigned depth, unsigned i) const;
  bool isLive(const PartialNest &nest, const Bound &bound, unsigned i) const;
  Term boundTerm(const PartialNest &nest, const Bound &bound) const;
};

/// What is known of where two operators run: the loops that they share at least, and whether that is all.
unsigned sharedLoops(const OpState &a, const OpState &b, bool &apart);
/// Of two that are apart: whether the first runs first.
bool runsBefore(const OpState &a, const OpState &b);

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_PARTIALNEST_H
