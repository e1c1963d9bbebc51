//===- ExcessPrecision.cpp - the pass etdg-excess-precision ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the operations of a body halves stay f32; what leaves the body is rounded.
//
//===----------------------------------------------------------------------===//
#include "OnlineWiden.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/Sums.h"
#include "ft/Dialect/ETDG/Transforms/ExcessPrecision.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <cmath>

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

/// Whether a leaf's body has numbers that are rounded.
static bool computesNarrow(GraphOp graph) {
  return graph
      .walk([](BlockOp block) {
        bool isNarrowLeaf = block.isLeaf() && llvm::any_of(block.getYield().getOperands(), [](Value result) { return isNarrow(result.getType()); });
        return isNarrowLeaf ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Erases what nothing reads, of the last operations first.
static void eraseDead(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// What spreads a divisor over what it divides; it may be extended after that.
static linalg::BroadcastOp broadcastOf(arith::DivFOp quotient) {
  Value divisor = quotient.getRhs();
  if (auto extended = divisor.getDefiningOp<arith::ExtFOp>())
    divisor = extended.getIn();
  return divisor.getDefiningOp<linalg::BroadcastOp>();
}

/// What a quotient is divided by, where a row or more shares it and the quotient, wide, is only rounded to a half, as it was.
static Value sharedDivisor(arith::DivFOp quotient, Operation *asWritten) {
  auto type = dyn_cast<RankedTensorType>(quotient.getType());
  linalg::BroadcastOp broadcast = broadcastOf(quotient);
  constexpr int64_t leastShare = 8; // elements that a division costs no less than products with its result
  if (!type || !type.hasStaticShape() || !type.getElementType().isF32() || !broadcast || !asWritten ||
      !isNarrow(asWritten->getResult(0).getType()) ||
      !llvm::all_of(quotient->getUsers(), [](Operation *user) { return isa<arith::TruncFOp>(user); }))
    return {};
  auto divisor = cast<RankedTensorType>(broadcast.getInput().getType());
  return divisor.getNumElements() * leastShare <= type.getNumElements() ? broadcast.getInput() : Value();
}

/// x / s for all x that share s as x t (1 / (s t)): two roundings of f32 beside the one to a half that follows. t is 1, but where
/// 1 / s would overflow it is so large that this does not, and x t only where x / s does, too.
static void multiplyByReciprocal(arith::DivFOp quotient, Value divisor) {
  ImplicitLocOpBuilder b(quotient.getLoc(), quotient);
  divisor = online::convertElements(b, b.getLoc(), divisor, b.getF32Type());
  auto type = cast<RankedTensorType>(divisor.getType());
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getF32FloatAttr(float(value)).getValue()));
  };
  // A divisor below 2^least is taken 2^larger times, so that its reciprocal is no infinity (f32's exponents end at -126 and 127).
  constexpr int least = -100, larger = 30;
  Value size = math::AbsFOp::create(b, divisor);
  Value isTiny = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, constant(std::ldexp(1.0, least)));
  Value one = constant(1.0);
  Value scale = arith::SelectOp::create(b, isTiny, constant(std::ldexp(1.0, larger)), one);
  Value reciprocal = arith::DivFOp::create(b, one, arith::MulFOp::create(b, divisor, scale));
  linalg::BroadcastOp broadcast = broadcastOf(quotient);
  Value whole = tensor::EmptyOp::create(b, cast<RankedTensorType>(quotient.getType()).getShape(), b.getF32Type());
  auto spread = [&](Value value) -> Value {
    return linalg::BroadcastOp::create(b, value, whole, broadcast.getDimensions()).getResult()[0];
  };
  Value scaled = arith::MulFOp::create(b, quotient.getLhs(), spread(scale));
  quotient.replaceAllUsesWith(Value(arith::MulFOp::create(b, scaled, spread(reciprocal))));
}

/// The number that all elements of a constant are, if it is an integer.
static std::optional<double> getInteger(Value value) {
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() || !elements.getElementType().isF32())
    return std::nullopt;
  APFloat number = elements.getSplatValue<APFloat>();
  return number.isInteger() ? std::optional<double>(number.convertToFloat()) : std::nullopt;
}

/// Counts: a sum of a constant over dimensions is a constant, if it and all partial sums are integers that f32 has.
static void foldCount(linalg::ReduceOp sum) {
  Block &body = sum.getCombiner().front();
  if (sum.getInputs().size() != 1 || !llvm::hasSingleElement(body.without_terminator()) || !isa<arith::AddFOp>(body.front()) ||
      !llvm::is_contained(body.front().getOperands(), body.getArgument(0)) ||
      !llvm::is_contained(body.front().getOperands(), body.getArgument(1)) ||
      body.getTerminator()->getOperand(0) != body.front().getResult(0))
    return;
  std::optional<double> each = getInteger(sum.getInputs().front()), first = getInteger(sum.getInits().front());
  auto from = cast<RankedTensorType>(sum.getInputs().front().getType()), to = cast<RankedTensorType>(sum.getInits().front().getType());
  if (!each || !first || !from.hasStaticShape() || to.getNumElements() == 0)
    return;
  double count = double(from.getNumElements()) / double(to.getNumElements());
  if (std::abs(*first) + std::abs(*each) * count > std::ldexp(1.0, std::numeric_limits<float>::digits))
    return;
  OpBuilder b(sum);
  auto value = DenseElementsAttr::get(to, APFloat(float(*first + *each * count)));
  sum.getResult(0).replaceAllUsesWith(arith::ConstantOp::create(b, sum.getLoc(), value));
}

/// A value with elements of the type that is declared, and once if an operation has read it so.
static Value rounded(OpBuilder &builder, Location loc, Value value, Type declared) {
  for (Operation *user : value.getUsers())
    if (isa<arith::TruncFOp>(user) && user->getResult(0).getType() == declared)
      return user->getResult(0);
  return online::convertElements(builder, loc, value, getElementTypeOrSelf(declared));
}

LogicalResult etdg::leaveOutRoundings(BlockOp leaf) {
  if (!roundsOnTheWay(leaf.getBody().front()))
    return failure();
  Block &from = leaf.getBody().front();
  auto *to = new Block();
  for (BlockArgument argument : from.getArguments())
    to->addArgument(argument.getType(), argument.getLoc());
  OpBuilder builder(leaf.getContext());
  builder.setInsertionPointToEnd(to);
  leaf.getBody().push_back(to);
  llvm::DenseMap<Operation *, Operation *> original;
  auto results = online::cloneWidened(builder, from, to->getArguments(), &original, nullptr, online::Widening::ofAll);
  if (!results) {
    to->dropAllReferences();
    to->erase();
    return failure();
  }
  Operation *terminator = from.getTerminator();
  SmallVector<Value> yields;
  for (auto [value, declared] : llvm::zip_equal(*results, terminator->getOperands()))
    yields.push_back(rounded(builder, terminator->getLoc(), value, declared.getType()));
  builder.clone(*terminator)->setOperands(yields);
  for (auto quotient : llvm::make_early_inc_range(to->getOps<arith::DivFOp>()))
    if (Value divisor = sharedDivisor(quotient, original.lookup(quotient)))
      multiplyByReciprocal(quotient, divisor);
  for (auto sum : to->getOps<linalg::ReduceOp>())
    foldCount(sum);
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
    if (rounding == "excess") {
      // (States that iterations hand on, too, which the code that keeps them in registers asks.)
      if (changed = computesNarrow(getOperation()); changed)
        getOperation()->setAttr(etdg::names::excess, UnitAttr::get(&getContext()));
      getOperation().walk([&](BlockOp block) {
        if (block.isLeaf())
          changed |= succeeded(leaveOutRoundings(block));
      });
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
