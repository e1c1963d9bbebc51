//===- Passes.td - from tiles to NVVM ----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_TILETONVVM_PASSES
#define FT_CONVERSION_TILETONVVM_PASSES

include "mlir/Pass/PassBase.td"

def ConvertTileToNVVM : Pass<"convert-tile-to-nvvm"> {
  let summary = "turn tiles into what one thread of a block does";
  let description = [{
    A tile in registers becomes a value for each element that a thread holds, also where loops carry it and branches yield
    it. A matrix in memory a pointer with strides and sizes. A tile in shared memory a pointer. Copies become `cp.async`
    or loads and stores, guarded where elements may lie beyond the matrix. Products fused multiply-adds, unrolled over a
    step, with operands read from shared memory in accesses of up to 16 bytes. Rows become a value for each element of a lane, in accesses
    that are masked where a row ends. What their lanes combine goes through shuffles, and between warps through shared memory. Nests become
    loops over the tiles of points that are a thread's, with a value for each element of a tile; threads that share a point join their sums likewise. What is left is `arith`, `math`, `scf`,
    `llvm` and `nvvm`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def TileScaleExponents : Pass<"tile-scale-exponents"> {
  let summary = "write exponentials that stand for halves as powers of 2, with their factors multiplied beforehand";
  let description = [{
    Rewrites f32 numbers of threads, after `convert-tile-to-nvvm`. An `exp` with `fastmath<afn>` becomes an `exp2`, for which
    `tile-use-special-functions` has an instruction. exp(s·c − m) becomes exp2(s·(c·log₂e) − m·log₂e), one instruction and a product
    that a row's numbers share. The exponent is as near, by f32's digits of |s·c| + |m|. Where such a power is rounded to a half
    and extended again, the rounding is left out. The maximum of a·c and b·c, where nothing else reads these and c > 0, becomes that
    of a and b times c, which is the same number.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // FT_CONVERSION_TILETONVVM_PASSES
