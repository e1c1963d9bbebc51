//===- TSSADialect.td - the tssa dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TSSA_DIALECT
#define TSSA_DIALECT

include "mlir/IR/OpBase.td"

def TSSA_Dialect : Dialect {
  let name = "tssa";
  let cppNamespace = "::mlir::tssa";
  let summary = "Mutable tensors, their views, and what they become (TensorSSA, DAC'24 §3)";
  let description = [{
    Imperative tensor programs as PyTorch users write them. Beside the *values* of
    `tensor` there are *mutable tensors*, `!tssa.tensor<4x?xf32>`: names of a piece of
    storage. A *view* is another name of the same storage; writing through one
    changes what all of them hold. Arithmetic is upstream's, on values: an in-place
    operator reads, computes and writes back.

    ```mlir
    // b[i].mul_(x), in Python
    %v = tssa.view %b[select(0, %i)] : !tssa.tensor<8x4xf32> -> !tssa.tensor<4xf32>
    %0 = tssa.read %v : !tssa.tensor<4xf32>
    %1 = arith.mulf %0, %x : tensor<4xf32>
    tssa.mutate %v, %1 : !tssa.tensor<4xf32>, tensor<4xf32>
    ```

    Control flow is `scf` and `func`. `tssa-functionalize` removes mutable tensors:
    a read becomes `tssa.access`, a write `tssa.assign` and `tssa.update`; the last goes
    when versions are renamed. docs/rationale/tssa.md has the rules and what is refused.

    Function attribute: `tssa.writeback = array<i64: argument, result, ...>` lists which
    results of a functionalized function are what the caller finds in a mutable
    argument afterwards, in pairs.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["arith::ArithDialect", "tensor::TensorDialect"];
}

#endif // TSSA_DIALECT
