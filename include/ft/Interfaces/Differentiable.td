//===- Differentiable.td - derivatives of operations -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_INTERFACES_DIFFERENTIABLE_TD
#define FT_INTERFACES_DIFFERENTIABLE_TD

include "mlir/IR/OpBase.td"

def FT_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::ft";
  let description = [{
    An operation y = f(x_0, …) of which the compiler knows the Jacobian J. Operations of `arith`, `math`, `tensor`,
    `linalg` and `ft` have it by external models (`registerDifferentiableModels`). Operators of `ft` that have a body
    are taken by `ft-differentiate` itself, which asks the operations of their bodies.

    A model builds at the builder's place. It reads a value of the program, an operand, a result or a captured value,
    through `primal` alone: the caller decides whether that value was saved or is computed again.
    `getAdjointReads` lists what a model asks for.

    A derivative that is zero everywhere is a null value. An operation that has no derivative emits an error at its
    place: it never gives zero in silence. At ties and kinks, jvp and vjp take the same element of the
    subdifferential, which is PyTorch's where PyTorch has the operation.
  }];
  let methods = [
    InterfaceMethod<[{
        The vector-Jacobian product Jᵀw. `cotangents` has one w for each result, null for zero. `wanted` says of each
        operand whether its part is used. Appends one value, or null, for each operand to `gradients`; each has its
        operand's type.}],
      "::llvm::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ft::PrimalReader":$primal,
           "::llvm::ArrayRef<::mlir::Value>":$cotangents, "::llvm::ArrayRef<bool>":$wanted,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$gradients)>,
    InterfaceMethod<[{
        The Jacobian-vector product Jv. `tangents` has one v for each operand, null for zero. Appends one value, or
        null, for each result to `results`; each has its result's type.}],
      "::llvm::LogicalResult", "buildJvp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ft::PrimalReader":$primal,
           "::llvm::ArrayRef<::mlir::Value>":$tangents,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>,
  ];
}

#endif // FT_INTERFACES_DIFFERENTIABLE_TD
