//===- Steps.cpp - the steps of a view ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps with constants and operands, and the sizes that follow from them.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/TSSA/IR/StridedView.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tssa;

static bool isUnknown(int64_t size) { return ShapedType::isDynamic(size); }

std::optional<int64_t> mlir::tssa::constantNumber(const Step &step, unsigned i) {
  return getConstantIntValue(step.numbers[i]);
}

bool mlir::tssa::isNonNegative(OpFoldResult index, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant >= 0;
  Value value = cast<Value>(index);
  if (depth > 6)
    return false;
  auto both = [&](Operation *op) {
    return isNonNegative(op->getOperand(0), depth + 1) && isNonNegative(op->getOperand(1), depth + 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (!loop)
      return false;
    auto ivs = loop.getLoopInductionVars();
    auto lowers = loop.getLoopLowerBounds();
    if (!ivs || !lowers)
      return false;
    for (auto [iv, lower] : llvm::zip_equal(*ivs, *lowers))
      if (iv == value)
        return isNonNegative(lower, depth + 1);
    return false;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::RemSIOp,
          arith::MinSIOp>(op))
    return both(op);
  if (isa<arith::MaxSIOp>(op))
    return isNonNegative(op->getOperand(0), depth + 1) || isNonNegative(op->getOperand(1), depth + 1);
  return isa<tensor::DimOp>(op);
}

Steps mlir::tssa::getSteps(ArrayAttr steps, ValueRange numbers) {
  Steps result;
  Builder b(steps.getContext());
  for (auto attr : steps.getAsRange<StepAttr>()) {
    Step step{attr.getKind(), {}};
    for (int64_t number : attr.getNumbers()) {
      if (!isUnknown(number)) {
        step.numbers.push_back(b.getIndexAttr(number));
        continue;
      }
      if (numbers.empty()) // refused by the verifier
        break;
      Value value = numbers.front();
      numbers = numbers.drop_front();
      if (std::optional<int64_t> constant = getConstantIntValue(value))
        step.numbers.push_back(b.getIndexAttr(*constant));
      else
        step.numbers.push_back(value);
    }
    result.push_back(std::move(step));
  }
  return result;
}

ArrayAttr mlir::tssa::packSteps(MLIRContext *context, ArrayRef<Step> steps,
                                SmallVectorImpl<Value> &numbers) {
  SmallVector<Attribute> attrs;
  for (const Step &step : steps) {
    SmallVector<int64_t> constants;
    for (OpFoldResult number : step.numbers) {
      if (auto attr = dyn_cast<Attribute>(number)) {
        constants.push_back(cast<IntegerAttr>(attr).getInt());
        continue;
      }
      constants.push_back(ShapedType::kDynamic);
      numbers.push_back(cast<Value>(number));
    }
    attrs.push_back(StepAttr::get(context, step.kind, constants));
  }
  return ArrayAttr::get(context, attrs);
}

std::string mlir::tssa::stepsToString(ArrayRef<Step> steps) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(steps, os, [&](const Step &step) {
    os << stringifyStepKind(step.kind) << '(';
    for (unsigned i = 0; i < step.numbers.size(); ++i) {
      std::optional<int64_t> constant = constantNumber(step, i);
      os << (i ? ", " : "");
      if (constant)
        os << *constant;
      else
        os << '?';
    }
    os << ')';
  });
  return text;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// Infers the sizes after one step, and checks what constants say.
struct ShapeInference {
  ArrayRef<int64_t> shape;
  const Step &step;
  function_ref<InFlightDiagnostic()> emitError;

  InFlightDiagnostic error() {
    return emitError() << "'" << stringifyStepKind(step.kind) << "' ";
  }
  int64_t rank() const { return shape.size(); }
  std::optional<int64_t> number(unsigned i) const { return constantNumber(step, i); }
  int64_t size(unsigned i) const { return number(i).value_or(ShapedType::kDynamic); }

  FailureOr<SmallVector<int64_t>> run();
  LogicalResult expectNumbers(size_t count);
  /// Number `i` as a dimension below `end`.
  FailureOr<int64_t> dimension(unsigned i, int64_t end);
  FailureOr<SmallVector<int64_t>> select();
  FailureOr<SmallVector<int64_t>> slice();
  FailureOr<SmallVector<int64_t>> narrow();
  FailureOr<SmallVector<int64_t>> permute();
  FailureOr<SmallVector<int64_t>> reshape();
  FailureOr<SmallVector<int64_t>> squeeze();
  FailureOr<SmallVector<int64_t>> unsqueeze();
  FailureOr<SmallVector<int64_t>> expand();
  FailureOr<SmallVector<int64_t>> diagonal();
  FailureOr<SmallVector<int64_t>> unfold();
  FailureOr<SmallVector<int64_t>> asStrided();
};
} // namespace

LogicalResult ShapeInference::expectNumbers(size_t count) {
  if (step.numbers.size() != count)
    return error() << "takes " << count << " numbers, found " << step.numbers.size() << " (V3)";
  return success();
}

FailureOr<int64_t> ShapeInference::dimension(unsigned i, int64_t end) {
  std::optional<int64_t> dim = number(i);
  if (!dim)
    return error() << "needs a constant dimension (V1)";
  if (*dim < 0 || *dim >= end)
    return error() << "names dimension " << *dim << " of a tensor of rank " << rank() << " (V1)";
  return *dim;
}

FailureOr<SmallVector<int64_t>> ShapeInference::select() {
  if (failed(expectNumbers(2)))
    return failure();
  FailureOr<int64_t> dim = dimension(0, rank());
  if (failed(dim))
    return failure();
  int64_t known = shape[*dim];
  if (std::optional<int64_t> index = number(1);
      index && !isUnknown(known) && (*index < -known || *index >= known))
    return error() << "takes index " << *index << " of dimension " << *dim << ", whose size is "
                   << known << " (V4)";
  SmallVector<int64_t> result(shape);
  result.erase(result.begin() + *dim);
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::slice() {
  if (failed(expectNumbers(4)))
    return failure();
  FailureOr<int64_t> dim = dimension(0, rank());
  if (failed(dim))
    return failure();
  std::optional<int64_t> from = number(1), to = number(2), by = number(3);
  if (!by || *by < 1)
    return error() << "needs a constant step of at least 1 (V4)";
  SmallVector<int64_t> result(shape);
  if (!isUnknown(shape[*dim]) && from && to)
    result[*dim] = clampSlice(shape[*dim], *from, *to, *by).second;
  else
    result[*dim] = ShapedType::kDynamic;
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::narrow() {
  if (failed(expectNumbers(4)))
    return failure();
  FailureOr<int64_t> dim = dimension(0, rank());
  if (failed(dim))
    return failure();
  std::optional<int64_t> from = number(1), count = number(2), by = number(3);
  if (!by || *by < 1)
    return error() << "needs a constant step of at least 1 (V4)";
  if ((count && *count < 0) || (from && *from < 0))
    return error() << "takes no negative numbers (V4)";
  int64_t known = shape[*dim];
  if (!isUnknown(known) && from && count && *count > 0 && *from + (*count - 1) * *by >= known)
    return error() << "takes " << *count << " elements from " << *from << " of dimension " << *dim
                   << ", whose size is " << known << " (V4)";
  SmallVector<int64_t> result(shape);
  result[*dim] = size(2);
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::permute() {
  if (failed(expectNumbers(rank())))
    return failure();
  SmallVector<int64_t> result;
  llvm::SmallBitVector seen(rank());
  for (int64_t i = 0; i < rank(); ++i) {
    FailureOr<int64_t> dim = dimension(i, rank());
    if (failed(dim))
      return failure();
    if (seen.test(*dim))
      return error() << "names dimension " << *dim << " twice (V1)";
    seen.set(*dim);
    result.push_back(shape[*dim]);
  }
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::reshape() {
  SmallVector<int64_t> result;
  int64_t inferred = -1, known = 1, total = 1;
  bool allKnown = true, totalKnown = !ShapedType::isDynamicShape(shape);
  for (auto [i, number] : llvm::enumerate(step.numbers)) {
    int64_t n = size(i);
    if (n == -1 && inferred >= 0)
      return error() << "infers two sizes (V4)";
    if (n < -1 && !isUnknown(n))
      return error() << "has a negative size (V4)";
    if (n == -1)
      inferred = i;
    else if (isUnknown(n))
      allKnown = false;
    else
      known *= n;
    result.push_back(n == -1 ? ShapedType::kDynamic : n);
  }
  for (int64_t n : shape)
    total *= isUnknown(n) ? 1 : n;
  if (!totalKnown || !allKnown)
    return result;
  if (inferred >= 0 && known > 0 && total % known == 0)
    result[inferred] = total / known;
  else if (inferred >= 0 || known != total)
    return error() << "has " << total << " elements, which its sizes do not make (V4)";
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::squeeze() {
  if (failed(expectNumbers(1)))
    return failure();
  FailureOr<int64_t> dim = dimension(0, rank());
  if (failed(dim))
    return failure();
  SmallVector<int64_t> result(shape);
  if (isUnknown(shape[*dim]))
    return error() << "needs a known size: whether dimension " << *dim
                   << " goes would be decided by data (V4)";
  if (shape[*dim] == 1)
    result.erase(result.begin() + *dim);
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::unsqueeze() {
  if (failed(expectNumbers(1)))
    return failure();
  FailureOr<int64_t> dim = dimension(0, rank() + 1);
  if (failed(dim))
    return failure();
  SmallVector<int64_t> result(shape);
  result.insert(result.begin() + *dim, 1);
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::expand() {
  int64_t extra = int64_t(step.numbers.size()) - rank();
  if (extra < 0)
    return error() << "has fewer sizes than the tensor's rank " << rank() << " (V4)";
  SmallVector<int64_t> result;
  for (int64_t i = 0; i < int64_t(step.numbers.size()); ++i) {
    int64_t n = size(i);
    if ((n < -1 && !isUnknown(n)) || (n == -1 && i < extra))
      return error() << "has a negative size (V4)";
    if (i >= extra) {
      int64_t old = shape[i - extra];
      if (n == -1)
        n = old;
      if (!isUnknown(n) && !isUnknown(old) && old != 1 && n != old)
        return error() << "repeats dimension " << i - extra << ", whose size is " << old
                       << " and not 1 (V4)";
      if (isUnknown(n) && !isUnknown(old) && old != 1)
        n = old;
    }
    result.push_back(n);
  }
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::diagonal() {
  if (failed(expectNumbers(3)))
    return failure();
  FailureOr<int64_t> first = dimension(1, rank()), second = dimension(2, rank());
  if (failed(first) || failed(second))
    return failure();
  if (*first == *second)
    return error() << "names dimension " << *first << " twice (V1)";
  std::optional<int64_t> offset = number(0);
  if (!offset)
    return error() << "needs a constant offset (V4)";
  int64_t rows = shape[*first], columns = shape[*second], count = ShapedType::kDynamic;
  if (!isUnknown(rows) && !isUnknown(columns))
    count = std::max<int64_t>(0, *offset >= 0 ? std::min(rows, columns - *offset)
                                              : std::min(rows + *offset, columns));
  SmallVector<int64_t> result;
  for (int64_t i = 0; i < rank(); ++i)
    if (i != *first && i != *second)
      result.push_back(shape[i]);
  result.push_back(count);
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::unfold() {
  if (failed(expectNumbers(3)))
    return failure();
  FailureOr<int64_t> dim = dimension(0, rank());
  if (failed(dim))
    return failure();
  std::optional<int64_t> window = number(1), by = number(2);
  if (!window || *window < 0 || !by || *by < 1)
    return error() << "needs a constant window and a constant step of at least 1 (V4)";
  SmallVector<int64_t> result(shape);
  if (!isUnknown(shape[*dim])) {
    if (*window > shape[*dim])
      return error() << "takes windows of " << *window << " in a dimension of size " << shape[*dim]
                     << " (V4)";
    result[*dim] = (shape[*dim] - *window) / *by + 1;
  }
  result.push_back(*window);
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::asStrided() {
  if (step.numbers.size() % 2 == 0)
    return error() << "takes an offset, sizes and as many strides (V3)";
  unsigned newRank = step.numbers.size() / 2;
  SmallVector<int64_t> result;
  for (unsigned i = 0; i < newRank; ++i)
    result.push_back(size(1 + i));
  for (unsigned i = 0; i < step.numbers.size(); ++i)
    if (std::optional<int64_t> n = number(i); n && *n < 0)
      return error() << "takes no negative numbers (V4)";
  return result;
}

FailureOr<SmallVector<int64_t>> ShapeInference::run() {
  switch (step.kind) {
  case StepKind::Select:
    return select();
  case StepKind::Slice:
    return slice();
  case StepKind::Narrow:
    return narrow();
  case StepKind::Permute:
    return permute();
  case StepKind::Reshape:
    return reshape();
  case StepKind::Squeeze:
    return squeeze();
  case StepKind::Unsqueeze:
    return unsqueeze();
  case StepKind::Expand:
    return expand();
  case StepKind::Diagonal:
    return diagonal();
  case StepKind::Unfold:
    return unfold();
  case StepKind::AsStrided:
    return asStrided();
  }
  llvm_unreachable("unknown step");
}

FailureOr<SmallVector<int64_t>>
mlir::tssa::inferShape(ArrayRef<int64_t> shape, const Step &step,
                       function_ref<InFlightDiagnostic()> emitError) {
  return ShapeInference{shape, step, emitError}.run();
}

FailureOr<SmallVector<int64_t>>
mlir::tssa::inferShape(ArrayRef<int64_t> shape, ArrayRef<Step> steps,
                       function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<int64_t> result(shape);
  for (const Step &step : steps) {
    FailureOr<SmallVector<int64_t>> next = inferShape(result, step, emitError);
    if (failed(next))
      return failure();
    result = std::move(*next);
  }
  return result;
}
