//===- WidenBuffers.cpp - private buffers of loops that are taken apart ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one item of a loop's body leaves to another lives for one iteration. Where each
// item gets a loop of its own, it gets planes for all of them.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/Transforms/BufferIndices.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::LengthAttr;

std::optional<SmallVector<LengthAttr>> etdg::getOuterLengths(BlockOp block, const SymbolSpace &space) {
  SmallVector<LengthAttr> lengths;
  for (const DimRange &range : getOwnRanges(block, space)) {
    auto lower = range.lower ? range.lower.getConstant() : std::nullopt;
    if (!lower || *lower < 0 || !range.upper)
      return std::nullopt;
    lengths.push_back(range.upper);
  }
  return lengths;
}

BufferOp etdg::widenBuffer(OpBuilder &builder, BufferOp buffer, BlockOp block, ArrayRef<LengthAttr> lengths) {
  BufferType type = buffer.getResult().getType();
  MLIRContext *context = type.getContext();
  SmallVector<LengthAttr> all(lengths);
  llvm::append_range(all, type.getLengths());
  auto wide = BufferOp::create(builder, buffer.getLoc(), BufferType::get(context, all, type.getElement()), DenseI64ArrayAttr(),
                               buffer.getNameHintAttr());
  auto withLoop = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (unsigned d = 0; d < lengths.size(); ++d)
      results.push_back(getAffineDimExpr(block.getNumAncestors() + d, context));
    llvm::append_range(results, map.getResults());
    return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
  };
  replaceBuffer(buffer, wide, withLoop, [&](int64_t position) { return position + static_cast<int64_t>(lengths.size()); });
  buffer.erase();
  return wide;
}

void etdg::keepAllPlanes(BlockOp block) {
  for (Operation &item : block.getBody().front())
    item.walk([&](BlockOp leaf) {
      for (WriteAttr write : leaf.getWrites().getAsRange<WriteAttr>())
        if (auto buffer = leaf.getBuffers()[write.getOperand()].getDefiningOp<BufferOp>())
          if (!item.isProperAncestor(buffer))
            buffer.removeLiveAttr();
    });
}
