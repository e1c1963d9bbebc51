//===- CostLeaves.cpp - seconds that a call of a leaf takes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Analysis/Accesses.h"
#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Whether a body adds the product of its two inputs to what is there.
static bool multipliesAndAdds(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  return linalg::detail::isContractionBody(*op.getBlock(), [](Operation *first, Operation *second) {
    return (isa<arith::MulFOp>(first) && isa<arith::AddFOp>(second)) || (isa<arith::MulIOp>(first) && isa<arith::AddIOp>(second));
  });
}

/// The right-hand side of a product of a row by a matrix: the input along which the result's last dimension
/// runs, where the other one is the same. So a convolution's window is one where its filters are rows, and its
/// weights are where its windows are (channels last).
static std::optional<unsigned> getRightHandSide(linalg::LinalgOp op) {
  if (linalg::isaContractionOpInterface(op))
    return 1;
  if (!multipliesAndAdds(op))
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto last = result.getNumResults() ? dyn_cast<AffineDimExpr>(result.getResults().back()) : nullptr;
  if (!last)
    return std::nullopt;
  bool left = op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isFunctionOfDim(last.getPosition());
  bool right = op.getMatchingIndexingMap(op.getDpsInputOperand(1)).isFunctionOfDim(last.getPosition());
  return left == right ? std::nullopt : std::optional<unsigned>(right ? 1 : 0);
}

/// How many columns of a product's result its right-hand side makes.
static int64_t countColumns(linalg::LinalgOp op, unsigned right) {
  auto out = cast<ShapedType>(op.getDpsInits().front().getType());
  if (linalg::isaContractionOpInterface(op))
    return out.getRank() > 0 ? std::max<int64_t>(out.getShape().back(), 1) : 1;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(right));
  int64_t columns = 1;
  for (auto [expr, length] : llvm::zip_equal(result.getResults(), out.getShape()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && map.isFunctionOfDim(dim.getPosition()))
      columns *= std::max<int64_t>(length, 1);
  return columns;
}

CostModel::Work CostModel::workOf(BlockOp leaf) {
  auto [it, inserted] = works.try_emplace(leaf.getOperation());
  if (!inserted)
    return it->second;
  Work work;
  // Products with one right-hand side are one product with as many times the rows.
  llvm::MapVector<Value, Product> products;
  auto add = [&](Operation *op, double points) {
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
      work.elementary += points;
    else if (op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>() &&
             !op->hasTrait<OpTrait::IsTerminator>())
      work.elementwise += points;
  };
  for (Operation &op : leaf.getBody().front()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      double points = 1;
      for (int64_t range : linalgOp.getStaticLoopRanges())
        points *= ShapedType::isDynamic(range) ? 1 : range;
      if (std::optional<unsigned> side = getRightHandSide(linalgOp)) {
        auto out = cast<ShapedType>(linalgOp.getDpsInits().front().getType());
        int64_t columns = countColumns(linalgOp, *side);
        Value right = linalgOp->getOperand(*side);
        if (auto pad = right.getDefiningOp<tensor::PadOp>()) // which is read in place
          right = pad.getSource();
        Product &product = products[right];
        if (auto argument = dyn_cast<BlockArgument>(right); argument && argument.getOwner() == &leaf.getBody().front())
          product.read = argument.getArgNumber();
        if (auto type = dyn_cast<RankedTensorType>(right.getType()); type && type.hasStaticShape())
          product.bytes = bytesOf(type);
        product.flops += 2 * points;
        product.rows += std::max<int64_t>(out.hasStaticShape() ? out.getNumElements() / columns : 1, 1);
      } else {
        for (Operation &inner : *linalgOp.getBlock())
          add(&inner, points);
      }
    } else if (op.getNumResults() == 1 && !isa<tensor::PadOp>(op)) {
      auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
      add(&op, type && type.hasStaticShape() ? type.getNumElements() : 1);
    }
  }
  for (auto &[operand, product] : products)
    work.products.push_back(product);
  return works[leaf.getOperation()] = work;
}

double CostModel::productSeconds(const Product &product, double rows,
                                 Machine::Source source) const {
  int64_t all = std::max<int64_t>(1, std::llround(rows * product.rows));
  double seconds = 0;
  for (auto [size, count] : machine.tilesOf(all)) {
    auto once = [&, rows = size](Machine::Source from) {
      double compute = rows * product.flops / product.rows / machine.tileFlops(rows);
      double stream = from.level == 0 ? 0 : product.bytes / from.bytesPerSecond;
      // Reads of the second cache hide after arithmetic, unless they take as long, those of farther
      // memory in part.
      if (from.level > 1)
        return std::hypot(compute, stream);
      double more = std::max(compute, stream), less = std::min(compute, stream);
      // The two overlap, but where they take about as long they get into each other's way: by 6 % where equally long.
      constexpr double sharpness = 12;
      return more * std::pow(1 + std::pow(less / more, sharpness), 1.0 / sharpness);
    };
    // What one tile has read, the next finds in the second cache, if not in the first.
    Machine::Source again = source;
    if (source.level > 1)
      again = {1, machine.levels[1].rateOfUnit(machine.units)};
    seconds += once(seconds == 0 ? source : again) + (count - 1) * once(again);
  }
  // (A product of a fraction of a row, of several threads.)
  return seconds * rows * product.rows / all;
}

std::optional<CostModel::Read> CostModel::readOf(BlockOp leaf, unsigned i, const Context &context) {
  auto element = cast<RankedTensorType>(leaf.getBody().getArgument(i).getType());
  llvm::SmallBitVector varies(context.loops.size());
  bool outside = false;
  for (etdg::PieceAttr piece : leaf.getRead(i).getPieces()) {
    if (piece.getKind() != etdg::SourceKind::Buffer)
      continue;
    Operation *definition = leaf.getBuffers()[piece.getOperand()].getDefiningOp();
    outside |= !definition || isa<etdg::GraphOp>(definition->getParentOp());
    AffineMap map = piece.getMap().getValue();
    for (auto [l, loop] : llvm::enumerate(context.loops))
      if (map.isFunctionOfDim(loop.dim) ||
          llvm::any_of(loop.lines, [&](unsigned d) { return map.isFunctionOfDim(d); }))
        varies.set(l);
  }
  if (!outside)
    return std::nullopt;
  return Read{static_cast<double>(bytesOf(element)), varies};
}

void CostModel::collectReads(BlockOp block, const Context &context, SmallVectorImpl<Read> &reads) {
  if (!block.isLeaf()) {
    for (auto child : block.getBody().getOps<BlockOp>())
      collectReads(child, context, reads);
    for (auto nest : block.getBody().getOps<etdg::NestOp>())
      for (auto child : nest.getBody().getOps<BlockOp>())
        collectReads(child, context, reads);
    return;
  }
  Context here = context;
  here.dims.resize(block.getNumDims());
  SmallVector<std::pair<unsigned, double>> own;
  for (unsigned d = 0; d < block.getNumDims(); ++d)
    if (!here.dims[d]) {
      Range range = rangeOf({block}, d, here);
      here.dims[d] = range.lower + range.size() / 2;
      own.push_back({d, static_cast<double>(range.size())});
    }
  for (unsigned i = 0; i < block.getNumReads(); ++i) {
    std::optional<Read> read = readOf(block, i, context);
    if (!read)
      continue;
    for (auto [dim, extent] : own)
      if (llvm::any_of(block.getRead(i).getPieces(), [d = dim](etdg::PieceAttr piece) {
            return piece.getKind() == etdg::SourceKind::Buffer &&
                   piece.getMap().getValue().isFunctionOfDim(d);
          }))
        read->bytes *= extent;
    // A team divides the parts of a block.
    read->bytes /= context.threads;
    reads.push_back(std::move(*read));
  }
}

/// Whether a leaf reads a buffer that each point of one of `rows` has for itself.
static bool isPrivateTo(ArrayRef<unsigned> rows, BlockOp leaf, unsigned read) {
  return llvm::any_of(leaf.getRead(read).getPieces(), [&](etdg::PieceAttr piece) {
    return piece.getKind() == etdg::SourceKind::Buffer && llvm::any_of(rows, [&](unsigned row) {
      return row < etdg::getNumOwnerDims(leaf.getBuffers()[piece.getOperand()]);
    });
  });
}

/// The part of a cache's room for a right-hand side that some of its columns take. Rows whose length is a power of two lie so that
/// some of their columns meet in some of the cache's sets: these columns have no more room than all would.
static double roomOfColumns(BlockOp leaf, unsigned read, double columns) {
  auto type = cast<RankedTensorType>(leaf.getBody().getArgument(read).getType());
  return type.getRank() > 0 && llvm::isPowerOf2_64(std::max<int64_t>(type.getShape().back(), 1)) ? 1 : columns;
}

Estimate CostModel::ofLeaf(BlockOp leaf, const Context &context) {
  Estimate result;
  result.rows = context.rows;
  Work work = workOf(leaf);
  double compute = context.rows * (work.elementwise / machine.unit.elementwise +
                                   work.elementary / machine.unit.elementary);
  SmallVector<std::pair<unsigned, Read>> reads;
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    if (std::optional<Read> read = readOf(leaf, i, context)) {
      if (llvm::any_of(work.products, [&](const Product &product) { return product.read == i; }))
        read->bytes *= roomOfColumns(leaf, i, context.columns);
      reads.push_back({i, std::move(*read)});
    }
  auto variesByRow = [&](const Read &read) {
    for (auto [l, loop] : llvm::enumerate(context.loops))
      if (loop.isRow && read.varies.test(l))
        return true;
    return false;
  };
  // All that is read inside loop l, once around it.
  auto footprint = [&](int64_t l) {
    double bytes = 0;
    auto add = [&](const Read &read) {
      double own = read.bytes;
      for (unsigned inner = l + 1; inner < read.varies.size(); ++inner)
        if (read.varies.test(inner))
          own *= context.loops[inner].extent;
      bytes += own;
    };
    for (auto &[number, read] : reads)
      add(read);
    for (const Read &read : context.besides)
      if (l < static_cast<int64_t>(read.varies.size()))
        add(read);
    return bytes;
  };
  double stream = 0;
  SmallVector<Machine::Source> sources(leaf.getNumReads(), Machine::Source{0, 0});
  for (auto &[number, read] : reads) {
    double bytes = read.bytes;
    int64_t reuse = -1;
    for (int64_t l = context.loops.size() - 1; l >= 0; --l) {
      if (context.loops[l].isRow) {
        if (read.varies.test(l))
          bytes *= context.rows;
        continue;
      }
      if (!read.varies.test(l) && context.loops[l].extent > 1) {
        reuse = l;
        break;
      }
    }
    Machine::Source source = machine.sourceFor(footprint(reuse));
    sources[number] = source;
    if (source.level == 0)
      continue; // the operations' own rates have it
    result.streamed += bytes;
    if (llvm::none_of(work.products, [i = number](const Product &p) { return p.read == i; }))
      stream += bytes / source.bytesPerSecond;
  }
  SmallVector<unsigned> rowDims;
  for (const Around &loop : context.loops)
    if (loop.isRow)
      rowDims.push_back(loop.dim);
  for (const Product &product : work.products) {
    Machine::Source source{0, 0};
    if (product.read)
      source = sources[*product.read];
    // Rows with a right-hand side of their own are products of their own.
    bool own = product.read && isPrivateTo(rowDims, leaf, *product.read);
    own |= llvm::any_of(reads, [&](const auto &entry) { return entry.first == product.read && variesByRow(entry.second); });
    compute += own ? context.rows * productSeconds(product, 1, source)
                   : productSeconds(product, context.rows, source);
  }
  result.seconds = std::max(compute, stream) + machine.sync.leafCall;
  return result;
}
