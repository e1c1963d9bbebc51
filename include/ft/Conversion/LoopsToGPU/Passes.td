//===- Passes.td - from graphs to a GPU's kernels ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_LOOPSTOGPU_PASSES
#define FT_CONVERSION_LOOPSTOGPU_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLoopsToGPU : Pass<"convert-loops-to-gpu", "::mlir::ModuleOp"> {
  let summary = "turn structured loops into kernels of a GPU and launch plans";
  string reads = "all attributes of loops and leaves";
  string writes = "`gpu.module`, `tile.plan`, `tile.target`";
  let description = [{
    Each `loops.program`, with the kernels that it launches, becomes a `gpu.module` of its name. Each launch becomes an LLVM
    function, whose body is `scf`, `arith`, `math` and `tile`. What only one thread knows (its number, barriers, shuffles) is in
    `nvvm`. `tile.plan` has the launch plan as a bundle has it (JSON): what the host allocates, launches and passes.
    `tile.target` names what it is for; the module's target is the same as upstream's passes know it.

    Here SPMD begins: loops of level `grid` become the tasks that a thread block counts as its own, in their mapping. Syncs
    become barriers of the grid, and their launches cooperative. Memory of a thread block becomes shared memory or a part of
    the workspace. Leaves become what its threads compute by their layouts. Indices become integers of 64 bits, memory becomes
    pointers. The pass knows nothing but the loops: a program that was printed, changed and parsed makes the kernels that it says.

    ```
    ft-opt x.mlir --ft-compile="to=storage target=sm_90a" --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu \
      --convert-loops-to-gpu
    ```

    It decides none of what `loops-choose-divisions`, `loops-choose-layouts`, `loops-choose-tasks`, `loops-find-alignment`,
    `loops-place-memory`, `loops-choose-accesses`, `loops-keep-sums`, `loops-choose-points`, `loops-choose-copies` and
    `loops-place-syncs` write (together `loops-decide-for-gpu`). The pass refuses, with an error at the operation, a kernel
    without thread blocks (`loops.grid`), and blocks or shared memory beyond the machine's. It also refuses rows or columns that
    a leaf has no room for, and a decision that is missing or does not fit. Lifted loops that no leaf computes at once, and
    operations that have no form in a kernel, are errors, too. `tile-lower-kernels` follows.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"", "sm_80 or sm_90a; empty: the program's own">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "the machine, by its name or its file, a GPU; empty: the program's own">,
                 Option<"barrierLimit", "barrier-limit", "int64_t", "0",
                        "After so many polls of a grid barrier that does not open, a kernel reports and traps; 0: it waits on (for tests)">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::tile::TileDialect"];
}

def TileUseSpecialFunctions : Pass<"tile-use-special-functions"> {
  let summary = "turn elementary functions of f32 into what a GPU's special function unit computes";
  let description = [{
    In kernels, elementary functions of f32 (`exp`, `exp2`, `expm1`, `log`, `log2`, `log1p`, `tanh`, `erf`, `rsqrt`) become the
    special function unit's powers of 2, logarithms and reciprocals. Arguments are reduced and results put together in full
    precision. `exp2` with `fastmath<afn>`, which stands for a half, what the unit does alone; such an `exp` is left to
    `tile-scale-exponents`. A division with `fastmath<arcp>`
    becomes a product with the reciprocal, refined once. Runs before `convert-tile-to-nvvm`, on the bodies of its operations;
    other types are left to `tile-expand-math`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect"];
}

def TileExpandMath : Pass<"tile-expand-math"> {
  let summary = "turn elementary functions of kernels into what a GPU has instructions for";
  let description = [{
    Functions of `math` become polynomials and instructions, divisions that round up or down become those that truncate. Runs on what
    `convert-tile-to-nvvm` leaves. Refused, with an error where it stands: a function that has no rule for its type.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

#endif // FT_CONVERSION_LOOPSTOGPU_PASSES
