//===- Reuse.cpp - which dimensions carry reuse ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/Reuse.h"

using namespace mlir;
using namespace mlir::etdg;

/// Typical length of each own dimension of a block and of the blocks around it, up to `numDims`; 1 for those of blocks
/// of which no dimension is `wanted`.
static SmallVector<int64_t> getExtents(BlockOp block, unsigned numDims, const SymbolSpace &space,
                                       const TypicalLengths &lengths, llvm::function_ref<bool(unsigned)> wanted) {
  SmallVector<int64_t> extents(block.getNumDims(), 1);
  for (BlockOp b = block; b && b.getNumDims() > numDims; b = b.getParentBlock()) {
    if (llvm::none_of(llvm::seq<unsigned>(b.getNumAncestors(), b.getNumDims()), wanted))
      continue;
    for (auto [own, extent] : llvm::enumerate(getTypicalExtents(getOwnRanges(b, space), lengths)))
      extents[b.getNumAncestors() + own] = extent;
  }
  return extents;
}

double etdg::getFootprint(Access &access, const AccessMatrix &matrix, unsigned numDims,
                          const SymbolSpace &space, const TypicalLengths &lengths) {
  RankedTensorType element = access.getBufferType().getElement();
  double bytes = std::max(
      1u, element.getElementType().isIndex() ? 8u : (element.getElementTypeBitWidth() + 7) / 8);
  // A map that stops at the programmable dimensions takes whole elements.
  if (access.map.getNumResults() <= matrix.depth)
    bytes *= element.getNumElements();
  auto occurs = [&](unsigned v) {
    return llvm::any_of(matrix.rows, [&](const AccessRow &row) { return row.dims[v] != 0; });
  };
  unsigned blockDims = access.block.getNumDims();
  if (blockDims > numDims) {
    SmallVector<int64_t> extents = getExtents(access.block, numDims, space, lengths, occurs);
    for (unsigned v = numDims; v < blockDims; ++v)
      if (occurs(v))
        bytes *= extents[v];
  }
  for (auto [e, size] : llvm::enumerate(access.elementShape))
    if (occurs(blockDims + e))
      bytes *= size;
  return bytes;
}

NestReuse::NestReuse(DependenceAnalysis &analysis, ArrayRef<BlockOp> nest,
                     const TypicalLengths &lengths) {
  const SymbolSpace &space = analysis.getSpace();
  double all = 0;
  SmallVector<double> weights;
  for (BlockOp block : nest) {
    double points = 1;
    if (nest.size() > 1)
      for (int64_t extent : getTypicalExtents(getOwnRanges(block, space), lengths))
        points *= extent;
    weights.push_back(points);
    all += points;
  }
  for (auto [given, weight] : llvm::zip_equal(nest, weights)) {
    BlockOp block = given;
    unsigned numAncestors = block.getNumAncestors(), numOwn = block.getNumOwnDims();
    for (auto &[buffer, reads] : analysis.getUnit(block).reads)
      for (Access *read : reads) {
        AccessMatrix matrix = getAccessMatrix(*read, space);
        IntegerMatrix rows(0, numOwn);
        for (const AccessRow &row : matrix.rows) {
          ArrayRef<int64_t> own = ArrayRef(row.dims).slice(numAncestors, numOwn);
          if (row.isLinear) {
            rows.appendRow(own);
            continue;
          }
          for (unsigned d = 0; d < numOwn; ++d)
            if (own[d]) {
              SmallVector<int64_t> unit(numOwn, 0);
              unit[d] = 1;
              rows.appendRow(unit);
            }
        }
        double bytes = getFootprint(*read, matrix, block.getNumDims(), space, lengths);
        accesses.push_back({std::move(rows), bytes * weight / all});
      }
  }
}

double NestReuse::getReusedBytes(ArrayRef<int64_t> direction) const {
  double bytes = 0;
  for (const AccessReuse &access : accesses) {
    auto place = access.rows.apply(direction);
    if (place && llvm::all_of(*place, [](int64_t c) { return c == 0; }))
      bytes += access.bytes;
  }
  return bytes;
}

double NestReuse::getBytes() const {
  double bytes = 0;
  for (const AccessReuse &access : accesses)
    bytes += access.bytes;
  return bytes;
}
