//===- ETDGDialect.td - the etdg dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ETDG_DIALECT
#define ETDG_DIALECT

include "mlir/IR/OpBase.td"

def ETDG_Dialect : Dialect {
  let name = "etdg";
  let cppNamespace = "::mlir::etdg";
  let summary = "The extended task dependence graph (FT §4.4)";
  let description = [{
    Blocks with an integer iteration domain, one operator per dimension, and
    affine access maps to buffers. A buffer is written once at each index (single
    assignment), so dependences are a question about maps and sets alone.

    Names: an *iteration vector* is that of a block's ancestors followed by its
    own dimensions. Maps and sets range over it; their symbols are named lengths
    (`symbols` of the block, sorted).
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::ft::FTDialect"];
}

#endif // ETDG_DIALECT
