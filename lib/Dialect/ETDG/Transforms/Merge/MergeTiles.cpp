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
#include "MergedProducts.h"

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
  apart += machine.apartSeconds() + between / machine.units / machine.sourceFor(points * first.bytes).bytesPerSecond;
  if (together <= apart)
    return true;
  auto micros = [](double seconds) { return std::to_string(static_cast<int64_t>(std::ceil(seconds * 1e6))) + " us"; };
  refusal = {"tiles", "two products, as one, read right-hand sides of " + std::to_string(static_cast<int64_t>(first.sharedBytes + second.sharedBytes)) +
                          " bytes again for each call's rows, " + micros(together) + " of a unit; apart, with what is between them in memory, " +
                          micros(apart)};
  return false;
}

/// Whether a point of a body runs loops of its own.
static bool hasLoopsInside(BlockOp body) {
  WalkResult found = body->walk([&](BlockOp inner) { return inner != body && inner.getNumOwnDims() > 0 ? WalkResult::interrupt() : WalkResult::advance(); });
  return found.wasInterrupted();
}

/// Whether rows of the first or of the second have to be whole where they are one, so that their columns can't be shared out any more.
static bool needsWholeRows(BlockOp a, BlockOp b, const MergedProducts &first, const MergedProducts &second, ArrayRef<Flow> flows, bool isWhole) {
  // What a product multiplies, loops inside of the task put together, or another block sums up along the row: a norm. A maximum and what
  // follows it stay with its product (a softmax).
  if (first.products.empty())
    return !second.products.empty() && (!isWhole || hasLoopsInside(a) || (reducesInside(a) && !takesMaxima(a))) && multiplies(b, flows);
  HandedOn from = findHandedOn(a, flows);
  if (second.products.empty())
    return !isWhole || (reducesInside(b) && from == HandedOn::Product);
  return !isWhole || (from != HandedOn::Nothing && multiplies(b, flows));
}

/// Whether all units have tiles after the merge, or had none before.
bool BodyMerger::keepsTiles(const Alignment &aligned, ArrayRef<Flow> flows, unsigned k, MergeRefusal &refusal) {
  BlockOp a = aligned.a.block, b = aligned.b.block;
  bool isWhole = a.getNumOwnDims() == k && b.getNumOwnDims() == k;
  MergedProducts first = findProducts(aligned.a, k, legality), second = findProducts(aligned.b, k, legality);
  if (!first.products.empty() && !second.products.empty()) {
    nameOfProducts = (a.getBlockName().value_or("") + "+" + b.getBlockName().value_or("")).str();
    if (products && llvm::is_contained(products->apart, nameOfProducts)) {
      refusal = {"price", "apart, the two products take less time"};
      return false;
    }
  }
  // Units of a CPU share out loops inside of a body as well.
  bool isAsked = ft::sharesInnerLoops(machine) ? isWhole && !first.products.empty() && !second.products.empty()
                                               : needsWholeRows(a, b, first, second, flows, isWhole);
  if (!isAsked)
    return true;
  double bytes = isWhole ? bytesOfIteration(aligned.a, k, legality) : 0; // (what loops inside of a task hand on need not be near)
  double together = std::min(first.tilesOfOuter(bytes, machine), second.tilesOfOuter(bytes, machine));
  double apart = std::min(first.tilesApart(machine), second.tilesApart(machine));
  auto number = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
  bool areTwo = !first.products.empty() && !second.products.empty();
  std::string counts = std::string(areTwo ? "of two products" : "of a product and what takes its rows whole") + ", as one, " + number(together) +
                       " tiles are left at typical lengths, apart " + number(apart) + "; the machine has " + std::to_string(machine.units) + " units";
  if (together >= machine.units || together >= apart) {
    tilesOfProducts = "; " + counts;
    return true;
  }
  refusal = {"tiles", counts};
  return false;
}

bool BodyMerger::leavesTiles(const Alignment &aligned, ArrayRef<Flow> flows, const OuterDomain &outer, unsigned k, MergeRefusal &refusal) {
  BlockOp a = aligned.a.block, b = aligned.b.block;
  tilesOfProducts.clear();
  nameOfProducts.clear();
  // What a loop accumulates, and what runs in order, gains more than tiles; a body is one unit's.
  if (a.getNumAncestors() != 0 || llvm::any_of(ArrayRef(aligned.operators).take_front(k), [](OperatorKind kind) { return kind != OperatorKind::Map; }))
    return true;
  if (!keepsTiles(aligned, flows, k, refusal))
    return false;
  if (a.getNumOwnDims() != k || b.getNumOwnDims() != k)
    return true;
  Products first = productsOf(a), second = productsOf(b);
  if (first.flops == 0 || second.flops == 0)
    return true;
  return readsNoMore(legality.getTypicalSize(outer.set, outer.symbols, 0, k), first, second, machine, refusal);
}

bool BodyMerger::makesSmaller(const Alignment &aligned, const OuterDomain &outer, unsigned k, MergeRefusal &refusal) {
  BlockOp a = aligned.a.block, b = aligned.b.block;
  bool isWhole = a.getNumOwnDims() == k && b.getNumOwnDims() == k;
  if (isWhole || a.getNumAncestors() != 0 || ft::sharesInnerLoops(machine) || legality.getTypicalSize(outer.set, outer.symbols, 0, k) > 1)
    return true;
  double most = 0; // iterations that would be one unit's
  for (const Coordinates *c : {&aligned.a, &aligned.b})
    most = std::max(most, legality.getTypicalSize(c->domain, c->symbols, 0, BlockOp(c->block).getNumOwnDims()));
  if (most * double(machine.gpu.taskElements) < double(machine.gpu.streamElements))
    return true;
  refusal = {"cost", "the aligned dimensions have one iteration: no intermediate would become smaller, and one unit would compute all"};
  return false;
}
