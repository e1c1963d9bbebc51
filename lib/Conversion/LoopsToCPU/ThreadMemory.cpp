//===- ThreadMemory.cpp - memory of iterations, made once -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An iteration of a parallel loop has memory of its own. A thread runs its iterations one
// after the other, so one piece serves all, as large as the largest.
//
//===----------------------------------------------------------------------===//

#include "Spmd.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

/// The innermost dealt loop around an operation.
static Operation *dealtAround(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && !isDealt(parent))
    parent = parent->getParentOp();
  return parent;
}

LogicalResult tocpu::checkShared(func::FuncOp kernel) {
  LogicalResult checked = success();
  kernel.walk([&](memref::AllocOp alloc) {
    for (Operation *user : alloc->getUsers())
      if (succeeded(checked) && !dealtAround(alloc) && dealtAround(user)) {
        InFlightDiagnostic diag = alloc.emitError("memory of the kernel in a loop that several threads run: each would "
                                                  "have its own; expected a buffer of the program");
        diag.attachNote(user->getLoc()) << "it is used here";
        checked = diag;
      }
  });
  return checked;
}

namespace {
/// Computes a bound of a size in front of an operation of the kernel's first block.
class SizeBound {
public:
  SizeBound(Operation *at, const Bounds &bounds) : at(at), builder(at), bounds(bounds) {}

  /// Nothing where the size follows from what is not known there.
  std::optional<Value> compute(Value size) {
    if (Value known = mapping.lookupOrNull(size))
      return known;
    Operation *op = size.getDefiningOp();
    if (size.getParentBlock() == at->getBlock() && (!op || op->isBeforeInBlock(at)))
      return size;
    if (auto bound = bounds.find(size); bound != bounds.end()) {
      if (auto value = dyn_cast<Value>(bound->second))
        return compute(value);
      return getValueOrCreateConstantIndexOp(builder, size.getLoc(), bound->second);
    }
    // Products and sums grow with their parts.
    if (!isa_and_nonnull<arith::ConstantOp, arith::MulIOp, arith::AddIOp>(op))
      return std::nullopt;
    for (Value operand : op->getOperands()) {
      std::optional<Value> part = compute(operand);
      if (!part)
        return std::nullopt;
      mapping.map(operand, *part);
    }
    return builder.clone(*op, mapping)->getResult(0);
  }

private:
  Operation *at;
  OpBuilder builder;
  const Bounds &bounds;
  IRMapping mapping;
};
} // namespace

void tocpu::poisonMemory(func::FuncOp kernel) {
  kernel.walk([](memref::AllocOp alloc) {
    if (alloc.getDynamicSizes().size() != 1)
      return;
    OpBuilder b(alloc->getContext());
    b.setInsertionPointAfter(alloc);
    Location loc = alloc.getLoc();
    Type element = alloc.getType().getElementType(), i64 = b.getI64Type();
    int64_t bytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    Value count = arith::IndexCastOp::create(b, loc, i64, alloc.getDynamicSizes()[0]);
    Value size = arith::MulIOp::create(b, loc, count, arith::ConstantIntOp::create(b, loc, bytes, 64));
    Value number = arith::IndexCastOp::create(b, loc, i64, memref::ExtractAlignedPointerAsIndexOp::create(b, loc, alloc));
    Value address = LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), number);
    LLVM::MemsetOp::create(b, loc, address, arith::ConstantIntOp::create(b, loc, -1, 8), size, /*isVolatile=*/false);
  });
}

void tocpu::hoistMemory(func::FuncOp kernel, const Bounds &bounds) {
  Block &entry = kernel.getBody().front();
  SmallVector<memref::AllocOp> allocs;
  kernel.walk([&](memref::AllocOp alloc) {
    if (alloc->getBlock() != &entry)
      allocs.push_back(alloc);
  });
  for (memref::AllocOp alloc : allocs) {
    Operation *at = entry.findAncestorOpInBlock(*alloc);
    SizeBound bound(at, bounds);
    SmallVector<Value> sizes;
    for (Value size : alloc.getDynamicSizes())
      if (std::optional<Value> known = bound.compute(size))
        sizes.push_back(*known);
    if (sizes.size() != alloc.getDynamicSizes().size() || !alloc.getSymbolOperands().empty())
      continue;
    // (What leaves its iteration is not for one piece of memory.)
    if (llvm::any_of(alloc->getUsers(), [&](Operation *user) {
          return user->hasTrait<OpTrait::IsTerminator>() && user->getParentOp() == alloc->getParentOp();
        }))
      continue;
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    alloc->moveBefore(at);
    alloc.getDynamicSizesMutable().assign(sizes);
    OpBuilder builder(entry.getTerminator());
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
  }
}
