//===- PackEval.cpp - Evaluation of packing and gathering -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that move elements: tiles into dimensions of their own and back, and slices at
// coordinates that are data.
//
//===----------------------------------------------------------------------===//
#include "TensorOpEval.h"

using namespace mlir;
using namespace mlir::ft::interp;

/// Calls `visit` with each point of a shape, in row-major order; stops where that fails.
static LogicalResult forEachPoint(ArrayRef<int64_t> shape, llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return success();
  SmallVector<int64_t> point(shape.size(), 0);
  while (true) {
    if (failed(visit(point)))
      return failure();
    int64_t d = int64_t(shape.size()) - 1;
    for (; d >= 0 && ++point[d] == shape[d]; --d)
      point[d] = 0;
    if (d < 0)
      return success();
  }
}

static int64_t offsetOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> point) {
  int64_t offset = 0;
  for (auto [size, at] : llvm::zip_equal(shape, point))
    offset = offset * size + at;
  return offset;
}

/// The point of an array that the point `packed` of its packed form is; it may lie beyond the array.
template <typename Op>
static SmallVector<int64_t> unpackedPoint(Op op, ArrayRef<int64_t> packedShape, ArrayRef<int64_t> packed, int64_t rank) {
  SmallVector<int64_t> point(rank);
  ArrayRef<int64_t> order = op.getOuterDimsPerm(), inner = op.getInnerDimsPos();
  for (int64_t d = 0; d < rank; ++d)
    point[order.empty() ? d : order[d]] = packed[d];
  for (auto [i, d] : llvm::enumerate(inner))
    point[d] = point[d] * packedShape[rank + i] + packed[rank + i];
  return point;
}

static bool isInside(ArrayRef<int64_t> shape, ArrayRef<int64_t> point) {
  return llvm::all_of(llvm::zip_equal(shape, point), [](auto pair) { return std::get<1>(pair) < std::get<0>(pair); });
}

LogicalResult TensorOpEval::runPacking(Operation *op) {
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return visitPack(pack);
  return visitUnpack(cast<linalg::UnPackOp>(op));
}

LogicalResult TensorOpEval::visitPack(linalg::PackOp op) {
  FailureOr<Tensor> source = eval.readTensor(op, op.getSource(), env), result = eval.readTensor(op, op.getDest(), env);
  FailureOr<Tensor> padding = op.getPaddingValue() ? eval.readTensor(op, op.getPaddingValue(), env) : FailureOr<Tensor>(Tensor());
  if (failed(source) || failed(result) || failed(padding))
    return failure();
  Tensor packed = *result;
  Cell *cells = packed.mutableData();
  LogicalResult done = forEachPoint(packed.getShape(), [&](ArrayRef<int64_t> at) -> LogicalResult {
    SmallVector<int64_t> from = unpackedPoint(op, packed.getShape(), at, source->getRank());
    if (isInside(source->getShape(), from))
      *cells++ = source->data()[offsetOf(source->getShape(), from)];
    else if (op.getPaddingValue())
      *cells++ = padding->data()[0];
    else
      return mlir::emitError(op->getLoc(), "tiles are larger than what is packed, and there is no padding value");
    return success();
  });
  if (failed(done))
    return failure();
  env.bind(op->getResult(0), packed);
  return success();
}

LogicalResult TensorOpEval::visitUnpack(linalg::UnPackOp op) {
  FailureOr<Tensor> source = eval.readTensor(op, op.getSource(), env), result = eval.readTensor(op, op.getDest(), env);
  if (failed(source) || failed(result))
    return failure();
  Tensor unpacked = *result;
  Cell *cells = unpacked.mutableData();
  const Cell *from = source->data();
  LogicalResult done = forEachPoint(source->getShape(), [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> to = unpackedPoint(op, source->getShape(), at, unpacked.getRank());
    Cell cell = *from++;
    if (isInside(unpacked.getShape(), to))
      cells[offsetOf(unpacked.getShape(), to)] = cell;
    return success();
  });
  if (failed(done))
    return failure();
  env.bind(op->getResult(0), unpacked);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::GatherOp op) {
  FailureOr<Tensor> source = eval.readTensor(op, op.getSource(), env), indices = eval.readTensor(op, op.getIndices(), env);
  if (failed(source) || failed(indices))
    return failure();
  ArrayRef<int64_t> dims = op.getGatherDims(), batch = indices->getShape().drop_back();
  SmallVector<int64_t> slice, shape(batch);
  bool keepsUnits = op.getResultType().getRank() == int64_t(batch.size()) + source->getRank();
  for (int64_t d = 0; d < source->getRank(); ++d) {
    bool isGathered = llvm::is_contained(dims, d);
    slice.push_back(isGathered ? 1 : source->getShape()[d]);
    if (!isGathered || keepsUnits)
      shape.push_back(slice.back());
  }
  if (failed(checkAllocation(op, source->getElementType(), shape)))
    return failure();
  Tensor result = Tensor::zeros(source->getElementType(), shape);
  Cell *to = result.mutableData();
  const Cell *coordinate = indices->data();
  LogicalResult done = forEachPoint(batch, [&](ArrayRef<int64_t>) -> LogicalResult {
    SmallVector<int64_t> begin(source->getRank(), 0);
    for (int64_t d : dims) {
      begin[d] = (coordinate++)->i;
      if (begin[d] < 0 || begin[d] >= source->getShape()[d])
        return mlir::emitError(op->getLoc(), "index ") << begin[d] << " is out of range: dimension " << d << " has the size " << source->getShape()[d];
    }
    return forEachPoint(slice, [&](ArrayRef<int64_t> at) {
      SmallVector<int64_t> from(at);
      for (int64_t d : dims)
        from[d] = begin[d];
      *to++ = source->data()[offsetOf(source->getShape(), from)];
      return success();
    });
  });
  if (failed(done))
    return failure();
  env.bind(op.getResult(), result);
  return success();
}
