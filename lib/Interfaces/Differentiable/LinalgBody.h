//===- LinalgBody.h - bodies of linalg, differentiated ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERFACES_DIFFERENTIABLE_LINALGBODY_H
#define LIB_FT_INTERFACES_DIFFERENTIABLE_LINALGBODY_H

#include "Builders.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ft::derivatives {

/// How one result of a linalg operation joins the terms of its iterations.
struct Join {
  enum Kind { Each, Sum, Product, Extremum } kind;
  Value term;
  /// The term is subtracted.
  bool isNegative = false;
};

/// The join of a reduction; none where the body is no sum, product, maximum or minimum.
std::optional<Join> findJoin(linalg::LinalgOp op, unsigned output);

/// A `linalg.generic` over the space of another operation, whose body computes again what it reads of the other's.
class GenericBody {
public:
  GenericBody(linalg::LinalgOp op, Writer &outside, PrimalReader primal);
  ~GenericBody();

  AffineMap outputMap(unsigned output) { return op.getMatchingIndexingMap(op.getDpsInitOperand(output)); }
  bool dependsOn(Value value, BlockArgument argument);
  /// A value of the other's body, computed here.
  Value read(Value value);
  /// An element of a further tensor.
  Value addInput(Value tensor, AffineMap map);

  /// The part of `seed`, the cotangent of `term`, that belongs to `argument`; null for none.
  FailureOr<Value> reverse(Value term, Value seed, BlockArgument argument);
  /// The tangent of `term`, from those of arguments; null for none.
  FailureOr<Value> forward(Value term, const DenseMap<Value, Value> &seeds);

  /// The operation: `value` of each iteration, joined with `init` by a sum or product; without `init` as it is.
  Value finish(Value value, Type type, AffineMap map, Value init, bool isProduct = false);
  /// Adds `value` to places of a tensor of zeros. Places that the map gives by more than single dimensions are found
  /// by comparison, for which the space gets a dimension for each of them.
  Value finishInto(Value value, RankedTensorType type, AffineMap map);

private:
  linalg::LinalgOp op;
  Writer &outside;
  PrimalReader primal;
  Block *block;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  DenseMap<Value, Value> known;

public:
  OpBuilder b;
};

} // namespace mlir::ft::derivatives

#endif // LIB_FT_INTERFACES_DIFFERENTIABLE_LINALGBODY_H
