//===- ElementCuts.h - boxes of an element with the same pieces -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_ETDGTOLOOPS_ELEMENTCUTS_H
#define FT_LIB_CONVERSION_ETDGTOLOOPS_ELEMENTCUTS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::ft::toloops {

/// Scalars of an element, [begin, end) along each dimension, and the pieces that some of them have. Their sets
/// hold no test of one dimension of the element alone any more.
struct ElementBox {
  SmallVector<int64_t> begin, end;
  SmallVector<etdg::PieceAttr> pieces;
};

/// The boxes between the places where a piece's test of one dimension of the element changes its answer, in order;
/// the whole element where there would be too many. `numDims`: the block's dimensions, before the element's.
SmallVector<ElementBox> cutElement(ArrayRef<etdg::PieceAttr> pieces, ArrayRef<int64_t> shape, unsigned numDims);

/// Whether a set has a constraint on dimensions from `first` on.
bool testsElement(IntegerSet set, unsigned first);

} // namespace mlir::ft::toloops

#endif // FT_LIB_CONVERSION_ETDGTOLOOPS_ELEMENTCUTS_H
