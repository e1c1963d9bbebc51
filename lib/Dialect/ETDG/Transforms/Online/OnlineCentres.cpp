//===- OnlineCentres.cpp - what stands for a parameter that shifts terms --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any number may stand for a parameter in Σ h (x - π)ⁿ: the moments say exactly what
// another one makes of the sum. One close to what the parameter will be keeps the
// terms small, so that nothing cancels: a running maximum, or what the blocks
// between the two reductions make of the states so far, a mean of what has been seen.
//
//===----------------------------------------------------------------------===//
#include "OnlineBody.h"
#include "OnlinePlanner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

std::optional<Evaluation> Planner::evaluateState(unsigned member, unsigned write) {
  const StatePlan *state = plan.getState(member, write);
  if (!included.test(member) || !state)
    return std::nullopt;
  if (state->law != StatePlan::Invariant && state->law != StatePlan::Factor)
    return std::nullopt;
  // What is left to do after the loop is done with what the other parameters would be now.
  for (const FactorTerm &term : state->terms) {
    const Parameter &info = group.parameters[term.parameter];
    if (isAtCentre(group, plan, term) || plan.evaluations.count(term.parameter))
      continue;
    std::optional<Evaluation> other =
        info.lastPlane ? evaluateState(info.lastPlane->first, info.lastPlane->second)
                       : evaluateRead(info.reader, info.read, 0);
    if (!other)
      return std::nullopt;
    plan.evaluations.emplace(term.parameter, *other);
  }
  Evaluation evaluation{Evaluation::State, member, write, {}, 0, {}};
  return evaluation;
}

/// What a block between the reductions reads, from states so far; null where it isn't known.
std::optional<Evaluation> Planner::evaluateRead(BlockOp block, unsigned r, unsigned depth) {
  // Chains of blocks that people write between two reductions are shorter; each copy is computed in each iteration.
  constexpr unsigned maxDepth = 6, maxOperations = 16;
  Evaluation external{Evaluation::External, 0, 0, block, r, {}};
  ReadAttr read = block.getRead(r);
  std::optional<PieceAttr> source;
  for (PieceAttr piece : read.getPieces()) {
    // Splats stand for lengths of 0.
    if (piece.getKind() == SourceKind::Splat)
      continue;
    if (source || piece.getKind() != SourceKind::Buffer || !piece.getGathers().empty() ||
        read.getElementRank() || depth > maxDepth)
      return std::nullopt;
    source = piece;
  }
  if (!source)
    return external;
  Value buffer = block.getBuffers()[source->getOperand()];
  AffineMap map = alignMap(source->getMap().getValue(), block, group.symbols);
  if (map.getNumResults() != cast<BufferType>(buffer.getType()).getDepth())
    return std::nullopt;
  for (unsigned m = 0; m < group.members.size(); ++m)
    for (unsigned w = 0; w < group.members[m].block.getNumWrites(); ++w) {
      BlockOp member = group.members[m].block;
      if (member.getBuffers()[member.getWrite(w).getOperand()] != buffer)
        continue;
      AffineMap written = alignMap(member.getWrite(w).getMap().getValue(), member, group.symbols);
      if (!group.members[m].isState(w) ||
          atPlane(written, group.numDims, group.last).getResults() != map.getResults())
        return std::nullopt;
      return evaluateState(m, w);
    }
  bool isLocal = llvm::any_of(accesses.getWrites(buffer), [&](const Access &write) {
    return getItem(group.body, BlockOp(write.block)) != nullptr;
  });
  if (!isLocal)
    return external;
  ArrayRef<Access> writes = accesses.getWrites(buffer);
  if (writes.size() != 1)
    return std::nullopt;
  BlockOp writer = writes.front().block;
  auto [made, w] = std::pair(writer, writes.front().index);
  if (!writer.isLeaf() || writer->getBlock() != group.body || writer.getNest() ||
      writer.getNumDims() + 1 != group.numDims ||
      std::distance(writer.getBody().front().begin(), writer.getBody().front().end()) >
          maxOperations ||
      alignMap(writer.getWrite(w).getMap().getValue(), writer, group.symbols).getResults() !=
          map.getResults())
    return std::nullopt;
  Evaluation evaluation{Evaluation::Block, 0, 0, made, w, {}};
  bool depends = false;
  for (unsigned i = 0; i < writer.getNumReads(); ++i) {
    std::optional<Evaluation> each = evaluateRead(writer, i, depth + 1);
    if (!each)
      return std::nullopt;
    depends |= each->kind != Evaluation::External;
    evaluation.reads.push_back(*each);
  }
  return depends ? evaluation : external;
}

/// By which power of j a value grows: 1 for sums, 0 for maxima, and for ratios of sums. Null where
/// that isn't known.
static std::optional<double> getDegree(Operation *op, ArrayRef<std::optional<double>> operands) {
  for (std::optional<double> degree : operands)
    if (!degree)
      return std::nullopt;
  auto greatest = [&] {
    double degree = 0;
    for (std::optional<double> each : operands)
      degree = std::max(degree, *each);
    return degree;
  };
  if (operands.empty())
    return 0;
  if (isa<arith::MulFOp>(op))
    return *operands[0] + *operands[1];
  if (isa<arith::DivFOp>(op))
    return *operands[0] - *operands[1];
  if (isa<math::SqrtOp>(op))
    return *operands[0] / 2;
  if (isa<math::RsqrtOp>(op))
    return -*operands[0] / 2;
  if (isa<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(op))
    return 0;
  if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, math::AbsFOp, arith::MaximumFOp,
          arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::SelectOp, arith::ExtFOp,
          arith::TruncFOp, arith::AddIOp, arith::SIToFPOp, arith::UIToFPOp, arith::IndexCastOp,
          tensor::ExpandShapeOp, tensor::CollapseShapeOp, linalg::BroadcastOp>(op))
    return greatest();
  return greatest() == 0 && op->getNumRegions() == 0 ? std::optional<double>(0) : std::nullopt;
}

std::optional<double> Planner::getDegree(const Evaluation &evaluation) {
  if (evaluation.kind == Evaluation::External)
    return 0;
  if (evaluation.kind == Evaluation::State) {
    Operation *fold = getFold(group, evaluation.member, evaluation.write);
    if (!fold)
      return std::nullopt;
    double degree = isa<arith::AddFOp, arith::AddIOp>(fold) ? 1 : 0;
    for (const FactorTerm &term : plan.getState(evaluation.member, evaluation.write)->terms) {
      if (isAtCentre(group, plan, term) || term.power == 0)
        continue;
      std::optional<double> other = getDegree(plan.evaluations.at(term.parameter));
      if (!other)
        return std::nullopt;
      degree += *other * static_cast<double>(term.power);
    }
    return degree;
  }
  llvm::DenseMap<Value, std::optional<double>> degrees;
  BlockOp block = evaluation.block;
  for (auto [argument, read] : llvm::zip(block.getBody().getArguments(), evaluation.reads))
    degrees[argument] = getDegree(read);
  for (Operation &op : block.getBody().front().without_terminator()) {
    SmallVector<std::optional<double>> operands;
    bool isEmpty = isa<tensor::EmptyOp>(op);
    for (Value operand : op.getOperands())
      operands.push_back(isEmpty ? 0 : degrees.lookup(operand));
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      std::optional<double> degree = ::getDegree(&op, operands);
      for (Value result : op.getResults())
        degrees[result] = degree;
      continue;
    }
    for (OpOperand &operand : generic->getOpOperands())
      if (BlockArgument inside = generic.getMatchingBlockArgument(&operand))
        degrees[inside] = degrees.lookup(operand.get());
    for (Operation &inner : generic.getBody()->without_terminator()) {
      SmallVector<std::optional<double>> scalars;
      for (Value operand : inner.getOperands())
        scalars.push_back(degrees.lookup(operand));
      for (Value result : inner.getResults())
        degrees[result] = ::getDegree(&inner, scalars);
    }
    for (auto [result, yielded] :
         llvm::zip(generic.getResults(), generic.getBody()->getTerminator()->getOperands()))
      degrees[result] = degrees.lookup(yielded);
  }
  return degrees.lookup(block.getYield().getOperand(evaluation.index));
}

/// Whether each moment can be written: tried after the bodies.
bool Planner::checkMoments() {
  OpBuilder builder(group.members.front().block.getContext());
  builder.setInsertionPointToEnd(&tape->front());
  for (const StatePlan &state : plan.states) {
    if (state.law != StatePlan::Moments)
      continue;
    std::vector<MomentIndex> moments = state.getMoments();
    Value argument = stateArgs.lookup({state.member, state.write});
    std::map<std::pair<void *, MomentIndex>, Value> states;
    for (const MomentIndex &index : moments)
      states[{argument.getAsOpaquePointer(), index}] = argument;
    MomentWriter writer(*forms, builder, states);
    for (const MomentIndex &index : ArrayRef(moments).drop_back())
      if (!writer.write(yields[state.member][state.write], index)) {
        exclude(state.member, nullptr, "no moment of its terms can be written");
        return false;
      }
  }
  return true;
}

/// Centres of the parameters that shift terms and have none yet.
bool Planner::findCentres() {
  for (auto [parameter, m] : shiftedBy) {
    Centre &centre = plan.centres[parameter];
    if (centre.kind == Centre::One) {
      exclude(m, nullptr, "needs the same value in two forms at once");
      return false;
    }
    if (centre.kind != Centre::None)
      continue;
    const Parameter &info = group.parameters[parameter];
    if (!isa<FloatType>(info.type.getElementType())) {
      exclude(m, nullptr, "the last state is no floating-point number");
      return false;
    }
    std::optional<Evaluation> evaluation;
    if (info.lastPlane)
      evaluation = evaluateState(info.lastPlane->first, info.lastPlane->second);
    else
      evaluation = evaluateRead(info.reader, info.read, 0);
    std::optional<double> degree = evaluation ? getDegree(*evaluation) : std::nullopt;
    if (!evaluation || !degree || *degree != 0) {
      exclude(
          m, nullptr,
          degree
              ? "what shifts its terms grows with the length of the reduction, and no mean of what "
                "has been seen stands for it"
              : "what shifts its terms is not known from states so far");
      return false;
    }
    centre.kind = Centre::Value;
    centre.member = parameter;
    for (StatePlan &state : plan.states)
      for (const ShiftTerm &shift : state.shifts)
        for (const ShiftTerm::Part &part : shift.parts)
          if (part.parameter == parameter && state.wide &&
              (!centre.wide || centre.wide.getWidth() < state.wide.getWidth()))
            centre.wide = state.wide;
    plan.evaluations.emplace(parameter, *evaluation);
  }
  return true;
}
