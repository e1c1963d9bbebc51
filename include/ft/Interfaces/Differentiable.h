//===- Differentiable.h - derivatives of operations -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_INTERFACES_DIFFERENTIABLE_H
#define FT_INTERFACES_DIFFERENTIABLE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::ft {
/// Gives a value of the primal program at the place where a derivative is built.
using PrimalReader = llvm::function_ref<Value(Value)>;
} // namespace mlir::ft

#include "ft/Interfaces/Differentiable.h.inc"

namespace mlir {
class DialectRegistry;
namespace ft {
class LengthAttr;

/// Whether values of `type` have derivatives: floats, and tensors and lists of these.
bool isDifferentiableType(Type type);

/// The zero of a differentiable type.
Value buildZero(OpBuilder &builder, Location loc, Type type);

/// The sum of two values of one differentiable type; either may be null, which is zero.
Value buildSum(OpBuilder &builder, Location loc, Value a, Value b);

/// The sum of the elements of a list at the places that `ft.shift` by `offset` fills: the first ones, or the last.
Value buildSumOfFilled(OpBuilder &builder, Location loc, Value list, LengthAttr offset);

/// The greatest or least of an initial value and the elements of a list, all of one tensor type.
struct Extremum {
  Value result, list, init;
};
/// The cotangent goes in equal shares to the elements, and the initial value, that are the extremum, as PyTorch's `amax`
/// has it. Returns the cotangents of the list and of the initial value.
std::pair<Value, Value> buildExtremumVjp(OpBuilder &builder, Location loc, Extremum extremum, Value cotangent);
/// The mean of the tangents of those that are the extremum.
Value buildExtremumJvp(OpBuilder &builder, Location loc, Extremum extremum, Value list, Value init);

/// The values of the program that the operation's vjp reads, in the order in which it asks for them. `wanted` as in
/// `buildVjp`. Empty where the operation has no derivative.
SmallVector<Value> getAdjointReads(Operation *op, ArrayRef<bool> wanted);

/// Gives operations of `arith`, `math`, `tensor`, `linalg` and `ft` the interface. A pass that asks for it says so in
/// its `getDependentDialects`.
void registerDifferentiableModels(DialectRegistry &registry);

} // namespace ft
} // namespace mlir

#endif // FT_INTERFACES_DIFFERENTIABLE_H
