//===- InputPlaces.cpp - where a leaf's input may lie ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read with several pieces is a branch that gives memory, an offset and the
// distance of rows (convert-etdg-to-loops). An offset is a sum of indices, each
// times the stride of its dimension.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/OperandMaps.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// The terms of an offset, the first one first; false if it is computed in another way.
static bool readTerms(Value offset, OpFoldResult rowStep, SmallVectorImpl<loops::ViewOp::Dim> &dims) {
  if (isZeroInteger(OpFoldResult(offset)))
    return true;
  if (auto sum = offset.getDefiningOp<arith::AddIOp>())
    return readTerms(sum.getLhs(), rowStep, dims) && readTerms(sum.getRhs(), rowStep, dims);
  auto product = offset.getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  Builder b(offset.getContext());
  OpFoldResult stride = getAsOpFoldResult(product.getRhs());
  dims.push_back({getAsOpFoldResult(product.getLhs()), stride, b.getIndexAttr(stride == rowStep ? 1 : 0)});
  return true;
}

/// What one branch gives.
static std::optional<InputPlace> readPlace(Value condition, Value memory, Value offset, Value step) {
  InputPlace place{condition, memory, {}, /*isChosen=*/true};
  if (auto splat = memory.getDefiningOp<loops::SplatOp>()) {
    place.isZero = matchPattern(splat.getValue(), m_AnyZeroFloat());
    return place.isZero ? std::optional(place) : std::nullopt;
  }
  OpFoldResult rowStep = getAsOpFoldResult(step);
  if (!readTerms(offset, rowStep, place.dims))
    return std::nullopt;
  const bool moves = llvm::any_of(place.dims, [](const loops::ViewOp::Dim &dim) { return isOneInteger(dim.step); });
  return moves || isZeroInteger(rowStep) ? std::optional(place) : std::nullopt;
}

static bool addPlaces(Value condition, Value memory, Value offset, Value step, SmallVectorImpl<InputPlace> &places) {
  auto branch = memory.getDefiningOp<scf::IfOp>();
  if (!branch) {
    std::optional<InputPlace> place = readPlace(condition, memory, offset, step);
    if (place)
      places.push_back(std::move(*place));
    return place.has_value();
  }
  // (A branch in a `then` would need two conditions at once.)
  const unsigned number = cast<OpResult>(memory).getResultNumber();
  constexpr unsigned results = 3;
  if (condition || branch.getNumResults() != results || number != 0 || offset != branch.getResult(1) || step != branch.getResult(2))
    return false;
  scf::YieldOp one = branch.thenYield(), other = branch.elseYield();
  return addPlaces(branch.getCondition(), one.getOperand(0), one.getOperand(1), one.getOperand(2), places) &&
         addPlaces(Value(), other.getOperand(0), other.getOperand(1), other.getOperand(2), places);
}

SmallVector<InputPlace> togpu::inputPlacesOf(loops::ViewOp view) {
  SmallVector<loops::ViewOp::Dim> dims = view.getDims();
  SmallVector<InputPlace> places;
  if (!view.getMemory().getDefiningOp<scf::IfOp>()) {
    places.push_back({Value(), view.getMemory(), dims});
    return places;
  }
  auto offset = dims.size() == 1 ? dyn_cast<Value>(dims.front().index) : Value();
  auto step = dims.size() == 1 ? dyn_cast<Value>(dims.front().step) : Value();
  if (!offset || !step || getConstantIntValue(dims.front().stride) != 1 || !addPlaces(Value(), view.getMemory(), offset, step, places))
    places.clear();
  return places;
}
