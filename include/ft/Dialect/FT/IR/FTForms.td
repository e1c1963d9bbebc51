//===- FTForms.td - short forms of the ft dialect ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a file of its own: what only knows lists needs no short forms.
//
//===----------------------------------------------------------------------===//
#ifndef FT_FORMS
#define FT_FORMS

include "ft/Dialect/FT/IR/FTAttrs.td"
include "ft/Dialect/FT/IR/FTTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def FT_FormNamesBound : NativeOpTrait<"NamesBound"> { let cppNamespace = "::mlir::ft"; }

class FT_Form<string mnemonic, list<Trait> traits = []> :
    Op<FT_Dialect, mnemonic, traits # [Pure, FT_FormNamesBound]>;

def FT_LastOp : FT_Form<"last", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "the last element, or another value where there is none";
  let description = [{
    The last element of a list of length n ≥ 1, and `fallback` of an empty one: the last state
    of a scan, or the first where nothing was scanned. An access operator, never
    materialised by itself. Nothing is asked of the bounds.
    (M1) `fallback` has the list's peeled type.
    ```mlir
    %h = ft.last %hs or %h0 : !ft.list<[L], !x>, !x
    ```
  }];
  let arguments = (ins FT_AnyList:$input, FT_Value:$fallback);
  let results = (outs FT_Value:$result);
  let assemblyFormat = "$input `or` $fallback attr-dict `:` qualified(type($input)) `,` qualified(type($fallback))";
}

def FT_GroupOp : FT_Form<"group"> {
  let summary = "the places of a list of indices, grouped by index";
  let description = [{
    `order` gives the places of the flattened list in the order of the indices there, those of equal indices in the order
    of the list. `ends` gives for each of `values` indices v how many places have an index of at most v: the places of v
    are `order[ends[v - 1]]` to `order[ends[v] - 1]`.

    The adjoint of `ft.gather` is a segmented scan in this order, as in a stable sort by key (Blelloch 1990, §1.5).
    `ft-differentiate` makes both lists arguments of the backward function, which the caller sorts. The interpreter
    computes them; no other engine does.

    (U1) `indices` is a list of `tensor<iN>` or `tensor<index>` of any depth; `order` has its number of elements, `ends`
    has `values`. Both are of `tensor<i64>`.
    ```mlir
    %order, %ends = ft.group %idx into V : !ft.list<[M], tensor<i64>> -> !ft.list<[M], tensor<i64>>, !ft.list<[V], tensor<i64>>
    ```
  }];
  let arguments = (ins FT_AnyList:$indices, FT_LengthAttr:$values);
  let results = (outs FT_AnyList:$order, FT_AnyList:$ends);
  let assemblyFormat = "$indices `into` custom<Length>($values) attr-dict `:` qualified(type($indices)) `->` qualified(type($order)) `,` qualified(type($ends))";
  let builders = [OpBuilder<(ins "::mlir::Value":$indices, "::mlir::ft::LengthAttr":$values)>];
  let hasVerifier = 1;
}

def ShortForms : OpDocGroup {
  let summary = "Short forms of tensor operations";
  let description = [{
    What bodies say often, on static tensors. Each stands for upstream operations, which
    `ft-expand` puts in its place at the start of the `ft` phase; the interpreter evaluates
    these as well. Softmax and layer norm of f16 and bf16 are computed in f32 and
    rounded once.
  }];
}

class FT_ShortForm<string mnemonic, list<Trait> traits = []> : FT_Form<mnemonic, traits> {
  let hasVerifier = 1;
}
class FT_FloatForm<string mnemonic> : FT_ShortForm<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins AnyStaticShapeTensor:$input);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

let opDocGroup = ShortForms in {

def FT_LowestOp : FT_ShortForm<"lowest"> {
  let summary = "the lowest number of the element type, everywhere";
  let description = [{
    Where a maximum starts: the least finite number of a float type, the least signed one of
    an integer type. (O1) the type is a static tensor of integers or floats.
    ```mlir
    %lo = ft.lowest : tensor<1xf16>     // -65504
    ```
  }];
  let arguments = (ins);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def FT_ScaleOp : FT_ShortForm<"scale", [AllTypesMatch<["input", "result"]>]> {
  let summary = "a scalar times a tensor";
  let description = [{
    (O2) `factor` is a tensor of rank 0 with the input's element type, an integer or float.
    ```mlir
    %y = ft.scale %x by %s : tensor<4x8xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, AnyStaticShapeTensor:$factor);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input `by` $factor attr-dict `:` type($input) `,` type($factor)";
}

def FT_BroadcastOp : FT_ShortForm<"broadcast"> {
  let summary = "a tensor repeated along dimensions that it lacks or has with extent 1";
  let description = [{
    As in NumPy: dimensions are aligned at the innermost one. (O3) the element types are equal,
    the result has at least the input's rank, and each dimension of the input is the
    result's or 1.
    ```mlir
    %rows = ft.broadcast %bias : tensor<8xf32> to tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
}

def FT_SigmoidOp : FT_FloatForm<"sigmoid"> {
  let summary = "1 / (1 + exp(-x))";
  let description = [{
    (O4) a tensor of floats.
    ```mlir
    %y = ft.sigmoid %x : tensor<4x8xf32>
    ```
  }];
}
def FT_StopGradientOp : FT_FloatForm<"stop_gradient"> {
  let summary = "the tensor itself, which derivatives take for a constant";
  let description = [{
    (O4) a tensor of floats. `ft-differentiate` gives the operand no gradient and the result no tangent.
    ```mlir
    %y = ft.stop_gradient %x : tensor<4x8xf32>
    ```
  }];
}
def FT_SiluOp : FT_FloatForm<"silu"> {
  let summary = "x / (1 + exp(-x))";
  let description = [{
    (O4) a tensor of floats.
    ```mlir
    %y = ft.silu %x : tensor<4x8xf32>
    ```
  }];
}
def FT_SoftmaxOp : FT_ShortForm<"softmax", [SameOperandsAndResultType]> {
  let summary = "exp(x - max x) / Σ exp(x - max x) along a dimension";
  let description = [{
    (O4) a tensor of floats; (O5) 0 ≤ `dim` < rank.
    ```mlir
    %y = ft.softmax %x dim 1 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, I64Attr:$dim);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input)";
}
def FT_LayerNormOp : FT_ShortForm<"layer_norm", [AllTypesMatch<["input", "result"]>, AllTypesMatch<["gamma", "beta"]>]> {
  let summary = "rows of mean 0 and variance 1, scaled and shifted";
  let description = [{
    γ (x - mean x) / sqrt(var x + ε) + β along the innermost dimension, with the variance of the
    whole row (divided by its length). (O4) a tensor of floats; (O6) rank ≥ 1, the innermost
    extent n ≥ 1, `gamma` and `beta` are tensors of n such floats.
    ```mlir
    %y = ft.layer_norm %x scale %g shift %b epsilon 1.0e-05 : tensor<4x8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, AnyStaticShapeTensor:$gamma,
                       AnyStaticShapeTensor:$beta, F64Attr:$epsilon);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input `scale` $gamma `shift` $beta `epsilon` $epsilon attr-dict `:` type($input) `,` type($gamma)";
}

} // opDocGroup

#endif // FT_FORMS
