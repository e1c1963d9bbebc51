//===- OrderLoops.cpp - products in flight ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pipelined.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEORDERLOOPS
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

/// What uses a product's sums first, in its block.
static Operation *findUse(MmaOp product) {
  Operation *first = product->getBlock()->getTerminator();
  for (Operation *user : product->getUsers()) {
    Operation *there = product->getBlock()->findAncestorOpInBlock(*user);
    first = there && there->isBeforeInBlock(first) ? there : first;
  }
  return first;
}

/// One product, awaited before its sums are used: those that start in between are in flight then.
static void order(MmaOp product) {
  Operation *use = findUse(product);
  uint32_t later = 0;
  for (Operation *op = product->getNextNode(); op != use; op = op->getNextNode()) {
    auto other = dyn_cast<MmaOp>(op);
    later += (other && other.getWgmma()) || isa<StartMmaOp>(op);
  }
  ImplicitLocOpBuilder b(product.getLoc(), product);
  auto type = InFlightType::get(b.getContext(), product.getType());
  auto start = StartMmaOp::create(b, type, product.getAccumulator(), product.getLhs(), product.getRhs(), product.getLhsTransposed(),
                                  product.getRhsTransposed());
  b.setInsertionPoint(use);
  product.replaceAllUsesWith(AwaitOp::create(b, product.getType(), start.getResult(), later).getResult());
  product.erase();
}

namespace {
struct TileOrderLoops : tile::impl::TileOrderLoopsBase<TileOrderLoops> {
  void runOnOperation() override {
    SmallVector<MmaOp> products;
    getOperation()->walk([&](MmaOp product) {
      if (product.getWgmma())
        products.push_back(product);
    });
    llvm::for_each(products, order);
  }
};
} // namespace
