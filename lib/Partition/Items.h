//===- Items.h - the nests at the top of a graph ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_PARTITION_ITEMS_H
#define FT_LIB_PARTITION_ITEMS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::ft::partition {

/// Items of a group, by their numbers, in the order in which they run.
using Group = SmallVector<unsigned>;

/// What stands at the top of a graph and computes: nests, blocks, kernels, variants; and what each needs of the others.
class Items {
public:
  explicit Items(etdg::GraphOp graph);

  unsigned size() const { return unsigned(ops.size()); }
  Operation *operator[](unsigned number) const { return ops[number]; }
  /// Whether the item is a nest that may share a kernel with others: no kernel, no variants, and nothing says how it runs.
  bool mayJoin(unsigned number) const { return joins.test(number); }
  /// The items that one reads from.
  const llvm::BitVector &needs(unsigned number) const { return needed[number]; }
  /// Whether one of the group has to run before the item: what joins them has to wait in between.
  bool dependsOn(unsigned number, const Group &group) const {
    return llvm::any_of(group, [&](unsigned other) { return needed[number].test(other); });
  }
  /// All items, level by level: those that need nothing first, in textual order.
  SmallVector<unsigned> breadthFirst() const;

private:
  SmallVector<Operation *> ops;
  llvm::BitVector joins;
  SmallVector<llvm::BitVector> needed;
};

/// Puts the items of each group, in the given order, into one kernel; groups of one kernel or of variants stay. All groups together have all items.
void formKernels(etdg::GraphOp graph, const Items &items, ArrayRef<Group> groups);

/// Numbers all nests, and lists the edges into the nests of each kernel with their kinds.
void writeEdges(etdg::GraphOp graph);

} // namespace mlir::ft::partition

#endif // FT_LIB_PARTITION_ITEMS_H
