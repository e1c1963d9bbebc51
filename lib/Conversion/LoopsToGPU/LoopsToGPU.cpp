//===- LoopsToGPU.cpp - graphs to kernels, by way of loops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"

#include "ft/Conversion/ETDGToLoops/ETDGToLoops.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ft;

FailureOr<GpuModule> mlir::ft::lowerGraphToGpu(etdg::GraphOp graph, const GpuOptions &options) {
  // Schedules ask what leaves are as functions, and lay their products out in tiles.
  graph.getContext()->loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, scf::SCFDialect,
                                  tensor::TensorDialect, tile::TileDialect>();
  OwningOpRef<ModuleOp> owner = ModuleOp::create(graph.getLoc());
  if (failed(checkStridedReads(graph)) || failed(convertGridGraphToLoops(graph, *owner, options)))
    return failure();
  loops::ProgramOp program = *owner->getOps<loops::ProgramOp>().begin();
  if (failed(decideKernels(program, options)))
    return failure();
  return lowerProgramToGpu(program, options);
}

LogicalResult mlir::ft::decideKernels(loops::ProgramOp program, const GpuOptions &options) {
  return success(succeeded(chooseKernelDivisions(program, options)) && succeeded(chooseLeafLayouts(program, options)) && succeeded(chooseKernelTasks(program, options)) &&
                 succeeded(findKernelAlignment(program, options)) && succeeded(placeKernelMemory(program, options)) &&
                 succeeded(chooseKernelAccesses(program, options)) && succeeded(keepKernelSums(program, options)) &&
                 succeeded(chooseKernelPoints(program, options)) &&
                 succeeded(chooseKernelCopies(program, options)) && succeeded(placeKernelSyncs(program, options)));
}
