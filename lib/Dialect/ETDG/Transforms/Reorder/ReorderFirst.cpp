//===- ReorderFirst.cpp - another dimension outermost ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interchange, asked of a nest's distances: divisions (Distribute.h) keep the steps of one layer
// together where a program goes through the layers of one step.
//
//===----------------------------------------------------------------------===//
#include "ReorderSchedule.h"
#include "ft/Dialect/ETDG/Transforms/Distribute.h"

using namespace mlir;
using namespace mlir::etdg;

/// Whether a distance points forward, or nowhere, where dimension `first` is compared before the others.
static bool pointsForward(ArrayRef<DistanceRange> distance, unsigned first) {
  SmallVector<DistanceRange> moved(1, distance[first]);
  for (auto [d, range] : llvm::enumerate(distance))
    if (d != first)
      moved.push_back(range);
  for (const DistanceRange &range : moved) {
    if (!range.low || *range.low < 0)
      return false;
    if (*range.low > 0)
      return true;
  }
  return true;
}

bool etdg::mayComeFirst(GraphOp graph, Operation *item, unsigned first) {
  DependenceAnalysis analysis(graph);
  TypicalLengths lengths(graph);
  return llvm::all_of(getDivisionSites(item), [&](const DivisionSite &site) {
    if (first >= site.sequential.size())
      return false;
    reorder::Nest nest = reorder::analyzeNest(site.op, analysis, lengths);
    if (nest.culprit || nest.ranges.size() != nest.numOwn)
      return false;
    return llvm::all_of(nest.distances, [&](ArrayRef<DistanceRange> distance) {
      return pointsForward(distance, site.sequential[first]);
    });
  });
}
