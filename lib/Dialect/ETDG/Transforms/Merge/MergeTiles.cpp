//===- MergeTiles.cpp - do all units have tiles after a merge -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that moves in with one that reads all of its row saves the row's way
// through memory, and leaves units without work where there are few rows: apart, each
// of the two is shared out by columns as well. One function of the machine decides.
//
//===----------------------------------------------------------------------===//
#include "MergeBody.h"
#include "ft/Machine/TilesLeft.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

namespace {
/// Of the products inside a block, at one iteration of it.
struct Products {
  double flops = 0;
  double elements = 1; // of the last one's result
};
} // namespace

static Products productsOf(BlockOp block) {
  Products all;
  block->walk([&](linalg::LinalgOp op) {
    if (!linalg::isaContractionOpInterface(op))
      return;
    double points = 1;
    for (int64_t range : op.getStaticLoopRanges())
      points *= ShapedType::isDynamic(range) ? 1 : static_cast<double>(range);
    all.flops += 2 * points;
    if (auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType()); result && result.hasStaticShape())
      all.elements = static_cast<double>(result.getNumElements());
  });
  return all;
}

bool BodyMerger::leavesTiles(const Alignment &aligned, const OuterDomain &outer, unsigned k, MergeRefusal &refusal) {
  BlockOp a = aligned.a.block, b = aligned.b.block;
  // What a loop accumulates, and what runs in order, gains more than tiles; a body is one unit's.
  if (a.getNumAncestors() != 0 || a.getNumOwnDims() != k || b.getNumOwnDims() != k ||
      llvm::any_of(ArrayRef(aligned.operators).take_front(k), [](OperatorKind kind) { return kind != OperatorKind::Map; }))
    return true;
  Products first = productsOf(a), second = productsOf(b);
  if (first.flops == 0 || second.flops == 0)
    return true;
  double points = legality.getTypicalSize(outer.set, outer.symbols, 0, k);
  double together = ft::tilesLeft({points, first.flops + second.flops, 1}, machine);
  double apart = std::min(ft::tilesLeft({points, first.flops, first.elements}, machine),
                          ft::tilesLeft({points, second.flops, second.elements}, machine));
  if (together >= machine.units || together >= apart)
    return true;
  auto number = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
  refusal = {"tiles", "of two products, as one, " + number(together) + " tiles would be left at typical lengths, apart " +
                          number(apart) + "; the machine has " + std::to_string(machine.units) + " units"};
  return false;
}
