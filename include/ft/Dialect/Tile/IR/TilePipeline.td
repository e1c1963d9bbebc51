//===- TilePipeline.td - roles and channels of a kernel ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How operands of products come to shared memory while others are multiplied: fetches by TMA, warp groups with roles, channels between them, and
// products in flight. Part of TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PIPELINE
#define TILE_PIPELINE

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

def Tile_PipelineAttr : AttrDef<Tile_Dialect, "Pipeline"> {
  let mnemonic = "pipeline";
  let summary = "the roles of a kernel's warp groups, and how far one runs ahead of the others";
  let description = [{
    `#tile.pipeline<slots = 4, loaders = 1, computers = 2, registers = [24, 240]>`, the attribute `tile.pipeline` of a kernel. Its `computers` are warp groups
    of 128 threads, all that its blocks have otherwise. Beside them `loaders` fetch operands of products by TMA, up to `slots` steps ahead. A thread of a loader
    may have the first number of `registers`, one that computes the second (PTX `setmaxnreg`).

    (K1) At least one slot. (K2) One loader, 1 to 3 computers. (K3) Registers in eights, 24 to 256. All groups together have no more than the 64 Ki of an SM, as
    the hardware deals them: in eights to each thread of the block.
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$loaders, "int64_t":$computers, ArrayRefParameter<"int64_t">:$registers);
  let assemblyFormat = [{
    `<` `slots` `=` $slots `,` `loaders` `=` $loaders `,` `computers` `=` $computers `,` `registers` `=` `[` $registers `]` `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getComputerThreads() const { return getComputers() * groupThreads; }
    int64_t getThreads() const { return (getComputers() + getLoaders()) * groupThreads; }
    /// Threads of a warp group.
    static constexpr int64_t groupThreads = 128;
    static constexpr int64_t mostComputers = 3;
    /// What `setmaxnreg` leaves a thread at least.
    static constexpr int64_t leastRegisters = 24;
  }];
}

def Tile_InFlightType : Tile_Type<"InFlight", "in_flight"> {
  let summary = "sums that a product is about to write";
  let description = [{
    `!tile.in_flight<!tile.registers<128x256xf32, #layout>>`: what `tile.start_mma` gives. It is no tile before `tile.await`; another product may add to it.
  }];
  let parameters = (ins "RegistersType":$sums);
  let assemblyFormat = "`<` $sums `>`";
}

def Tile_ChannelType : Tile_Type<"Channel", "channel"> {
  let summary = "a queue of shared tiles from one role to others";
  let description = [{
    `!tile.channel<[!tile.shared<128x64xf16, swizzle = 128, stages = 1>, …], slots = 4>`: each of the `slots` holds a tile of each type, one after the other, or
    other tiles that take no more bytes.
    One role writes a slot, each group of the other role reads it; what is written first is read first, by each of them.

    (C1) at least one tile, one stage each, swizzled, and at least one slot; (C2) each tile takes a multiple of 1024 bytes.
  }];
  let parameters = (ins ArrayRefParameter<"SharedType">:$tiles, "int64_t":$slots);
  let assemblyFormat = "`<` `[` $tiles `]` `,` `slots` `=` $slots `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of a slot, which a barrier expects; and of all of them with their two barriers each.
    int64_t getSlotBytes() const;
    int64_t getBytes() const { return getSlots() * (getSlotBytes() + 2 * barrierBytes); }
    static constexpr int64_t barrierBytes = 8, alignment = 1024;
  }];
}

//===----------------------------------------------------------------------===//
// Operands of products
//===----------------------------------------------------------------------===//

def Tile_FetchOp : Tile_Op<"fetch", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "a part of a tensor as a tile in shared memory";
  let description = [{
    ```mlir
    %a = tile.fetch %map[%row, %term] : !tile.tensor_map<128x64xf16, swizzle = 128> -> !tile.shared<128x64xf16, swizzle = 128, stages = 1>
    ```
    The tile begins at the coordinates, the slowest first; elements outside of the tensor are zeros. A box is a slab of the tile (`!tile.shared`): those that
    follow lie one after the other along the last dimension. Where in shared memory the tile lies, and who copies it when, is open: `tile-make-channels` decides.

    With several maps the tile has a part of each, of equal size: the weights of gates that one product multiplies. Parts lie one after the other along the
    rows if a box has fewer rows than the tile, else along the columns. Coordinates of the first map come first.

    With conditions the tile is fetched by the first map whose condition holds. The first layer reads the input, the others what the layer below has written.

    (1) A coordinate for each dimension of each map. (2) Elements and swizzle are those of the maps. (3) A box has the rows of a part, and columns of one slab.
    (4) Parts are whole eights of rows, or whole slabs. (5) No condition, or one for each map but the last.
  }];
  let arguments = (ins Variadic<Tile_TensorMapType>:$maps, Variadic<I64>:$coordinates, Variadic<I1>:$conditions);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$maps `[` $coordinates `]` (`if` $conditions^)? attr-dict `:` qualified(type($maps)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Coordinates of one of the maps.
    ::mlir::ValueRange getCoordinatesOf(unsigned number);
    /// Parts that lie side by side in the tile, one if maps are alternatives.
    int64_t getParts() { return getConditions().empty() ? int64_t(getMaps().size()) : 1; }
  }];
}

def Tile_StartFetchOp : Tile_Op<"start_fetch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins to copy a part of a tensor into a tile";
  let description = [{
    What `tile.fetch` says of one map, on its way into `tile` when this returns; its bytes count at the barrier when they have landed. Of `parts` that the tile
    has it is number `part`.

    (1) to (4) as `tile.fetch`; (5) there is such a part.
  }];
  let arguments = (ins Tile_TensorMapType:$map, Variadic<I64>:$coordinates, Tile_SharedType:$tile, Tile_SharedPointer:$barrier,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$part, DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$parts);
  let builders = [OpBuilder<(ins "::mlir::Value":$map, "::mlir::ValueRange":$coordinates, "::mlir::Value":$tile, "::mlir::Value":$barrier), [{
    build($_builder, $_state, map, coordinates, tile, barrier, /*part=*/uint64_t(0), /*parts=*/uint64_t(1));
  }]>];
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $tile `counts` $barrier attr-dict `:` qualified(type($map)) `->` qualified(type($tile))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

def Tile_StartMmaOp : Tile_Op<"start_mma", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins to add the product of two shared tiles";
  let description = [{
    The product of `tile.mma` with `wgmma`, on its way: the tiles are read, and the sums written, until `tile.await`.

    (1) to (5) as `tile.mma`; the sums to add to are a tile or in flight themselves.
  }];
  let arguments = (ins AnyTypeOf<[Tile_RegistersType, Tile_InFlightType]>:$accumulator, AnyTypeOf<[Tile_SharedType, Tile_RegistersType]>:$lhs, Tile_SharedType:$rhs,
                       UnitAttr:$lhs_transposed, UnitAttr:$rhs_transposed);
  let results = (outs Tile_InFlightType:$result);
  let assemblyFormat = [{
    $accumulator `,` $lhs `,` $rhs attr-dict `:` qualified(type($accumulator)) `,` qualified(type($lhs)) `,` qualified(type($rhs)) `->` qualified(type($result))
  }];
  let extraClassDeclaration = [{
    /// The left operand's type in shared memory; null where it is in registers.
    SharedType getLhsType() { return ::llvm::dyn_cast<SharedType>(getLhs().getType()); }
  }];
  let hasVerifier = 1;
}

def Tile_GroupMmaOp : Tile_Op<"wgmma", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["sums", "result"]>]> {
  let summary = "the instruction wgmma with its left operand in registers";
  let description = [{
    `wgmma.mma_async` of 64 rows, `columns` columns and 16 terms (PTX ISA, wgmma, "A from registers"). NVVM has no operation for it. The left operand is four
    registers of two halves each. The right operand is a matrix descriptor. `bf16` says of halves that they are bf16; `rhs_rows` that the right operand's terms are
    rows in shared memory. The other instructions of a product stand around it as around NVVM's.

    (1) Four registers. (2) The sums are a structure of half as many floats as there are columns.
  }];
  let arguments = (ins LLVM_AnyStruct:$sums, Variadic<I32>:$lhs, I64:$rhs, I64Attr:$columns, UnitAttr:$bf16, UnitAttr:$rhs_rows);
  let results = (outs LLVM_AnyStruct:$result);
  let assemblyFormat = "$sums `,` `[` $lhs `]` `,` $rhs `columns` $columns attr-dict `:` type($sums)";
  let hasVerifier = 1;
}

def Tile_AwaitOp : Tile_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for products in flight";
  let description = [{
    Until of the products that this group has started at most `behind` of the last ones are in flight. (1) The result is the sums' tile.
  }];
  let arguments = (ins Tile_InFlightType:$sums, DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$behind);
  let results = (outs Tile_RegistersType:$result);
  let assemblyFormat = "$sums attr-dict `:` qualified(type($sums)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Roles and channels
//===----------------------------------------------------------------------===//

def Tile_RolesOp : Tile_Op<"roles", [NoTerminator, RecursiveMemoryEffects]> {
  let summary = "what warp groups of different roles do side by side";
  let description = [{
    ```mlir
    tile.roles #tile.pipeline<slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
      …
    } compute {
      …
    }
    ```
    The first `computers` warp groups of a block run `compute` together, the last one `load`. Barriers of the whole block are no part of either.

    (1) one block each, without arguments; (2) it stands in a kernel, after all that both use.
  }];
  let arguments = (ins Tile_PipelineAttr:$pipeline);
  let regions = (region SizedRegion<1>:$load, SizedRegion<1>:$compute);
  let assemblyFormat = "$pipeline `load` $load `compute` $compute attr-dict";
  let hasVerifier = 1;
}

def Tile_ChannelOp : Tile_Op<"channel", [Pure]> {
  let summary = "a channel in shared memory";
  let description = [{
    (1) The memory begins at a multiple of 1024 bytes. First slots lie there, then a barrier for each that says it is full, then one for each that says it is free.
  }];
  let arguments = (ins Tile_SharedPointer:$memory);
  let results = (outs Tile_ChannelType:$result);
  let assemblyFormat = "$memory attr-dict `:` qualified(type($result))";
}

def Tile_AcquireOp : Tile_Op<"acquire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the next slot of a channel, once all readers have left it";
  let description = [{
    Gives the slot's tiles, and the barrier at which what lands in them counts. `at` says how many slots have been taken before (`tile-place-slots`).

    (1) the results are tiles that fit a slot, then a pointer.
  }];
  let arguments = (ins Tile_ChannelType:$channel, Optional<I32>:$position);
  let results = (outs Variadic<Tile_SharedType>:$tiles, Tile_SharedPointer:$barrier);
  let assemblyFormat = "$channel (`at` $position^)? attr-dict `:` qualified(type($channel)) `->` type($tiles)";
  let hasVerifier = 1;
}

def Tile_AheadOp : Tile_Op<"ahead", [Pure]> {
  let summary = "a slot of a channel that nothing has used yet";
  let description = [{
    ```mlir
    %b:2, %full = tile.ahead %channel at %number : !tile.channel<…> -> !a, !b
    ```
    What `tile.acquire` gives for the same number, which is less than that of the slots. Nothing is waited for. What is fetched into some of the tiles counts at the barrier
    beside what is fetched into the others later, once the slot is acquired; `tile.publish` counts all.

    (1) the results are tiles that fit a slot, then a pointer. (2) It stands in the loading role.
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$position);
  let results = (outs Variadic<Tile_SharedType>:$tiles, Tile_SharedPointer:$barrier);
  let assemblyFormat = "$channel `at` $position attr-dict `:` qualified(type($channel)) `->` type($tiles)";
  let hasVerifier = 1;
}

def Tile_PublishOp : Tile_Op<"publish", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the slot acquired last is full once all of its bytes have landed";
  let description = [{So many `bytes`, 0: as many as a slot has.}];
  let arguments = (ins Tile_ChannelType:$channel, Optional<I32>:$position, DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$bytes);
  let assemblyFormat = "$channel (`at` $position^)? attr-dict `:` qualified(type($channel))";
}

def Tile_ReceiveOp : Tile_Op<"receive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the next full slot of a channel";
  let description = [{(1) the results are tiles that fit a slot, those that were put into it.}];
  let arguments = (ins Tile_ChannelType:$channel, Optional<I32>:$position);
  let results = (outs Variadic<Tile_SharedType>:$tiles);
  let assemblyFormat = "$channel (`at` $position^)? attr-dict `:` qualified(type($channel)) `->` type($tiles)";
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_Op<"release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "this group reads the slot received last no more";
  let arguments = (ins Tile_ChannelType:$channel, Optional<I32>:$position);
  let assemblyFormat = "$channel (`at` $position^)? attr-dict `:` qualified(type($channel))";
}

//===----------------------------------------------------------------------===//
// What is known at the end
//===----------------------------------------------------------------------===//

def Tile_JoinOp : Tile_Op<"join", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the loading role goes on once all computing threads are here";
  let description = [{
    It stands after a grid barrier, which the computing role alone takes part in. What threads of the grid wrote before the barrier is seen by fetches after it. `at` says
    how many have come before (`tile-place-slots`). The computing role waits for the loading one no longer than until that has come to the join before.

    (1) It stands in a kernel with `tile.pipeline`, or in a role.
  }];
  let arguments = (ins Optional<I32>:$position);
  let assemblyFormat = "(`at` $position^)? attr-dict";
}

def Tile_FlagOp : Tile_Op<"flag", [Pure]> {
  let summary = "what has happened in any thread of a block";
  let description = [{
    ```mlir
    %flag = tile.flag 0
    ```
    32 bits in shared memory, none of which is set when the kernel begins. The number tells the flag from others of the kernel.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number);
  let results = (outs Tile_SharedPointer:$result);
  let assemblyFormat = "$number attr-dict";
}

def Tile_RaiseOp : Tile_Op<"raise", [MemoryEffects<[MemWrite]>]> {
  let summary = "sets bits of a flag";
  let arguments = (ins Tile_SharedPointer:$flag, I32:$bits);
  let assemblyFormat = "$flag `,` $bits attr-dict";
}

def Tile_RaisedOp : Tile_Op<"raised", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the bits of a flag that any thread has set";
  let description = [{
    Waits for what the computing threads do before. All roles have the same answer. A kernel asks once, and raises the flag only before: no loop or branch is around it, but a
    branch for the first iteration of a loop.
  }];
  let arguments = (ins Tile_SharedPointer:$flag);
  let results = (outs I32:$result);
  let assemblyFormat = "$flag attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_PIPELINE
