//===- TSSAOps.td - types and operations of the tssa dialect ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TSSA_OPS
#define TSSA_OPS

include "ft/Dialect/TSSA/IR/TSSADialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

def TSSA_TensorType : TypeDef<TSSA_Dialect, "MutableTensor"> {
  let mnemonic = "tensor";
  let summary = "a mutable tensor: a name of storage";
  let description = [{
    `!tssa.tensor<4x?xf32>`. Rank and element type are always known; a size that is
    `?` is known when the program runs. Which storage the name stands for, and by which
    strides, is no part of the type.

    (T1) elements are integers, `index` or floats.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "RankedTensorType":$value), [{
    return $_get(value.getContext(), value.getShape(), value.getElementType());
  }]>];
  let extraClassDeclaration = [{
    /// The type of what it holds.
    RankedTensorType getValueType() const;
    int64_t getRank() const { return getShape().size(); }
    bool hasStaticShape() const { return !ShapedType::isDynamicShape(getShape()); }
  }];
}

def TSSA_StepKind : I32Enum<"StepKind", "one step from a tensor to a view of it", [
    I32EnumCase<"Select", 0, "select">,
    I32EnumCase<"Slice", 1, "slice">,
    I32EnumCase<"Narrow", 2, "narrow">,
    I32EnumCase<"Permute", 3, "permute">,
    I32EnumCase<"Reshape", 4, "reshape">,
    I32EnumCase<"Squeeze", 5, "squeeze">,
    I32EnumCase<"Unsqueeze", 6, "unsqueeze">,
    I32EnumCase<"Expand", 7, "expand">,
    I32EnumCase<"Diagonal", 8, "diagonal">,
    I32EnumCase<"Unfold", 9, "unfold">,
    I32EnumCase<"AsStrided", 10, "as_strided">]> {
  let cppNamespace = "::mlir::tssa";
}

def TSSA_StepAttr : AttrDef<TSSA_Dialect, "Step"> {
  let mnemonic = "step";
  let summary = "one view operator and its numbers";
  let description = [{
    The rule `[·]` of the paper's Access and Assign (DAC'24, Definitions 3.1, 3.3,
    3.4) is a chain of steps. Operations print a step as `select(0, %i)`; the
    attribute has the numbers that are constants, and kDynamic for each operand.
  }];
  let parameters = (ins EnumParameter<TSSA_StepKind>:$kind,
                        OptionalArrayRefParameter<"int64_t">:$numbers);
  let hasCustomAssemblyFormat = 1;
}
def TSSA_StepsAttr : TypedArrayAttrBase<TSSA_StepAttr, "steps of a view">;

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

class TSSA_Op<string mnemonic, list<Trait> traits = []> : Op<TSSA_Dialect, mnemonic, traits>;

def TSSA_NewOp : TSSA_Op<"new", [MemoryEffects<[MemAlloc]>]> {
  let summary = "new storage that holds a value";
  let description = [{
    What a tensor operator returns in PyTorch, and `clone`: storage of its own, dense
    and row-major.
    ```mlir
    %m = tssa.new %v : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs TSSA_TensorType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `` custom<MutableOf>(ref(type($value)), type($result))";
  let hasVerifier = 1;
}

def TSSA_ReadOp : TSSA_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "what a mutable tensor holds now";
  let description = [{
    A value: later writes do not change it.
    ```mlir
    %v = tssa.read %m : !tssa.tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TSSA_TensorType:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `` custom<ValueOf>(ref(type($source)), type($result))";
  let hasVerifier = 1;
}

def TSSA_ViewOp : TSSA_Op<"view", [Pure]> {
  let summary = "another name of the same storage";
  let description = [{
    The steps apply from left to right; numbers are constants or `index` values.
    Names and meaning are those of PyTorch:

    | step | the view |
    |---|---|
    | `select(d, i)` | index i of dimension d, which goes; i < 0 counts from the end |
    | `slice(d, from, to, by)` | ends count from the end where negative, and are clamped; by ≥ 1; `_` as `to`: to the end |
    | `narrow(d, from, n, by)` | n elements from `from`, `by` apart; out of range is an error |
    | `permute(p0, p1, ...)` | dimension j is dimension pj of the base |
    | `reshape(n0, n1, ...)` | the same elements in row-major order; one size may be -1 |
    | `squeeze(d)` | without dimension d, if its size is 1; else unchanged |
    | `unsqueeze(d)` | with a dimension of size 1 before d |
    | `expand(n0, n1, ...)` | dimensions of size 1, and new ones in front, repeated; -1 keeps a size |
    | `diagonal(o, d0, d1)` | the elements whose index in d1 is o more than in d0, as a last dimension |
    | `unfold(d, n, by)` | windows of n elements, `by` apart: their number replaces d, n is a last dimension |
    | `as_strided(o, n0, ..., s0, ...)` | element (i0, ...) is number o + Σ ij·sj *of the storage*, whatever came before |

    Constraints:
    - (V1) dimensions are constants, in range, and not negative; a permutation has each dimension once;
    - (V2) the result has the element type, the rank and every size of the steps that is known;
    - (V3) there are as many operands as numbers that are no constants;
    - (V4) constants are legal: by ≥ 1, sizes not negative but for the -1 above, an index
      within a known size, a `reshape` of known sizes keeps the number of elements.
    That a reshape needs no copy is asked where strides are known: when the program runs, or
    of `tssa-functionalize`.
  }];
  let arguments = (ins TSSA_TensorType:$source, TSSA_StepsAttr:$steps, Variadic<Index>:$numbers);
  let results = (outs TSSA_TensorType:$result);
  let assemblyFormat = [{
    $source `` custom<Steps>($steps, $numbers) attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TSSA_MutateOp : TSSA_Op<"mutate", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a value into a mutable tensor (DAC'24, Definition 3.2)";
  let description = [{
    PyTorch's `copy_`: the value is broadcast to the destination's sizes and cast to its
    element type (floats to integers toward zero, anything to i1 by `!= 0`). The value
    has been read before anything is written, so that overlapping copies are exact.
    Writing through a name some of whose elements are one and the same storage (an
    `expand`) is an error.
    ```mlir
    tssa.mutate %m, %v : !tssa.tensor<4x8xf32>, tensor<8xf32>
    ```
    (M1) the value can be broadcast to the destination's sizes, as far as they are known.
  }];
  let arguments = (ins TSSA_TensorType:$dest, AnyRankedTensor:$value);
  let assemblyFormat = "$dest `,` $value attr-dict `:` qualified(type($dest)) `,` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def TSSA_AccessOp : TSSA_Op<"access", [Pure]> {
  let summary = "part of a value, by the steps of a view (DAC'24, Definition 3.3)";
  let description = [{
    The immutable version of a view: a value of its own. No steps: the value itself.
    `as_strided` counts in the row-major elements of the source.
    ```mlir
    %v = tssa.access %t[select(0, %i)] : tensor<8x4xf32> -> tensor<4xf32>
    ```
    (A1) as (V1) to (V4).
  }];
  let arguments = (ins AnyRankedTensor:$source, TSSA_StepsAttr:$steps, Variadic<Index>:$numbers);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `` custom<Steps>($steps, $numbers) attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TSSA_AssignOp : TSSA_Op<"assign", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "a value with a part replaced (DAC'24, Definition 3.4)";
  let description = [{
    The immutable version of a mutation: a new version of `dest` in which what
    `access` by the same steps gives is `value`.
    ```mlir
    %t1 = tssa.assign %v into %t[select(0, %i)] : tensor<4xf32> into tensor<8x4xf32>
    ```
    (S1) as (V1) to (V4), with the type of the value as the result;
    (S2) no step repeats elements: no `expand`, no overlapping `unfold`.
  }];
  let arguments = (ins AnyRankedTensor:$value, AnyRankedTensor:$dest, TSSA_StepsAttr:$steps,
                       Variadic<Index>:$numbers);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $value `into` $dest `` custom<Steps>($steps, $numbers) attr-dict `:` type($value) `into` type($dest)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TSSA_UpdateOp : TSSA_Op<"update", [MemoryEffects<[MemWrite]>, AllTypesMatch<["version", "of"]>]> {
  let summary = "from here on a name means a new version (DAC'24, Definition 3.5)";
  let description = [{
    An annotation between the steps of `tssa-functionalize`: every use of the second
    operand that runs after it means the first one. Nothing is computed.
    ```mlir
    tssa.update %t1, %t : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$version, AnyRankedTensor:$of);
  let assemblyFormat = "$version `,` $of attr-dict `:` type($of)";
}

def TSSA_IndexOp : TSSA_Op<"index", [Pure]> {
  let summary = "elements at indices that are data (PyTorch's advanced indexing)";
  let description = [{
    One index tensor for each of the dimensions `dims`, all broadcast to one shape S; where
    `dims` are adjacent, S takes their place, else it comes first. An index below 0 counts
    from the end; one out of range is an error.
    ```mlir
    %r = tssa.index %t[0, 2] by %i, %j : tensor<8x4x5xf32>, tensor<7xi64>, tensor<7xi64> -> tensor<7x4xf32>
    ```
    (I1) `dims` rise, are in range, and there is an integer tensor for each;
    (I2) the result has the element type and the sizes that follow.
  }];
  let arguments = (ins AnyRankedTensor:$source, DenseI64ArrayAttr:$dims,
                       Variadic<AnyRankedTensor>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source $dims `by` $indices attr-dict `:` type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TSSA_IndexPutOp : TSSA_Op<"index_put", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "a value with elements at indices that are data replaced (`index_put`)";
  let description = [{
    The elements that `tssa.index` reads become those of `value`, which is broadcast to their
    shape. In the row-major order of that shape: the last write of an element
    stays, or with `accumulate` all are added to what was there.
    ```mlir
    %t1 = tssa.index_put %v into %t[0] by %i : tensor<7x4xf32> into tensor<8x4xf32>, tensor<7xi64>
    %t2 = tssa.index_put accumulate %v into %t[0] by %i : ...
    ```
    (P1) as (I1); (P2) the value has the element type, and can be broadcast.
  }];
  let arguments = (ins UnitAttr:$accumulate, AnyRankedTensor:$value, AnyRankedTensor:$dest,
                       DenseI64ArrayAttr:$dims, Variadic<AnyRankedTensor>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    (`accumulate` $accumulate^)? $value `into` $dest $dims `by` $indices attr-dict
    `:` type($value) `into` type($dest) `,` type($indices)
  }];
  let hasVerifier = 1;
}

#endif // TSSA_OPS
