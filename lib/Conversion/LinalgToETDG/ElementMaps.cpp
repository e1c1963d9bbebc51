//===- ElementMaps.cpp - where elements of reshapes and slices lie --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only looks at a tensor otherwise is no block of a graph: reads behind it go to its source by a map.
//
//===----------------------------------------------------------------------===//
#include "ElementMaps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

static AffineMap getSliceMap(tensor::ExtractSliceOp slice) {
  if (!slice.getOffsets().empty() || !slice.getStrides().empty())
    return AffineMap();
  MLIRContext *context = slice.getContext();
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<AffineExpr> results;
  unsigned next = 0;
  for (auto [d, offset, stride] : llvm::enumerate(slice.getStaticOffsets(), slice.getStaticStrides())) {
    AffineExpr position = dropped.test(d) ? getAffineConstantExpr(0, context) : getAffineDimExpr(next++, context);
    results.push_back(position * stride + offset);
  }
  return AffineMap::get(next, 0, results, context);
}

AffineMap mlir::ft::getElementMap(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return getSliceMap(slice);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!expand && !collapse)
    return AffineMap();
  SmallVector<ReassociationIndices> groups = expand ? expand.getReassociationIndices() : collapse.getReassociationIndices();
  ArrayRef<int64_t> from = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  ArrayRef<int64_t> to = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  if (ShapedType::isDynamicShape(from) || ShapedType::isDynamicShape(to))
    return AffineMap();
  return getReshapeMap(groups, bool(expand), from, to, op->getContext());
}
