//===- BlockEdges.cpp - edges of drawings of graphs -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BlockEdges.h"

#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;

SmallVector<BlockEdge> etdg::getEdges(BlockOp block) {
  SmallVector<BlockEdge> edges;
  if (!block.isLeaf())
    return edges;
  SmallVector<StringAttr> dims = block.getDimNames(), symbols = block.getSymbolNames();
  for (ReadAttr read : block.getReads().getAsRange<ReadAttr>()) {
    SmallVector<StringAttr> names = dims;
    for (int64_t i = 0; i < read.getElementRank(); ++i)
      names.push_back(StringAttr::get(block.getContext(), "e" + std::to_string(i)));
    for (PieceAttr piece : read.getPieces()) {
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      std::string label = describeMap(piece.getMap().getValue(), names, symbols, piece.getGathers());
      if (read.getPieces().size() > 1)
        label = conditionsToString(piece.getSet().getValue(), names, symbols) + ": " + label;
      edges.push_back({EdgeKind::Read, block.getBuffers()[piece.getOperand()], std::move(label)});
      for (GatherAttr gather : piece.getGathers())
        edges.push_back({EdgeKind::Index, block.getBuffers()[gather.getOperand()],
                         describeMap(gather.getMap().getValue(), names, symbols)});
    }
  }
  for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
    edges.push_back({EdgeKind::Write, block.getBuffers()[write.getOperand()],
                     describeMap(write.getMap().getValue(), dims, symbols)});
  return edges;
}
