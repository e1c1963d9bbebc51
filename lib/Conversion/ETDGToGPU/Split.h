//===- Split.h - leaves whose columns blocks of threads share ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a recurrence often has fewer points than a GPU has multiprocessors,
// but each point is a cell whose results have hundreds of columns. Where column
// c of all that the body of a block computes depends on column c alone of what
// it computed before (it may read all columns of what other iterations left),
// several blocks of threads can compute one point, some columns each, and need
// not wait for each other.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOGPU_SPLIT_H
#define FT_LIB_CONVERSION_ETDGTOGPU_SPLIT_H

#include "LeafEmitter.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ft::togpu {

/// A leaf as loop nests over buffers.
struct LeafForm {
  etdg::BlockOp block;
  OwningOpRef<ModuleOp> module; // what the graph's operations live in
  leaf::LeafGraph graph;
  SmallVector<NestSplit> splits; // by nest, where columns are shared
};

/// The number of columns that the leaves of one block's body (all that one iteration of it
/// runs) can share, and how each nest does; 0: they cannot.
int64_t shareColumns(etdg::BlockOp block, ArrayRef<LeafForm *> leaves);

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_ETDGTOGPU_SPLIT_H
