//===- LoopsDialect.td - the loops dialect -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LOOPS_DIALECT
#define LOOPS_DIALECT

include "mlir/IR/OpBase.td"

def Loops_Dialect : Dialect {
  let name = "loops";
  let cppNamespace = "::mlir::loops";
  let summary = "What structured loops over memory need beside scf, memref and affine";
  let description = [{
    A scheduled, stored graph as loops: a *program*, which says which buffers a call has and which kernels
    it launches, and for each kernel a function (attribute `loops.kernel`) of `scf.for`, `scf.forall`,
    `scf.if`, `memref` and `affine.apply`. Loops are structured, not SPMD: code that stands in no parallel loop runs
    once, and iterations of a parallel loop may run in any order and at once.

    A parallel loop over points is an `scf.forall` whose mapping is `#loops.level<core, block>`: what runs its
    iterations, and how they are mapped to it. One whose range may be cut anywhere is `loops.chunks`. Directly
    nested ones of one level are mapped as one. `loops.sync` stands where units wait for each other. A leaf is
    `loops.leaf`: tensor operations on rows of strided memory.

    Loops of a schedule for a GPU are structured, too: what is dealt to its thread blocks has the level `grid`, what stands
    around that all of them run together, and what stands inside one thread block runs in its order. Of a kernel
    without such loops one thread block runs all.

    Attributes of functions: `loops.kernel`, it is one; `loops.team`, all threads run it at once (convert-loops-to-cpu);
    `loops.grid`, a `#loops.grid`, thread blocks of a GPU run it; `loops.shared`, a `#loops.shared`, what of their shared memory it uses.
    Of `loops.splat`: `loops.constant`, it lies in memory as a constant, where
    products read it; of `loops.leaf`: `loops.joined`, which of its loop nests are computed together, and `loops.syncs`, after which of these the threads of a block wait;
     `loops.row_loops`, which of its loop nests one loop over the rows computes on a core, and in which order; `loops.guards`, which of them a core leaves out where a flag says so;
     `loops.handed`, numbers of outputs (`array<i64>`) of a leaf in a sequential loop, of which other code reads what the last iteration makes alone
     (`etdg.handed` of the loop's dimension);
     `loops.kept`, what the threads of a block keep in registers from one iteration of the loop around it to the next. Of `scf.for`: `loops.rounds_last`, that what its iterations
     hand on to each other need not be rounded to halves but after the last one.

    - (loops_grid1) `loops.grid` stands on a kernel, and its `most` is not negative.
    - (loops_grid2) parallel loops of such a kernel have the level `grid` with a mapping, or `lifted`, `thread` or `none` without one.
    - (loops_grid3) a loop of level `grid` stands in sequential loops and others of its level alone, and in a loop of level `lifted`
      there is no parallel one.
    - (loops_grid5) a loop of level `thread` has constant bounds, and in it stand others of that level, conditions, arithmetic and
      elements of memory: no leaf, no memory of its own, and nothing waits.
    - (loops_grid6) with `loops.shared`, each shared memory of the kernel has an offset, and lies after what warps have and in its bytes, as do the
      places of leaves in shared memory; what `loops.alloc` makes lasts as long as the kernel, and overlaps nothing.
    - (loops_grid7) what `loops.constant` is specified for is a constant, without a step.
    - (loops_grid8) `loops.syncs` is specified for leaves, a truth value for each of their loop nests; `loops.row_loops`, lists of their numbers; `loops.guards`, `#loops.guard`
      of different ones.
    - (loops_grid9) `loops.joined` is specified for leaves: for each of their loop nests as they are written -1, or the number of another one,
      itself joined with none, that a GPU's threads compute together with it.
    - (loops_grid10) `loops.kept` is specified for leaves without a list in the body of a `scf.for` of a kernel of thread blocks: #loops.kept in the order of outputs, each of another
      output and another input, whose rows have one type; a type in which registers hold them is a wider float than their elements.
    - (loops_grid11) `loops.rounds_last` is specified for `scf.for` in such a kernel.
  }];
  let discardableAttrs = (ins "::mlir::UnitAttr":$kernel, "::mlir::UnitAttr":$team, "::mlir::loops::GridAttr":$grid,
                              "::mlir::loops::SharedAttr":$shared,
                              "::mlir::UnitAttr":$constant, "::mlir::DenseI64ArrayAttr":$joined, "::mlir::DenseBoolArrayAttr":$syncs,
                              "::mlir::ArrayAttr":$row_loops, "::mlir::ArrayAttr":$guards, "::mlir::ArrayAttr":$kept,
                              "::mlir::DenseI64ArrayAttr":$handed, "::mlir::UnitAttr":$rounds_last);
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::etdg::ETDGDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // LOOPS_DIALECT
