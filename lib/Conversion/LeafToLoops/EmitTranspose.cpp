//===- EmitTranspose.cpp - Copies that change the contiguous dimension ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Squares of one vector by one vector are loaded along the dimension that is
// contiguous in the source, transposed in registers and stored along the one
// that is contiguous in the destination. What the squares leave is copied as any
// other nest.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// Rows of a square matrix -> its columns. Each step exchanges the off-diagonal
/// blocks of half the size.
static void transposeInRegisters(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &rows) {
  int64_t size = rows.size();
  for (int64_t block = 1; block < size; block *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool right = lane & block;
      low.push_back(right ? size + lane - block : lane);
      high.push_back(right ? size + lane : lane + block);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i & block)
        continue;
      Value top = rows[i], bottom = rows[i + block];
      rows[i] = vector::ShuffleOp::create(b, top, bottom, low);
      rows[i + block] = vector::ShuffleOp::create(b, top, bottom, high);
    }
  }
}

void Emitter::emitTurned(const Nest &original, const LaneTile &tile) {
  Nest nest = original;
  collapseLoops(nest);
  const int from = int(tile.turned), to = int(tile.loop);
  const int64_t width = tile.vector;
  const ElementView &read = nest.members.front().reads.front();
  const ElementView &write = nest.members.front().writes.front();
  bool extends = graph.buffers[write.buffer].elementType != graph.buffers[read.buffer].elementType;
  int64_t fromEnd = nest.sizes[from] / width * width, toEnd = nest.sizes[to] / width * width;

  SmallVector<int> order;
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    if (loop != from && loop != to)
      order.push_back(loop);
  order.append({to, from});
  {
    OpBuilder::InsertionGuard guard(b);
    Value readAt = beginOfView(read), writeAt = beginOfView(write);
    for (int loop : order) {
      bool tiled = loop == from || loop == to;
      int64_t end = loop == from ? fromEnd : loop == to ? toEnd : nest.sizes[loop];
      scf::ForOp created = keptLoop(index(0), index(end), tiled ? width : 1);
      readAt = addIndex(readAt, mulIndex(created.getInductionVar(), read.strides[loop]));
      writeAt = addIndex(writeAt, mulIndex(created.getInductionVar(), write.strides[loop]));
    }
    LaneShape shape{width, width};
    SmallVector<Value> rows;
    for (int64_t i = 0; i < width; ++i) {
      Value row = loadLanes(read, addIndex(readAt, i * read.strides[to]), 1, shape);
      rows.push_back(extends ? lanesToFloat32(row) : row);
    }
    transposeInRegisters(b, rows);
    for (int64_t i = 0; i < width; ++i)
      storeLanes(write, addIndex(writeAt, i * write.strides[from]), 1, shape, rows[i]);
  }
  for (auto [rest, lanes] : llvm::zip_equal(restsOfSquares(nest, tile), tile.rests))
    emitLoopNest(rest, lanes);
}
