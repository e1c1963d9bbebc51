//===- FTAlignMaps.cpp - maps beside scans from the right -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Dialect/FT/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTALIGNMAPS
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

/// The list from its end; what was reversed already, as it was.
static Value reversed(OpBuilder &b, Location loc, Value list) {
  if (auto reverse = list.getDefiningOp<ReverseOp>())
    return reverse.getInput();
  return ReverseOp::create(b, loc, list);
}

static void reverseMap(ComputeOp map) {
  OpBuilder b(map);
  Location loc = map.getLoc();
  SmallVector<Value> lists;
  for (Value list : map.getLists())
    lists.push_back(reversed(b, loc, list));
  ComputeOp made = createCompute(b, loc, OperatorKind::Map, map->getResultTypes(), lists);
  for (NamedAttribute attribute : map->getDiscardableAttrs())
    made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  made.getBody().takeBody(map.getBody());
  for (auto [old, result] : llvm::zip_equal(map->getResults(), made->getResults()))
    old.replaceAllUsesWith(ReverseOp::create(b, loc, result));
  map->erase();
}

/// The maps of a block whose length is that of a fold or scan from the right there, and of none from the left.
static SmallVector<ComputeOp> findMaps(Block &block) {
  llvm::SmallSetVector<Attribute, 4> right, left;
  for (auto op : block.getOps<ComputeOp>())
    if (!op.isMap() && !op.isReassociable())
      (op.isRight() ? right : left).insert(op.getLength());
  SmallVector<ComputeOp> maps;
  for (auto op : block.getOps<ComputeOp>())
    if (op.isMap() && right.contains(op.getLength()) && !left.contains(op.getLength()))
      maps.push_back(op);
  return maps;
}

namespace {
struct FTAlignMaps : ft::impl::FTAlignMapsBase<FTAlignMaps> {
  void runOnOperation() override {
    SmallVector<Block *> bodies;
    getOperation().walk([&](ComputeOp op) {
      if (!op.isMap())
        bodies.push_back(&op.getBody().front());
    });
    for (Block *body : bodies)
      for (ComputeOp map : findMaps(*body))
        if (!cast<ListType>(map.getLists().front().getType()).hasRagged() && !map.getLayerName())
          reverseMap(map);
  }
};
} // namespace
