//===- Passes.td - conversions between the dialects --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_PASSES
#define FT_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertFTToETDG : Pass<"convert-ft-to-etdg", "::mlir::ModuleOp"> {
  let summary = "turn functions over nested lists into task dependence graphs (FT §4.4)";
  let description = [{
    Each perfect nest of compute operators becomes a nest of blocks with one
    iteration vector; scans split at their first `lag` iterations. Access operators
    become access maps, pieces and gathers. A value gets a buffer only where it is
    computed; a result that is yielded unchanged is written into its parent's buffer.

    Refused, with an error at the operation: ragged levels, indices or lengths that
    are products of names, calls (run `ft-inline` first).
  }];
  let dependentDialects = ["::mlir::etdg::ETDGDialect"];
}

def ConvertLinalgToETDG : Pass<"convert-linalg-to-etdg", "::mlir::ModuleOp"> {
  let summary = "turn functions over static tensors into task dependence graphs";
  let description = [{
    A `linalg` operation *is* a leaf block: its iteration space is the leaf's domain,
    `parallel` is map and `reduction` is reduce, its indexing maps are access maps
    (DESIGN: the one idea). Each tensor operation is wrapped in a block of zero
    dimensions; `etdg-lower-operations` and the mergers take it from there. Reshapes
    and static slices become access maps of their readers:

    ```mlir
    func.func @f(%x: tensor<4x6xf32>) -> tensor<24xf32> {
      %c = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
      %y = math.exp %c : tensor<24xf32>
      return %y : tensor<24xf32>
    }
    ==>
    etdg.block @r0 [] () reads (%c = elem (a) %x[a floordiv 6, a mod 6] : tensor<24xf32>) ...
    ```

    Refused, with an error at the operation: dynamic shapes, arguments that are no
    tensors, control flow.
  }];
  let dependentDialects = ["::mlir::etdg::ETDGDialect"];
}

#endif // FT_CONVERSION_PASSES
