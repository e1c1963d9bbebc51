//===- Timeline.h - what the buffer holds over time -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first steps of a group's loop nest: which operator computes a tile, and
// which block of which tensor is in the buffer meanwhile (rules `exact`,
// LoopTree.h). For pictures; the simulator (`simulate`) is what counts.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_LOOPTREE_TIMELINE_H
#define FT_DATAFLOW_LOOPTREE_TIMELINE_H

#include "ft/Dataflow/LoopTree/LoopTree.h"

namespace ft::dataflow {

/// A block stays in the buffer from one step to before another.
struct Stay {
  Count from = 0, to = 0;
  Count number = 0; // how many blocks of this row came before
};

/// One slot of the buffer, or a tensor between operators.
struct TimelineRow {
  std::string tensor, op; // op: whose slot it is; empty for a tensor between operators
  Count elements = 0;     // of a block
  std::vector<Stay> stays;
};

struct Timeline {
  std::vector<std::string> steps; // the operator of each step that is shown
  Count allSteps = 0;             // of the whole nest
  std::vector<TimelineRow> rows;
};

/// The first `most` steps of a legal group.
Timeline timelineOf(const Graph &graph, const exact::Group &group, Count most);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_LOOPTREE_TIMELINE_H
