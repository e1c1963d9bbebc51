//===- TensorOpEval.h - Evaluation of the tensor dialect ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of the tensor dialect on values.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_TENSOROPEVAL_H
#define LIB_FT_INTERPRETER_TENSOROPEVAL_H

#include "ft/Interpreter/TensorEval.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ft::interp {

class TensorOpEval {
public:
  TensorOpEval(TensorEval &eval, Environment &env) : eval(eval), env(env) {}

  /// Evaluates `op`, or returns nothing if it is not one of the supported ops.
  std::optional<LogicalResult> run(Operation *op);

  /// linalg.pack and linalg.unpack (PackEval.cpp).
  LogicalResult runPacking(Operation *op);
  /// Inserts a part of the loop's result `into`, whose value so far is bound.
  LogicalResult insertInto(tensor::ParallelInsertSliceOp op, OpResult into);

  static StringRef listOps();

private:
  LogicalResult visit(tensor::EmptyOp op);
  LogicalResult visit(tensor::ExtractOp op);
  LogicalResult visit(tensor::InsertOp op);
  LogicalResult visit(tensor::ExtractSliceOp op);
  LogicalResult visit(tensor::InsertSliceOp op);
  LogicalResult visit(tensor::SplatOp op);
  LogicalResult visit(tensor::FromElementsOp op);
  LogicalResult visit(tensor::CollapseShapeOp op);
  LogicalResult visit(tensor::ExpandShapeOp op);
  LogicalResult visit(tensor::ReshapeOp op);
  LogicalResult visit(tensor::ConcatOp op);
  LogicalResult visit(tensor::PadOp op);
  LogicalResult visit(tensor::GenerateOp op);
  LogicalResult visit(tensor::CastOp op);
  LogicalResult visit(tensor::DimOp op);
  LogicalResult visit(tensor::GatherOp op);

  LogicalResult insert(Operation *op, Value source, FailureOr<Tensor> into, ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides, OpResult result);
  LogicalResult visitPack(linalg::PackOp op);
  LogicalResult visitUnpack(linalg::UnPackOp op);

  FailureOr<SmallVector<int64_t>> readSizes(Operation *op, ArrayRef<OpFoldResult> sizes);
  /// The shape of `type` with its dynamic sizes taken from `dynamic` in turn.
  FailureOr<SmallVector<int64_t>> shapeOf(Operation *op, RankedTensorType type, ValueRange dynamic);
  FailureOr<int64_t> elementOffset(Operation *op, const Tensor &tensor, ValueRange indices);
  LogicalResult checkAllocation(Operation *op, Type element, ArrayRef<int64_t> shape);
  LogicalResult checkSlice(Operation *op, ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets,
                           ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides);
  /// The scalar a region of one block yields at `point`.
  FailureOr<Cell> evalPoint(Block &body, ArrayRef<int64_t> point);
  LogicalResult reshape(Operation *op, Value source, ArrayRef<int64_t> shape);

  TensorEval &eval;
  Environment &env;
};

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_TENSOROPEVAL_H
