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
                        "A machine, a CPU, by its name or file (default: cpu)">];
}

def ETDGScheduleForCPU : Pass<"etdg-schedule-for-cpu", "::mlir::etdg::GraphOp"> {
  let summary = "write the loops that the CPU engine runs into the schedules";
  let description = [{
    Each nest, and each nest in the body of a graph block, gets a schedule that binds the
    engine: which loops all threads run together and where they wait (`sync = cores`),
    which iterations the threads share and how (`level = core`, `dealing`), which dimension
    gives the rows of a leaf's products (`level = rows`, or `listed_rows`), how many a call has
    at most, and what one thread runs in order. Of all such plans (docs/cpu-engine.md)
    it is the one of least estimated time at typical lengths.

    A schedule that says so already (`target`, or a loop with a level) stays, so one written by
    hand is obeyed. Runs after `etdg-apply-schedule`.

    ```mlir
    // [map i, scanl j, scanl k], weights by j:
    #etdg.schedule<map = affine_map<(i, j, k) -> (i, j, k)>, loops = [
      <dimension = 0, tile = ?, most = 64, kind = parallel, level = core, dealing = turn>,
      <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>,
      <dimension = 0, most = 64, kind = parallel, level = rows>] target = "cpu">
    ```
  }];
  let options = [Option<"machine", "machine", "std::string", "\"\"",
                        "A machine, a CPU, by its name or file (default: cpu)">];
}

#endif // FT_SCHEDULE_PASSES
