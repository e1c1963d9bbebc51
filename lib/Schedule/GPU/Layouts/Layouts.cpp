//===- Layouts.cpp - the tilings of a leaf --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Layouts/Chains.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Whether something that the nest touches differs from lift to lift.
static bool isLiftedNest(const leaf::Nest &nest, ArrayRef<bool> lifted) {
  auto isLifted = [&](const leaf::ElementView &view) {
    return (!view.isSplat() && lifted[view.buffer]) ||
           llvm::any_of(view.terms, [&](const leaf::DynamicTerm &term) { return lifted[term.buffer]; });
  };
  for (const leaf::NestMember &member : nest.members) {
    for (auto *views : {&member.reads, &member.inits, &member.writes})
      if (llvm::any_of(*views, isLifted))
        return true;
    for (const auto &[value, view] : member.captured)
      if (isLifted(view))
        return true;
  }
  return false;
}

bool schedule::isOneLeaf(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  return nest.size() == 1 && BlockOp(nest.front()).isLeaf() && plan.steps.empty() && plan.inner.empty();
}

TileContext schedule::tileContextOf(const LeafForm &form, unsigned number, const LeafContext &context, bool rowWise,
                                    leaf::Nest &collapsed) {
  TileContext tile;
  tile.threads = context.threads;
  tile.resident = context.resident;
  tile.alone = context.alone;
  tile.stageBytes = context.stageBytes;
  tile.sums = context.sums;
  tile.maxRows = rowWise ? context.maxRows : 1;
  tile.lifts = context.lift || !context.lifted.empty() ? context.lifts : 1;
  if (context.columns && form.splits[number].kind == NestSplit::shared) {
    tile.splitLoop = form.splits[number].loop;
    tile.columnUnit = context.unit;
    tile.columnTile = context.columnTile;
  }
  tile.products = context.products;
  tile.groups = context.groups;
  collapsed = form.graph.nests[number];
  collapseLoops(collapsed, tile.splitLoop < 0 ? nullptr : &tile.splitLoop);
  collapsed.batched &= tile.maxRows > 1;
  if (tile.lifts > 1)
    tile.lifted = isLiftedNest(collapsed, context.lift ? findLifted(form, *context.lift) : context.lifted);
  return tile;
}

SmallVector<Attribute> schedule::chooseLayouts(const LeafForm &form, const LeafContext &context, bool rowWise,
                                               const Machine &machine) {
  SmallVector<Attribute> layouts;
  MLIRContext *mlir = form.module.get().getContext();
  if (!form.graph.nests.empty()) {
    leaf::Nest nest;
    if (tile::ChainAttr chain = chooseChain(form, tileContextOf(form, 0, context, rowWise, nest), machine))
      return {chain};
  }
  int64_t fused = 0;
  ProductTiles with; // those nests
  for (unsigned i = 0; i < form.graph.nests.size(); ++i) {
    leaf::Nest nest;
    TileContext tile = tileContextOf(form, i, context, rowWise, nest);
    if (tile::ProductAttr product = fused > 0 ? nullptr : chooseProduct(form, i, tile, machine)) {
      layouts.push_back(product);
      fused = product.getFused();
      std::string wrong;
      FailureOr<ProductTiles> read = readProduct(product, form, i, tile, wrong);
      assert(succeeded(read) && "a layout that was chosen fits");
      with = std::move(*read);
      continue;
    }
    if (fused > 0 && llvm::is_contained(with.joined, i)) {
      layouts.push_back(with.attribute.asJoined());
      --fused;
      continue;
    }
    bool hasNoCode = fused-- > 0; // of its own
    for (auto [size, reduced] : llvm::zip_equal(nest.sizes, nest.reduced))
      hasNoCode |= size == 0 && !reduced;
    layouts.push_back(toAttribute(mlir, hasNoCode ? Tiles() : chooseTiles(form.graph, nest, tile, machine)));
  }
  return layouts;
}

LogicalResult schedule::makeLeafForms(BlockOp block, const LeafContext &context, const Machine &machine,
                                      llvm::function_ref<int64_t(Value, unsigned)> planesOf,
                                      llvm::function_ref<LeafForm &(BlockOp)> formOf) {
  SmallVector<LeafForm *> forms;
  for (BlockOp leaf : leavesOf(block)) {
    LeafForm &form = formOf(leaf);
    if (!form.module && failed(makeLeafForm(form, leaf, machine, context.row,
                                            context.row && isUniform(leaf, *context.row, planesOf),
                                            [&](Value buffer) { return context.isPerRow(buffer); })))
      return failure();
    forms.push_back(&form);
  }
  if (context.columns && shareColumns(block, forms, machine.gpu, context.columns) != context.columns)
    return block.emitError("the GPU engine can't run the schedule: column c of what the leaves compute does not depend on "
                           "column c alone, or they don't have the columns; found columns = ")
           << context.columns;
  return success();
}
