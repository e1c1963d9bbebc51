//===- NestSearch.h - the best loop nest, from the outermost loop in -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest is a tree of loops. This search decides it from the root: a body - the
// inside of a loop, with the operators that share it - is cut into what runs
// one after another: operators by themselves, and sets that share one more
// loop. Then it decides, for every operand that a new loop does not change,
// whether its block stays while the loop runs. What is not decided yet counts as
// little as it possibly can, and tiles are solved for at every step
// (TileSolver.h), so a partial nest has a lower bound; the one with the least is
// taken up next. The outermost loops move most, and they are decided first.
//
// What is left out, because something else is as good:
//  * a shared loop of one iteration;
//  * a loop shared by operators that no tensor binds which all its users share
//    it: the parts one after another hold less.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_SEARCH_NESTSEARCH_H
#define LIB_DATAFLOW_SEARCH_NESTSEARCH_H

#include "ft/Dataflow/Search/Search.h"

#include <map>
#include <memory>

namespace ft::dataflow::exact {

/// What single operators move at least by themselves: by operator of the graph; 0 where unknown.
using AloneBounds = std::vector<Count>;
/// What operators (sorted) that read one tensor move at least as a group of their own, whatever slots they share.
using JointBounds = std::map<std::vector<int>, Count>;

class NestSearch {
public:
  /// Of the sorted operators as one group, within a factor of 1+gap.
  NestSearch(const Graph &graph, const std::vector<int> &ops, const Options &options, double gap,
             const AloneBounds &alone = {}, const JointBounds &joint = {});
  ~NestSearch();

  /// Looks for a nest that moves less than `cutoff`, until it is decided, `stop` says so, or so many
  /// more partial nests were looked at (0: no limit). May be called again, with no larger cutoff.
  void advance(Count cutoff, Count limit, const std::function<bool()> &stop);

  /// No legal nest that fits moves less.
  Count lowerBound() const;
  /// Whether nothing is left to look at that may be better than `best` or the cutoff by more than the gap.
  bool finished() const;
  /// Whether that proves it: `best` is optimal within the gap, or nothing is better than the cutoff by more than it.
  bool complete() const;
  const std::optional<GroupResult> &best() const;
  Count nodes() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_NESTSEARCH_H
