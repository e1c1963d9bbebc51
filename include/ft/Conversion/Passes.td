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

#endif // FT_CONVERSION_PASSES
