//===- RowRuns.cpp - leaves whose rows run in stretches -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/GPU/Layouts/RowRuns.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Dimensions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

std::optional<SmallVector<RowChange>> schedule::findRowRuns(BlockOp leaf, unsigned dim,
                                                            llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  if (findRowLimit(leaf, dim, planesOf, /*strided=*/true, /*onGpu=*/true).use != RowUse::Runs)
    return std::nullopt;
  // Planes that wrap around are another reason for runs.
  bool wraps = false;
  (void)findRowLimit(leaf, dim, [&](Value buffer, unsigned d) {
    wraps |= planesOf(buffer, d) != 0;
    return int64_t(0);
  });
  if (wraps)
    return std::nullopt;
  SmallVector<RowChange> changes;
  AffineExpr d = getAffineDimExpr(dim, leaf.getContext());
  unsigned numSymbols = leaf.getSymbolNames().size();
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    for (etdg::PieceAttr piece : leaf.getRead(i).getPieces()) {
      IntegerSet set = piece.getSet().getValue();
      for (auto [value, isEquality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
        if (!value.isFunctionOfDim(dim))
          continue;
        AffineExpr step = simplifyAffineExpr(value.replace(d, d + 1) - value, leaf.getNumDims(), numSymbols);
        auto constant = dyn_cast<AffineConstantExpr>(step);
        if (!constant || constant.getValue() == 0)
          return std::nullopt;
        changes.push_back({value, constant.getValue(), isEquality});
      }
    }
  return changes;
}

bool schedule::hasProductLayout(BlockOp leaf) {
  auto layouts = leaf->getAttrOfType<ArrayAttr>(etdg::names::layouts);
  return layouts && llvm::any_of(layouts, [](Attribute layout) { return isa<tile::ProductAttr, tile::ChainAttr>(layout); });
}
