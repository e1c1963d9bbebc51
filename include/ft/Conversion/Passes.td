//===- Passes.td - conversions between the dialects --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_PASSES
#define FT_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertFTToETDG : Pass<"convert-ft-to-etdg", "::mlir::ModuleOp"> {
  let summary = "turn functions over nested lists into task dependence graphs (FT §4.4)";
  string reads = "functions over lists, `ft.bounds`, `ft.lengths`";
  string writes = "`etdg.graph`, `etdg.checks`, `etdg.merged`";
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
  string reads = "functions over static tensors, `etdg.dims`";
  string writes = "`etdg.graph`";
  let description = [{
    A `linalg` operation *is* a leaf block: its iteration space is the leaf's domain,
    `parallel` is map and `reduction` is reduce, its indexing maps are access maps
    (docs/etdg.md). Each tensor operation is wrapped in a block of zero
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

def ConvertSCFToETDG : Pass<"convert-scf-to-etdg", "::mlir::ModuleOp"> {
  let summary = "raise imperative loops over tensors to task dependence graphs";
  string reads = "functions over ranked tensors, `etdg.dims`";
  string writes = "`etdg.graph`";
  let description = [{
    A function over ranked tensors that fills arrays in `scf.for`, `scf.forall` and
    affine `scf.if` by `tensor.insert_slice` becomes a graph (docs/raising.md). Each read of
    a carried tensor finds its last writer by symbolic lexicographic maxima. An array
    that is written once at each cell *is* a buffer, another one is kept by the
    iterations that write it. Dimensions that carry nothing are `map`, others `scanl`, or
    `foldl` where only the next iteration reads what is carried.

    Lengths of dynamic dimensions take the names that the argument's attribute
    `etdg.dims` gives, else names of their own:

    ```mlir
    func.func @sums(%xs: tensor<?x4xf32> {etdg.dims = ["L"]}) -> tensor<?x4xf32> {
      ...
      %r:2 = scf.for %t = %c0 to %L step %c1 iter_args(%ys = %empty, %s = %zero) -> ... {
        %x = tensor.extract_slice %xs[%t, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
        %s1 = arith.addf %s, %x : tensor<4xf32>
        %ys1 = tensor.insert_slice %s1 into %ys[%t, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
        scf.yield %ys1, %s1 : tensor<?x4xf32>, tensor<4xf32>
      }
      return %r#0 : tensor<?x4xf32>
    }
    ==>
    etdg.block @r0 [scanl] (i) in [0, 1) reads (%x = %xs[i], %s = splat 0.0) writes (%ys[i]) ...
    etdg.block @r1 [scanl] (i) in [1, L) reads (%x = %xs[i], %s = %ys[i - 1]) writes (%ys[i]) ...
    ```

    What it refuses stays as it was, with a warning and a remark at the access.
  }];
  let dependentDialects = ["::mlir::etdg::ETDGDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def SCFPrintRaising : Pass<"scf-print-raising", "::mlir::ModuleOp"> {
  let summary = "print what raising knows of imperative functions, and change nothing";
  let description = [{
    Prints what `convert-scf-to-etdg` writes a graph from, on the standard output. For each array it says who writes which cells
    when, whether it is written once at each cell, and which buffer holds it. It goes on with the buffers, and with the blocks
    of the graph: their domains, and what each reads as pieces of buffers, computes and writes. Loops are called i, j, k, …, the
    cell of an array is c0, c1, …. Of a function that is refused, the reason.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def ConvertTSSAToTensor : Pass<"convert-tssa-to-tensor"> {
  let summary = "turn accesses, assigns and indexing of values into tensor, linalg and scf";
  string reads = "`tssa` values";
  string writes = "`tensor`, `linalg`, `scf`";
  let description = [{
    What `tssa-functionalize` leaves has no mutable tensors; this pass writes its `tssa`
    operations in upstream's words. Selects and slices, however many, are one
    `tensor.extract_slice` or `insert_slice`; permutations, repetitions and diagonals are linalg's;
    writes at indices that are data are loops in the order of the indices.

    ```mlir
    %v = tssa.access %t[select(0, %i), slice(0, 1, 4, 2)] : tensor<8x6xf32> -> tensor<2xf32>
    ==>
    %v = tensor.extract_slice %t[%i, 1] [1, 2] [1, 2] : tensor<8x6xf32> to tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertETDGToLoops : Pass<"convert-etdg-to-loops", "::mlir::ModuleOp"> {
  let summary = "turn scheduled, stored graphs into structured loops over memory";
  string reads = "`schedule`, `etdg.layouts`, `etdg.rows`, `etdg.slot`";
  string writes = "`loops.program`, `loops.leaf`, `loops.grid`, `loops.alloc`, `loops.rounds_last`";
  let description = [{
    Each graph becomes a `loops.program` and a kernel for each of its nests. The loops are those of the nests' schedules, in
    their order. Sequential ones are `scf.for`, parallel ones `scf.forall` with their level as mapping. Where the code that runs
    them cuts the range, they are `loops.chunks`. `loops.sync` stands where the schedule has units wait. Access maps are
    `affine.apply` on strides and planes that `etdg-storage` gave, pieces of reads `scf.if`, leaves `loops.leaf` on
    `memref.reinterpret_cast`s. Loops are not SPMD: `convert-loops-to-cpu` makes them so.

    With the target of a GPU, loops dealt to its thread blocks have the level `grid`. Kernels say which blocks run them
    (`loops.grid`), and leaves how their threads share them (`layouts`).

    Nothing is decided here. The pass refuses, with an error at the block, a schedule that is open or missing.
    `etdg-schedule-for-cpu` and `etdg-schedule-for-gpu` write it, and `etdg-place-buffers` says where the buffers of a thread
    block lie. It also refuses a schedule for another engine or with loops that this one does not run, and a dimension that its
    domain does not bound.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"\"",
                        "A machine by its name or file (default: the target's own)">,
                 Option<"target", "target", "std::string", "\"cpu\"", "What the schedules are for: cpu, sm_80 or sm_90a">,
                 Option<"multiprocessors", "multiprocessors", "int64_t", "0",
                        "Multiprocessors of the GPU (0: as many as the machine has)">,
                 Option<"threads", "threads", "unsigned", "0", "Threads of the CPU that estimates are made for (0: the machine's cores)">,
                 ListOption<"lengths", "lengths", "std::string",
                            "Lengths that estimates are made for, NAME=NUMBER, in the place of the graph's typical ones">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::loops::LoopsDialect", "::mlir::LLVM::LLVMDialect"];
}

def LoopsGridToCores : Pass<"loops-grid-to-cores", "::mlir::ModuleOp"> {
  let summary = "let the cores of a CPU run loops that are dealt to the thread blocks of a GPU";
  let description = [{
    A core stands for a thread block: level `grid` becomes `core`, and all cores wait where all thread blocks would. Columns
    that are cut anywhere are cut into a few parts. So what the loops of a GPU's schedule mean is run without one, by
    `convert-loops-to-cpu` and in any order of the cores. Layouts, of which these know nothing, go. Loops for a CPU stay.

    A leaf of which a CPU's calls can't compute some columns is computed whole, and its loop over columns has one iteration.
  }];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertLoopsToCPU : Pass<"convert-loops-to-cpu", "::mlir::ModuleOp"> {
  let summary = "turn structured loops into what each thread of a CPU runs (SPMD)";
  string reads = "levels and syncs of loops";
  string writes = "functions of a thread, `loops.team`";
  let description = [{
    A kernel becomes a function of an environment (lengths, pointers of buffers, the number of threads) and of what its
    caller says of the thread:

    - one whose only loops are mapped `dynamic`, over a box: `(%env, %begin, %end)`, tasks that threads take as they become free,
      and a second function, `NAME_count`, that counts them;
    - one with a sync, or loops mapped `block`: `(%env, %tid, %threads)`, which all threads run at once. Each
      counts the points of a step (and what they weigh), takes its share in their order and waits at a sync. What
      stands outside of parallel loops runs on the first thread;
    - any other is one task.

    Memory of an iteration becomes memory of a thread, made once. Leaves stay as they are (`loops-lower-leaves`). The pass
    refuses, with an error at the loop, a level that a CPU lacks, and iterations mapped `dynamic` that are no box. Memory of the
    kernel in loops that several threads run is an error, too.
  }];
  let options = [Option<"poison", "poison", "bool", "false",
                        "Fill memory of iterations with ones before each, so that what nothing wrote is seen">];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::LLVM::LLVMDialect"];
}

def LoopsChooseTiles : Pass<"loops-choose-tiles", "::mlir::ModuleOp"> {
  let summary = "say how a core computes a leaf's loop nests";
  string reads = "bodies of leaves, the processor's vectors";
  string writes = "`layouts` of leaves";
  let description = [{
    Writes `layouts` of leaves that have none, or a GPU's. A loop nest that is a product gets a `#loops.product`. It holds rows
    and columns of a tile in registers, how rows are cut, and the elements of a vector and what it runs along. It also says
    whether columns are copied, terms taken in blocks, columns asked for ahead, operands packed, and whether the product is a
    function. Other nests get `#loops.lanes`, along which loop they are vectors, or `#loops.joined`, which other one they are
    computed together with.

    With `loops-choose-row-loops`, `loops-choose-guards` and `loops-place-scratch`, in this order, that is `loops-decide-for-cpu`; `loops-lower-leaves`
    obeys all of it, and refuses leaves of which something is open.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "unsigned", "0",
                        "Bytes of a vector register (0: of this machine)">,
                 Option<"vectorRegisters", "vector-registers", "unsigned", "0",
                        "Number of vector registers (0: of this machine)">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "The machine whose caches products are cut for, by name or file (cpu)">];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopsChooseRowLoops : Pass<"loops-choose-row-loops", "::mlir::ModuleOp"> {
  let summary = "say in which order a core computes a leaf's loop nests, and which of them one loop over the rows computes";
  string reads = "`layouts`";
  string writes = "`loops.row_loops`";
  let description = [{
    Writes `loops.row_loops` of leaves that have none: lists of loop nests, by number. A list is one loop over the rows around its nests, or one
    nest alone, which all rows share or which treats them itself. An order in which a nest stands before one that it needs is refused, by the code that reads it.

    ```mlir
    loops.leaf ... {loops.row_loops = [array<i64: 0>, array<i64: 1>, array<i64: 2, 5>]}
    ```

    Refused, with an error at the leaf: one whose `layouts` it is not specified (`loops-choose-tiles`).
  }];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopsChooseGuards : Pass<"loops-choose-guards", "::mlir::ModuleOp"> {
  let summary = "say which loop nests of a leaf a core leaves out where a flag makes them superfluous";
  string reads = "`layouts`, `loops.row_loops`";
  string writes = "`loops.guards`";
  let description = [{
    Writes `loops.guards` of leaves that have none and where there are such. A `#loops.guard` stands for each loop nest whose
    results are read only if a flag, an input of one `i1`, holds. In a loop over the rows each row asks its own flag. An empty
    list says that none is left out.

    Refused, with an error at the leaf: one whose `layouts` or order it is not specified (`loops-choose-row-loops`).
  }];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopsPlaceScratch : Pass<"loops-place-scratch", "::mlir::ModuleOp"> {
  let summary = "say where in a thread's memory a leaf's loop nests hand on values to each other";
  string reads = "`layouts`, `loops.row_loops`";
  string writes = "`scratch` of leaves";
  let description = [{
    Writes `scratch` of leaves that have none and where not all values stay in registers. Each value that does not gets a
    `#loops.scratch`, which says from which byte on it lies and for how many rows. Values that are not needed at the same time,
    in the order that `loops.row_loops` says, share bytes.

    Refused, with an error at the leaf: one whose `layouts` or order it is not specified (`loops-choose-row-loops`).
  }];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopsLowerLeaves : Pass<"loops-lower-leaves", "::mlir::ModuleOp"> {
  let summary = "turn leaves into vector loops on their rows";
  string reads = "`layouts`, `loops.row_loops`, `loops.guards`, `scratch`";
  string writes = "`vector`, `scf`, `llvm`";
  let description = [{
    Equal leaves become one function, written by the leaf generator (docs/cpu-engine.md), and calls of it. Their scratch
    memory is the kernel's, as large as the largest. Lists of rows become addresses in memory, checked indices
    comparisons that note the first error.

    Nothing is decided here, and no processor known. A leaf whose `layouts` leave a loop nest open, or which has no place for a
    value in memory, is an error (`loops-decide-for-cpu` writes both).
  }];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect",
                           "::mlir::math::MathDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopsVectorizeLeaves : Pass<"loops-vectorize-leaves", "::mlir::ModuleOp"> {
  let summary = "turn leaves into loops over vectors, wherever they stand";
  let description = [{
    The step from `linalg` to `vector` by itself. Each `loops.leaf` of any function, linalg on rows of strided memrefs, becomes
    a call of a function in scf, vector and memref. Its `layouts` and its `scratch` say how (`loops-decide-for-cpu`), and
    nothing else is touched. Memory for what loop nests hand on is made at the function's begin. `ft-leaf-to-llvm` goes on to
    LLVM's dialect.

    The pass refuses, with an error at the leaf, decisions that are open, and rows that are a list. It also refuses indices that
    are data, whose check a thread's kernel reports (`loops-lower-leaves` does all of it for kernels).
  }];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect",
                           "::mlir::math::MathDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FTChooseLeaf : Pass<"ft-choose-leaf", "::mlir::ModuleOp"> {
  let summary = "say how a core computes functions that are marked as leaves";
  let description = [{
    What `loops-decide-for-cpu` says of a `loops.leaf`, for each function of tensors with the unit attribute `ft.leaf`, in attributes of the function:
    `ft.leaf_layouts`, `ft.leaf_scratch`, `ft.leaf_row_loops` and `ft.leaf_guards`. What is specified there already stays.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "unsigned", "0",
                        "Bytes of a vector register (0: of this machine)">,
                 Option<"vectorRegisters", "vector-registers", "unsigned", "0",
                        "Number of vector registers (0: of this machine)">];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def FTGenerateLeaf : Pass<"ft-generate-leaf", "::mlir::ModuleOp"> {
  let summary = "turn functions that are marked as leaves from tensors into loops on rows of memrefs";
  let description = [{
    Each function with the unit attribute `ft.leaf` becomes one on memrefs that computes as many rows as it is asked for, as its
    attributes say (`ft-choose-leaf`). It may also carry `ft.leaf_batched` and `ft.leaf_aliases`, arrays of bool. They say which
    inputs vary with the row and which outputs may lie where inputs do. `ft.leaf_sums` is the type in which it adds up halves.
    With the unit attribute `ft.leaf_listed` rows lie at addresses of a list.

    Nothing is decided here, and no processor known: a function of which something is open is an error.
  }];
  let dependentDialects = ["::mlir::loops::LoopsDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

#endif // FT_CONVERSION_PASSES
