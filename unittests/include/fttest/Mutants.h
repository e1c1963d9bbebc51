//===- Mutants.h - one small change of a scheduled graph --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FTTEST_MUTANTS_H
#define FTTEST_MUTANTS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir::etdg {

struct Mutant {
  std::string kind;
  std::string what; // for messages
  /// Changes a copy of the graph that the mutant was made for.
  std::function<void(GraphOp)> apply;
};

/// All mutants of a graph, kind by kind.
std::vector<Mutant> makeMutants(GraphOp graph);

} // namespace mlir::etdg

#endif // FTTEST_MUTANTS_H
