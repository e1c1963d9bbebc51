//===- Passes.td - choices among schedules -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_PASSES
#define FT_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def ETDGChooseSchedule : Pass<"etdg-choose-schedule", "::mlir::etdg::GraphOp"> {
  let summary = "take the candidate order of least estimated time on a CPU";
  let description = [{
    `etdg-reorder` ranks the orders of a nest by steps and width. On few cores the
    first need not be the fastest: a wavefront that reads the weights of all layers
    in each step may lose against one layer after the other. For each nest with
    `etdg.candidates` this pass applies each one to a copy, lets the CPU engine's
    cost model (docs/cpu-engine.md) plan and price it at typical lengths, and makes
    the cheapest the nest's `schedule`. Nests of a kernel keep theirs: they fit
    each other. A remark (category `cpu`) gives the numbers.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"\"",
                        "A machine model (default: machine/cpu.json as built in)">];
}

#endif // FT_SCHEDULE_PASSES
