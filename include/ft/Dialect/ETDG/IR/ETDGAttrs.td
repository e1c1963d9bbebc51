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
    I32EnumCase<"Unroll", 3, "unroll">]> {
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

def ETDG_WriteAttr : ETDG_Attr<"Write", "write"> {
  let summary = "where a block writes: element `map(point)` of buffer operand `operand`";
  let parameters = (ins "int64_t":$operand, "::mlir::AffineMapAttr":$map);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ETDG_LoopAttr : ETDG_Attr<"Loop", "loop"> {
  let summary = "one loop of a schedule, over a transformed dimension";
  let description = [{
    `dimension` is a row of the schedule's map, `tile` a tile size (1: the points
    themselves; a dimension may occur several times with falling tiles). `level` says
    what a parallel loop runs on: `core` on a CPU; `grid`, `cluster`, `block`, `warp`,
    `thread` on a GPU; empty: the engine chooses.
  }];
  let parameters = (ins "int64_t":$dimension, DefaultValuedParameter<"int64_t", "1">:$tile,
                        EnumParameter<ETDG_LoopKind>:$kind, OptionalParameter<"::mlir::StringAttr">:$level);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ETDG_PlacementAttr : ETDG_Attr<"Placement", "placement"> {
  let summary = "where a read is staged: at which loop, in which memory, in how many stages";
  let parameters = (ins "int64_t":$read, "int64_t":$loop, "::mlir::StringAttr":$level, "int64_t":$stages);
  let assemblyFormat = "`<` struct(params) `>`";
}

def ETDG_ScheduleAttr : ETDG_Attr<"Schedule", "schedule"> {
  let summary = "an affine schedule T·i + o, its loops and the placement of reads";
  let description = [{
    `map` takes the iteration vector (own dimensions of the nest or block) to
    transformed dimensions; its linear part is the unimodular T of FT §5.2 and its
    offset is constant. Loops run outermost first; every transformed dimension occurs.
    ```mlir
    #etdg.schedule<map = affine_map<(i, j, k) -> (j + k, j, i)>,
      loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]>
    ```
  }];
  let parameters = (ins "::mlir::AffineMapAttr":$map, OptionalArrayRefParameter<"::mlir::etdg::LoopAttr">:$loops,
                        OptionalArrayRefParameter<"::mlir::etdg::PlacementAttr">:$placements);
  let assemblyFormat = [{
    `<` `map` `=` $map (`,` `loops` `=` `[` $loops^ `]`)? (`placements` `=` `[` $placements^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif // ETDG_ATTRS
