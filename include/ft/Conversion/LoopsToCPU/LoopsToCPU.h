//===- LoopsToCPU.h - structured loops to threads of a CPU ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel becomes
//
//   @NAME(%env: !llvm.ptr, %begin: i64, %end: i64)   tasks [begin, end)
//   @NAME_count(%env: !llvm.ptr) -> i64              the number of tasks
//
// where tasks of one kernel are independent; or, with the attribute `loops.team`, a function that
// all threads of a parallel region run at once, as
//
//   @NAME(%env: !llvm.ptr, %tid: i64, %threads: i64)
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_LOOPSTOCPU_LOOPSTOCPU_H
#define FT_CONVERSION_LOOPSTOCPU_LOOPSTOCPU_H

#include "ft/Conversion/LoopsToCPU/Environment.h"
#include "ft/Machine/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ft {

#define GEN_PASS_DECL_FTCHOOSELEAF
#define GEN_PASS_DECL_FTGENERATELEAF
#define GEN_PASS_DECL_CONVERTLOOPSTOCPU
#define GEN_PASS_DECL_LOOPSGRIDTOCORES
#define GEN_PASS_DECL_LOOPSCHOOSEGUARDS
#define GEN_PASS_DECL_LOOPSCHOOSEROWLOOPS
#define GEN_PASS_DECL_LOOPSCHOOSETILES
#define GEN_PASS_DECL_LOOPSPLACESCRATCH
#define GEN_PASS_DECL_LOOPSLOWERLEAVES
#define GEN_PASS_DECL_LOOPSVECTORIZELEAVES
#include "ft/Conversion/Passes.h.inc"

/// What the pass `convert-loops-to-cpu` does. `poison`: memory of an iteration is all ones when it begins (for tests).
LogicalResult convertLoopsToCpu(ModuleOp module, bool poison = false);

/// What the pass `loops-grid-to-cores` does.
LogicalResult gridToCores(ModuleOp module);

/// What the passes `loops-choose-tiles` (for a processor), `loops-choose-row-loops`, `loops-choose-guards` and `loops-place-scratch` do.
LogicalResult chooseLeafTiles(ModuleOp module, const CpuTarget &target);
LogicalResult chooseLeafRowLoops(ModuleOp module);
LogicalResult chooseLeafGuards(ModuleOp module);
LogicalResult placeLeafScratch(ModuleOp module);

/// What the pass `loops-vectorize-leaves` does.
LogicalResult vectorizeLeaves(ModuleOp module);

/// What the pass `loops-lower-leaves` does.
LogicalResult lowerLeaves(ModuleOp module);

} // namespace mlir::ft

#endif // FT_CONVERSION_LOOPSTOCPU_LOOPSTOCPU_H
