//===- PlaceConstants.cpp - values of rows that lie in memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that are one value each have no memory, as threads know the value; a product in tiles reads its operands from memory all the same. Which
// of them lie there, as constants, is said where they are made (`loops.constant`, by `loops-place-memory`), and checked where products read them.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// Calls `take` for each splat that a view's memory may be.
static void eachSplat(Value memory, llvm::function_ref<void(loops::SplatOp)> take) {
  Operation *op = memory.getDefiningOp();
  if (auto splat = dyn_cast_or_null<loops::SplatOp>(op)) {
    take(splat);
  } else if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(memory).getResultNumber();
    eachSplat(branch.thenYield().getOperand(number), take);
    eachSplat(branch.elseYield().getOperand(number), take);
  }
}

/// What the members of a nest read.
static SmallVector<leaf::ElementView> readsOf(const leaf::Nest &nest) {
  SmallVector<leaf::ElementView> reads;
  for (const leaf::NestMember &member : nest.members)
    llvm::append_range(reads, member.reads);
  return reads;
}

/// Calls `take` for each splat that a product of a leaf may read.
static void eachOperand(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, llvm::function_ref<void(loops::SplatOp)> take) {
  const leaf::LeafGraph &graph = own.form.graph;
  for (auto [tiles, nest] : llvm::zip(tiling.tiles, graph.nests))
    for (const leaf::ElementView &view : readsOf(nest))
      if (tiles.product && !view.isSplat() && graph.buffers[view.buffer].kind == leaf::Buffer::Kind::Input)
        if (auto rows = leaf.getInputs()[graph.buffers[view.buffer].number].getDefiningOp<loops::ViewOp>())
          eachSplat(rows.getMemory(), take);
}

void togpu::keepConstants(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling) {
  // (Values that are no constants, or too many of them, no layout lets a product read.)
  eachOperand(leaf, own, tiling, [](loops::SplatOp splat) { splat->setAttr(loops::names::constant, UnitAttr::get(splat.getContext())); });
}

LogicalResult togpu::checkConstants(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling) {
  loops::SplatOp missing;
  eachOperand(leaf, own, tiling, [&](loops::SplatOp splat) {
    if (!splat->hasAttr(loops::names::constant))
      missing = splat;
  });
  if (!missing)
    return success();
  InFlightDiagnostic diag = leaf.emitError("the GPU engine can't run the leaf: its product reads operands from memory, where one of them is a value: "
                                           "expected loops.constant, which loops-place-memory gives it");
  diag.attachNote(missing.getLoc()) << "the value is here";
  return diag;
}
