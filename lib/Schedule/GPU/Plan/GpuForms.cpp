//===- GpuForms.cpp - steps of the grid, or independent blocks ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With enough free iterations nothing needs to wait for others; with few, a nest
// that the grid takes step by step uses more SMs. Where the lengths
// decide, there are both, and a guard.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

#include "ft/Schedule/Analysis/Dimensions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Bytes that all rows of a leaf read alike: weights.
static int64_t sharedReadBytes(ArrayRef<BlockOp> nest, std::optional<unsigned> row) {
  int64_t most = 0;
  for (BlockOp block : nest) {
    int64_t bytes = 0;
    for (BlockOp leaf : leavesOf(block))
      for (unsigned i = 0; i < leaf.getNumReads(); ++i) {
        bool varies = false, buffers = false;
        for (etdg::PieceAttr piece : leaf.getRead(i).getPieces()) {
          bool isBuffer = piece.getKind() == etdg::SourceKind::Buffer;
          buffers |= isBuffer;
          varies |= row && isBuffer && piece.getMap().getValue().isFunctionOfDim(*row);
        }
        auto type = cast<RankedTensorType>(leaf.getBody().getArgument(i).getType());
        if (buffers && !varies)
          bytes += type.getNumElements() * elementBytes(type.getElementType());
      }
    most = std::max(most, bytes);
  }
  return most;
}

/// Of free iterations there are fewer than the limit: each dimension has as many as the least difference of
/// its bounds.
static etdg::GuardAttr makeGuard(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, int64_t limit) {
  BlockOp front = nest.front();
  MLIRContext *context = front.getContext();
  SmallVector<StringAttr> names = front.getSymbolNames();
  std::vector<SmallVector<Attribute>> products(1);
  for (unsigned dim : free) {
    DimBounds bounds = boundsOf(front, dim);
    std::vector<SmallVector<Attribute>> longer;
    for (AffineExpr upper : bounds.uppers)
      for (AffineExpr lower : bounds.lowers)
        for (const SmallVector<Attribute> &product : products) {
          longer.push_back(product);
          longer.back().push_back(LengthAttr::get(context, names, upper - lower));
        }
    constexpr size_t most = 64; // (a guard only chooses)
    if (longer.size() > most)
      longer.resize(most);
    products = std::move(longer);
  }
  SmallVector<ArrayAttr> all;
  for (const SmallVector<Attribute> &product : products)
    if (auto added = ArrayAttr::get(context, product); !llvm::is_contained(all, added))
      all.push_back(added);
  return etdg::GuardAttr::get(context, all, limit);
}

/// Without steps nothing waits: thread blocks share the columns of a leaf where its points alone are
/// tasks for a part of the SMs, and what all rows read is large. (Where lengths are names, points are taken
/// for enough.)
FailureOr<GpuPlanner::Forms> GpuPlanner::chooseFormsOfLeaf(ArrayRef<BlockOp> nest, const GpuPlan &steps) {
  Forms forms;
  forms.blocks = true;
  BlockOp front = nest.front();
  if (nest.size() != 1 || !front.isLeaf() || front.getNumAncestors() > 0 ||
      sharedReadBytes(nest, steps.row) < planning.columnWeightBytes)
    return forms;
  // Tiles of products have columns of their own.
  SmallVector<unsigned> free;
  for (unsigned d = 0; d < front.getNumDims(); ++d)
    if (isFreeMap(nest, d))
      free.push_back(d);
  GpuPlan products, columns = steps;
  products.row = chooseRow(nest, free);
  FailureOr<bool> inTiles = planProducts(nest, free, products);
  if (failed(inTiles) || failed(shareColumns(nest, columns, /*privateRows=*/false)))
    return failure();
  if (*inTiles || columns.columns == 0)
    return forms;
  int64_t points = 1, rows = steps.row ? chooseRows(nest, *steps.row) : 1;
  for (unsigned d : steps.flat)
    points *= constantExtent(nest, d); // 0: lengths decide
  forms.steps = points > 0 && points < options.getMultiprocessors() * rows;
  forms.blocks = !forms.steps;
  return forms;
}

FailureOr<GpuPlanner::Forms> GpuPlanner::chooseForms(ArrayRef<BlockOp> nest, const GpuPlan &steps) {
  using Steps = GpuScheduleOptions::Steps;
  auto isFree = [&](unsigned d) { return isFreeDimension(nest, d); };
  SmallVector<unsigned> free;
  llvm::copy_if(steps.flat, std::back_inserter(free), isFree);
  Forms forms;
  forms.blocks = true;
  // Whether some parallel loop is one that only steps can share.
  bool onlySteps = !steps.outer.empty() || free.size() < steps.flat.size();
  if (options.steps == Steps::never || !hasStepBounds(nest, steps))
    return forms;
  if (steps.steps.empty() && !onlySteps)
    return chooseFormsOfLeaf(nest, steps);
  int64_t weights = sharedReadBytes(nest, steps.row);
  bool always = options.steps == Steps::always || (draws() && draw(2) == 0);
  if (!onlySteps) {
    // Only columns can be shared among more blocks than there are free iterations: a barrier
    // a step pays where that many read large operands.
    if (weights < planning.columnWeightBytes && !always)
      return forms;
    GpuPlan columns = steps;
    if (failed(shareColumns(nest, columns, /*privateRows=*/false)))
      return failure();
    if (columns.columns == 0)
      return forms;
    forms.isPriced = !always;
  }
  forms.steps = true;
  forms.blocks = !free.empty() && !always;
  if (!forms.blocks)
    return forms;
  int64_t tasks = onlySteps && weights >= planning.stepWeightBytes ? planning.stepWeightTasksPerUnit
                                                                   : planning.stepTasksPerUnit;
  forms.guard = makeGuard(nest, free, options.getMultiprocessors() * tasks);
  return forms;
}
