//===- MergeTiles.cpp - do all units have tiles after a merge -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that moves in with one that reads all of its row saves the row's way
// through memory, and leaves units without work where there are few rows: apart, each
// of the two is shared out by columns as well. With many rows it makes caches hold
// both right-hand sides, which they can't where these are large. The machine decides.
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
  double elements = 1;    // of the last one's result
  double bytes = 0;       // of it
  double sharedBytes = 0; // of operands that do not depend on the iteration
};
} // namespace

/// Bytes of what leaves inside a block give a product, and is the same at all of its iterations.
static double sharedBytesOf(BlockOp block) {
  double bytes = 0;
  forEachAccess(block, [&](Access &access) {
    bool isInside = block->isAncestor(access.buffer.getParentBlock()->getParentOp());
    if (access.kind != Access::Read || access.piece != 0 || isInside || !access.gathers.empty())
      return;
    for (unsigned d = 0; d < access.block.getNumDims(); ++d)
      if (access.map.isFunctionOfDim(d))
        return;
    Value read = access.block.getBody().getArgument(access.index);
    auto type = dyn_cast<RankedTensorType>(read.getType());
    bool isOperand = llvm::any_of(read.getUsers(), [](Operation *user) {
      auto op = dyn_cast<linalg::LinalgOp>(user);
      return op && linalg::isaContractionOpInterface(op);
    });
    if (type && type.hasStaticShape() && isOperand)
      bytes += double(type.getNumElements()) * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  });
  return bytes;
}

static Products productsOf(BlockOp block) {
  Products all;
  block->walk([&](linalg::LinalgOp op) {
    if (!linalg::isaContractionOpInterface(op))
      return;
    double points = 1;
    for (int64_t range : op.getStaticLoopRanges())
      points *= ShapedType::isDynamic(range) ? 1 : static_cast<double>(range);
    all.flops += 2 * points;
    if (auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType()); result && result.hasStaticShape()) {
      all.elements = static_cast<double>(result.getNumElements());
      all.bytes = all.elements * llvm::divideCeil(result.getElementTypeBitWidth(), 8);
    }
  });
  if (all.flops != 0)
    all.sharedBytes = sharedBytesOf(block);
  return all;
}

/// Whether two products read no more as one, of right-hand sides that all points share, than it saves to keep what the first gives.
static bool readsNoMore(double points, const Products &first, const Products &second, const ft::Machine &machine, MergeRefusal &refusal) {
  double together = ft::sharedReadSeconds({points, first.flops + second.flops, 1, first.sharedBytes + second.sharedBytes}, machine);
  if (together == 0)
    return true;
  double apart = ft::sharedReadSeconds({points, first.flops, first.elements, first.sharedBytes}, machine) +
                 ft::sharedReadSeconds({points, second.flops, second.elements, second.sharedBytes}, machine);
  double between = 2 * points * first.bytes; // written, and read
  apart += machine.sync.launch + between / machine.units / machine.sourceFor(points * first.bytes).bytesPerSecond;
  if (together <= apart)
    return true;
  auto micros = [](double seconds) { return std::to_string(static_cast<int64_t>(std::ceil(seconds * 1e6))) + " us"; };
  refusal = {"tiles", "two products, as one, read right-hand sides of " + std::to_string(static_cast<int64_t>(first.sharedBytes + second.sharedBytes)) +
                          " bytes again for each call's rows, " + micros(together) + " of a unit; apart, with what is between them in memory, " +
                          micros(apart)};
  return false;
}

bool BodyMerger::leavesTiles(const Alignment &aligned, const OuterDomain &outer, unsigned k, MergeRefusal &refusal) {
  BlockOp a = aligned.a.block, b = aligned.b.block;
  tilesOfProducts.clear();
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
  auto number = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
  std::string counts = number(together) + " tiles are left at typical lengths, apart " + number(apart) + "; the machine has " +
                       std::to_string(machine.units) + " units";
  if (together >= machine.units || together >= apart) {
    tilesOfProducts = "; of two products, as one, " + counts;
    return readsNoMore(points, first, second, machine, refusal);
  }
  refusal = {"tiles", "of two products, as one, " + counts};
  return false;
}
