//===- ElementMaps.cpp - where elements of reshapes and slices lie --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only looks at a tensor otherwise is no block of a graph: reads after it go to its source by a map.
//
//===----------------------------------------------------------------------===//
#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;

/// Dimensions that are not reshaped keep their own index, others go by their row-major position in their group.
static AffineMap getReshapeMap(ArrayRef<ReassociationIndices> groups, bool expands, ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                               MLIRContext *context) {
  // (A scalar has no group: all of its source's dimensions are of length 1.)
  if (groups.empty())
    return AffineMap::get(from.size(), 0, SmallVector<AffineExpr>(to.size(), getAffineConstantExpr(0, context)), context);
  SmallVector<AffineExpr> results;
  for (auto [g, group] : llvm::enumerate(groups)) {
    AffineExpr linear = getAffineConstantExpr(0, context);
    if (expands) { // the source has one dimension for each group of the result's
      for (int64_t d : group)
        linear = linear * from[d] + getAffineDimExpr(d, context);
      results.push_back(linear);
      continue;
    }
    SmallVector<AffineExpr> indices;
    AffineExpr rest = getAffineDimExpr(g, context);
    for (int64_t d : llvm::reverse(group)) {
      int64_t extent = std::max<int64_t>(to[d], 1);
      bool isFirst = d == group.front();
      indices.push_back(isFirst ? rest : rest % extent);
      rest = rest.floorDiv(extent);
    }
    llvm::append_range(results, llvm::reverse(indices));
  }
  return simplifyAffineMap(AffineMap::get(from.size(), 0, results, context));
}

static AffineMap getSliceMap(SubsetAccessOpInterface slice) {
  SmallVector<OpFoldResult> offsets = slice.getSubsetOffsets(), strides = slice.getSubsetStrides();
  if (!llvm::all_of(llvm::concat<OpFoldResult>(offsets, strides), [](OpFoldResult value) { return isa<Attribute>(value); }))
    return AffineMap();
  MLIRContext *context = slice.getContext();
  llvm::SmallBitVector dropped = slice.getSubsetDroppedDims();
  SmallVector<AffineExpr> results;
  unsigned next = 0;
  for (auto [d, offset, stride] : llvm::enumerate(offsets, strides)) {
    AffineExpr position = dropped.test(d) ? getAffineConstantExpr(0, context) : getAffineDimExpr(next++, context);
    results.push_back(position * *getConstantIntValue(stride) + *getConstantIntValue(offset));
  }
  return AffineMap::get(next, 0, results, context);
}

AffineMap mlir::ft::getElementMap(Operation *op) {
  if (auto access = dyn_cast<SubsetAccessOpInterface>(op); access && access.isSlice())
    return getSliceMap(access);
  auto reshape = dyn_cast<ReassociativeReshapeOpInterface>(op);
  if (!reshape)
    return AffineMap();
  ArrayRef<int64_t> from = reshape.getResultType().getShape(), to = reshape.getBaseType().getShape();
  if (ShapedType::isDynamicShape(from) || ShapedType::isDynamicShape(to))
    return AffineMap();
  return getReshapeMap(reshape.getReassociation(), reshape.isExpansion(), from, to, op->getContext());
}
