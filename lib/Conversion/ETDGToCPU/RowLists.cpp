//===- RowLists.cpp - rows of leaves from several dimensions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points of several parallel dimensions become the rows of one leaf call. No one
// stride leads from each to the next: regions of the nest have their parts, and
// planes of a buffer move against each other in a wavefront. So a thread first
// walks the lines of its share and lists, for each operand that varies, the
// address of every row; then the leaf runs once over the list. Regions with equal
// bodies and the same right-hand sides fill one list (ft/Schedule, RowGroups.cpp).
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

/// In a list's memory the number of rows comes first, the addresses from here on.
static constexpr int64_t firstAddress = 8;

/// Of element `at` (in eights of bytes) of memory.
static Value addressOf(OpBuilder &builder, Location loc, Value memory, Value at) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value i64 = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), memory,
                             ArrayRef<LLVM::GEPArg>{i64});
}

FailureOr<SmallVector<Emitter::RowList>> Emitter::makeLists(ArrayRef<BlockOp> nest,
                                                            ArrayRef<unsigned> dims) {
  SmallVector<RowList> lists;
  for (RowGroup &group : groupRegions(nest, dims)) {
    RowList list;
    BlockOp front = group.regions.front();
    FailureOr<func::FuncOp> leaf = leafFunction(front, group.varies, /*listed=*/true);
    if (failed(leaf))
      return failure();
    list.leaf = *leaf;
    int64_t numLists = llvm::count(group.varies, true) + front.getNumWrites();
    list.group = std::move(group);
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(entry);
    auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI64Type());
    Value memory = memref::AllocOp::create(builder, loc, type,
                                           ValueRange{index(firstAddress + numLists * maxRows)},
                                           builder.getI64IntegerAttr(64));
    toFree.push_back(memory);
    Value number = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory);
    number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
    list.memory = LLVM::IntToPtrOp::create(builder, loc,
                                           LLVM::LLVMPointerType::get(context), number);
    lists.push_back(std::move(list));
  }
  return lists;
}

Value Emitter::listedRows(const RowList &list) {
  Value count = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), list.memory);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count);
}

void Emitter::setListedRows(const RowList &list, Value rows) {
  Value count = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), rows);
  LLVM::StoreOp::create(builder, loc, count, list.memory);
}

LogicalResult Emitter::emitAppend(BlockOp block, const Point &point, bool rowWise) {
  RowList &list = *llvm::find_if(
      *rowLists, [&](RowList &l) { return llvm::is_contained(l.group.regions, block); });
  Value before = listedRows(list), one = index(1);
  listAt = before;
  /// Where each operand's first row lies, and bytes to the next.
  SmallVector<std::pair<Value, Value>> operands;
  auto add = [&](const Address &address, RankedTensorType element) {
    Type scalar = element.getElementType();
    Value bytes =
        index(scalar.isIndex() ? 8 : llvm::divideCeil(scalar.getIntOrFloatBitWidth(), 8));
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, address.base);
    operands.push_back({make<arith::AddIOp>(base, make<arith::MulIOp>(address.offset, bytes)),
                        make<arith::MulIOp>(address.rowStride, bytes)});
  };
  for (unsigned i = 0; i < block.getNumReads(); ++i) {
    if (!list.group.varies[i])
      continue;
    FailureOr<Address> address = emitReadAddress(block, i, point, rowWise);
    if (failed(address))
      return failure();
    add(*address, cast<RankedTensorType>(block.getBody().getArgument(i).getType()));
  }
  for (unsigned i = 0; i < block.getNumWrites(); ++i) {
    Value buffer = block.getBuffers()[block.getWrite(i).getOperand()];
    add(emitBufferAddress(block, buffer, block.getWrite(i).getMap().getValue(), {}, point, rowWise),
        cast<etdg::BufferType>(buffer.getType()).getElement());
  }
  listAt = Value();
  Value rows = rowWise ? point.rows : one;
  {
    scf::ForOp loop;
    OpBuilder::InsertionGuard guard(builder);
    Value row = index(0);
    if (rowWise) {
      loop = scf::ForOp::create(builder, loc, index(0), rows, one);
      builder.setInsertionPointToStart(loop.getBody());
      row = loop.getInductionVar();
    }
    Value at = make<arith::AddIOp>(before, row);
    for (auto [o, operand] : llvm::enumerate(operands)) {
      Value where = addressOf(builder, loc, list.memory,
                              make<arith::AddIOp>(at, index(firstAddress + o * maxRows)));
      Value address = make<arith::AddIOp>(operand.first, make<arith::MulIOp>(row, operand.second));
      address = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
      LLVM::StoreOp::create(builder, loc, address, where);
    }
  }
  setListedRows(list, make<arith::AddIOp>(before, rows));
  return success();
}

LogicalResult Emitter::emitListCall(const RowList &list, const Point &point) {
  Value rows = listedRows(list);
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, rows, index(0));
  auto branch = scf::IfOp::create(builder, loc, some, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  BlockOp front = list.group.regions.front();
  SmallVector<Value> operands = {rows};
  int64_t next = firstAddress;
  auto addList = [&] {
    operands.push_back(addressOf(builder, loc, list.memory, index(next)));
    next += maxRows;
  };
  for (unsigned i = 0; i < front.getNumReads(); ++i) {
    if (list.group.varies[i]) {
      addList();
      continue;
    }
    FailureOr<Address> address = emitReadAddress(front, i, point, /*rowWise=*/false);
    if (failed(address))
      return failure();
    operands.push_back(emitRowsView(
        *address, cast<RankedTensorType>(front.getBody().getArgument(i).getType()), rows));
  }
  for (unsigned i = 0; i < front.getNumWrites(); ++i)
    addList();
  callLeaf(list.leaf, operands, maxRows);
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
                                      Value begin, Value end) {
  SmallVector<unsigned> dims = plan.rowDims();
  int64_t savedRows = maxRows;
  maxRows = plan.maxRows;
  FailureOr<SmallVector<RowList>> lists = makeLists(nest, dims);
  if (failed(lists))
    return failure();
  // Parts of about equal length, none longer than a list (CostModel::lengthOfParts).
  Value total = make<arith::MaxSIOp>(make<arith::SubIOp>(end, begin), index(1));
  Value parts = make<arith::CeilDivUIOp>(total, index(maxRows)), tile = index(plan.rowUnit);
  Value tiles = make<arith::CeilDivUIOp>(make<arith::CeilDivUIOp>(total, parts), tile);
  Value step = make<arith::MinUIOp>(make<arith::MulIOp>(tiles, tile), index(maxRows));
  auto loop = scf::ForOp::create(builder, loc, begin, end, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value last = make<arith::MinSIOp>(make<arith::AddIOp>(first, step), end);
  LogicalResult emitted = emitLoops(nest, point, plan.inner, [&](Point all) -> LogicalResult {
    for (const RowList &list : *lists)
      setListedRows(list, index(0));
    Value count = index(0);
    if (failed(emitLines(nest, point, all, dims, first, last, count, [&](Point line) {
          rowLists = &*lists;
          LogicalResult listed = emitRegions(nest, line);
          rowLists = nullptr;
          return listed;
        })))
      return failure();
    for (const RowList &list : *lists)
      if (failed(emitListCall(list, all)))
        return failure();
    return success();
  });
  maxRows = savedRows;
  return emitted;
}
