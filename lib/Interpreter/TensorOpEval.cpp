//===- TensorOpEval.cpp - Evaluation of the tensor dialect ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation checks its indices and sizes before it touches a cell: the
// verifier sees static shapes only.
//
//===----------------------------------------------------------------------===//
#include "TensorOpEval.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft::interp;

StringRef TensorOpEval::listOps() {
  return "tensor.cast, tensor.collapse_shape, tensor.concat, tensor.dim, tensor.empty, "
         "tensor.expand_shape, tensor.extract, tensor.extract_slice, tensor.from_elements, "
         "tensor.gather, tensor.generate, tensor.insert, tensor.insert_slice, tensor.pad, tensor.reshape, "
         "tensor.splat";
}

std::optional<LogicalResult> TensorOpEval::run(Operation *op) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<tensor::EmptyOp, tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, tensor::SplatOp, tensor::FromElementsOp, tensor::CollapseShapeOp,
            tensor::ExpandShapeOp, tensor::ReshapeOp, tensor::ConcatOp, tensor::PadOp,
            tensor::GenerateOp, tensor::CastOp, tensor::DimOp, tensor::GatherOp>(
          [&](auto concrete) { return Result(visit(concrete)); })
      .Default([](Operation *) { return Result(); });
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> TensorOpEval::readSizes(Operation *op,
                                                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> result;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> constant = getConstantIntValue(size)) {
      result.push_back(*constant);
      continue;
    }
    FailureOr<int64_t> value = eval.readInt(op, cast<Value>(size), env);
    if (failed(value))
      return failure();
    result.push_back(*value);
  }
  return result;
}

LogicalResult TensorOpEval::checkAllocation(Operation *op, Type element, ArrayRef<int64_t> shape) {
  if (!isSupportedElementType(element))
    return mlir::emitError(op->getLoc(), "the interpreter does not compute on elements of type ")
           << element;
  return interp::checkAllocation(op->getLoc(), shape);
}

FailureOr<SmallVector<int64_t>> TensorOpEval::shapeOf(Operation *op, RankedTensorType type,
                                                      ValueRange dynamic) {
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size)) {
      FailureOr<int64_t> value = eval.readInt(op, dynamic.front(), env);
      if (failed(value))
        return failure();
      size = *value;
      dynamic = dynamic.drop_front();
    }
  if (failed(checkAllocation(op, type.getElementType(), shape)))
    return failure();
  return shape;
}

FailureOr<int64_t> TensorOpEval::elementOffset(Operation *op, const Tensor &tensor,
                                               ValueRange indices) {
  int64_t offset = 0;
  for (auto [dim, stride, size, value] :
       llvm::enumerate(rowMajorStrides(tensor.getShape()), tensor.getShape(), indices)) {
    FailureOr<int64_t> index = eval.readInt(op, value, env);
    if (failed(index))
      return failure();
    if (*index < 0 || *index >= size)
      return mlir::emitError(op->getLoc(), "index ")
             << *index << " of dimension " << dim << " is out of range: its size is " << size;
    offset += *index * stride;
  }
  return offset;
}

LogicalResult TensorOpEval::checkSlice(Operation *op, ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                                       ArrayRef<int64_t> strides) {
  for (auto [dim, size, offset, count, stride] : llvm::enumerate(shape, offsets, sizes, strides)) {
    int64_t reach, last;
    bool overflows = llvm::MulOverflow(count > 0 ? count - 1 : 0, stride, reach) ||
                     llvm::AddOverflow(offset, reach, last);
    if (count < 0 || overflows ||
        (count > 0 && (offset < 0 || offset >= size || last < 0 || last >= size)))
      return mlir::emitError(op->getLoc(), "the slice of ")
             << count << " elements from " << offset << " by " << stride << " in dimension " << dim
             << " is out of range: its size is " << size;
  }
  return success();
}

/// Calls `fn` with the flat offset of each point of a strided slice, in
/// row-major order.
template <typename Fn>
static void forEachOffset(ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets,
                          ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, Fn fn) {
  if (llvm::is_contained(sizes, 0))
    return;
  SmallVector<int64_t> elementStrides = rowMajorStrides(shape);
  SmallVector<int64_t> point(sizes.size(), 0);
  while (true) {
    int64_t offset = 0;
    for (size_t i = 0; i < point.size(); ++i)
      offset += (offsets[i] + point[i] * strides[i]) * elementStrides[i];
    fn(offset);
    int64_t dim = static_cast<int64_t>(point.size()) - 1;
    while (dim >= 0 && ++point[dim] == sizes[dim])
      point[dim--] = 0;
    if (dim < 0)
      return;
  }
}

FailureOr<Cell> TensorOpEval::evalPoint(Block &body, ArrayRef<int64_t> point) {
  for (auto [arg, index] : llvm::zip_equal(body.getArguments(), point))
    env.bind(arg, Tensor::scalarInt(arg.getType(), index));
  if (failed(eval.evalBlock(body, env)))
    return failure();
  Operation *yield = body.getTerminator();
  FailureOr<Tensor> value = eval.readTensor(yield, yield->getOperand(0), env);
  if (failed(value))
    return failure();
  return value->data()[0];
}

LogicalResult TensorOpEval::reshape(Operation *op, Value source, ArrayRef<int64_t> shape) {
  FailureOr<Tensor> tensor = eval.readTensor(op, source, env);
  if (failed(tensor))
    return failure();
  std::optional<int64_t> count = countElements(shape);
  if (!count || *count != tensor->getNumElements()) {
    InFlightDiagnostic diag = mlir::emitError(op->getLoc(), "cannot reshape ")
                              << tensor->getNumElements() << " elements to sizes ";
    llvm::interleave(shape, diag, "x");
    return diag;
  }
  env.bind(op->getResult(0), tensor->withShape(shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult TensorOpEval::visit(tensor::EmptyOp op) {
  FailureOr<SmallVector<int64_t>> shape = shapeOf(op, op.getType(), op.getDynamicSizes());
  if (failed(shape))
    return failure();
  env.bind(op.getResult(), Tensor::zeros(op.getType().getElementType(), *shape));
  return success();
}

LogicalResult TensorOpEval::visit(tensor::ExtractOp op) {
  FailureOr<Tensor> tensor = eval.readTensor(op, op.getTensor(), env);
  if (failed(tensor))
    return failure();
  FailureOr<int64_t> offset = elementOffset(op, *tensor, op.getIndices());
  if (failed(offset))
    return failure();
  env.bind(op.getResult(), Tensor::scalar(tensor->getElementType(), tensor->data()[*offset]));
  return success();
}

LogicalResult TensorOpEval::visit(tensor::InsertOp op) {
  FailureOr<Tensor> scalar = eval.readTensor(op, op.getScalar(), env);
  FailureOr<Tensor> tensor = eval.readTensor(op, op.getDest(), env);
  if (failed(scalar) || failed(tensor))
    return failure();
  FailureOr<int64_t> offset = elementOffset(op, *tensor, op.getIndices());
  if (failed(offset))
    return failure();
  tensor->mutableData()[*offset] = scalar->data()[0];
  env.bind(op.getResult(), *tensor);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::ExtractSliceOp op) {
  FailureOr<Tensor> tensor = eval.readTensor(op, op.getSource(), env);
  FailureOr<SmallVector<int64_t>> offsets = readSizes(op, op.getMixedOffsets());
  FailureOr<SmallVector<int64_t>> sizes = readSizes(op, op.getMixedSizes());
  FailureOr<SmallVector<int64_t>> strides = readSizes(op, op.getMixedStrides());
  if (failed(tensor) || failed(offsets) || failed(sizes) || failed(strides) ||
      failed(checkSlice(op, tensor->getShape(), *offsets, *sizes, *strides)))
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(*sizes))
    if (!dropped.test(dim))
      shape.push_back(size);
  Tensor result = Tensor::zeros(tensor->getElementType(), shape);
  Cell *target = result.mutableData();
  const Cell *source = tensor->data();
  forEachOffset(tensor->getShape(), *offsets, *sizes, *strides,
                [&](int64_t offset) { *target++ = source[offset]; });
  env.bind(op.getResult(), result);
  return success();
}

LogicalResult TensorOpEval::insert(Operation *op, Value value, FailureOr<Tensor> into, ArrayRef<OpFoldResult> mixedOffsets,
                                   ArrayRef<OpFoldResult> mixedSizes, ArrayRef<OpFoldResult> mixedStrides, OpResult result) {
  FailureOr<Tensor> source = eval.readTensor(op, value, env);
  FailureOr<SmallVector<int64_t>> offsets = readSizes(op, mixedOffsets);
  FailureOr<SmallVector<int64_t>> sizes = readSizes(op, mixedSizes);
  FailureOr<SmallVector<int64_t>> strides = readSizes(op, mixedStrides);
  if (failed(source) || failed(into) || failed(offsets) || failed(sizes) || failed(strides) ||
      failed(checkSlice(op, into->getShape(), *offsets, *sizes, *strides)))
    return failure();
  if (countElements(*sizes) != source->getNumElements())
    return mlir::emitError(op->getLoc(), "inserts ")
           << source->getNumElements() << " elements into a slice of "
           << countElements(*sizes).value_or(-1);
  Cell *target = into->mutableData();
  const Cell *from = source->data();
  forEachOffset(into->getShape(), *offsets, *sizes, *strides,
                [&](int64_t offset) { target[offset] = *from++; });
  env.bind(result, *into);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::InsertSliceOp op) {
  return insert(op, op.getSource(), eval.readTensor(op, op.getDest(), env), op.getMixedOffsets(), op.getMixedSizes(),
                op.getMixedStrides(), cast<OpResult>(op.getResult()));
}

LogicalResult TensorOpEval::insertInto(tensor::ParallelInsertSliceOp op, OpResult into) {
  return insert(op, op.getSource(), eval.readTensor(op, into, env), op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides(), into);
}

LogicalResult TensorOpEval::visit(tensor::SplatOp op) {
  FailureOr<Tensor> scalar = eval.readTensor(op, op.getInput(), env);
  FailureOr<SmallVector<int64_t>> shape =
      shapeOf(op, cast<RankedTensorType>(op.getType()), op.getDynamicSizes());
  if (failed(scalar) || failed(shape))
    return failure();
  env.bind(op.getResult(), Tensor::splat(scalar->getElementType(), *shape, scalar->data()[0]));
  return success();
}

LogicalResult TensorOpEval::visit(tensor::FromElementsOp op) {
  RankedTensorType type = cast<RankedTensorType>(op.getType());
  if (failed(checkAllocation(op, type.getElementType(), type.getShape())))
    return failure();
  Tensor result = Tensor::zeros(type.getElementType(), type.getShape());
  Cell *cells = result.mutableData();
  for (Value element : op.getElements()) {
    FailureOr<Tensor> scalar = eval.readTensor(op, element, env);
    if (failed(scalar))
      return failure();
    *cells++ = scalar->data()[0];
  }
  env.bind(op.getResult(), result);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::CollapseShapeOp op) {
  FailureOr<Tensor> tensor = eval.readTensor(op, op.getSrc(), env);
  if (failed(tensor))
    return failure();
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t size = 1;
    for (int64_t dim : group)
      size *= tensor->getShape()[dim];
    shape.push_back(size);
  }
  return reshape(op, op.getSrc(), shape);
}

LogicalResult TensorOpEval::visit(tensor::ExpandShapeOp op) {
  FailureOr<SmallVector<int64_t>> shape = readSizes(op, op.getMixedOutputShape());
  if (failed(shape))
    return failure();
  return reshape(op, op.getSrc(), *shape);
}

LogicalResult TensorOpEval::visit(tensor::ReshapeOp op) {
  FailureOr<Tensor> sizes = eval.readTensor(op, op.getShape(), env);
  if (failed(sizes))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t i = 0, e = sizes->getNumElements(); i < e; ++i)
    shape.push_back(sizes->getInt(i));
  if (auto type = dyn_cast<RankedTensorType>(op.getType()))
    if (failed(verifyCompatibleShape(shape, type.getShape())))
      return mlir::emitError(op.getLoc(), "the run-time shape does not agree with the result type ")
             << type;
  return reshape(op, op.getSource(), shape);
}

LogicalResult TensorOpEval::visit(tensor::ConcatOp op) {
  SmallVector<Tensor> tensors;
  int64_t dim = op.getDim(), total = 0;
  for (Value input : op.getInputs()) {
    FailureOr<Tensor> tensor = eval.readTensor(op, input, env);
    if (failed(tensor))
      return failure();
    for (int64_t i = 0; i < tensor->getRank(); ++i)
      if (i != dim && !tensors.empty() && tensor->getShape()[i] != tensors[0].getShape()[i])
        return mlir::emitError(op.getLoc(), "operands differ in dimension ")
               << i << ": " << tensors[0].getShape()[i] << " and " << tensor->getShape()[i];
    total += tensor->getShape()[dim];
    tensors.push_back(*tensor);
  }
  SmallVector<int64_t> shape(tensors[0].getShape());
  shape[dim] = total;
  if (failed(checkAllocation(op, tensors[0].getElementType(), shape)))
    return failure();
  Tensor result = Tensor::zeros(tensors[0].getElementType(), shape);
  Cell *target = result.mutableData();
  SmallVector<int64_t> offsets(shape.size(), 0), ones(shape.size(), 1);
  for (const Tensor &tensor : tensors) {
    const Cell *source = tensor.data();
    forEachOffset(shape, offsets, tensor.getShape(), ones,
                  [&](int64_t offset) { target[offset] = *source++; });
    offsets[dim] += tensor.getShape()[dim];
  }
  env.bind(op.getResult(), result);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::PadOp op) {
  FailureOr<Tensor> tensor = eval.readTensor(op, op.getSource(), env);
  FailureOr<SmallVector<int64_t>> low = readSizes(op, op.getMixedLowPad());
  FailureOr<SmallVector<int64_t>> high = readSizes(op, op.getMixedHighPad());
  if (failed(tensor) || failed(low) || failed(high))
    return failure();
  SmallVector<int64_t> shape, ones(tensor->getRank(), 1);
  for (auto [size, before, after] : llvm::zip_equal(tensor->getShape(), *low, *high)) {
    if (before < 0 || after < 0)
      return mlir::emitError(op.getLoc(), "expects padding of at least 0, found ")
             << std::min(before, after);
    int64_t padded;
    if (llvm::AddOverflow(size, before, padded) || llvm::AddOverflow(padded, after, padded))
      return mlir::emitError(op.getLoc(), "the padded size overflows");
    shape.push_back(padded);
  }
  if (failed(checkAllocation(op, tensor->getElementType(), shape)))
    return failure();
  Tensor result = Tensor::zeros(tensor->getElementType(), shape);
  Cell *target = result.mutableData();
  SmallVector<int64_t> point(shape.size(), 0), strides = rowMajorStrides(shape);
  for (int64_t flat = 0, e = result.getNumElements(); flat < e; ++flat) {
    bool inside = true;
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      point[dim] = flat / stride % shape[dim];
      int64_t index = point[dim] - (*low)[dim];
      inside &= index >= 0 && index < tensor->getShape()[dim];
    }
    if (inside)
      continue;
    FailureOr<Cell> cell = evalPoint(op.getRegion().front(), point);
    if (failed(cell))
      return failure();
    target[flat] = *cell;
  }
  const Cell *source = tensor->data();
  forEachOffset(shape, *low, tensor->getShape(), ones,
                [&](int64_t offset) { target[offset] = *source++; });
  env.bind(op.getResult(), result);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::GenerateOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<SmallVector<int64_t>> shape = shapeOf(op, type, op.getDynamicExtents());
  if (failed(shape))
    return failure();
  Tensor result = Tensor::zeros(type.getElementType(), *shape);
  Cell *target = result.mutableData();
  SmallVector<int64_t> point(shape->size(), 0), strides = rowMajorStrides(*shape);
  for (int64_t flat = 0, e = result.getNumElements(); flat < e; ++flat) {
    for (auto [dim, stride] : llvm::enumerate(strides))
      point[dim] = flat / stride % (*shape)[dim];
    FailureOr<Cell> cell = evalPoint(op.getBody().front(), point);
    if (failed(cell))
      return failure();
    target[flat] = *cell;
  }
  env.bind(op.getResult(), result);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::CastOp op) {
  FailureOr<Tensor> tensor = eval.readTensor(op, op.getSource(), env);
  if (failed(tensor))
    return failure();
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (type && failed(verifyCompatibleShape(tensor->getShape(), type.getShape()))) {
    InFlightDiagnostic diag = mlir::emitError(op.getLoc(), "casts a tensor of sizes ");
    llvm::interleave(tensor->getShape(), diag, "x");
    diag << " to " << type;
    return diag;
  }
  env.bind(op.getResult(), *tensor);
  return success();
}

LogicalResult TensorOpEval::visit(tensor::DimOp op) {
  FailureOr<Tensor> tensor = eval.readTensor(op, op.getSource(), env);
  FailureOr<int64_t> dim = eval.readInt(op, op.getIndex(), env);
  if (failed(tensor) || failed(dim))
    return failure();
  if (*dim < 0 || *dim >= tensor->getRank())
    return mlir::emitError(op.getLoc(), "dimension ")
           << *dim << " is not below the rank " << tensor->getRank();
  env.bind(op.getResult(), Tensor::scalarInt(op.getType(), tensor->getShape()[*dim]));
  return success();
}
