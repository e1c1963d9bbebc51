//===- SubsetAccess.cpp - reads and writes of a part of a tensor ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface's own methods, and its models for upstream's `tensor` dialect.
//
//===----------------------------------------------------------------------===//
#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;

#include "ft/Interfaces/SubsetAccess.cpp.inc"

bool SubsetAccessOpInterface::isStatic() {
  auto isNumber = [](OpFoldResult value) { return isa<Attribute>(value); };
  return llvm::all_of(getSubsetOffsets(), isNumber) && llvm::all_of(getSubsetSizes(), isNumber) &&
         llvm::all_of(getSubsetStrides(), isNumber);
}

bool SubsetAccessOpInterface::isSameSubset(SubsetAccessOpInterface other) {
  return isScalar() == other.isScalar() && getSubsetOffsets() == other.getSubsetOffsets() &&
         getSubsetSizes() == other.getSubsetSizes() && getSubsetStrides() == other.getSubsetStrides() &&
         getSubsetDroppedDims() == other.getSubsetDroppedDims();
}

SmallVector<int64_t> SubsetAccessOpInterface::getKeptDims() {
  llvm::SmallBitVector dropped = getSubsetDroppedDims();
  SmallVector<int64_t> kept;
  for (unsigned d = 0; d < dropped.size(); ++d)
    if (!dropped[d])
      kept.push_back(d);
  return kept;
}

SmallVector<OpOperand *> mlir::ft::getTensorOperands(Operation *op) {
  if (auto reshape = dyn_cast<ReassociativeReshapeOpInterface>(op))
    return {&reshape.getBaseOperand()};
  auto access = dyn_cast<SubsetAccessOpInterface>(op);
  if (!access || access.isScalar())
    return llvm::map_to_vector(op->getOpOperands(), [](OpOperand &operand) { return &operand; });
  SmallVector<OpOperand *> operands = {&access.getBaseOperand()};
  if (OpOperand *update = access.getUpdateOperand())
    operands.push_back(update);
  llvm::sort(operands, [](OpOperand *a, OpOperand *b) { return a->getOperandNumber() < b->getOperandNumber(); });
  return operands;
}

namespace {

/// Slices: upstream's own interface for offsets, sizes and strides says all.
template <typename Model, typename Op>
struct SliceModel : SubsetAccessOpInterface::ExternalModel<Model, Op> {
  SmallVector<OpFoldResult> getSubsetOffsets(Operation *op) const { return cast<Op>(op).getMixedOffsets(); }
  SmallVector<OpFoldResult> getSubsetSizes(Operation *op) const { return cast<Op>(op).getMixedSizes(); }
  SmallVector<OpFoldResult> getSubsetStrides(Operation *op) const { return cast<Op>(op).getMixedStrides(); }
  llvm::SmallBitVector getSubsetDroppedDims(Operation *op) const { return cast<Op>(op).getDroppedDims(); }
  bool isScalar(Operation *) const { return false; }
};

struct ExtractSliceModel : SliceModel<ExtractSliceModel, tensor::ExtractSliceOp> {
  OpOperand &getBaseOperand(Operation *op) const { return cast<tensor::ExtractSliceOp>(op).getSourceMutable(); }
  OpOperand *getUpdateOperand(Operation *) const { return nullptr; }
  Value createReadOfSubset(Operation *op, OpBuilder &) const { return op->getResult(0); }
};

template <typename Model, typename Op>
struct SliceUpdateModel : SliceModel<Model, Op> {
  OpOperand &getBaseOperand(Operation *op) const { return cast<Op>(op).getDestMutable(); }
  OpOperand *getUpdateOperand(Operation *op) const { return &cast<Op>(op).getSourceMutable(); }
  Value createReadOfSubset(Operation *op, OpBuilder &builder) const {
    auto update = cast<Op>(op);
    return tensor::ExtractSliceOp::create(builder, op->getLoc(), update.getSourceType(), update.getDest(),
                                          update.getMixedOffsets(), update.getMixedSizes(), update.getMixedStrides());
  }
};
struct InsertSliceModel : SliceUpdateModel<InsertSliceModel, tensor::InsertSliceOp> {};
struct ParallelInsertSliceModel : SliceUpdateModel<ParallelInsertSliceModel, tensor::ParallelInsertSliceOp> {};

/// Scalars: every dimension has size 1 and is dropped.
template <typename Model, typename Op>
struct ScalarModel : SubsetAccessOpInterface::ExternalModel<Model, Op> {
  SmallVector<OpFoldResult> getSubsetOffsets(Operation *op) const { return getAsOpFoldResult(cast<Op>(op).getIndices()); }
  SmallVector<OpFoldResult> getSubsetSizes(Operation *op) const {
    return SmallVector<OpFoldResult>(cast<Op>(op).getIndices().size(), OpBuilder(op->getContext()).getIndexAttr(1));
  }
  SmallVector<OpFoldResult> getSubsetStrides(Operation *op) const { return getSubsetSizes(op); }
  llvm::SmallBitVector getSubsetDroppedDims(Operation *op) const {
    return llvm::SmallBitVector(cast<Op>(op).getIndices().size(), true);
  }
  bool isScalar(Operation *) const { return true; }
};

struct ExtractModel : ScalarModel<ExtractModel, tensor::ExtractOp> {
  OpOperand &getBaseOperand(Operation *op) const { return cast<tensor::ExtractOp>(op).getTensorMutable(); }
  OpOperand *getUpdateOperand(Operation *) const { return nullptr; }
  Value createReadOfSubset(Operation *op, OpBuilder &) const { return op->getResult(0); }
};

struct InsertModel : ScalarModel<InsertModel, tensor::InsertOp> {
  OpOperand &getBaseOperand(Operation *op) const { return cast<tensor::InsertOp>(op).getDestMutable(); }
  OpOperand *getUpdateOperand(Operation *op) const { return &cast<tensor::InsertOp>(op).getScalarMutable(); }
  Value createReadOfSubset(Operation *op, OpBuilder &builder) const {
    auto insert = cast<tensor::InsertOp>(op);
    return tensor::ExtractOp::create(builder, op->getLoc(), insert.getDest(), insert.getIndices());
  }
};

template <typename Model, typename Op>
struct ReshapeModel : ReassociativeReshapeOpInterface::ExternalModel<Model, Op> {
  OpOperand &getBaseOperand(Operation *op) const { return cast<Op>(op).getSrcMutable(); }
  SmallVector<ReassociationIndices> getReassociation(Operation *op) const { return cast<Op>(op).getReassociationIndices(); }
};

struct ExpandShapeModel : ReshapeModel<ExpandShapeModel, tensor::ExpandShapeOp> {
  bool isExpansion(Operation *) const { return true; }
  SmallVector<OpFoldResult> getExpandedSizes(Operation *op) const {
    return cast<tensor::ExpandShapeOp>(op).getMixedOutputShape();
  }
};

struct CollapseShapeModel : ReshapeModel<CollapseShapeModel, tensor::CollapseShapeOp> {
  bool isExpansion(Operation *) const { return false; }
  SmallVector<OpFoldResult> getExpandedSizes(Operation *) const { return {}; }
};

} // namespace

void mlir::ft::registerSubsetAccessModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractSliceOp::attachInterface<ExtractSliceModel>(*context);
    tensor::InsertSliceOp::attachInterface<InsertSliceModel>(*context);
    tensor::ParallelInsertSliceOp::attachInterface<ParallelInsertSliceModel>(*context);
    tensor::ExtractOp::attachInterface<ExtractModel>(*context);
    tensor::InsertOp::attachInterface<InsertModel>(*context);
    tensor::ExpandShapeOp::attachInterface<ExpandShapeModel>(*context);
    tensor::CollapseShapeOp::attachInterface<CollapseShapeModel>(*context);
  });
}
