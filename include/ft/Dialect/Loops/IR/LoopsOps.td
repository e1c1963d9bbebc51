//===- LoopsOps.td - operations of the loops dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LOOPS_OPS
#define LOOPS_OPS

include "ft/Dialect/Loops/IR/LoopsDialect.td"
include "ft/Dialect/Loops/IR/LoopsEnums.td"
include "ft/Dialect/ETDG/IR/ETDGAttrs.td"
include "mlir/Dialect/SCF/IR/DeviceMappingInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

def Loops_ListType : TypeDef<Loops_Dialect, "List"> {
  let mnemonic = "list";
  let summary = "rows whose addresses are data";
  let description = [{
    `!loops.list<tensor<8x16xf32>, tensor<16xf32>>`: for each row, where its part of each operand lies. The
    types are those of one row of each operand.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$rows);
  let assemblyFormat = "`<` $rows `>`";
}

def Loops_LevelAttr : AttrDef<Loops_Dialect, "Level", [DeclareAttrInterfaceMethods<DeviceMappingAttrInterface>]> {
  let mnemonic = "level";
  let summary = "what runs the iterations of a parallel loop, and how they are mapped to it";
  let description = [{
    `#loops.level<core, dynamic>`, in the words of `#etdg.schedule`'s loops: `core`, the threads of a CPU's pool; `grid`, the thread
    blocks of a GPU; `thread`, the threads of such a block; `lifted`, one leaf, which computes all iterations at once; `none`, the code that runs the loop around
    it. How iterations are mapped to them, `dynamic`, `cyclic`, `block` or `static`, is described there, too.
  }];
  let parameters = (ins EnumParameter<ETDG_LoopLevel>:$level, ETDG_EnumOr<ETDG_IterationMapping, "::mlir::etdg::IterationMapping::None">:$mapping);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Loops_GridAttr : AttrDef<Loops_Dialect, "Grid"> {
  let mnemonic = "grid";
  let summary = "the thread blocks of a GPU that run a kernel";
  let description = [{
    `#loops.grid<block = <threads = 256, shared = 98304>, most = 132>`: what a thread block is (`#etdg.thread_block`), and how many
    there are at most; without `most`, one for each task of the loops of level `grid`. Where they wait for each other
    (`loops.sync grid`) the launch is one in which all of them run at once: as many as `most`. So many there are, too, where the host can't
    count the tasks (`loops-choose-tasks`).
  }];
  let parameters = (ins "::mlir::etdg::ThreadBlockAttr":$block, DefaultValuedParameter<"int64_t", "0">:$most);
  let assemblyFormat = "`<` `block` `=` $block (`,` `most` `=` $most^)? `>`";
}

def Loops_DeviceAttr : AttrDef<Loops_Dialect, "Device"> {
  let mnemonic = "device";
  let summary = "the GPU that a program is for";
  let description = [{
    `#loops.device<target = "sm_90a", machine = "h200", units = 132>`: what its kernels are compiled for, the machine that they
    were planned for, by its name or its file, and how many SMs it has. `units` is positive.
  }];
  let parameters = (ins StringRefParameter<>:$target, StringRefParameter<>:$machine, "int64_t":$units);
  let assemblyFormat = "`<` `target` `=` $target `,` `machine` `=` $machine `,` `units` `=` $units `>`";
  let genVerifyDecl = 1;
}

def Loops_ChunkLengthAttr : AttrDef<Loops_Dialect, "ChunkLength"> {
  let mnemonic = "chunk_length";
  let summary = "how long the chunks are that thread blocks take";
  let description = [{
    Of a `loops.chunks` of level `grid`, never longer than its `most`:

    - `#loops.chunk_length<each = 64>`: so many iterations, the last chunk perhaps fewer.
    - `#loops.chunk_length<tasks = 264, full = 8>`: the host counts the iterations, with those of the loops that are dealt with it, and
      makes chunks so long that so many tasks are left, but of at least `full` iterations where there are more of them than tasks.
    - `#loops.chunk_length<blocks>`: as long as leaves a task for each thread block that is launched, which the blocks count. Of B thread blocks
      and T tasks that all loops dealt with it make besides (in all iterations of loops around them, whose tasks follow each other; rows as few as they can), a loop of n
      iterations with a unit u gets chunks of u · max(⌈⌈n / u⌉ / max(⌊B / T⌋, 1)⌉, 1) iterations; then one of n without a unit gets chunks of max(⌈n / max(⌊B / T⌋, 1)⌉, 1), never
      more than its `most`.

    (C1) `each` is positive, and stands alone; (C2) `tasks` and `full` are positive, and stand together.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$each, DefaultValuedParameter<"int64_t", "0">:$tasks,
                        DefaultValuedParameter<"int64_t", "0">:$full);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether thread blocks cut the range among themselves.
    bool isOfBlocks() const { return getEach() == 0 && getTasks() == 0; }
  }];
}

/// `#ft.bounds`, which its own dialect defines.
def Loops_BoundsAttr : Attr<CPred<"::llvm::isa<::mlir::ft::BoundsAttr>($_self)">, "#ft.bounds"> {
  let storageType = "::mlir::ft::BoundsAttr";
  let returnType = "::mlir::ft::BoundsAttr";
  let convertFromStorage = "$_self";
}

def Loops_MemoryAttr : AttrDef<Loops_Dialect, "Memory"> {
  let mnemonic = "memory";
  let summary = "where memory of a thread block is";
  let description = [{
    `#loops.memory<shared>`: in the memory that the threads of a block share, if it fits; `#loops.memory<shared, offset = 2048>`: there from
    this byte on (`loops-place-memory`); `#loops.memory<workspace>`: in a part of the call's memory that each thread block has for
    itself. It is the place of a `loops.alloc`.

    `#loops.memory<shared, offset = 2048, swizzled>`: in each line of 128 bytes, which is what the 32 banks give at a time, the pieces of 16 bytes change
    places: piece p of line l lies where piece p xor (l mod 8) would. Rows of a product's fragments, which begin in the same banks where a
    row is a line long, come to lie in different ones. The code that reads or writes the memory does it so (`swizzled` of `!tile.view` and `tile.memory`).

    (C1) only shared memory has an offset, a multiple of 16 that is not negative. (C2) Swizzled memory has an offset, a multiple of 128.
  }];
  let parameters = (ins EnumParameter<Loops_MemoryKind>:$kind, DefaultValuedParameter<"int64_t", "-1">:$offset,
                        DefaultValuedParameter<"bool", "false">:$swizzled);
  let assemblyFormat = "`<` $kind (`,` `offset` `=` $offset^)? `` custom<Swizzled>($swizzled) `` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of the widest access: places begin at multiples of it.
    static constexpr int64_t alignment = 16;
    /// Bytes of a line in which pieces change places.
    static constexpr int64_t lineBytes = 128;
  }];
}

def Loops_SharedAttr : AttrDef<Loops_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "shared memory of the thread blocks that run a kernel";
  let description = [{
    `#loops.shared<bytes = 35328, warps = 512>`: so many bytes in all; warps leave what they have of a sum for each other in the first of
    them. Then come, at the offsets that they say, memory that lives as long as the kernel (`loops.alloc`) and what leaves need one after
    the other (their `places`).

    (C1) `warps` is positive, and no more than `bytes`.
  }];
  let parameters = (ins "int64_t":$bytes, "int64_t":$warps);
  let assemblyFormat = "`<` `bytes` `=` $bytes `,` `warps` `=` $warps `>`";
  let genVerifyDecl = 1;
}

def Loops_OverlapAttr : AttrDef<Loops_Dialect, "Overlap"> {
  let mnemonic = "overlap";
  let summary = "an output of a leaf that may lie where an input does";
  let description = [{
    One of a leaf's `overlaps`: `#loops.overlap<output = 0, input = 1, in_place>`: the memory of output 0 may be that of input 1, and then
    each row of one is the same row of the other, element by element. `any`: they may overlap in any way.

    (C1) neither number is negative.
  }];
  let parameters = (ins "int64_t":$output, "int64_t":$input, EnumParameter<Loops_OverlapKind>:$kind);
  let assemblyFormat = "`<` `output` `=` $output `,` `input` `=` $input `,` $kind `>`";
  let genVerifyDecl = 1;
}

def Loops_PlaceAttr : AttrDef<Loops_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "where a thread block keeps something of a leaf";
  let description = [{
    One of a leaf's `places`:

    - `#loops.place<value = 2 in shared at 2048, bytes = 512>`: value 2 between its loop nests (numbered in the order of the nests that
      compute them; one that is not named stays in registers), from byte 2048 of shared memory on.
    - `#loops.place<value = 3 in workspace, bytes = 65536>`: in a part of the call's memory that each thread block has for itself.
    - `#loops.place<value = 4 in output = 0>`: in the memory of output 0, which a product makes of the value where it lies.
    - `#loops.place<operands in shared at 4096, bytes = 32768>`: what its products in tiles read, stage by stage.
    - `#loops.place<sums in shared at 4096, bytes = 32768>`: sums of slices, which threads leave for each other.

    What is never needed at the same time may lie at one place. Bytes are those of all rows and lifted iterations of a call. A value may be
    `swizzled` as memory of `#loops.memory` is: `#loops.place<value = 2 in shared at 2048, bytes = 512, swizzled>`.

    (C1) a value has a number, which is not negative, others have none, and lie in shared memory. (C2) In shared memory there is an offset, a
    multiple of 16 that is not negative, elsewhere none. (C3) Bytes are positive, a multiple of 16; an output's are its own. (C4) An output has a
    number, which is not negative, and nothing else has. (C5) What is swizzled is a value in shared memory, whose offset and bytes are multiples of 128.
  }];
  let parameters = (ins EnumParameter<Loops_PlaceUse>:$use, DefaultValuedParameter<"int64_t", "-1">:$value,
                        EnumParameter<Loops_PlaceKind>:$kind, DefaultValuedParameter<"int64_t", "-1">:$output,
                        DefaultValuedParameter<"int64_t", "-1">:$offset, DefaultValuedParameter<"int64_t", "0">:$bytes,
                        DefaultValuedParameter<"bool", "false">:$swizzled);
  let assemblyFormat = "`<` $use (`=` $value^)? `in` $kind (`=` $output^)? (`at` $offset^)? (`,` `bytes` `=` $bytes^)? `` custom<Swizzled>($swizzled) `` `>`";
  let genVerifyDecl = 1;
}

def Loops_ProductAttr : AttrDef<Loops_Dialect, "Product"> {
  let mnemonic = "product";
  let summary = "how a core computes a loop nest that is a product of matrices";
  let description = [{
    `#loops.product<rows = 6, columns = 16, vector = 8, panel = 24, block = 32>`, one of a leaf's `layouts`. Registers hold `rows` by
    `columns` of the result while the terms of its sums are added. Rows are those of the call, or with `row_loop = n` of the nest's loop n
    (outermost first, neighbours that all accesses take as one are one). With `rests = [4, 2, 1]` what tiles of `rows` leave is cut into tiles of
    these rows, in their order; what the last ones leave is taken row by row. With `join = n` the last tile of `rows` is cut with what is left
    after it where that is n rows. What is left of columns is one smaller tile. Vectors have `vector` elements and run along columns; with
    `along_terms` they run along terms that are adjacent in both operands, and are folded at the end. With `panel = n` calls with n rows or more copy the columns of the right-hand side that a tile reads
    next to each other first (`panel = 1`: all calls). With `block = n` the other ones take n terms at a time for all columns.
    With `ahead = n` tiles of `ahead_rows` rows or more ask for the columns of the right-hand side n terms before they use them: once for
    every `line` columns, which one request brings. With `outlined` the product is a function of its own, which equal products of the kernels
    share.
    `pack_left`, `pack_right`: the whole operand is put next to each other in scratch memory first, halves as f32. `each_row`: though all
    rows of a call have the same right-hand side, each of them is a product by itself. `written_out`: in tiles whose columns cross a border of the
    right-hand side, the innermost terms stand one after the other, so that masks are constants.

    (C1) 1 to 32 rows, a power of two of at most 64 as vector; (C2) columns a multiple of the vector, with `along_terms` a power of
    two of them and no more than it has; (C3) panel, block and ahead are not negative, not with `along_terms`, nor is an operand packed with it,
    and no block where all calls copy columns; (C4) rests grow smaller, from less than `rows` on, and fewer rows than `rows` join; (C5) `line` and
    `ahead_rows` stand with `ahead`, `line` always; (C6) `row_loop` is not negative; terms are not `written_out` with `along_terms`, a block, or
    `panel = 1`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$vector, "bool":$alongTerms, "int64_t":$panel,
                        "int64_t":$block, "int64_t":$ahead, "bool":$eachRow, "bool":$packsLeft, "bool":$packsRight,
                        ArrayRefParameter<"int64_t">:$rests, "int64_t":$join, "int64_t":$line, "int64_t":$aheadRows, "bool":$outlined,
                        "int64_t":$rowLoop, "bool":$writtenOut);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Loops_LanesAttr : AttrDef<Loops_Dialect, "Lanes"> {
  let mnemonic = "lanes";
  let summary = "how a core computes a loop nest that is no product";
  let description = [{
    `#loops.lanes<loop = 1, vector = 16, beside = 4>`, one of a leaf's `layouts`. Vectors of `vector` elements run along the loop of this
    number; several are computed beside each other where a sum would wait for itself. The loops are those of the nest, outermost first, where
    neighbours that all accesses take as one are one. `loop = -1`: one element at a time.

    With `turned = 0` the nest is a copy that turns a matrix: squares of `vector` elements that are adjacent along `turned` where they are read, and
    along `loop` where they are written, are turned in registers. What squares leave runs in vectors of its own: `rests` has those of what is left of
    `turned`, then of what is left of `loop` there, of each that leaves something.

    (C1) a power of two of at most 64 as vector, 1 without a loop; (C2) 1 to 16 of them beside each other; (C3) `turned` is another loop, of vectors
    one at a time; (C4) at most two rests, #loops.lanes that turn nothing, and none where nothing is turned.
  }];
  let parameters = (ins "int64_t":$loop, "int64_t":$vector, "int64_t":$beside, DefaultValuedParameter<"int64_t", "-1">:$turned,
                        OptionalParameter<"ArrayAttr">:$rests);
  let assemblyFormat = "`<` `loop` `=` $loop `,` `vector` `=` $vector `,` `beside` `=` $beside (`,` `turned` `=` $turned^)? (`,` `rests` `=` $rests^)? `>`";
  let genVerifyDecl = 1;
}

def Loops_JoinedAttr : AttrDef<Loops_Dialect, "Joined"> {
  let mnemonic = "joined";
  let summary = "a loop nest that a core computes together with another one";
  let description = [{
    `#loops.joined<with = 0>`, one of a leaf's `layouts`: its iterations are those of loop nest 0, which stands in front of it and says how, so
    that what the two hand on stays in registers.

    (C1) the number is not negative.
  }];
  let parameters = (ins "int64_t":$with);
  let assemblyFormat = "`<` `with` `=` $with `>`";
  let genVerifyDecl = 1;
}

def Loops_ScratchAttr : AttrDef<Loops_Dialect, "Scratch"> {
  let mnemonic = "scratch";
  let summary = "where a core keeps a value between loop nests of a leaf";
  let description = [{
    `#loops.scratch<value = 2, row, offset = 64, bytes = 192>`, one of a leaf's `scratch`. Values are numbered in the order of the loop nests that
    compute them; then come, product by product, the left and the right operand that are packed, and the columns that a tile copies. One
    that is not named stays in registers. `once`: all rows share it; `row`: it is one row's, whose memory the next row takes; `rows`: each row of a
    call has its own, one after the other, where `offset` counts for each row of the call what lies in front of them. Values that are never needed at the
    same time may lie at one place.

    (C1) value and offset are not negative; offset and bytes are multiples of 64, as vectors are aligned, and bytes positive.
  }];
  let parameters = (ins "int64_t":$value, EnumParameter<Loops_ScratchKind>:$kind, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` `value` `=` $value `,` $kind `,` `offset` `=` $offset `,` `bytes` `=` $bytes `>`";
  let genVerifyDecl = 1;
}

def Loops_GuardAttr : AttrDef<Loops_Dialect, "Guard"> {
  let mnemonic = "guard";
  let summary = "a loop nest that a core leaves out where a flag says so";
  let description = [{
    `#loops.guard<nest = 2, input = 0, is = true>`, one of a leaf's `loops.guards`: loop nest 2 is computed where input 0, one `i1`, is true; elsewhere nothing reads
    what it computes. In a loop over rows each row asks its own flag; around none the flag is one for all rows.

    (C1) the numbers are not negative.
  }];
  let parameters = (ins "int64_t":$nest, "int64_t":$input, "bool":$is);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Loops_KeptAttr : AttrDef<Loops_Dialect, "Kept"> {
  let mnemonic = "kept";
  let summary = "what a leaf hands to itself from iteration to iteration, in registers";
  let description = [{
    `#loops.kept<output = 0, input = 2, last>`, one of a leaf's `loops.kept`: in the sequential loop around the leaf input 2 has what output 0 got in the iteration
    before. The threads that compute it, as the tile of a product, keep it in registers. What the first iteration reads is loaded before the loop. `last`: what the
    last iteration makes is stored after the loop, and nothing before it, as nothing reads it; `each`: each iteration stores what it makes, for those who do.

    With `in f32` registers hold numbers of that type, wider than its elements, and round them where they are stored alone.

    (C1) the numbers are not negative; (C2) the type is a float.
  }];
  let parameters = (ins "int64_t":$output, "int64_t":$input, EnumParameter<Loops_KeptStore>:$store, OptionalParameter<"::mlir::Type">:$type);
  let assemblyFormat = "`<` `output` `=` $output `,` `input` `=` $input `,` $store (`in` $type^)? `>`";
  let genVerifyDecl = 1;
}

/// (Both print a space before their word: formats of operations leave theirs out, ``.)
def Loops_BufferKindAttr : EnumAttr<Loops_Dialect, Loops_BufferKind, "buffer_kind">;
def Loops_SyncKindAttr : EnumAttr<Loops_Dialect, ETDG_SyncKind, "sync_kind"> {
  let cppNamespace = "::mlir::loops";
  let storageType = "::mlir::loops::SyncKindAttr";
}

def Loops_GridDependencyAttr : EnumAttr<Loops_Dialect, Loops_GridDependency, "grid_dependency">;

class Loops_Op<string mnemonic, list<Trait> traits = []> : Op<Loops_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// The host's side
//===----------------------------------------------------------------------===//

def Loops_ProgramOp : Loops_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "what a call has in memory, and which kernels it launches";
  let description = [{
    Named lengths, in the order in which a caller gives them; then buffers and launches. Launches run one after
    the other. `places` are where gathers that check their indices stand (`loops.bounded`).

    ```mlir
    loops.program @f lengths ["N"] places [] {
      %n = loops.length "N"
      %x = loops.buffer argument 0 : !etdg.buffer<[N], tensor<4xf32>>
      %y = loops.buffer result 0 : !etdg.buffer<[N], tensor<4xf32>>
      loops.launch @f_k0(%n, %x, %y) : index, !etdg.buffer<[N], tensor<4xf32>>, !etdg.buffer<[N], tensor<4xf32>>
    }
    ```

    What callers are asked for is said here, too, so that a launch plan is made of the program alone: `bounds` that lengths
    must satisfy, `checks` like them with what to tell where they do not hold (a graph's `etdg.checks`), and `in_place`,
    pairs of an argument and a result that may have its memory. Kernels of thread blocks (`loops.grid`) are for a `device`:

    ```mlir
    loops.program @f lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132>
        attributes {bounds = #ft.bounds<"N >= 1">, in_place = array<i64: 0, 0>} {
      ...
    }
    ```

    - (loops_program1) the body holds `loops.length`, `loops.buffer`, `loops.stride`, `loops.launch` and `loops.variants` alone.
    - (loops_program2) arguments are numbered from 0 on, each one once; so are results.
    - (loops_program3) lengths of buffers, bounds and checks are over the program's.
    - (loops_program4) a check is `{holds = #ft.bounds<...>, because = "..."}`, perhaps with its place (`at = loc(...)`).
    - (loops_program5) `in_place` pairs arguments with results, no result twice.
    - (loops_program6) places are locations.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$lengths, ArrayAttr:$places,
                       OptionalAttr<Loops_DeviceAttr>:$device, OptionalAttr<Loops_BoundsAttr>:$bounds,
                       OptionalAttr<ArrayAttr>:$checks, OptionalAttr<DenseI64ArrayAttr>:$in_place);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `lengths` $lengths `places` $places (`for` $device^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Arguments and results by their number, others as they stand.
    ::llvm::SmallVector<BufferOp> getBuffers(BufferKind kind);
  }];
}

def Loops_LengthOp : Loops_Op<"length", [Pure, HasParent<"ProgramOp">]> {
  let summary = "a length by its name";
  let description = [{ - (loops_length1) it is one of the program's lengths. }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Index:$result);
  let assemblyFormat = "$name attr-dict";
  let hasVerifier = 1;
}

def Loops_BufferOp : Loops_Op<"buffer", [HasParent<"ProgramOp">]> {
  let summary = "memory that lives as long as a call";
  let description = [{
    Number `index` of the arguments or results, an intermediate one, a constant, or a constant of one value (`splat`).
    `planes` are kept of each of its dimensions, 0 for all. Intermediates of one `slot` share memory. The memory is dense,
    but for an argument of whose outermost `strided` dimensions the caller gives the strides (`loops.stride`). `strides` are the
    caller's dimensions that each of these stands for, as `ft.strides` has them: without, the same. Messages call an argument
    by its `name`.

    ```mlir
    %s = loops.buffer intermediate planes [0, 2] slot 1 : !etdg.buffer<[N, L], tensor<16xf32>>
    ```

    - (loops_buffer1) an argument and a result have an index, the others none.
    - (loops_buffer2) constants and splats have a value, the others none.
    - (loops_buffer3) planes are given for each length or not at all, and none is negative.
    - (loops_buffer4) only intermediates have a slot, which is not negative.
    - (loops_buffer5) only arguments have a name and strides, of at most as many dimensions as there are.
    - (loops_buffer6) `strides` lists the caller's dimensions in order, those that follow each other for each strided one; two of
      the same are one of the caller's that was cut.
    - (loops_buffer7) a constant has depth 0 and the value of its element's type; a splat, of the type of its numbers.
  }];
  let arguments = (ins Loops_BufferKindAttr:$kind,
                       OptionalAttr<I64Attr>:$index, OptionalAttr<DenseI64ArrayAttr>:$planes,
                       OptionalAttr<I64Attr>:$slot, OptionalAttr<AnyAttr>:$value,
                       OptionalAttr<StrAttr>:$name, OptionalAttr<I64Attr>:$strided, OptionalAttr<ArrayAttr>:$strides);
  let results = (outs ETDG_BufferType:$result);
  let assemblyFormat = [{
    `` $kind ($index^)? (`planes` $planes^)? (`slot` $slot^)? (`value` `(` $value^ `)`)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Loops_StrideOp : Loops_Op<"stride", [Pure, HasParent<"ProgramOp">]> {
  let summary = "a stride of an argument that the caller gives, in elements";
  let description = [{ - (loops_stride1) the buffer is an argument, and this one of its `strided` dimensions. }];
  let arguments = (ins ETDG_BufferType:$buffer, I64Attr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "$buffer `[` $dimension `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Loops_LaunchOp : Loops_Op<"launch", [ParentOneOf<["ProgramOp", "VariantsOp"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    Gives lengths and strides as `index`, buffers as their memory. `plan` and `seconds` say how the kernel's loops share
    the threads and what that was estimated to take. With `overlaps` it may begin before the launch before it has ended (programmatic
    dependent launch, CUDA programming guide); `loops-place-dependency` says so.

    - (loops_launch1) the callee is a function with the attribute `loops.kernel`.
    - (loops_launch2) it takes what is given: an index as `index`, a buffer of elements T as `memref<?xT>`.
    - (loops_launch3) where two buffers are one memory (one slot, or a result in place of an argument), a leaf of the callee that reads one of
      them and writes the other says that these overlap, or nothing of overlaps.
    - (loops_launch4) a launch that overlaps runs a kernel of thread blocks that don't wait for each other. In its body a
      `loops.griddepcontrol wait` stands before all that touches memory.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyTypeOf<[Index, ETDG_BufferType]>>:$arguments,
                       OptionalAttr<StrAttr>:$plan, OptionalAttr<F64Attr>:$seconds, UnitAttr:$overlaps);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict (`:` type($arguments)^)?";
}

def Loops_VariantsOp : Loops_Op<"variants", [HasParent<"ProgramOp">, NoTerminator, NoRegionArguments]> {
  let summary = "launches that a call's lengths choose";
  let description = [{
    Of the regions the first runs whose guard holds for the lengths of the call; the last has no guard.

    ```mlir
    loops.variants [#etdg.guard<[N] below 16>] {
      loops.launch @few(%n, %x) : index, !etdg.buffer<[N], tensor<4xf32>>
    }, {
      loops.launch @many(%n, %x) : index, !etdg.buffer<[N], tensor<4xf32>>
    }
    ```

    - (loops_variants1) there are two regions at least, and a guard for each but the last.
    - (loops_variants2) guards are over the program's lengths.
    - (loops_variants3) regions hold launches alone.
  }];
  let arguments = (ins TypedArrayAttrBase<ETDG_GuardAttr, "guards">:$guards);
  let regions = (region VariadicRegion<SizedRegion<1>>:$variants);
  let assemblyFormat = "$guards $variants attr-dict";
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def Loops_ChunksOp : Loops_Op<"chunks", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a parallel loop whose range is cut anywhere";
  let description = [{
    The range from `lower` to below `upper` is cut into chunks of neighbouring iterations, at most `most` each; the body
    runs once for each, with its first iteration and their number (at least 1). Who runs the loop cuts it; with
    `unit`, chunks are about equally long, and multiples of that but for the last one. How long those of thread blocks are `length`
    says (`loops-choose-tasks`).

    ```mlir
    loops.chunks (%first, %count) = %c0 to %n most 64 level <core, block> {
      ...
    }
    loops.chunks (%first, %count) = %c0 to %n most 64 level <grid, cyclic> length <tasks = 264, full = 8> {
      ...
    }
    ```

    - (loops_chunks1) `most` is positive, and `unit` where it is given.
    - (loops_chunks2) the body takes two indices.
    - (loops_chunks3) a loop of level `grid` has a length, or none yet, others have none; `each` is at most `most`, and a multiple of `unit`.
  }];
  let arguments = (ins Index:$lower, Index:$upper, I64Attr:$most, OptionalAttr<I64Attr>:$unit, Loops_LevelAttr:$level,
                       OptionalAttr<Loops_ChunkLengthAttr>:$length);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper, "int64_t":$most,
                                 "std::optional<int64_t>":$unit, "LevelAttr":$level)>];
  let extraClassDeclaration = [{
    ::mlir::Value getFirst() { return getBody().getArgument(0); }
    ::mlir::Value getCount() { return getBody().getArgument(1); }
  }];
}

def Loops_WeightOp : Loops_Op<"weight"> {
  let summary = "what an iteration of the next loop weighs";
  let description = [{
    Said in front of a parallel loop that is mapped `block`: each iteration of it is `weight` units of work. Without,
    all are alike.

    - (loops_weight1) the next operation is a parallel loop.
  }];
  let arguments = (ins Index:$weight);
  let assemblyFormat = "$weight attr-dict";
  let hasVerifier = 1;
}

def Loops_SyncOp : Loops_Op<"sync"> {
  let summary = "units wait for each other";
  let description = [{
    What stands before it is done, and seen by all, before anything after it begins. Without one, a parallel loop
    and what follows it may overlap.

    - (loops_sync1) the kind says who waits (`#etdg.schedule`'s kinds but `none`), and it stands in no parallel loop whose iterations these
      share: `block`, the threads of a block, may stand in loops of level `grid`.
    - (loops_sync2) in a kernel of thread blocks (`loops.grid`) these are all of them, `grid`, or the threads of one, `block`, and there alone.
  }];
  let arguments = (ins Loops_SyncKindAttr:$kind);
  let assemblyFormat = "`` $kind attr-dict";
  let hasVerifier = 1;
}

def Loops_GriddepcontrolOp : Loops_Op<"griddepcontrol"> {
  let summary = "kernels that overlap";
  let description = [{
    As PTX's instruction of that name. `wait`: all launches before this one have ended, and what they wrote is seen, before anything after
    it. `launch_dependents`: the next launch may begin once each thread block has come here or ended. Neither does anything in a launch
    that overlaps no other.

    - (loops_griddepcontrol1) it stands in the body of a kernel of thread blocks (`loops.grid`), in no loop or condition.
  }];
  let arguments = (ins Loops_GridDependencyAttr:$kind);
  let assemblyFormat = "`` $kind attr-dict";
  let hasVerifier = 1;
}

def Loops_StagedOp : Loops_Op<"staged"> {
  let summary = "what is read of memory was stored some iterations before";
  let description = [{
    What is read of this memory after it, in the same iteration of the loop around, was stored `ahead` iterations of that loop before, or earlier:
    a copy that is made ahead. `convert-etdg-to-loops` says so, by the maps of who writes and reads the memory.

    ```mlir
    scf.for %t = %begin to %end step %one {
      scf.if %is { ... }   // stores what iteration %t + 2 reads
      loops.staged %memory ahead 2 : memref<?xf32>
      scf.if %has { ... }  // reads
    }
    ```

    - (loops_staged1) `ahead` is positive, and it stands in a `scf.for` itself.
  }];
  let arguments = (ins AnyMemRef:$memory, I64Attr:$ahead);
  let assemblyFormat = "$memory `ahead` $ahead attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Loops_CommitOp : Loops_Op<"commit"> {
  let summary = "copies that threads have begun since the last one are a group";
  let description = [{
    Each thread's own, of those that leaves make while it goes on (`async` of a `#tile.nest`). A group may have no copy.

    - (loops_commit1) it stands in a kernel of thread blocks, in no loop that the threads of a block share.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Loops_WaitOp : Loops_Op<"wait"> {
  let summary = "threads wait until at most so many of their last groups of copies are on their way";
  let description = [{
    `loops.wait 2`: what older groups copy is there, for the thread that copied it. A `loops.sync block` after it makes it seen by the others.

    - (loops_wait1) the number is not negative, and it stands where a `loops.commit` may.
  }];
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "$groups attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

def Loops_AllocOp : Loops_Op<"alloc", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "memory of a thread block";
  let description = [{
    Memory of `size` elements, for each thread block that runs the operation; `memref.dealloc` ends its life. `in` gives the
    place (`#loops.memory`, with its offset in bytes). Without a place, `loops-place-memory` chooses one. Memory with `parts P`
    lasts as long as the kernel. Thread block p has its elements from p · size / P to below (p + 1) · size / P, and touches no others:
    weights that it keeps over all steps. The type has the size `?`, also where `size` is a constant, so that no pass has to change it.

    `convert-etdg-to-loops` makes it of a buffer's `in shared` and `in workspace`, and of a staged read. On a CPU,
    `loops-grid-to-cores` replaces it by `memref.alloc`.

    ```mlir
    %own = loops.alloc %c64 in <shared> : memref<?xf32>
    %placed = loops.alloc %c64 in <shared, offset = 2048> : memref<?xf32>
    %weights = loops.alloc %c24 parts 4 in <shared> : memref<?xf32>
    %large = loops.alloc %n in <workspace> : memref<?xf32>
    %open = loops.alloc %c64 : memref<?xf32>
    ```

    - (loops_alloc1) it stands in a kernel of thread blocks (`loops.grid`).
    - (loops_alloc2) the memory is `memref<?xT>`, of elements that are integers, indices or floats.
    - (loops_alloc3) shared memory has a constant size.
    - (loops_alloc4) `parts` is positive, divides the size, and stands with shared memory.
  }];
  let arguments = (ins Index:$size, OptionalAttr<I64Attr>:$parts, OptionalAttr<Loops_MemoryAttr>:$memory);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "$size (`parts` $parts^)? (`in` $memory^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getType() { return ::llvm::cast<::mlir::MemRefType>(getResult().getType()); }
    /// Whether its place is shared memory; a memory without a place has none yet.
    bool isShared() { return getMemory() && getMemory()->getKind() == MemoryKind::Shared; }
    bool isSwizzled() { return getMemory() && getMemory()->getSwizzled(); }
    /// The number of elements where it is a constant.
    std::optional<int64_t> getConstantSize();
    /// Bytes that a thread block has: of all elements, or of its part; 0 where their number is no constant.
    int64_t getBytesOfBlock();
  }];
}

def Loops_ViewOp : Loops_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "rows in memory, by an index for each dimension of what lies there";
  let description = [{
    What a leaf of a thread block takes of a memory. There is an index for each dimension of the buffer that lies there, the slowest first: where row 0
    begins. `strides` say how many elements lead from one index to the next, `steps` by how much it grows from row to row. Row r begins at the element
    that is the sum of (index + r · step) · stride. One index more counts numbers inside of a buffer's element. Of memory that was
    chosen at run time there is one index, which counts its elements. Inside of a row the result's type says where elements lie.

    ```mlir
    %v = loops.view %x[%i, %t] strides [%s, 64] steps [1, 0] rows %n : memref<?xf16> -> memref<?x64xf16, strided<[?, 1], offset: ?>>
    ```

    Unlike a flat offset, indices tell which box of a tensor rows are (`!tile.tensor_map`).

    - (loops_view1) one stride and one step for each index, and at least one index.
    - (loops_view2) the memory is `memref<?xT>`, the result `memref<? x shape x T>` of a static shape. Its type says distances inside of a row alone.
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<Index>:$indices, Variadic<Index>:$strides, Variadic<Index>:$steps, Index:$rows,
                       DenseI64ArrayAttr:$static_indices, DenseI64ArrayAttr:$static_strides, DenseI64ArrayAttr:$static_steps);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $memory `` custom<DynamicIndexList>($indices, $static_indices) `strides` custom<DynamicIndexList>($strides, $static_strides)
    `steps` custom<DynamicIndexList>($steps, $static_steps) `rows` $rows attr-dict `:` type($memory) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::MemRefType":$type, "::mlir::Value":$memory, "::llvm::ArrayRef<::mlir::OpFoldResult>":$indices,
                                 "::llvm::ArrayRef<::mlir::OpFoldResult>":$strides, "::llvm::ArrayRef<::mlir::OpFoldResult>":$steps, "::mlir::Value":$rows)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getType() { return ::llvm::cast<::mlir::MemRefType>(getResult().getType()); }
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedIndices(), getMixedStrides(), getMixedSteps();
    /// One dimension of what it views.
    struct Dim {
      ::mlir::OpFoldResult index, stride, step;
    };
    ::llvm::SmallVector<Dim> getDims();
  }];
}

def Loops_LeafOp : Loops_Op<"leaf", [IsolatedFromAbove, AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                     SingleBlock]> {
  let summary = "tensor operations on rows of strided memory";
  let description = [{
    Computes `rows` independent rows. Row r of an input is `view[r]`, or `view[0]` where `varies` says that it is the same
    for all; row r of an output is `view[r]`. With a list, inputs that vary and outputs are its
    operands, in this order, and the rows are those that it holds. The region is the computation of one row,
    on static shapes: operations of linalg, arith, math and tensor. `most` bounds the number of rows.

    With `columns(%c) tile T of N`, columns %c to below %c + T are computed, where the computation has N along some
    dimension of its own and column c of all that it computes depends on column c alone of what it computed before
    (a product's n; not a row's normalisation). Views are of all columns; the others' memory is left as it is. With
    `columns(%c, %w) tile T of N` it is %w columns, a multiple of T, for a thread block of a GPU, which
    may compute whole what is cheap and has no such columns: `cuts` says for each of the computation's loop nests which of its loops
    is over the columns, -1 where each thread block computes all of it, -2 where the one with the first columns does.
    `layouts` say how the threads of a GPU's block share the computation, by its loop nests (`etdg.layouts`), or how a core computes
    them: products (`#loops.product`) and others (`#loops.lanes`), or together with which one (`#loops.joined`). After those of the
    computation's own nests stand the layouts of copies that products pack, product by product, the left operand before the right one.
    `scratch` says where a core keeps what one of them hands on to others (`#loops.scratch`). `aligned` says for each view, inputs first, to
    how many bytes the places are multiples at which its rows begin (`loops-find-alignment`); without, nothing is known of them.
    `places` say where a thread block keeps what loop nests hand on (`#loops.place`, `loops-place-memory`). `nests` say, for each loop nest
    that the layouts give to threads point by point, all that they compute of it (`#tile.nest`, `loops-choose-points`); unit for others. Where the layout keeps
    rows in registers they say in which accesses these come and go (`#tile.row_accesses`).

    `sums` is the type in which the bodies of reductions compute what they say in f16 or bf16: what they add up is rounded to its own type once, where
    it is stored. That type itself (`sums f16`), or nothing, is a sum that is rounded at each step. What is computed elsewhere has the type that it is
    said in, also between loop nests: halves are rounded after each operation. (Registers may hold them as f32, which is exact.) f64
    is rounded to halves by way of f32, and a product that a reduction adds may be rounded with the sum (a fused multiply-add).

    `overlaps` lists which outputs may lie where inputs do (`#loops.overlap`); all other outputs overlap no input. Without it nothing is known: an
    output may overlap any input, and what is made of the leaf reads all of it before it writes. Rows of one output overlap each other never. A kernel's own
    memory, and what its functions are given, may overlap as the program says: no argument is assumed to be apart from others.

    ```mlir
    loops.leaf rows(%n) most 64 ins(%x, %w : memref<?x1x8xf32, strided<[?, 8, 1], offset: ?>>, memref<?x8x8xf32, ...>)
      varies [true, false] outs(%y : memref<?x1x8xf32, ...>) {
    ^bb0(%a: tensor<1x8xf32>, %b: tensor<8x8xf32>):
      %c = linalg.matmul ...
      loops.yield %c : tensor<1x8xf32>
    }
    ```

    - (loops_leaf1) the region takes one static tensor for each entry of `varies`, and yields one for each output.
    - (loops_leaf2) a view is `memref<? x shape x T>` of the tensor that it stands for.
    - (loops_leaf3) with a list there are as many inputs as do not vary, no outputs, and the list's rows are the others' types.
    - (loops_leaf4) `most` is positive.
    - (loops_leaf5) a first column stands with 1 ≤ T ≤ N, and without a list; a number of columns with a first one, and cuts with such a number.
    - (loops_leaf6) inside of a row, an input lies at distances that its type says (`strided<[?, 1, 8], offset: ?>` is a
      transposed one), an output in order and without gaps.
    - (loops_leaf7) `scratch` holds #loops.scratch, each of another value, in their order.
    - (loops_leaf8) `aligned` holds a positive number for each view.
    - (loops_leaf9) `places` holds #loops.place: values in their order, then operands, then sums, each once; an output is one of the leaf's.
    - (loops_leaf10) `nests` stand with `layouts`, one for each: what a dialect says of a nest, or unit.
    - (loops_leaf11) `sums` stand where an operation adds up f16 or bf16: a float that is wider, or that type itself.
    - (loops_leaf12) `overlaps` holds #loops.overlap of its outputs and inputs, in their order, each pair once; in place are rows of one type, in order
      and without gaps. An output that is listed with no input does not begin where that one has rows.
  }];
  let arguments = (ins Index:$rows, Optional<Loops_ListType>:$list, Optional<Index>:$column, Optional<Index>:$width,
                       Variadic<AnyMemRef>:$inputs,
                       Variadic<AnyMemRef>:$outputs, DenseBoolArrayAttr:$varies, I64Attr:$most,
                       OptionalAttr<I64Attr>:$tile, OptionalAttr<I64Attr>:$columns,
                       OptionalAttr<DenseI64ArrayAttr>:$cuts, OptionalAttr<ArrayAttr>:$layouts,
                       OptionalAttr<ArrayAttr>:$scratch, OptionalAttr<DenseI64ArrayAttr>:$aligned,
                       OptionalAttr<ArrayAttr>:$places, OptionalAttr<ArrayAttr>:$nests,
                       OptionalAttr<TypeAttrOf<AnyFloat>>:$sums, OptionalAttr<ArrayAttr>:$overlaps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `rows` `(` $rows `)` `most` $most (`list` `(` $list^ `:` type($list) `)`)?
    (`columns` `(` $column^ (`,` $width^)? `)` `tile` $tile `of` $columns (`cuts` $cuts^)?)? (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `varies` $varies (`outs` `(` $outputs^ `:` type($outputs) `)`)? (`sums` $sums^)? (`overlaps` $overlaps^)? (`layouts` $layouts^)? (`aligned` $aligned^)? (`scratch` $scratch^)? (`places` $places^)? (`nests` $nests^)? $body attr-dict
  }];
  let hasRegionVerifier = 1;
}

def Loops_SplatOp : Loops_Op<"splat", [Pure]> {
  let summary = "rows whose elements are one value each";
  let description = [{
    Memory that nothing fills: `rows` rows of `elements` elements, one after the other; all elements of row r are
    `value + r * step`, or `value` without a step. An index stands for the integer of the memory's type. Who runs it may keep it as a
    value: it is only viewed (`memref.reinterpret_cast`) or chosen (`scf.if`, `arith.select`).

    ```mlir
    %zero = loops.splat %c elements 256 rows 1 : f32 -> memref<?xf32>
    %position = loops.splat %i step %one elements 1 rows 64 : index -> memref<?xi64>
    ```

    - (loops_splat1) the memory is `memref<?xT>`, and the value a T, or an index where T is an integer or an index.
    - (loops_splat2) a step stands with an index as value.
    - (loops_splat3) `elements` is not negative, `rows` is positive.
  }];
  let arguments = (ins AnyType:$value, Optional<Index>:$step, I64Attr:$elements, I64Attr:$rows);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$value (`step` $step^)? `elements` $elements `rows` $rows attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Loops_YieldOp : Loops_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ChunksOp", "LeafOp"]>]> {
  let summary = "the results of a leaf's row; the end of a chunk";
  let arguments = (ins Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins), [{ /* nothing to yield */ }]>];
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Loops_ListOp : Loops_Op<"list", [MemoryEffects<[MemAlloc]>]> {
  let summary = "an empty list of rows";
  let description = [{
    Holds at most `most` rows.

    - (loops_list1) `most` is positive.
  }];
  let arguments = (ins I64Attr:$most);
  let results = (outs Loops_ListType:$result);
  let assemblyFormat = "`most` $most attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Loops_AppendOp : Loops_Op<"append", [MemoryEffects<[MemWrite]>]> {
  let summary = "adds rows to a list";
  let description = [{
    Row r of the `rows` new ones lies at `view[r]` of each view.

    - (loops_append1) there is a view for each of the list's types, `memref<? x shape x T>` of its tensor, in order and
      without gaps.
  }];
  let arguments = (ins Loops_ListType:$list, Index:$rows, Variadic<AnyMemRef>:$views);
  let assemblyFormat = "$list `rows` `(` $rows `)` `(` $views `:` type($views) `)` attr-dict `:` type($list)";
  let hasVerifier = 1;
}

def Loops_CountOp : Loops_Op<"count", [MemoryEffects<[MemRead]>]> {
  let summary = "how many rows a list holds";
  let arguments = (ins Loops_ListType:$list);
  let results = (outs Index:$result);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Loops_BoundedOp : Loops_Op<"bounded", [MemoryEffects<[MemWrite]>]> {
  let summary = "an index that is data, checked";
  let description = [{
    `value` where it is at least 0 and below `bound`. Else 0, and the call ends with an error at number `place` of the
    program's places.

    - (loops_bounded1) `place` is not negative.
  }];
  let arguments = (ins Index:$value, Index:$bound, I64Attr:$place);
  let results = (outs Index:$result);
  let assemblyFormat = "$value `below` $bound `place` $place attr-dict";
  let hasVerifier = 1;
}

#endif // LOOPS_OPS
