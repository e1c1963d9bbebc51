//===- NestLanes.cpp - lanes of a warp, or a block, share a point ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestCode.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;

/// What all lanes of the tile have, together: shuffles, then one partial result a warp through shared memory, in places of 8 bytes.
Value NestCode::acrossLanes(Reduction &reduction, Value value, int64_t slot) {
  for (int64_t mask = std::min(layout.getLanes(), warpThreads) / 2; mask >= 1; mask /= 2)
    value = combine(reduction, value, exchange(value, mask));
  if (!layout.isOfBlock())
    return value;
  int64_t warps = layout.getThreads() / warpThreads;
  Type type = value.getType(), place = getI64Type();
  Value zero = number32(0);
  Value warp = arith::ShRUIOp::create(*this, nest.getThread(), number32(llvm::Log2_64(uint64_t(warpThreads))));
  Value lane = arith::AndIOp::create(*this, nest.getThread(), number32(warpThreads - 1));
  Value base = atRow(nest.getScratch(), number(slot * warps), place);
  {
    OpBuilder::InsertionGuard guard(*this);
    under(arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, lane, zero));
    storeAdjacent({value}, atRow(base, extend(warp), place), type, false);
  }
  NVVM::Barrier0Op::create(*this);
  Value whole;
  for (int64_t w = 0; w < warps; ++w) {
    Value partial = loadAdjacent(atRow(base, number(w), place), type, 1, false).front();
    whole = whole ? combine(reduction, whole, partial) : partial;
  }
  return whole;
}

/// Enters the loop over the tiles of a group of lanes. Groups of one warp go round equally often, since lanes of the whole warp meet to exchange
/// what they have: the last ones may repeat the last tile, and store nothing.
PointTile NestCode::startGroup(Value total, std::optional<int64_t> fixed, Value group, int64_t groups) {
  if (layout.getLanes() >= warpThreads)
    return startAt(loop(group, total, number32(groups), {}, layout.copiesOfTiles()).getInductionVar());
  scf::ForOp created = loop(number32(0), total, number32(groups), {}, layout.copiesOfTiles());
  Value flat = createOrFold<arith::AddIOp>(created.getInductionVar(), group);
  if (fixed && *fixed % groups == 0)
    return startAt(flat);
  Value valid = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, flat, total);
  PointTile point = startAt(createOrFold<arith::MinSIOp>(flat, createOrFold<arith::SubIOp>(total, number32(1))));
  for (TilePart &part : point.parts)
    part.valid = both(part.valid, valid);
  return point;
}

void NestCode::runLanes(Value total, std::optional<int64_t> fixed) {
  Value group = number32(0), laneInGroup = nest.getThread();
  int64_t groups = 1;
  if (!layout.isOfBlock()) {
    group = arith::ShRUIOp::create(*this, nest.getThread(), number32(llvm::Log2_64(uint64_t(layout.getLanes()))));
    laneInGroup = arith::AndIOp::create(*this, nest.getThread(), number32(layout.getLanes() - 1));
    groups = layout.getThreads() / layout.getLanes();
  }
  OpBuilder::InsertionGuard guard(*this);
  PointTile point = startGroup(total, fixed, group, groups);
  Sums sums = neutral();
  runReduced(0, point, sums, laneInGroup);
  int64_t slot = 0;
  for (int64_t part = 0; part < tile; ++part)
    for (auto [r, reduction] : llvm::enumerate(reductions)) {
      Value &value = sums[slotOf(part, 0, r)];
      for (int64_t l = 1; l < width; ++l)
        value = combine(reduction, value, sums[slotOf(part, l, r)]);
      Value together = acrossLanes(reduction, value, slot++);
      Value init = toFloat32(elementOf(point, reduction.init(), part, 0));
      value = combine(reduction, init, together);
    }
  if (layout.getReuse())
    NVVM::Barrier0Op::create(*this);
  Value leads = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, laneInGroup, number32(0));
  under(leads);
  storeSums(point, sums);
}
