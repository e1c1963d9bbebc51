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

/// A result of the wanted type, each place by one of these: its own loop, forwards or
/// backwards; every second place; a constant place; two loops that meet; two iterations
/// each. A second result, over some of the loops, may come along.
Value ProgramBuilder::makeOddGeneric(Scope &scope, RankedTensorType type, int effort) {
  SmallVector<int64_t> ranges;
  SmallVector<AffineExpr> places;
  auto loop = [&](int64_t range) {
    ranges.push_back(range);
    return b.getAffineDimExpr(ranges.size() - 1);
  };
  for (int64_t size : type.getShape()) {
    if (size == 0)
      return {};
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
  }
  if (rng.percent(40))
    loop(1 + rng.below(3));
  unsigned loops = ranges.size();
  int64_t work = type.getNumElements();
  for (int64_t range : ranges)
    work *= range;
  if (loops == 0 || loops > 4 || work > 20000 || !afford(scope, work))
    return {};

  // The first input shows every loop; the second is read at a distance, or in groups.
  SmallVector<AffineExpr> whole, part;
  SmallVector<int64_t> partShape, sumShape;
  SmallVector<AffineExpr> sumPlaces;
  for (unsigned i = 0; i < loops; ++i) {
    AffineExpr dim = b.getAffineDimExpr(i);
    whole.push_back(dim);
    switch (rng.below(5)) {
    case 0:
      part.push_back(dim.floorDiv(2));
      partShape.push_back((ranges[i] + 1) / 2);
      break;
    case 1:
      part.push_back(dim % 3);
      partShape.push_back(std::min<int64_t>(ranges[i], 3));
      break;
    case 2:
      part.push_back(dim + 1);
      partShape.push_back(ranges[i] + 1);
      break;
    case 3:
      if (part.size() < 2) {
        part.push_back(dim);
        partShape.push_back(ranges[i]);
      }
      break;
    default:
      break;
    }
    if (rng.percent(50)) {
      sumPlaces.push_back(dim);
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
  SmallVector<utils::IteratorType> kinds;
  for (unsigned i = 0; i < loops; ++i)
    kinds.push_back(rng.percent(50) ? utils::IteratorType::parallel
                                    : utils::IteratorType::reduction);
  bool adds = rng.percent(60);
  auto op = linalg::GenericOp::create(
      b, loc, types, inputs, inits, maps, kinds,
      [&](OpBuilder &nested, Location at, ValueRange args) {
        Value v = scalarCode(nested, at, {args[0], args[1]});
        SmallVector<Value> yields;
        for (Value old : args.drop_front(2)) {
          if (isa<FloatType>(scalar))
            yields.push_back(adds ? Value(arith::AddFOp::create(nested, at, old, v))
                                  : Value(arith::MaximumFOp::create(nested, at, old, v)));
          else
            yields.push_back(adds ? Value(arith::AddIOp::create(nested, at, old, v))
                                  : Value(arith::MaxSIOp::create(nested, at, old, v)));
        }
        linalg::YieldOp::create(nested, at, yields);
      });
  if (second)
    add(scope, tame(op->getResult(1)));
  return tame(op->getResult(0));
}
