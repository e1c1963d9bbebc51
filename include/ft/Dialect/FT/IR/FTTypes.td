//===- FTTypes.td - types of the ft dialect ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TYPES
#define FT_TYPES

include "ft/Dialect/FT/IR/FTAttrs.td"
include "mlir/IR/BuiltinTypes.td"

def FT_ListType : TypeDef<FT_Dialect, "List"> {
  let mnemonic = "list";
  let summary = "a nested list of static tensors (a FractalTensor, FT §4.1)";
  let description = [{
    `!ft.list<[N, L - 2], tensor<1x512xf32>>` is a list of N lists of L - 2
    tensors. The lengths between the brackets are the *programmable dimensions*,
    outermost first; the element is a ranked tensor of static shape, or a `tuple`
    of such tensors and lists (from `ft.zip`).

    Constraints:
    - (T1) at least one programmable dimension, at most 16;
    - (T2) the element is a ranked tensor of static shape with an integer, index
      or float element type, or a tuple of elements and lists;
    - (T3) a constant length is not negative, and the byte size of all constant
      dimensions together fits 63 bits.
  }];
  let parameters = (ins ArrayRefParameter<"LengthAttr">:$lengths, "Type":$element);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getDepth() const { return getLengths().size(); }
    LengthAttr getLength() const { return getLengths().front(); }
    /// What a compute operator passes to its region: a list with one dimension
    /// less, or the element.
    Type getPeeled() const;
    /// The list of `length` values of type `value`.
    static ListType wrap(LengthAttr length, Type value);
    bool hasRagged() const;
  }];
}

/// A value of a program: a list, an element tensor or a tuple of these.
def FT_AnyList : Type<CPred<"::llvm::isa<::mlir::ft::ListType>($_self)">, "list", "::mlir::ft::ListType">;
def FT_Value : Type<CPred<"::mlir::ft::isValueType($_self)">, "list, static tensor or tuple of these">;

#endif // FT_TYPES
