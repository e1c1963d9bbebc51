//===- FTAccessEval.cpp - Access operators of ft on values ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What FT §4.2 says of each access operator, element by element.
//
//===----------------------------------------------------------------------===//
#include "FTAccessEval.h"
#include "TSSAEval.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::interp;

std::optional<LogicalResult> FTAccessEval::run(Operation *op) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<ShiftOp, ReverseOp, SliceOp, StrideOp, WindowOp, GatherOp, ZipOp, GetOp, AtOp, ConcatOp,
            FlattenOp, SplitOp, TransposeOp, RepeatOp, IotaOp, ft::CastOp, LastOp, GroupOp>(
          [&](auto concrete) { return Result(visit(concrete)); })
      .Default([](Operation *) { return Result(); });
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

LogicalResult mlir::ft::interp::checkValue(const RuntimeValue &value, Type type,
                                           const LengthBinding &lengths,
                                           llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!value.isTensor())
      return emitError() << "expects a tensor of type " << tensor << ", found another value";
    if (value.getTensor().getElementType() != tensor.getElementType() ||
        failed(verifyCompatibleShape(value.getTensor().getShape(), tensor.getShape())))
      return emitError() << "expects a tensor of type " << tensor
                         << ", found one of another element type or shape";
    return success();
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    if (!value.isTuple() || value.getLength() != static_cast<int64_t>(tuple.size()))
      return emitError() << "expects a tuple of " << tuple.size() << " members";
    for (auto [item, member] : llvm::zip_equal(value.getItems(), tuple.getTypes()))
      if (failed(checkValue(item, member, lengths, emitError)))
        return failure();
    return success();
  }
  if (auto reference = dyn_cast<tssa::MutableTensorType>(type)) {
    if (!value.isReference() ||
        failed(verifyCompatibleShape(value.getReference().where.sizes, reference.getShape())))
      return emitError() << "expects a mutable tensor of type " << reference
                         << ", found one of another shape";
    return success();
  }
  auto list = dyn_cast<ListType>(type);
  if (!list) { // a scalar
    if (!value.isTensor() || value.getTensor().getElementType() != type || value.getTensor().getRank())
      return emitError() << "expects a scalar of type " << type << ", found another value";
    return success();
  }
  if (!value.isList())
    return emitError() << "expects a list of type " << list;
  if (!list.getLength().getRagged()) {
    std::optional<int64_t> expected = lengths.evaluate(list.getLength());
    if (!expected)
      return emitError() << "the length " << list.getLength().str() << " of " << list
                         << " has no value: no argument binds its names";
    if (*expected < 0)
      return emitError() << "the length " << list.getLength().str() << " of " << list
                         << " is negative: " << *expected;
    if (*expected != value.getLength())
      return emitError() << "expects a list of length " << list.getLength().str() << " = "
                         << *expected << ", found " << value.getLength();
  }
  for (const RuntimeValue &item : value.getItems())
    if (failed(checkValue(item, list.getPeeled(), lengths, emitError)))
      return failure();
  return success();
}

FailureOr<FTAccessEval::Items> FTAccessEval::readList(Operation *op, Value value) {
  FailureOr<RuntimeValue> found = eval.read(op, value, env);
  if (failed(found))
    return failure();
  if (!found->isList())
    return mlir::emitError(op->getLoc(), "expects a list, found a value of type ")
           << value.getType();
  return found->getItems();
}

FailureOr<int64_t> FTAccessEval::evaluate(Operation *op, LengthAttr length) {
  std::optional<int64_t> value = lengths.evaluate(length);
  if (!value)
    return mlir::emitError(op->getLoc(), "the length ") << length.str() << " has no value here";
  if (*value > maxLength)
    return mlir::emitError(op->getLoc(), "the length ")
           << length.str() << " = " << *value << " is more than the interpreter takes";
  return *value;
}

FailureOr<int64_t> FTAccessEval::position(Operation *op, LengthAttr index, int64_t count) {
  if (std::optional<int64_t> constant = index.getConstant())
    return *constant < 0 ? count + *constant : *constant;
  return evaluate(op, index);
}

/// A value of the same structure whose numbers are all zero.
static RuntimeValue zeroLike(const RuntimeValue &value) {
  if (value.isTensor())
    return Tensor::zeros(value.getTensor().getElementType(), value.getTensor().getShape());
  RuntimeValue::Items items;
  for (const RuntimeValue &item : value.getItems())
    items.push_back(zeroLike(item));
  return value.isList() ? RuntimeValue::list(std::move(items))
                        : RuntimeValue::tuple(std::move(items));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

LogicalResult FTAccessEval::visit(ShiftOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  FailureOr<RuntimeValue> fill = eval.read(op, op.getFill(), env);
  if (failed(items) || failed(fill))
    return failure();
  // A constant may be beyond any list.
  std::optional<int64_t> constant = op.getOffset().getConstant();
  FailureOr<int64_t> offset = constant ? *constant : evaluate(op, op.getOffset());
  if (failed(offset))
    return failure();
  int64_t count = items->size();
  Items result;
  for (int64_t i = 0; i < count; ++i) {
    // The range test comes first: i - offset may overflow.
    bool inside = *offset >= 0 ? i >= *offset : *offset > -count && i < count + *offset;
    result.push_back(inside ? (*items)[i - *offset] : *fill);
  }
  return bindList(op, std::move(result));
}

LogicalResult FTAccessEval::visit(ReverseOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  if (failed(items))
    return failure();
  return bindList(op, Items(items->rbegin(), items->rend()));
}

LogicalResult FTAccessEval::visit(SliceOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  if (failed(items))
    return failure();
  int64_t count = items->size();
  FailureOr<int64_t> lo = position(op, op.getLo(), count), hi = position(op, op.getHi(), count);
  if (failed(lo) || failed(hi))
    return failure();
  if (*lo < 0 || *lo > *hi || *hi > count)
    return mlir::emitError(op.getLoc(), "slice from ")
           << *lo << " to " << *hi << " of a list of length " << count;
  return bindList(op, Items(items->begin() + *lo, items->begin() + *hi));
}

LogicalResult FTAccessEval::visit(StrideOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  if (failed(items))
    return failure();
  int64_t count = items->size(), start = op.getStart(), step = op.getStep();
  if (start < 0 || start > count || step < 1)
    return mlir::emitError(op.getLoc(), "stride from ")
           << start << " by " << step << " in a list of length " << count;
  Items result;
  for (int64_t i = start; i < count; i += std::min(step, count - i))
    result.push_back((*items)[i]);
  return bindList(op, std::move(result));
}

LogicalResult FTAccessEval::visit(WindowOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  if (failed(items))
    return failure();
  FailureOr<int64_t> sizeOrFailure = evaluate(op, op.getSize()),
                     dilationOrFailure = evaluate(op, op.getDilationOrOne());
  if (failed(sizeOrFailure) || failed(dilationOrFailure))
    return failure();
  int64_t count = items->size(), size = *sizeOrFailure, dilation = *dilationOrFailure;
  int64_t step = op.getStep();
  bool bounded = op.getBoundary() == Boundary::None;
  int64_t reach;
  if (size < 1 || dilation < 1)
    return mlir::emitError(op.getLoc(), "a window of size ") << size << " and dilation " << dilation;
  if (size > maxLength || llvm::MulOverflow(size - 1, dilation, reach) || reach > maxLength)
    return mlir::emitError(op.getLoc(), "a window of size ")
           << size << " and dilation " << dilation << " is too wide";
  if (bounded && count < reach)
    return mlir::emitError(op.getLoc(), "a window that spans ")
           << reach + 1 << " elements does not fit in a list of length " << count;
  int64_t windows = bounded ? llvm::divideFloorSigned(count - reach - 1, step) + 1
                            : llvm::divideCeil(count, step);
  int64_t low = bounded ? 0 : (size - 1) / 2 * dilation;
  Items result;
  for (int64_t i = 0; i < windows; ++i) {
    Items window;
    for (int64_t w = 0; w < size; ++w) {
      int64_t at = i * step + w * dilation - low;
      if (at < 0 || at >= count) {
        switch (op.getBoundary()) {
        case Boundary::None:
          break;
        case Boundary::Zero:
          window.push_back(zeroLike((*items)[0]));
          continue;
        case Boundary::Clamp:
          at = at < 0 ? 0 : count - 1;
          break;
        case Boundary::Mirror:
          at = at < 0 ? -at : 2 * (count - 1) - at;
          break;
        case Boundary::Wrap:
          at = at < 0 ? at + count : at - count;
          break;
        }
        if (at < 0 || at >= count)
          return mlir::emitError(op.getLoc(),
                                 "the window reaches over the other end of a list of length ")
                 << count;
      }
      window.push_back((*items)[at]);
    }
    result.push_back(RuntimeValue::list(std::move(window)));
  }
  return bindList(op, std::move(result));
}

FailureOr<RuntimeValue> FTAccessEval::gather(GatherOp op, const Items &items,
                                             const RuntimeValue &indices) {
  if (indices.isList()) {
    Items result;
    for (const RuntimeValue &index : indices.getItems()) {
      FailureOr<RuntimeValue> element = gather(op, items, index);
      if (failed(element))
        return failure();
      result.push_back(*element);
    }
    return RuntimeValue::list(std::move(result));
  }
  int64_t index = indices.getTensor().getInt();
  if (index < 0 || index >= static_cast<int64_t>(items.size()))
    return mlir::emitError(op.getLoc(), "index ")
           << index << " is out of range: the list has length " << items.size();
  return items[index];
}

LogicalResult FTAccessEval::visit(GatherOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  FailureOr<RuntimeValue> indices = eval.read(op, op.getIndices(), env);
  if (failed(items) || failed(indices))
    return failure();
  FailureOr<RuntimeValue> result = gather(op, *items, *indices);
  if (failed(result))
    return failure();
  env.bind(op.getResult(), *result);
  return success();
}

/// The numbers of a list of any depth, one after the other.
static void flattenInto(const RuntimeValue &value, SmallVectorImpl<int64_t> &numbers) {
  if (!value.isList()) {
    numbers.push_back(value.getTensor().getInt());
    return;
  }
  for (const RuntimeValue &item : value.getItems())
    flattenInto(item, numbers);
}

LogicalResult FTAccessEval::visit(GroupOp op) {
  FailureOr<RuntimeValue> indices = eval.read(op, op.getIndices(), env);
  FailureOr<int64_t> count = evaluate(op, op.getValues());
  if (failed(indices) || failed(count))
    return failure();
  SmallVector<int64_t> numbers;
  flattenInto(*indices, numbers);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, numbers.size()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return numbers[a] < numbers[b]; });
  Type place = IntegerType::get(op.getContext(), 64);
  Items places, ends;
  for (int64_t i : order)
    places.push_back(Tensor::scalarInt(place, i));
  for (int64_t v = 0; v < *count; ++v)
    ends.push_back(Tensor::scalarInt(place, llvm::count_if(numbers, [&](int64_t n) { return n <= v; })));
  env.bind(op.getOrder(), RuntimeValue::list(std::move(places)));
  env.bind(op.getEnds(), RuntimeValue::list(std::move(ends)));
  return success();
}

LogicalResult FTAccessEval::visit(ZipOp op) {
  SmallVector<Items> lists;
  for (Value input : op.getInputs()) {
    FailureOr<Items> items = readList(op, input);
    if (failed(items))
      return failure();
    if (!lists.empty() && items->size() != lists[0].size())
      return mlir::emitError(op.getLoc(), "lists differ in length: ")
             << lists[0].size() << " and " << items->size();
    lists.push_back(*items);
  }
  Items result;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    Items members;
    for (const Items &list : lists)
      members.push_back(list[i]);
    result.push_back(RuntimeValue::tuple(std::move(members)));
  }
  return bindList(op, std::move(result));
}

/// The member of a tuple, or of each tuple of a list of any depth.
static RuntimeValue getMember(const RuntimeValue &value, int64_t index) {
  if (value.isTuple())
    return value.getItems()[index];
  RuntimeValue::Items items;
  for (const RuntimeValue &item : value.getItems())
    items.push_back(getMember(item, index));
  return RuntimeValue::list(std::move(items));
}

LogicalResult FTAccessEval::visit(GetOp op) {
  FailureOr<RuntimeValue> value = eval.read(op, op.getInput(), env);
  if (failed(value))
    return failure();
  env.bind(op.getResult(), getMember(*value, op.getIndex()));
  return success();
}

LogicalResult FTAccessEval::visit(AtOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  if (failed(items))
    return failure();
  int64_t count = items->size();
  FailureOr<int64_t> index = position(op, op.getIndex(), count);
  if (failed(index))
    return failure();
  if (*index < 0 || *index >= count)
    return mlir::emitError(op.getLoc(), "index ")
           << *index << " is out of range: the list has length " << count;
  env.bind(op.getResult(), (*items)[*index]);
  return success();
}

LogicalResult FTAccessEval::visit(LastOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  FailureOr<RuntimeValue> fallback = eval.read(op, op.getFallback(), env);
  if (failed(items) || failed(fallback))
    return failure();
  env.bind(op.getResult(), items->empty() ? *fallback : items->back());
  return success();
}

LogicalResult FTAccessEval::visit(ConcatOp op) {
  Items result;
  for (Value input : op.getInputs()) {
    FailureOr<Items> items = readList(op, input);
    if (failed(items))
      return failure();
    llvm::append_range(result, *items);
  }
  return bindList(op, std::move(result));
}

LogicalResult FTAccessEval::visit(FlattenOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  if (failed(items))
    return failure();
  Items result;
  for (const RuntimeValue &item : *items)
    llvm::append_range(result, item.getItems());
  return bindList(op, std::move(result));
}

LogicalResult FTAccessEval::visit(SplitOp op) {
  FailureOr<Items> items = readList(op, op.getInput());
  FailureOr<int64_t> inner = evaluate(op, op.getInner());
  if (failed(items) || failed(inner))
    return failure();
  int64_t count = items->size();
  if (*inner < 1 || count % *inner != 0)
    return mlir::emitError(op.getLoc(), "a list of length ")
           << count << " cannot be split into pieces of " << op.getInner().str() << " = " << *inner;
  Items result;
  for (int64_t i = 0; i < count; i += *inner)
    result.push_back(RuntimeValue::list(Items(items->begin() + i, items->begin() + i + *inner)));
  return bindList(op, std::move(result));
}

LogicalResult FTAccessEval::visit(TransposeOp op) {
  FailureOr<RuntimeValue> value = eval.read(op, op.getInput(), env);
  if (failed(value))
    return failure();
  // Lengths come from the type: a list of no lists does not know theirs.
  ArrayRef<int64_t> permutation = op.getPermutation();
  ArrayRef<LengthAttr> inputLengths = cast<ListType>(op.getInput().getType()).getLengths();
  SmallVector<int64_t> counts;
  for (LengthAttr length : inputLengths.take_front(permutation.size())) {
    FailureOr<int64_t> count = evaluate(op, length);
    if (failed(count))
      return failure();
    counts.push_back(*count);
  }
  SmallVector<int64_t> point(permutation.size(), 0);
  auto build = [&](auto &self, size_t level) -> RuntimeValue {
    if (level == permutation.size()) {
      RuntimeValue element = *value;
      for (int64_t index : point)
        element = RuntimeValue(element.getItems()[index]);
      return element;
    }
    Items items;
    int64_t dim = permutation[level];
    for (int64_t i = 0; i < counts[dim]; ++i) {
      point[dim] = i;
      items.push_back(self(self, level + 1));
    }
    return RuntimeValue::list(std::move(items));
  };
  env.bind(op.getResult(), build(build, 0));
  return success();
}

LogicalResult FTAccessEval::visit(RepeatOp op) {
  FailureOr<RuntimeValue> value = eval.read(op, op.getValue(), env);
  FailureOr<int64_t> count = evaluate(op, op.getCount());
  if (failed(value) || failed(count))
    return failure();
  if (*count < 0)
    return mlir::emitError(op.getLoc(), "the count ")
           << op.getCount().str() << " is negative: " << *count;
  return bindList(op, Items(*count, *value));
}

LogicalResult FTAccessEval::visit(IotaOp op) {
  auto type = cast<ListType>(op.getResult().getType());
  FailureOr<int64_t> count = evaluate(op, type.getLength());
  if (failed(count))
    return failure();
  Type element = cast<RankedTensorType>(type.getElement()).getElementType();
  Items items;
  for (int64_t i = 0; i < *count; ++i)
    items.push_back(Tensor::scalarInt(element, i));
  return bindList(op, std::move(items));
}

LogicalResult FTAccessEval::visit(ft::CastOp op) {
  FailureOr<RuntimeValue> value = eval.read(op, op.getInput(), env);
  if (failed(value) || failed(checkValue(*value, op.getResult().getType(), lengths,
                                         [&] { return mlir::emitError(op.getLoc()); })))
    return failure();
  env.bind(op.getResult(), *value);
  return success();
}
