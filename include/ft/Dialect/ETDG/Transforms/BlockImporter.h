//===- BlockImporter.h - attributes of blocks, rewritten --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the passes that merge and divide blocks: one walk over a read's pieces, and
// attributes of one block over the symbols and operands of another.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_BLOCKIMPORTER_H
#define FT_DIALECT_ETDG_TRANSFORMS_BLOCKIMPORTER_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

namespace mlir::etdg {

/// The read with its maps, sets and operands replaced; `mapOf` gets the operand
/// that a map addresses (-1: none).
inline ReadAttr transformRead(ReadAttr read,
                              llvm::function_ref<AffineMap(AffineMap, int64_t)> mapOf,
                              llvm::function_ref<IntegerSet(IntegerSet)> setOf,
                              llvm::function_ref<int64_t(int64_t)> operandOf,
                              llvm::function_ref<int64_t(int64_t, int64_t)> positionOf = nullptr) {
  MLIRContext *context = read.getContext();
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    int64_t operand = piece.getKind() == SourceKind::Buffer ? piece.getOperand() : -1;
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers())
      gathers.push_back(GatherAttr::get(
          context, positionOf ? positionOf(operand, gather.getPosition()) : gather.getPosition(),
          operandOf(gather.getOperand()),
          AffineMapAttr::get(mapOf(gather.getMap().getValue(), gather.getOperand()))));
    pieces.push_back(PieceAttr::get(context, IntegerSetAttr::get(setOf(piece.getSet().getValue())),
                                    piece.getKind(), operand < 0 ? -1 : operandOf(operand),
                                    AffineMapAttr::get(mapOf(piece.getMap().getValue(), operand)),
                                    gathers, piece.getValue()));
  }
  return ReadAttr::get(context, pieces, read.getElementRank());
}

/// Brings attributes of `source` over the symbols and operands of `target`. The
/// symbols of both are joined at the start, and what `target` has is widened to
/// them, so that equal things are equal attributes.
class BlockImporter {
public:
  BlockImporter(BlockBuilder &target, const BlockBuilder &source) : target(target), source(source) {
    if (target.domain)
      target.importExpr(getAffineConstantExpr(0, target.domain.getContext()), source.symbols);
    BlockBuilder own = target;
    BlockImporter widen(target, own, target.symbols.size());
    if (target.domain)
      target.domain = widen.set(target.domain);
    for (ReadAttr &r : target.reads)
      r = widen.read(r);
    for (ReadAttr &r : target.identity)
      r = widen.read(r);
    for (WriteAttr &w : target.writes)
      w = widen.write(w);
    numSymbols = target.symbols.size();
  }

  AffineMap map(AffineMap map) {
    SmallVector<AffineExpr> results;
    for (AffineExpr result : map.getResults())
      results.push_back(canonicalizeExpr(target.importExpr(result, source.symbols),
                                         map.getNumDims(), numSymbols));
    return AffineMap::get(map.getNumDims(), numSymbols, results, map.getContext());
  }
  IntegerSet set(IntegerSet set) {
    SmallVector<AffineExpr> constraints;
    for (AffineExpr constraint : set.getConstraints())
      constraints.push_back(target.importExpr(constraint, source.symbols));
    return canonicalizeSet(
        IntegerSet::get(set.getNumDims(), numSymbols, constraints, set.getEqFlags()));
  }
  ReadAttr read(ReadAttr read) {
    return transformRead(
        read, [&](AffineMap m, int64_t) { return map(m); }, [&](IntegerSet s) { return set(s); },
        [&](int64_t i) { return operand(i); });
  }
  WriteAttr write(WriteAttr write) {
    return WriteAttr::get(write.getContext(), operand(write.getOperand()),
                          AffineMapAttr::get(map(write.getMap().getValue())));
  }
  int64_t operand(int64_t i) { return target.operandFor(source.buffers[i]); }

private:
  BlockImporter(BlockBuilder &target, const BlockBuilder &source, unsigned numSymbols)
      : target(target), source(source), numSymbols(numSymbols) {}

  BlockBuilder &target;
  const BlockBuilder &source;
  unsigned numSymbols = 0;
};

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_BLOCKIMPORTER_H
