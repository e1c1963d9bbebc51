//===- MergedProducts.cpp - products of a block that may be merged --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU computes a product in tiles of rows and columns. Which of a block's dimensions
// are rows of its product, and which are columns, follows from the operand that each
// moves; a dimension that moves both counts products side by side.
//
//===----------------------------------------------------------------------===//
#include "MergedProducts.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

/// Whether an operation sums up products of two of its operands: a contraction, a convolution.
static bool isProduct(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumReductionLoops() == 0 || linalgOp.getNumDpsInputs() != 2)
    return false;
  return llvm::any_of(op->getRegion(0).front(), llvm::IsaPred<arith::MulFOp, arith::MulIOp>);
}

static bool isMaximum(Operation *op) {
  if (isa<linalg::SoftmaxOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0 &&
         llvm::any_of(op->getRegion(0).front(), llvm::IsaPred<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>);
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

/// The dimensions of a leaf that move what a value of its body is computed from.
static llvm::SmallBitVector movedBy(Value value, BlockOp leaf) {
  llvm::SmallBitVector dims(leaf.getNumDims());
  llvm::SmallPtrSet<Value, 8> seen;
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (Operation *op = next.getDefiningOp()) {
      llvm::append_range(work, op->getOperands());
      continue;
    }
    auto argument = cast<BlockArgument>(next);
    if (argument.getOwner() != &leaf.getBody().front())
      continue;
    for (PieceAttr piece : leaf.getRead(argument.getArgNumber()).getPieces()) {
      auto add = [&](AffineMap map) {
        for (unsigned d = 0; d < dims.size(); ++d)
          if (map.isFunctionOfDim(d))
            dims.set(d);
      };
      add(piece.getMap().getValue());
      for (GatherAttr gather : piece.getGathers())
        add(gather.getMap().getValue());
      // A buffer inside of a block is another one for each of its iterations.
      Operation *definition = piece.getKind() == SourceKind::Buffer ? leaf.getBuffers()[piece.getOperand()].getDefiningOp() : nullptr;
      if (auto around = definition ? dyn_cast<BlockOp>(definition->getParentOp()) : BlockOp())
        dims.set(0, around.getNumDims());
    }
  }
  return dims;
}

namespace {
/// Counts the iterations of a product.
struct ProductCounter {
  BlockOp leaf;
  linalg::LinalgOp op;
  MergeLegality &legality;

  /// `outermost`: of the dimensions of `block`.
  MergedProduct count(BlockOp block, const llvm::SmallBitVector &outermost) {
    llvm::SmallBitVector left = movedBy(op->getOperand(0), leaf), right = movedBy(op->getOperand(1), leaf);
    BlockBuilder spec = BlockBuilder::from(leaf), around = BlockBuilder::from(block);
    unsigned first = block.getNumAncestors();
    MergedProduct product;
    double points = 1;
    for (unsigned d = first; d < leaf.getNumDims(); ++d) {
      // Conditions on the dimensions of a block around stand there.
      double size = d < block.getNumDims() ? legality.getTypicalSize(around.domain, around.symbols, d, d + 1)
                                           : legality.getTypicalSize(spec.domain, spec.symbols, d, d + 1);
      points *= size;
      if (operatorOf(d) != OperatorKind::Map)
        continue;
      add(product.all, size, left.test(d), right.test(d));
      if (d < block.getNumDims() && outermost.test(d - first))
        add(product.outer, size, left.test(d), right.test(d));
    }
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    AffineMap lhs = op.getMatchingIndexingMap(&op->getOpOperand(0)), rhs = op.getMatchingIndexingMap(&op->getOpOperand(1));
    for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges())) {
      double size = ShapedType::isDynamic(range) ? 1 : double(range);
      points *= size;
      if (kinds[loop] == utils::IteratorType::parallel)
        add(product.all, size, lhs.isFunctionOfDim(loop), rhs.isFunctionOfDim(loop));
    }
    product.all.flops = product.outer.flops = 2 * points;
    return product;
  }

private:
  OperatorKind operatorOf(unsigned dim) {
    BlockOp owner = leaf;
    while (dim < owner.getNumAncestors())
      owner = owner.getParentBlock();
    return owner.getOperator(dim - owner.getNumAncestors());
  }
  static void add(ft::ProductIterations &tiles, double size, bool movesLeft, bool movesRight) {
    (movesLeft == movesRight ? tiles.products : movesLeft ? tiles.rows : tiles.columns) *= size;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// What comes from products
//===----------------------------------------------------------------------===//

namespace {
/// Follows a value of a block's leaves back to the operations that compute it.
class Origins {
public:
  explicit Origins(BlockOp block) : block(block) {
    block->walk([&](BlockOp leaf) {
      if (leaf.isLeaf())
        for (unsigned w = 0; w < leaf.getNumWrites(); ++w)
          writers[leaf.getBuffers()[leaf.getWrite(w).getOperand()]].push_back(leaf.getYield().getOperand(w));
    });
  }

  /// What values of one question have in common is looked at once; the next question is another one.
  HandedOn ask(ValueRange values) {
    seen.clear();
    return ofAll(values);
  }

private:
  HandedOn of(Value value) {
    if (!seen.insert(value).second)
      return HandedOn::Nothing;
    if (Operation *op = value.getDefiningOp()) {
      if (isProduct(op))
        return HandedOn::Product;
      HandedOn found = ofAll(op->getOperands());
      return found == HandedOn::Product && isMaximum(op) ? HandedOn::Maximum : found;
    }
    auto argument = cast<BlockArgument>(value);
    auto leaf = dyn_cast<BlockOp>(argument.getOwner()->getParentOp());
    if (!leaf || !leaf.isLeaf())
      return HandedOn::Nothing;
    SmallVector<Value> sources;
    for (PieceAttr piece : leaf.getRead(argument.getArgNumber()).getPieces())
      if (piece.getKind() == SourceKind::Buffer)
        llvm::append_range(sources, writers.lookup(leaf.getBuffers()[piece.getOperand()]));
    return ofAll(sources);
  }

  /// A value that reaches a product through a maximum as well as without one is a maximum's: scores, and scores less their maximum.
  HandedOn ofAll(ValueRange values) {
    HandedOn all = HandedOn::Nothing;
    for (Value value : values)
      all = std::max(all, of(value));
    return all;
  }

  BlockOp block;
  llvm::DenseMap<Value, SmallVector<Value>> writers;
  llvm::SmallPtrSet<Value, 8> seen;
};
} // namespace

HandedOn etdg::findHandedOn(BlockOp block, ArrayRef<Flow> flows) {
  Origins origins(block);
  SmallVector<Value> values;
  for (const Flow &flow : flows) {
    BlockOp leaf = flow.write.block;
    values.push_back(leaf.getYield().getOperand(flow.write.index));
  }
  return origins.ask(values);
}

bool etdg::reducesInside(BlockOp block) {
  bool found = false;
  block->walk([&](linalg::LinalgOp op) { found |= op.getNumReductionLoops() > 0 && !isMaximum(op); });
  return found;
}

bool etdg::multiplies(BlockOp block, ArrayRef<Flow> flows) {
  llvm::DenseMap<Value, SmallVector<Value>> writers;
  SmallVector<Value> work;
  block->walk([&](Operation *op) {
    if (auto leaf = dyn_cast<BlockOp>(op); leaf && leaf.isLeaf())
      for (unsigned w = 0; w < leaf.getNumWrites(); ++w)
        writers[leaf.getBuffers()[leaf.getWrite(w).getOperand()]].push_back(leaf.getYield().getOperand(w));
    if (isProduct(op))
      llvm::append_range(work, cast<linalg::LinalgOp>(op).getDpsInputs());
  });
  llvm::SmallPtrSet<Value, 8> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp()) {
      llvm::append_range(work, op->getOperands());
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    auto leaf = dyn_cast<BlockOp>(argument.getOwner()->getParentOp());
    if (!leaf || !leaf.isLeaf())
      continue;
    for (PieceAttr piece : leaf.getRead(argument.getArgNumber()).getPieces()) {
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      Value buffer = leaf.getBuffers()[piece.getOperand()];
      if (llvm::any_of(flows, [&](const Flow &flow) { return flow.read.buffer == buffer; }))
        return true;
      llvm::append_range(work, writers.lookup(buffer));
    }
  }
  return false;
}

bool etdg::takesMaxima(BlockOp block) {
  WalkResult found = block->walk([&](Operation *op) { return isMaximum(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  return found.wasInterrupted();
}

MergedProducts etdg::findProducts(const Coordinates &coordinates, unsigned k, MergeLegality &legality) {
  BlockOp block = coordinates.block;
  llvm::SmallBitVector outermost(block.getNumOwnDims());
  for (const Coordinates::Own &own : ArrayRef(coordinates.own).take_front(k))
    outermost.set(own.dim);
  MergedProducts found;
  Origins origins(block);
  block->walk([&](linalg::LinalgOp op) {
    if (!isProduct(op))
      return;
    auto leaf = cast<BlockOp>(op->getParentOp());
    found.products.push_back(ProductCounter{leaf, op, legality}.count(block, outermost));
    found.isChain |= origins.ask(op.getDpsInputs()) != HandedOn::Nothing;
  });
  return found;
}

double MergedProducts::tilesApart(const ft::Machine &machine) const {
  double least = std::numeric_limits<double>::infinity();
  for (const MergedProduct &product : products) {
    ft::ProductIterations tiles = product.all;
    if (isChain)
      tiles.columns = product.outer.columns;
    least = std::min(least, ft::tilesOf(tiles, machine));
  }
  return least;
}

double MergedProducts::tilesOfOuter(double bytesOfIteration, const ft::Machine &machine) const {
  double least = std::numeric_limits<double>::infinity();
  for (const MergedProduct &product : products)
    least = std::min(least, ft::tilesOfTasks(product.outer, product.all, bytesOfIteration, machine));
  return least;
}

double etdg::bytesOfIteration(const Coordinates &coordinates, unsigned k, MergeLegality &legality) {
  BlockOp block = coordinates.block;
  BlockBuilder around = BlockBuilder::from(block);
  double inside = 1;
  for (const Coordinates::Own &own : ArrayRef(coordinates.own).drop_front(k))
    inside *= legality.getTypicalSize(around.domain, around.symbols, block.getNumAncestors() + own.dim, block.getNumAncestors() + own.dim + 1);
  double bytes = 0;
  block->walk([&](BlockOp leaf) {
    if (!leaf.isLeaf())
      return;
    BlockBuilder spec = BlockBuilder::from(leaf);
    double points = leaf == block ? 1 : legality.getTypicalSize(spec.domain, spec.symbols, block.getNumDims(), leaf.getNumDims());
    for (Value value : leaf.getYield().getOperands())
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && type.hasStaticShape() && type.getNumElements() > 1 && value.getDefiningOp() &&
                                                                    !isa<linalg::FillOp>(value.getDefiningOp()))
        bytes += inside * points * double(type.getNumElements()) * double(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  });
  return bytes;
}
