//===- FTDialect.td - the ft dialect -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT
#define FT_DIALECT

include "mlir/IR/OpBase.td"

def FT_Dialect : Dialect {
  let name = "ft";
  let cppNamespace = "::mlir::ft";
  let summary = "Nested lists of static tensors, with second-order array operators";
  let description = [{
    The programming model of FractalTensor (SOSP'24, §4): a program is a function
    over nested lists whose elements are tensors of static shape. *Compute*
    operators (`map`, `reduce`, `fold`, `foldl`, `foldr`, `scan`, `scanl`,
    `scanr`) apply a region to the elements of the outermost dimension; *access*
    operators (`shift`, `reverse`, `slice`, `stride`, `window`, `gather`, …) say
    which elements are read and are never materialised by themselves. Bodies are
    upstream `linalg`, `arith`, `math` and `tensor` on the static elements.

    Discardable attributes:

    | attribute | on | meaning |
    |---|---|---|
    | `ft.bounds` | function | `#ft.bounds<"L >= 5", ...>`: what every call guarantees of the lengths |
    | `ft.lengths` | function | `{L = 64 : i64}`: lengths used where the caller gives none |
    | `ft.typical` | function | `{L = [64, 4096]}`: lengths to optimise for |
    | `ft.gen` | argument | `#ft.normal<0.05>`, `#ft.uniform<-3, 3>`, `#ft.index<0, L>`: how to generate test data |
    | `ft.strided` | argument | `2 : i64`: so many outermost dimensions of the list lie by strides that a call gives |
    | `ft.strides` | argument | `[array<i64: 0>, array<i64: 1, 2>]`: the caller's dimensions that each of these stands for |
    | `ft.held` | argument | `"layer.weight"`: the name under which a module of the caller holds it |
    | `ft.binds` | function | `["scale"]`: the names under which a module holds the results |
    | `ft.partition` | function | `"cost"`: how a GPU's graphs of the program are cut into kernels (`etdg-partition`) |
    | `ft.residuals` | function | `["argument 0", "saved 0"]`: where the first arguments of a backward function come from |
    | `ft.saved` | operation with results | `true` or `false`: whether `ft-differentiate` saves them, or computes them again |
    | `ft.checkpoint` | `fold` or `scan` | `[64]`: of how many iterations `ft-differentiate` saves one state |
    | `ft.leaf` | function | tensor operations of one leaf, of which `ft-generate-leaf` makes loops; `ft.leaf_batched`, `ft.leaf_aliases`: `array<i1: ...>`, of which arguments each row has its own, which results may share memory with arguments; `ft.leaf_listed`: rows are given by a list of their addresses; `ft.leaf_sums`: the type in which halves are added up; `ft.leaf_layouts`, `ft.leaf_scratch`, `ft.leaf_row_loops`, `ft.leaf_guards`: how a core computes its loop nests, lists that `ft-choose-leaf` writes |
    | `ft.scratch_fixed`, `ft.scratch_per_row` | function | bytes that loops of a leaf need, and for each row; `ft.leaf_checks`: they check indices that are data |
    | `ft.product` | function | a text that says which product of a leaf it computes, for all leaves that have the same |
  }];
  let discardableAttrs = (ins "::mlir::ft::BoundsAttr":$bounds, "::mlir::DictionaryAttr":$lengths, "::mlir::DictionaryAttr":$typical,
                              "::mlir::Attribute":$gen, "::mlir::IntegerAttr":$strided, "::mlir::ArrayAttr":$strides,
                              "::mlir::StringAttr":$held, "::mlir::ArrayAttr":$binds, "::mlir::StringAttr":$partition,
                              "::mlir::ArrayAttr":$residuals, "::mlir::Attribute":$saved, "::mlir::ArrayAttr":$checkpoint,
                              "::mlir::UnitAttr":$leaf, "::mlir::DenseBoolArrayAttr":$leaf_batched, "::mlir::DenseBoolArrayAttr":$leaf_aliases,
                              "::mlir::UnitAttr":$leaf_listed, "::mlir::TypeAttr":$leaf_sums, "::mlir::ArrayAttr":$leaf_layouts,
                              "::mlir::ArrayAttr":$leaf_scratch, "::mlir::ArrayAttr":$leaf_row_loops, "::mlir::ArrayAttr":$leaf_guards,
                              "::mlir::UnitAttr":$leaf_checks, "::mlir::IntegerAttr":$scratch_fixed, "::mlir::IntegerAttr":$scratch_per_row,
                              "::mlir::StringAttr":$product);
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasConstantMaterializer = 0;
  let dependentDialects = ["arith::ArithDialect", "tensor::TensorDialect"];
  let extraClassDeclaration = [{
    void registerAttributeList();
    void registerTypeList();
    void registerOperationList();
  }];
}

#endif // FT_DIALECT
