//===- LeafColumns.h - leaves whose columns several calls share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After the bar, a leaf has dimensions of its own. Along one of them, its columns,
// calls may share a leaf where column c of all that it computes depends on column c
// alone of what it computed before (Columns.cpp): cores on a CPU, thread blocks
// on a GPU.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_LEAFCOLUMNS_H
#define FT_SCHEDULE_ANALYSIS_LEAFCOLUMNS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Machine/CpuPlanning.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace mlir::ft::schedule {

using etdg::BlockOp;
struct LeafForm;
class LeafForms;

/// What the search for columns takes: from how many columns on, and by which factor the work that is
/// shared has to exceed what each call repeats.
struct ColumnLimits {
  int64_t least = 2, repeat = 1;
};

/// The number of columns that the leaves of one block's body can share, with `wanted` no other; 0: they cannot.
int64_t shareColumns(BlockOp block, ArrayRef<LeafForm *> leaves, ColumnLimits limits, int64_t wanted = 0);

/// A leaf's columns as a CPU's calls share them.
struct LeafColumns {
  int64_t count = 0; // 0: calls cannot share the leaf
  /// Whether neighbouring columns of a result are neighbours in memory.
  bool adjacent = false;
  /// By nest of the leaf's graph, as it is built for `batched`: the loop over the columns, -1: none.
  SmallVector<int> loops;
};

/// Of each read of a leaf, whether it differs between the rows along `row`, where the rows are alike otherwise.
SmallVector<bool> batchedReads(BlockOp leaf, std::optional<unsigned> row);

/// The `wanted` columns of a function of tensors on rows; `batched` says of each argument whether it differs from row to row.
LeafColumns findLeafColumns(func::FuncOp function, ArrayRef<bool> batched, int64_t wanted);

/// The columns of a leaf that calls may share on a machine. `batched` says of each read whether it differs from row to row. A leaf that asks for the number of a column (`linalg.index`), or has reads that are put together before it
/// runs, has none; nor one that reads a buffer that it writes, unless it is run `inSteps`: then all that it reads there is
/// of earlier iterations, in planes of their own, after which the cores have waited.
LeafColumns chooseLeafColumns(BlockOp leaf, ArrayRef<bool> batched, const CpuPlanning &planning, LeafForms &forms, bool inSteps = false);

/// The `wanted` columns of a leaf, where it is given so many, whatever that costs.
LeafColumns findLeafColumns(BlockOp leaf, ArrayRef<bool> batched, int64_t wanted, bool inSteps = false);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_LEAFCOLUMNS_H
