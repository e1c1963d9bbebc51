//===- Passes.td - passes over etdg ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ETDG_PASSES
#define ETDG_PASSES

include "mlir/Pass/PassBase.td"

def ETDGApplySchedule : Pass<"etdg-apply-schedule", "::mlir::etdg::GraphOp"> {
  let summary = "rewrite scheduled blocks in the coordinates of their schedule (FT §5.2, Table 5)";
  string reads = "`map` of `schedule`";
  string writes = "domains and access maps in its coordinates";
  let description = [{
    A nest or block with a schedule T·t + o gets the transformed dimensions as its own, in the order of the schedule's loops.
    Domains come from Fourier–Motzkin elimination. Maps and sets are composed with the inverse of the schedule, here and in all
    blocks inside. A transformed dimension that is one of the old ones keeps its name, others are called `t`. A sequential
    dimension that was there before keeps its operator, other sequential ones are `scanl`, parallel ones `map`. The schedule
    stays, with the identity as its map: engines read order and kinds of the loops from it. A schedule that is the identity
    already changes nothing.

    ```mlir
    etdg.block @r [scanl, scanl] (j, k) in [0, D) x [0, L) reads (%w = %ws[j] : ...) writes (%ys[j, k]) ...
      schedule #etdg.schedule<map = affine_map<(j, k) -> (j + k, j)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]>
    ==>
    etdg.block @r [scanl, map] (t, j) in [0, D + L - 1) x [max(0, t - L + 1), min(D, t + 1)) reads (%w = %ws[j] : ...) writes (%ys[j, t - j])
    ```

    What can't be transformed (a map that is not unimodular) is an error at the schedule's operation:
    no pass makes such a schedule.
  }];
}

def ETDGShareLoops : Pass<"etdg-share-loops", "::mlir::etdg::GraphOp"> {
  let summary = "run the nests in the body of a loop in order by all units together";
  let description = [{
    A block at the top of a graph whose dimensions all run in order and whose body holds several nests is run by one unit (a
    core, a thread block). That unit runs all that is inside. It becomes an `etdg.kernel` whose nests have these dimensions as
    their first ones and share them: all units take one nest after the other in each iteration. Its buffers become the graph's,
    with these dimensions as their first indices, and the orders of its nests stand inside of the shared loops. Order and
    results stay. So the layers of a recurrent network whose products are computed for all steps of a layer
    (`etdg-distribute{outer=1}`) use the whole grid of a GPU.

    ```mlir
    etdg.block @r_around [scanl] (j) in [0, D) {
      %xw = etdg.buffer : !etdg.buffer<[N, L], !x>
      etdg.block @r_ahead [map, map] (j | i, k) in [0, N) x [0, L) ... writes (%xw[i, k])
      etdg.nest schedule <map = affine_map<(i, k) -> (k, i)>, ...> { ... }
    }
    ==>
    %xw = etdg.buffer : !etdg.buffer<[D, N, L], !x>
    etdg.kernel shared 1 {
      etdg.block @r_ahead [scanl, map, map] (j, i, k) in [0, D) x [0, N) x [0, L) ... writes (%xw[j, i, k])
      etdg.nest schedule <map = affine_map<(j, i, k) -> (j, k, i)>, ...> { ... }
    }
    ```

    `etdg-choose-division-for-gpu` does it to the divisions that it prices. What is bound to a target, has placements, or has bounds that are no lengths of a buffer, stays.
  }];
}

def ETDGSpreadRows : Pass<"etdg-spread-rows", "::mlir::etdg::GraphOp"> {
  let summary = "make rows of statements on whole tensors iterations";
  string reads = "leaves of whole tensors";
  string writes = "own dimensions, access maps";
  let description = [{
    A leaf without dimensions in a graph's own body works on whole tensors (`linalg`, elementwise operations, reshapes).
    Dimensions that lead in each of its results become its own, if each operand has them leading as well or not at all. They
    become lengths of the buffers that it reads and writes, which changes no memory and no shape that a caller sees. At each
    point the same operation runs on one row. The result is what a program over lists of rows would have become.

    ```mlir
    etdg.block @r [] () reads (%x = %xs[] : tensor<384x768xf32>, %w = %ws[] : tensor<768x64xf32>) writes (%ys[]) ...
    ==>
    etdg.block @r [map] (i) in [0, 384) reads (%x = %xs[i] : tensor<768xf32>, %w = %ws[] : tensor<768x64xf32>) writes (%ys[i]) ...
    ```

    What only moves elements becomes a copy whose read says where they come from, piece by piece:

    ```mlir
    %r = tensor.concat dim(0) %x, %y : (tensor<33x7xf32>, tensor<31x7xf32>) -> tensor<64x7xf32>
    ==>
    etdg.block @r [map] (i) in [0, 64) reads (%r = {i <= 32: %xs[i], i >= 33: %ys[i - 33]} : tensor<7xf32>) ...
    ```

    All such dimensions are taken that leave more than a number for each point. Where a number is left, they are
    taken if a statement beside has the same ones and exchanges these numbers. A leaf of several
    statements is taken apart before, where that gains more on the machine than it costs to start those
    without rows by themselves. What has no rows stays as it is. A buffer that is also read
    as a whole is read through a map to its scalars, in its own order.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"\"",
                        "A machine by its name (cpu, a100, …) or file (default: cpu)">];
  let statistics = [Statistic<"numBlocks", "num-blocks", "Statements that got dimensions">,
                    Statistic<"numRows", "num-rows", "Dimensions that they got">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ETDGFlattenProducts : Pass<"etdg-flatten-products", "::mlir::etdg::GraphOp"> {
  let summary = "give products of a leaf as few loops as they need";
  string reads = "products in bodies";
  string writes = "`linalg` operations with fewer loops";
  let description = [{
    Of a sum of products of two tensors (a contraction, a convolution), loops of sums that run once are dropped. Adjacent parallel loops that each of
    its operands walks in order become one, where each operation of the leaf that has loops of these sizes walks them so. A 1x1 convolution is a
    product of matrices then, whose columns are pixels:

    ```mlir
    linalg.generic {...} ins(%x, %w : tensor<64x56x56xf16>, tensor<64x1x1xf16>) outs(%s : tensor<56x56xf32>)       // h, w | c, 1, 1
    ==>
    linalg.generic {...} ins(%x', %w' : tensor<64x3136xf16>, tensor<64xf16>) outs(%s' : tensor<3136xf32>)          // p | c
    ```

    What a leaf reads and writes stays: reshapes in its body are views. An operation that asks for the index of a loop keeps its loops.
  }];
  let statistics = [Statistic<"numLeaves", "num-leaves", "Leaves with fewer loops">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ETDGStorage : Pass<"etdg-storage", "::mlir::etdg::GraphOp"> {
  let summary = "keep the planes that are live, and let buffers share memory";
  string reads = "`schedule`, access maps";
  string writes = "`live` planes, `etdg.slot`";
  let description = [{
    For each buffer that is no result, and each of its dimensions, finds the least number of planes (`live`) that the order of
    the schedules needs. Between the write of a plane and a read of it there may be no write of another plane that many or more
    away, not even an unordered one. A fold keeps one, a wavefront what it needs; iterations of parallel loops and of `map`
    dimensions count as simultaneous. What is found holds for every greater number of planes, too.

    Then the graph's own buffers, results excepted, get slots of one arena (`etdg.slot`). Two buffers of equal size share one
    where the last item that uses the first stands before the first item that writes the second. A leaf of elementwise
    operations that may write in place lets them share one, too. The engines make a slot as large as the largest of its buffers,
    whose sizes are known at the call.

    Statistics and a remark (category `storage`) for each contraction and each write in place.
  }];
  let options = [Option<"maxPlanes", "max-planes", "unsigned", "8",
                        "Contract a dimension where so many planes are enough">];
  let statistics = [Statistic<"numContracted", "num-contracted", "Dimensions contracted">,
                    Statistic<"numShared", "num-shared", "Buffers that share a slot">];
}

def ETDGHandStates : Pass<"etdg-hand-states", "::mlir::etdg::GraphOp"> {
  let summary = "say of which states nothing but the next iteration reads others than the last one";
  string reads = "access maps, `etdg.layouts`";
  string writes = "`etdg.handed`";
  let description = [{
    For leaves whose work the threads of a GPU share, after all regions are what they will be. A leaf that reads what it writes itself has a state. The
    pass asks the sets, for each dimension that runs in order, whether nothing else than the leaf's next iteration meets a state before the last one along
    the dimension. The leaf lists those states (`etdg.handed`, pairs of a write and a dimension). Threads that have a state in registers then store the last
    one alone, even where a kernel after this one reads it. A remark (category `storage`, `hand-states`) names what else reads.

    A result of the graph is none, nor is what a kernel that ends on data looks at.
  }];
}

def ETDGOnline : Pass<"etdg-online", "::mlir::etdg::GraphOp"> {
  let summary = "run reductions that wait for another reduction's result beside it";
  string reads = "reductions and their readers";
  string writes = "one block with several states";
  let description = [{
    Leaves of one body that run over the same dimensions, the last one a reduction j: m = ⊕ x_j, and s = Σ g(x_j, m) that reads
    m's last state. Where what s has summed with an old m can be corrected to a new one, all of them (and the maps between them)
    become one block. It carries (m, s, …) and visits each x_j once. The correction is derived from the bodies:

    - *factor*: g's only dependence is exp(a (x - m)), m a running maximum (minimum for a < 0) of the same x. The correction is
      s·exp(a (m_old - m_new)), and g is linear in that factor from there on (products, sums, broadcasts). A last state that
      only multiplies or divides leaves the sum altogether: the
      division runs once, after the reduction;
    - *square*: Σ w (x - m)²: s, Σ w and the running mean (Chan et al.);
    - *moments*: Σ h (x - m)ⁿ exp(...), n ≤ 4 in all forms together: beside the lower moments;
    - *select*: chosen by x = m, x ≥ m or x ≤ m, m a running maximum or minimum of the same x
      (arg-max with payload): forgotten when m changes;
    - *apart*: all but what equals m (the greatest but one): what did joins when m changes.

    States of f16 and bf16 that are corrected run as f32, with what the bodies make of them, and are
    rounded once, after the reduction.

    `combine` and `identity` are derived where the members have them. A result changes by rounding
    only; integers never. What has no online form gets a remark that names the operation.
  }];
  let options = [
    Option<"narrowStates", "narrow-states", "bool", "false",
           "leave states of f16 and bf16 narrow: fewer bytes, two roundings in every iteration">,
    Option<"ordered", "ordered", "bool", "false",
           "also reductions in order (foldl) beside maps, which then run in order, too">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def ETDGExcessPrecision : Pass<"etdg-excess-precision", "::mlir::etdg::GraphOp"> {
  let summary = "leave out roundings to f16 and bf16 between the operations of a body";
  string reads = "roundings in bodies";
  string writes = "bodies in f32, `etdg.excess`";
  let description = [{
    A body on f16 or bf16 rounds after each of its operations, as it is written. This pass computes what
    stands between its reads and its results in f32 and rounds the results, once: fewer
    conversions, and an error that is no greater. (XLA calls this excess precision, and has it by default.)

    Results of the body stay rounded, states among them, and so does what the program converts by `arith.truncf`. Operands of
    products stay so, since matrix units take them narrow (their sums are f32). What an operation without a wide form reads
    stays rounded, too. What comparisons and integers are computed from is left as it is written, so that integers stay the
    same. `%e` below is computed from an f32 difference, and `%s` summed from f32 numbers:

    ```mlir
    %d = arith.subf %x, %m : tensor<64xf16>
    %e = math.exp %d : tensor<64xf16>
    %s = linalg.reduce { arith.addf } ins(%e : tensor<64xf16>) outs(%zero : tensor<f16>) dimensions = [0]
    ```

    A body whose every rounded value leaves it is not changed. Where its bodies have halves as results, the graph says with
    `etdg.excess` which states may stay wide until the last iteration. They are those that the iterations of a `reduce`, a
    `fold` or a `scan` hand on in registers (`loops.rounds_last`).
  }];
  let options = [Option<"rounding", "rounding", "std::string", "\"excess\"",
                        "excess: as above; exact: after each operation, as the program is written">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ETDGVerify : Pass<"etdg-verify", "::mlir::etdg::GraphOp"> {
  let summary = "check a task dependence graph by integer sets, exactly";
  let description = [{
    The operations' own verifiers check structure; this pass checks sets, for all
    lengths that the graph's bounds allow:

    - (V1) the pieces of a read are disjoint and cover its domain;
    - (V2) every access is in bounds of its buffer (the index of a gather is data
      and checked at run time);
    - (V3) no element of a buffer is written twice;
    - (V4) what is read has been written: by a nest before in textual order, by a sibling at equal ancestor iterations, or by an
      earlier iteration of the same nest. Between items of a kernel an item writes it that the shared loops run before. A gather
      reads its whole dimension;
    - (V5) no dependence is carried by a `map` dimension;
    - (V6) every element of a result is written;
    - (V7) the blocks of a nest have disjoint domains;
    - (V8) `live` planes are enough for the declared order.

    A failure names the block and the buffer, shows a point, and points to the
    other end.
  }];
}

def ETDGHoistInvariants : Pass<"etdg-hoist-invariants", "::mlir::etdg::GraphOp"> {
  let summary = "work that repeats along a null-space dimension is done once (FT §5.2)";
  string reads = "null spaces of access maps";
  string writes = "blocks before their nest";
  let description = [{
    A value of a leaf's body may have reads that do not depend on some dimension: a unit vector of the null space of all of
    their access matrices. It is the same in all iterations along that dimension. Where that saves time at typical lengths
    (machine model), the operations that make it go to a block of their own, all of whose dimensions are maps. Its domain is the
    union of what its readers need, projected along these dimensions. It stands in the outermost body in which all that it reads
    is in sight, in front of the first reader's nest. Leaves that need the same value (the regions of a nest) share it.

    ```mlir
    etdg.block @r [map, map] (q, k) in [0, Q) x [0, K) reads (%x = %xs[q], %w = %W[], %y = %ys[k]) ...
      %0 = linalg.matmul ins(%x, %w) outs(%zero); %1 = linalg.matmul ins(%0, %y) outs(%zero)
    ==>
    etdg.block @r_once [map] (q) in [0, Q) where K >= 1 reads (%x = %xs[q], %w = %W[]) writes (%h[q]) ...
    etdg.block @r [map, map] (q, k) in [0, Q) x [0, K) reads (%p = %h[q], %y = %ys[k]) ...
    ```

    A product that is added to what does vary is taken apart: computed once from 0, added in each iteration. That rounds floats
    in another order; products of f16 and bf16 are kept in f32, other sums of these types would round once more and need
    `narrow`. What stays gets a `coarsen` remark with the rule. The rules are `cost`, `length`, `narrow`, and `dependence` (its
    source is written by the same nest). `domain` says that the projection is no convex set, `skew` that it repeats along a
    vector that is no dimension.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"\"",
           "A machine by its name (cpu, a100, …) or file; on a GPU iterations that do not wait for each other "
           "run at once (default: cpu)">,
    Option<"narrow", "narrow", "bool", "false",
           "take sums of f16 and bf16 apart that are no products, which round once more">,
    Option<"all", "all", "bool", "false", "whatever it costs: for tests">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ETDGLowerOperations : Pass<"etdg-lower-operations", "::mlir::etdg::GraphOp"> {
  let summary = "one leaf block for each statement (FT §5.1, operation node lowering)";
  string reads = "bodies";
  string writes = "a leaf for each statement";
  let description = [{
    A leaf whose body has several tensor operations becomes a graph block with one
    leaf of zero dimensions for each, in order. A leaf of zero dimensions inside a
    block is replaced by siblings. Operations stay whole, never scalar loops;
    constants, empty tensors and scalars are repeated where they are used. What one
    statement hands to another is the element that it writes, or a buffer of depth
    0, private to the iteration. Planes that take each other's place (`live`) are
    written by a leaf at the end, so that all reads still come first.
  }];
}

def ETDGFormLeaves : Pass<"etdg-form-leaves", "::mlir::etdg::GraphOp"> {
  let summary = "leaves at the same points become one leaf";
  string reads = "leaves at the same points";
  string writes = "bodies of leaves";
  let description = [{
    The inverse of `etdg-lower-operations`. Leaves of zero dimensions in one body are joined, in order, where nothing between
    them is in the way. Each may read of the others only whole elements at the same point. These become SSA values, and a buffer
    that nothing else reads disappears. A graph block that is left with one block and no buffer becomes that block. Engines fuse
    inside a leaf only.

    Of a graph's own leaves, those are joined that compute each element of tensors of one shape from that element alone of each
    other's results. A vector times a matrix, its bias and its activation are such. They have the same columns, which is what
    cores and thread blocks share of them.
  }];
  let options = [Option<"maxOperations", "max-operations", "int64_t", "512",
                        "how many operations a joined leaf may have">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ETDGJoinPoints : Pass<"etdg-join-points", "::mlir::etdg::GraphOp"> {
  let summary = "a few points of maps inside of a block become one leaf with it";
  let description = [{
    The children of a graph block may be leaves without dimensions, or at a number of points of maps (the gates of a cell, what
    takes their sums). Such a block becomes one leaf. Each point is a statement of its own, at its number, and all of them are
    joined as by `etdg-form-leaves`. What they handed on in private buffers is a value then.

    One leaf has columns that units can share, where points can be shared by as many units as there are points at most.
    The points were code that ran for each; now each has code of its own, so `most-points` bounds how many there are.

    This is no phase's: `etdg-schedule-for-cpu` does it to the nests whose steps take less time so.
  }];
  let options = [Option<"mostPoints", "most-points", "int64_t", "16", "how many points a leaf may have">];
}

def ETDGPeelFolds : Pass<"etdg-peel-folds", "::mlir::etdg::GraphOp"> {
  let summary = "the last iteration of a fold writes what its last plane was copied to";
  string reads = "folds and copies of their last plane";
  string writes = "regions of the last iteration";
  let description = [{
    A fold's planes take each other's place, so that its result is copied out of them. A leaf may fold one state while a copy
    beside it is all that reads the last plane. Then a leaf in the copy's place computes the last iteration, and the fold has
    one less. Only for folds that have an iteration at all lengths, are short (at typical ones) and have few operations without
    a contraction.
  }];
  let options = [Option<"maxLength", "max-length", "int64_t", "8",
                        "how many iterations a fold typically has at most">,
                 Option<"maxOperations", "max-operations", "int64_t", "24",
                        "how many operations the fold's body has at most">];
}

def ETDGMerge : Pass<"etdg-merge", "::mlir::etdg::GraphOp"> {
  let summary = "width-wise coarsening: merge blocks horizontally and vertically (FT §5.1)";
  string reads = "domains, access maps";
  string writes = "merged nests and blocks";
  let description = [{
    In each body of blocks, in textual order, a block is merged
    - *vertically* into a block that writes what it reads: as many of the outermost dimensions as possible are aligned. What is
      left of both become children, and buffers that only they use become private to an iteration;
    - else *horizontally* into a block of the same domain and operators to which no
      path leads.

    A merge happens only where, for all lengths, no iteration needs one that would run later (by integer sets, not by the
    paper's Table 3). No map dimension may become one that runs in order. And something must be gained: all dimensions aligned,
    or an intermediate that becomes smaller. Nothing is computed twice. What stays two is a `coarsen` remark with the rule:
    `domain`, `dependence`, `width`, `pipeline`, `combine`, `cost`, `tiles` or `order`.

    A product moves in with one that reads its result only where that leaves a tile for each unit of the machine at typical
    lengths. It also does where no fewer tiles are left than the two have apart (`tiles`; `ft/Machine/TilesLeft.h`).
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"\"",
           "the machine whose units want tiles: a name or a file (none: of machine/cpu.json)">,
    Option<"horizontal", "horizontal", "bool", "true", "merge independent blocks">,
    Option<"vertical", "vertical", "bool", "true", "merge producers and consumers">];
}

def ETDGFuseAccesses : Pass<"etdg-fuse-accesses", "::mlir::etdg::GraphOp"> {
  let summary = "copies and rearrangements become access maps of their readers (FT §5.1)";
  string reads = "blocks that copy";
  string writes = "access maps of their readers";
  let description = [{
    A buffer that is only moved into (its writers yield what they read, or a splat) disappears. Each read of it becomes the
    reads of its writers, piece by piece, at the iteration that the write map names. So a materialised reversal, transposition,
    window, concatenation or fill costs nothing. It stays, with a remark, where a write map does not name the iteration, or
    where a read would have more than `max-pieces` pieces. It also stays where what is copied is out of the reader's sight or
    has been overwritten. What nothing reads any more is erased.

    A buffer that one leaf moves whole into another one becomes that one: its
    writers write where the copy wrote.
  }];
  let options = [Option<"maxPieces", "max-pieces", "int64_t", "8",
                        "how many pieces a read may come to have">];
}

def ETDGMergeDims : Pass<"etdg-merge-dims", "::mlir::etdg::GraphOp"> {
  let summary = "depth-wise coarsening: two dimensions that are used alike are one (FT §5.1)";
  string reads = "domains, access maps";
  string writes = "own dimensions";
  let description = [{
    Adjacent dimensions i, j with the same operator become c = m·i + j, m the length of j. Every index and condition must have
    them as that sum or not at all. Two indices of a buffer that is no argument and no result may also be the pair itself; its
    two lengths become their product. An index that would need a division (`c floordiv m`) keeps both: engines address what is
    affine.
  }];
}

def ETDGSplitDim : Pass<"etdg-split-dim", "::mlir::etdg::GraphOp"> {
  let summary = "the inverse of etdg-merge-dims: one dimension as two";
  let description = [{
    Dimension `dim` of the blocks called `block` becomes size·o + i, in this order.
  }];
  let options = [
    Option<"block", "block", "std::string", "", "name of the blocks">,
    Option<"dim", "dim", "std::string", "", "name of the dimension">,
    Option<"size", "size", "int64_t", "0", "length of the inner dimension">];
}

def ETDGFission : Pass<"etdg-fission", "::mlir::etdg::GraphOp"> {
  let summary = "loop fission: what a parallel loop computes independently gets loops of its own";
  string reads = "bodies of parallel loops";
  string writes = "nests of their own";
  let description = [{
    A block at the top whose own dimensions are all maps may have a body of several parts of which none reads what another one
    writes. It becomes a block for each part. A part that is one block then has the dimensions of both, so that all of its
    parallel dimensions can be shared out where before the outer ones alone could:

        map b { map i in [0, L) {…}; map j in [0, L) {…} }   →   map b, i {…};  map b, j {…}

    Parts without a product stay one loop, since what they read alike is most of what they do. Parts that need each other are
    taken apart where the loop has fewer iterations at typical lengths than the machine has units. Products inside of it must be
    work for more of them. A buffer that one hands on to another then gets planes for each iteration, and stands in front of the
    loops. For a CPU all stays one loop: its cores share out the loops inside of a block as well. A remark `fission` says which
    (category `coarsen`).
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"\"",
           "what the loops are for: a machine by its name or file (none: machine/cpu.json)">,
    Option<"all", "all", "bool", "false", "each loop that can be taken apart, whatever it costs">];
}

def ETDGDistribute : Pass<"etdg-distribute", "::mlir::etdg::GraphOp"> {
  let summary = "products that no iteration waits for run before the loops in which others wait";
  let description = [{
    At each loop only what lies on a dependence cycle of that loop has to run in its order. A nest at the top may have a loop in
    order (`scanl`, `foldl`) and leaves with products. Some of these need nothing that the nest itself makes, at equal values of
    its first `outer` sequential dimensions. Blocks of their own in front of the nest compute these values, in all iterations at
    once. A product that is added to what does wait is taken apart. Where `outer` is not 0, these dimensions become a block
    around both parts. With `first`, sequential dimension number `first` comes before the others, where no dependence points
    back then. A program that goes through its layers at each step (`[foldl t, foldl d]`) becomes `[scanl d]` around the
    products of all steps and `[foldl t]`.

    ```mlir
    etdg.nest { // [map i, scanl j, scanl k]: h = tanh(x W + h U), x the layer below
    ==>         // outer=1
    etdg.block @r_around [scanl] (j) in [0, D) {
      %xw = etdg.buffer : !etdg.buffer<[N, L], !x>
      etdg.block @r_ahead [map, map] (j | i, k) ... writes (%xw[i, k]) // x W, all steps of a layer
      etdg.nest { // [map i, scanl k]
    ```

    This is the mechanism alone; `etdg-choose-schedule` asks which division, if any, takes less time. Runs before `etdg-reorder`.
  }];
  let options = [Option<"outer", "outer", "unsigned", "0", "Sequential dimensions that stay around both parts">,
                 Option<"first", "first", "unsigned", "0", "The sequential dimension that comes before the others">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ETDGCutLeaves : Pass<"etdg-cut-leaves", "::mlir::etdg::GraphOp"> {
  let summary = "reductions inside of leaves become shares and their join";
  let description = [{
    A leaf all of whose dimensions are maps, and that reduces a loop of its own `linalg` operations, becomes two nests or three.
    The first has shares of `terms` iterations of that loop, points of a dimension before the bar, each begun from neutral
    elements. The second has the iterations after the last whole share, if there are any. The leaf joins what they come to and
    computes what depends on it. Of several such loops it is the outermost one of at least `terms` iterations, else the longest.

    ```mlir
    etdg.block @r [] ()                      // linalg.reduce of tensor<4096x4096xf16>
    ==>
    etdg.block @r_shares [map] (share) in [0, 1024) reads (%x = elem (e0, e1) %xs[e0 + 4 * share, e1] : tensor<4x4096xf16>) writes (%parts[share])
    etdg.block @r_join [] ()                 // of tensor<1024xf32>
    ```

    A leaf that reduces a dimension of its block, and whose iterations can be joined (`etdg-join-iterations`), becomes such shares as well: `terms` iterations each, computed
    at once. Where these do not divide how many there are, one more share has as many, of which those that there are not count as neutral. `joined` of what the
    shares come to are joined at once.

    What halves add up inside of a leaf stays f32 until it is joined. A loop is left where an operation reads neighbours along
    it, or where something of one iteration depends on what all come to (a softmax of one leaf). It is also left where the sum's
    operation has no neutral element, and where a read is at places that data say. The remark `cut-leaf` (category `etdg`) says
    why.
  }];
  let options = [Option<"terms", "terms", "int64_t", "4096", "Iterations of a share">,
                 Option<"joined", "joined", "int64_t", "1024", "Of a dimension: how many shares are joined at once">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ETDGCutReductions : Pass<"etdg-cut-reductions", "::mlir::etdg::GraphOp"> {
  let summary = "associative loops become shares and their join";
  string reads = "`etdg.cut`";
  string writes = "blocks of shares and their join";
  let description = [{
    A dimension with `combine` (`reduce`, `fold`) whose schedule has a loop of kind `associative` and tile T over it becomes two
    nests. The shares of the first are T iterations, each begun from `identity`, and do not wait. The second joins their last
    states in order. The number of shares follows from the length, not from who runs them, so that a result is the same on any
    number of threads.

    ```mlir
    etdg.block @r [fold] (k) in [0, N)   // loops = [<dimension = 0, tile = 1000, kind = associative, level = core>, ...]
    ==>
    etdg.block @r_shares [map, fold] (share, k) ... // k in [1000 share, 1000 share + 1000); loops = [<dimension = 0, kind = parallel, level = core>, ...]
    etdg.nest {
      etdg.block @r_join [foldl] (share) ... // joined = combine(joined, share's last state)
      etdg.block @r_last [foldl] (share) ... // the last share, which writes what the last iteration wrote
    }
    ```

    Each state of a `scan` is a result: after the join, whose last share writes none then, its shares are computed again, each from what those before it come to:

    ```mlir
    etdg.block @r_resumed [map, scanl] (share, k) ... // from joined[share - 1], and writes what the scan wrote
    ```

    The loops of the shares are those of the schedule, the join's are open. Of the shares says `etdg.cut` what they are, which
    the validator proves (T12). An error stands at a nest that can't be cut: a block without `combine`, one that writes what is
    no state, or one whose other dimensions are ordered. A nest of which others read more than the last state can't be cut
    either. They may go on with that state, after it, as the iterations do that `etdg-join-iterations` leaves: these stay in
    order. Runs after `etdg-apply-schedule`; in the pipelines before `etdg-schedule-for-cpu` and `etdg-schedule-for-gpu`, with
    the machine's lines.
  }];
  let options = [Option<"lineBytes", "line-bytes", "int64_t", "0", "States of two shares lie at least so many bytes apart; 0: beside each other">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "Lie at least a cache line of this machine apart, by its name or file, in the place of line-bytes">];
}

def ETDGJoinIterations : Pass<"etdg-join-iterations", "::mlir::etdg::GraphOp"> {
  let summary = "several iterations of a reduction become one";
  let description = [{
    `iterations` iterations of a dimension that may be re-associated (`reduce`, `fold`, with `combine`) are computed as one,
    where the algebra of the body lets its states take them in together. Each state grows by one associative operation, and what
    it grows by is no function of a state. Or it follows a new maximum (minimum) by the very factor by which the state is
    corrected:

        m' = max(m, x)    s' = s exp(m - m') + h exp(x - m')

    What differs between iterations is read with one dimension more, a box of the same memory. Products that are added to one sum become one
    product with so many times as many terms. An online reduction goes over longer rows: the maximum first, then the sums, one correction.
    States are rounded once for all joined iterations. Iterations after the last multiple of that number stay as they are.

    ```mlir
    etdg.block @r [reduce] (l) in [0, L) reads (%a = %as[l] : tensor<8x16xf32>, %s = {l >= 1: %ss[l - 1], ...}) writes (%ss[l])
    ==>
    etdg.block @r_joined [reduce] (l) in [0, floordiv(L, 4)) reads (%a = elem (e, e0, e1) %as[4 * l + e, e0, e1] : tensor<4x8x16xf32>, ...)
    etdg.block @r [reduce] (l) in [floordiv(L, 4), L - 3 * floordiv(L, 4)) reads (%a = %as[l + 3 * floordiv(L, 4)] : ...)
    ```

    What it does not take stays, with a remark (category `etdg`, `join-iterations`). Such are ordered dimensions (`foldl`,
    `scanl`), whose states round at every step, and `scan`, whose states are results. So are a range that other dimensions
    change, reads that choose among places by the iteration (but with `pieces`), and states that other operations change.
    `etdg-choose-iterations-for-gpu` decides how many are worth it.
  }];
  let options = [Option<"iterations", "iterations", "int64_t", "2", "How many iterations become one">,
                 Option<"pieces", "pieces", "bool", "false", "Also where reads are put together of several pieces">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def ETDGReorder : Pass<"etdg-reorder", "::mlir::etdg::GraphOp"> {
  let summary = "give nests an order with few steps and wide ones (FT §5.2)";
  string reads = "access maps, `ft.typical`";
  string writes = "`schedule`, `etdg.kernel`, `etdg.candidates`, `etdg.divisions`";
  let description = [{
    For each nest and each block that stands alone: the distances of its flow
    dependences, exactly. A hyperplane that carries them all in the fewest steps.
    Its completion to a unimodular T, the sequential row outermost and dimensions
    that carry reuse innermost. Where one plain dimension carries all dependences
    the parallel dimensions stay outside of it. All regions of a nest get one
    schedule. Consecutive nests of one body whose sequential loops fit run as one
    (`etdg.kernel` with one shared loop). The items of a body inside a scan become
    regions of one nest, their number being a dimension, where that takes fewer steps.

    The order goes into `schedule`; further legal ones, best first, into the
    attribute `etdg.candidates`, among them always that of the dimensions as they
    stand. Where the declared order is the only one, nothing is set. A nest that
    has a schedule keeps it. Where a distance without bound is in the way the nest
    stays as it is; remarks of the category `reorder` say why, with a sample. See
    docs/optimiser.md.
  }];
}

#endif // ETDG_PASSES
