//===- TileSolver.h - tiles of a fixed loop structure -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With orders, sharing and hold depths fixed, traffic is a sum of products of
// trip counts, and every operator's use a sum of products of tiles: fewer,
// larger tiles move less and hold more (DAT §4.2's program). This finds the
// optimum by branch and bound over boxes of tile choices. In a box the largest
// tiles bound the traffic and the smallest ones the use.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_SEARCH_TILESOLVER_H
#define LIB_DATAFLOW_SEARCH_TILESOLVER_H

#include "ft/Dataflow/Graph/Count.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ft::dataflow::exact {

/// A choice of tiles for one loop: sizes and trips of the dimensions that it walks (several if they
/// are always walked together), the largest tile first.
struct TileChoice {
  Count extent = 1, trips = 1;  // products over the dimensions
  std::vector<Count> tiles;
};
using TileList = std::vector<TileChoice>;

/// coefficient × ∏ of one number of each of the variables.
struct Term {
  Count coefficient = 1;
  std::vector<uint8_t> variables;
};

/// max(floor, Σ coefficient × ∏ trips - offset): `floor` is known to be moved whatever the tiles are.
struct TrafficPart {
  Count floor = 0, offset = 0;
  std::vector<Term> terms;
};

/// Parts of which each moves at least what it does by itself less what one of them, a shared slot, moves for it.
struct JointFloor {
  struct User {
    unsigned part = 0;
    Count own = 0, alone = 0; // what it moves at least beside the slot; by itself, its own reads of the tensor included
  };
  unsigned slot = 0; // the slot's part
  bool isFixed = false; // whether the slot moves just what its part says; else that or more
  std::vector<User> users;
  /// Σ over pairs of users of what each moves at least together with the slot; 0 where that is not known.
  Count pairs = 0;
  /// What these say of all together, if the slot moves `volume`: summed over pairs, each user counts m - 1 times, the slot m(m - 1)/2 times.
  Count byPairs(Count volume) const;
  /// The least of all together, if the slot moves `volume`.
  Count least(Count volume) const;
};

struct TileProblem {
  /// The choices of each variable, and the first one that is allowed.
  std::vector<const TileList *> choices;
  std::vector<unsigned> first;
  /// Traffic: Σ over parts.
  std::vector<TrafficPart> traffic;
  std::vector<JointFloor> joint;
  /// Use of each operator: Σ over parts of max over terms of coefficient × ∏ extents.
  std::vector<std::vector<std::vector<Term>>> uses;
  Count buffer = 0;
};

class TileSolver {
public:
  /// Looks at no more than `limit` boxes (0: at all that matter).
  TileSolver(const TileProblem &problem, double gap, Count &nodes, Count limit = 0)
      : problem(problem), gap(gap), nodes(nodes), limit(limit) {}

  /// The least traffic below `cutoff`, within a factor of 1+gap; false if none is found. `solution` gets
  /// the choices.
  bool solve(Count cutoff, Count &least, std::vector<unsigned> &solution);
  /// Whether there is any traffic below `cutoff`.
  bool isFeasible(Count cutoff);
  /// After `solve`: no tiles move less, but for those that move `cutoff` or more.
  Count lowerBound() const { return bound; }

private:
  using Box = std::vector<unsigned>;
  Count traffic(const Box &at) const;
  bool fits(const Box &at) const;
  bool tighten(Box &low, Box &high);
  void branch(Box low, Box high);
  bool hopeless(Count bound) const {
    return bound >= best || double(bound) * (1 + gap) >= double(best);
  }
  bool start(Count cutoff);

  const TileProblem &problem;
  double gap;
  Count &nodes;
  Count limit, looked = 0;
  Count best = tooLarge, bound = 0;
  Count leftOut = tooLarge; // the least that a box may move which was not looked at
  bool found = false, anyWillDo = false;
  std::vector<unsigned> choice;
};

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_TILESOLVER_H
