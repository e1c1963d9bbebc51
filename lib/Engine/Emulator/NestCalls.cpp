//===- NestCalls.cpp - loop nests, point by point -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread asks which points of a nest are its own, in any order, and computes each by itself: it reads, computes and writes one
// element after the other. Terms of a sum that threads would share are taken in any order by the first of them.
//
//===----------------------------------------------------------------------===//
#include "CallBuilder.h"

#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tile;
using namespace ::ft::emulate;

namespace {
class NestPoints {
public:
  NestPoints(NestOp nest, CallBuilder &b) : nest(nest), layout(nest.getLayout()), b(b) {}
  void run();

private:
  bool isShared() { return layout.getLanes() > 1 || layout.getSlices() > 1; }
  void enter();
  Value indexOf(int64_t which) {
    return b.call("ft_emulate_nest_index", b.getI64Type(), {self, place, b.number(which), rows, columns});
  }
  void computePoint();
  void copyPoint();
  void setTerm(Value number, int64_t terms);
  void evaluate(IRMapping &values, SmallVectorImpl<Value> &sums);
  SmallVector<Value> startSums();
  void writeSums(ArrayRef<Value> sums);

  SmallVector<Value> clone(Block &body, ValueRange arguments);
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value along(Value begin, ArrayRef<int64_t> steps);
  Value addressOf(MemoryOp memory, PointPlaceAttr where, Region &begin, int64_t width);
  Value read(ReadOp op);
  Value readMemory(ReadOp op, MemoryOp memory);
  void write(WriteOp op, Value value);
  Value toFloat32(Value value) {
    bool isHalf = value.getType().isF16() || value.getType().isBF16();
    return isHalf ? arith::ExtFOp::create(b, b.getF32Type(), value).getResult() : value;
  }
  static Type storedType(Type element) { return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8)) : element; }

  NestOp nest;
  PointTilesAttr layout;
  CallBuilder &b;
  Value self, salt, rows, columns; // of the nest
  Value place, row, lift;          // of the point
  SmallVector<Value> loops;
};
} // namespace

void NestPoints::enter() {
  TileOperation described = startOperation(nest, TileKind::nest);
  TileNest &to = described.nest;
  to = {layout.getThreads(), layout.getVector(), layout.getWidth(), layout.getLoop(),  layout.getTile(), layout.getRows(),
        layout.getLanes(),   layout.getSlices(), int64_t(nest.getLifts()), nest.getSplit() ? int64_t(*nest.getSplit()) : -1,
        {}, {}};
  to.loops.assign(nest.getLoops().begin(), nest.getLoops().end());
  to.reduced.assign(nest.getReduced().begin(), nest.getReduced().end());
  rows = nest.getRows() ? nest.getRows() : b.number(1);
  columns = nest.getNumColumns() ? nest.getNumColumns() : b.number(0);
  salt = b.run(std::move(described), {rows, columns, nest.getColumn() ? nest.getColumn() : b.number(0)});
  self = b.lastOperation();
}

void NestPoints::run() {
  enter();
  OpBuilder::InsertionGuard guard(b);
  Value number = b.loop(b.call("ft_emulate_nest_count", b.getI64Type(), {self, rows, columns})).getInductionVar();
  place = b.call("ft_emulate_nest_place", b.getI64Type(), {self, salt, number, rows, columns});
  Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, place, b.number(0));
  b.setInsertionPointToStart(scf::IfOp::create(b, holds, /*withElseRegion=*/false).thenBlock());
  row = indexOf(0);
  lift = indexOf(1);
  for (int64_t loop = 0; loop < int64_t(nest.getLoops().size()); ++loop) {
    loops.push_back(nest.getReduced()[size_t(loop)] ? b.number(0) : indexOf(loop + 2));
    if (nest.isSplit(loop))
      loops.back() = add(loops.back(), nest.getColumn());
  }
  computePoint();
}

//===----------------------------------------------------------------------===//
// A point
//===----------------------------------------------------------------------===//

/// Where the point's term of this number is along the reduced loops.
void NestPoints::setTerm(Value number, int64_t terms) {
  if (isShared())
    number = b.call("ft_emulate_nest_term", b.getI64Type(), {salt, place, number, b.number(terms)});
  for (int64_t loop : llvm::reverse(nest.getReducedLoops())) {
    Value size = b.number(nest.getLoops()[size_t(loop)]);
    loops[size_t(loop)] = arith::RemSIOp::create(b, number, size);
    number = arith::DivSIOp::create(b, number, size);
  }
}

/// What is copied may be there at any time between now and the wait for its group; the emulator's rules for `cp.async` say so.
void NestPoints::copyPoint() {
  auto from = *nest.getBody().getOps<ReadOp>().begin();
  auto to = *nest.getBody().getOps<WriteOp>().begin();
  auto addressAt = [&](auto access) {
    return b.toWord(addressOf(access.getMemory().template getDefiningOp<MemoryOp>(), access.getPlace(), access.getBegin(), int64_t(access.getWidth())));
  };
  Value target = addressAt(to), source = addressAt(from);
  Value bytes = b.number(from.getMemory().getType().getElementBytes());
  b.call("ft_emulate_nest_copy", Type(), {self, target, source, bytes});
}

void NestPoints::computePoint() {
  if (nest.getAsync())
    return copyPoint();
  SmallVector<Value> sums = startSums();
  IRMapping values;
  SmallVector<int64_t> reduced = nest.getReducedLoops();
  if (reduced.empty()) {
    evaluate(values, sums);
    return writeSums(sums);
  }
  int64_t terms = 1;
  for (int64_t loop : reduced)
    terms *= nest.getLoops()[size_t(loop)];
  SmallVector<Value> first = loops;
  {
    OpBuilder::InsertionGuard guard(b);
    scf::ForOp created = b.loop(b.number(terms), sums);
    setTerm(created.getInductionVar(), terms);
    sums.assign(created.getRegionIterArgs().begin(), created.getRegionIterArgs().end());
    evaluate(values, sums);
    if (!sums.empty())
      scf::YieldOp::create(b, sums);
    sums.assign(created.getResults().begin(), created.getResults().end());
  }
  loops = first;
  writeSums(sums);
}

SmallVector<Value> NestPoints::startSums() {
  SmallVector<Value> sums;
  for (auto op : nest.getBody().getOps<ReducePointsOp>())
    for (auto [i, init] : llvm::enumerate(op.getInits())) {
      if (isShared()) {
        sums.push_back(arith::ConstantOp::create(b, cast<TypedAttr>((*op.getNeutral())[i])));
        continue;
      }
      auto read = init.getDefiningOp<ReadOp>();
      sums.push_back(toFloat32(read ? this->read(read) : init));
    }
  return sums;
}

/// All operations at the point; its sums go one step further.
void NestPoints::evaluate(IRMapping &values, SmallVectorImpl<Value> &sums) {
  size_t first = 0;
  auto valueOf = [&](Value value) { return values.lookupOrDefault(value); };
  for (Operation &op : nest.getBody().front()) {
    if (auto from = dyn_cast<ReadOp>(op))
      values.map(from.getResult(), read(from));
    if (auto maps = dyn_cast<MapPointsOp>(op))
      values.map(op.getResults(), clone(maps.getBody().front(), llvm::map_to_vector(maps.getInputs(), valueOf)));
    if (auto to = dyn_cast<WriteOp>(op); to && !to.getValue().getDefiningOp<ReducePointsOp>())
      write(to, valueOf(to.getValue()));
    if (auto reduces = dyn_cast<ReducePointsOp>(op)) {
      SmallVector<Value> arguments = llvm::map_to_vector(reduces.getInputs(), valueOf);
      auto own = MutableArrayRef(sums).slice(first, op.getNumResults());
      llvm::append_range(arguments, own);
      llvm::copy(clone(reduces.getBody().front(), arguments), own.begin());
      first += op.getNumResults();
    }
  }
}

void NestPoints::writeSums(ArrayRef<Value> sums) {
  for (auto op : nest.getBody().getOps<ReducePointsOp>())
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      Value sum = sums.front();
      sums = sums.drop_front();
      if (isShared()) {
        Value init = op.getInits()[i];
        auto from = init.getDefiningOp<ReadOp>();
        sum = clone(op.getCombiners()[i].front(), {toFloat32(from ? read(from) : init), sum}).front();
      }
      if (sum.getType() != result.getType())
        sum = arith::TruncFOp::create(b, result.getType(), sum);
      for (Operation *user : result.getUsers())
        if (auto to = dyn_cast<WriteOp>(user))
          write(to, sum);
    }
}

SmallVector<Value> NestPoints::clone(Block &body, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &inner : body.without_terminator()) {
    if (auto which = dyn_cast<IndexOp>(&inner))
      mapping.map(which.getResult(), which.getNumber() == 0   ? row
                                     : which.getNumber() == 1 ? lift
                                                              : loops[size_t(which.getNumber()) - 2]);
    else
      b.clone(inner, mapping);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value NestPoints::along(Value begin, ArrayRef<int64_t> steps) {
  for (auto [loop, step] : llvm::zip_equal(loops, steps))
    begin = add(begin, mul(loop, b.number(step)));
  return begin;
}

Value NestPoints::addressOf(MemoryOp memory, PointPlaceAttr where, Region &begin, int64_t width) {
  Value offset = begin.empty() ? b.number(where.getOffset()) : clone(begin.front(), {}).front();
  offset = along(offset, where.getStrides());
  if (memory.getRowStride())
    offset = add(offset, mul(row, memory.getRowStride()));
  if (memory.getLiftStride())
    offset = add(offset, mul(lift, memory.getLiftStride()));
  Type element = memory.getType().getElementType();
  Value pointer = memory.getPointer();
  Value address = LLVM::GEPOp::create(b, pointer.getType(), storedType(element), pointer, ArrayRef<LLVM::GEPArg>{offset});
  if (width > 1) {
    Value lane = arith::RemSIOp::create(b, loops[size_t(layout.getVector())], b.number(width));
    b.call("ft_emulate_nest_access", Type(), {self, b.toWord(address), lane, b.number(memory.getType().getElementBytes()), b.number(width)});
  }
  return memory.getSwizzled() ? mlir::ft::createSwizzledAddress(b, address) : address;
}

Value NestPoints::readMemory(ReadOp op, MemoryOp memory) {
  Type element = op.getType(), stored = storedType(element);
  Value address = addressOf(memory, op.getPlace(), op.getBegin(), int64_t(op.getWidth()));
  Value value = LLVM::LoadOp::create(b, stored, address, unsigned(memory.getType().getElementBytes()));
  return stored == element ? value : arith::TruncIOp::create(b, element, value).getResult();
}

Value NestPoints::read(ReadOp op) {
  auto memory = op.getMemory().getDefiningOp<MemoryOp>();
  Type element = op.getType();
  auto choose = [&](Value condition, llvm::function_ref<Value()> first, llvm::function_ref<Value()> second) -> Value {
    auto branch = scf::IfOp::create(b, TypeRange{element}, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, first());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, second());
    return branch.getResult(0);
  };
  auto asValue = [&]() -> Value {
    Value value = memory.getValue();
    for (auto [number, step] : {std::pair(row, memory.getStep()), std::pair(lift, memory.getLiftStep())})
      if (step)
        value = add(value, mul(number, step));
    return value.getType() == element ? value : arith::TruncIOp::create(b, element, value).getResult();
  };
  auto inside = [&]() -> Value {
    if (memory.getValue() && !memory.getPointer())
      return asValue();
    auto fromMemory = [&] { return readMemory(op, memory); };
    return memory.getValue() ? choose(memory.getIfValue(), asValue, fromMemory) : fromMemory();
  };
  PointPlaceAttr where = op.getPlace();
  Value holds;
  for (auto [i, border] : llvm::enumerate(where.getBorders())) {
    Value at = along(b.number(where.getBegins()[int64_t(i)]), border.getSteps());
    for (auto [predicate, bound] : {std::pair(arith::CmpIPredicate::sge, int64_t(0)), std::pair(arith::CmpIPredicate::slt, border.getSize())}) {
      Value one = arith::CmpIOp::create(b, predicate, at, b.number(bound));
      holds = holds ? arith::AndIOp::create(b, holds, one).getResult() : one;
    }
  }
  return holds ? choose(holds, inside, [&]() -> Value { return arith::ConstantOp::create(b, where.getOutside()); }) : inside();
}

void NestPoints::write(WriteOp op, Value value) {
  auto memory = op.getMemory().getDefiningOp<MemoryOp>();
  Type stored = storedType(value.getType());
  if (stored != value.getType())
    value = arith::ExtUIOp::create(b, stored, value);
  Value address = addressOf(memory, op.getPlace(), op.getBegin(), int64_t(op.getWidth()));
  LLVM::StoreOp::create(b, value, address, unsigned(memory.getType().getElementBytes()));
}

void ::ft::emulate::callNests(Operation *module, Calls &calls) {
  SmallVector<NestOp> nests;
  SmallVector<MemoryOp> memories;
  module->walk([&](NestOp nest) { nests.push_back(nest); });
  module->walk([&](MemoryOp memory) { memories.push_back(memory); });
  for (NestOp nest : nests) {
    OpBuilder builder(nest);
    CallBuilder b(calls, nest.getLoc(), builder);
    NestPoints(nest, b).run();
    nest->erase();
  }
  for (MemoryOp memory : memories)
    memory->erase();
}
