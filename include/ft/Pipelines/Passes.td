//===- Passes.td - passes that speak of phases -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_PIPELINES_PASSES
#define FT_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def FTCheckCompileOptions : Pass<"ft-check-compile-options", "::mlir::ModuleOp"> {
  let summary = "say what is wrong with the options of ft-compile";
  let description = [{
    Stands in place of the pipeline where its options make none, and fails with the reason. The options are
    those of `--ft-compile`.
  }];
  let options = [
    Option<"from", "from", "std::string", "\"input\"", "The phase that the input has reached">,
    Option<"to", "to", "std::string", "\"target\"", "The phase to stop at">,
    Option<"target", "target", "std::string", "\"cpu\"", "cpu, sm_80 or sm_90a">,
    Option<"machine", "machine", "std::string", "\"\"", "What the phases plan for">,
    Option<"dump", "dump", "std::string", "\"\"", "A folder for the module after each phase">,
    ListOption<"skip", "skip", "std::string", "Phases to leave out">,
    Option<"validate", "validate", "std::string", "\"on\"", "Whether phases are proved: on or off">,
    ListOption<"lengths", "lengths", "std::string", "Lengths to plan for, NAME=NUMBER">,
    Option<"steps", "steps", "std::string", "\"choose\"", "Steps of a GPU's grid: choose, always or never">,
    Option<"partition", "partition", "std::string", "\"\"", "Kernels of a GPU: boundary, souffle or cost">,
    Option<"rounding", "rounding", "std::string", "\"excess\"", "Of f16 and bf16: excess or exact">
  ];
}

def FTChooseMerges : Pass<"ft-choose-merges", "::mlir::ModuleOp"> {
  let summary = "leave products apart where a GPU takes less time so";
  string reads = "graphs before `coarsen`, prices";
  string writes = "`etdg.apart`";
  let description = [{
    Coarsening merges blocks of products before anything has a price. For each graph this pass runs the phases `coarsen` and `reorder` on a copy, and
    prices what they made as it will be scheduled. The same is done without any merge (`["*"]`), and without all those of two blocks with products:
    in rounds, since others may be made then. From the cheapest of all merges and these rounds each merge of products is a candidate then: it is left out, or made again. Forms are
    priced with their reductions cut into shares (`etdg-choose-cuts-for-gpu`). Items that a form has like the best one so far do not count. It replaces that
    one where its other items take at most `division_share` percent of the time. The graph names what is left out (`etdg.apart`). At most `most`
    merges are tried one by one. The remark `merges` (category `partition`) has all prices.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_90a\"", "The GPU whose kernels are priced: sm_80 or sm_90a">,
    Option<"machine", "machine", "std::string", "\"\"", "A machine, a GPU, by its name or file (default: the target's)">,
    Option<"multiprocessors", "multiprocessors", "int64_t", "0", "SMs to plan for (0: the machine's)">,
    Option<"rounding", "rounding", "std::string", "\"excess\"", "Of f16 and bf16: excess or exact">,
    Option<"most", "most", "unsigned", "8", "Merges that are tried">
  ];
}

def FTDumpPhase : Pass<"ft-dump-phase", "::mlir::ModuleOp"> {
  let summary = "write the module to a file that a phase names";
  let description = [{
    Writes `<folder>/<number>-<phase>.mlir`, which `--ft-compile="from=<phase>"`
    takes up again.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"\"", "The phase that has been reached">,
    Option<"folder", "folder", "std::string", "\".\"", "The folder, which exists">
  ];
}

def FTSkipPhase : Pass<"ft-skip-phase", "::mlir::ModuleOp"> {
  let summary = "say in a remark that a phase is the identity";
  let description = [{
    Stands in a pipeline where a phase has no passes yet, so that its name can be
    given as the start and end of `--ft-compile`. The remark is called
    `identity`, of category `phase`.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"\"", "The phase that is the identity">];
}

def FTVerifyPhase : Pass<"ft-verify-phase", "::mlir::ModuleOp"> {
  let summary = "check the contract of a phase";
  let description = [{
    What a module must satisfy to have reached a phase:

    | phase | contract |
    |---|---|
    | `input` | functions over lists, functions over tensors, graphs |
    | `ft` | no function over lists calls another; `ft-verify` |
    | `etdg` | every function over lists has become a graph, nothing of `ft` is left in operations; `etdg-verify` |
    | `coarsen` … `target` | that of `etdg` |

    Everything that violates the contract is reported, not the first only.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"etdg\"",
                        "input, ft, etdg, coarsen, reorder, partition, schedule, storage, tile, threads, pipeline or target">];
}

def TileLowerKernels : Pass<"tile-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "turn kernels of tiles, loops and arithmetic into the LLVM and NVVM dialects";
  string reads = "`tile`, `nvvm`, `scf`";
  string writes = "`llvm`, `nvvm`";
  let description = [{
    Runs on the modules that `convert-loops-to-gpu` makes, and leaves what LLVM's NVPTX target takes. Tiles become what
    `convert-tile-to-nvvm` makes of them, elementary functions what `tile-use-special-functions` and `tile-expand-math` make.
    Structured loops become branches. These passes, and those of MLIR between and after them, run nested in this one:
    `--mlir-print-ir-after-all` prints each of them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

#endif // FT_PIPELINES_PASSES
