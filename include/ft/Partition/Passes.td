//===- Passes.td - kernels of a graph ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_PARTITION_PASSES
#define FT_PARTITION_PASSES

include "mlir/Pass/PassBase.td"

def ETDGPartition : Pass<"etdg-partition", "::mlir::etdg::GraphOp"> {
  let summary = "cut a graph into kernels, with a kind for each edge (Souffle §5.4)";
  string reads = "access maps, `schedule`, prices";
  string writes = "`etdg.kernel`, `etdg.edges`, `etdg.number`";
  let description = [{
    Every nest at the top of the graph is in an `etdg.kernel` afterwards. Kernels that are there already, as wavefronts are,
    stay whole. Nests that share a kernel keep an order in which each stands after those that it needs.

    | mode | kernels |
    |---|---|
    | `boundary` | one nest each: always legal |
    | `souffle` | Algorithm 1 of Souffle §6.6, below |
    | `cost` | groups of least price |

    `souffle` goes through the nests breadth first and adds each to the kernel at hand. Where a nest is compute-intensive, it
    takes the most thread blocks of such nests, and the most registers and shared memory of one block. Where the product of the two is
    not less than what the GPU has, the nest begins a kernel. A kernel has at most one nest that runs in steps.

    `cost` prices groups as they will be scheduled, each on a copy. Equal groups are priced once, and `budget` bounds how many are priced.
    Groups have at most `longest` nests.
    On a chain the choice among them is exact (dynamic programming), elsewhere a beam of `beam` states is kept. The result is compared
    with one kernel for each nest, and with short nests beside a recurrence, as `etdg-schedule-for-gpu` joins them. The cheapest of them is taken.

    Each nest gets a number (`etdg.number`). Each kernel lists the edges into its nests as `etdg.edges`: `{from = 0, to = 2, kind = "grid"}`.
    The kinds are those of `sync` in schedules, weakest first: `none`, `block`, `grid` and `kernel`, a boundary between kernels. The validator proves
    that each is strong enough (T14). `etdg-open-kernels` hands them on to the phase `schedule`. Remarks (category `partition`) have the prices of
    what was chosen and of its alternatives.
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"boundary\"", "boundary, souffle or cost">,
    Option<"target", "target", "std::string", "\"sm_90a\"", "The GPU whose kernels are priced: sm_80 or sm_90a">,
    Option<"machine", "machine", "std::string", "\"\"", "A machine, a GPU, by its name or file (default: the target's)">,
    Option<"multiprocessors", "multiprocessors", "int64_t", "0", "SMs to plan for (0: the machine's)">,
    Option<"steps", "steps", "std::string", "\"choose\"", "Steps of the grid: choose, always or never">,
    Option<"planSeed", "plan-seed", "uint64_t", "0", "Not 0: any legal kernels, drawn by this seed (for tests)">,
    Option<"budget", "budget", "unsigned", "256", "Groups that are priced at most, equal ones counted once">,
    Option<"longest", "longest", "unsigned", "6", "Nests of a group that is priced, at most">,
    Option<"beam", "beam", "unsigned", "16", "Partial choices that are kept where nests are no chain">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tile::TileDialect"];
}

def ETDGOpenKernels : Pass<"etdg-open-kernels", "::mlir::etdg::GraphOp"> {
  let summary = "make kernels of one nest that nest again, and edges waits";
  string reads = "`etdg.edges`, `etdg.number`";
  string writes = "`etdg.before`";
  let description = [{
    What the phase `schedule` does to a nest may make several of it: a reduction becomes shares and their join, a read a copy. Each is a
    kernel of its own then, and the boundary that stood before the nest stands between them as well. So a kernel of one nest is opened
    before that phase. Kernels of several nests stay. A nest into which an edge of kind `grid` leads is marked, `etdg.before = "grid"`, and
    `etdg-schedule-for-gpu` lets thread blocks wait there, in addition to where accesses ask for it. The numbers and lists go.
  }];
}

def ETDGMergeApart : Pass<"etdg-merge-apart", "::mlir::etdg::GraphOp"> {
  let summary = "merge blocks, but for products that are to stay apart";
  string reads = "domains, access maps, `etdg.apart`";
  string writes = "merged nests and blocks, `etdg.together`";
  let description = [{
    `etdg-merge`, but for merges of two blocks with products that `etdg.apart` of the graph names: `["r0+r10"]` leaves block r10 out of r0, and `["*"]` merges
    nothing. What was merged of products is listed as `etdg.together`. `ft-choose-merges` prices the graph with each of these left out.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"\"", "The machine whose units share out tiles, by its name or file (default: cpu)">];
}

#endif // FT_PARTITION_PASSES
