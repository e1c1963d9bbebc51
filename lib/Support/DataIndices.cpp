//===- DataIndices.cpp - what folding would forget of indices -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Support/DataIndices.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace {
/// The one value that a tensor has everywhere, if folding would find it.
class UniformValues {
public:
  /// A constant scalar, a scalar of the program, or null.
  OpFoldResult of(Value tensor) {
    if (auto splat = dyn_cast_or_null<SplatElementsAttr>(constantOf(tensor)))
      return splat.getSplatValue<Attribute>();
    Operation *op = tensor.getDefiningOp();
    if (auto fill = dyn_cast_or_null<linalg::FillOp>(op))
      return fill.value();
    // Fills are moved after what only changes the shape.
    if (isa_and_nonnull<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op))
      return of(op->getOperand(0));
    return {};
  }

private:
  Attribute constantOf(Value value) {
    auto [it, isNew] = constants.try_emplace(value);
    if (isNew)
      constants[value] = compute(value);
    return constants.lookup(value);
  }
  Attribute compute(Value value) {
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant)))
      return constant;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumRegions() || !op->getNumOperands() || !isMemoryEffectFree(op))
      return {};
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(constantOf(operand));
      if (!operands.back())
        return {};
    }
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1)
      return {};
    if (auto other = dyn_cast<Value>(results.front()))
      return constantOf(other);
    return cast<Attribute>(results.front());
  }

  DenseMap<Value, Attribute> constants;
};
} // namespace

/// Whether an index may be out of range: no constant, and no loop of the operation around it that stays in it.
static bool isData(Value index, int64_t extent) {
  if (getConstantIntValue(index))
    return false;
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  if (!loop)
    return true;
  auto around = loop->getParentOfType<linalg::LinalgOp>();
  int64_t range = around.getStaticLoopRanges()[loop.getDim()];
  return ShapedType::isDynamic(range) || ShapedType::isDynamic(extent) || range > extent;
}

/// The operand that an operation indexes by data; null where it does not, or where nothing would fold.
static OpOperand *indexedByData(Operation *op, UniformValues &values) {
  auto anyData = [](auto access, RankedTensorType type) {
    return llvm::any_of(llvm::zip_equal(access.getIndices(), type.getShape()),
                        [](auto pair) { return isData(std::get<0>(pair), std::get<1>(pair)); });
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return anyData(extract, cast<RankedTensorType>(extract.getTensor().getType())) ? &extract.getTensorMutable() : nullptr;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getOffsets().empty() ? nullptr : &slice.getSourceMutable();
  // What is written is what is there already.
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    Attribute written;
    bool same = matchPattern(insert.getScalar(), m_Constant(&written)) && OpFoldResult(written) == values.of(insert.getDest());
    return same && anyData(insert, insert.getType()) ? &insert.getDestMutable() : nullptr;
  }
  return nullptr;
}

/// The same tensor as an operation that nothing folds.
static Value makeOpaque(OpBuilder &builder, Location loc, RankedTensorType type, OpFoldResult value) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, type, ValueRange(), empty,
                                   builder.getMultiDimIdentityMap(type.getRank()), loops,
                                   [&](OpBuilder &inner, Location at, ValueRange) {
                                     Value scalar = dyn_cast<Value>(value);
                                     if (!scalar)
                                       scalar = arith::ConstantOp::create(inner, at, cast<TypedAttr>(cast<Attribute>(value)));
                                     linalg::YieldOp::create(inner, at, scalar);
                                   })
      .getResult(0);
}

void ft::keepDataIndices(Operation *root) {
  SmallVector<Operation *> accesses;
  root->walk([&](Operation *op) {
    if (isa<tensor::ExtractOp, tensor::ExtractSliceOp, tensor::InsertOp>(op) && !op->getParentOfType<LoopLikeOpInterface>())
      accesses.push_back(op);
  });
  UniformValues values;
  for (Operation *op : accesses) {
    OpOperand *operand = indexedByData(op, values);
    auto type = operand ? cast<RankedTensorType>(operand->get().getType()) : RankedTensorType();
    if (!type || !type.hasStaticShape())
      continue;
    OpFoldResult value = values.of(operand->get());
    if (!value)
      continue;
    // Beside the operation, outside of the `linalg` bodies that it may stand in.
    Operation *at = op;
    while (auto around = at->getParentOfType<linalg::LinalgOp>())
      at = around;
    OpBuilder builder(at);
    operand->set(makeOpaque(builder, op->getLoc(), type, value));
  }
}
