//===- FTOps.td - operations of the ft dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_OPS
#define FT_OPS

include "ft/Dialect/FT/IR/FTTypes.td"
include "ft/Dialect/FT/IR/FTInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

/// No operation invents a name: those in its types are bound by the function's arguments.
def FT_NamesBound : NativeOpTrait<"NamesBound"> { let cppNamespace = "::mlir::ft"; }

class FT_Op<string mnemonic, list<Trait> traits = []> : Op<FT_Dialect, mnemonic, traits # [FT_NamesBound]>;

//===----------------------------------------------------------------------===//
// Compute operators
//===----------------------------------------------------------------------===//

def ComputeOps : OpDocGroup {
  let summary = "Array compute operators (FT Table 1)";
  let description = [{
    They traverse the outermost dimension of one or several lists of equal length
    n and apply the region to the elements. An *aggregate* carries states: the
    region takes them before the elements and yields the new ones. What follows
    `emit` in the yield is collected in a list and not carried.

    Meaning, for elements x_0 … x_{n-1}, initial state s and body f:

    | operator | result |
    |---|---|
    | `map` | [f(x_0), …, f(x_{n-1})] |
    | `foldl` | f(… f(f(s, x_0), x_1) …, x_{n-1}); s where n = 0 |
    | `foldr` | f(… f(f(s, x_{n-1}), x_{n-2}) …, x_0) |
    | `scanl` | [f(s, x_0), f(f(s, x_0), x_1), …]: inclusive, n results |
    | `scanr` | reverse(scanl(f, s, reverse(xs))) |
    | `reduce`, `fold` | as `foldl`, and may be re-associated |
    | `scan` | as `scanl`, and may be re-associated |

    With `lag d`, a length, the state of a scan comes from iteration i - d, and is the
    initial one for the first d iterations. Without `init` the first element is
    the initial state and the traversal starts at the second; the length must then
    be at least 1 by the function's bounds. The states' names then come from
    `state`: `ft.reduce (%x = %xs : !ft.list<[L], !x>) state (%s) { ... }`.

    A list of constant length may be gone through with a length of its own at each element:
    `for d in [1, 2, 4]` says that in the body the name d is 1 at element 0, 2 at element 1 and 4 at
    element 2. Lags, shifts, sizes and dilations of windows, slices, types of lists may
    use it as any other length: layers of a dilated network are one operator. `ft-unroll` puts
    the layers in its place at the start of the `ft` phase.
    ```mlir
    %out = ft.foldl (%w = %ws : !ft.list<[3], !w>) init (%xs = %in : !ft.list<[L], !x>) for d in [1, 2, 4] {
      %past = ft.shift %xs by d fill %zero : !ft.list<[L], !x>, !x
      ...
    }
    ```

    Types of region arguments follow from the operands and are not written;
    result types follow from the yield and may be left out.

    Constraints:
    - (C1) all lists have the same outermost length;
    - (C2) region arguments: the states' types, then each list's peeled type;
    - (C3) the yielded states have the states' types, and there are as many;
    - (C4) without `init` there is one state for each list with the element's
      type, nothing is emitted, the lag is 1, and the length is provably ≥ 1;
    - (C5) `reduce`, `fold` and `scan` may be re-associated: either state and
      element types agree one by one, or `combine` is given; else use the `l` form.
      A `reduce` or `fold` emits nothing, for the states it sees depend on the
      association; the ordered forms take neither `combine` nor `identity`;
    - (C6) `combine` takes the states twice and yields them once; `identity`
      gives one value for each state;
    - (C7) `lag` is a length of which ≥ 1 follows from the bounds, on scans only;
    - (C8) result types are those inferred from the yield;
    - (C9) an aggregate carries at least one state, a map yields at least one value;
    - (C10) a region uses no value from outside the function and has one block;
    - (C11) `for` gives as many constants, each ≥ 0, as the lists have elements; its name is bound
      by no argument and no operator around, and occurs in no type outside of the body; the operator has
      neither `combine` nor a lag with a name, for its elements are taken one by one.
  }];
}

class FT_ComputeOp<string mnemonic, list<Trait> traits = []> : FT_Op<mnemonic, traits # [
    DeclareOpInterfaceMethods<FT_ComputeOpInterface, ["getKind", "getLists", "getBody", "getInits", "getIdentities", "getCombineOrNull", "getLagOrOne", "getLayerName", "getLayerValues"]>,
    RecursivelySpeculatable, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let results = (outs Variadic<FT_Value>:$results);
}

class FT_AggregateOp<string mnemonic> : FT_ComputeOp<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = (ins Variadic<FT_AnyList>:$lists_, Variadic<FT_Value>:$inits_, Variadic<FT_Value>:$identities_,
                       OptionalAttr<FT_LengthAttr>:$lag, OptionalAttr<StrAttr>:$layer,
                       OptionalAttr<DenseI64ArrayAttr>:$layers);
  let regions = (region SizedRegion<1>:$body_, AnyRegion:$combine_);
}

let opDocGroup = ComputeOps in {

def FT_MapOp : FT_ComputeOp<"map"> {
  let summary = "apply a region to each element";
  let description = [{
    ```mlir
    %ys = ft.map (%x, %w = %xs, %ws : !ft.list<[N], !x>, !ft.list<[N], !w>) -> !ft.list<[N], !x> {
      ...
      ft.yield %y : !x
    }
    ```
  }];
  let arguments = (ins Variadic<FT_AnyList>:$lists_, OptionalAttr<StrAttr>:$layer,
                       OptionalAttr<DenseI64ArrayAttr>:$layers);
  let regions = (region SizedRegion<1>:$body_);
}
def FT_ReduceOp : FT_AggregateOp<"reduce"> {
  let summary = "combine all elements; order of association is free";
  let description = [{
    ```mlir
    %m = ft.reduce (%x = %xs : !ft.list<[N], !x>) init (%s = %zero : !x) -> !x {
      %t = arith.addf %s, %x : !x
      ft.yield %t : !x
    }
    ```
    With states that differ from the elements, `combine` joins two states and
    `identity` is neutral for it:
    ```mlir
    %m, %s = ft.reduce (%x = %xs : !ft.list<[N], !x>) init (%m0, %s0 = %lo, %z : !r, !r) -> !r, !r {
      ...
    } combine (%ma, %sa, %mb, %sb) {
      ...
    } identity (%lo, %z : !r, !r)
    ```
  }];
}
def FT_FoldOp : FT_AggregateOp<"fold"> {
  let summary = "fold; order of association is free";
  let description = [{ As `ft.reduce`; the paper's name for a fold of either direction. }];
}
def FT_FoldLOp : FT_AggregateOp<"foldl"> {
  let summary = "fold from the left, in order";
  let description = [{
    ```mlir
    %h = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) -> !x { ... }
    ```
  }];
}
def FT_FoldROp : FT_AggregateOp<"foldr"> {
  let summary = "fold from the right, in order";
  let description = [{ The last element comes first. }];
}
def FT_ScanOp : FT_AggregateOp<"scan"> {
  let summary = "inclusive scan; order of association is free";
  let description = [{ As `ft.scanl`, and may be cut at any iteration. }];
}
def FT_ScanLOp : FT_AggregateOp<"scanl"> {
  let summary = "inclusive scan from the left, in order";
  let description = [{
    ```mlir
    %hs, %cs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) lag 2 -> !ft.list<[L], !x>, !ft.list<[L], !x> {
      ...
      ft.yield %h1 : !x emit %c1 : !x
    }
    ```
  }];
}
def FT_ScanROp : FT_AggregateOp<"scanr"> {
  let summary = "inclusive scan from the right, in order";
  let description = [{ `scanr f s xs = reverse(scanl f s (reverse xs))`. }];
}

def FT_YieldOp : FT_Op<"yield", [Pure, Terminator, ReturnLike, AttrSizedOperandSegments,
    ParentOneOf<["MapOp", "ReduceOp", "FoldOp", "FoldLOp", "FoldROp", "ScanOp", "ScanLOp", "ScanROp"]>]> {
  let summary = "end a region: new states (or a map's values), then what is emitted";
  let description = [{
    ```mlir
    ft.yield %h, %c : !x, !x emit %o : !y
    ```
  }];
  let arguments = (ins Variadic<FT_Value>:$values, Variadic<FT_Value>:$emits);
  let assemblyFormat = "($values^ `:` qualified(type($values)))? (`emit` $emits^ `:` qualified(type($emits)))? attr-dict";
}

} // opDocGroup

//===----------------------------------------------------------------------===//
// Access operators
//===----------------------------------------------------------------------===//

def AccessOps : OpDocGroup {
  let summary = "Array access operators (FT §4.2)";
  let description = [{
    Pure, and never materialised by themselves: the compiler composes them into
    the access maps of the blocks that read or write the list. All act on the
    outermost dimension unless said otherwise. Index expressions are lengths;
    a negative *constant* counts from the end.

    An access that is in bounds only for some lengths is refused, with the bound
    that the function should state.
  }];
}

class FT_AccessOp<string mnemonic, list<Trait> traits = []> : FT_Op<mnemonic, traits # [Pure]>;
class FT_InferredAccessOp<string mnemonic, list<Trait> traits = []> :
    FT_AccessOp<mnemonic, traits # [DeclareOpInterfaceMethods<InferTypeOpInterface>]>;

let opDocGroup = AccessOps in {

def FT_ShiftOp : FT_InferredAccessOp<"shift"> {
  let summary = "shift towards higher indices, filling";
  let description = [{
    Element i of the result is element i - `offset` of the input where that
    exists, else `fill`. The offset is a length; a negative one shifts towards lower indices.
    (S1) `fill` has the list's peeled type.
    ```mlir
    %prev = ft.shift %xs by 1 fill %zero : !ft.list<[L], !x>, !x
    ```
  }];
  let arguments = (ins FT_AnyList:$input, FT_LengthAttr:$offset, FT_Value:$fill);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input `by` custom<Length>($offset) `fill` $fill attr-dict `:` qualified(type($input)) `,` qualified(type($fill))";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def FT_ReverseOp : FT_InferredAccessOp<"reverse"> {
  let summary = "the list from its end";
  let description = [{
    ```mlir
    %sx = ft.reverse %xs : !ft.list<[L], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input))";
  let hasFolder = 1;
}
def FT_SliceOp : FT_InferredAccessOp<"slice"> {
  let summary = "the elements lo to hi - 1";
  let description = [{
    (L1) 0 ≤ lo ≤ hi ≤ n must follow from the bounds. Negative constants count
    from the end.
    ```mlir
    %mid = ft.slice %xs[2 to -2] : !ft.list<[L], !x>     // !ft.list<[L - 4], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input, FT_LengthAttr:$lo, FT_LengthAttr:$hi);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input `[` custom<Length>($lo) `to` custom<Length>($hi) `]` attr-dict `:` qualified(type($input))";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def FT_StrideOp : FT_InferredAccessOp<"stride"> {
  let summary = "every step-th element from a start";
  let description = [{
    Element i of the result is element start + i · step; the length is
    ceildiv(n - start, step). (D1) step ≥ 1, 0 ≤ start; (D2) start ≤ n must follow from the
    bounds.
    ```mlir
    %even = ft.stride %xs from 0 step 2 : !ft.list<[L], !x>   // !ft.list<[ceildiv(L, 2)], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input, I64Attr:$start, I64Attr:$step);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input `from` $start `step` $step attr-dict `:` qualified(type($input))";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def FT_WindowOp : FT_InferredAccessOp<"window"> {
  let summary = "overlapping windows of a list";
  let description = [{
    The result has one dimension more: windows, and the `size` places in each.
    Without a boundary, place w of window i is element i · step + w · dilation,
    and the number of windows is floordiv(n - dilation · (size - 1) - 1, step) + 1.
    With a boundary there are ceildiv(n, step) windows, centred: place w of window
    i is element i · step + (w - floordiv(size - 1, 2)) · dilation, and outside the list
    the window sees zeros (`zero`), the nearest end (`clamp`), the list reflected
    without its end (`mirror`) or the list from its other end (`wrap`). Size and dilation are
    lengths.

    Where both have names, or a dilation has one and the size is a constant beyond 64, the access
    is no affine map: the conversion to `etdg` refuses it.
    (W1) step ≥ 1, and size and dilation ≥ 1 follow from the bounds; (W2) without boundary n ≥ dilation · (size - 1)
    must follow from the bounds (where they are equal there are no windows); (W3) `clamp` needs n ≥ 1, `wrap` n ≥ the larger
    overhang, `mirror` n ≥ the larger overhang + 1.
    ```mlir
    %ws = ft.window %xs size 3 step 1 dilation 1 boundary zero : !ft.list<[L], !x>   // !ft.list<[L, 3], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input, FT_LengthAttr:$size, DefaultValuedAttr<I64Attr, "1">:$step,
                       OptionalAttr<FT_LengthAttr>:$dilation,
                       DefaultValuedAttr<FT_BoundaryAttr, "::mlir::ft::Boundary::None">:$boundary);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = [{$input `size` custom<Length>($size) (`step` $step^)? (`dilation` custom<Dilation>($dilation)^)? (`boundary` custom<BoundaryKeyword>($boundary)^)?
                         attr-dict `:` qualified(type($input))}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    LengthAttr getDilationOrOne();
    /// dilation · (size - 1), what a window spans beyond one element; null where it does not fit.
    LengthAttr getExtent();
    /// Places of a window before its centre (0 without boundary), times dilation; null as above.
    LengthAttr getOverhangLow();
  }];
}
def FT_GatherOp : FT_InferredAccessOp<"gather"> {
  let summary = "elements at indices that are data";
  let description = [{
    `indices` is an integer tensor of rank 0, giving one element, or a list of
    such of any depth, giving a list of that depth of elements. An index out of
    range is an error on the CPU. (G1) the index element is `tensor<iN>` or
    `tensor<index>`.
    ```mlir
    %ys = ft.gather %xs[%idx] : !ft.list<[L], !x>, !ft.list<[M], tensor<i64>>   // !ft.list<[M], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input, FT_Value:$indices);
  let results = (outs FT_Value:$result);
  let assemblyFormat = "$input `[` $indices `]` attr-dict `:` qualified(type($input)) `,` qualified(type($indices))";
}
def FT_ZipOp : FT_InferredAccessOp<"zip"> {
  let summary = "a list of tuples";
  let description = [{
    (Z1) at least one list, all of the same outermost length.
    ```mlir
    %z = ft.zip %as, %bs : !ft.list<[L], !a>, !ft.list<[L], !b>   // !ft.list<[L], tuple<!a, !b>>
    ```
  }];
  let arguments = (ins Variadic<FT_AnyList>:$inputs);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$inputs attr-dict `:` qualified(type($inputs))";
}
def FT_GetOp : FT_InferredAccessOp<"get"> {
  let summary = "one member of a tuple, or of every tuple of a list";
  let description = [{
    (E1) 0 ≤ index < number of members.
    ```mlir
    %a = ft.get %t[0] : tuple<!a, !b>
    ```
  }];
  let arguments = (ins FT_Value:$input, I64Attr:$index);
  let results = (outs FT_Value:$result);
  let assemblyFormat = "$input `[` $index `]` attr-dict `:` qualified(type($input))";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def FT_AtOp : FT_InferredAccessOp<"at"> {
  let summary = "one element";
  let description = [{
    (A1) 0 ≤ index < n must follow from the bounds. Negative constants count from
    the end.
    ```mlir
    %last = ft.at %xs[-1] : !ft.list<[L], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input, FT_LengthAttr:$index);
  let results = (outs FT_Value:$result);
  let assemblyFormat = "$input `[` custom<Length>($index) `]` attr-dict `:` qualified(type($input))";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def FT_ConcatOp : FT_InferredAccessOp<"concat"> {
  let summary = "one list after another";
  let description = [{
    (K1) at least one list, with equal peeled types.
    ```mlir
    %c = ft.concat %a, %b : !ft.list<[L], !x>, !ft.list<[2], !x>   // !ft.list<[L + 2], !x>
    ```
  }];
  let arguments = (ins Variadic<FT_AnyList>:$inputs);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$inputs attr-dict `:` qualified(type($inputs))";
  let hasFolder = 1;
}
def FT_FlattenOp : FT_InferredAccessOp<"flatten"> {
  let summary = "join the two outermost dimensions";
  let description = [{
    (F1) depth ≥ 2, no ragged level. The length is the product.
    ```mlir
    %f = ft.flatten %xs : !ft.list<[N, 4], !x>   // !ft.list<[4 * N], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input))";
  let hasFolder = 1;
}
def FT_SplitOp : FT_InferredAccessOp<"split"> {
  let summary = "cut the outermost dimension into pieces of equal length";
  let description = [{
    The inverse of `flatten`: the result has lengths [floordiv(n, inner), inner].
    That `inner` divides n is checked at the call. (P1) inner ≥ 1 follows from the bounds.
    ```mlir
    %b = ft.split %xs by 4 : !ft.list<[L], !x>   // !ft.list<[floordiv(L, 4), 4], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input, FT_LengthAttr:$inner);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input `by` custom<Length>($inner) attr-dict `:` qualified(type($input))";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def FT_TransposeOp : FT_InferredAccessOp<"transpose"> {
  let summary = "permute programmable dimensions";
  let description = [{
    Dimension d of the result is dimension `permutation[d]` of the input; dimensions after
    the permutation stay. (X1) a permutation of 0 … k-1 with k ≤ depth; no ragged level.
    ```mlir
    %t = ft.transpose %xs [1, 0] : !ft.list<[N, L], !x>   // !ft.list<[L, N], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` qualified(type($input))";
  let hasFolder = 1;
}
def FT_RepeatOp : FT_InferredAccessOp<"repeat"> {
  let summary = "one value n times";
  let description = [{
    (R1) the count is not negative by the bounds.
    ```mlir
    %r = ft.repeat %x times L : !x   // !ft.list<[L], !x>
    ```
  }];
  let arguments = (ins FT_Value:$value, FT_LengthAttr:$count);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$value `times` custom<Length>($count) attr-dict `:` qualified(type($value))";
  let hasVerifier = 1;
}
def FT_IotaOp : FT_AccessOp<"iota"> {
  let summary = "the indices 0, 1, …";
  let description = [{
    (I1) depth 1; the element is `tensor<iN>` or `tensor<index>` of rank 0; the
    length is not negative by the bounds.
    ```mlir
    %i = ft.iota : !ft.list<[L], tensor<i64>>
    ```
  }];
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}
def FT_CastOp : FT_AccessOp<"cast"> {
  let summary = "the same list under other lengths, checked at the call";
  let description = [{
    For lengths that are equal without being the same expression. (Q1) same depth,
    same element, no ragged level on one side only.
    ```mlir
    %c = ft.cast %xs : !ft.list<[2 * M], !x> to !ft.list<[L], !x>
    ```
  }];
  let arguments = (ins FT_AnyList:$input);
  let results = (outs FT_AnyList:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `to` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

} // opDocGroup

#endif // FT_OPS
