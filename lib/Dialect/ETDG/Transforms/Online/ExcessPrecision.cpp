//===- ExcessPrecision.cpp - the pass etdg-excess-precision ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the operations of a body halves stay f32; what leaves the body is rounded.
//
//===----------------------------------------------------------------------===//
#include "OnlineWiden.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGEXCESSPRECISION
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

static bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}

/// Whether an operation is, or is part of, a product: its sums are f32 anyway, and only the result is rounded.
static bool isInProduct(Operation *op) {
  auto structured = op->getParentOfType<linalg::LinalgOp>();
  return structured && linalg::isaContractionOpInterface(structured);
}

/// Whether a rounded value is computed with, in a body or in one of its operations: only then is there a rounding to leave
/// out.
static bool roundsOnTheWay(Block &body) {
  return body
      .walk([&](Operation *op) {
        bool rounds = !op->hasTrait<OpTrait::ConstantLike>() && !isInProduct(op) && !isa<tensor::EmptyOp>(op) &&
                      llvm::any_of(op->getResults(), [](Value result) {
                        return isNarrow(result.getType()) && llvm::any_of(result.getUsers(), [](Operation *user) {
                                 return !user->hasTrait<OpTrait::IsTerminator>();
                               });
                      });
        return rounds ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Erases what nobody reads, of the last operations first.
static void eraseDead(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Puts the same body with wide numbers in place of a leaf's.
static LogicalResult widen(BlockOp leaf) {
  Block &from = leaf.getBody().front();
  auto *to = new Block();
  for (BlockArgument argument : from.getArguments())
    to->addArgument(argument.getType(), argument.getLoc());
  OpBuilder builder(leaf.getContext());
  builder.setInsertionPointToEnd(to);
  leaf.getBody().push_back(to);
  auto results = online::cloneWidened(builder, from, to->getArguments(), nullptr, nullptr, online::Widening::ofAll);
  if (!results) {
    to->dropAllReferences();
    to->erase();
    return failure();
  }
  Operation *terminator = from.getTerminator();
  SmallVector<Value> yields;
  for (auto [value, declared] : llvm::zip_equal(*results, terminator->getOperands()))
    yields.push_back(online::convertElements(builder, terminator->getLoc(), value, getElementTypeOrSelf(declared.getType())));
  builder.clone(*terminator)->setOperands(yields);
  from.erase();
  eraseDead(*to);
  return success();
}

namespace {
struct ETDGExcessPrecision : etdg::impl::ETDGExcessPrecisionBase<ETDGExcessPrecision> {
  using ETDGExcessPrecisionBase::ETDGExcessPrecisionBase;

  void runOnOperation() override {
    if (rounding != "excess" && rounding != "exact") {
      getOperation().emitError("rounding: expected excess or exact, found '") << rounding << "'";
      return signalPassFailure();
    }
    bool changed = false;
    if (rounding == "excess")
      getOperation().walk([&](BlockOp block) {
        if (block.isLeaf() && roundsOnTheWay(block.getBody().front()))
          changed |= succeeded(widen(block));
      });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
