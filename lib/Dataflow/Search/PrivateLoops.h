//===- PrivateLoops.h - the loops that an operator shares with nothing -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside the loops that it shares with others, an operator walks the rest of its
// dimensions by itself. Their order and the hold depths of its operands matter
// only through sets: by which of these loops an operand is moved again, and in
// which of them its block is a tile. Of all orders and depths those remain that
// no other is at least as good as, whatever the tiles are.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_SEARCH_PRIVATELOOPS_H
#define LIB_DATAFLOW_SEARCH_PRIVATELOOPS_H

#include "GroupInfo.h"

namespace ft::dataflow::exact {

struct PrivatePlan {
  struct Use {
    uint64_t repeats = 0; // loops by which the operand is moved again
    uint64_t tiled = 0;   // loops in which its block is a tile; in the others it is whole
    bool twice = false;   // read in both sweeps over the rows
    uint8_t hold = 0;     // private loops around the block
    bool operator==(const Use &) const = default;
  };
  std::vector<uint8_t> order; // classes, outermost first
  /// Whether the rows of a normalising operator are one tile.
  bool rowWhole = false;
  /// By operand; of those that these loops settle.
  std::vector<Use> operands;
  /// Loops in which the states of rows are a tile.
  uint64_t statesTiled = 0;
};

/// What the shared loops leave open of an operand from outside.
enum class Settled : uint8_t {
  Yes,     // its block depends on no private loop
  Free,    // its block may stay while all private loops run
  Changes, // a private loop changes its block: it is moved again by shared loops
};

/// The plans worth a look for operator `info` and these private classes, of which the loops over
/// `divisible` ones can have several iterations. `doubled`: a block that changes is reserved twice.
/// `sweeps`: its rows are among the classes and it normalises.
std::vector<PrivatePlan> privatePlans(const OpInfo &info, uint64_t classes, uint64_t divisible,
                                      bool doubled, const std::vector<Settled> &operands,
                                      bool sweeps);

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_PRIVATELOOPS_H
