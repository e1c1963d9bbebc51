//===- LowerSteps.cpp - steps of views as upstream operations -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects and slices, however many, are one slice; permutations, reshapes and
// repetitions are linalg's and tensor's; what has no word of its own is a loop.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tssa;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult StepLowering::size(Value tensor, int64_t dim) {
  int64_t known = tensorType(tensor).getDimSize(dim);
  if (!ShapedType::isDynamic(known))
    return constant(known);
  return tensor::DimOp::create(b, loc, tensor, dim).getResult();
}

Value StepLowering::value(OpFoldResult number) {
  return getValueOrCreateConstantIndexOp(b, loc, number);
}

OpFoldResult StepLowering::add(OpFoldResult x, OpFoldResult y) {
  auto cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return constant(*cx + *cy);
  if (cx == 0)
    return y;
  if (cy == 0)
    return x;
  return arith::AddIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult StepLowering::subtract(OpFoldResult x, OpFoldResult y) {
  auto cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return constant(*cx - *cy);
  if (cy == 0)
    return x;
  return arith::SubIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult StepLowering::multiply(OpFoldResult x, OpFoldResult y) {
  auto cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return constant(*cx * *cy);
  if (cx == 1)
    return y;
  if (cy == 1)
    return x;
  return arith::MulIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult StepLowering::divideUp(OpFoldResult x, int64_t y) {
  if (y == 1)
    return x;
  if (auto cx = getConstantIntValue(x))
    return constant((*cx + y - 1) / y);
  return arith::CeilDivSIOp::create(b, loc, value(x), value(constant(y))).getResult();
}

OpFoldResult StepLowering::least(OpFoldResult x, OpFoldResult y) {
  auto cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return constant(std::min(*cx, *cy));
  if (x == y || cy == toTheEnd)
    return x;
  if (cx == toTheEnd)
    return y;
  return arith::MinSIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult StepLowering::greatest(OpFoldResult x, OpFoldResult y) {
  auto cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return constant(std::max(*cx, *cy));
  if (x == y || (cy == 0 && isNonNegative(x)))
    return x;
  if (cx == 0 && isNonNegative(y))
    return y;
  return arith::MaxSIOp::create(b, loc, value(x), value(y)).getResult();
}

OpFoldResult StepLowering::wrap(OpFoldResult index, OpFoldResult size) {
  if (auto known = getConstantIntValue(index))
    return *known < 0 ? add(index, size) : index;
  if (isNonNegative(index))
    return index;
  Value i = value(index);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, value(constant(0)));
  return arith::SelectOp::create(b, loc, negative, value(add(index, size)), i).getResult();
}

Value StepLowering::empty(ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(b, loc, sizes, element);
}

Value StepLowering::castTo(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(b, loc, type, value);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// A slice of no elements is none: an offset would have to be an index.
static bool isEmptyBox(ArrayRef<OpFoldResult> sizes) {
  return llvm::any_of(sizes, [](OpFoldResult size) { return getConstantIntValue(size) == 0; });
}

Value StepLowering::slice(Value source, const Box &box) {
  RankedTensorType type = typeOf(box, tensorType(source).getElementType());
  if (!isEmptyBox(box.sizes))
    return tensor::ExtractSliceOp::create(b, loc, type, source, box.offsets, box.sizes, box.strides);
  SmallVector<OpFoldResult> kept;
  for (auto [d, size] : llvm::enumerate(box.sizes))
    if (!box.dropped.test(d))
      kept.push_back(size);
  return empty(kept, type.getElementType());
}

Value StepLowering::insert(Value value, Value dest, const Box &box) {
  if (isEmptyBox(box.sizes))
    return dest;
  RankedTensorType type = typeOf(box, tensorType(dest).getElementType());
  return tensor::InsertSliceOp::create(b, loc, castTo(value, type), dest, box.offsets, box.sizes,
                                       box.strides);
}

StepLowering::Box StepLowering::leadingBox(Value source, ArrayRef<Step> steps) {
  Box box;
  int64_t rank = tensorType(source).getRank();
  box.dropped.resize(rank);
  SmallVector<int64_t> dims; // of the source, for each that is left
  for (int64_t d = 0; d < rank; ++d) {
    box.offsets.push_back(constant(0));
    box.sizes.push_back(size(source, d));
    box.strides.push_back(constant(1));
    dims.push_back(d);
  }
  for (const Step &step : steps) {
    if (step.kind != StepKind::Select && step.kind != StepKind::Slice &&
        step.kind != StepKind::Narrow && step.kind != StepKind::Squeeze)
      break;
    int64_t dim = *constantNumber(step, 0), at = dims[dim];
    OpFoldResult whole = box.sizes[at], from = constant(0), count = constant(1), by = constant(1);
    if (step.kind == StepKind::Select) {
      from = wrap(step.numbers[1], whole);
    } else if (step.kind == StepKind::Narrow) {
      from = step.numbers[1];
      count = step.numbers[2];
      by = step.numbers[3];
    } else if (step.kind == StepKind::Slice) {
      int64_t stride = *constantNumber(step, 3);
      from = least(greatest(wrap(step.numbers[1], whole), constant(0)), whole);
      OpFoldResult to = step.numbers[2];
      to = getConstantIntValue(to) == toTheEnd ? whole : least(wrap(to, whole), whole);
      count = divideUp(subtract(greatest(to, from), from), stride);
      by = constant(stride);
    }
    bool goes = step.kind == StepKind::Select;
    if (step.kind == StepKind::Squeeze) {
      goes = getConstantIntValue(whole) == 1;
      if (!goes) {
        ++box.taken;
        continue;
      }
    }
    box.offsets[at] = add(box.offsets[at], multiply(from, box.strides[at]));
    box.sizes[at] = count;
    box.strides[at] = multiply(box.strides[at], by);
    if (goes) {
      box.dropped.set(at);
      dims.erase(dims.begin() + dim);
    }
    ++box.taken;
  }
  return box;
}

RankedTensorType StepLowering::typeOf(const Box &box, Type element) {
  SmallVector<int64_t> shape;
  for (auto [d, size] : llvm::enumerate(box.sizes))
    if (!box.dropped.test(d))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, element);
}

Value StepLowering::access(Value source, ArrayRef<Step> steps) {
  Value whole = source;
  for (size_t i = steps.size(); i-- > 0;)
    if (steps[i].kind == StepKind::AsStrided) {
      steps = steps.drop_front(i);
      break;
    }
  while (!steps.empty()) {
    Box box = leadingBox(source, steps);
    if (box.taken == 0) {
      source = accessOne(steps.front().kind == StepKind::AsStrided ? whole : source, steps.front());
      steps = steps.drop_front();
      continue;
    }
    source = slice(source, box);
    steps = steps.drop_front(box.taken);
  }
  return source;
}

Value StepLowering::assign(Value value, Value dest, ArrayRef<Step> steps) {
  for (size_t i = steps.size(); i-- > 0;)
    if (steps[i].kind == StepKind::AsStrided) {
      steps = steps.drop_front(i);
      break;
    }
  if (steps.empty())
    return castTo(value, dest.getType());
  Box box = leadingBox(dest, steps);
  if (box.taken == 0) {
    if (steps.size() > 1)
      value = assign(value, accessOne(dest, steps.front()), steps.drop_front());
    return assignOne(value, dest, steps.front());
  }
  if (box.taken < steps.size())
    value = assign(value, slice(dest, box), steps.drop_front(box.taken));
  return insert(value, dest, box);
}

//===----------------------------------------------------------------------===//
// Other steps
//===----------------------------------------------------------------------===//

Value StepLowering::transpose(Value value, ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : permutation)
    sizes.push_back(size(value, dim));
  Value init = empty(sizes, tensorType(value).getElementType());
  return linalg::TransposeOp::create(b, loc, value, init, permutation)->getResult(0);
}

Value StepLowering::reshape(Value source, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  RankedTensorType from = tensorType(source);
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from == to && from.hasStaticShape())
    return source;
  if (from.hasStaticShape() && to.hasStaticShape())
    if (auto groups = getReassociationIndicesForReshape(from, to)) {
      if (from.getRank() > to.getRank())
        return tensor::CollapseShapeOp::create(b, loc, to, source, *groups);
      if (from.getRank() < to.getRank())
        return tensor::ExpandShapeOp::create(b, loc, to, source, *groups);
    }
  // Through one dimension.
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank > 0) {
      groups.emplace_back();
      for (int64_t d = 0; d < rank; ++d)
        groups.front().push_back(d);
    }
    return groups;
  };
  Value flat = source;
  if (from.getRank() == 0)
    flat = tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get({1}, from.getElementType()),
                                         source, ArrayRef<ReassociationIndices>());
  else if (from.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(b, loc, source, all(from.getRank()));
  if (to.getRank() == 1)
    return castTo(flat, to);
  if (to.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, loc, to, castTo(flat, RankedTensorType::get({1}, from.getElementType())),
                                           ArrayRef<ReassociationIndices>());
  return tensor::ExpandShapeOp::create(b, loc, to, flat, all(to.getRank()), sizes);
}

Value StepLowering::flatten(Value source) {
  RankedTensorType type = tensorType(source);
  return reshape(source, {constant(type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic)});
}

Value StepLowering::expand(Value source, const Step &step) {
  RankedTensorType from = tensorType(source);
  int64_t extra = int64_t(step.numbers.size()) - from.getRank();
  SmallVector<OpFoldResult> sizes, kept;
  SmallVector<int64_t> added;
  for (int64_t i = 0; i < int64_t(step.numbers.size()); ++i) {
    OpFoldResult wanted = step.numbers[i];
    bool isOne = i >= extra && from.getDimSize(i - extra) == 1;
    if (i >= extra && (!isOne || getConstantIntValue(wanted) == -1))
      wanted = size(source, i - extra);
    sizes.push_back(wanted);
    if (i < extra || (isOne && getConstantIntValue(wanted) != 1))
      added.push_back(i);
    else
      kept.push_back(wanted);
  }
  if (added.empty())
    return source;
  // Dimensions of size 1 go before they come back repeated.
  Value squeezed = reshape(source, kept);
  Value init = empty(sizes, from.getElementType());
  return linalg::BroadcastOp::create(b, loc, squeezed, init, added)->getResult(0);
}

Value StepLowering::diagonalSquare(Value source, const Step &step, Box &box) {
  int64_t offset = *constantNumber(step, 0), first = *constantNumber(step, 1),
          second = *constantNumber(step, 2);
  box = leadingBox(source, {});
  OpFoldResult rows = subtract(box.sizes[first], constant(std::max<int64_t>(0, -offset)));
  OpFoldResult columns = subtract(box.sizes[second], constant(std::max<int64_t>(0, offset)));
  OpFoldResult count = greatest(least(rows, columns), constant(0));
  bool isEmpty = getConstantIntValue(count) == 0;
  box.offsets[first] = constant(isEmpty ? 0 : std::max<int64_t>(0, -offset));
  box.offsets[second] = constant(isEmpty ? 0 : std::max<int64_t>(0, offset));
  box.sizes[first] = box.sizes[second] = count;
  return slice(source, box);
}

/// `(d0, ..., dn) -> (...)`: dimension d of a square for each of its diagonal's.
static AffineMap diagonalMap(MLIRContext *context, int64_t rank, int64_t first, int64_t second,
                             bool ofSquare) {
  SmallVector<AffineExpr> results;
  unsigned next = 0;
  if (ofSquare) { // loops: those of the diagonal, which is last
    for (int64_t d = 0; d < rank; ++d)
      results.push_back(getAffineDimExpr(d == first || d == second ? rank - 2 : next++, context));
    return AffineMap::get(rank - 1, 0, results, context);
  }
  for (int64_t d = 0; d < rank; ++d) // loops: those of the square
    if (d != first && d != second)
      results.push_back(getAffineDimExpr(d, context));
  results.push_back(getAffineDimExpr(first, context));
  return AffineMap::get(rank, 0, results, context);
}

Value StepLowering::diagonal(Value source, const Step &step) {
  Box box;
  Value square = diagonalSquare(source, step, box);
  int64_t rank = tensorType(square).getRank(), first = *constantNumber(step, 1),
          second = *constantNumber(step, 2);
  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0; d < rank; ++d)
    if (d != first && d != second)
      sizes.push_back(box.sizes[d]);
  sizes.push_back(box.sizes[first]);
  Value init = empty(sizes, tensorType(source).getElementType());
  SmallVector<AffineMap> maps = {diagonalMap(b.getContext(), rank, first, second, true),
                                 b.getMultiDimIdentityMap(rank - 1)};
  SmallVector<utils::IteratorType> iterators(rank - 1, utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, init.getType(), square, init, maps, iterators,
                                   [](OpBuilder &nested, Location at, ValueRange args) {
                                     linalg::YieldOp::create(nested, at, args[0]);
                                   })
      .getResult(0);
}

Value StepLowering::assignDiagonal(Value source, Value dest, const Step &step) {
  Box box;
  Value square = diagonalSquare(dest, step, box);
  int64_t rank = tensorType(square).getRank(), first = *constantNumber(step, 1),
          second = *constantNumber(step, 2);
  SmallVector<OpFoldResult> sizes(box.sizes);
  Value init = empty(sizes, tensorType(dest).getElementType());
  SmallVector<AffineMap> maps = {diagonalMap(b.getContext(), rank, first, second, false),
                                 b.getMultiDimIdentityMap(rank), b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  Value made = linalg::GenericOp::create(
                   b, loc, init.getType(), ValueRange{source, square}, init, maps, iterators,
                   [&](OpBuilder &nested, Location at, ValueRange args) {
                     Value i = linalg::IndexOp::create(nested, at, first);
                     Value j = linalg::IndexOp::create(nested, at, second);
                     Value same = arith::CmpIOp::create(nested, at, arith::CmpIPredicate::eq, i, j);
                     Value chosen = arith::SelectOp::create(nested, at, same, args[0], args[1]);
                     linalg::YieldOp::create(nested, at, chosen);
                   })
                   .getResult(0);
  return insert(made, dest, box);
}

Value StepLowering::unfold(Value source, const Step &step) {
  int64_t dim = *constantNumber(step, 0), window = *constantNumber(step, 1),
          by = *constantNumber(step, 2);
  RankedTensorType from = tensorType(source);
  int64_t rank = from.getRank();
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> results;
  for (int64_t d = 0; d < rank; ++d) {
    AffineExpr expr = b.getAffineDimExpr(d);
    sizes.push_back(size(source, d));
    if (d == dim) {
      OpFoldResult room = subtract(sizes.back(), constant(window));
      if (auto known = getConstantIntValue(room))
        sizes.back() = constant(*known / by + 1);
      else
        sizes.back() = add(arith::FloorDivSIOp::create(b, loc, value(room), value(constant(by))).getResult(),
                           constant(1));
      expr = expr * by + b.getAffineDimExpr(rank);
    }
    results.push_back(expr);
  }
  sizes.push_back(constant(window));
  Value init = empty(sizes, from.getElementType());
  // Positions are computed: an access map of windows would bound the loops by itself.
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(rank + 1)};
  SmallVector<utils::IteratorType> iterators(rank + 1, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), ValueRange(), init, maps, iterators,
             [&](OpBuilder &nested, Location at, ValueRange) {
               SmallVector<Value> point;
               for (int64_t d = 0; d < rank; ++d) {
                 Value i = linalg::IndexOp::create(nested, at, d);
                 if (d == dim) {
                   Value stride = arith::ConstantIndexOp::create(nested, at, by);
                   Value offset = linalg::IndexOp::create(nested, at, rank);
                   i = arith::MulIOp::create(nested, at, i, stride);
                   i = arith::AddIOp::create(nested, at, i, offset);
                 }
                 point.push_back(i);
               }
               Value element = tensor::ExtractOp::create(nested, at, source, point);
               linalg::YieldOp::create(nested, at, element);
             })
      .getResult(0);
}

/// offset + Σ point·strides
static Value stridedPosition(OpBuilder &b, Location loc, const Step &step, ValueRange point) {
  unsigned rank = step.numbers.size() / 2;
  Value at = getValueOrCreateConstantIndexOp(b, loc, step.numbers[0]);
  for (unsigned d = 0; d < rank; ++d) {
    Value stride = getValueOrCreateConstantIndexOp(b, loc, step.numbers[1 + rank + d]);
    at = arith::AddIOp::create(b, loc, at, arith::MulIOp::create(b, loc, point[d], stride));
  }
  return at;
}

Value StepLowering::strided(Value source, const Step &step) {
  unsigned rank = step.numbers.size() / 2;
  Value flat = flatten(source);
  SmallVector<OpFoldResult> sizes(ArrayRef(step.numbers).slice(1, rank));
  Value init = empty(sizes, tensorType(source).getElementType());
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), ValueRange(), init, maps, iterators,
             [&](OpBuilder &nested, Location at, ValueRange) {
               SmallVector<Value> point;
               for (unsigned d = 0; d < rank; ++d)
                 point.push_back(linalg::IndexOp::create(nested, at, d));
               Value position = stridedPosition(nested, at, step, point);
               Value element = tensor::ExtractOp::create(nested, at, flat, position);
               linalg::YieldOp::create(nested, at, element);
             })
      .getResult(0);
}

Value mlir::tssa::carryOverPoints(OpBuilder &b, Location loc, int64_t rank, Value first, function_ref<Value(int64_t)> endOf,
                                  function_ref<Value(ArrayRef<Value>, Value)> body) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> point;
  std::function<Value(int64_t, Value)> nest = [&](int64_t dim, Value carried) -> Value {
    if (dim == rank)
      return body(point, carried);
    auto loop = scf::ForOp::create(b, loc, zero, endOf(dim), one, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    point.push_back(loop.getInductionVar());
    Value next = nest(dim + 1, loop.getRegionIterArg(0));
    point.pop_back();
    scf::YieldOp::create(b, loc, next);
    return loop.getResult(0);
  };
  return nest(0, first);
}

Value StepLowering::assignAt(Value source, Value dest,
                             function_ref<SmallVector<Value>(ValueRange)> position) {
  auto write = [&](ArrayRef<Value> point, Value carried) -> Value {
    Value element = tensor::ExtractOp::create(b, loc, source, point);
    return tensor::InsertOp::create(b, loc, element, carried, position(point));
  };
  return carryOverPoints(b, loc, tensorType(source).getRank(), dest, [&](int64_t dim) { return value(size(source, dim)); }, write);
}

Value StepLowering::accessOne(Value source, const Step &step) {
  switch (step.kind) {
  case StepKind::Permute: {
    SmallVector<int64_t> permutation;
    for (unsigned i = 0; i < step.numbers.size(); ++i)
      permutation.push_back(*constantNumber(step, i));
    return transpose(source, permutation);
  }
  case StepKind::Reshape: {
    SmallVector<OpFoldResult> sizes(step.numbers.begin(), step.numbers.end());
    for (OpFoldResult &size_ : sizes)
      if (getConstantIntValue(size_) == -1) {
        OpFoldResult total = constant(1);
        for (int64_t d = 0; d < tensorType(source).getRank(); ++d)
          total = multiply(total, size(source, d));
        OpFoldResult others = constant(1);
        for (OpFoldResult other : step.numbers)
          if (getConstantIntValue(other) != -1)
            others = multiply(others, other);
        auto t = getConstantIntValue(total), o = getConstantIntValue(others);
        if (t && o)
          size_ = constant(*o == 0 ? 0 : *t / *o);
        else
          size_ = arith::DivSIOp::create(b, loc, value(total), value(others)).getResult();
      }
    return reshape(source, sizes);
  }
  case StepKind::Unsqueeze: {
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < tensorType(source).getRank(); ++d)
      sizes.push_back(size(source, d));
    sizes.insert(sizes.begin() + *constantNumber(step, 0), constant(1));
    return reshape(source, sizes);
  }
  case StepKind::Expand:
    return expand(source, step);
  case StepKind::Diagonal:
    return diagonal(source, step);
  case StepKind::Unfold:
    return unfold(source, step);
  case StepKind::AsStrided:
    return strided(source, step);
  default:
    llvm_unreachable("part of a box");
  }
}

Value StepLowering::assignOne(Value source, Value dest, const Step &step) {
  switch (step.kind) {
  case StepKind::Permute: {
    SmallVector<int64_t> inverse(step.numbers.size());
    for (unsigned i = 0; i < step.numbers.size(); ++i)
      inverse[*constantNumber(step, i)] = i;
    return castTo(transpose(source, inverse), dest.getType());
  }
  case StepKind::Reshape:
  case StepKind::Unsqueeze:
  case StepKind::Expand: { // that repeats nothing
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < tensorType(dest).getRank(); ++d)
      sizes.push_back(size(dest, d));
    return castTo(reshape(source, sizes), dest.getType());
  }
  case StepKind::Diagonal:
    return assignDiagonal(source, dest, step);
  case StepKind::Unfold: {
    int64_t dim = *constantNumber(step, 0), by = *constantNumber(step, 2);
    return assignAt(source, dest, [&](ValueRange point) {
      SmallVector<Value> at(point.drop_back());
      at[dim] = value(add(multiply(OpFoldResult(at[dim]), constant(by)), OpFoldResult(point.back())));
      return at;
    });
  }
  case StepKind::AsStrided: {
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < tensorType(dest).getRank(); ++d)
      sizes.push_back(size(dest, d));
    Value flat = flatten(dest);
    Value made = assignAt(source, flat, [&](ValueRange point) {
      return SmallVector<Value>{stridedPosition(b, loc, step, point)};
    });
    return castTo(reshape(made, sizes), dest.getType());
  }
  default:
    llvm_unreachable("part of a box");
  }
}
