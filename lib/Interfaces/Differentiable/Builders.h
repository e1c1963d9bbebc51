//===- Builders.h - what derivatives are built of ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums, repetitions and selections of tensors and lists.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERFACES_DIFFERENTIABLE_BUILDERS_H
#define LIB_FT_INTERFACES_DIFFERENTIABLE_BUILDERS_H

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Interfaces/Differentiable.h"

namespace mlir::ft::derivatives {

/// Writes derivatives at one place.
struct Writer {
  OpBuilder &b;
  Location loc;

  // Tensors.
  Value splat(Type type, double number);
  /// The sum along `dims`, each of which goes.
  Value sum(Value tensor, ArrayRef<int64_t> dims);
  /// `value` along `dims` of `type`, which it lacks.
  Value repeat(Value value, RankedTensorType type, ArrayRef<int64_t> dims);
  Value reshape(Value tensor, RankedTensorType type);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  /// f16 and bf16 as f32; back to `type`.
  Value widen(Value x);
  Value narrow(Value x, Type type);
  /// A tensor of rank 0 as a scalar.
  Value scalar(Value tensor);
  /// `inside` at `indices` of a tensor of `type` and `outside` elsewhere; a scalar, or a tensor of this type.
  Value oneHot(RankedTensorType type, ValueRange indices, Value inside, Value outside);

  // Lists.
  /// One value for each element of `lists`; `body` gives it.
  Value map(ValueRange lists, llvm::function_ref<Value(Writer &, ValueRange)> body);
  /// The sum of the elements, in order of their association free; zero where there are none.
  Value sumOf(Value list);
  /// `value` where the flag, a `tensor<i1>`, holds, else zero.
  Value keepWhere(Value flag, Value value);
  Value zeros(Type peeled, LengthAttr length);
  /// Zeros before and after a list: `before` and `after` elements.
  Value surround(Value list, LengthAttr before, LengthAttr after);
  Value concat(ValueRange parts);
  Value slice(Value list, LengthAttr lo, LengthAttr hi);
  Value cast(Value list, Type type);
  /// 0, 1, … as numbers of `element`.
  Value iota(LengthAttr length, Type element);
  /// Flags: whether place i of a list of `length` is what `ft.shift` by `offset` fills.
  Value isFilled(LengthAttr length, LengthAttr offset);
};

RankedTensorType tensorOf(Value value);
ListType listOf(Value value);
SmallVector<int64_t> allDims(RankedTensorType type);

} // namespace mlir::ft::derivatives

#endif // LIB_FT_INTERFACES_DIFFERENTIABLE_BUILDERS_H
