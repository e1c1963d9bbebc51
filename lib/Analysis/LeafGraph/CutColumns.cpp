//===- CutColumns.cpp - a call for some columns of a leaf -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that share the columns of a leaf each compute `tile` of them. Memory stays
// that of the whole leaf; the first column, which the call is given, moves each view
// that walks the columns.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/LeafGraph/LeafGraph.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

void mlir::ft::leaf::cutColumns(LeafGraph &graph, const ColumnCut &cut) {
  for (auto [nest, loop] : llvm::zip_equal(graph.nests, cut.loops)) {
    if (loop < 0)
      continue;
    nest.sizes[loop] = cut.tile;
    for (NestMember &member : nest.members)
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        for (ElementView &view : *views)
          if (!view.isSplat()) {
            view.columnStride = view.strides[loop];
            for (Border &border : view.borders)
              border.columnStride = border.strides[loop];
          }
  }
}
