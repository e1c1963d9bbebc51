//===- Passes.td - from graphs to a GPU's kernels ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_ETDGTOGPU_PASSES
#define FT_CONVERSION_ETDGTOGPU_PASSES

include "mlir/Pass/PassBase.td"

def ConvertETDGToGPU : Pass<"convert-etdg-to-gpu", "::mlir::ModuleOp"> {
  let summary = "turn graphs into kernels of a GPU and launch plans";
  let description = [{
    Each graph becomes a module of its name: an LLVM function for each kernel, whose body is `scf`, `arith`, `math` and `tile`, with what only
    one thread knows (its number, barriers, shuffles) in `nvvm`; and, as `tile.plan`, the launch plan as a bundle has it (JSON): what the
    host allocates, launches and passes. `tile.target` names what it is for. What the graph's schedules leave open is
    planned first (`etdg-schedule-for-gpu`). `tile-lower-kernels` follows.

    With `through-loops` kernels are made from the structured loops of the graph's schedules (`convert-etdg-to-loops`): what blocks of
    threads share becomes tasks that each of them counts, the launch plan comes from the `loops.program`.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_90a\"", "sm_80 or sm_90a">,
                 Option<"machine", "machine", "std::string", "\"\"",
                        "the machine, by its name or its file, a GPU; empty: the built-in one of the target">,
                 Option<"throughLoops", "through-loops", "bool", "false", "by way of structured loops">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

def TileLowerKernels : Pass<"tile-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "turn kernels of tiles, loops and arithmetic into the LLVM and NVVM dialects";
  let description = [{
    Runs on the modules that `convert-etdg-to-gpu` makes, and leaves what LLVM's NVPTX target takes: tiles as
    `convert-tile-to-nvvm` has them, elementary functions as polynomials and instructions, structured loops as branches.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

#endif // FT_CONVERSION_ETDGTOGPU_PASSES
