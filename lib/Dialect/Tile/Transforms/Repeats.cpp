//===- Repeats.cpp - what a thread block computes again ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was left out because of how great a row's values are taken to be is checked
// where they are known. A thread block computes the tasks that have others once more,
// with nothing left out. It does so after its last task: only then its roles meet.
//
//===----------------------------------------------------------------------===//
#include "Repeats.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// What may be computed twice
//===----------------------------------------------------------------------===//

namespace {
/// The memory that operations read and write, by the arguments of the kernel that it is part of; all shared memory is one.
class Accesses {
public:
  Accesses(Operation *all, LLVM::LLVMFuncOp kernel);
  /// Whether the same comes of doing all once more: nothing reads what is written.
  bool mayRepeat(LLVM::LLVMFuncOp kernel) const;
  /// Whether one operation at most writes each memory, and that none of the block's own.
  bool areWrittenOnce() const { return !writesShared && !isWrittenAgain; }

private:
  void note(llvm::SetVector<BlockArgument> &to, bool &shared, Value pointer);

  Block &body;
  llvm::SetVector<BlockArgument> read, written;
  bool readsShared = false, writesShared = false, isWrittenAgain = false, areKnown = true;
};
} // namespace

/// Adds what a pointer or a view is made of.
void Accesses::note(llvm::SetVector<BlockArgument> &to, bool &shared, Value pointer) {
  Operation *op = pointer.getDefiningOp();
  auto result = dyn_cast<OpResult>(pointer);
  if (auto argument = dyn_cast<BlockArgument>(pointer); argument && argument.getOwner() == &body) {
    to.insert(argument);
  } else if (isa_and_nonnull<ViewOp, LLVM::GEPOp, LLVM::AddrSpaceCastOp>(op)) {
    note(to, shared, op->getOperand(0));
  } else if (isa_and_nonnull<LLVM::AddressOfOp>(op)) {
    shared = true;
  } else if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    note(to, shared, branch.thenYield().getOperand(result.getResultNumber()));
    note(to, shared, branch.elseYield().getOperand(result.getResultNumber()));
  } else if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    note(to, shared, select.getTrueValue());
    note(to, shared, select.getFalseValue());
  } else if (!isa_and_nonnull<LLVM::ZeroOp>(op)) {
    areKnown = false;
  }
}

Accesses::Accesses(Operation *all, LLVM::LLVMFuncOp kernel) : body(kernel.getBody().front()) {
  all->walk([&](Operation *op) {
    const size_t before = written.size();
    if (auto store = dyn_cast<StoreOp>(op))
      note(written, writesShared, store.getTarget());
    else if (auto store = dyn_cast<LLVM::StoreOp>(op))
      note(written, writesShared, store.getAddr());
    isWrittenAgain |= isa<StoreOp, LLVM::StoreOp>(op) && written.size() == before;
    if (isa<StoreOp, LLVM::StoreOp>(op))
      return;
    if (auto load = dyn_cast<LoadOp>(op))
      note(read, readsShared, load.getSource());
    else if (auto load = dyn_cast<LLVM::LoadOp>(op))
      note(read, readsShared, load.getAddr());
    else if (!isa<FetchOp, MmaOp, BarrierOp, NVVM::Barrier0Op, RaiseOp, RaisedOp>(op) && !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(op))
      areKnown = false;
  });
}

bool Accesses::mayRepeat(LLVM::LLVMFuncOp kernel) const {
  auto isRead = [&](BlockArgument argument) { return read.contains(argument); };
  auto numberOf = [](BlockArgument argument) { return argument.getArgNumber(); };
  return areKnown && !(readsShared && writesShared) && llvm::none_of(written, isRead) && areApart(kernel, llvm::map_to_vector(written, numberOf));
}

bool mlir::tile::needsNoBarriers(Operation *op, LLVM::LLVMFuncOp kernel) {
  Accesses accesses(op, kernel);
  return accesses.areWrittenOnce() && accesses.mayRepeat(kernel);
}

bool Repeats::mayRepeat(Operation *op) {
  Operation *whole = wholeOf(op);
  return repeats.contains(whole) || (whole != op && whole->getNumResults() == 0 && Accesses(whole, kernel).mayRepeat(kernel));
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The flag's bit of the task here. Each of a thread block's first tasks has one, and all others share the last.
static Value bitOf(ImplicitLocOpBuilder &b, scf::ForOp tasks) {
  constexpr int64_t lastBit = 31;
  Value one = arith::ConstantIntOp::create(b, 1, 32);
  if (!tasks)
    return one;
  Value before = arith::SubIOp::create(b, tasks.getInductionVar(), tasks.getLowerBound());
  Value number = arith::DivUIOp::create(b, before, tasks.getStep()), last = arith::ConstantIntOp::create(b, number.getType(), lastBit);
  Value place = arith::MinUIOp::create(b, number, last);
  return arith::ShLIOp::create(b, one, place.getType().isInteger(32) ? place : arith::TruncIOp::create(b, b.getI32Type(), place).getResult());
}

static Value isAnyOf(ImplicitLocOpBuilder &b, Value raised, Value bits) {
  Value common = arith::AndIOp::create(b, raised, bits);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, common, arith::ConstantIntOp::create(b, 0, 32));
}

/// The tasks become a loop's body, which runs twice at most: there is one code for both.
Repeat Repeats::repeat(Operation *op) {
  Operation *whole = wholeOf(op);
  if (auto known = repeats.find(whole); known != repeats.end())
    return known->second;
  ImplicitLocOpBuilder b(op->getLoc(), whole);
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, value, 32); };
  Repeat repeat;
  repeat.flag = FlagOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), uint64_t(repeats.size()));
  Value none = number(0), first = number(0);
  auto turns = scf::ForOp::create(b, first, number(2), number(1), ValueRange{number(-1)});
  Value asked = turns.getRegionIterArg(0);
  b.setInsertionPointToStart(turns.getBody());
  repeat.isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, turns.getInductionVar(), first);
  auto some = scf::IfOp::create(b, isAnyOf(b, asked, number(-1)), /*withElseRegion=*/false);
  auto next = scf::IfOp::create(b, TypeRange{b.getI32Type()}, repeat.isFirst, /*withElseRegion=*/true);
  scf::YieldOp::create(b, next.getResults());
  b.setInsertionPointToStart(next.thenBlock());
  scf::YieldOp::create(b, RaisedOp::create(b, b.getI32Type(), repeat.flag).getResult());
  b.setInsertionPointToStart(next.elseBlock());
  scf::YieldOp::create(b, none);
  whole->moveBefore(some.thenBlock()->getTerminator());
  b.setInsertionPointToStart(some.thenBlock());
  auto tasks = dyn_cast<scf::ForOp>(whole);
  if (tasks)
    b.setInsertionPointToStart(tasks.getBody());
  repeat.bit = bitOf(b, tasks);
  if (tasks) {
    Block &body = *tasks.getBody();
    auto own = scf::IfOp::create(b, isAnyOf(b, asked, repeat.bit), /*withElseRegion=*/false);
    own.thenBlock()->getOperations().splice(own.thenBlock()->begin(), body.getOperations(), std::next(own->getIterator()), std::prev(body.end()));
  }
  return repeats[turns] = repeat;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// How many rows the matrix has of which the tasks of this loop store tiles; null: as many as a tile.
static Value countRows(int64_t rows, ImplicitLocOpBuilder &b) {
  Operation *here = &*b.getInsertionPoint();
  auto tasks = here->getParentOfType<scf::ForOp>();
  if (!tasks)
    return {};
  DominanceInfo dominance(tasks);
  Value count;
  tasks.walk([&](StoreOp store) {
    auto view = store.getTarget().getDefiningOp<ViewOp>();
    if (count || !view || store.getValue().getType().getShape()[0] != rows || (!store.getInBounds().empty() && store.getInBounds()[0]) || view.getSizes().empty() ||
        !dominance.properlyDominates(view.getSizes().front(), here))
      return;
    ArrayRef<int64_t> digits = cast<ViewType>(view.getType()).getRows();
    if (llvm::count(digits, -1) != 1 || digits.front() != -1)
      return;
    int64_t inner = 1;
    for (int64_t digit : digits.drop_front())
      inner *= digit;
    count = b.createOrFold<arith::MulIOp>(view.getSizes().front(), arith::ConstantIntOp::create(b, inner, 64));
  });
  return count;
}

void mlir::tile::raiseAtLowRows(ImplicitLocOpBuilder &b, const Repeat &repeat, Value rows, Value isAsked, double least) {
  auto vector = cast<RowVectorType>(rows.getType());
  int64_t shape[] = {vector.getRows(), vector.getLayout().getSpan(1)};
  auto type = RegistersType::get(b.getContext(), shape, vector.getElementType(), vector.getLayout());
  Value limit = countRows(vector.getRows(), b);
  Value values = BroadcastOp::create(b, type, rows);
  Value numbers = NumbersOp::create(b, type.withElement(b.getI64Type()), arith::ConstantIntOp::create(b, 0, 64), uint64_t(0));
  Value bound = arith::ConstantOp::create(b, b.getFloatAttr(vector.getElementType(), least));
  auto map = MapOp::create(b, TypeRange(), ValueRange{values, numbers});
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&map.getBody(), {}, {vector.getElementType(), b.getI64Type()}, {b.getLoc(), b.getLoc()});
  Value isLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, body->getArgument(0), bound);
  Value isBad = arith::AndIOp::create(b, isAsked, isLow);
  if (limit)
    isBad = arith::AndIOp::create(b, isBad, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, body->getArgument(1), limit).getResult());
  auto branch = scf::IfOp::create(b, isBad, /*withElseRegion=*/false);
  b.setInsertionPointAfter(branch);
  YieldOp::create(b, ValueRange());
  b.setInsertionPointToStart(branch.thenBlock());
  RaiseOp::create(b, repeat.flag, repeat.bit);
}
