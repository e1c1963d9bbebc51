//===- Pieces.cpp - sums of parts with disjoint supports ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The adjoints of `slice` and `at` surround a piece with zeros. Those of several pieces of one list are added up; where
// the pieces do not overlap, the sum is the pieces themselves, one after the other.
//
//===----------------------------------------------------------------------===//
#include "Pieces.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

static bool isZero(Value value) {
  if (auto repeat = value.getDefiningOp<RepeatOp>())
    return isZero(repeat.getValue());
  return matchPattern(value, m_AnyZeroFloat());
}

static LengthAttr lengthOf(Value list) { return cast<ListType>(list.getType()).getLength(); }

/// The parts of a concatenation, with or without a cast.
static SmallVector<Value> partsOf(Value list) {
  if (auto cast = list.getDefiningOp<CastOp>())
    list = cast.getInput();
  auto concat = list.getDefiningOp<ConcatOp>();
  return concat ? SmallVector<Value>(concat.getInputs()) : SmallVector<Value>{list};
}

static Value joinLists(OpBuilder &b, Operation *where, Value sum, Value part) {
  SmallVector<Value> own = partsOf(part), parts = partsOf(sum);
  LengthAttr zero = LengthAttr::get(b.getContext(), 0), lo = zero, at = zero;
  auto found = llvm::find_if_not(own, isZero);
  if (own.size() == 1 || found == own.end() || llvm::count_if(own, isZero) + 1 != static_cast<int64_t>(own.size()))
    return nullptr;
  Value piece = *found;
  for (Value each : own) {
    if (each == piece)
      break;
    lo = lo + lengthOf(each);
  }
  LengthAttr hi = lo + lengthOf(piece);
  for (auto [i, each] : llvm::enumerate(parts)) {
    LengthAttr end = at + lengthOf(each), before = lo - at, after = end - hi;
    if (isZero(each) && before && after && isProvablyNonNegative(where, before) && isProvablyNonNegative(where, after)) {
      SmallVector<Value> made(parts.begin(), parts.begin() + i);
      Value number = each.getDefiningOp<RepeatOp>().getValue();
      auto zeros = [&](LengthAttr count) {
        if (count.getConstant() != 0)
          made.push_back(RepeatOp::create(b, part.getLoc(), number, count));
      };
      zeros(before);
      made.push_back(piece);
      zeros(after);
      made.append(parts.begin() + i + 1, parts.end());
      Value joined = ConcatOp::create(b, part.getLoc(), made);
      return joined.getType() == sum.getType() ? joined
                                               : CastOp::create(b, part.getLoc(), sum.getType(), joined).getResult();
    }
    at = end;
  }
  return nullptr;
}

/// Whether two slices with static places and steps of 1 share no element.
static bool areApart(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
  auto isPlain = [](tensor::InsertSliceOp op) {
    return llvm::none_of(op.getStaticOffsets(), ShapedType::isDynamic) &&
           llvm::none_of(op.getStaticSizes(), ShapedType::isDynamic) &&
           llvm::all_of(op.getStaticStrides(), [](int64_t stride) { return stride == 1; });
  };
  if (!isPlain(a) || !isPlain(b))
    return false;
  for (auto [x, m, y, n] : llvm::zip_equal(a.getStaticOffsets(), a.getStaticSizes(), b.getStaticOffsets(), b.getStaticSizes()))
    if (x + m <= y || y + n <= x)
      return true;
  return false;
}

static Value joinTensors(OpBuilder &b, Value sum, Value part) {
  auto piece = part.getDefiningOp<tensor::InsertSliceOp>();
  if (!piece || !isZero(piece.getDest()))
    return nullptr;
  Value rest = sum;
  while (auto other = rest.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!areApart(piece, other))
      return nullptr;
    rest = other.getDest();
  }
  if (rest == sum || !isZero(rest))
    return nullptr;
  IRMapping mapping;
  mapping.map(piece.getDest(), sum);
  return b.clone(*piece, mapping)->getResult(0);
}

Value differentiate::joinPieces(OpBuilder &b, Operation *where, Value sum, Value part) {
  if (!sum || !part)
    return nullptr;
  return isa<ListType>(sum.getType()) ? joinLists(b, where, sum, part) : joinTensors(b, sum, part);
}
