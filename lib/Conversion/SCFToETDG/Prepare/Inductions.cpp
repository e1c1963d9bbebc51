//===- Inductions.cpp - counters beside the loop's own --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `g += 1` at each iteration, an index of its own, or `last = i`: a state that is an affine
// function of the induction variable becomes that function.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Prepare/Prepare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

std::optional<int64_t> mlir::ft::raising::inductionStep(Value yielded, BlockArgument arg) {
  if (auto sum = yielded.getDefiningOp<arith::AddIOp>()) {
    if (sum.getLhs() == arg)
      return getConstantIntValue(sum.getRhs());
    if (sum.getRhs() == arg)
      return getConstantIntValue(sum.getLhs());
  }
  if (auto difference = yielded.getDefiningOp<arith::SubIOp>(); difference && difference.getLhs() == arg)
    if (std::optional<int64_t> less = getConstantIntValue(difference.getRhs()))
      return -*less;
  return std::nullopt;
}

Value mlir::ft::raising::advanceInduction(OpBuilder &b, Location loc, Value init, Value count, int64_t step) {
  if (!init.getType().isIndex() && count.getType() != init.getType())
    count = arith::IndexCastOp::create(b, loc, init.getType(), count);
  Value by = arith::ConstantOp::create(b, loc, b.getIntegerAttr(init.getType(), step));
  Value all = step == 1 ? count : arith::MulIOp::create(b, loc, count, by).getResult();
  return arith::AddIOp::create(b, loc, init, all);
}

/// `last = i + c` at the end of each iteration is a counter, too, where it begins with what an iteration before the first one
/// would have left.
static std::optional<int64_t> laggedStep(scf::ForOp loop, unsigned i) {
  Value yielded = loop.getYieldedValues()[i];
  int64_t more = 0;
  if (auto sum = yielded.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> constant = getConstantIntValue(sum.getRhs())) {
      more = *constant;
      yielded = sum.getLhs();
    }
  std::optional<int64_t> init = getConstantIntValue(loop.getInitArgs()[i]), lower = getConstantIntValue(loop.getLowerBound()),
                         step = getConstantIntValue(loop.getStep());
  if (yielded != loop.getInductionVar() || !init || !lower || !step || *init != *lower - *step + more)
    return std::nullopt;
  return step;
}

static void replaceInductions(scf::ForOp loop) {
  Location loc = loop.getLoc();
  if (!loop.getInductionVar().getType().isIndex())
    return;
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    BlockArgument arg = loop.getRegionIterArgs()[i];
    if (!arg.getType().isIntOrIndex() || arg.getType().isInteger(1))
      continue;
    std::optional<int64_t> step = inductionStep(loop.getYieldedValues()[i], arg);
    if (!step)
      step = laggedStep(loop, i);
    if (!step)
      continue;
    OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
    bool unit = getConstantIntValue(loop.getStep()) == 1;
    auto iterations = [&](Value distance, bool up) -> Value {
      if (unit)
        return distance;
      return up ? arith::CeilDivSIOp::create(b, loc, distance, loop.getStep()).getResult()
                : arith::DivSIOp::create(b, loc, distance, loop.getStep()).getResult();
    };
    Value done = arith::SubIOp::create(b, loc, loop.getInductionVar(), loop.getLowerBound());
    Value value = advanceInduction(b, loc, loop.getInitArgs()[i], iterations(done, false), *step);
    loop.getBody()->getTerminator()->setOperand(i, arg);
    arg.replaceUsesWithIf(value, [&](OpOperand &use) {
      return use.getOwner() != loop.getBody()->getTerminator() || use.getOperandNumber() != i;
    });
    if (loop.getResult(i).use_empty())
      continue;
    b.setInsertionPointAfter(loop);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value length = arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound());
    Value all = iterations(arith::MaxSIOp::create(b, loc, length, zero), true);
    loop.getResult(i).replaceAllUsesWith(advanceInduction(b, loc, loop.getInitArgs()[i], all, *step));
  }
}

void mlir::ft::raising::replaceInductions(func::FuncOp function) {
  // Inner loops first: what they add to a counter is a constant then, or is not.
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    ::replaceInductions(loop);
}
