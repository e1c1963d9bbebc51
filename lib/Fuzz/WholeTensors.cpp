//===- WholeTensors.cpp - random programs without lists -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements on whole tensors alone: elementwise, broadcast, reduced, multiplied, transposed,
// sliced and reshaped, several of them over the same rows.
//
//===----------------------------------------------------------------------===//
#include "ProgramBuilder.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

/// The dimensions of another tensor in a random order.
Value ProgramBuilder::makePermuted(Scope &scope, RankedTensorType type) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < type.getRank(); ++d)
    order.insert(order.begin() + rng.below(d + 1), d);
  SmallVector<int64_t> shape(type.getRank());
  for (auto [k, from] : llvm::enumerate(order))
    shape[from] = type.getDimSize(k);
  Value x = makeTensor(scope, tensorType(shape), 1);
  return linalg::TransposeOp::create(b, loc, x, empty(type), order)->getResult(0);
}

/// A smaller tensor with one number around it.
Value ProgramBuilder::makePadded(Scope &scope, RankedTensorType type) {
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> low, high;
  for (int64_t size : type.getShape()) {
    int64_t inner = rng.percent(50) ? size : rng.between(1, size), before = rng.below(size - inner + 1);
    shape.push_back(inner);
    low.push_back(b.getIndexAttr(before));
    high.push_back(b.getIndexAttr(size - inner - before));
  }
  Value x = makeTensor(scope, tensorType(shape), 1);
  Attribute number = isa<FloatType>(type.getElementType()) ? Attribute(FloatAttr::get(type.getElementType(), isPolynomial() ? 3 : 1.5))
                                                           : Attribute(IntegerAttr::get(type.getElementType(), 3));
  Value padding = arith::ConstantOp::create(b, loc, cast<TypedAttr>(number));
  return tensor::PadOp::create(b, loc, type, x, low, high, padding);
}

void ProgramBuilder::wholeTensors(Scope &scope) {
  // No lengths: one call says all.
  names.clear();
  bindings.clear();
  bindings.emplace_back();
  function->removeAttr(mlir::ft::names::bounds);
  function->removeAttr(mlir::ft::names::lengths);
  auto shape = [&](unsigned rank) {
    SmallVector<int64_t> extents;
    for (unsigned d = 0; d < rank; ++d)
      extents.push_back(rng.percent(10) ? 1 : rng.pick<int64_t>({2, 3, 4, 5, 7, 8, 13}));
    return extents;
  };
  for (unsigned i = rng.between(1, 3); i > 0; --i)
    argument(tensorType(shape(1 + rng.weighted({15, 60, 25}))));
  for (unsigned i = rng.between(3, 9); i > 0; --i) {
    Value like = pick(scope, [&](Value v) { return isScalarTensor(v.getType()); });
    auto type = cast<RankedTensorType>(like.getType());
    if (rng.percent(25))
      type = tensorType(shape(rng.between(1, 3)));
    if (rng.percent(20) && type.getRank() > 1 && type.getNumElements() > 0) {
      Value x = makeTensor(scope, type, 1), e = empty(type);
      add(scope, isa<FloatType>(scalar) && !isPolynomial()
                     ? linalg::SoftmaxOp::create(b, loc, TypeRange{type}, x, e, type.getRank() - 1)->getResult(0)
                     : unary(x));
      continue;
    }
    if (rng.percent(25) && type.getRank() > 0 && type.getNumElements() > 0) {
      add(scope, rng.percent(50) ? makePermuted(scope, type) : makePadded(scope, type));
      continue;
    }
    add(scope, makeTensor(scope, type, rng.between(1, 3)));
  }
}
