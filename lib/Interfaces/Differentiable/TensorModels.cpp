//===- TensorModels.cpp - derivatives of tensor ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All are linear in their tensors, so a vjp is the transpose. Indices and offsets are read, never differentiated.
//
//===----------------------------------------------------------------------===//
#include "Builders.h"
#include "Terms.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

namespace {
/// `values` as they are read where a derivative is built.
SmallVector<OpFoldResult> readMixed(PrimalReader primal, ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) -> OpFoldResult {
    if (auto attribute = dyn_cast<Attribute>(value))
      return attribute;
    return primal(cast<Value>(value));
  });
}

SmallVector<Value> readAll(PrimalReader primal, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return primal(value); });
}

/// Copies the operation with tangents in the place of its tensors; `linear` of the operands are such.
Value copyOverTangents(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents, unsigned linear) {
  if (llvm::none_of(tangents.take_front(linear), [](Value v) { return v != nullptr; }))
    return Value();
  IRMapping mapping;
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(i >= linear   ? primal(operand)
                       : tangents[i] ? tangents[i]
                                     : buildZero(b, op->getLoc(), operand.getType()));
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  return copy->getResult(0);
}

/// What models share: one result, the first operands linear.
template <typename Model, typename Op>
struct LinearModel : DifferentiableOpInterface::ExternalModel<Model, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    Writer w{b, op->getLoc()};
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      bool isUsed = cotangents[0] && wanted[i] && isDifferentiableType(op->getOperand(i).getType());
      gradients.push_back(isUsed ? Model::transpose(cast<Op>(op), w, primal, i, cotangents[0]) : Value());
    }
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    unsigned linear = 0;
    while (linear < op->getNumOperands() && isDifferentiableType(op->getOperand(linear).getType()))
      ++linear;
    results.push_back(copyOverTangents(op, b, primal, tangents, linear));
    return success();
  }
};

struct ExtractSliceModel : LinearModel<ExtractSliceModel, tensor::ExtractSliceOp> {
  static Value transpose(tensor::ExtractSliceOp op, Writer &w, PrimalReader primal, unsigned, Value g) {
    Value zero = buildZero(w.b, w.loc, op.getSourceType());
    return tensor::InsertSliceOp::create(w.b, w.loc, g, zero, readMixed(primal, op.getMixedOffsets()),
                                         readMixed(primal, op.getMixedSizes()), readMixed(primal, op.getMixedStrides()));
  }
};

struct InsertSliceModel : LinearModel<InsertSliceModel, tensor::InsertSliceOp> {
  static Value transpose(tensor::InsertSliceOp op, Writer &w, PrimalReader primal, unsigned operand, Value g) {
    SmallVector<OpFoldResult> offsets = readMixed(primal, op.getMixedOffsets()),
                              sizes = readMixed(primal, op.getMixedSizes()),
                              strides = readMixed(primal, op.getMixedStrides());
    if (operand == 0)
      return tensor::ExtractSliceOp::create(w.b, w.loc, op.getSourceType(), g, offsets, sizes, strides);
    Value zero = buildZero(w.b, w.loc, op.getSourceType());
    return tensor::InsertSliceOp::create(w.b, w.loc, zero, g, offsets, sizes, strides);
  }
};

struct PadModel : LinearModel<PadModel, tensor::PadOp> {
  static Value transpose(tensor::PadOp op, Writer &w, PrimalReader primal, unsigned, Value g) {
    SmallVector<OpFoldResult> low = readMixed(primal, op.getMixedLowPad()), sizes, strides;
    for (int64_t extent : op.getSourceType().getShape()) {
      sizes.push_back(w.b.getIndexAttr(extent));
      strides.push_back(w.b.getIndexAttr(1));
    }
    return tensor::ExtractSliceOp::create(w.b, w.loc, op.getSourceType(), g, low, sizes, strides);
  }
  /// What is put around has no tangent.
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    auto pad = cast<tensor::PadOp>(op);
    Value zero = tangents[0] ? buildZero(b, op->getLoc(), pad.getSourceType().getElementType()) : Value();
    results.push_back(tangents[0] ? tensor::PadOp::create(b, op->getLoc(), pad.getResultType(), tangents[0],
                                                          readMixed(primal, pad.getMixedLowPad()),
                                                          readMixed(primal, pad.getMixedHighPad()), zero)
                                        .getResult()
                                  : Value());
    return success();
  }
};

struct ConcatModel : LinearModel<ConcatModel, tensor::ConcatOp> {
  static Value transpose(tensor::ConcatOp op, Writer &w, PrimalReader, unsigned operand, Value g) {
    auto type = cast<RankedTensorType>(op.getInputs()[operand].getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), w.b.getIndexAttr(0)), sizes,
        strides(type.getRank(), w.b.getIndexAttr(1));
    for (int64_t extent : type.getShape())
      sizes.push_back(w.b.getIndexAttr(extent));
    int64_t before = 0;
    for (Value input : op.getInputs().take_front(operand))
      before += tensorOf(input).getDimSize(op.getDim());
    offsets[op.getDim()] = w.b.getIndexAttr(before);
    return tensor::ExtractSliceOp::create(w.b, w.loc, type, g, offsets, sizes, strides);
  }
};

template <typename Op>
struct ReshapeModel : LinearModel<ReshapeModel<Op>, Op> {
  static Value transpose(Op op, Writer &w, PrimalReader, unsigned, Value g) {
    if constexpr (std::is_same_v<Op, tensor::ExpandShapeOp>)
      return tensor::CollapseShapeOp::create(w.b, w.loc, op.getSrcType(), g, op.getReassociationIndices());
    else
      return tensor::ExpandShapeOp::create(w.b, w.loc, op.getSrcType(), g, op.getReassociationIndices());
  }
};

struct CastModel : LinearModel<CastModel, tensor::CastOp> {
  static Value transpose(tensor::CastOp op, Writer &w, PrimalReader, unsigned, Value g) {
    return tensor::CastOp::create(w.b, w.loc, op.getSource().getType(), g);
  }
};

struct SplatModel : LinearModel<SplatModel, tensor::SplatOp> {
  static Value transpose(tensor::SplatOp op, Writer &w, PrimalReader, unsigned, Value g) {
    return w.scalar(w.sum(g, allDims(cast<RankedTensorType>(op.getType()))));
  }
};

struct FromElementsModel : LinearModel<FromElementsModel, tensor::FromElementsOp> {
  static Value transpose(tensor::FromElementsOp op, Writer &w, PrimalReader, unsigned operand, Value g) {
    SmallVector<Value> indices;
    int64_t rest = operand;
    for (int64_t extent : llvm::reverse(cast<RankedTensorType>(op.getType()).getShape())) {
      indices.insert(indices.begin(), arith::ConstantIndexOp::create(w.b, w.loc, rest % extent));
      rest /= extent;
    }
    return tensor::ExtractOp::create(w.b, w.loc, g, indices);
  }
};

struct ExtractModel : LinearModel<ExtractModel, tensor::ExtractOp> {
  static Value transpose(tensor::ExtractOp op, Writer &w, PrimalReader primal, unsigned, Value g) {
    auto type = cast<RankedTensorType>(op.getTensor().getType());
    if (type.getRank() == 0)
      return tensor::FromElementsOp::create(w.b, w.loc, type, g);
    Value zero = w.splat(type.getElementType(), 0.0);
    return w.oneHot(type, readAll(primal, op.getIndices()), g, zero);
  }
};

struct InsertModel : LinearModel<InsertModel, tensor::InsertOp> {
  static Value transpose(tensor::InsertOp op, Writer &w, PrimalReader primal, unsigned operand, Value g) {
    SmallVector<Value> indices = readAll(primal, op.getIndices());
    if (operand == 0)
      return tensor::ExtractOp::create(w.b, w.loc, g, indices);
    Value zero = w.splat(tensorOf(g).getElementType(), 0.0);
    return w.oneHot(tensorOf(g), indices, zero, g);
  }
};
} // namespace

void derivatives::registerTensorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractSliceOp::attachInterface<ExtractSliceModel>(*context);
    tensor::InsertSliceOp::attachInterface<InsertSliceModel>(*context);
    tensor::PadOp::attachInterface<PadModel>(*context);
    tensor::ConcatOp::attachInterface<ConcatModel>(*context);
    tensor::ExpandShapeOp::attachInterface<ReshapeModel<tensor::ExpandShapeOp>>(*context);
    tensor::CollapseShapeOp::attachInterface<ReshapeModel<tensor::CollapseShapeOp>>(*context);
    tensor::CastOp::attachInterface<CastModel>(*context);
    tensor::SplatOp::attachInterface<SplatModel>(*context);
    tensor::FromElementsOp::attachInterface<FromElementsModel>(*context);
    tensor::ExtractOp::attachInterface<ExtractModel>(*context);
    tensor::InsertOp::attachInterface<InsertModel>(*context);
    tensor::EmptyOp::attachInterface<ConstantModel<tensor::EmptyOp>>(*context);
    tensor::DimOp::attachInterface<ConstantModel<tensor::DimOp>>(*context);
    tensor::RankOp::attachInterface<ConstantModel<tensor::RankOp>>(*context);
  });
}
