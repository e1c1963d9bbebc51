//===- WholeTensors.cpp - random programs without lists -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements on whole tensors alone: elementwise, broadcast, reduced, multiplied, transposed,
// sliced and reshaped, several of them over the same rows.
//
//===----------------------------------------------------------------------===//
#include "ProgramBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

void ProgramBuilder::wholeTensors(Scope &scope) {
  // No lengths: one call says all.
  names.clear();
  bindings.clear();
  bindings.emplace_back();
  function->removeAttr("ft.bounds");
  function->removeAttr("ft.lengths");
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
      add(scope, isa<FloatType>(scalar)
                     ? linalg::SoftmaxOp::create(b, loc, TypeRange{type}, x, e, type.getRank() - 1)->getResult(0)
                     : unary(x));
      continue;
    }
    add(scope, makeTensor(scope, type, rng.between(1, 3)));
  }
}
