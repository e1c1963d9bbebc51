//===- Passes.td - the validator's pass --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_VALIDATOR_PASSES
#define FT_VALIDATOR_PASSES

include "mlir/Pass/PassBase.td"

def ETDGValidate : Pass<"etdg-validate", "::mlir::etdg::GraphOp"> {
  let summary = "prove that the schedules of a graph keep what it means";
  let description = [{
    Asks what `validateGraph` asks (T1–T10, docs/validator.md), exactly and for all lengths
    that the graph's bounds allow: maps are bijections, each write comes before the
    reads of what it writes, elements are written once, accesses are in bounds, `live` planes
    and slots are enough. Unlike `etdg-verify` it obeys schedules and kernels, and it shares no code
    with the passes that make them.

    A failure is an internal error: the block, a point, a note at the other end, and a
    file with the graph.
  }];
  let options = [
    Option<"reproducer", "reproducer", "std::string", "\"\"",
           "Where a graph that fails is written (default: a new temporary file; 'none': nowhere)">,
    Option<"phase", "phase", "std::string", "\"\"", "The phase that is judged, for messages">
  ];
}

#endif // FT_VALIDATOR_PASSES
