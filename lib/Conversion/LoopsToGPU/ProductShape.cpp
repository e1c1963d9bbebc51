//===- ProductShape.cpp - matrices of a product, as its nest walks them --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProductShape.h"

#include "Code.h" // bytes of elements

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;
using schedule::ProductTiles;
using Rows = ProductTiles::Rows;

ProductShape::ProductShape(const LeafGraph &graph, unsigned number, const ProductTiles &product, int64_t maxRows, int64_t columnUnit,
                           std::function<bool(int)> isAligned)
    : graph(graph), number(number), nest(graph.nests[number]), product(product), maxRows(maxRows), columnUnit(columnUnit),
      isAligned(std::move(isAligned)) {
  m = axisOf(product.loops.m, Rows::m);
  n = axisOf(product.loops.n, Rows::n);
  k = axisOf(product.loops.k, Rows::none);
}

Axis ProductShape::axisOf(ArrayRef<int> loops, Rows rows) const {
  Axis axis;
  if (product.rows == rows && rows != Rows::none) {
    axis.digits.push_back({Axis::Digit::ofRows, -1, 1});
    axis.most *= maxRows;
    axis.isOpen = true;
  }
  for (int loop : loops) {
    bool isSplit = loop == product.splitLoop;
    axis.digits.push_back({isSplit ? Axis::Digit::ofColumns : Axis::Digit::ofLoop, loop, nest.sizes[loop]});
    axis.most *= nest.sizes[loop];
    axis.isOpen |= isSplit;
  }
  if (axis.digits.empty())
    axis.digits.push_back({Axis::Digit::ofNone, -1, 1});
  return axis;
}

int64_t ProductShape::widthOf(const View &view, const Axis &columns, LoopNumber loopOf, int64_t most) const {
  const Axis::Digit &last = columns.digits.back();
  int lastLoop = last.loop < 0 ? -1 : loopOf(last.loop);
  if (lastLoop < 0 || view.strides[lastLoop] != 1 || !isAligned(view.buffer))
    return 1;
  int64_t unit = last.kind == Axis::Digit::ofColumns ? columnUnit : last.size;
  auto isCut = [&](const Border &border) { return border.strides[lastLoop] != 0; };
  if (llvm::any_of(view.borders, isCut))
    return 1;
  auto divides = [&](int64_t width) {
    if (unit % width != 0 || view.offset % width != 0 || graph.buffers[view.buffer].numElements % width != 0)
      return false;
    for (auto [loop, stride] : llvm::enumerate(view.strides))
      if (int(loop) != lastLoop && stride % width != 0)
        return false;
    return true;
  };
  int64_t width = most;
  while (width > 1 && !divides(width))
    width /= 2;
  return width;
}

bool ProductShape::reducesRows() const {
  auto fused = ArrayRef(graph.nests).slice(number + 1, product.attribute.getFused());
  return llvm::any_of(fused, [](const Nest &behind) { return llvm::is_contained(behind.reduced, true); });
}

tile::BlockedAttr ProductShape::chooseResult() const {
  tile::ProductAttr attribute = product.attribute;
  MLIRContext *context = attribute.getContext();
  ArrayRef<int64_t> block = attribute.getBlock(), thread = attribute.getThread();
  int64_t threads[] = {block[0] / thread[0], block[1] / thread[1]};
  if (attribute.getMma()) { // as a fragment's accumulator lies in a warp
    int64_t vector[] = {1, 2}, warp[] = {8, 4};
    return tile::BlockedAttr::get(context, vector, threads, warp);
  }
  // Rows or columns that are adjacent in shared memory are read several at a time; of others neighbours read neighbours.
  auto vectorOf = [&](bool alongTerms, int64_t own, Type element) {
    int64_t vector = alongTerms ? 1 : std::min<int64_t>(4, tile::accessBytes / bytesOf(element));
    while (own % vector != 0)
      vector /= 2;
    return vector;
  };
  int64_t vector[] = {vectorOf(!product.staged.lhsTransposed, thread[0], product.lhs),
                      vectorOf(product.staged.rhsTransposed, thread[1], product.rhs)};
  // A warp reads four different rows and eight columns: each in one access of all banks. Rows that are reduced lie in a warp.
  SmallVector<int64_t> warp = {4, 8};
  if (reducesRows())
    warp = {std::max<int64_t>(tile::warpThreads / threads[1], 1), threads[1]};
  if (threads[0] % warp[0] != 0 || threads[1] % warp[1] != 0)
    warp.clear();
  return tile::BlockedAttr::get(context, vector, threads, warp);
}

tile::MoveAttr ProductShape::chooseMove(bool isLhs, int64_t threads, llvm::function_ref<bool(int)> isGlobal) const {
  const schedule::StagedOperands &staged = product.staged;
  tile::SharedType type = isLhs ? staged.lhs : staged.partOf(staged.rhs, product.getWidest()).type;
  const Axis &columns = isLhs ? (staged.lhsTransposed ? m : k) : (staged.rhsTransposed ? k : n);
  int64_t bytes = bytesOf(type.getElementType()), width = tile::accessBytes / bytes;
  bool isAllGlobal = true;
  for (auto [member, operands] : llvm::zip_equal(nest.members, product.operands)) {
    const View &view = member.reads[isLhs ? operands.first : operands.second];
    width = std::min(width, widthOf(view, columns, [](int loop) { return loop; }, tile::accessBytes / bytes));
    isAllGlobal &= isGlobal(view.buffer);
  }
  while (type.getShape()[1] % width != 0 || type.getPad() % width != 0)
    width /= 2;
  int64_t across = std::min<int64_t>(std::max<int64_t>(type.getShape()[1] / width, 1), threads);
  while (threads % across != 0)
    --across;
  return tile::MoveAttr::get(type.getContext(), width, ArrayRef<int64_t>{threads / across, across}, isAllGlobal && width * bytes >= leastAsyncBytes);
}
