//===- BestPartition.h - the cheapest partition into groups -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traffic is a sum over groups, so the best fusion is the cheapest partition of
// the operators into sets that may be groups: a dynamic program over what is
// left, whose first operator some set must take.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_SEARCH_BESTPARTITION_H
#define LIB_DATAFLOW_SEARCH_BESTPARTITION_H

#include "FusibleSets.h"

#include <map>

namespace ft::dataflow::exact {

class BestPartition {
public:
  BestPartition(const Graph &graph, const std::vector<Set> &sets);

  /// What a set costs, by its number; tooLarge: it can't be used.
  using Value = std::function<Count(size_t)>;

  /// The least sum for a partition of `whole`; the sets' numbers in `parts`, if asked.
  Count best(const Set &whole, const Value &value, std::vector<size_t> *parts = nullptr) const;
  /// The same for all operators, of partitions whose sets can run one after another. `best` does not
  /// ask that, and so is a bound of this; where its answer can run it is the answer.
  Count bestThatRuns(const Value &value, std::vector<size_t> &parts) const;
  Set all() const;

private:
  using Mask = std::vector<uint64_t>;
  Mask maskOf(const Set &set) const;
  bool canRun(const std::vector<size_t> &parts) const;
  Count inOrder(const Value &value, std::vector<size_t> &parts) const;

  const Graph &graph;
  const std::vector<Set> &sets;
  std::vector<Mask> masks, needs;               // by set: its operators; the producers that it needs
  std::vector<std::vector<size_t>> startingAt; // by operator: sets whose first one it is
};

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_BESTPARTITION_H
