//===- FTSelect.cpp - conditions in bodies as selections ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both sides are computed; the places that one side alone reads at are guarded.
//
//===----------------------------------------------------------------------===//
#include "CallBounds.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/Math/Transforms/IntegerOperations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTSELECT
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

/// An element that is there, wherever the index points.
static bool hasFirstElement(Operation *op) {
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  if (!extract)
    return false;
  auto type = extract.getTensor().getType();
  return type.hasStaticShape() && type.getNumElements() > 0;
}

/// Whether an operation may run though its side is not taken. What is inside of it has no guard, and
/// a gathered index may be out of range.
static bool mayRunInVain(Operation *op) {
  if (hasFirstElement(op))
    return true;
  return !op->walk([](Operation *inner) {
              bool may = inner->hasTrait<OpTrait::IsTerminator>() ||
                         (!isa<GatherOp>(inner) && isMemoryEffectFree(inner) &&
                          (isSpeculatable(inner) || getIntegerOperation(inner)));
              return may ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// `index` where `taken`, else 0.
static Value indexWhere(OpBuilder &b, Location loc, Value taken, Value index) {
  return arith::SelectOp::create(b, loc, taken, index, arith::ConstantIndexOp::create(b, loc, 0));
}

/// Moves the statements of a side before the condition; `taken` holds where the side is.
static void moveOut(scf::IfOp op, Block &side, Value taken) {
  for (Operation &inner : llvm::make_early_inc_range(side.without_terminator())) {
    OpBuilder b(op);
    if (hasFirstElement(&inner))
      for (OpOperand &index : llvm::drop_begin(inner.getOpOperands()))
        index.set(indexWhere(b, inner.getLoc(), taken, index.get()));
    inner.moveBefore(op);
  }
}

namespace {
class FTSelect : public ft::impl::FTSelectBase<FTSelect> {
  void runOnOperation() override {
    SmallVector<Operation *> found;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool overLists = isListFunction(function);
      // Inner ones first, so that an outer one finds straight lines.
      function.walk([&](Operation *op) {
        bool inBody = op->getParentOfType<linalg::LinalgOp>() != nullptr;
        if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()) && !op->hasTrait<OpTrait::IsTerminator>() &&
            (inBody || overLists))
          found.push_back(op);
      });
    }
    for (Operation *op : found)
      if (failed(convert(op)))
        signalPassFailure();
  }

  LogicalResult convert(Operation *op) {
    // The body of a linalg operation may hold what else it likes: engines say what they take.
    bool inBody = op->getParentOfType<linalg::LinalgOp>() != nullptr;
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch)
      return inBody ? success()
                    : op->emitOpError("has no place in a function over lists: loops over elements are "
                                      "map, fold and scan");
    for (Type type : branch.getResultTypes())
      if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat())
        return branch.emitOpError("chooses a value of type ")
               << type << "; expected tensors or scalars: choose element by element, with arith.select "
               << "in the body of a map";
    Operation *stops = nullptr;
    for (Region *side : {&branch.getThenRegion(), &branch.getElseRegion()})
      if (!side->empty())
        for (Operation &inner : side->front().without_terminator())
          if (!stops && !mayRunInVain(&inner))
            stops = &inner;
    if (stops && inBody)
      return success();
    if (stops) {
      InFlightDiagnostic diag =
          branch.emitOpError("cannot become a selection, for which both sides are computed: do so "
                             "before it, and choose with arith.select");
      diag.attachNote(stops->getLoc()) << "'" << stops->getName() << "' must not run in vain";
      return diag;
    }
    toSelections(branch);
    return success();
  }

  static void toSelections(scf::IfOp op) {
    OpBuilder b(op);
    Value condition = op.getCondition();
    moveOut(op, *op.thenBlock(), condition);
    if (op.elseBlock()) {
      Value one = arith::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(true));
      moveOut(op, *op.elseBlock(), arith::XOrIOp::create(b, op.getLoc(), condition, one));
    }
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      result.replaceAllUsesWith(arith::SelectOp::create(b, op.getLoc(), condition,
                                                        op.thenYield().getOperand(i),
                                                        op.elseYield().getOperand(i)));
    op.erase();
  }
};
} // namespace
