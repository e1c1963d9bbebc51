//===- Truth.h - is a graph right at given sizes? By enumeration -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs through all iterations of a graph at concrete lengths and looks at each
// access, the order taken literally. It uses the dialect alone: no sets, no
// Presburger library, nothing of the validator.
//
//===----------------------------------------------------------------------===//
#ifndef FTTEST_TRUTH_H
#define FTTEST_TRUTH_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include <map>
#include <set>

namespace mlir::etdg {

using Sizes = std::map<std::string, int64_t>;

/// What is wrong with the graph at these lengths, or nothing.
std::string findWrong(GraphOp graph, const Sizes &sizes);

/// Nests of top-level kernels, or blocks that stand alone there, and those that read an element of theirs.
std::set<std::pair<Operation *, Operation *>> findCrossings(GraphOp graph, const Sizes &sizes);

} // namespace mlir::etdg

#endif // FTTEST_TRUTH_H
