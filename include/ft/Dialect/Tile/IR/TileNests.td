//===- TileNests.td - loop nests, point by point -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests of which each thread of a block computes some points: layouts, types and operations. Part of TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_NESTS
#define TILE_NESTS

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_PointTilesAttr : AttrDef<Tile_Dialect, "PointTiles"> {
  let mnemonic = "point_tiles";
  let summary = "a layout: which points of a loop nest a thread computes together, and which threads share one";
  let description = [{
    `#tile.point_tiles<threads = 256, vector = 1, width = 4, loop = 0, tile = 8>`. Points are the iterations of a nest's parallel
    loops, for each lift and row of the leaf. They are cut into tiles: `width` adjacent iterations of the loop `vector`, times
    `tile` iterations of `loop` (`rows`: of as many rows of the leaf, the last of which may be missing). Tiles are counted row by row, lift by lift, then
    loop by loop in their order, with `vector` as the fastest. Tile t is computed by

    - thread t mod `threads`. With `together = n` it has the loads of n of its tiles on their way before the first of them stores.
    - with `lanes`, so many neighbouring lanes of a warp, or those of the block (all `threads`), in turn. They share the innermost reduced loop, `width`
      adjacent iterations of it each, where `vector` is one, and join what they have: by shuffles, then through shared memory. With `reuse` they wait after each
      tile until that memory is free for the next one.
    - with `slices = n`, at most n threads, where there are fewer tiles than threads: of min(tiles, threads) at a time each has as many as there
      are threads for it. They share the outermost reduced loop, in multiples of `granule` iterations, whose loads are on their way together, and join
      what they have through shared memory.

    `unroll` says how many copies of its body each loop of a thread has: the one over its tiles, then those over reduced iterations, outermost first
    (`vector`, where lanes share it, last). 1 keeps a loop as it is, 0 leaves it to LLVM, as do missing numbers.

    (T1) numbers are at least 1, those of `unroll` at least 0; (T2) a loop of the vector if it is wider than an element, a `loop`, or `rows`, if a
    tile has several iterations, and another loop than the vector's; (T3) lanes that are a power of two and at most a warp of 32, or all threads, which are
    whole warps where there is more than one lane; (T4) of `lanes`, `slices` and `together` at most one is more than 1; (T5) `reuse` with lanes of the
    block, `granule` with slices; (T6) no number is greater than 2^20.
  }];
  let parameters = (ins "int64_t":$threads, DefaultValuedParameter<"int64_t", "-1">:$vector, DefaultValuedParameter<"int64_t", "1">:$width,
                        DefaultValuedParameter<"int64_t", "-1">:$loop, DefaultValuedParameter<"int64_t", "1">:$tile,
                        DefaultValuedParameter<"bool", "false">:$rows, DefaultValuedParameter<"int64_t", "1">:$together,
                        DefaultValuedParameter<"int64_t", "1">:$lanes, DefaultValuedParameter<"bool", "false">:$reuse,
                        DefaultValuedParameter<"int64_t", "1">:$slices, DefaultValuedParameter<"int64_t", "1">:$granule,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Iterations of a parallel loop that a tile has.
    int64_t getStep(int64_t loop) const {
      return loop == getLoop() && !getRows() ? getTile() : loop == getVector() && getLanes() == 1 ? getWidth() : 1;
    }
    int64_t getTileOfRows() const { return getRows() ? getTile() : 1; }
    /// Whether lanes of several warps share a tile, and join through shared memory.
    bool isOfBlock() const;
    int64_t copiesOfTiles() const { return copiesOf(0); }
    int64_t copiesOfSum(unsigned depth) const { return copiesOf(depth + 1); }
    int64_t copiesOf(unsigned number) const {
      return getUnroll() && int64_t(number) < getUnroll().size() ? getUnroll()[number] : 0;
    }
  }];
}

def Tile_PointPlaceAttr : AttrDef<Tile_Dialect, "PointPlace"> {
  let mnemonic = "point_place";
  let summary = "where the elements lie that the points of a nest access";
  let description = [{
    `#tile.point_place<offset = 3, strides = [64, 1]>`: `strides` elements further for each iteration of the nest's loops. With
    `borders = [#tile.border<steps = [1, 0], size = 56>], begins = [-1], outside = 0.0 : f32` there is memory only where each border's index, which begins
    so and grows by `steps` with the loops, is in [0, `size`); elsewhere the element is `outside`.

    (E1) a step of each border for each stride, an index at which it begins, and what is outside, if there are borders.
  }];
  let parameters = (ins "int64_t":$offset, "::mlir::DenseI64ArrayAttr":$strides, OptionalArrayRefParameter<"BorderAttr">:$borders,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$begins, OptionalParameter<"::mlir::TypedAttr">:$outside);
  let assemblyFormat = [{
    `<` `offset` `=` $offset `,` `strides` `=` $strides (`,` `borders` `=` `[` $borders^ `]` `,` `begins` `=` $begins `,` `outside` `=` $outside)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether what is met differs between iterations of a loop.
    bool movesWith(int64_t loop) const {
      return getStrides()[loop] != 0 || ::llvm::any_of(getBorders(), [&](BorderAttr border) { return border.getSteps()[loop] != 0; });
    }
  }];
}

def Tile_FlagAttr : AttrDef<Tile_Dialect, "Flag"> {
  let mnemonic = "flag";
  let summary = "an input of a leaf that says whether a loop nest is computed";
  let description = [{
    `#tile.flag<input = 2, is = false>`: where input 2, one `i1` that all rows of the call share, is not false, nothing reads what the nest computes: its
    threads leave it out.

    (F1) the input's number is not negative.
  }];
  let parameters = (ins "int64_t":$input, "bool":$is);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_NestAttr : AttrDef<Tile_Dialect, "Nest", [Tile_NestPoints]> {
  let mnemonic = "nest";
  let summary = "what the threads of a block compute of one loop nest of a leaf, with all that follows from its tiling";
  let description = [{
    One of the `nests` of a `loops.leaf`; what is specified here is what `tile.nest` gets:

    `#tile.nest<loops = [128, 64], rows, lifts = 3, columns = 0, tiles = <threads = 256, vector = 0, width = 4, tile = 4, rows = true>,
    rest = <threads = 256, vector = 0, width = 4>, accesses = [4, 1, 0], guard = <input = 2, is = false>>`

    - `loops`: iterations of the nest's loops, those that every access walks as one being one. `rows`: of each row of the call; `lifts`: of so many
      iterations of a dimension that was lifted into the leaf. `columns`: the loop of which a thread block has some iterations, or with `first` all of
      it is computed by the block that has the first columns.
    - `tiles`: which points a thread computes together, and which threads share one. `rest`: where a call has fewer rows than a tile, they are computed one by one, so.
    - `async`: the nest copies what lies in the device's own memory to shared memory, and its threads go on while that is on its way (`cp.async`): it is
      there once its group is committed and waited for.
    - `accesses`: for each view, in the order in which its members read, begin with and write them, each once: how many adjacent elements are one access;
      0: the value stays in registers.
    - `guard`: the nest is left out where a flag says so.

    (G1) loops have sizes that are not negative, lifts are at least 1; (G2) `columns` is one of the loops or none, and `first` is of nests without them; (G3) `rest` stands
    beside tiles of rows, is of the same threads, and takes rows one by one; (G4) an access has 0 elements, one, or the tiles' width; (G5) `async` is specified for
    two accesses, of which none stays in registers, by threads that share no point.
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$loops, "bool":$rows, "int64_t":$lifts, "int64_t":$columns, "bool":$first, "bool":$async, "PointTilesAttr":$tiles,
                        "PointTilesAttr":$rest, "::mlir::DenseI64ArrayAttr":$accesses, "FlagAttr":$guard);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{ NestAttr withAsync() const; }];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_MemoryType : Tile_Type<"Memory", "memory"> {
  let summary = "elements of a leaf's value, for each of its rows";
  let description = [{
    `!tile.memory<f32>`, which `tile.memory` makes. An `i1` takes a byte in memory.

    (N1) integers or floats, `i1` or of whole bytes.
  }];
  let parameters = (ins "Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getElementBytes() const { return (getElementType().getIntOrFloatBitWidth() + 7) / 8; }
  }];
}

def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat]>;

def Tile_MemoryOp : Tile_Op<"memory", [Pure, AttrSizedOperandSegments]> {
  let summary = "where a leaf's value lies, or which value it is";
  let description = [{
    Row r lies `rows` · r elements after a pointer, and, of a dimension that was lifted into the leaf, iteration l `lifts` · l elements further. Where `if` holds,
    always without a pointer, nothing is read: all elements of row r and lift l are `value` + r · `step` + l · `lift_step`.
    ```mlir
    %m = tile.memory %p : !llvm.ptr<1> rows %s -> !tile.memory<f32>
    %v = tile.memory if %known value %x : i64 step %d : i64 -> !tile.memory<i64>
    ```
    `swizzled` is specified for shared memory whose pieces change places, as of a `!tile.view`.
    (1) a pointer or a value; (2) a value and a condition come together, distances of rows and lifts with a pointer, steps with a
    value; (3) a value has the element's type, or is an integer that is cut to it, as are steps; (4) only shared memory is swizzled.
  }];
  let arguments = (ins Optional<LLVM_AnyPointer>:$pointer, Optional<I64>:$row_stride, Optional<I64>:$lift_stride, Optional<I1>:$if_value,
                       Optional<Tile_Scalar>:$value, Optional<Tile_Scalar>:$step, Optional<Tile_Scalar>:$lift_step, UnitAttr:$swizzled);
  let results = (outs Tile_MemoryType:$result);
  let assemblyFormat = [{
    ($pointer^ `:` type($pointer))? (`swizzled` $swizzled^)? (`rows` $row_stride^)? (`lifts` $lift_stride^)? (`if` $if_value^)? (`value` $value^ `:` type($value))?
    (`step` $step^ `:` type($step))? (`lift_step` $lift_step^ `:` type($lift_step))? attr-dict `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

def Tile_NestOp : Tile_Op<"nest", [RecursiveMemoryEffects, AttrSizedOperandSegments, NoTerminator, SingleBlock]> {
  let summary = "a loop nest, of which each thread of a block computes some points";
  let description = [{
    What is inside is computed for each iteration of the `loops`, those that are `reduced` innermost; for each of `lifts` iterations of a dimension that was
    lifted into the leaf; and, where `rows` says how many, for each row of the leaf. Points, the iterations of the loops that are not reduced, are independent of each other. With `columns(%c,
    %n) of k` loop k has n iterations, from c on. The layout says which threads compute what.
    ```mlir
    tile.nest %thread rows(%n) loops [128, 64] reduced [false, true] layout <threads = 256, vector = 0, width = 4> {
      %x = tile.read %a at <offset = 0, strides = [1, 128]> {width = 4 : i64} : !tile.memory<f32> -> f32
      %z = tile.read %s at <offset = 0, strides = [1, 0]> {width = 4 : i64} : !tile.memory<f32> -> f32
      %sum = tile.reduce_points (%x) from (%z) : (f32, f32) -> f32 { … }
      tile.write %sum, %s at <offset = 0, strides = [1, 0]> {width = 4 : i64} : f32, !tile.memory<f32>
    }
    ```
    (1) as many loops as flags, none of a negative size, and as many lifts as there are, at least 1; (2) loops of the layout are the nest's, that of columns is not reduced; the vector's is reduced if lanes share a
    point, else it and that of a tile are not; (3) tiles divide their loops; a tile of rows has rows to take; (4) lanes and slices share a reduced loop, and reductions say
    how to join then; (5) `scratch` is memory of 8 bytes for each of the block's warps, reduction and row or iteration of a tile, given if and only if its lanes share a
    point; `partials`, if and only if there are slices, of 4 bytes, or 8 if one of the sums has more, for each thread and sum of a tile; (6) `reuse` if and only if a block's lanes may have several tiles;
    (7) `granule` divides the outermost reduced loop; (8) `together` without reductions; (9) what is inside is `tile.read`, `tile.map_points`, `tile.reduce_points` and `tile.write`, of memory
    that a `tile.memory` outside makes; (10) with `async` the nest is a copy, whose threads go on while it is on its way: each element is there once its
    group is committed and waited for (`tile.commit`, `tile.wait`), and for other threads after a barrier. It is one element that is read, without
    borders, of memory of the device (a pointer in space 1), and written, as it is, to shared memory, in accesses of 4, 8 or 16 bytes; threads share no point.
  }];
  let arguments = (ins I32:$thread, Optional<I64>:$rows, Optional<I64>:$column, Optional<I64>:$num_columns, Optional<Tile_SharedPointer>:$scratch,
                       Optional<Tile_SharedPointer>:$partials, DenseI64ArrayAttr:$loops, DenseBoolArrayAttr:$reduced,
                       DefaultValuedAttr<I64Attr, "1">:$lifts, OptionalAttr<I64Attr>:$split, Tile_PointTilesAttr:$layout, UnitAttr:$async);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $thread (`rows` `(` $rows^ `)`)? (`columns` `(` $column^ `,` $num_columns `)` `of` $split)? (`scratch` $scratch^)? (`partials` $partials^)?
    `loops` $loops `reduced` $reduced (`lifts` $lifts^)? `layout` $layout (`async` $async^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// Loops in the order in which points are counted, or terms; the vector's is the last of its kind.
    ::llvm::SmallVector<int64_t> getParallelLoops() { return getLoopsOf(false); }
    ::llvm::SmallVector<int64_t> getReducedLoops() { return getLoopsOf(true); }
    ::llvm::SmallVector<int64_t> getLoopsOf(bool reduced);
    bool isSplit(int64_t loop) { return getSplit() && int64_t(*getSplit()) == loop; }
    /// How many tiles there are, where no operand decides it.
    std::optional<int64_t> getNumTiles();
    ::llvm::LogicalResult verifyLoops();
    ::llvm::LogicalResult verifySharing();
    ::llvm::LogicalResult verifyBody();
    ::llvm::LogicalResult verifyAsync();
    /// Adjacent elements that one access of an asynchronous copy moves: as many as both places have.
    int64_t getCopiedElements();
  }];
  let hasVerifier = 1;
}

class Tile_PointOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, !listconcat(traits, [HasParent<"NestOp">])>;

def Tile_ReadOp : Tile_PointOp<"read", [RecursiveMemoryEffects, MemoryEffects<[MemRead]>]> {
  let summary = "the element that a point reads";
  let description = [{
    With a body, that says where elements begin in the place of the place's offset: data decides it. `width` adjacent elements of
    a tile are one access: they are aligned so.

    (1) a stride for each loop of the nest; (2) `width` is 1, or the layout's of elements that are adjacent along its vector, without
    borders, 16 bytes at most; (3) what is outside of borders has the element's type, as has the result; (4) the body yields an i64.
  }];
  let arguments = (ins Tile_MemoryType:$memory, Tile_PointPlaceAttr:$place, DefaultValuedAttr<I64Attr, "1">:$width);
  let results = (outs Tile_Scalar:$result);
  let regions = (region MaxSizedRegion<1>:$begin);
  let assemblyFormat = "$memory `at` $place attr-dict `:` qualified(type($memory)) `->` type($result) ($begin^)?";
  let hasVerifier = 1;
}

def Tile_WriteOp : Tile_PointOp<"write", [RecursiveMemoryEffects, MemoryEffects<[MemWrite]>]> {
  let summary = "the element that a point writes";
  let description = [{
    What a reduction leaves is written when all of its terms are there. A row that is missing writes nothing.

    (1) to (4) as for `tile.read`; (5) no borders; (6) into memory, not a value.
  }];
  let arguments = (ins Tile_Scalar:$value, Tile_MemoryType:$memory, Tile_PointPlaceAttr:$place, DefaultValuedAttr<I64Attr, "1">:$width);
  let regions = (region MaxSizedRegion<1>:$begin);
  let assemblyFormat = "$value `,` $memory `at` $place attr-dict `:` type($value) `,` qualified(type($memory)) ($begin^)?";
  let hasVerifier = 1;
}

def Tile_MapPointsOp : Tile_PointOp<"map_points", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "computes values of a point";
  let description = [{
    The body gets the operands and yields the results. `tile.index` says in it which point it is: 0 the row of the leaf, 1 the lift, 2 and on
    the iteration of each loop.

    (1) the body's arguments have the operands' types, what it yields the results'.
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$inputs);
  let results = (outs Variadic<Tile_Scalar>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Tile_ReducePointsOp : Tile_PointOp<"reduce_points", [RecursiveMemoryEffects, AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "combines the terms of a point";
  let description = [{
    The body gets the operands, then what has been combined so far, which begins as `from`, and yields what it is then, for each iteration of the
    reduced loops. Halves are combined in f32: extended before, rounded after. Where several threads combine terms of a point, each begins with
    `neutral`, and `combine` joins two of what they have.

    (1) a value to begin with for each result, of its type; (2) the body takes the operands and what is combined, and yields what is combined: f32 for halves, else the results' types; (3) a neutral value and a body of
    two such values for each result, or none at all.
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$inputs, Variadic<Tile_Scalar>:$inits, OptionalAttr<ArrayAttr>:$neutral);
  let results = (outs Variadic<Tile_Scalar>:$results);
  let regions = (region SizedRegion<1>:$body, VariadicRegion<SizedRegion<1>>:$combiners);
  let assemblyFormat = [{
    `(` $inputs `)` `from` `(` $inits `)` (`neutral` $neutral^)? attr-dict `:` functional-type(operands, $results) $body (`combine` $combiners^)?
  }];
  let extraClassDeclaration = [{
    /// In what terms are combined.
    ::mlir::Type getSumType(unsigned number);
  }];
  let hasVerifier = 1;
}

#endif // TILE_NESTS
