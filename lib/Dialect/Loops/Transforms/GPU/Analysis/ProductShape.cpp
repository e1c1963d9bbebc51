//===- ProductShape.cpp - matrices of a product, as its nest walks them --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h" // bytes of elements

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;
using schedule::ProductTiles;
using Rows = ProductTiles::Rows;

ElementView togpu::withoutTerms(const Nest &nest, ElementView view) {
  SmallVector<int64_t> strides;
  for (auto [stride, reduced] : llvm::zip_equal(view.strides, nest.reduced))
    if (!reduced)
      strides.push_back(stride);
  if (!view.isSplat())
    view.strides = strides;
  return view;
}

bool togpu::canCarrySums(const LeafGraph &graph, ArrayRef<schedule::Tiles> tiles, unsigned leader, unsigned next) {
  const ProductTiles *first = tiles[leader].product.get(), *before = tiles[next - 1].product.get(), *of = tiles[next].product.get();
  if (!before || !of || !llvm::is_contained(first->joined, next))
    return false;
  const Nest &nest = graph.nests[next - 1], &behind = graph.nests[next];
  ArrayRef<unsigned> members = before->sweeps.back();
  if (of->sweeps.size() != 1 || behind.members.size() != members.size())
    return false;
  for (auto [member, other] : llvm::zip_equal(members, of->sweeps.front())) {
    ElementView result = withoutTerms(nest, nest.members[member].writes.front());
    const Buffer &buffer = graph.buffers[result.buffer];
    if (!(withoutTerms(behind, behind.members[other].inits.front()) == result) || buffer.inMemory || buffer.elementType != first->sum)
      return false;
    for (unsigned later = next + 1; later <= leader + unsigned(first->attribute.getFused()); ++later)
      for (const NestMember &reader : graph.nests[later].members)
        for (auto *views : {&reader.reads, &reader.inits})
          if (llvm::any_of(*views, [&](const ElementView &view) { return view.buffer == result.buffer; }))
            return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

ProductShape::ProductShape(const LeafGraph &graph, unsigned number, const ProductTiles &product, int64_t maxRows)
    : graph(graph), number(number), nest(graph.nests[number]), product(product), maxRows(maxRows) {
  for (auto [loop, reduced] : llvm::enumerate(nest.reduced))
    if (!reduced)
      parallelLoops.push_back(int(loop));
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

std::pair<int64_t, int64_t> ProductShape::countTiles() const {
  ArrayRef<int64_t> block = product.attribute.getBlock();
  return {llvm::divideCeil(m.most, block[0]), llvm::divideCeil(n.most, block[1])};
}

SmallVector<ElementView> ProductShape::placesOfTiles() const {
  SmallVector<ElementView> places;
  auto add = [&](ElementView view) {
    if (!view.isSplat() && llvm::none_of(places, [&](const ElementView &place) { return place == view; }))
      places.push_back(std::move(view));
  };
  for (unsigned i = number; i <= number + unsigned(product.attribute.getFused()); ++i) {
    bool isProduct = i == number || llvm::is_contained(product.joined, i);
    for (const NestMember &member : graph.nests[i].members) {
      if (!isProduct)
        for (const ElementView &view : member.reads)
          add(schedule::viewOverTile(nest, product, view));
      for (auto *views : {&member.inits, &member.writes})
        for (const ElementView &view : *views)
          add(isProduct ? withoutTerms(graph.nests[i], view) : schedule::viewOverTile(nest, product, view));
    }
  }
  return places;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

AccessChooser::AccessChooser(const LeafGraph &graph, unsigned number, const ProductTiles &product, int64_t maxRows, int64_t columnUnit,
                             std::function<bool(int)> isAligned, int64_t accessBytes)
    : ProductShape(graph, number, product, maxRows), columnUnit(columnUnit), isAligned(std::move(isAligned)), accessBytes(accessBytes) {}

int64_t AccessChooser::widthOf(const ElementView &view, const Axis &columns, LoopNumber loopOf) const {
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
  int64_t width = accessBytes / bytesOf(graph.buffers[view.buffer].elementType);
  while (width > 1 && !divides(width))
    width /= 2;
  return width;
}

bool AccessChooser::reducesRows() const {
  auto fused = ArrayRef(graph.nests).slice(number + 1, product.attribute.getFused());
  return llvm::any_of(fused, [](const Nest &behind) { return llvm::is_contained(behind.reduced, true); });
}

tile::BlockedAttr AccessChooser::chooseResult() const {
  tile::ProductAttr attribute = product.attribute;
  MLIRContext *context = attribute.getContext();
  ArrayRef<int64_t> block = attribute.getBlock(), thread = attribute.getThread();
  int64_t threads[] = {block[0] / thread[0], block[1] / thread[1]};
  if (attribute.getWgmma()) { // as the PTX ISA says
    int64_t vector[] = {1, 2}, warp[] = {8, 4}, repeat[] = {2, 1};
    return tile::BlockedAttr::get(context, vector, threads, warp, repeat);
  }
  if (attribute.getMma()) { // as a fragment's accumulator lies in a warp
    int64_t vector[] = {1, 2}, warp[] = {8, 4};
    return tile::BlockedAttr::get(context, vector, threads, warp);
  }
  // Rows or columns that are adjacent in shared memory are read several at a time; of others neighbours read neighbours.
  auto vectorOf = [&](bool alongTerms, int64_t own, Type element) {
    int64_t vector = alongTerms ? 1 : std::min<int64_t>(4, accessBytes / bytesOf(element));
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

tile::MoveAttr AccessChooser::chooseMove(bool isLhs, int64_t threads, llvm::function_ref<bool(int)> isGlobal) const {
  const schedule::StagedOperands &staged = product.staged;
  tile::SharedType type = isLhs ? staged.lhs : staged.partOf(staged.rhs, product.getWidest()).type;
  const Axis &columns = isLhs ? (staged.lhsTransposed ? m : k) : (staged.rhsTransposed ? k : n);
  int64_t bytes = bytesOf(type.getElementType()), width = accessBytes / bytes;
  bool isAllGlobal = true;
  for (auto [member, operands] : llvm::zip_equal(nest.members, product.operands)) {
    const ElementView &view = member.reads[isLhs ? operands.first : operands.second];
    width = std::min(width, widthOf(view, columns, [](int loop) { return loop; }));
    isAllGlobal &= isGlobal(view.buffer);
  }
  while (type.getShape()[1] % width != 0 || type.getPad() % width != 0)
    width /= 2;
  int64_t across = std::min<int64_t>(std::max<int64_t>(type.getShape()[1] / width, 1), threads);
  while (threads % across != 0)
    --across;
  return tile::MoveAttr::get(type.getContext(), width, ArrayRef<int64_t>{threads / across, across}, isAllGlobal && width * bytes >= leastAsyncBytes);
}

int64_t AccessChooser::widestRead(bool isLhs, tile::BlockedAttr result, int64_t terms) const {
  const schedule::StagedOperands &staged = product.staged;
  tile::SharedType type = isLhs ? staged.lhs : staged.rhs;
  bool alongTerms = isLhs ? !staged.lhsTransposed : staged.rhsTransposed;
  int64_t adjacent = alongTerms ? terms : result.getVector()[isLhs ? 0 : 1];
  int64_t width = accessBytes / type.getElementBytes();
  while (width > 1 && (adjacent % width != 0 || type.getRowStride() % width != 0))
    width /= 2;
  return width;
}

tile::ReadsAttr AccessChooser::chooseReads(tile::BlockedAttr result) const {
  const schedule::StagedOperands &staged = product.staged;
  if (product.attribute.usesMatrixUnits())
    return nullptr;
  bool lhsAlong = !staged.lhsTransposed, rhsAlong = staged.rhsTransposed;
  constexpr int64_t termsOfBoth = 2; // where both operands have several in registers, more take too many of them
  int64_t step = product.attribute.getStep(), terms = lhsAlong && rhsAlong ? termsOfBoth : lhsAlong || rhsAlong ? step : 1;
  for (bool isLhs : {true, false})
    if (isLhs ? lhsAlong : rhsAlong)
      terms = std::min(terms, widestRead(isLhs, result, step));
  return tile::ReadsAttr::get(result.getContext(), terms, widestRead(/*isLhs=*/true, result, terms), widestRead(/*isLhs=*/false, result, terms));
}

SmallVector<int64_t> AccessChooser::chooseAccesses(tile::BlockedAttr result) const {
  auto widthOfPlace = [&](const ElementView &view) {
    if (!graph.buffers[view.buffer].inMemory)
      return int64_t(0);
    return std::min(widthOf(view, n, [&](int loop) { return indexOfParallel(loop); }), result.getVector()[1]);
  };
  return llvm::map_to_vector(placesOfTiles(), widthOfPlace);
}
