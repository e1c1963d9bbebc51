//===- ReorderSplit.h - imperfect nests as one nest -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSPLIT_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSPLIT_H

#include "ReorderKernels.h"
#include <deque>

namespace mlir::etdg::reorder {

/// What is to be done to a graph.
struct ReorderPlan {
  std::deque<Nest> nests; // addresses stay
  SmallVector<KernelGroup, 0> groups;
  SmallVector<GroupRefusal, 0> refusals;

  /// The group that an item is in; null where it is in none.
  const KernelGroup *groupOf(Operation *item) const {
    const KernelGroup *in = nullptr;
    for (const KernelGroup &group : groups)
      for (const GroupMember &member : group.members)
        if (member.nest->op == item)
          in = &group;
    return in;
  }
};
ReorderPlan makePlan(GraphOp graph, DependenceAnalysis &analysis, const TypicalLengths &lengths);

/// What becomes of the items of a body.
enum class Distribution {
  /// Regions of one nest, the number of the item being a dimension of it.
  OneNest,
  /// Those that need each other a nest, parts in the order in which they need each other.
  Parts,
  /// Each a nest of its own: the parent's dimensions are all parallel.
  Each
};

/// A nest or lone block whose body could be distributed.
struct Site {
  Operation *item;
  Distribution kind;
};

/// The nests and lone blocks of a body, but those inside kernels.
SmallVector<Operation *> getItems(Region &body);

/// An item of region `parent` of a site, and its number among those of the region in its part.
struct PartItem {
  Operation *item;
  unsigned parent, number;
};
struct SitePart {
  SmallVector<PartItem> items;
  /// Some region has several items in it.
  bool isNumbered = false;
};
/// The items of a site's body by whether they need each other, from iteration to iteration;
/// a part comes after all that it needs.
SmallVector<SitePart> findParts(Operation *site);

/// Whether every private buffer can get the parent's dimensions as indices.
bool canDistribute(const Site &site, const SymbolSpace &space);
/// Takes the nest or block apart; the nests and blocks that stand now.
SmallVector<Operation *> distribute(const Site &site, const SymbolSpace &space);

/// Distributes nests over the items of their bodies where that gains a wavefront:
/// `scan j { map k; scan k }` becomes one nest over (j, s, k), s being the number
/// of the item. Each item then has a schedule of its own in one wavefront. What
/// nothing in the nest needs in a later iteration (the last state of each layer)
/// becomes a later nest where that takes fewer steps. A private buffer gets the
/// parent's dimensions as leading ones. Remarks say where it was done and where not.
void splitNests(GraphOp graph);

/// Splits dimensions in which all distances are multiples of some number into that many
/// chains, which are independent, where that takes fewer steps than `plan`. Returns
/// whether something changed: `plan` and its analysis are stale then.
bool splitChains(GraphOp graph, const ReorderPlan &plan);

} // namespace mlir::etdg::reorder

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERSPLIT_H
