//===- Passes.td - passes over tssa ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_TSSA_TRANSFORMS_PASSES
#define FT_DIALECT_TSSA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TSSAFunctionalize : Pass<"tssa-functionalize", "::mlir::ModuleOp"> {
  let summary = "remove views and mutation across any control flow (TensorSSA, DAC'24 §4.1)";
  string reads = "`tssa` views and writes";
  string writes = "`tssa` values, `tssa.writeback`";
  let description = [{
    Every function with mutable tensors becomes one over values. What a caller sees in a
    mutable argument afterwards is an extra result, listed in `tssa.writeback`. The
    steps, each of which can be looked at with `stop-after`:

    | step | afterwards |
    |---|---|
    | `inline` | no calls of functions with mutable tensors |
    | `merge` | every mutable tensor is storage or a view of one storage; control flow carries values, offsets and choices |
    | `rewrite` | reads are `tssa.access`, writes `tssa.assign` and `tssa.update` of the storage (the paper's *rewrite mutation*) |
    | `propagate` | control flow carries every storage that it updates (*block propagation*) |
    | `rename` | no `tssa.update`: each use has its version |

    Then what nothing needs goes: reads of what was just written, carried values and
    results that are dead. A part that is disjoint from all that was written is read from
    the version before.

    What is refused is an error at the operation, with a note where the alias was made
    (docs/rationale/tssa.md).
  }];
  let options = [Option<"stopAfter", "stop-after", "std::string", "\"\"",
                        "inline, merge, rewrite, propagate or rename: stop there">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect"];
}

def TSSAPrintAliases : Pass<"tssa-print-aliases", "::mlir::func::FuncOp"> {
  let summary = "say of each pair of mutable tensors with a name whether they alias";
  let description = [{
    For tests of the alias analysis: a remark at each operation with the attribute
    `alias = "name"` about each one before it: `must`, `may`, `no` or `part` (overlaps surely).
  }];
}

#endif // FT_DIALECT_TSSA_TRANSFORMS_PASSES
