//===- DynamicSlices.cpp - slices whose offset is data --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slice at a constant offset is an access map. At an offset that is computed it is a
// tensor expression of its own, in which each element finds its index.
//
//===----------------------------------------------------------------------===//
#include "DynamicSlices.h"

#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;

/// A part that is a tensor; sizes and strides are constants, some offset is not.
static bool hasDynamicOffset(SubsetAccessOpInterface op) {
  auto isNumber = [](OpFoldResult value) { return isa<Attribute>(value); };
  return !op.isScalar() && !llvm::all_of(op.getSubsetOffsets(), isNumber) && llvm::all_of(op.getSubsetSizes(), isNumber) &&
         llvm::all_of(op.getSubsetStrides(), isNumber);
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

static Value expandRead(SubsetAccessOpInterface op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> offsets = getValueOrCreateConstantIndexOp(b, loc, op.getSubsetOffsets());
  SmallVector<OpFoldResult> strides = op.getSubsetStrides();
  llvm::SmallBitVector dropped = op.getSubsetDroppedDims();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return makeGeneric(b, loc, type, {}, [&](OpBuilder &nested, ArrayRef<Value> point, ValueRange) {
    SmallVector<Value> at;
    for (unsigned d = 0, kept = 0; d < offsets.size(); ++d) {
      Value index = offsets[d];
      if (!dropped.test(d)) {
        Value step = arith::MulIOp::create(nested, loc, point[kept++], constant(nested, loc, *getConstantIntValue(strides[d])));
        index = arith::AddIOp::create(nested, loc, index, step);
      }
      at.push_back(index);
    }
    return tensor::ExtractOp::create(nested, loc, op.getBase(), at);
  });
}

static Value expandWrite(SubsetAccessOpInterface op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> offsets = getValueOrCreateConstantIndexOp(b, loc, op.getSubsetOffsets());
  SmallVector<OpFoldResult> sizes = op.getSubsetSizes(), strides = op.getSubsetStrides();
  llvm::SmallBitVector dropped = op.getSubsetDroppedDims();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return makeGeneric(
      b, loc, type, op.getBase(), [&](OpBuilder &nested, ArrayRef<Value> point, ValueRange args) {
        Value inside;
        SmallVector<Value> at;
        auto require = [&](arith::CmpIPredicate predicate, Value x, int64_t y) {
          Value test = arith::CmpIOp::create(nested, loc, predicate, x, constant(nested, loc, y));
          inside = inside ? arith::AndIOp::create(nested, loc, inside, test).getResult() : test;
        };
        for (unsigned d = 0; d < offsets.size(); ++d) {
          int64_t size = *getConstantIntValue(sizes[d]), stride = *getConstantIntValue(strides[d]);
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
        Value fresh = tensor::ExtractOp::create(nested, loc, op.getUpdate(), at);
        return arith::SelectOp::create(nested, loc, inside, fresh, args[0]);
      });
}

static bool isEmpty(RankedTensorType type) { return type.getNumElements() == 0; }

void mlir::ft::expandDynamicSlices(func::FuncOp function) {
  SmallVector<SubsetAccessOpInterface> accesses;
  for (auto access : function.getBody().front().getOps<SubsetAccessOpInterface>())
    if (hasDynamicOffset(access))
      accesses.push_back(access);
  for (SubsetAccessOpInterface access : accesses) {
    auto type = cast<RankedTensorType>(access->getResult(0).getType());
    if (!type.hasStaticShape() || isEmpty(type))
      continue;
    Value made = access.getBase(); // where nothing goes anywhere
    if (!access.isWrite())
      made = expandRead(access);
    else if (!isEmpty(cast<RankedTensorType>(access.getUpdate().getType())))
      made = expandWrite(access);
    access->getResult(0).replaceAllUsesWith(made);
    access->erase();
  }
}
