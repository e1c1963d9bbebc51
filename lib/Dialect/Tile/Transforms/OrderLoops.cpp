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

/// One product, awaited where it stands: the slots that it reads are released after.
static void order(MmaOp product) {
  ImplicitLocOpBuilder b(product.getLoc(), product);
  auto type = InFlightType::get(b.getContext(), product.getType());
  auto start = StartMmaOp::create(b, type, product.getAccumulator(), product.getLhs(), product.getRhs(), product.getLhsTransposed(),
                                  product.getRhsTransposed());
  product.replaceAllUsesWith(AwaitOp::create(b, product.getType(), start.getResult(), uint32_t(0)).getResult());
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
