//===- ETDGAttrs.td - types and attributes of etdg ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ETDG_ATTRS
#define ETDG_ATTRS

include "ft/Dialect/ETDG/IR/ETDGDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class ETDG_Attr<string name, string attrMnemonic> : AttrDef<ETDG_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// An enum that need not be given.
class ETDG_EnumOr<EnumInfo enumInfo, string value> : EnumParameter<enumInfo> {
  let defaultValue = value;
}

def ETDG_BufferType : TypeDef<ETDG_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "an addressable list of tensors, written once at each index (FT Table 2)";
  let description = [{
    `!etdg.buffer<[N, D, L], tensor<1x512xf32>>`: programmable lengths, then the
    element, a ranked tensor of static shape. `!etdg.buffer<[], tensor<1xf32>>`
    holds one tensor.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ft::LengthAttr">:$lengths, "::mlir::RankedTensorType":$element);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getDepth() const { return getLengths().size(); }
    unsigned getElementRank() const { return getElement().getRank(); }
  }];
}

def ETDG_SourceKind : I32Enum<"SourceKind", "what a piece of a read reads", [
    I32EnumCase<"Buffer", 0, "buffer">,
    I32EnumCase<"Splat", 1, "splat">,
    I32EnumCase<"Index", 2, "index">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_LoopKind : I32Enum<"LoopKind", "how a loop of a schedule runs", [
    I32EnumCase<"Sequential", 0, "sequential">,
    I32EnumCase<"Parallel", 1, "parallel">,
    I32EnumCase<"Vector", 2, "vector">,
    I32EnumCase<"Unroll", 3, "unroll">,
    I32EnumCase<"Associative", 4, "associative">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_LoopLevel : I32Enum<"LoopLevel", "what runs the iterations of a parallel loop", [
    I32EnumCase<"None", 0, "none">,
    I32EnumCase<"Grid", 1, "grid">,
    I32EnumCase<"Cluster", 2, "cluster">,
    I32EnumCase<"Block", 3, "block">,
    I32EnumCase<"Warp", 4, "warp">,
    I32EnumCase<"Thread", 5, "thread">,
    I32EnumCase<"Core", 6, "core">,
    I32EnumCase<"Rows", 7, "rows">,
    I32EnumCase<"ListedRows", 8, "listed_rows">,
    I32EnumCase<"Lifted", 9, "lifted">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_IterationMapping : I32Enum<"IterationMapping", "which unit of a level runs which iterations of a loop", [
    I32EnumCase<"None", 0, "none">,
    I32EnumCase<"Dynamic", 1, "dynamic">,
    I32EnumCase<"Cyclic", 2, "cyclic">,
    I32EnumCase<"Block", 3, "block">,
    I32EnumCase<"Static", 4, "static">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_SyncKind : I32Enum<"SyncKind", "who waits for whom", [
    I32EnumCase<"None", 0, "none">,
    I32EnumCase<"Block", 1, "block">,
    I32EnumCase<"Cluster", 2, "cluster">,
    I32EnumCase<"Flag", 3, "flag">,
    I32EnumCase<"Grid", 4, "grid">,
    I32EnumCase<"Cores", 5, "cores">,
    I32EnumCase<"Kernel", 6, "kernel">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_BufferMemory : I32Enum<"BufferMemory", "where a buffer lies", [
    I32EnumCase<"Call", 0, "call">,
    I32EnumCase<"Shared", 1, "shared">,
    I32EnumCase<"Workspace", 2, "workspace">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_MemoryLevel : I32Enum<"MemoryLevel", "a memory that a read is staged in, by the names of machine files", [
    I32EnumCase<"Register", 0, "register">,
    I32EnumCase<"Shared", 1, "shared">,
    I32EnumCase<"L1", 2, "l1">,
    I32EnumCase<"L2", 3, "l2">,
    I32EnumCase<"L3", 4, "l3">,
    I32EnumCase<"Device", 5, "device">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_RowUse : I32Enum<"RowUse", "which rows of a leaf are computed together", [
    I32EnumCase<"AtOnce", 0, "at_once">,
    I32EnumCase<"Runs", 1, "runs">,
    I32EnumCase<"OneByOne", 2, "one_by_one">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_GatherAttr : ETDG_Attr<"Gather", "gather"> {
  let summary = "a map result that is data: `%idx[affine]`";
  let description = [{
    Result `position` of the piece's map is not affine but the integer that
    buffer operand `operand` holds at `map` (the map's own result there is 0 and
    means nothing). One level only.
  }];
  let parameters = (ins "int64_t":$position, "int64_t":$operand, "::mlir::AffineMapAttr":$map);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ETDG_PieceAttr : ETDG_Attr<"Piece", "piece"> {
  let summary = "one piece of a read: where, and from what source";
  let description = [{
    On the points of `set` the value is
    - `buffer`: element `map(point)` of buffer operand `operand`. A map with as
      many results as the buffer's depth addresses the element; one that has
      `elementRank` dimensions more ranges over the element's dimensions too
      and addresses scalars;
    - `splat`: `value` everywhere (the splat's scalar);
    - `index`: the value of the map's only result.

    `set` and `map` range over the block's iteration vector, and, when the read's
    `elementRank` is not 0, the element's dimensions after it. The set prints as
    the map of its constraints, which are at least 0, or 0 where `eq` lists them:
    text between `<` and `>` of an attribute can't hold `>=`.
  }];
  let parameters = (ins
    "::mlir::IntegerSetAttr":$set,
    EnumParameter<ETDG_SourceKind>:$kind,
    "int64_t":$operand,
    "::mlir::AffineMapAttr":$map,
    OptionalArrayRefParameter<"::mlir::etdg::GatherAttr">:$gathers,
    OptionalParameter<"::mlir::TypedAttr">:$value);
  let assemblyFormat = [{
    `<` `set` `=` custom<Constraints>($set) `,` `kind` `=` $kind `,` `operand` `=` $operand `,` `map` `=` $map
    (`gathers` `=` `[` $gathers^ `]`)? (`value` `=` $value^)? `>`
  }];
  let extraClassDeclaration = [{
    static PieceAttr getBuffer(IntegerSet set, int64_t operand, AffineMap map, ArrayRef<GatherAttr> gathers = {});
    static PieceAttr getSplat(IntegerSet set, TypedAttr value);
    static PieceAttr getIndex(IntegerSet set, AffineExpr value);
  }];
}

def ETDG_ReadAttr : ETDG_Attr<"Read", "read"> {
  let summary = "a value that a block reads: disjoint pieces that cover its domain";
  let parameters = (ins ArrayRefParameter<"::mlir::etdg::PieceAttr">:$pieces, DefaultValuedParameter<"int64_t", "0">:$elementRank);
  let assemblyFormat = "`<` `pieces` `=` `[` $pieces `]` (`,` `elementRank` `=` $elementRank^)? `>`";
}

def ETDG_DivisionKind : I32Enum<"DivisionKind", "how the parts of a distributed loop run", [
    I32EnumCase<"Ahead", 0, "ahead">,
    I32EnumCase<"Lagging", 1, "lagging">,
    I32EnumCase<"Apart", 2, "apart">]> {
  let cppNamespace = "::mlir::etdg";
}

def ETDG_WriteAttr : ETDG_Attr<"Write", "write"> {
  let summary = "where a block writes: element `map(point)` of buffer operand `operand`";
  let parameters = (ins "int64_t":$operand, "::mlir::AffineMapAttr":$map);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ETDG_LoopAttr : ETDG_Attr<"Loop", "loop"> {
  let summary = "one loop of a schedule, over a transformed dimension";
  let description = [{
    `<dimension = 1, tile = ?, most = 64, kind = parallel, level = core, mapping = dynamic>`

    - `dimension` is a row of the schedule's map. A dimension may have several loops, with falling tiles.
    - `tile`: how many of its iterations one iteration of this loop stands for; 1, the default, are the
      points themselves. On a parallel loop it may be `?`: the code that runs it cuts the range anywhere (the host
      by the number of threads, a step by the points that it has), in pieces of at most `most` iterations
      and, but for the last one, multiples of `unit`. Rows have both, too: `most` is for how many there is room, and where
      it is specified for them the tile around them need not say it. Of other loops neither is said, but that columns have a unit.
    - `kind`: `sequential`, in order; `parallel`, in any order and at once; `associative`, partial results
      that join in a fixed order; `vector` and `unroll`, parallel and sequential iterations of one thread.
    - `level` says what runs a parallel loop's iterations: `grid` (all thread blocks of a GPU),
      `cluster`, `block`, `warp`, `thread`; `core` (the threads of a CPU's pool); `rows` (one call of a leaf
      computes them, as rows of its products, M of a matrix product), `listed_rows` (the same, with an
      address for each row), `lifted` (a leaf computes all iterations at once); `none`: one
      thread, or one thread block, runs them in any order.
      Neighbouring loops of one level are mapped as one.
    - `mapping`: `dynamic`, a core that is free takes the next iterations; `cyclic`, thread block b takes b, b + blocks, …;
      `block`, each unit has one range of about equal work; `static`, the same iteration is the same unit's each time.
      A loop without one is mapped `cyclic` to the grid, and `block` to cores.
    - `sync`: on a sequential loop, who waits after each of its iterations.
  }];
  let parameters = (ins "int64_t":$dimension,
                        DefaultValuedParameter<"int64_t", "1">:$tile,
                        DefaultValuedParameter<"int64_t", "0">:$most,
                        DefaultValuedParameter<"int64_t", "1">:$unit,
                        ETDG_EnumOr<ETDG_LoopKind, "::mlir::etdg::LoopKind::Sequential">:$kind,
                        ETDG_EnumOr<ETDG_LoopLevel, "::mlir::etdg::LoopLevel::None">:$level,
                        ETDG_EnumOr<ETDG_IterationMapping, "::mlir::etdg::IterationMapping::None">:$mapping,
                        ETDG_EnumOr<ETDG_SyncKind, "::mlir::etdg::SyncKind::None">:$sync);
  let builders = [AttrBuilder<(ins "int64_t":$dimension, "int64_t":$tile, "::mlir::etdg::LoopKind":$kind), [{
    return $_get($_ctxt, dimension, tile, 0, 1, kind, LoopLevel::None, IterationMapping::None, SyncKind::None);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tile `?`.
    static constexpr int64_t anyTile = std::numeric_limits<int64_t>::min();
    bool hasAnyTile() const { return getTile() == anyTile; }
    /// Iterations may run in any order and at once.
    bool isParallel() const { return getKind() == LoopKind::Parallel || getKind() == LoopKind::Vector; }
    /// Each iteration is one of the dimension's.
    bool isOverPoints() const { return getTile() == 1; }
    /// The size by which a proof cuts the range: `?` may be cut between any two iterations.
    int64_t getProvenTile() const { return hasAnyTile() ? 1 : getTile(); }
    LoopAttr withDimension(int64_t dimension) const;
  }];
}

def ETDG_PlacementAttr : ETDG_Attr<"Placement", "placement"> {
  let summary = "where a read is staged: at which loop, in which memory, in how many stages";
  let description = [{
    `<read = 1, loop = 2, level = shared, stages = 3>`: what read number `read` gets is copied to a memory where loop number `loop` of
    the schedule begins; as many as the loops are: where the leaf begins. Of the copies so many stages are kept in turn, and all but one
    are made ahead: `stages - 1` iterations of the loop before (`etdg-apply-placements`).
  }];
  let parameters = (ins "int64_t":$read, "int64_t":$loop, EnumParameter<ETDG_MemoryLevel>:$level, "int64_t":$stages);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def ETDG_ExitAttr : ETDG_Attr<"Exit", "exit"> {
  let summary = "which value of a kernel's step says whether there is a next one";
  let description = [{
    `<nest = 2, write = 1>`: what nest number `nest` writes as its result number `write`, one `i1` for each step. Once it
    is false, it is so in all later steps, and these copy and fill: nothing that a unit reads there is another unit's of a step
    after the first false. So units leave the loop together, by what they find after a step's sync, and run what is left of the
    later steps (the leaves with the value false in the place of the one of the step before) without waiting.
  }];
  let parameters = (ins "int64_t":$nest, "int64_t":$write);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ETDG_ThreadBlockAttr : ETDG_Attr<"ThreadBlock", "thread_block"> {
  let summary = "the thread blocks of a GPU that run a nest";
  let description = [{
    `<threads = 256, resident = 6, shared = 98304>`: `threads` of a block; how many blocks an SM is to hold
    at once (so many registers are left to each), at least 1; bytes of shared memory that a block may take; and `sums`, if
    not `usualSums`, those of them for each thread in which it leaves sums for others, where a leaf's threads cut sums into slices.
  }];
  let parameters = (ins "int64_t":$threads, DefaultValuedParameter<"int64_t", "1">:$resident,
                        DefaultValuedParameter<"int64_t", "0">:$shared, DefaultValuedParameter<"int64_t", "ThreadBlockAttr::usualSums">:$sums);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Sixteen sums of f64, or a tile of 8 × 4 of f32; 32 KiB for a block of 256 threads.
    static constexpr int64_t usualSums = 128;
  }];
}

def ETDG_TilingAttr : ETDG_Attr<"Tiling", "tiling"> {
  let summary = "which part of one loop nest of a leaf a thread computes";
  let description = [{
    `<vector = 1, width = 4, rows = 4>`. The loops of the nest are numbered as its leaf's normal form has them
    (`ft/Analysis/LeafGraph`), neighbours that every access walks as one being one.

    - `vector`, `width`: the loop along which a thread takes so many adjacent elements; -1: none.
    - `loop`, `tile`: the loop of which it takes so many iterations beside, -1: none; or `rows` of the leaf, if more than 1.
    - `lanes`: threads that share a point and join their sums (a power of two of a warp, or the block).
    - `slices`: into how many parts idle threads may cut the outermost sum; 1: none.
    - `unroll`: how many copies of its body each loop of a thread has: the loop over its tiles, then those of the sums, in
      the order of their numbers, with `vector` last where lanes share it. 1 keeps a loop as it is, 0 leaves it to LLVM, as
      do missing numbers. Where sums are cut into slices, which end at multiples of it, that of the outermost sum divides its size.
    - `rest_unroll`: the same where there are fewer rows than `rows` and they are computed one by one.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "-1">:$vector, DefaultValuedParameter<"int64_t", "1">:$width,
                        DefaultValuedParameter<"int64_t", "-1">:$loop, DefaultValuedParameter<"int64_t", "1">:$tile,
                        DefaultValuedParameter<"int64_t", "1">:$rows, DefaultValuedParameter<"int64_t", "1">:$lanes,
                        DefaultValuedParameter<"int64_t", "1">:$slices, OptionalParameter<"::mlir::DenseI64ArrayAttr">:$unroll,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$rest_unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def ETDG_RowLanesAttr : ETDG_Attr<"RowLanes", "row_lanes"> {
  let summary = "how the lanes of a thread block keep the rows of a leaf in registers";
  let description = [{
    `<lanes = 32, width = 4, rows = 2>`: `lanes` share a row, each access takes `width` adjacent elements, a lane has
    `rows` rows at a time. With `line`, lanes count from the line of memory of so many accesses in which a row begins.
  }];
  let parameters = (ins "int64_t":$lanes, DefaultValuedParameter<"int64_t", "1">:$width,
                        DefaultValuedParameter<"int64_t", "1">:$rows, DefaultValuedParameter<"int64_t", "1">:$line);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def ETDG_RowsAttr : ETDG_Attr<"Rows", "rows"> {
  let summary = "which rows of a leaf one call computes";
  let description = [{
    The `etdg.rows` of a leaf inside of a loop of level `rows` or `listed_rows`:
    - `<at_once>`: all of them. Every access steps evenly from row to row;
    - `<runs>`: those between two rows at which a piece of a read changes, or kept planes begin anew. Accesses step evenly
      in between;
    - `<one_by_one>`: each for itself, whatever accesses do.

    Without it rows are computed at once where they can be, else one by one. What accesses don't allow is refused where the leaf stands.
  }];
  let parameters = (ins EnumParameter<ETDG_RowUse>:$use);
  let assemblyFormat = "`<` $use `>`";
}

def ETDG_CutAttr : ETDG_Attr<"Cut", "cut"> {
  let summary = "of which reduction or scan a leaf has the shares";
  let description = [{
    `<dimension = 1, tile = 100, domain = affine_set<(i, k)[N] : (...)>>`, the `etdg.cut` of a leaf:

    - `dimension`: which dimension is the share. The next one is cut at multiples of `tile`.
    - `domain`: the reduction's domain, over the other dimensions.
    - `resumed`: the leaf has the shares of a scan *again*. It computes what they did, from where the share before has ended in the end,
      and writes what the scan wrote.
  }];
  let parameters = (ins "int64_t":$dimension, "int64_t":$tile, "::mlir::IntegerSetAttr":$domain, DefaultValuedParameter<"bool", "false">:$resumed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def ETDG_DivisionAttr : ETDG_Attr<"Division", "division"> {
  let summary = "one way to distribute a nest over parts";
  let description = [{
    `<kind = lagging, outer = 1, first = 2>`, one of the `etdg.divisions` of a nest or block:

    - `ahead`: what no iteration waits for runs before what waits.
    - `lagging`: both are regions of one wavefront, the first a step ahead.
    - `apart`: each part of a body of several gets a loop of its own. `outer` and `first` are 0.

    The first `outer` sequential dimensions stay around both parts. Of them dimension `first` comes first, and others follow in their order.
  }];
  let parameters = (ins EnumParameter<ETDG_DivisionKind>:$kind, DefaultValuedParameter<"int64_t", "0">:$outer,
                        DefaultValuedParameter<"int64_t", "0">:$first);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def ETDG_EdgeAttr : ETDG_Attr<"Edge", "edge"> {
  let summary = "which wait orders two nests of a graph that is cut into kernels";
  let description = [{
    `<from = 0, to = 2, kind = grid>`, one of the `etdg.edges` of a kernel, by the `etdg.number` of nests. `kind` is `none`; `block` or `grid`
    inside of the kernel; or `kernel`, from another one.
  }];
  let parameters = (ins "int64_t":$from, "int64_t":$to, EnumParameter<ETDG_SyncKind>:$kind);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def ETDG_BoundAttr : ETDG_Attr<"Bound", "bound"> {
  let summary = "a bound of a product of lengths";
  let description = [{
    `<[N, L - 1] below 2112>`: the product of these lengths, a negative one counting as 0, is less than the limit; `<[N] from 16>`: it is the
    limit or more. Of several products, `<[N] or [M] below 16>`, one has to be.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ArrayAttr">:$products, "int64_t":$limit, "bool":$isBelow);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether it holds for a call's lengths; nothing where `lookup` does not know a name.
    std::optional<bool> evaluate(::llvm::function_ref<std::optional<int64_t>(::mlir::StringAttr)> lookup) const;
    /// Without the brackets around.
    static BoundAttr parseInside(::mlir::AsmParser &parser);
    void printInside(::mlir::AsmPrinter &printer) const;
  }];
}

def ETDG_GuardAttr : ETDG_Attr<"Guard", "guard"> {
  let summary = "for which lengths a variant is taken";
  let description = [{
    `<[N, L - 1] below 2112>`: for those that keep a bound (`#etdg.bound`); `<[N] below 9 and [L] from 64>`: for those that keep all of several.
    A guard chooses; each variant is legal for all lengths.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::etdg::BoundAttr">:$bounds);
  let builders = [
    /// Of one bound: one of the products is less than the limit.
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::ArrayAttr>":$products, "int64_t":$limit), [{
      return $_get($_ctxt, ::llvm::ArrayRef<::mlir::etdg::BoundAttr>(::mlir::etdg::BoundAttr::get($_ctxt, products, limit, /*isBelow=*/true)));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether it holds for a call's lengths; nothing where `lookup` does not know a name.
    std::optional<bool> evaluate(::llvm::function_ref<std::optional<int64_t>(::mlir::StringAttr)> lookup) const;
    /// The lengths that it asks for.
    ::llvm::SmallVector<::mlir::StringAttr> getNames() const;
  }];
}

def ETDG_ScheduleAttr : ETDG_Attr<"Schedule", "schedule"> {
  let summary = "an affine schedule T·i + o, its loops and the placement of reads";
  let description = [{
    `map` takes the iteration vector (own dimensions of the nest or block) to
    transformed dimensions; its linear part is the unimodular T of FT §5.2 and its
    offset is constant. Loops run outermost first; every transformed dimension occurs.
    ```mlir
    #etdg.schedule<map = affine_map<(i, j, k) -> (j + k, j, i)>,
      loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>,
               <dimension = 2, tile = ?, most = 64, kind = parallel, level = core, mapping = block>,
               <dimension = 2, kind = parallel, level = rows>]>
    ```
    A schedule *binds*: it is proved, and engines read it and decide nothing that it says. One whose
    parallel loops have levels is complete; of others, the phase `schedule` writes what is missing.

    - `before` says who waits before the nest begins, where a nest stands before it in a kernel or body.
    - `weights`, one for each region of a nest: how much work a point is, where units get shares.
    - `block`: the thread blocks that run it, on a GPU. Nests of one kernel have the same.
    - `columns`: after the bar. Where column c of all that a nest's leaves compute depends on column c alone of what
      they computed in this iteration, this is how many there are; a loop over the dimension after the nest's own is over them.
    - `target` names the engine for which the phase `schedule` completed it (`cpu`, `sm_90a`).
  }];
  let parameters = (ins "::mlir::AffineMapAttr":$map, OptionalArrayRefParameter<"::mlir::etdg::LoopAttr">:$loops,
                        OptionalArrayRefParameter<"::mlir::etdg::PlacementAttr">:$placements,
                        ETDG_EnumOr<ETDG_SyncKind, "::mlir::etdg::SyncKind::None">:$before,
                        OptionalArrayRefParameter<"int64_t">:$weights,
                        OptionalParameter<"::mlir::etdg::ThreadBlockAttr">:$block,
                        DefaultValuedParameter<"int64_t", "0">:$columns,
                        OptionalParameter<"::mlir::StringAttr">:$target);
  let builders = [AttrBuilder<(ins "::mlir::AffineMapAttr":$map, "::llvm::ArrayRef<LoopAttr>":$loops,
                                   CArg<"::llvm::ArrayRef<PlacementAttr>", "{}">:$placements), [{
    return $_get($_ctxt, map, loops, placements, SyncKind::None, ::llvm::ArrayRef<int64_t>(), ThreadBlockAttr(), 0, ::mlir::StringAttr());
  }]>];
  let assemblyFormat = [{
    `<` `map` `=` $map (`,` `loops` `=` `[` $loops^ `]`)? (`before` `=` $before^)?
    (`weights` `=` `[` $weights^ `]`)? (`block` `=` $block^)? (`columns` `=` $columns^)? (`target` `=` $target^)?
    (`placements` `=` `[` $placements^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ScheduleAttr withLoops(ArrayRef<LoopAttr> loops) const;
    /// Whether some parallel loop says what runs it.
    bool hasLevels() const;
    /// Whether a loop is over the leaves' columns, after the dimensions of the map.
    bool isOverColumns(LoopAttr loop) const {
      return loop.getDimension() >= static_cast<int64_t>(getMap().getValue().getNumResults());
    }
    /// The loops over the map's dimensions.
    SmallVector<LoopAttr> getPointLoops() const;
    /// Whether it is complete for a GPU.
    bool isForGpu() const;
  }];
}

#endif // ETDG_ATTRS
