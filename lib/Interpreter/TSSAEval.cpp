//===- TSSAEval.cpp - the heap of mutable tensors -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storages, views, and the operations on values that they become.
//
//===----------------------------------------------------------------------===//
#include "TSSAEval.h"
#include "ft/Dialect/Math/Transforms/IntegerOperations.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft::interp;
using tssa::StridedView;

RuntimeValue mlir::ft::interp::allocate(const Tensor &value) {
  auto view = std::make_shared<HeapView>();
  view->storage = std::make_shared<HeapStorage>();
  view->storage->elementType = value.getElementType();
  view->storage->cells.assign(value.data(), value.data() + value.getNumElements());
  view->where = StridedView::dense(value.getShape());
  return RuntimeValue::reference(std::move(view));
}

Tensor mlir::ft::interp::readView(const HeapView &view) {
  Tensor result = Tensor::zeros(view.storage->elementType, view.where.sizes);
  Cell *next = result.mutableData();
  view.where.forEach([&](int64_t at) { *next++ = view.storage->cells[at]; });
  return result;
}

Cell mlir::ft::interp::convertCell(Cell cell, Type from, Type to, bool truth) {
  Cell result;
  bool fromFloat = isa<FloatType>(from), fromBool = from.isInteger(1);
  if (isa<FloatType>(to)) {
    result.f = fromFloat ? cell.f : double(cell.i);
    if (std::optional<Round> round = roundingOf(to); round && !truth)
      result.f = roundTo(result.f, *round);
    return result;
  }
  unsigned width = integerWidth(to);
  if (to.isInteger(1)) {
    result.i = fromFloat ? cell.f != 0 : cell.i != 0;
  } else if (fromFloat) {
    result.i = wrapToWidth(ft::computeFromFloat(ft::IntegerOperation::FPToSI, cell.f, width), width);
  } else {
    result.i = fromBool ? cell.i & 1 : wrapToWidth(cell.i, width);
  }
  return result;
}

/// For each position of `shape` in order, the position in `from` that is broadcast there.
static SmallVector<int64_t> broadcastPositions(ArrayRef<int64_t> from, ArrayRef<int64_t> shape) {
  StridedView view = StridedView::dense(from);
  SmallVector<int64_t, 4> strides(shape.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1)
      strides[shape.size() - from.size() + i] = view.strides[i];
  view.sizes.assign(shape.begin(), shape.end());
  view.strides = strides;
  SmallVector<int64_t> result;
  view.forEach([&](int64_t at) { result.push_back(at); });
  return result;
}

static bool canBroadcast(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  for (auto [a, b] : llvm::zip(llvm::reverse(from), llvm::reverse(to)))
    if (a != b && a != 1)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Mutable tensors
//===----------------------------------------------------------------------===//

LogicalResult TSSAEval::run(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tssa::NewOp, tssa::ReadOp, tssa::ViewOp, tssa::MutateOp, tssa::AccessOp, tssa::AssignOp,
            tssa::IndexOp, tssa::IndexPutOp>([&](auto concrete) { return visit(concrete); })
      .Default([](Operation *other) {
        return mlir::emitError(other->getLoc(), "the interpreter does not run '")
               << other->getName() << "': it stands between the steps of tssa-functionalize";
      });
}

FailureOr<std::shared_ptr<const HeapView>> TSSAEval::readReference(Operation *op, Value value) {
  FailureOr<RuntimeValue> found = eval.read(op, value, env);
  if (failed(found))
    return failure();
  if (!found->isReference())
    return mlir::emitError(op->getLoc(), "expects a mutable tensor, found a value of type ")
           << value.getType();
  return std::make_shared<const HeapView>(found->getReference());
}

LogicalResult TSSAEval::applySteps(Operation *op, ArrayAttr steps, ValueRange operands,
                                   int64_t storage, StridedView &view) {
  for (auto step : steps.getAsRange<tssa::StepAttr>()) {
    SmallVector<int64_t> numbers(step.getNumbers());
    for (int64_t &number : numbers) {
      if (!ShapedType::isDynamic(number))
        continue;
      FailureOr<int64_t> value = eval.readInt(op, operands.front(), env);
      if (failed(value))
        return failure();
      number = *value;
      operands = operands.drop_front();
    }
    std::string problem = view.apply(step.getKind(), numbers, storage);
    if (!problem.empty())
      return mlir::emitError(op->getLoc(), "'")
             << tssa::stringifyStepKind(step.getKind()) << "': " << problem;
  }
  return success();
}

/// That sizes at run time are what the type says of them.
static LogicalResult checkSizes(Operation *op, ArrayRef<int64_t> found, ArrayRef<int64_t> expected) {
  for (auto [dim, a, b] : llvm::enumerate(found, expected))
    if (a != b && !ShapedType::isDynamic(b))
      return mlir::emitError(op->getLoc(), "dimension ")
             << dim << " of the result has size " << a << ", its type says " << b;
  return success();
}

LogicalResult TSSAEval::visit(tssa::NewOp op) {
  FailureOr<Tensor> value = eval.readTensor(op, op.getValue(), env);
  if (failed(value))
    return failure();
  env.bind(op.getResult(), allocate(*value));
  return success();
}

LogicalResult TSSAEval::visit(tssa::ReadOp op) {
  auto view = readReference(op, op.getSource());
  // (A view that repeats elements may have more of them than its storage.)
  if (failed(view) || failed(checkAllocation(op.getLoc(), (*view)->where.sizes)))
    return failure();
  env.bind(op.getResult(), readView(**view));
  return success();
}

LogicalResult TSSAEval::visit(tssa::ViewOp op) {
  auto base = readReference(op, op.getSource());
  if (failed(base))
    return failure();
  auto view = std::make_shared<HeapView>(**base);
  if (failed(applySteps(op, op.getSteps(), op.getNumbers(), view->storage->cells.size(),
                        view->where)) ||
      failed(checkSizes(op, view->where.sizes, op.getType().getShape())))
    return failure();
  env.bind(op.getResult(), RuntimeValue::reference(std::move(view)));
  return success();
}

LogicalResult TSSAEval::visit(tssa::MutateOp op) {
  auto view = readReference(op, op.getDest());
  FailureOr<Tensor> value = eval.readTensor(op, op.getValue(), env);
  if (failed(view) || failed(value))
    return failure();
  const StridedView &where = (*view)->where;
  if (where.repeats())
    return mlir::emitError(op->getLoc(), "writes through a view that repeats elements; copy it first");
  if (!canBroadcast(value->getShape(), where.sizes)) {
    InFlightDiagnostic diag = mlir::emitError(op->getLoc(), "cannot broadcast a value of sizes ");
    llvm::interleave(value->getShape(), diag, "x");
    diag << " to ";
    llvm::interleave(where.sizes, diag, "x");
    return diag;
  }
  HeapStorage &storage = *(*view)->storage;
  SmallVector<int64_t> from = broadcastPositions(value->getShape(), where.sizes);
  size_t next = 0;
  where.forEach([&](int64_t at) {
    storage.cells[at] = convertCell(value->data()[from[next++]], value->getElementType(),
                                    storage.elementType, eval.isTruth());
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LogicalResult TSSAEval::visit(tssa::AccessOp op) {
  FailureOr<Tensor> source = eval.readTensor(op, op.getSource(), env);
  if (failed(source))
    return failure();
  StridedView view = StridedView::dense(source->getShape());
  // A reshape of what an earlier step gave is a value's: it never needs the same storage.
  Tensor current = *source;
  ValueRange numbers = op.getNumbers();
  for (Attribute attr : op.getSteps()) {
    auto step = cast<tssa::StepAttr>(attr);
    size_t count = llvm::count(step.getNumbers(), ShapedType::kDynamic);
    bool whole = step.getKind() == tssa::StepKind::AsStrided;
    const Tensor &from = whole ? *source : current;
    view = StridedView::dense(from.getShape());
    if (failed(applySteps(op, Builder(op).getArrayAttr(attr), numbers.take_front(count),
                          from.getNumElements(), view)) ||
        failed(checkAllocation(op.getLoc(), view.sizes)))
      return failure();
    numbers = numbers.drop_front(count);
    Tensor next = Tensor::zeros(from.getElementType(), view.sizes);
    Cell *cells = next.mutableData();
    view.forEach([&](int64_t at) { *cells++ = from.data()[at]; });
    current = next;
  }
  if (failed(checkSizes(op, current.getShape(), cast<RankedTensorType>(op.getType()).getShape())))
    return failure();
  env.bind(op.getResult(), current);
  return success();
}

LogicalResult TSSAEval::visit(tssa::AssignOp op) {
  FailureOr<Tensor> dest = eval.readTensor(op, op.getDest(), env);
  FailureOr<Tensor> value = eval.readTensor(op, op.getValue(), env);
  if (failed(dest) || failed(value))
    return failure();
  // Where each element of the value comes from: the access of the positions themselves.
  SmallVector<int64_t> at(dest->getNumElements());
  std::iota(at.begin(), at.end(), 0);
  SmallVector<int64_t> current = at;
  SmallVector<int64_t> shape(dest->getShape());
  ValueRange numbers = op.getNumbers();
  for (Attribute attr : op.getSteps()) {
    auto step = cast<tssa::StepAttr>(attr);
    size_t count = llvm::count(step.getNumbers(), ShapedType::kDynamic);
    bool whole = step.getKind() == tssa::StepKind::AsStrided;
    const SmallVector<int64_t> &from = whole ? at : current;
    StridedView view = StridedView::dense(whole ? dest->getShape() : ArrayRef<int64_t>(shape));
    if (failed(applySteps(op, Builder(op).getArrayAttr(attr), numbers.take_front(count),
                          from.size(), view)))
      return failure();
    numbers = numbers.drop_front(count);
    SmallVector<int64_t> next;
    view.forEach([&](int64_t position) { next.push_back(from[position]); });
    shape.assign(view.sizes.begin(), view.sizes.end());
    current = std::move(next);
  }
  if (ArrayRef<int64_t>(shape) != value->getShape())
    return mlir::emitError(op->getLoc(), "the value has other sizes than what it replaces");
  Tensor result = *dest;
  Cell *cells = result.mutableData();
  for (auto [i, position] : llvm::enumerate(current))
    cells[position] = value->data()[i];
  env.bind(op.getResult(), result);
  return success();
}

FailureOr<SmallVector<int64_t>> TSSAEval::positions(Operation *op, const Tensor &source,
                                                    ArrayRef<int64_t> dims, ValueRange indices,
                                                    SmallVectorImpl<int64_t> &shape) {
  SmallVector<Tensor> tensors;
  SmallVector<Type> types;
  for (Value index : indices) {
    FailureOr<Tensor> tensor = eval.readTensor(op, index, env);
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
    types.push_back(RankedTensorType::get(tensor->getShape(), tensor->getElementType()));
  }
  auto emit = [&] { return mlir::emitError(op->getLoc()); };
  auto sourceType = RankedTensorType::get(source.getShape(), source.getElementType());
  FailureOr<SmallVector<int64_t>> whole = tssa::inferIndexShape(sourceType, dims, types, emit);
  if (failed(whole))
    return failure();
  shape.assign(whole->begin(), whole->end());
  if (failed(checkAllocation(op->getLoc(), shape)))
    return failure();
  size_t broadcastRank = shape.size() - (source.getRank() - dims.size());
  bool adjacent = dims.back() - dims.front() + 1 == int64_t(dims.size());
  size_t begin = adjacent ? dims.front() : 0;
  ArrayRef<int64_t> broadcast = ArrayRef<int64_t>(shape).slice(begin, broadcastRank);
  SmallVector<SmallVector<int64_t>> from;
  for (const Tensor &tensor : tensors)
    from.push_back(broadcastPositions(tensor.getShape(), broadcast));
  SmallVector<int64_t> sourceStrides(rowMajorStrides(source.getShape()));
  StridedView all = StridedView::dense(shape), inner = StridedView::dense(broadcast);
  SmallVector<int64_t> result;
  LogicalResult ok = success();
  all.forEach([&](int64_t flat) {
    if (failed(ok))
      return;
    int64_t offset = 0, at = 0, next = 0;
    for (size_t d = 0, plain = 0; d < shape.size(); ++d) {
      int64_t index = flat / all.strides[d] % std::max<int64_t>(1, shape[d]);
      if (d >= begin && d < begin + broadcastRank) {
        at += index * inner.strides[d - begin];
        continue;
      }
      while (llvm::is_contained(dims, next))
        ++next;
      offset += index * sourceStrides[next++];
      (void)plain;
    }
    for (auto [i, dim] : llvm::enumerate(dims)) {
      int64_t index = tensors[i].getInt(from[i][at]), size = source.getShape()[dim];
      if (index < -size || index >= size) {
        ok = mlir::emitError(op->getLoc(), "index ")
             << index << " of dimension " << dim << " is out of range: its size is " << size;
        return;
      }
      offset += (index < 0 ? index + size : index) * sourceStrides[dim];
    }
    result.push_back(offset);
  });
  if (failed(ok))
    return failure();
  return result;
}

LogicalResult TSSAEval::visit(tssa::IndexOp op) {
  FailureOr<Tensor> source = eval.readTensor(op, op.getSource(), env);
  if (failed(source))
    return failure();
  SmallVector<int64_t> shape;
  FailureOr<SmallVector<int64_t>> at = positions(op, *source, op.getDims(), op.getIndices(), shape);
  if (failed(at))
    return failure();
  Tensor result = Tensor::zeros(source->getElementType(), shape);
  Cell *cells = result.mutableData();
  for (auto [i, position] : llvm::enumerate(*at))
    cells[i] = source->data()[position];
  env.bind(op.getResult(), result);
  return success();
}

LogicalResult TSSAEval::visit(tssa::IndexPutOp op) {
  FailureOr<Tensor> dest = eval.readTensor(op, op.getDest(), env);
  FailureOr<Tensor> value = eval.readTensor(op, op.getValue(), env);
  if (failed(dest) || failed(value))
    return failure();
  SmallVector<int64_t> shape;
  FailureOr<SmallVector<int64_t>> at = positions(op, *dest, op.getDims(), op.getIndices(), shape);
  if (failed(at))
    return failure();
  if (!canBroadcast(value->getShape(), shape))
    return mlir::emitError(op->getLoc(), "the value can't be broadcast to what is indexed");
  SmallVector<int64_t> from = broadcastPositions(value->getShape(), shape);
  Tensor result = *dest;
  Cell *cells = result.mutableData();
  Type element = dest->getElementType();
  for (auto [i, position] : llvm::enumerate(*at)) {
    Cell cell = value->data()[from[i]];
    if (!op.getAccumulate()) {
      cells[position] = cell;
    } else if (isa<FloatType>(element)) {
      cells[position].f += cell.f;
      if (std::optional<Round> round = roundingOf(element); round && !eval.isTruth())
        cells[position].f = roundTo(cells[position].f, *round);
    } else {
      cells[position].i = wrapToWidth(cells[position].i + cell.i, integerWidth(element));
    }
  }
  env.bind(op.getResult(), result);
  return success();
}
