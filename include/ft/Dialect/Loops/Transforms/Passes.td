//===- Passes.td - decisions on structured loops -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_PASSES
#define FT_DIALECT_LOOPS_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

/// A pass that writes a decision into loops, for the GPU that their program names.
class DecisionPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let options = [Option<"target", "target", "std::string", "\"\"", "sm_80 or sm_90a; empty: the program's own">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "the machine, by its name or its file, a GPU; empty: the program's own">];
}

def LoopsExpandChoices : Pass<"loops-expand-choices", "::mlir::ModuleOp"> {
  let summary = "make a branch of what chooses a GPU's memory";
  string reads = "`arith.select` of memory";
  string writes = "`scf.if`";
  let description = [{
    In kernels of thread blocks, an `arith.select` of memory becomes an `scf.if` that yields it, and so does one of an index by the
    same condition. Upstream's `canonicalize` turns trivial branches into such selects; the passes after this one, and
    `convert-loops-to-gpu`, read branches. Kernels without selects of memory stay, as do those of a CPU.

    ```mlir
    %memory = arith.select %is, %a, %b : memref<?xf32>
    ==>
    %memory = scf.if %is -> (memref<?xf32>) { scf.yield %a : memref<?xf32> } else { scf.yield %b : memref<?xf32> }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def LoopsChooseDivisions : DecisionPass<"loops-choose-divisions"> {
  let summary = "say which divisions of a GPU's leaves may be products with a reciprocal";
  string reads = "divisions in leaves";
  string writes = "`fastmath<arcp>`";
  let description = [{
    Gives `fastmath<arcp>` to divisions of f32, f16 and bf16 in kernels of thread blocks. Their result is rounded as a
    quotient's though it is a product with the reciprocal, refined once. Such is a constant of at most 1 by the sum of a
    constant of at least 1 and what is not negative (a logistic function). At the ends of the range, where the two would differ,
    such a quotient never is. `tile-use-special-functions` reads it.

    ```mlir
    %s = arith.addf %one, %exp : tensor<64xf32>
    %q = arith.divf %one, %s fastmath<arcp> : tensor<64xf32>
    ```
  }];
}

def LoopsChooseLayouts : DecisionPass<"loops-choose-layouts"> {
  let summary = "say how the threads of a GPU's block share each leaf";
  string reads = "leaves, `loops.grid`";
  string writes = "`layouts`, `loops.joined`";
  let description = [{
    Writes `layouts` of the leaves in kernels of thread blocks that have none, or a CPU's: for each of their loop nests which part a
    thread computes (`#etdg.tiling`, `#tile.product`). `convert-etdg-to-loops` copies what `etdg-schedule-for-gpu` says of a
    leaf, but where storage has left other accesses than that was chosen for.

    Loop nests whose values meet point by point are computed together, as many as the machine's `fused_ops` operations are: `loops.joined`
    says for each nest with which one. Layouts are of what is left then.

    A loop of level `lifted` whose iterations no leaf can compute at once becomes one of level `none`, with a remark, and its
    leaves get layouts for one iteration. Addresses do not grow evenly with it there, as where a buffer keeps only some of its
    planes.

    ```mlir
    loops.leaf rows(%n) most 64 ins(%x : ...) varies [true] outs(%y : ...) { ... }
    ==>
    loops.leaf rows(%n) most 64 ins(%x : ...) varies [true] outs(%y : ...) layouts [#etdg.tiling<vector = 1, width = 4>] { ... }
    ```

    `convert-loops-to-gpu` obeys the layouts, and refuses a leaf that has none or one that does not fit. What no kernel can do is
    refused here, too. Kernels of a CPU stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsChooseTasks : DecisionPass<"loops-choose-tasks"> {
  let summary = "say how long the chunks are that a GPU's thread blocks take, and how many blocks there are";
  string reads = "`loops.chunks`, `loops.sync grid`";
  string writes = "`length` of `loops.chunks`, `most` in `loops.grid`";
  let description = [{
    Writes `length` of each `loops.chunks` of level `grid` that has none (`#loops.chunk_length`). That is all that it may have,
    where its `unit` is its `most`. For rows it is how many tasks the host leaves for an SM, where the host knows all ranges and
    nothing waits. Elsewhere the thread blocks count themselves. The pass also writes `most` of the kernel's `#loops.grid` where
    it has none but must. Thread blocks that wait for each other (`loops.sync grid`) are as many as there are SMs. So are, some
    for each, those whose tasks the host can't count.

    ```mlir
    loops.chunks (%row, %rows) = %c0 to %n most 64 level <grid, cyclic> { ... }
    ==>
    loops.chunks (%row, %rows) = %c0 to %n most 64 level <grid, cyclic> length <tasks = 264, full = 8> { ... }
    ```

    `convert-loops-to-gpu` obeys them; it refuses chunks without a length, tasks that the host can't count, and a kernel that lacks a
    number of blocks. Kernels of a CPU stay.
  }];
  let dependentDialects = ["::mlir::etdg::ETDGDialect"];
}

def LoopsFindAlignment : DecisionPass<"loops-find-alignment"> {
  let summary = "say at multiples of how many bytes rows begin that a GPU's leaves access";
  string reads = "addresses of views, `ft.strides`";
  string writes = "`aligned` of leaves";
  let description = [{
    Writes `aligned` of the leaves in kernels of thread blocks that have none. For each view, inputs first, it says how many
    bytes divide each place at which one of its rows begins, up to the widest access. The address tells it: constants, sums,
    products, what callers promise of strides. Where they cover as many elements as divide a row, adjacent elements are one
    access.

    ```mlir
    loops.leaf rows(%n) most 64 ins(%x : ...) varies [true] outs(%y : ...) { ... }
    ==>
    loops.leaf rows(%n) most 64 ins(%x : ...) varies [true] outs(%y : ...) aligned [16, 4] { ... }
    ```

    `convert-loops-to-gpu` takes nothing else for aligned, and refuses more than the addresses tell. Kernels of a CPU stay.
  }];
}

def LoopsChoosePipelines : DecisionPass<"loops-choose-pipelines"> {
  let summary = "say which kernels have warp groups that fetch operands of others' products";
  string reads = "`layouts` of leaves, views";
  string writes = "`tile.pipeline` of kernels, `layouts` of leaves";
  let description = [{
    Gives `tile.pipeline` to kernels whose products are of warp groups (`wgmma` in `#tile.product`), where TMA can bring all of their operands. They have as many
    slots as the device's shared memory has room for, and the registers that the loaders leave. Where TMA can't, the leaf gets layouts without warp groups, and a
    remark says why. A pipeline that is given is kept, or refused with the reason.
    Thread blocks may wait for each other, unless a task writes what another of its leaves fetches.

    ```mlir
    func.func @k(…) attributes {loops.kernel, …}
    ==>
    func.func @k(…) attributes {loops.kernel, tile.pipeline = #tile.pipeline<slots = 4, loaders = 1, computers = 2, registers = [24, 240]>, …}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsKeepNumbers : DecisionPass<"loops-keep-numbers"> {
  let summary = "keep numbers of joined iterations as values where chains of products take them";
  string reads = "`layouts` of leaves, loops of level thread";
  string writes = "`loops.splat`";
  let description = [{
    Iterations that are joined have a list of numbers, which the threads of a block write to shared memory (`ft.iota` beside joined keys). Leaves with the layout
    `#tile.chain` compute them where they need them. So a list that such leaves alone read becomes a `loops.splat`, if its elements are evenly apart. No
    thread waits for it then.

    ```mlir
    scf.forall (%u) in (4) { … memref.store %number, %list[%u] : memref<?xi64> } {mapping = [#loops.level<thread>]}
    ==>
    %list = loops.splat %first step %one elements 1 rows 4 : index -> memref<?xi64>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect"];
}

def LoopsPlaceMemory : DecisionPass<"loops-place-memory"> {
  let summary = "say where a GPU's thread block has its memory";
  string reads = "`layouts`, places of `loops.alloc`, `loops.grid`";
  string writes = "`loops.shared`, places of `loops.alloc`, `places` of leaves, `loops.constant`";
  let description = [{
    Runs after `loops-choose-layouts` and `loops-choose-tasks`, on kernels of thread blocks without `loops.shared`, and writes a
    map of their shared memory. `loops.shared = #loops.shared<bytes = 35328, warps = 512>` has the bytes of all of it and those
    in which warps leave each other sums. The offset of each `loops.alloc` with the place `in <shared>`
    becomes a number (`in <shared, offset = 512>`). One without a place gets one there if it fits, else `in <workspace>`. And, as `places` of each leaf, where it keeps what one of its loop nests hands on to others, stages of its
    products' operands, and sums of slices (`#loops.place`). Values of a leaf that are never needed at the same time share a
    place, as do leaves, which run one after the other. A value that a product alone adds to lies in the output that it becomes,
    where the threads of a block share that. What does not fit lies in the workspace, of which each thread block has a part:
    then `loops.grid` says how many there are at most. Rows of one value (`loops.splat`) that products read lie in memory as
    constants (`loops.constant`). Memory in whose banks fragments of products would meet, as its rows begin in the same ones, is
    `swizzled`.

    ```mlir
    loops.leaf rows(%n) most 8 ins(%x : ...) varies [true] outs(%y : ...) layouts [...] { ... }
    ==>
    loops.leaf rows(%n) most 8 ins(%x : ...) varies [true] outs(%y : ...) layouts [...]
      places [#loops.place<value = 0 in shared at 512, bytes = 2048>, #loops.place<value = 2 in workspace, bytes = 65536>] { ... }
    ```

    `convert-loops-to-gpu` takes memory from nowhere else. It refuses a kernel whose memory has no places, and more shared
    memory than the machine has. It also refuses places that are too small or overlap while both are needed, and an output that
    a value can't lie in. Kernels of a CPU stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsChooseAccesses : DecisionPass<"loops-choose-accesses"> {
  let summary = "say how a GPU's threads hold and move products in tiles";
  string reads = "`layouts`, `aligned`, `places`";
  string writes = "`#tile.product` in `layouts`";
  let description = [{
    Runs after `loops-find-alignment` and `loops-place-memory`, on leaves with a `#tile.product` that says nothing of it. It
    writes which elements of a tile of the result a thread has (`result`), and how threads bring operands into shared memory
    (`lhs`, `rhs`). Accesses are as wide as what is known of beginnings, strides and sizes allows. Threads go on while an
    operand comes from the device's own memory. `reads` says how a thread reads them there, and for how many terms at a time,
    `accesses` how tiles in registers come from memory and go there. `carried` names the joined products that go on with the
    sums of the one before them.

    ```mlir
    layouts [#tile.product<block = [64, 64], thread = [4, 4], step = 16, stages = 2, result = #tile.blocked<vector = [1, 4], threads = [16, 16], warp = [4, 8]>,
      lhs = #tile.move<width = 4, threads = [64, 4], async>, rhs = #tile.move<width = 4, threads = [16, 16], async>,
      reads = #tile.reads<terms = 4, lhs = 4, rhs = 4>, accesses = [4]>]
    ```

    `convert-loops-to-gpu` obeys it. It refuses a product without these decisions, accesses that are wider than is known to
    hold, and other threads than the block's. It also refuses sums that are carried though something else looks at them. Kernels
    of a CPU stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsKeepSums : DecisionPass<"loops-keep-sums"> {
  let summary = "say which sums a GPU's threads keep in registers through a loop";
  string reads = "`layouts`, addresses, `loops.rounds_last`";
  string writes = "`loops.kept`";
  let description = [{
    Runs after `loops-choose-accesses`, on leaves without `loops.kept` in the body of a sequential loop that compute products in
    tiles. By their addresses, what an input has is what an output got in the iteration before. One tile of a product alone
    meets both, and its coordinates do not change: rows and columns of the product fit it (`convert-loops-to-gpu` takes several
    tiles as well). Then the tile stays in the threads' registers from the first iteration to the last, if they have room for it
    beside those of the leaf's other products. With `last` it is stored after the loop, where nothing reads an earlier one, or
    each would lie in the same place. With `each` every iteration stores it, and none but the first loads. In a loop that says
    `loops.rounds_last` a product's sums stay as wide as it adds them up, and are rounded to halves where they are stored.

    ```mlir
    scf.for %k = %c0 to %n step %c1 {
      %before = scf.if %is -> (memref<?xf32>, index, index) { ... %sums at plane (k - 1) mod 2 ... } else { ... zero ... }
      loops.leaf ... ins(%a, %b, %state : ...) outs(%next : ...) layouts [#tile.product<...>] { ... } {loops.kept = [#loops.kept<output = 0, input = 2, last>]}
    }
    ```

    `convert-loops-to-gpu` obeys it. It refuses a pair of which one of these does not hold, `last` where a user may look, and a type in which no product adds up. Where an input has what an
    output got, and its tile does not stay, a remark says why. Kernels of a CPU stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsChoosePoints : DecisionPass<"loops-choose-points"> {
  let summary = "say what a GPU's threads compute of loop nests, point by point";
  string reads = "`layouts`, `aligned`, `places`";
  string writes = "`nests` of leaves";
  let description = [{
    Runs after `loops-find-alignment` and `loops-place-memory`. For each leaf that has none it writes as `nests` what follows of
    the tilings of its loop nests (`#tile.nest`). Their loops stand first, those that all accesses walk as one being one. It
    says whether each row and lifted iteration has points of its own, and which points a thread computes together. It says how
    many threads cut a sum, where there is memory for what they leave each other, and whether they share that memory between
    tiles. It says how rows that are fewer than a tile has are computed: one by one, but where threads are idle anyway. Accesses
    have as many elements as what is known of beginnings, strides and sizes allows. A flag may leave a nest out, if the threads
    of a block agree on it. Where lanes keep the rows of a leaf in registers it writes in accesses of how many elements they
    come and go, and from which of them lanes count (`#tile.row_accesses`).

    ```mlir
    loops.leaf ... layouts [#etdg.tiling<width = 4, vector = 0, rows = 4>] ... { ... }
    ==>
    loops.leaf ... layouts [...] nests [#tile.nest<loops = [1024, 4], rows, tiles = <threads = 256, vector = 0, width = 4, tile = 4, rows = true>,
      rest = <threads = 256, vector = 0, width = 4>, accesses = [1, 4, 4]>] { ... }
    ```

    `convert-loops-to-gpu` obeys it. It refuses a nest without these decisions, other loops or threads than those of its layout,
    and more slices than there is memory for. It also refuses accesses that are wider than is known to hold, and a flag that
    does not make the nest superfluous. Kernels of a CPU stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsChooseCopies : DecisionPass<"loops-choose-copies"> {
  let summary = "say which copies to shared memory a GPU's threads do not wait for, and where they do";
  string reads = "`nests`, `loops.staged`";
  string writes = "`async` in `nests`, `loops.commit`, `loops.wait`";
  let description = [{
    Runs after `loops-choose-points`, on kernels without a `loops.commit`. A leaf may do nothing but copy an element from the
    device's memory, which the kernel writes nowhere, to shared memory. In accesses of 4, 8 or 16 bytes it is `async`
    (`#tile.nest`): its threads go on. In front of the code that reads what was copied, in the body that holds both, stand three
    operations. With a `loops.commit` the copies that threads have begun are a group. A `loops.wait` and a `loops.sync block`
    follow. It waits until no more groups are on their way than were committed after the one that is read: with `loops.staged %m
    ahead n` those of n iterations.

    ```mlir
    scf.for ... {
      scf.if %is { loops.leaf ... nests [#tile.nest<loops = [2048], rows, async, tiles = <threads = 256, vector = 0, width = 4>, accesses = [4, 4]>] ... }
      loops.staged %memory ahead 2 : memref<?xf32>
      loops.commit
      loops.wait 2
      loops.sync block
      scf.if %has { loops.leaf ... }
    }
    ```

    `convert-loops-to-gpu` obeys it. It refuses a copy that can't be made so, and one that something reads who may not have waited for it. Where threads wait for what
    they copy a remark says why. Kernels of a CPU stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsPlaceSyncs : DecisionPass<"loops-place-syncs"> {
  let summary = "say where the threads of a GPU's block wait for each other";
  string reads = "`nests`, `layouts`, `loops.kept`";
  string writes = "`loops.sync block`, `loops.syncs`";
  let description = [{
    Runs after `loops-choose-layouts` and `loops-choose-copies`. Writes a `loops.sync block` before each leaf, load and loop of
    level `thread` that may read what threads of the block have stored since they waited last. A loop through which they keep
    sums (`loops.kept`) counts as a store. `loops.syncs` of each leaf says after which of its loop nests they wait: all but
    those whose results stay in registers or are on their way. A kernel that says it of some leaf has been looked at.

    ```mlir
    memref.store %x, %memory[%c0] : memref<?xf32>
    loops.sync block
    loops.leaf ... layouts [#etdg.tiling<>, #etdg.tiling<>] { ... } {loops.syncs = array<i1: true, true>}
    ```

    `convert-loops-to-gpu` makes a barrier of each of them and has no others but those within a loop nest. It refuses a leaf that does not say it.
    Kernels of a CPU stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::etdg::ETDGDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def LoopsPlaceDependency : DecisionPass<"loops-place-dependency"> {
  let summary = "let a GPU's launch begin before the one before it has ended";
  string reads = "`loops.launch`, `loops.sync grid`";
  string writes = "`overlaps` of `loops.launch`, `loops.griddepcontrol`";
  let description = [{
    Programmatic dependent launch, where the machine's `boundary_overlapped` is less than its `boundary`, and its target's, too. A launch that follows
    another one in the program `overlaps`. Its kernel waits before it touches memory. The kernel before lets it begin at once: it takes no place
    that a thread block of that kernel needs. As each such kernel waits, one that has waited comes after all launches before it.

    ```mlir
    loops.launch @first(%x, %y) : !etdg.buffer<[N], tensor<4xf32>>, !etdg.buffer<[N], tensor<4xf32>>
    loops.launch @second(%y, %z) {overlaps} : !etdg.buffer<[N], tensor<4xf32>>, !etdg.buffer<[N], tensor<4xf32>>

    func.func @first(...) attributes {loops.kernel, loops.grid = ...} {
      loops.griddepcontrol launch_dependents
      ...
    }
    func.func @second(...) attributes {loops.kernel, loops.grid = ...} {
      loops.griddepcontrol wait
      ...
    }
    ```

    Kernels whose thread blocks wait for each other neither overlap nor are overlapped. A program in which some launch overlaps stays.
  }];
}

#endif // FT_DIALECT_LOOPS_TRANSFORMS_PASSES
