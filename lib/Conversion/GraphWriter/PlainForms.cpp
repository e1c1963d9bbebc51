//===- PlainForms.cpp - operations that are a few plainer ones ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/GraphWriter/PlainForms.h"
#include "NarrowIntegers.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft;

static bool isStatic(Operation *op) {
  return llvm::all_of(llvm::concat<Value>(llvm::to_vector_of<Value>(op->getOperands()), llvm::to_vector_of<Value>(op->getResults())),
                      [](Value value) {
                        auto shaped = dyn_cast<ShapedType>(value.getType());
                        return !shaped || shaped.hasStaticShape();
                      });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static void rewrite(IRRewriter &rewriter, affine::AffineForOp loop) {
  Location loc = loop.getLoc();
  auto boundOf = [&](AffineMap map, ValueRange operands, bool isLower) -> Value {
    if (map.isSingleConstant())
      return arith::ConstantIndexOp::create(rewriter, loc, map.getSingleConstantResult());
    if (map.getNumResults() == 1)
      return affine::AffineApplyOp::create(rewriter, loc, map, operands);
    if (isLower)
      return affine::AffineMaxOp::create(rewriter, loc, map, operands);
    return affine::AffineMinOp::create(rewriter, loc, map, operands);
  };
  Value lower = boundOf(loop.getLowerBoundMap(), loop.getLowerBoundOperands(), /*isLower=*/true);
  Value upper = boundOf(loop.getUpperBoundMap(), loop.getUpperBoundOperands(), /*isLower=*/false);
  Value step = arith::ConstantIndexOp::create(rewriter, loc, loop.getStepAsInt());
  auto made = scf::ForOp::create(rewriter, loc, lower, upper, step, loop.getInits());
  Block *body = made.getBody();
  if (!body->empty())
    rewriter.eraseOp(body->getTerminator());
  rewriter.mergeBlocks(loop.getBody(), body, body->getArguments());
  auto yield = cast<affine::AffineYieldOp>(body->getTerminator());
  rewriter.setInsertionPoint(yield);
  rewriter.replaceOpWithNewOp<scf::YieldOp>(yield, yield.getOperands());
  rewriter.replaceOp(loop, made);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static void rewrite(IRRewriter &rewriter, linalg::PackOp op) { (void)linalg::lowerPack(rewriter, op); }
static void rewrite(IRRewriter &rewriter, linalg::UnPackOp op) { (void)linalg::lowerUnPack(rewriter, op); }

/// Values that are not one constant, or one value from outside.
static void rewrite(IRRewriter &rewriter, tensor::PadOp op) {
  if (op.getConstantPaddingValue())
    return;
  Location loc = op.getLoc();
  RankedTensorType type = op.getResultType();
  auto around = tensor::GenerateOp::create(rewriter, loc, type, ValueRange());
  rewriter.inlineRegionBefore(op.getRegion(), around.getBody(), around.getBody().end());
  SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), op.getSourceType().getShape());
  Value padded = tensor::InsertSliceOp::create(rewriter, loc, op.getSource(), around, op.getMixedLowPad(), sizes, ones);
  rewriter.replaceOp(op, padded);
}

/// Coordinate `number` of each place that is gathered from, over all others but the last dimension of the indices.
static Value coordinateOf(IRRewriter &rewriter, tensor::GatherOp op, int64_t number) {
  auto type = cast<RankedTensorType>(op.getIndices().getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)), strides(type.getRank(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  offsets.back() = rewriter.getIndexAttr(number);
  sizes.back() = rewriter.getIndexAttr(1);
  auto reduced = RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
  return tensor::ExtractSliceOp::create(rewriter, op.getLoc(), reduced, op.getIndices(), offsets, sizes, strides);
}

static void rewrite(IRRewriter &rewriter, tensor::GatherOp op) {
  RankedTensorType type = op.getResultType(), source = op.getSourceType();
  int64_t rank = type.getRank(), batch = cast<RankedTensorType>(op.getIndices().getType()).getRank() - 1;
  bool keepsUnits = rank == batch + source.getRank();
  SmallVector<Value> coordinates;
  SmallVector<AffineMap> maps;
  for (int64_t i = 0, e = op.getGatherDims().size(); i < e; ++i) {
    coordinates.push_back(coordinateOf(rewriter, op, i));
    maps.push_back(AffineMap::getMultiDimIdentityMap(rank, rewriter.getContext()).getMajorSubMap(batch));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(rank, rewriter.getContext()));
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange(type), coordinates, ValueRange(empty), maps, parallel, [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> place;
        unsigned next = batch, given = 0;
        for (int64_t d = 0; d < source.getRank(); ++d) {
          const auto *at = llvm::find(op.getGatherDims(), d);
          if (at == op.getGatherDims().end()) {
            place.push_back(linalg::IndexOp::create(b, loc, next++));
            continue;
          }
          next += keepsUnits;
          Value index = arguments[given++];
          place.push_back(index.getType().isIndex() ? index : arith::IndexCastOp::create(b, loc, b.getIndexType(), index).getResult());
        }
        linalg::YieldOp::create(b, loc, tensor::ExtractOp::create(b, loc, op.getSource(), place).getResult());
      });
}

void graphwriter::rewritePlainForms(func::FuncOp function) {
  widenNarrowIntegers(function);
  IRRewriter rewriter(function.getContext());
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    bool isTensor = isa<linalg::PackOp, linalg::UnPackOp, tensor::PadOp, tensor::GatherOp>(op) && isStatic(op);
    if (isTensor || isa<affine::AffineForOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    rewriter.setInsertionPoint(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case<affine::AffineForOp, linalg::PackOp, linalg::UnPackOp, tensor::PadOp, tensor::GatherOp>(
            [&](auto concrete) { rewrite(rewriter, concrete); });
  }
}
