//===- Values.cpp - small computations ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, casts and broadcasts of values.
//
//===----------------------------------------------------------------------===//
#include "Functionalize.h"

using namespace mlir;
using namespace mlir::tssa;

OpFoldResult mlir::tssa::sizeOf(OpBuilder &b, Location loc, Value tensor, int64_t dim) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return b.getIndexAttr(size);
  return tensor::DimOp::create(b, loc, tensor, dim).getResult();
}

static Value zeroOf(OpBuilder &b, Location loc, RankedTensorType type, Value like) {
  TypedAttr zero = b.getZeroAttr(type.getElementType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(zero)));
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(cast<Value>(sizeOf(b, loc, like, d)));
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  Value scalar = arith::ConstantOp::create(b, loc, zero);
  return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
}

/// `value` with elements of type `to`: floats to integers toward zero, to i1 by `!= 0`.
static Value castElements(OpBuilder &b, Location loc, Value value, Type to) {
  auto type = cast<RankedTensorType>(value.getType());
  Type from = type.getElementType();
  if (from == to)
    return value;
  RankedTensorType result = type.clone(to);
  if (to.isInteger(1)) {
    Value zero = zeroOf(b, loc, type, value);
    if (isa<FloatType>(from))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    unsigned width = from.getIntOrFloatBitWidth(), wanted = to.getIntOrFloatBitWidth();
    if (wanted > width)
      return arith::ExtFOp::create(b, loc, result, value);
    if (wanted < width)
      return arith::TruncFOp::create(b, loc, result, value);
    // f16 and bf16 into each other.
    Value wide = arith::ExtFOp::create(b, loc, type.clone(b.getF32Type()), value);
    return arith::TruncFOp::create(b, loc, result, wide);
  }
  if (isa<FloatType>(from)) {
    if (!to.isIndex())
      return arith::FPToSIOp::create(b, loc, result, value);
    Value wide = arith::FPToSIOp::create(b, loc, type.clone(b.getI64Type()), value);
    return arith::IndexCastOp::create(b, loc, result, wide);
  }
  if (isa<FloatType>(to)) {
    if (from.isIndex())
      value = arith::IndexCastOp::create(b, loc, type.clone(b.getI64Type()), value);
    if (from.isInteger(1))
      return arith::UIToFPOp::create(b, loc, result, value);
    return arith::SIToFPOp::create(b, loc, result, value);
  }
  if (from.isIndex() || to.isIndex()) {
    if (from.isInteger(1))
      return arith::IndexCastUIOp::create(b, loc, result, value);
    return arith::IndexCastOp::create(b, loc, result, value);
  }
  if (to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, result, value);
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, loc, result, value);
  return arith::ExtSIOp::create(b, loc, result, value);
}

/// `value` without the dimensions of size 1 that `dropped` marks.
static Value dropUnitDims(OpBuilder &b, Location loc, Value value, const llvm::SmallBitVector &dropped) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      ones(type.getRank(), b.getIndexAttr(1)), sizes;
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    sizes.push_back(dropped.test(d) ? OpFoldResult(b.getIndexAttr(1)) : sizeOf(b, loc, value, d));
    if (!dropped.test(d))
      shape.push_back(type.getDimSize(d));
  }
  return tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                        value, offsets, sizes, ones);
}

static Value broadcastTo(OpBuilder &b, Location loc, Value value, RankedTensorType type,
                         function_ref<OpFoldResult(unsigned)> sizeOfDim) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  int64_t extra = type.getRank() - from.getRank();
  // A dimension of size 1 is repeated, unless the destination's is 1 too.
  llvm::SmallBitVector dropped(from.getRank());
  SmallVector<int64_t> added;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    bool repeated = d < extra || (from.getDimSize(d - extra) == 1 && type.getDimSize(d) != 1);
    if (repeated)
      added.push_back(d);
    if (repeated && d >= extra)
      dropped.set(d - extra);
  }
  if (auto constant = value.getDefiningOp<arith::ConstantOp>(); constant && type.hasStaticShape())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
  if (added.empty())
    return tensor::CastOp::create(b, loc, type, value);
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d)) {
      OpFoldResult size = sizeOfDim(d);
      sizes.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
    }
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  if (auto scalar = value.getDefiningOp<tensor::FromElementsOp>(); scalar && from.getRank() == 0)
    return linalg::FillOp::create(b, loc, scalar.getElements()[0], empty).getResult(0);
  if (dropped.any())
    value = dropUnitDims(b, loc, value, dropped);
  return linalg::BroadcastOp::create(b, loc, value, empty, added)->getResult(0);
}

Value mlir::tssa::convertTo(OpBuilder &b, Location loc, Value value, RankedTensorType type,
                            function_ref<OpFoldResult(unsigned)> sizeOfDim) {
  // Fewer elements are cast first; a constant's cast folds.
  value = castElements(b, loc, value, type.getElementType());
  return broadcastTo(b, loc, value, type, sizeOfDim);
}
