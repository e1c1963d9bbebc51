//===- Passes.td - choices among schedules -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_PASSES
#define FT_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def CpuMachineOption : Option<"machine", "machine", "std::string", "\"\"",
                                "A machine, a CPU, by its name or file (default: cpu)">;
def ThreadsOption : Option<"threads", "threads", "unsigned", "0", "Threads to plan for (0: the machine's cores)">;
def LengthsOption : ListOption<"lengths", "lengths", "std::string",
                               "Lengths to estimate for, NAME=NUMBER, in the place of the graph's typical ones">;
def PlanSeedOption : Option<"planSeed", "plan-seed", "uint64_t", "0",
                            "Not 0: any legal plan of each nest, by this seed, in the place of the cheapest (for tests)">;

def ETDGChooseSchedule : Pass<"etdg-choose-schedule", "::mlir::etdg::GraphOp"> {
  let summary = "take the candidate order of least estimated time on a CPU";
  string reads = "`etdg.candidates`, `etdg.divisions`";
  string writes = "`schedule`, `etdg.variants`";
  let description = [{
    `etdg-reorder` ranks the orders of a nest by steps and width. On few cores the first need not be the fastest: a wavefront
    that reads the weights of all layers in each step may lose against one layer after the other. For each nest with
    `etdg.candidates` this pass applies each one to a copy. The CPU engine's cost model (docs/cpu-engine.md) plans and prices it
    at typical lengths. The cheapest becomes the nest's `schedule`. Nests of a kernel keep theirs: they fit each other. What
    `etdg.divisions` lists (products that do not wait, ahead of the rest) is tried on copies of the graph, priced with what is
    kept between the parts. It is done where it is cheaper. Ranks (`candidate`) count the orders, then the divisions; one beyond
    all is the program's own order. Remarks (category `cpu`) give the numbers.
  }];
  let options = [CpuMachineOption, ThreadsOption, LengthsOption,
                 Option<"candidate", "candidate", "int64_t", "-1",
                        "Not negative: the candidate of this rank, or the last one, in the place of the cheapest">,
                 PlanSeedOption];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ETDGApplyPlacements : Pass<"etdg-apply-placements", "::mlir::etdg::GraphOp"> {
  let summary = "copy what schedules stage, in the graph";
  string reads = "placements in `schedule`";
  string writes = "blocks that copy, buffers";
  let description = [{
    A placement `<read = r, loop = l, level = memory, stages = s>` takes what read r gets where loop l begins. l
    may be the number of loops: where the leaf begins. The loops outside become a block with a body, which has the memory as a
    buffer of its own. In it a copy stands before what is left of the nest. With more than one stage the copy is a nest of its
    own. It is s - 1 iterations ahead of the loop l - 1 that both share (`etdg.kernel shared 1`), and s planes of the buffer are
    live. What the copy's domain, its pieces and gathers are follows from the read's. Order, planes and waiting are those of any
    graph, which the validator proves: a read of what is written in between breaks a dependence.

    Where one unit runs the nest, memory is its own: on a CPU a core's, on a GPU `in shared` or (`l2`, `device`) `in workspace`. Where units share
    loops further in, it is a buffer that all of them see, and they wait before they read it. What each thread block of a GPU keeps over all
    loops (`loop = 0, level = shared`) stays a placement, which `convert-etdg-to-loops` reads. What the machine has no memory for is an
    error that names read, loop and limit. Where thread blocks of a GPU share loops further in, they go into no body together: the copy's nest
    shares the loops outside with the other one in a kernel. The pipelines run it before `etdg-schedule-for-cpu` and `etdg-schedule-for-gpu`.

    ```mlir
    etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L) reads (%x = %xs[i, t] : !x, %s = %ys[i, t - 1] : !x) writes (%ys[i, t])
        schedule <..., loops = [<dimension = 0, ...>, <dimension = 1, kind = sequential>] placements = [<read = 0, loop = 2, level = shared, stages = 2>]>
    ==>
    etdg.block [map] (i) in [0, N) schedule <...> {
      %c = etdg.buffer live [2] in shared : !etdg.buffer<[L], !x>
      etdg.kernel shared 1 {
        etdg.block @b_0 [map] (i | t) in [-1, L - 1) reads (%x = %xs[i, t + 1] : !x) writes (%c[t + 1]) schedule <...> {...}
        etdg.block @b [scanl] (i | t) in [0, L) reads (%x = %c[t] : !x, %s = %ys[i, t - 1] : !x) writes (%ys[i, t]) schedule <...> {...}
      }
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "cpu, sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"", "A machine by its name or file (default: the target's)">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ETDGApplyTiles : Pass<"etdg-apply-tiles", "::mlir::etdg::GraphOp"> {
  let summary = "make loops over tiles that nests of a kernel share dimensions of their own";
  string reads = "tiles in `schedule` of nests that share loops";
  string writes = "dimensions over tiles";
  let description = [{
    `etdg.kernel shared p` runs its nests under the first p loops of their schedules, one nest after the other in each
    iteration. Where such a loop is over tiles, `<dimension = 0, tile = 8>`, it becomes a loop over a dimension `io` with 8·io
    <= i < 8·io + 8; accesses stay. In a step of it each nest walks the points of its tile, and what else it has, by itself. A
    dimension that producer and consumer share outside has loops of each inside. All nests of the kernel have the same tiles in
    what they share, else there is a located error.

    ```mlir
    etdg.block @a [map, map] (i, j) in [0, N) x [0, M) ... schedule <..., loops = [<dimension = 0, tile = 8, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 0, kind = sequential>]>
    ==>
    etdg.block @a [map, map, map] (io, j, i) in [0, floordiv(N - 1, 8) + 1) x [0, M) x [max(0, 8 * io), min(N, 8 * io + 8)) ... schedule <..., three loops over points>
    ```

    Where the loops that nests share are parallel, of a level, one unit takes an iteration of all of them. The kernel becomes a
    block with these loops, whose body the nests are. Each says the same of these loops, which are over its first dimensions,
    all `map`, and nothing inside has a level. A buffer between the nests alone becomes a buffer of that body then. Its index
    must be one of the shared dimensions or a place in a tile that they count.

    The pipelines run it before `etdg-apply-placements`, which makes loops over tiles in front
    of a copy such dimensions, too.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ETDGBindInPlace : Pass<"etdg-bind-in-place", "::mlir::etdg::GraphOp"> {
  let summary = "let results take the memory of the arguments that they are new versions of";
  string reads = "`tssa.writeback`";
  string writes = "`etdg.in_place`, copies into arguments";
  let description = [{
    `tssa.writeback = array<i64: argument, result, ...>` of a graph says which result is an argument's last version. Where each
    item that reads old elements stands before each one that writes new ones, both may share memory. Elsewhere (a recurrence
    that reads a cache and writes it) the new elements are written to a buffer of their own. A last block copies the box that
    they fill, or one for each block that writes. Blocks that copy an element of the argument to the same one of the result
    stay; engines skip them where the two are bound to one memory.

    What may share memory is listed in `etdg.in_place`, and as `writeback` in the entry of a launch plan. A remark
    (category `storage`) says which result does not: its type is another one, or an element has several iterations that write it.
  }];
}

def ETDGJoinRegions : Pass<"etdg-join-regions", "::mlir::etdg::GraphOp"> {
  let summary = "make one region of those that differ in where they read alone";
  string reads = "regions that differ in reads";
  string writes = "one region that chooses addresses";
  let description = [{
    After `etdg-place-buffers`: the first iterations of a scan are a region of their own, whose body is most often the others'. Regions of a scheduled nest become one, with
    one leaf's code in the place of two, where
    - body, layouts, operators and places of results are the same;
    - reads that differ are whole elements of buffers in memory of one kind, so that an address is chosen before the leaf begins. A value here and memory
      there stay apart: each access would choose;
    - what tells the regions apart says nothing of a dimension whose iterations are rows of a leaf, or lifted into it;
    - the union of their domains is one domain, which is asked exactly.

    The reads get a piece for each of the regions. A remark (category `storage`, `join-regions`) names both. Without such regions nothing changes.

    ```mlir
    etdg.block @r0 [map, map] (j, k) in = 0 x [0, L) reads (%x = %xs[k] : !x, ...) writes (%ys[j, k]) {...}
    etdg.block @r1 [map, map] (j, k) in [1, D) x [0, L) reads (%x = %ys[j - 1, k] : !x, ...) writes (%ys[j, k]) {...}
    ==>
    etdg.block @r0 [map, map] (j, k) in [0, D) x [0, L) reads (%x = {j = 0: %xs[k], j >= 1: %ys[j - 1, k]} : !x, ...) writes (%ys[j, k]) {...}
    ```
  }];
}

def ETDGChooseLeafRows : Pass<"etdg-choose-leaf-rows", "::mlir::etdg::GraphOp"> {
  let summary = "say which rows of a leaf one call computes";
  string reads = "`schedule`, planes, `etdg.layouts`";
  string writes = "`etdg.rows`";
  let description = [{
    The last pass of the phase `storage`, for either target. Each leaf inside of a loop of level `rows` or `listed_rows` gets
    `etdg.rows`. That is `at_once` where every access steps evenly from one row to the next. It is `runs` where a read changes
    its piece, or kept planes begin anew, between two rows. Elsewhere it is `one_by_one`. On a GPU rows are taken in runs where
    a layout of the leaf computes a product in tiles, and pieces alone change; else one by one. A remark (category `storage`,
    `leaf-rows`) says which access keeps rows apart.

    What a leaf says already stays. What accesses don't allow is an error that names leaf, dimension and access.

    Layouts that `etdg-schedule-for-gpu` chose are for accesses as they are with all planes. Where those that are kept leave others (rows that are no
    longer computed together, elements at other distances), `etdg.layouts` is taken away, with a remark (`other-layouts`), and
    `loops-choose-layouts` chooses anew.

    ```mlir
    // A window over a line that is padded: the row in front has the padding's piece.
    etdg.block [map] (i) in [0, N) reads (%x = {i = 0: splat(0.0), i >= 1: %xs[i - 1]} : !x) writes (%ys[i]) schedule <..., level = rows>]>
      attributes {etdg.rows = #etdg.rows<runs>} {...}
    ```
  }];
}

def ETDGPlaceBuffers : Pass<"etdg-place-buffers", "::mlir::etdg::GraphOp"> {
  let summary = "say where a GPU has each buffer";
  string reads = "planes, `etdg.slot`, `schedule`";
  string writes = "`in` of `etdg.buffer`";
  let description = [{
    Part of the phase `storage`, after `etdg-storage`, which says how many planes a buffer has and which buffers share a slot.
    The graph's own buffers are `in call`. What a block has for itself is `in shared`, the memory that the threads of a block
    share, for as many rows as a task has. Buffers take it in the order of the program, as long as two thirds of the schedule's
    `block = <shared = ...>` hold them. Other buffers, and those whose size is the call's, are `in workspace`, of which each
    thread block has a part. Sizes are those of `etdg.buffer` itself (`getBytes`), which `etdg-schedule-for-gpu` has planned
    with.

    What is specified already stays. A remark (category `storage`) says what was left. `convert-etdg-to-loops` reads what is specified, and refuses a buffer
    of a block of which nothing is.

    ```mlir
    %s = etdg.buffer live [1] in shared : !etdg.buffer<[K], tensor<1xf32>>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"", "A machine, a GPU, by its name or file (default: the target's)">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::tile::TileDialect"];
}

def ETDGScheduleForCPU : Pass<"etdg-schedule-for-cpu", "::mlir::etdg::GraphOp"> {
  let summary = "write the loops that the CPU engine runs into the schedules";
  string reads = "access maps, `ft.typical`";
  string writes = "`schedule`: loops, levels, syncs";
  let description = [{
    Each nest, and each nest in the body of a graph block, gets a schedule that binds the engine. It says which loops all
    threads run together and where they wait (`sync = cores`), and which iterations the threads share and how (`level = core`,
    `mapping`). One dimension may give the rows of a leaf's products (`level = rows`, or `listed_rows`), with how many a call
    has at most. The rest is what one thread runs in order. Of all such plans (docs/cpu-engine.md) it is the one of least
    estimated time at typical lengths.

    A schedule that says so already (`target`, or a loop with a level) stays, so one written by
    hand is obeyed. Runs after `etdg-apply-schedule`.

    Of reductions with a product, as the gradient of a weight, 16 to 128 iterations become one (`etdg-join-iterations`), where
    that takes less time (remark `choose-iterations`).

    First steps of a recurrence that have a few points inside (gates) become one leaf (`etdg-join-points`), where they take
    less time so: its columns are shared then (remark `join-steps`). Associative loops are cut (`etdg-cut-reductions`), and reductions that leave the machine's cores idle, where shares
    and their join take less time; remarks (category `cpu`, `cut-reduction`) give the numbers.

    ```mlir
    // [map i, scanl j, scanl k], weights by j:
    #etdg.schedule<map = affine_map<(i, j, k) -> (i, j, k)>, loops = [
      <dimension = 0, tile = ?, most = 64, kind = parallel, level = core, mapping = dynamic>,
      <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>,
      <dimension = 0, most = 64, kind = parallel, level = rows>] target = "cpu">
    ```
  }];
  let options = [CpuMachineOption, ThreadsOption, LengthsOption, PlanSeedOption];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ETDGScheduleForGPU : Pass<"etdg-schedule-for-gpu", "::mlir::etdg::GraphOp"> {
  let summary = "write what a GPU's kernels run into the schedules";
  string reads = "access maps, `ft.typical`, `etdg.cut`";
  string writes = "`schedule`, `etdg.layouts`, `etdg.variants`";
  let description = [{
    Each nest of a kernel gets a schedule that binds the engine (docs/gpu-engine.md). It says which loops all thread blocks take
    together and where they wait (`sync = grid`, `before = grid`). It says which iterations are dealt to them (`level = grid`),
    among them the leaves' columns after the bar, and what one thread block runs in order. It says which dimension gives the
    rows of a task, and what a block is (`block`). Each nest in the body of a graph block gets one for a single thread block:
    loops in order, rows, a dimension that its leaf computes at once (`level = lifted`). Each leaf gets `etdg.layouts`: which
    part of each of its loop nests a thread computes.

    Where the call's lengths decide between steps of the whole grid and independent blocks, `etdg.variants` holds both.
    What is specified already stays, so what is written by hand is obeyed. Runs after `etdg-apply-schedule` and before
    `etdg-storage`; planes of iterations that run side by side are all kept.

    ```mlir
    // [scanl t, map l, map i], a wavefront: layers l and sequences i of a step are dealt, columns where few are left.
    #etdg.schedule<map = affine_map<(t, l, i) -> (t, l, i)>, loops = [
      <dimension = 0, kind = sequential, sync = grid>, <dimension = 1, kind = parallel, level = grid, mapping = cyclic>,
      <dimension = 3, tile = ?, unit = 8, kind = parallel, level = grid, mapping = cyclic>,
      <dimension = 2, tile = ?, most = 32, kind = parallel, level = grid, mapping = cyclic>,
      <dimension = 2, most = 32, kind = parallel, level = rows>]
      block = <threads = 256, shared = 204800> columns = 256 target = "sm_90a">
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "A machine, a GPU, by its name or file (default: the target's)">,
                 Option<"multiprocessors", "multiprocessors", "int64_t", "0",
                        "Multiprocessors to plan for (0: as many as the machine has)">,
                 Option<"steps", "steps", "std::string", "\"choose\"",
                        "Steps of the whole grid with a barrier after each: choose (where that pays), always, never">,
                 Option<"stepThreads", "step-threads", "int64_t", "0",
                        "Threads of a block in such kernels (0: as the machine's planning says)">,
                 PlanSeedOption];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tile::TileDialect"];
}

def ETDGChooseDivisionForGPU : Pass<"etdg-choose-division-for-gpu", "::mlir::etdg::GraphOp"> {
  let summary = "let products that do not wait run ahead where a GPU takes less time so";
  string reads = "`etdg.divisions`, `etdg.candidates`";
  string writes = "nests, `etdg.variants`";
  let description = [{
    Each item with `etdg.divisions` is tried as it stands and in each division, on a copy of the graph that is applied and
    scheduled as `etdg-schedule-for-gpu` does it. What the kernels then cost by their schedules and layouts, at typical lengths,
    decides (docs/gpu-engine.md). The price has launches, barriers of the grid, what thread blocks wait for in each step,
    products in tiles, and what is written and read between the parts. A division is taken where it promises `division_share`
    percent of the whole's time or less. Where lengths that no annotation declares typical decide, both forms become
    `etdg.variants`. The remark (category `gpu`, `choose-division`) has all prices.

    Ranks (`candidate`) are those of `etdg-choose-schedule`: the orders of `etdg.candidates`, then the divisions, then
    the program's own order. Orders themselves are not priced: the first one stays.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "A machine, a GPU, by its name or file (default: the target's)">,
                 Option<"multiprocessors", "multiprocessors", "int64_t", "0",
                        "Multiprocessors to plan for (0: as many as the machine has)">,
                 Option<"steps", "steps", "std::string", "\"choose\"",
                        "Steps of the whole grid with a barrier after each: choose (where that pays), always, never">,
                 Option<"candidate", "candidate", "int64_t", "-1",
                        "Not negative: the order or division of this rank, in the place of the cheapest">,
                 PlanSeedOption];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def ETDGChooseCutsForGPU : Pass<"etdg-choose-cuts-for-gpu", "::mlir::etdg::GraphOp"> {
  let summary = "cut reductions into shares where a GPU takes less time so";
  string reads = "reductions in leaves, prices";
  string writes = "`etdg.cut`, shares and their join";
  let description = [{
    A leaf at the top of a graph that reduces, at fewer points than there are SMs whatever the lengths are, leaves most of them
    idle. One thread block takes all terms of a point. It is tried cut into about as many shares as there are SMs, and 4, 16,
    ... times as many (`etdg-cut-leaves`), of equal length where such are near by. The trials are copies of the graph that have this
    leaf alone, scheduled as `etdg-schedule-for-gpu` does it. What its kernels then cost, at typical lengths, decides. The cheapest form is
    taken where it promises `division_share` percent of the time as it stands, or less, and what then joins the shares is asked
    in the same way. The remark (category `gpu`, `cut-reduction`) has all prices.

    How long a share is follows from the machine and the length, so that rounding is the same for each call. What has a schedule or layouts
    stays as it is. Runs after `etdg-apply-schedule` and before `etdg-choose-iterations-for-gpu`. A seed draws whether a leaf is cut, and into what shares.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "A machine, a GPU, by its name or file (default: the target's)">,
                 Option<"multiprocessors", "multiprocessors", "int64_t", "0",
                        "Multiprocessors to plan for (0: as many as the machine has)">,
                 Option<"steps", "steps", "std::string", "\"choose\"",
                        "Steps of the whole grid with a barrier after each: choose (where that pays), always, never">,
                 PlanSeedOption];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def ETDGChooseIterationsForGPU : Pass<"etdg-choose-iterations-for-gpu", "::mlir::etdg::GraphOp"> {
  let summary = "compute several iterations of a reduction at a time where a GPU takes less time so";
  string reads = "leaves with products, prices";
  string writes = "leaves of several iterations";
  let description = [{
    Each leaf with a product whose iterations can be joined (`etdg-join-iterations`) is tried as it stands and with 2, 4 and 8
    of them at a time. The trials are copies of the graph that have its item alone, scheduled as `etdg-schedule-for-gpu` does it. What the
    kernels then cost by their schedules and layouts, at typical lengths, decides (docs/gpu-engine.md). Tiles of more columns or
    terms, and states that are brought and left less often, stand against fewer rows. More of them are taken where they promise
    `iterations_share` percent of the time of fewer, or less. The remark (category `gpu`, `choose-iterations`) has all prices.
    What is bound to a target, or has layouts, stays as it is.

    Runs after `etdg-apply-schedule` and before `etdg-schedule-for-gpu`.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "A machine, a GPU, by its name or file (default: the target's)">,
                 Option<"multiprocessors", "multiprocessors", "int64_t", "0",
                        "Multiprocessors to plan for (0: as many as the machine has)">,
                 Option<"steps", "steps", "std::string", "\"choose\"",
                        "Steps of the whole grid with a barrier after each: choose (where that pays), always, never">,
                 Option<"iterations", "iterations", "int64_t", "0", "So many at a time (0: by price)">,
                 PlanSeedOption];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def ETDGPriceForGPU : Pass<"etdg-price-for-gpu", "::mlir::etdg::GraphOp"> {
  let summary = "say what a scheduled graph's kernels take on a GPU";
  let description = [{
    Changes nothing. Each item of a graph that `etdg-schedule-for-gpu` has scheduled is priced as the passes price it that choose among
    forms (docs/gpu-engine.md, Prices), at typical lengths and those of `lengths`. Remarks (category `gpu`): `price` has the seconds of a kernel, its steps and its
    barriers of the grid, and what a task takes of each resource. With `leaves`, `leaf-price` the same of each loop nest of its leaves, in the order in which they
    are first met, for the rows and columns of a task there. Of `etdg.variants` the one is priced that these lengths take.

    A graph without schedules, or with one that no GPU runs, is an error.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "A machine, a GPU, by its name or file (default: the target's)">,
                 Option<"multiprocessors", "multiprocessors", "int64_t", "0",
                        "Multiprocessors to plan for (0: as many as the machine has)">,
                 Option<"leaves", "leaves", "bool", "false", "Prices of leaves, too">, LengthsOption];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::tile::TileDialect"];
}

#endif // FT_SCHEDULE_PASSES
