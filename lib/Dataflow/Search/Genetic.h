//===- Genetic.h - DAT's genetic algorithm ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_DATAFLOW_SEARCH_GENETIC_H
#define LIB_DATAFLOW_SEARCH_GENETIC_H

#include "ft/Dataflow/Search/Search.h"

namespace ft::dataflow::exact {

struct GeneticOptions {
  unsigned population = 24;
  unsigned generations = 60;
  double seconds = 0; // 0: all generations
};

/// Improves a schedule by evolution (DAT §4.1): individuals have a fusion flag for each binding
/// tensor, a priority and loops for each operator. Nothing if it finds none better than `seed`.
std::optional<std::vector<GroupResult>> evolveSchedule(const Graph &graph, const Options &options,
                                                       const std::vector<Group> &seed,
                                                       const GeneticOptions &genetic);

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_GENETIC_H
