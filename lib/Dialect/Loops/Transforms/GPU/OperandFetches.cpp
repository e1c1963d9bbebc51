//===- OperandFetches.cpp - operands of products that TMA brings -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/OperandFetches.h"

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// The boxes that a tile in shared memory is made of; `alongTerms`: its rows have adjacent terms.
static MapRequest requestOf(tile::SharedType type, bool alongTerms) {
  using Terms = MapRequest::Terms;
  MapRequest request;
  request.rows = type.getShape()[0];
  request.columns = type.getSlabColumns();
  request.swizzle = type.getSwizzle();
  request.terms = alongTerms ? Terms::columns : Terms::rows;
  request.step = type.getShape()[alongTerms ? 1 : 0];
  return request;
}

std::string togpu::readFetch(OperandFetch &fetch, const FetchedProduct &of, unsigned member, bool isLhs) {
  const schedule::ProductTiles &product = of.product;
  const schedule::StagedOperands &staged = product.staged;
  const leaf::Nest &nest = of.graph.nests[of.number];
  auto [lhs, rhs] = product.operands[member];
  const leaf::ElementView &view = nest.members[member].reads[size_t(isLhs ? lhs : rhs)];
  const leaf::Buffer &buffer = of.graph.buffers[size_t(view.buffer)];
  if (buffer.kind != leaf::Buffer::Kind::Input)
    return "it is made inside of the leaf";
  loops::LeafOp leaf = of.leaf;
  auto viewed = leaf.getInputs()[buffer.number].getDefiningOp<loops::ViewOp>();
  SmallVector<InputPlace> places = viewed ? inputPlacesOf(viewed) : SmallVector<InputPlace>();
  if (places.empty())
    return "it is chosen among several places, whose indices are not known";
  const bool alongTerms = isLhs ? !staged.lhsTransposed : staged.rhsTransposed;
  ProductShape shape(of.graph, of.number, product, leaf.getMost());
  const Axis &own = isLhs ? shape.m : shape.n;
  const int64_t columns = staged.rhs.getShape()[staged.rhsTransposed ? 0 : 1] / product.getWidest();
  const MapRequest request = requestOf(isLhs ? staged.lhs : staged.rhsOf(/*products=*/1, columns), alongTerms);
  bool hasMap = false;
  for (const InputPlace &place : places) {
    fetch.places.push_back({place.condition, nullptr});
    if (place.isZero)
      continue;
    auto map = std::make_shared<OperandMap>(leaf, of.graph, of.launches);
    std::string why = map->read(view, place, alongTerms ? own : shape.k, alongTerms ? shape.k : own, [](int loop) { return loop; }, product.loops.batch, request);
    if (!why.empty())
      return why;
    fetch.places.back().map = std::move(map);
    hasMap = true;
  }
  return hasMap ? "" : "it is a constant";
}
