//===- Passes.td - passes over etdg ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ETDG_PASSES
#define ETDG_PASSES

include "mlir/Pass/PassBase.td"

def ETDGVerify : Pass<"etdg-verify", "::mlir::etdg::GraphOp"> {
  let summary = "check a task dependence graph by integer sets, exactly";
  let description = [{
    The operations' own verifiers check structure; this pass checks sets, for all
    lengths that the graph's bounds allow:

    - (V1) the pieces of a read are disjoint and cover its domain;
    - (V2) every access is in bounds of its buffer (the index of a gather is data
      and checked at run time);
    - (V3) no element of a buffer is written twice;
    - (V4) what is read has been written: by a nest before in textual order, by a
      sibling at equal ancestor iterations, or by an earlier iteration of the same
      nest. A gather reads its whole dimension;
    - (V5) no dependence is carried by a `map` dimension;
    - (V6) every element of a result is written;
    - (V7) the blocks of a nest have disjoint domains;
    - (V8) `live` planes are enough for the declared order.

    A failure names the block and the buffer, shows a point, and points to the
    other end.
  }];
}

#endif // ETDG_PASSES
