//===- HostCounts.cpp - what of loops the host can count ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::ChunksOp;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether a bound that stands in the body of `loop` changes with its iterations.
static bool changesIn(OpFoldResult bound, Operation *loop) {
  auto value = dyn_cast<Value>(bound);
  if (!value)
    return false;
  if (value.getParentBlock() == &bodyOf(loop) && isa<BlockArgument>(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op))
    return false;
  bool changes = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      changes |= !op->isAncestor(operand.getParentBlock()->getParentOp()) && changesIn(operand, loop);
  });
  return changes;
}

/// The loop of level grid in the body of another one; null: it is the innermost.
static FailureOr<Operation *> findNext(Operation *loop) {
  Operation *next = nullptr;
  for (Operation &op : bodyOf(loop).without_terminator())
    if (loops::LevelAttr level = loops::levelOf(&op); level && level.getLevel() == etdg::LoopLevel::Grid)
      next = &op;
  for (Operation &op : bodyOf(loop).without_terminator())
    if (next && &op != next && !isMemoryEffectFree(&op))
      return op.emitError("the GPU engine deals loops as one that have nothing beside each other");
  return next;
}

FailureOr<DealtLoops> togpu::readDealt(Operation *outermost) {
  SmallVector<Operation *> all;
  for (Operation *loop = outermost; loop;) {
    all.push_back(loop);
    FailureOr<Operation *> next = findNext(loop);
    if (failed(next))
      return failure();
    loop = *next;
  }
  // Their iterations have no order, so that those on which ranges depend may be walked first, wherever they stand: their own
  // ranges depend on none but such.
  DealtLoops dealt;
  for (auto [i, loop] : llvm::enumerate(all)) {
    Operation *around = loop;
    bool isAsked = llvm::any_of(ArrayRef(all).drop_front(i + 1), [&](Operation *inner) {
      return changesIn(lowerOf(inner), around) || changesIn(upperOf(inner), around);
    });
    if (isAsked && isa<ChunksOp>(loop))
      return loop->emitError("the GPU engine deals loops on whose iterations other ranges depend as points, found chunks");
    (isAsked ? dealt.outer : dealt.flat).push_back(loop);
  }
  return dealt;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

HostCounts::HostCounts(func::FuncOp kernel, loops::LaunchOp launch)
    : entry(&kernel.getBody().front()), given(launch.getArguments()), names(launch->getParentOfType<loops::ProgramOp>().getLengths()) {}

static std::optional<HostExpr> onHostOf(AffineExpr expr, ArrayRef<HostExpr> operands, unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return HostExpr(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<HostExpr> left = onHostOf(binary.getLHS(), operands, numDims), right = onHostOf(binary.getRHS(), operands, numDims);
  if (!left || !right)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *left + *right;
  case AffineExprKind::Mul:
    return *left * *right;
  case AffineExprKind::FloorDiv:
    return HostExpr::binary(HostExpr::floordiv, *left, *right);
  case AffineExprKind::CeilDiv:
    return HostExpr::binary(HostExpr::ceildiv, *left, *right);
  case AffineExprKind::Mod:
    return HostExpr::binary(HostExpr::mod, *left, *right);
  default:
    return std::nullopt;
  }
}

std::optional<HostExpr> HostCounts::valueOf(OpFoldResult value) const {
  if (auto constant = dyn_cast<Attribute>(value))
    return HostExpr(cast<IntegerAttr>(constant).getInt());
  return valueOf(cast<Value>(value));
}

std::optional<HostExpr> HostCounts::valueOf(Value value) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return HostExpr(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != entry)
      return std::nullopt;
    auto length = given[argument.getArgNumber()].getDefiningOp<loops::LengthOp>();
    if (!length)
      return std::nullopt;
    return HostExpr::var(llvm::find(names, length.getNameAttr()) - names.begin());
  }
  Operation *op = value.getDefiningOp();
  if (!isa<affine::AffineApplyOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::nullopt;
  SmallVector<HostExpr> operands;
  for (Value operand : op->getOperands()) {
    std::optional<HostExpr> one = valueOf(operand);
    if (!one)
      return std::nullopt;
    operands.push_back(*one);
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return onHostOf(apply.getAffineMap().getResult(0), operands, apply.getAffineMap().getNumDims());
  if (isa<arith::AddIOp>(op))
    return operands[0] + operands[1];
  if (isa<arith::SubIOp>(op))
    return operands[0] - operands[1];
  if (isa<arith::MulIOp>(op))
    return operands[0] * operands[1];
  return HostExpr::binary(isa<arith::MinSIOp>(op) ? HostExpr::min : HostExpr::max, operands[0], operands[1]);
}

std::optional<HostExpr> HostCounts::iterationsOf(Operation *loop) const {
  std::optional<HostExpr> lower = valueOf(lowerOf(loop)), upper = valueOf(upperOf(loop));
  if (!lower || !upper)
    return std::nullopt;
  return HostExpr::binary(HostExpr::max, *upper - *lower, 0);
}

std::optional<HostExpr> HostCounts::tasksOf(ArrayRef<Operation *> loops) const {
  HostExpr all = 1;
  for (Operation *loop : loops) {
    auto chunks = dyn_cast<ChunksOp>(loop);
    loops::ChunkLengthAttr length = chunks ? chunks.getLengthAttr() : loops::ChunkLengthAttr();
    std::optional<HostExpr> count = iterationsOf(loop);
    if (!count || (chunks && (!length || !length.getEach())))
      return std::nullopt;
    all = all * (chunks ? HostExpr::binary(HostExpr::ceildiv, *count, length.getEach()) : *count);
  }
  return all;
}

HostExpr togpu::cutRows(HostExpr rows, HostExpr others, loops::ChunkLengthAttr length, int64_t most) {
  int64_t full = length.getFull();
  HostExpr share = HostExpr::binary(HostExpr::max, HostExpr::binary(HostExpr::ceildiv, rows * others, length.getTasks()), 1);
  HostExpr least = HostExpr::binary(HostExpr::min, (share - 1) * full + 1, full);
  return HostExpr::binary(HostExpr::min, HostExpr::binary(HostExpr::max, share, least), most);
}
