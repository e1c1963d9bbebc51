//===- TileOps.td - attributes, types and operations of tile ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_OPS
#define TILE_OPS

include "ft/Dialect/Tile/IR/TileDialect.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_BlockedAttr : AttrDef<Tile_Dialect, "Blocked"> {
  let mnemonic = "blocked";
  let summary = "a layout: adjacent elements of a thread, threads side by side, the whole repeated";
  let description = [{
    `#tile.blocked<vector = [1, 4], threads = [16, 16]>`. Thread t is at (t / 16, t mod 16) of the grid of threads. Along
    each dimension d it holds `vector[d]` adjacent elements, then its neighbour's follow; after the last thread's it
    holds the next ones. Element `(r * threads[d] + t[d]) * vector[d] + v` is the thread's number `r * vector[d] + v`.

    With `warp = [4, 8]` the grid of threads is cut into such pieces, row by row, and each is numbered row by row: 32
    threads that run together meet as few different rows and columns as can be. With `repeat = [2, 1]` beside it a warp's piece follows
    itself so often along each dimension before the next warp's begins. So sums of `wgmma` lie (PTX ISA, wgmma.mma_async, registers of D). With
    `vector = [1, 2], threads = [32, 4], warp = [8, 4], repeat = [2, 1]` lane l of warp w has the rows 16w + l / 4 and 16w + 8 + l / 4.

    (L1) two numbers each, all at least 1. (L2) The warp's divide those of the threads. (L3) None is greater than 2^20. (L4) `repeat` stands with `warp`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$vector, ArrayRefParameter<"int64_t">:$threads,
                        OptionalArrayRefParameter<"int64_t">:$warp, OptionalArrayRefParameter<"int64_t">:$repeat);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$vector, "::llvm::ArrayRef<int64_t>":$threads, "::llvm::ArrayRef<int64_t>":$warp), [{
    return $_get($_ctxt, vector, threads, warp, ::llvm::ArrayRef<int64_t>());
  }]>];
  let assemblyFormat = [{
    `<` `vector` `=` `[` $vector `]` `,` `threads` `=` `[` $threads `]` (`,` `warp` `=` `[` $warp^ `]`)? (`,` `repeat` `=` `[` $repeat^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumThreads() const { return getThreads()[0] * getThreads()[1]; }
    int64_t getRepeats(unsigned dim) const { return getRepeat().empty() ? 1 : getRepeat()[dim]; }
    /// Elements along a dimension before the threads begin anew.
    int64_t getSpan(unsigned dim) const { return getVector()[dim] * getThreads()[dim] * getRepeats(dim); }
    /// How far a thread's element of this number along a dimension lies after its first one.
    int64_t getOffset(unsigned dim, int64_t number) const {
      int64_t vector = getVector()[dim], piece = number / vector, repeats = getRepeats(dim);
      int64_t ofWarp = getWarp().empty() ? 0 : getWarp()[dim] * vector;
      return piece / repeats * getSpan(dim) + piece % repeats * ofWarp + number % vector;
    }
    /// Whether the threads that share a row are neighbours within one warp, a power of two of them.
    bool hasRowsInWarps() const;
  }];
}

def Tile_NestLayout : NativeAttrTrait<"NestLayoutTrait"> {
  let cppNamespace = "::mlir::ft";
}
def Tile_LeafLayout : NativeAttrTrait<"LeafLayoutTrait"> {
  let cppNamespace = "::mlir::ft";
}
def Tile_NestPoints : NativeAttrTrait<"NestPointsTrait"> {
  let cppNamespace = "::mlir::ft";
}
def Tile_MoveAttr : AttrDef<Tile_Dialect, "Move"> {
  let mnemonic = "move";
  let summary = "how threads bring an operand of a product into shared memory";
  let description = [{
    `#tile.move<width = 4, threads = [32, 8], async>`: `width` adjacent elements are one access of a thread, threads lie beside each other
    in such a grid, and with `async` what is copied is on its way while they go on (`cp.async`).

    (M1) A positive width, a power of two, and two positive numbers of threads. (M2) None is greater than 2^20.
  }];
  let parameters = (ins "int64_t":$width, ArrayRefParameter<"int64_t">:$threads, "bool":$async);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_ReadsAttr : AttrDef<Tile_Dialect, "Reads"> {
  let mnemonic = "reads";
  let summary = "how a thread reads the operands of a product from shared memory";
  let description = [{
    `#tile.reads<terms = 4, lhs = 4, rhs = 2>`: a thread goes on by so many terms of the sums at a time, and `lhs` and `rhs` adjacent elements of each
    operand are one access. An operand that has its terms adjacent in shared memory is read for all of these terms at once, row by row or column by column
    of the thread, in accesses along the terms; another one for each term, in accesses along its rows or columns.

    (D1) all are at least 1 and powers of two.
  }];
  let parameters = (ins "int64_t":$terms, "int64_t":$lhs, "int64_t":$rhs);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_ProductAttr : AttrDef<Tile_Dialect, "Product", [Tile_NestLayout]> {
  let mnemonic = "product";
  let summary = "how a thread block computes a loop nest that is a product of matrices";
  let description = [{
    `#tile.product<block = [128, 128], thread = [8, 8], step = 16, stages = 2>`, one of a leaf's `etdg.layouts`. The thread
    block computes tiles of `block` rows and columns of the product; a thread keeps `thread` of them in registers.
    Operands go through shared memory, `step` terms of the sums at a time, in `stages` copies: while one is used, the
    next ones are on their way. With `fused = n` the n nests that follow are computed while the tile is in registers, element
    by element; where the tile holds whole rows in the lanes of a warp, sums and maxima along rows, too, and what has one value
    for each row. With `mma` warps multiply fragments of 16 rows, 8 columns and 16 terms (PTX `mma.sync`): operands
    are f16 or bf16, sums f32. With `wgmma` warp groups do, out of tiles that TMA brings (`tile.fetch`); how many of these are under way is
    the kernel's `tile.pipeline` to say.

    Among those n nests may be products, which say so: `joined`. They have the tile of the product that they are fused with; what they add to,
    its sums or others, is in registers. With `carried` it goes on with the sums of the product before it: the terms of both are one loop, and the tile stays
    where it is. A nest of several products that share their left operand, as the gates of a cell, computes them
    side by side: a thread has the same columns of all of them.

    `result = #tile.blocked<...>, lhs = #tile.move<...>, rhs = #tile.move<...>` say which elements of a tile of the result a thread has, and how
    it brings the operands; `reads = #tile.reads<...>` how it reads them there, but for fragments; `accesses = [4, 0, 1]` for each place that tiles in registers
    come from or go to, how many adjacent columns are one access, 0 where it is no memory: what the product's sums begin with and become, then what each nest computed with it reads, begins
    with and writes, nest by nest, each place once. `loops-choose-accesses` writes all of these, once it is known where operands begin and lie.

    (P1) two numbers each; `thread` divides `block`. (P2) a power of two of terms in a step, at least one stage. (P3) with
    `mma` an even number of rows and of columns for each thread, threads in 8 rows and 4 columns for each warp, and at least 16 terms.
    (P4) `result` has `thread` elements of each tile in a thread; with `mma` as fragments lie, `vector = [1, 2]` and `warp = [8, 4]`. (P5) `result`,
    `lhs` and `rhs` come together. (P6) what is `joined` has no `fused` of its own, and it alone is `carried`. (P7) `reads` and `accesses` stand with `result`, and
    not with `joined`, whose tile is that of the other product; `reads` not with `mma`; accesses are 0 or powers of two that divide the result's adjacent columns. (P8) No number is greater than 2^20.
    (P9) With `wgmma` threads are whole warp groups, each with 64 rows or a multiple, and all columns, at most 256 in sixty-fours. It has one stage, steps of 64
    terms, and no `mma`. Then `result` is as sums of wgmma lie, and `lhs` and `rhs` don't stand with it.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$block, ArrayRefParameter<"int64_t">:$thread, "int64_t":$step,
                        "int64_t":$stages, "bool":$mma, "bool":$wgmma, "bool":$joined, "bool":$carried, "int64_t":$fused, "::mlir::tile::BlockedAttr":$result,
                        "::mlir::tile::MoveAttr":$lhs, "::mlir::tile::MoveAttr":$rhs, "::mlir::tile::ReadsAttr":$reads,
                        ArrayRefParameter<"int64_t">:$accesses);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$block, "::llvm::ArrayRef<int64_t>":$thread, "int64_t":$step, "int64_t":$stages,
                                   "bool":$mma, "int64_t":$fused), [{
    return $_get($_ctxt, block, thread, step, stages, mma, /*wgmma=*/false, /*joined=*/false, /*carried=*/false, fused, BlockedAttr(), MoveAttr(), MoveAttr(), ReadsAttr(),
                 ::llvm::ArrayRef<int64_t>());
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumThreads() const {
      return getBlock()[0] / getThread()[0] * (getBlock()[1] / getThread()[1]);
    }
    /// Terms of one fragment: `mma.sync` of f16 and bf16.
    static constexpr int64_t fragmentTerms = 16;
    /// Of `wgmma`: columns at most and the unit of their number, rows of a warp group, terms of a step, which are what a row of a slab of halves has.
    static constexpr int64_t mostGroupColumns = 256, groupColumnUnit = 64, groupRows = 64, groupStep = 64;
    /// Whether matrix units multiply.
    bool usesMatrixUnits() const { return getMma() || getWgmma(); }
    /// The same tile for a product that is computed with this one.
    ProductAttr asJoined() const {
      return get(getContext(), getBlock(), getThread(), getStep(), getStages(), getMma(), getWgmma(), /*joined=*/true, /*carried=*/false, /*fused=*/0, BlockedAttr(),
                 MoveAttr(), MoveAttr(), ReadsAttr(), {});
    }
  }];
}

def Tile_ChainAttr : AttrDef<Tile_Dialect, "Chain", [Tile_LeafLayout]> {
  let mnemonic = "chain";
  let summary = "how warp groups compute a leaf that is a chain of products";
  let description = [{
    `#tile.chain<rows = 128>`, the only one of a leaf's `etdg.layouts`. A warp group computes 64 of the leaf's `rows`. All that the leaf makes of them
    stays in its registers: sums of products, what is computed of them, and values that each row has one of. A product's right operand comes by TMA
    (`tile.fetch`). Its left operand does too, or it is such a tile of another product's rows and columns (FT §5.3).

    (N1) 64, 128 or 192 rows.
  }];
  let parameters = (ins "int64_t":$rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Threads of all its warp groups.
    int64_t getNumThreads() const;
  }];
}

def Tile_BorderAttr : AttrDef<Tile_Dialect, "Border"> {
  let mnemonic = "border";
  let summary = "a border of what a matrix in memory is made of, beyond which it is 0";
  let description = [{
    `#tile.border<steps = [1, 0, 1], size = 56>`, of a matrix with three digits: an index that begins where the view says, and grows by
    `steps` with each digit. There is memory where it is in [0, `size`). So a convolution's window is read out of
    what it is padded from: a step for the digit of the place, one for the digit of the window.

    (B1) `size` is at least 1.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$steps, "int64_t":$size);
  let assemblyFormat = "`<` `steps` `=` `[` $steps `]` `,` `size` `=` $size `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_RegistersType : Tile_Type<"Registers", "registers"> {
  let summary = "a tile of which each thread of a block holds some elements in registers";
  let description = [{
    `!tile.registers<128x128xf32, #tile.blocked<vector = [1, 4], threads = [16, 16]>>`.

    (R1) A matrix of integers or floats. (R2) the layout's spans divide its shape; (R3) a thread has at most 2^16 elements.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType, "BlockedAttr":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Elements along a dimension that a thread holds, and how many in all.
    int64_t getOwn(unsigned dim) const { return getShape()[dim] / getLayout().getThreads()[dim]; }
    int64_t getNumOwn() const { return getOwn(0) * getOwn(1); }
    RegistersType withElement(Type element) const { return get(getContext(), getShape(), element, getLayout()); }
  }];
}

def Tile_RowVectorType : Tile_Type<"RowVector", "row_vector"> {
  let summary = "a value for each row of tiles in registers";
  let description = [{
    `!tile.row_vector<128, f32, #tile.blocked<...>>`: each thread has the values of those rows of which it has elements in a tile with this layout. Tiles of the same
    rows and layout share it, whatever columns they have.

    (V1) Integers or floats. (V2) The layout's span divides the rows.
  }];
  let parameters = (ins "int64_t":$rows, "Type":$elementType, "BlockedAttr":$layout);
  let assemblyFormat = "`<` $rows `,` $elementType `,` $layout `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Values that a thread has.
    int64_t getNumOwn() const { return getRows() / getLayout().getThreads()[0]; }
  }];
}

def Tile_SharedType : Tile_Type<"Shared", "shared"> {
  let summary = "copies of a tile in the shared memory of a thread block";
  let description = [{
    `!tile.shared<128x16xf32, pad = 4, stages = 2>`: `stages` tiles one after the other, each row by row; `pad` elements are
    left free after a row, so that rows begin in different banks.

    With `swizzle = 128` (or 64, 32) in the place of `pad` a tile lies as TMA writes and `wgmma` reads it. Slabs of so many bytes of each row lie one after
    the other, each row by row. Within a slab piece p of 16 bytes of row r lies where piece p xor (r mod 8) would. (With 64 bytes that is (r / 2) mod 4, with 32
    (r / 4) mod 2.) It begins at a multiple of 1024 bytes.

    (S1) A matrix of integers or floats of whole bytes. (S2) `pad` is not negative, `stages` at least 1. (S3) No number is greater than 2^20. (S4) A swizzle of
    32, 64 or 128 bytes divides a row, has no `pad` beside it, and rows in eights.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType, "int64_t":$pad, "int64_t":$stages, "int64_t":$swizzle);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "Type":$elementType, "int64_t":$pad, "int64_t":$stages), [{
    return $_get($_ctxt, shape, elementType, pad, stages, /*swizzle=*/0);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Elements from one row to the next, and from one stage to the next.
    int64_t getRowStride() const { return getSwizzle() ? getSlabColumns() : getShape()[1] + getPad(); }
    int64_t getStageStride() const { return (getShape()[1] + getPad()) * getShape()[0]; }
    /// Columns of a slab of a swizzled tile, and bytes from one slab to the next.
    int64_t getSlabColumns() const { return getSwizzle() / getElementBytes(); }
    int64_t getSlabBytes() const { return getSwizzle() * getShape()[0]; }
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    int64_t getBytes() const { return getStageStride() * getStages() * getElementBytes(); }
  }];
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "a matrix in memory whose rows and columns are numbered by several digits";
  let description = [{
    `!tile.view<f32, [-1, 64], [64]>`: row r is at digits (r / 64, r mod 64), each of which has a stride of its own, so
    that rows may come from several loops. Sizes of digits, the slowest first; -1: the size is given where the view is made.
    `space` is the address space of the memory: 0 any, 1 global, 3 shared. With `borders[<steps = [1, 1, 0], size = 64>]` elements
    beyond a border are 0, and no memory is there. With `swizzled` the memory is: in each line of 128 bytes of shared memory piece p of 16 bytes lies
    where piece p xor (line mod 8) would, so that rows of a line's length begin in different banks.

    (V1) at least one digit for rows and for columns, elements of whole bytes; (V2) sizes are at least 1, the first of rows
    or columns may be -1; (V3) borders have a step for each digit; (V4) only shared memory is swizzled.
  }];
  let parameters = (ins "Type":$elementType, ArrayRefParameter<"int64_t">:$rows, ArrayRefParameter<"int64_t">:$columns,
                        DefaultValuedParameter<"int64_t", "0">:$space, DefaultValuedParameter<"bool", "false">:$swizzled,
                        OptionalArrayRefParameter<"BorderAttr">:$borders);
  let assemblyFormat = [{
    `<` $elementType `,` `[` $rows `]` `,` `[` $columns `]` (`,` `space` `=` $space^)? (`borders` `[` $borders^ `]`)? `` custom<Swizzled>($swizzled) `` `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ArrayRef<int64_t> getDigits(unsigned dim) const { return dim == 0 ? getRows() : getColumns(); }
    unsigned getNumDigits() const { return getRows().size() + getColumns().size(); }
    unsigned getNumDynamic() const { return (getRows().front() < 0) + (getColumns().front() < 0); }
  }];
}

def Tile_SharedPointer : LLVM_PointerInAddressSpace<3>;

//===----------------------------------------------------------------------===//
// Tiles in memory
//===----------------------------------------------------------------------===//

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_ViewOp : Tile_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "memory as a matrix";
  let description = [{
    Strides count elements, one for each digit of the rows, then of the columns; sizes are those that the type leaves open. After
    `borders` stand the indices along these at the first row and column.

    (1) As many strides as digits. (2) As many sizes as the type leaves open. (3) The pointer is of the type's space. (4) As many
    indices as borders.
  }];
  let arguments = (ins LLVM_AnyPointer:$pointer, Variadic<I64>:$strides, Variadic<I64>:$sizes, Variadic<I64>:$begins);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $pointer `strides` `(` $strides `)` (`sizes` `(` $sizes^ `)`)? (`borders` `(` $begins^ `)`)? attr-dict `:` type($pointer) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_SharedOp : Tile_Op<"shared", [Pure]> {
  let summary = "a piece of shared memory as stages of a tile";
  let description = [{The pointer is a multiple of 16 bytes; the memory has as many bytes as the type takes.}];
  let arguments = (ins Tile_SharedPointer:$pointer);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$pointer attr-dict `:` qualified(type($result))";
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile of a matrix, into registers";
  let description = [{
    The tile begins at the row and column given; elements beyond the matrix, and those beyond its borders, are 0. `in_bounds` says
    of rows and columns that none is beyond the matrix. `width` adjacent columns are one access.

    (1) element types are equal; (2) `width` is a power of two that divides the layout's vector of columns; wider
    accesses are of at most 16 bytes.
  }];
  let arguments = (ins Tile_ViewType:$source, I64:$row, I64:$column, DefaultValuedAttr<DenseBoolArrayAttr, "{false, false}">:$in_bounds,
                       DefaultValuedAttr<I64Attr, "1">:$width);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = "$source `[` $row `,` $column `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "a tile in registers, into a matrix";
  let description = [{
    Elements beyond the matrix are not written. `in_bounds`, `width` and the constraints as for `tile.load`; (3) the matrix has no
    borders.
  }];
  let arguments = (ins Tile_RegistersType:$value, Tile_ViewType:$target, I64:$row, I64:$column,
                       DefaultValuedAttr<DenseBoolArrayAttr, "{false, false}">:$in_bounds, DefaultValuedAttr<I64Attr, "1">:$width);
  let assemblyFormat = "$value `,` $target `[` $row `,` $column `]` attr-dict `:` qualified(type($value)) `,` qualified(type($target))";
  let hasVerifier = 1;
}

def Tile_CopyOp : Tile_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a tile of a matrix, into a stage of shared memory";
  let description = [{
    `layout` says which thread moves which elements; it may be larger than the tile. Elements beyond the matrix, and
    those beyond its borders, become 0. The layout's vector of columns is one access: the matrix is contiguous and aligned so far, and ends at a multiple of it. With `async` (cp.async) the copy is done only after its group was
    committed and waited for, and a barrier makes it seen by other threads; without it a barrier is enough.

    (1) Element types are equal. (2) The layout's vector has one row, divides the tile's rows with and without what is
    free after them, and takes at most 16 bytes. (3) Asynchronous accesses are of 4, 8 or 16 bytes, from global memory. (4) No
    border runs between the elements of an access.
  }];
  let arguments = (ins Tile_ViewType:$source, I64:$row, I64:$column, Tile_SharedType:$target, I64:$stage,
                       Tile_BlockedAttr:$layout, DefaultValuedAttr<DenseBoolArrayAttr, "{false, false}">:$in_bounds, UnitAttr:$async);
  let assemblyFormat = [{
    $source `[` $row `,` $column `]` `,` $target `[` $stage `]` attr-dict `:` qualified(type($source)) `,` qualified(type($target))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

def Tile_CommitOp : Tile_Op<"commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "asynchronous copies since the last commit become a group";
  let assemblyFormat = "attr-dict";
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most so many of the last groups are under way";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$groups);
  let assemblyFormat = "$groups attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the block wait for each other, and see what they wrote";
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Tiles in registers
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile of one value";
  let description = [{(1) the value is of the tile's element type.}];
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_NumbersOp : Tile_Op<"numbers", [Pure]> {
  let summary = "a tile of the numbers that its rows, or its columns, have";
  let description = [{
    ```mlir
    %c = tile.numbers %first along 1 : !tile.registers<8x8xi64, #l>
    ```
    The element at row r and column c is %first + c; `along 0` it is %first + r. What is computed after a product asks so where its
    elements lie: a mask, a bias of positions.

    (1) elements are i64.
  }];
  let arguments = (ins I64:$first, ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>:$along);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = "$first `along` $along attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_ConcatOp : Tile_Op<"concat", [Pure]> {
  let summary = "tiles side by side, as one";
  let description = [{
    The columns of each operand follow those of the one before. A thread has the same columns of all of them, so nothing moves.

    (1) operands have one type; the result has its layout, its elements and as many times its columns as there are operands.
  }];
  let arguments = (ins Variadic<Tile_RegistersType>:$inputs);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = "$inputs attr-dict `:` qualified(type($inputs)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_PartOp : Tile_Op<"part", [Pure]> {
  let summary = "one of several tiles that lie side by side";
  let description = [{
    What `tile.concat` had as its operand of that number.

    (1) the result has the operand's layout, elements and rows, and columns that divide its; (2) there is such a part.
  }];
  let arguments = (ins Tile_RegistersType:$input, ConfinedAttr<I64Attr, [IntNonNegative]>:$number);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = "$input `[` $number `]` attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_RowValuesOp : Tile_Op<"row_values", [Pure]> {
  let summary = "the values that rows have one of";
  let description = [{
    Of each row of the tile the one value that all its elements have, as those of `tile.reduce`. (1) The result has the tile's rows, elements and layout.
  }];
  let arguments = (ins Tile_RegistersType:$input);
  let results = (outs Tile_RowVectorType:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "a tile whose rows have one value each";
  let description = [{Each element of the result is its row's value; nothing moves. (1) The result has the vector's rows, elements and layout.}];
  let arguments = (ins Tile_RowVectorType:$input);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_MmaOp : Tile_Op<"mma", [MemoryEffects<[MemRead]>, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "adds the product of two tiles in shared memory to a tile in registers";
  let description = [{
    Terms are added one after the other, in the order of k. Floats are multiplied and added as one operation in the
    accumulator's type (f16 and bf16 operands are extended to it); integers are extended to it, as unsigned ones where that is said.

    A transposed operand lies in shared memory as k×m, or n×k. `reads` says how many terms a thread takes at a time, and how many adjacent elements of
    each operand are one access (`#tile.reads`); without it everything is read element by element, term by term.

    With `fragments` the warps multiply on matrix units: 16 rows, 8 columns and 16 terms at a time, whose sums are added in an
    order that the machine knows. A layout of `vector = [1, 2]` and `warp = [8, 4]` is what a fragment's accumulator needs.

    (1) shapes m×n, m×k, k×n; (2) floats or integers throughout, operands no wider than the accumulator; (3) fragments: both
    operands f16 or bf16, the accumulator f32 with the layout above and an even number of rows for each thread, terms a multiple
    of 16, and rows in shared memory that begin at multiples of 16 bytes. (4) `reads` stands without fragments; its terms divide those of the tiles; an operand's
    access takes at most 16 bytes and divides what separates its rows in shared memory, and the terms where these are adjacent, else the layout's adjacent rows or columns.

    With `wgmma` warp groups of 128 threads multiply 64 rows, all columns and 16 terms at a time, out of swizzled tiles. (5) Both operands are f16 or bf16
    and swizzled, sums f32 with the layout that wgmma has (`#tile.blocked`), at most 256 columns in eights, and terms in sixteens. The left operand may be a tile in
    registers with the sums' layout: a thread's elements are those that `wgmma` asks of it. Its `lhs_stage` is not read.
  }];
  let arguments = (ins Tile_RegistersType:$accumulator, AnyTypeOf<[Tile_SharedType, Tile_RegistersType]>:$lhs, I64:$lhs_stage, Tile_SharedType:$rhs,
                       I64:$rhs_stage, UnitAttr:$lhs_transposed, UnitAttr:$rhs_transposed, UnitAttr:$lhs_unsigned,
                       UnitAttr:$rhs_unsigned, UnitAttr:$fragments, UnitAttr:$wgmma, OptionalAttr<Tile_ReadsAttr>:$reads);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = [{
    $accumulator `,` $lhs `[` $lhs_stage `]` `,` $rhs `[` $rhs_stage `]` attr-dict `:`
    qualified(type($result)) `,` qualified(type($lhs)) `,` qualified(type($rhs))
  }];
  let extraClassDeclaration = [{
    /// The left operand's type in shared memory; null where it is in registers.
    SharedType getLhsType() { return ::llvm::dyn_cast<SharedType>(getLhs().getType()); }
    ::llvm::LogicalResult verifyFragments();
    ::llvm::LogicalResult verifyReads();
  }];
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "computes tiles element by element";
  let description = [{
    The body gets one element of each operand, and yields one of each result.
    ```mlir
    %y = tile.map (%x) : (!tile.registers<8x8xf32, #l>) -> !tile.registers<8x8xf32, #l> {
    ^bb0(%e: f32):
      %t = math.tanh %e : f32
      tile.yield %t : f32
    }
    ```
    (1) All tiles have one shape and layout. (2) The body's arguments and yielded values are their elements.
  }];
  let arguments = (ins Variadic<Tile_RegistersType>:$inputs);
  let results = (outs Variadic<Tile_RegistersType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    AllTypesMatch<["input", "result"]>,
    TypesMatchWith<"the neutral value is an element", "result", "neutral", "cast<RegistersType>($_self).getElementType()">]> {
  let summary = "combines the elements of each row";
  let description = [{
    The first `columns` elements of each row are combined by the body, in an order that the layout decides; each element of
    the result is that of its row, so that the threads which share a row all have it, and `tile.map` takes it beside the
    rows themselves. `neutral` is what an element beyond those columns counts as: combined with any value it gives that value.
    Threads exchange values by shuffles alone: no memory, no barrier.
    ```mlir
    %m = tile.reduce %x neutral %lowest columns 48 : !tile.registers<64x64xf32, #l> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    }
    ```
    (1) The body takes two elements and yields one. (2) The threads that share a row are a power of two, at most 32, and
    neighbours. The layout's warp, where it has one, holds all of them, and threads are whole warps of 32. (3) At least one
    column, no more than the tile has. (4) Elements of 8, 16, 32 or 64 bits.
  }];
  let arguments = (ins Tile_RegistersType:$input, AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$neutral, I64Attr:$columns);
  let results = (outs Tile_RegistersType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input `neutral` $neutral `columns` $columns attr-dict `:` qualified(type($result)) $body";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["MapOp", "ReduceOp", "LoadRowsOp", "SweepOp", "MapRowsOp", "AccumulateOp", "ReduceRowsOp",
    "ReadOp", "WriteOp", "MapPointsOp", "ReducePointsOp"]>]> {
  let summary = "what a body has computed: elements of results, two combined ones, the results of a sweep";
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins)>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

include "ft/Dialect/Tile/IR/TileRows.td"
include "ft/Dialect/Tile/IR/TileNests.td"
include "ft/Dialect/Tile/IR/TileMaps.td"
include "ft/Dialect/Tile/IR/TilePipeline.td"

#endif // TILE_OPS
