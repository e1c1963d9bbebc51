//===- Modes.h - ways to cut a graph into kernels ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_PARTITION_MODES_H
#define FT_LIB_PARTITION_MODES_H

#include "Prices.h"

namespace mlir::ft::partition {

/// A kernel for each item, in textual order.
SmallVector<Group> boundaries(const Items &items);

/// Algorithm 1 of Souffle §6.6: breadth first, cut at compute-intensive nests where the resources of one wave are used up.
SmallVector<Group> followSouffle(etdg::GraphOp graph, const Items &items, Prices &prices, const GpuScheduleOptions &options);

/// Groups of least price, of at most `longest` items; `beam`: how many partial choices are kept where items are no chain.
SmallVector<Group> chooseByPrice(etdg::GraphOp graph, const Items &items, Prices &prices, unsigned beam, unsigned longest);

/// Any legal groups, by a seed: for tests.
SmallVector<Group> draw(const Items &items, uint64_t seed);

} // namespace mlir::ft::partition

#endif // FT_LIB_PARTITION_MODES_H
