//===- OddGenerics.cpp - random generics with maps that are no permutations -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg.generic whose results have places that several iterations or none write, or
// are over different loops, and whose operands are read along maps that divide or add.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

/// The place of a result in each dimension, by one of these: its own loop, forwards or backwards; every second place;
/// a constant place; two loops that meet; two iterations each. Adds the loops.
SmallVector<AffineExpr> ProgramBuilder::drawPlaces(ArrayRef<int64_t> shape, SmallVectorImpl<int64_t> &ranges) {
  SmallVector<AffineExpr> places;
  auto loop = [&](int64_t range) {
    ranges.push_back(range);
    return b.getAffineDimExpr(ranges.size() - 1);
  };
  for (int64_t size : shape)
    switch (rng.below(7)) {
    case 0:
      places.push_back(loop((size + 1) / 2) * 2);
      break;
    case 1:
      places.push_back(b.getAffineConstantExpr(rng.below(size)));
      break;
    case 2: {
      int64_t first = 1 + rng.below(size);
      AffineExpr a = loop(first), c = loop(size - first + 1);
      places.push_back(a + c);
      break;
    }
    case 3:
      places.push_back(loop(2 * size).floorDiv(2));
      break;
    case 4:
      places.push_back(size - 1 - loop(size));
      break;
    default:
      places.push_back(loop(size));
    }
  return places;
}

/// A dimension that is read in groups, around, at a distance or as it is; or none for this loop.
void ProgramBuilder::drawGroupedRead(AffineExpr dim, int64_t range, SmallVectorImpl<AffineExpr> &map,
                                     SmallVectorImpl<int64_t> &shape) {
  auto add = [&](AffineExpr index, int64_t size) {
    map.push_back(index);
    shape.push_back(size);
  };
  switch (rng.below(5)) {
  case 0:
    return add(dim.floorDiv(2), (range + 1) / 2);
  case 1:
    return add(dim % 3, std::min<int64_t>(range, 3));
  case 2:
    return add(dim + 1, range + 1);
  case 3:
    if (map.size() < 2)
      add(dim, range);
    return;
  default:
    return;
  }
}

SmallVector<utils::IteratorType> ProgramBuilder::drawIteratorTypes(unsigned count) {
  SmallVector<utils::IteratorType> kinds;
  for (unsigned i = 0; i < count; ++i)
    kinds.push_back(rng.percent(50) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
  return kinds;
}

/// What a place holds and what comes to it: their sum, or the larger one.
Value ProgramBuilder::accumulate(OpBuilder &nested, Location at, bool adds, Value old, Value more) {
  if (isa<FloatType>(scalar))
    return adds || isPolynomial() ? Value(arith::AddFOp::create(nested, at, old, more))
                : Value(arith::MaximumFOp::create(nested, at, old, more));
  return adds ? Value(arith::AddIOp::create(nested, at, old, more))
              : Value(arith::MaxSIOp::create(nested, at, old, more));
}

/// A result of the wanted type at odd places. A second result, over some of the loops, may come along.
Value ProgramBuilder::makeOddGeneric(Scope &scope, RankedTensorType type, int effort) {
  SmallVector<int64_t> ranges;
  SmallVector<AffineExpr> places = drawPlaces(type.getShape().take_until([](int64_t size) { return size == 0; }), ranges);
  if (places.size() < static_cast<size_t>(type.getRank()))
    return {};
  if (rng.percent(40))
    ranges.push_back(1 + rng.below(3));
  unsigned loops = ranges.size();
  int64_t work = type.getNumElements();
  for (int64_t range : ranges)
    work *= range;
  if (loops == 0 || loops > 4 || work > 20000 || !afford(scope, work))
    return {};

  // The first input shows every loop; the second is read at a distance, or in groups.
  SmallVector<AffineExpr> whole, part, sumPlaces;
  SmallVector<int64_t> partShape, sumShape;
  for (unsigned i = 0; i < loops; ++i) {
    whole.push_back(b.getAffineDimExpr(i));
    drawGroupedRead(whole[i], ranges[i], part, partShape);
    if (rng.percent(50)) {
      sumPlaces.push_back(whole[i]);
      sumShape.push_back(ranges[i]);
    }
  }
  if (part.size() > 3 || sumShape.size() > 3)
    return {};
  bool second = rng.percent(40);
  SmallVector<Value> inputs{makeTensor(scope, tensorType(ranges), effort - 1),
                            makeTensor(scope, tensorType(partShape), 0)};
  SmallVector<Value> inits{makeTensor(scope, type, 0)};
  SmallVector<Type> types{type};
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> exprs : {ArrayRef(whole), ArrayRef(part), ArrayRef(places)})
    maps.push_back(AffineMap::get(loops, 0, exprs, context));
  if (second) {
    inits.push_back(makeTensor(scope, tensorType(sumShape), 0));
    types.push_back(inits.back().getType());
    maps.push_back(AffineMap::get(loops, 0, sumPlaces, context));
  }
  SmallVector<utils::IteratorType> kinds = drawIteratorTypes(loops);
  bool adds = rng.percent(60);
  auto op = linalg::GenericOp::create(b, loc, types, inputs, inits, maps, kinds,
                                      [&](OpBuilder &nested, Location at, ValueRange args) {
                                        Value v = scalarCode(nested, at, {args[0], args[1]});
                                        SmallVector<Value> yields;
                                        for (Value old : args.drop_front(2))
                                          yields.push_back(accumulate(nested, at, adds, old, v));
                                        linalg::YieldOp::create(nested, at, yields);
                                      });
  if (second)
    add(scope, tame(op->getResult(1)));
  return tame(op->getResult(0));
}
