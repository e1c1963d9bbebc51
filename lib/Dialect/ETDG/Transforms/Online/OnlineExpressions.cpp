//===- OnlineExpressions.cpp - tensor expressions of corrections ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnlineBody.h"
#include "OnlineWiden.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Value CorrectionBuilder::splat(RankedTensorType type, TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, value));
}

Value CorrectionBuilder::splat(RankedTensorType type, double value) {
  return splat(type, cast<TypedAttr>(builder.getFloatAttr(type.getElementType(), value)));
}

Value CorrectionBuilder::broadcast(Value value, ArrayRef<int64_t> dims, RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  type = type.clone(from.getElementType());
  bool isIdentity = from == type;
  for (auto [d, place] : llvm::enumerate(dims))
    isIdentity &= place == static_cast<int64_t>(d);
  if (isIdentity)
    return value;
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  bool isSorted = llvm::all_of(dims, [](int64_t d) { return d >= 0; });
  for (unsigned d = 1; d < dims.size(); ++d)
    isSorted &= dims[d - 1] < dims[d];
  if (isSorted) {
    SmallVector<int64_t> added;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!llvm::is_contained(dims, d))
        added.push_back(d);
    return linalg::BroadcastOp::create(builder, loc, value, empty, added)->getResult(0);
  }
  SmallVector<AffineExpr> index;
  for (int64_t d : dims)
    index.push_back(d >= 0 ? getAffineDimExpr(d, builder.getContext())
                           : getAffineConstantExpr(0, builder.getContext()));
  SmallVector<AffineMap> maps{AffineMap::get(type.getRank(), 0, index, builder.getContext()),
                              builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, type, value, empty, maps, iterators,
                                   [](OpBuilder &b, Location l, ValueRange args) {
                                     linalg::YieldOp::create(b, l, args.front());
                                   })
      ->getResult(0);
}

Value CorrectionBuilder::widen(Value value, Type like) {
  return convertElements(builder, loc, value, getElementTypeOrSelf(like));
}

Value CorrectionBuilder::clamp(Value value, bool rises) {
  auto type = cast<RankedTensorType>(value.getType());
  auto element = cast<FloatType>(type.getElementType());
  Value extreme =
      splat(type, cast<TypedAttr>(FloatAttr::get(
                      element, APFloat::getLargest(element.getFloatSemantics(), rises))));
  return rises ? arith::MaximumFOp::create(builder, loc, value, extreme).getResult()
               : arith::MinimumFOp::create(builder, loc, value, extreme).getResult();
}

Value CorrectionBuilder::expDifference(double exponent, Value from, Value to) {
  if (exponent < 0)
    std::swap(from, to);
  Value difference = arith::SubFOp::create(builder, loc, to, from);
  if (std::abs(exponent) != 1)
    difference = arith::MulFOp::create(
        builder, loc, difference,
        splat(cast<RankedTensorType>(difference.getType()), std::abs(exponent)));
  return math::ExpOp::create(builder, loc, difference);
}

Value CorrectionBuilder::scaledFactor(double exponent, Value from, Value to, Value scale,
                                      bool inverse) {
  auto type = cast<RankedTensorType>(from.getType());
  Value difference = arith::SubFOp::create(builder, loc, to, from);
  Value half =
      arith::MulFOp::create(builder, loc, difference, splat(type, exponent / 2)).getResult();
  half = inverse ? arith::DivFOp::create(builder, loc, half, scale).getResult()
                 : arith::MulFOp::create(builder, loc, half, scale).getResult();
  // e^88 and e^709 are finite. While nothing has been seen, the step is as long as it can be.
  constexpr double greatestF64 = 700, greatestF32 = 85;
  double greatest = type.getElementType().isF64() ? greatestF64 : greatestF32;
  Value bounded = arith::MinimumFOp::create(builder, loc, half, splat(type, greatest));
  return math::ExpOp::create(builder, loc, bounded);
}

Value CorrectionBuilder::addSquares(Value state, double coefficient, Value weight, Value from,
                                    Value to) {
  Value d = arith::SubFOp::create(builder, loc, from, to);
  Value squares = arith::MulFOp::create(builder, loc, d, d);
  Value weighted = arith::MulFOp::create(builder, loc, squares, weight);
  if (std::abs(coefficient) != 1)
    weighted = arith::MulFOp::create(
        builder, loc, weighted,
        splat(cast<RankedTensorType>(state.getType()), coefficient * coefficient));
  return arith::AddFOp::create(builder, loc, state, weighted);
}

Value online::joinStates(CorrectionBuilder &make, Operation *fold, Value a, Value b) {
  OperationState made(make.loc, fold->getName());
  made.addOperands({a, b});
  made.addTypes(a.getType());
  return make.builder.create(made)->getResult(0);
}

Value CorrectionBuilder::joinMeans(Value mean, Value otherMean, Value otherWeight, Value weight) {
  auto type = cast<RankedTensorType>(mean.getType());
  Value share = arith::DivFOp::create(builder, loc, otherWeight, weight);
  Value d = arith::SubFOp::create(builder, loc, otherMean, mean);
  Value step = arith::MulFOp::create(builder, loc, d, share);
  Value joined = arith::AddFOp::create(builder, loc, mean, step);
  // 0 / 0: nothing has any weight yet.
  Value none =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, weight, splat(type, 0.0));
  return arith::SelectOp::create(builder, loc, none, mean, joined);
}

//===----------------------------------------------------------------------===//
// Factors of 1
//===----------------------------------------------------------------------===//

static bool isOne(Value value) { return matchPattern(value, m_OneFloat()); }

static std::optional<TypedAttr> getSplat(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

/// x · 1 and x / 1, on tensors or scalars: x, exactly.
static void foldFactors(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Value kept;
    if (isa<arith::MulFOp, arith::DivFOp>(op) && isOne(op.getOperand(1)))
      kept = op.getOperand(0);
    else if (isa<arith::MulFOp>(op) && isOne(op.getOperand(0)))
      kept = op.getOperand(1);
    if (!kept)
      continue;
    op.getResult(0).replaceAllUsesWith(kept);
    op.erase();
  }
}

/// Puts splats into the scalar body of a generic operation and drops what is no longer read.
static void foldSplatInputs(linalg::GenericOp op) {
  Block &body = *op.getBody();
  OpBuilder builder(&body, body.begin());
  bool changed = false;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (std::optional<TypedAttr> splat = getSplat(operand->get());
        splat && isa<FloatAttr>(*splat)) {
      BlockArgument argument = op.getMatchingBlockArgument(operand);
      if (argument.use_empty())
        continue;
      argument.replaceAllUsesWith(arith::ConstantOp::create(builder, op.getLoc(), *splat));
      changed = true;
    }
  if (!changed)
    return;
  foldFactors(body);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::BitVector dropped(body.getNumArguments());
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    if (argument.use_empty() && getSplat(operand->get())) {
      dropped.set(argument.getArgNumber());
      continue;
    }
    inputs.push_back(operand->get());
    maps.push_back(op.getMatchingIndexingMap(operand));
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  // The loops' extents must still follow from the operands.
  if (dropped.none() || !inversePermutation(concatAffineMaps(maps, op.getContext())))
    return;
  OpBuilder outer(op);
  auto made = linalg::GenericOp::create(outer, op.getLoc(), op->getResultTypes(), inputs,
                                        op.getDpsInits(), maps, op.getIteratorTypesArray());
  body.eraseArguments(dropped);
  made.getRegion().takeBody(op.getRegion());
  op->replaceAllUsesWith(made);
  op.erase();
}

void online::simplifyOnes(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (isa<linalg::BroadcastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      if (std::optional<TypedAttr> splat = getSplat(op.getOperand(0))) {
        OpBuilder builder(&op);
        auto type = cast<RankedTensorType>(op.getResult(0).getType());
        op.getResult(0).replaceAllUsesWith(
            arith::ConstantOp::create(builder, op.getLoc(), SplatElementsAttr::get(type, *splat)));
        op.erase();
        continue;
      }
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      foldSplatInputs(generic);
  }
  foldFactors(body);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}
