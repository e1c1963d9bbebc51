//===- RowLists.cpp - rows of leaves from several dimensions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points of several parallel dimensions become the rows of one leaf call. No one
// stride leads from each to the next: regions of the nest have their parts, and
// planes of a buffer move against each other in a wavefront. So one first
// walks the lines of a chunk and lists, for each operand that varies, where every
// row lies; then the leaf runs once over the list. Regions with equal
// bodies and the same right-hand sides fill one list (ft/Schedule, RowGroups.cpp).
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

SmallVector<Emitter::RowList> Emitter::makeLists(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims) {
  SmallVector<RowList> lists;
  for (RowGroup &group : groupRegions(nest, dims)) {
    BlockOp front = group.regions.front();
    SmallVector<Type> rows;
    for (auto [type, varies] : llvm::zip_equal(front.getBody().getArgumentTypes(), group.varies))
      if (varies)
        rows.push_back(type);
    llvm::append_range(rows, front.getBody().front().getTerminator()->getOperandTypes());
    Value list = loops::ListOp::create(builder, loc, loops::ListType::get(context, rows), maxRows);
    lists.push_back({std::move(group), list});
  }
  return lists;
}

LogicalResult Emitter::emitAppend(BlockOp block, const Point &point, bool rowWise) {
  RowList &list =
      *llvm::find_if(*rowLists, [&](RowList &l) { return llvm::is_contained(l.group.regions, block); });
  Value rows = rowWise ? point.rows : index(1);
  currentList = list.list;
  SmallVector<Value> views;
  for (unsigned i = 0; i < block.getNumReads(); ++i) {
    if (!list.group.varies[i])
      continue;
    FailureOr<Address> address = emitReadAddress(block, i, point, rowWise);
    if (failed(address))
      return failure();
    views.push_back(
        emitRowsView(*address, cast<RankedTensorType>(block.getBody().getArgument(i).getType()), rows));
  }
  currentList = Value();
  for (unsigned i = 0; i < block.getNumWrites(); ++i) {
    Value buffer = block.getBuffers()[block.getWrite(i).getOperand()];
    Address address =
        emitBufferAddress(block, buffer, block.getWrite(i).getMap().getValue(), {}, point, rowWise);
    views.push_back(emitRowsView(address, cast<etdg::BufferType>(buffer.getType()).getElement(), rows));
  }
  loops::AppendOp::create(builder, loc, list.list, rows, views);
  return success();
}

LogicalResult Emitter::emitListCall(const RowList &list, const Point &point) {
  Value rows = loops::CountOp::create(builder, loc, builder.getIndexType(), list.list);
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, rows, index(0));
  auto branch = scf::IfOp::create(builder, loc, some, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  BlockOp front = list.group.regions.front();
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < front.getNumReads(); ++i) {
    if (list.group.varies[i])
      continue;
    FailureOr<Address> address = emitReadAddress(front, i, point, /*rowWise=*/false);
    if (failed(address))
      return failure();
    inputs.push_back(
        emitRowsView(*address, cast<RankedTensorType>(front.getBody().getArgument(i).getType()), rows));
  }
  emitLeafOp(front, overlapsOf(list.group.regions), rows, maxRows, list.list, inputs, list.group.varies, {});
  return success();
}

//===----------------------------------------------------------------------===//
// Walking the lines
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitLines(ArrayRef<BlockOp> nest, Point bounds, Point point,
                                 ArrayRef<unsigned> dims, Value begin, Value end, Value &count,
                                 llvm::function_ref<LogicalResult(Point)> body) {
  unsigned dim = dims.front();
  auto [lower, upper] = emitBounds(nest, dim, bounds);
  point.order.push_back(dim);
  OpBuilder::InsertionGuard guard(builder);
  if (dims.size() > 1) {
    auto loop = scf::ForOp::create(builder, loc, lower, upper, index(1), ValueRange{count});
    builder.setInsertionPointToStart(loop.getBody());
    bounds.dims[dim] = point.dims[dim] = loop.getInductionVar();
    Value inner = loop.getRegionIterArg(0);
    if (failed(emitLines(nest, bounds, point, dims.drop_front(), begin, end, inner, body)))
      return failure();
    scf::YieldOp::create(builder, loc, inner);
    count = loop.getResult(0);
    return success();
  }
  // Of this line's points, numbered from `count`, those in [begin, end).
  Value extent = make<arith::MaxSIOp>(make<arith::SubIOp>(upper, lower), index(0));
  Value from = make<arith::MaxSIOp>(make<arith::SubIOp>(begin, count), index(0));
  Value to = make<arith::MinSIOp>(make<arith::SubIOp>(end, count), extent);
  count = make<arith::AddIOp>(count, extent);
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(builder, loc, some, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  point.rowDim = dim;
  point.rowBegin = point.dims[dim] = make<arith::AddIOp>(lower, from);
  point.rows = make<arith::SubIOp>(to, from);
  return body(point);
}

LogicalResult Emitter::emitListedRows(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan,
                                      loops::LevelAttr level) {
  SmallVector<unsigned> dims = plan.rowDims();
  Point probe = point;
  for (unsigned dim : dims) {
    if (failed(checkBounds(nest, dim, probe)))
      return failure();
    probe.dims[dim] = index(0);
  }
  Value total = emitUnitCount(nest, point, dims), none = index(0);
  emitWeight(nest, plan, point);
  auto loop = loops::ChunksOp::create(builder, loc, none, total, plan.maxRows, plan.rowUnit, level);
  int64_t savedRows = std::exchange(maxRows, plan.maxRows);
  auto inner = [&](Point all) -> LogicalResult {
    SmallVector<RowList> lists = makeLists(nest, dims);
    Value count = index(0), last = make<arith::AddIOp>(loop.getFirst(), loop.getCount());
    if (failed(emitLines(nest, point, all, dims, loop.getFirst(), last, count, [&](Point line) {
          rowLists = &lists;
          LogicalResult listed = emitRegions(nest, line);
          rowLists = nullptr;
          return listed;
        })))
      return failure();
    for (const RowList &list : lists)
      if (failed(emitListCall(list, all)))
        return failure();
    return success();
  };
  LogicalResult emitted = inParallelBody(&loop.getRegion().front(),
                                         [&] { return emitInnerLoops(nest, point, plan, inner); });
  maxRows = savedRows;
  return emitted;
}
