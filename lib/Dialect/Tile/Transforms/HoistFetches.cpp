//===- HoistFetches.cpp - fetches that a loop does not change --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product in a loop may have an operand that is the same in each iteration: the
// queries of attention, or a weight. It is fetched once, before the loop.
//
//===----------------------------------------------------------------------===//
#include "Pipelined.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEHOISTFETCHES
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

/// Whether a loop hands tiles in registers from one iteration to the next.
static bool carriesTiles(scf::ForOp loop) {
  return llvm::any_of(loop.getRegionIterArgs(), [](BlockArgument argument) { return isa<RegistersType, RowVectorType>(argument.getType()); });
}

/// Adds what of a loop's body a value is computed from, each after its operands; false where an iteration changes it.
static bool findInvariant(Value value, scf::ForOp loop, llvm::SetVector<Operation *> &found) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op) || op->getBlock() != loop.getBody())
    return false;
  if (found.contains(op))
    return true;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return findInvariant(operand, loop, found); }))
    return false;
  found.insert(op);
  return true;
}

static void hoist(FetchOp fetch) {
  while (auto loop = dyn_cast<scf::ForOp>(fetch->getParentOp())) {
    llvm::SetVector<Operation *> moved;
    if (!carriesTiles(loop) || !llvm::all_of(fetch->getOperands(), [&](Value operand) { return findInvariant(operand, loop, moved); }))
      return;
    for (Operation *op : moved)
      op->moveBefore(loop);
    fetch->moveBefore(loop);
  }
}

namespace {
struct TileHoistFetches : tile::impl::TileHoistFetchesBase<TileHoistFetches> {
  void runOnOperation() override {
    (void)eachPipelined(getOperation(), [](LLVM::LLVMFuncOp kernel, PipelineAttr) {
      SmallVector<FetchOp> fetches;
      kernel.walk([&](FetchOp fetch) { fetches.push_back(fetch); });
      llvm::for_each(fetches, hoist);
      return success();
    });
  }
};
} // namespace
