//===- DynamicSlices.cpp - slices whose offset is data --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slice at a constant offset is an access map. At an offset that is computed it is a
// tensor expression of its own, in which each element finds its index.
//
//===----------------------------------------------------------------------===//
#include "DynamicSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;

/// Sizes and strides are constants, some offset is not.
static bool hasDynamicOffset(OffsetSizeAndStrideOpInterface op) {
  return llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) &&
         llvm::none_of(op.getStaticSizes(), ShapedType::isDynamic) &&
         llvm::none_of(op.getStaticStrides(), ShapedType::isDynamic);
}

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// A generic over all elements of `type`; `inputs` have its shape.
static Value makeGeneric(OpBuilder &b, Location loc, RankedTensorType type, ValueRange inputs,
                         function_ref<Value(OpBuilder &, ArrayRef<Value>, ValueRange)> element) {
  Value init = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, type, inputs, init, maps, iterators,
                                   [&](OpBuilder &nested, Location at, ValueRange args) {
                                     SmallVector<Value> point;
                                     for (int64_t d = 0; d < type.getRank(); ++d)
                                       point.push_back(linalg::IndexOp::create(nested, at, d));
                                     linalg::YieldOp::create(nested, at, element(nested, point, args));
                                   })
      .getResult(0);
}

static void expand(tensor::ExtractSliceOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> offsets;
  for (OpFoldResult offset : op.getMixedOffsets())
    offsets.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Value made = makeGeneric(b, loc, op.getType(), {}, [&](OpBuilder &nested, ArrayRef<Value> point, ValueRange) {
    SmallVector<Value> at;
    for (unsigned d = 0, kept = 0; d < offsets.size(); ++d) {
      Value index = offsets[d];
      if (!dropped.test(d)) {
        Value step = arith::MulIOp::create(nested, loc, point[kept++], constant(nested, loc, op.getStaticStride(d)));
        index = arith::AddIOp::create(nested, loc, index, step);
      }
      at.push_back(index);
    }
    return tensor::ExtractOp::create(nested, loc, op.getSource(), at);
  });
  op.replaceAllUsesWith(made);
  op.erase();
}

static void expand(tensor::InsertSliceOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> offsets;
  for (OpFoldResult offset : op.getMixedOffsets())
    offsets.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Value made = makeGeneric(
      b, loc, op.getType(), op.getDest(), [&](OpBuilder &nested, ArrayRef<Value> point, ValueRange args) {
        Value inside;
        SmallVector<Value> at;
        auto require = [&](arith::CmpIPredicate predicate, Value x, int64_t y) {
          Value test = arith::CmpIOp::create(nested, loc, predicate, x, constant(nested, loc, y));
          inside = inside ? arith::AndIOp::create(nested, loc, inside, test).getResult() : test;
        };
        for (unsigned d = 0; d < offsets.size(); ++d) {
          int64_t size = op.getStaticSize(d), stride = op.getStaticStride(d);
          Value distance = arith::SubIOp::create(nested, loc, point[d], offsets[d]);
          require(arith::CmpIPredicate::sge, distance, 0);
          require(arith::CmpIPredicate::sle, distance, (size - 1) * stride);
          Value index = distance;
          if (stride != 1) {
            Value by = constant(nested, loc, stride);
            require(arith::CmpIPredicate::eq, arith::RemSIOp::create(nested, loc, distance, by), 0);
            index = arith::DivSIOp::create(nested, loc, distance, by);
          }
          if (dropped.test(d))
            continue;
          // Read where nothing is chosen, too: anywhere in range.
          index = arith::MaxSIOp::create(nested, loc, index, constant(nested, loc, 0));
          at.push_back(arith::MinSIOp::create(nested, loc, index, constant(nested, loc, size - 1)));
        }
        Value fresh = tensor::ExtractOp::create(nested, loc, op.getSource(), at);
        return arith::SelectOp::create(nested, loc, inside, fresh, args[0]);
      });
  op.replaceAllUsesWith(made);
  op.erase();
}

void mlir::ft::expandDynamicSlices(func::FuncOp function) {
  SmallVector<Operation *> slices;
  for (Operation &op : function.getBody().front())
    if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) &&
        hasDynamicOffset(cast<OffsetSizeAndStrideOpInterface>(op)))
      slices.push_back(&op);
  for (Operation *op : slices) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape() || type.getNumElements() == 0)
      continue;
    if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      expand(extract);
    else if (auto insert = cast<tensor::InsertSliceOp>(op); insert.getSourceType().getNumElements() > 0)
      expand(insert);
    else { // nothing goes anywhere
      op->getResult(0).replaceAllUsesWith(insert.getDest());
      op->erase();
    }
  }
}
