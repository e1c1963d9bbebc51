//===- RowCheck.cpp - what a kernel refuses of its rows' values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was left out because of how great a row's values are taken to be is checked
// where they are known. The kernel's record says so to the host.
//
//===----------------------------------------------------------------------===//
#include "RowCheck.h"

#include "ft/Runtime/Program/Target.h"

#include "mlir/IR/Dominance.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::tile;

/// How many rows the matrix has of which a tile is stored; null: as many as the tile.
static Value countRows(LLVM::LLVMFuncOp kernel, int64_t rows, ImplicitLocOpBuilder &b) {
  DominanceInfo dominance(kernel);
  Operation *here = &*b.getInsertionPoint();
  Value count;
  kernel.walk([&](StoreOp store) {
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

/// The first of all threads that comes here writes the record; its code is written last (`ft::rt::ErrorRecord`).
static void writeRecord(ImplicitLocOpBuilder &b, Value record, int64_t kernel) {
  constexpr int64_t lowScores = 3;
  Type i32 = b.getI32Type();
  auto at = [&](size_t offset) {
    return LLVM::GEPOp::create(b, record.getType(), b.getI8Type(), record, ArrayRef<LLVM::GEPArg>{int32_t(offset)}).getResult();
  };
  auto number = [&](int64_t value) { return arith::ConstantOp::create(b, b.getIntegerAttr(i32, value)).getResult(); };
  Value before = LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::xchg, at(offsetof(::ft::rt::ErrorRecord, claimed)), number(1),
                                           LLVM::AtomicOrdering::monotonic, "device");
  Value isFree = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, before, number(0));
  auto claimed = scf::IfOp::create(b, isFree, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(claimed.thenBlock());
  LLVM::StoreOp::create(b, number(kernel), at(offsetof(::ft::rt::ErrorRecord, kernel)));
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, StringRef());
  LLVM::StoreOp::create(b, number(lowScores), at(offsetof(::ft::rt::ErrorRecord, code)));
}

LogicalResult mlir::tile::checkRows(ImplicitLocOpBuilder &b, Value rows, Value isAsked, double least) {
  auto vector = cast<RowVectorType>(rows.getType());
  auto kernel = b.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  FailureOr<std::pair<Value, int64_t>> record = addErrorRecord(kernel);
  if (failed(record))
    return failure();
  int64_t shape[] = {vector.getRows(), vector.getLayout().getSpan(1)};
  auto type = RegistersType::get(b.getContext(), shape, vector.getElementType(), vector.getLayout());
  Value limit = countRows(kernel, vector.getRows(), b);
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
  writeRecord(b, record->first, record->second);
  return success();
}
