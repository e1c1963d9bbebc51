//===- FTAttrs.td - attributes of the ft dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ATTRS
#define FT_ATTRS

include "ft/Dialect/FT/IR/FTDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class FT_Attr<string name, string attrMnemonic> : AttrDef<FT_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def FT_OperatorKind : I32Enum<"OperatorKind", "array compute operator (FT Table 1)", [
    I32EnumCase<"Map", 0, "map">,
    I32EnumCase<"Reduce", 1, "reduce">,
    I32EnumCase<"Fold", 2, "fold">,
    I32EnumCase<"FoldL", 3, "foldl">,
    I32EnumCase<"FoldR", 4, "foldr">,
    I32EnumCase<"Scan", 5, "scan">,
    I32EnumCase<"ScanL", 6, "scanl">,
    I32EnumCase<"ScanR", 7, "scanr">]> {
  let cppNamespace = "::mlir::ft";
}

def FT_Boundary : I32Enum<"Boundary", "what a window sees outside the list", [
    I32EnumCase<"None", 0, "none">,
    I32EnumCase<"Zero", 1, "zero">,
    I32EnumCase<"Clamp", 2, "clamp">,
    I32EnumCase<"Mirror", 3, "mirror">,
    I32EnumCase<"Wrap", 4, "wrap">]> {
  let cppNamespace = "::mlir::ft";
}
def FT_BoundaryAttr : EnumAttr<FT_Dialect, FT_Boundary, "boundary">;

//===----------------------------------------------------------------------===//
// Lengths and bounds
//===----------------------------------------------------------------------===//

def FT_LengthAttr : FT_Attr<"Length", "len"> {
  let summary = "a length: a quasi-affine expression over named lengths";
  let description = [{
    An expression of integers and names bound by the arguments of the enclosing
    function: `512`, `L`, `L - 2`, `2 * L + 1`, `floordiv(L, 2)`,
    `ceildiv(L, 2)`, `mod(L, 4)`, or a product of lengths (from `ft.flatten`).
    Names are sorted and those that do not occur are dropped, the expression is
    simplified: equal lengths are the same attribute.

    A `ragged(name)` length belongs to one list each: lists at this level have
    lengths of their own, listed by the argument `name`.

    ```mlir
    #ft.len<ceildiv(L, 2)>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"StringAttr">:$names, "AffineExpr":$expr, "bool":$ragged);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// The length that `expr` says, symbol i of it being `names[i]`; sorts and simplifies.
    static LengthAttr get(MLIRContext *context, ArrayRef<StringAttr> names, AffineExpr expr);
    static LengthAttr get(MLIRContext *context, int64_t value);
    static LengthAttr get(StringAttr name);
    static LengthAttr getRagged(StringAttr name);

    /// The value when no name occurs.
    std::optional<int64_t> getConstant() const;
    bool isConstant() const { return getConstant().has_value(); }
    /// The name when the length is one name and nothing else, else null.
    StringAttr getSingleName() const;
    /// The value under a binding of the names; none when one is not bound, on
    /// overflow, or on division by a value that is not positive.
    std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(StringAttr)> lookup) const;
    /// The expression with symbol j standing for `all[j]`; every name must be in `all`.
    AffineExpr exprOver(ArrayRef<StringAttr> all) const;
    /// As a person writes it: `L - 2`.
    std::string str() const;

    // Null where an operand is ragged or null, or a constant leaves 63 bits.
    LengthAttr operator+(LengthAttr other) const;
    LengthAttr operator-(LengthAttr other) const;
    LengthAttr operator*(LengthAttr other) const;
    LengthAttr operator+(int64_t value) const;
    LengthAttr operator-(int64_t value) const;
    LengthAttr floorDiv(int64_t divisor) const;
    LengthAttr ceilDiv(int64_t divisor) const;
    LengthAttr floorDiv(LengthAttr divisor) const;
  }];
}

def FT_BoundsAttr : FT_Attr<"Bounds", "bounds"> {
  let summary = "affine inequalities that hold of the lengths at every call";
  let description = [{
    Each constraint is an expression that is at least 0. Every name is at least 0
    by itself.

    ```mlir
    func.func @f(...) attributes {ft.bounds = #ft.bounds<"L >= 5", "K <= L">}
    ```
  }];
  let parameters = (ins ArrayRefParameter<"LengthAttr">:$nonNegative);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Generated data (`ft.gen`)
//===----------------------------------------------------------------------===//

/// A number that attributes can be uniqued by; everyone else sees a double.
def FT_Real : AttrParameter<"::mlir::ft::Real", "a number", "double">;

def FT_NormalAttr : FT_Attr<"Normal", "normal"> {
  let summary = "normally distributed, mean 0, with this standard deviation";
  let description = [{ Weights take about `1/sqrt(fan-in)`, so that depth neither explodes nor vanishes. }];
  let parameters = (ins FT_Real:$scale);
  let hasCustomAssemblyFormat = 1;
}
def FT_UniformAttr : FT_Attr<"Uniform", "uniform"> {
  let summary = "uniform: integers in [lo, hi] with both ends, floats in [lo, hi)";
  let parameters = (ins FT_Real:$lo, FT_Real:$hi);
  let hasCustomAssemblyFormat = 1;
}
def FT_IndexAttr : FT_Attr<"Index", "index"> {
  let summary = "integers in [lo, hi), the ends being lengths: indices for `ft.gather`";
  let parameters = (ins "LengthAttr":$lo, "LengthAttr":$hi);
  let hasCustomAssemblyFormat = 1;
}

#endif // FT_ATTRS
