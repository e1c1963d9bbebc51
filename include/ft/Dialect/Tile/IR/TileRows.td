//===- TileRows.td - rows in registers ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that lanes of a thread block keep in registers: layouts, types and operations. Part of TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ROWS
#define TILE_ROWS

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_RowAttr : AttrDef<Tile_Dialect, "Row"> {
  let mnemonic = "row";
  let summary = "a layout: lanes share a row, each access of a lane is of adjacent elements";
  let description = [{
    `#tile.row<threads = 256, lanes = 32, width = 4, rows = 2>`: `lanes` neighbouring threads are a group and share a row. A
    row is cut into accesses of `width` elements; access a belongs to lane a mod `lanes`, of which it is access a / `lanes`.
    The threads have `rows` rows for each group at a time: row r belongs to group r mod (`threads` / `lanes`).

    With `line = 32` a row may begin up to 31 accesses after lane 0, as far as it does after a line of so many accesses in
    memory: then a warp meets one line at a time. Lanes have room for that.

    (W1) numbers are at least 1, `lanes` and `line` powers of two; (W2) a group is part of a warp of 32, or all threads, which
    then have one row at a time and are at most 32 warps; (W3) no number is greater than 2^20.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$lanes, DefaultValuedParameter<"int64_t", "1">:$width,
                        DefaultValuedParameter<"int64_t", "1">:$rows, DefaultValuedParameter<"int64_t", "1">:$line);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getGroups() const { return getThreads() / getLanes(); }
    /// Rows that the threads have at a time.
    int64_t getRowsAtOnce() const { return getGroups() * getRows(); }
    /// Accesses of a lane for a row of so many elements.
    int64_t getChunks(int64_t length) const { return (length / getWidth() + getLine() + getLanes() - 2) / getLanes(); }
    RowAttr withRows(int64_t rows) const { return get(getContext(), getThreads(), getLanes(), getWidth(), rows, getLine()); }
    /// Of what each lane has for itself: an access of a row that begins at lane 0.
    RowAttr ofLanes() const { return get(getContext(), getThreads(), getLanes(), getWidth(), getRows(), /*line=*/1); }
  }];
}

def Tile_SlicedAttr : AttrDef<Tile_Dialect, "Sliced"> {
  let mnemonic = "sliced";
  let summary = "a layout: one value for each row, which all lanes of the row have";
  let description = [{`#tile.sliced<of = #tile.row<threads = 256, lanes = 32>>`: what a reduction leaves of rows.}];
  let parameters = (ins "RowAttr":$of);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_RowPlaceAttr : AttrDef<Tile_Dialect, "RowPlace"> {
  let mnemonic = "row_place";
  let summary = "where the rows of a leaf lie in memory";
  let description = [{
    `#tile.row_place<f32, offset = 3, digits = [64], step = 1>`: element e of a row lies `offset` + e · `step` elements after
    where memory begins, and `digits` more for each index of its point. An `i1` takes a byte in memory.

    (C1) elements are integers or floats, `i1` or of whole bytes.
  }];
  let parameters = (ins "Type":$element, "int64_t":$offset, ArrayRefParameter<"int64_t">:$digits, "int64_t":$step);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getElementBytes() const { return (getElement().getIntOrFloatBitWidth() + 7) / 8; }
  }];
}

def Tile_RowAccessesAttr : AttrDef<Tile_Dialect, "RowAccesses", [Tile_NestPoints]> {
  let mnemonic = "row_accesses";
  let summary = "in which accesses lanes bring rows of a leaf into registers and leave them in memory";
  let description = [{
    `#tile.row_accesses<widths = [4, 1, 4], line = 2>`, the one of a leaf's `nests` where its layout keeps rows in registers. `widths`: for each place in memory that its loop
    nests read, begin sums with and write, nest by nest and member by member, each place once, how many adjacent elements of a row are one access. With `line` lanes count from
    where a line of memory begins, and this is the number of the place whose rows decide that.

    (A1) widths are powers of two, at least 1; (A2) `line` is the number of a place, or -1 where rows begin at lane 0.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$widths, DefaultValuedParameter<"int64_t", "-1">:$line);
  let assemblyFormat = "`<` `widths` `=` `[` $widths `]` (`,` `line` `=` $line^)? `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Tile_RowsType : Tile_Type<"Rows", "rows"> {
  let summary = "rows of which each lane holds some elements, or one value for each row";
  let description = [{
    `!tile.rows<16x4096xf32, #tile.row<threads = 256, lanes = 32, width = 4, rows = 2>>`: as many rows as the threads have at
    a time. `!tile.rows<16xf32, #tile.sliced<of = …>>`: a value for each of these rows.

    (F1) a number of rows and, with `#tile.row`, of elements that accesses divide, all of integers or floats; (F2) as many
    rows as the layout has at a time; (F3) a lane has at most 2^16 elements of them.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType, "Attribute":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isSliced() const { return isa<SlicedAttr>(getLayout()); }
    /// The layout of the rows, whole or sliced.
    RowAttr getRow() const { return isSliced() ? cast<SlicedAttr>(getLayout()).getOf() : cast<RowAttr>(getLayout()); }
    int64_t getLength() const { return isSliced() ? 1 : getShape()[1]; }
    /// Accesses of a lane along a row, and the elements of each.
    int64_t getChunks() const { return isSliced() ? 1 : getRow().getChunks(getLength()); }
    int64_t getWidth() const { return isSliced() ? 1 : getRow().getWidth(); }
    /// Elements that a thread holds.
    int64_t getNumOwn() const { return getRow().getRows() * getChunks() * getWidth(); }
    static RowsType getSliced(RowAttr row, Type element) {
      int64_t rows = row.getRowsAtOnce();
      return get(row.getContext(), rows, element, SlicedAttr::get(row.getContext(), row));
    }
    static RowsType getWhole(RowAttr row, int64_t length, Type element) {
      return get(row.getContext(), {row.getRowsAtOnce(), length}, element, row);
    }
    /// What lanes have of reductions of such rows before they join it: an access for each lane.
    static RowsType getPartial(RowAttr row, Type element) {
      return getWhole(row.ofLanes(), row.getLanes() * row.getWidth(), element);
    }
  }];
}

def Tile_PointsType : Tile_Type<"Points", "points"> {
  let summary = "which rows the threads of a block have at a time";
  let description = [{
    `!tile.points<[8, 16], 4096, #tile.row<…>>`: rows of 4096 elements; each belongs to a row of the leaf and to a point of 8
    × 16, which are counted one after the other. `masked`: the last ones may be missing; such rows are copies of the last one,
    and not stored. `shifted`: a row begins as far after lane 0 as it does after a line of memory.

    (Q1) numbers are at least 1, and accesses divide the length; (Q2) what is shifted has lines of more than one access;
    (Q3) a row has at most 2^20 elements.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$digits, "int64_t":$length, "RowAttr":$layout, "bool":$masked, "bool":$shifted);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getChunks() const { return getLayout().getChunks(getLength()); }
    /// Whether some lane may be outside of a row at its access of this number.
    bool isPartial(int64_t chunk) const {
      int64_t first = chunk * getLayout().getLanes();
      return isBehindLine(chunk) || first + getLayout().getLanes() > getLength() / getLayout().getWidth();
    }
    /// Whether rows may begin after some lane.
    bool isBehindLine(int64_t chunk) const { return getShifted() && chunk * getLayout().getLanes() < getLayout().getLine(); }
    /// Rows whose accesses differ in where they lie.
    int64_t getSets() const { return getShifted() ? getLayout().getRows() : 1; }
    /// Points for each row of the leaf.
    int64_t getNumPoints() const {
      int64_t count = 1;
      for (int64_t digit : getDigits())
        count *= digit;
      return count;
    }
  }];
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

def Tile_LanesOp : Tile_Op<"lanes", [Pure]> {
  let summary = "the threads of a block as lanes, all at the first row";
  let description = [{
    What is the same for all rows is computed here: each group of lanes has row 0 of the leaf, at its first point. `thread` is
    the thread's number in its block.

    (1) one row for each group, neither masked nor shifted.
  }];
  let arguments = (ins I32:$thread);
  let results = (outs Tile_PointsType:$result);
  let assemblyFormat = "$thread attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_PointsOp : Tile_Op<"points", [Pure, AttrSizedOperandSegments]> {
  let summary = "the rows from one on";
  let description = [{
    Rows are counted from `first` on, below `total`. Shifted ones begin where those at `line` do: at `place` after a pointer,
    `stride` elements further for each row of the leaf.
    ```mlir
    %p = tile.points %lanes from %i to %total line %out stride %s at <f32, offset = 0, digits = [4099], step = 1>
        : !tile.points<[8], 4099, #tile.row<…, line = 32>>, !llvm.ptr<1> -> !tile.points<[8], 4099, #tile.row<…, line = 32>, shifted>
    ```
    (1) points and layout are those of the lanes, but for how many rows a group has; (2) masked if and only if the threads
    have more than one row at a time; (3) a pointer with a place that has as many digits as the points, if and only if
    shifted.
  }];
  let arguments = (ins Tile_PointsType:$lanes, I64:$first, I64:$total, Optional<LLVM_AnyPointer>:$line, Optional<I64>:$stride,
                       OptionalAttr<Tile_RowPlaceAttr>:$place);
  let results = (outs Tile_PointsType:$result);
  let assemblyFormat = [{
    $lanes `from` $first `to` $total (`line` $line^)? (`stride` $stride^)? (`at` $place^)? attr-dict `:`
    qualified(type($lanes)) (`,` type($line)^)? `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadRowsOp : Tile_Op<"load_rows", [RecursiveMemoryEffects, MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "rows, or a value for each, into registers";
  let description = [{
    Rows lie at `place` after a pointer, `stride` elements further for each row of the leaf. The body, where there is one, is
    computed for each access and says where it begins in the place of the place's offset: rows that begin where data says.
    `width` adjacent elements are one access. Lanes outside of a row read elements of it again. Where `if` holds, nothing is
    read: all elements of the leaf's row r are `value` + r · `step`.
    ```mlir
    %x = tile.load_rows %p, %in stride %s if %known value %v step %d at <f32, offset = 0, digits = [64], step = 1> {width = 4 : i64}
        : !tile.points<…>, !llvm.ptr<1>, f32 -> !tile.rows<16x64xf32, #tile.row<…>>
    ```
    `uniform`: the rows are one row, which is read once for all that a lane has.

    (1) rows of the points' layout and length, or one value for each of them where the place does not step; elements are the
    place's; (2) a digit of the place for each of the points; (3) `width` is 1 or the layout's, of adjacent elements of whole
    bytes, 16 bytes at most; (4) a value has the element's type, or is an integer that is cut to it, and a condition; (5)
    uniform rows have no stride, digits that are 0, no index in the body, and begin at the same lane; (6) the body yields an
    i64.
  }];
  let arguments = (ins Tile_PointsType:$points, LLVM_AnyPointer:$pointer, Optional<I64>:$stride, Optional<I1>:$if_value,
                       Optional<AnyTypeOf<[AnySignlessInteger, AnyFloat]>>:$value, Optional<AnyTypeOf<[AnySignlessInteger, AnyFloat]>>:$step,
                       Tile_RowPlaceAttr:$place, DefaultValuedAttr<I64Attr, "1">:$width, UnitAttr:$uniform);
  let results = (outs Tile_RowsType:$result);
  let regions = (region MaxSizedRegion<1>:$begin);
  let assemblyFormat = [{
    $points `,` $pointer (`stride` $stride^)? (`if` $if_value^)? (`value` $value^ `:` type($value))? (`step` $step^ `:` type($step))?
    `at` $place attr-dict `:` qualified(type($points)) `,` type($pointer) `->` qualified(type($result)) ($begin^)?
  }];
  let hasVerifier = 1;
}

def Tile_StoreRowsOp : Tile_Op<"store_rows", [MemoryEffects<[MemWrite]>]> {
  let summary = "rows in registers, or a value for each, into memory";
  let description = [{
    The opposite of `tile.load_rows`. Elements outside of a row are not written, nor are rows that are missing. A value for
    each row is written by the row's first lane.

    (1) to (3) as for `tile.load_rows`.
  }];
  let arguments = (ins Tile_RowsType:$rows, Tile_PointsType:$points, LLVM_AnyPointer:$pointer, Optional<I64>:$stride,
                       Tile_RowPlaceAttr:$place, DefaultValuedAttr<I64Attr, "1">:$width);
  let assemblyFormat = [{
    $rows `,` $points `,` $pointer (`stride` $stride^)? `at` $place attr-dict `:` qualified(type($rows)) `,` qualified(type($points)) `,`
    type($pointer)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rows in registers
//===----------------------------------------------------------------------===//

def Tile_RowTile : AnyTypeOf<[Tile_RowsType, Tile_PointsType]>;

def Tile_SweepOp : Tile_Op<"sweep", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "operations on rows that are computed together, an access at a time";
  let description = [{
    Says in which order the operations inside are computed, and nothing of what they are: all of them for a lane's first
    access of each of its rows, then all for the next one. So what one hands to another does not wait in registers for the
    rest of the row.
    ```mlir
    %y, %s = tile.sweep (%p, %x, %m) : (!tile.points<…>, !rows, !sliced) -> (!rows, !partial) {
    ^bb0(%q: !tile.points<…>, %a: !rows, %b: !sliced):
      %e = tile.map_rows %q (%a, %b) : …
      %t = tile.accumulate %q (%e) from (%zero) : …
      tile.yield %e, %t : !rows, !partial
    }
    ```
    (1) the body's arguments are the operands' types, and what it yields the results'; (2) rows and points come in as
    operands; (3) what is inside is `tile.map_rows`, `tile.accumulate`, `tile.reduce_rows` and `tile.load_rows`; (4) all of it
    works on elements of rows of one layout and length, or all on one value for each row.
  }];
  let arguments = (ins Variadic<Tile_RowTile>:$inputs);
  let results = (outs Variadic<Tile_RowsType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Tile_MapRowsOp : Tile_Op<"map_rows", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "computes rows element by element";
  let description = [{
    The body gets one element of each operand, of sliced ones the row's value, and yields one of each result. `tile.index`
    says in it which element it is. It is computed for elements of the row alone, as far as anybody sees: lanes outside of it
    compute on copies.

    (1) results are rows of the points' layout and length, or all of them one value for each row, as the operands are then;
    (2) operands are rows of the points' layout and length, or sliced; (3) the body's arguments and yielded values are their
    elements.
  }];
  let arguments = (ins Tile_PointsType:$points, Variadic<Tile_RowsType>:$inputs);
  let results = (outs Variadic<Tile_RowsType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$points `(` $inputs `)` attr-dict `:` functional-type(operands, $results) $body";
  let hasVerifier = 1;
}

def Tile_AccumulateOp : Tile_Op<"accumulate", [RecursiveMemoryEffects, AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "combines the elements that each lane has of a row";
  let description = [{
    The body gets one element of each input, then what has been combined so far, which begins as `from`, and yields what it is
    then. A lane has as many results for each row as an access has elements: what stands at one place of its accesses is
    combined in their order. `tile.reduce_rows` puts together what the lanes have.

    (1) operands as for `tile.map_rows`; (2) a result for each value that it begins with, `lanes` · `width` elements of its
    type for each row, in accesses that begin at lane 0; (3) the body takes elements of the operands and of the results, and
    yields those of the results.
  }];
  let arguments = (ins Tile_PointsType:$points, Variadic<Tile_RowsType>:$inputs,
                       Variadic<AnyTypeOf<[AnySignlessInteger, AnyFloat]>>:$neutral);
  let results = (outs Variadic<Tile_RowsType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $points `(` $inputs `)` `from` `(` $neutral `)` attr-dict `:` functional-type(operands, $results) $body
  }];
  let hasVerifier = 1;
}

def Tile_ReduceRowsOp : Tile_Op<"reduce_rows", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "combines what the lanes of a row have: one value for each row, which all its lanes get";
  let description = [{
    In an order that the layout decides: a lane's own elements, then a butterfly of shuffles among the lanes of a warp, and,
    where a block shares a row, one partial result of each warp through shared memory: `through` a pointer to places of 8
    bytes for each warp, of which those from number `slot` times the warps on are this operation's. It waits for all threads
    then; before its places are used again a user has to.

    (1) an access for each lane, of which a value for each row is made; (2) the body takes two elements and yields one; (3)
    `through` if and only if a row has more than a warp of 32 lanes; (4) elements of 1, 8, 16, 32 or 64 bits.
  }];
  let arguments = (ins Tile_PointsType:$points, Tile_RowsType:$input, Optional<Tile_SharedPointer>:$scratch,
                       DefaultValuedAttr<I64Attr, "0">:$slot);
  let results = (outs Tile_RowsType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $points `,` $input (`through` $scratch^)? attr-dict `:` qualified(type($points)) `,` qualified(type($input)) `->` qualified(type($result)) $body
  }];
  let hasVerifier = 1;
}

def Tile_SpreadOp : Tile_Op<"spread", [Pure]> {
  let summary = "what is the same for all rows, for as many rows as the threads have at a time";
  let description = [{
    (1) a value for each row, of which each group of lanes has one before; the layouts are the same but for that.
  }];
  let arguments = (ins Tile_RowsType:$input);
  let results = (outs Tile_RowsType:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_IndexOp : Tile_Op<"index", [Pure, ParentOneOf<["MapRowsOp", "AccumulateOp", "LoadRowsOp", "ReadOp", "WriteOp",
    "MapPointsOp", "ReducePointsOp"]>]> {
  let summary = "which element is computed";
  let description = [{
    Number 0 is the row of the leaf, those after it the digits of its point, the last one the element of the row. In a nest number 1 is the
    lift, those after it the iterations of its loops.

    (1) a number of these; the element's only where elements of rows are computed, iterations where nothing begins in memory.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number);
  let results = (outs I64:$result);
  let assemblyFormat = "$number attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_ROWS
