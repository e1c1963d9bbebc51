//===- OnlineCombine.cpp - how partial states of a merged reduction join --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each side is corrected to what stands for the parameters when both are known, then
// the members' own regions, or the operations by which their states grow, join them.
//
//===----------------------------------------------------------------------===//
#include "OnlineBody.h"
#include "OnlineWiden.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

/// Whether partial results of the n-th state are added.
static bool isSum(const Joining &joining, BlockOp block, unsigned n) {
  if (!joining.hasRegion)
    return isa<arith::AddFOp>(joining.folds[n]);
  Block &region = block.getCombine().front();
  auto add = region.getTerminator()->getOperand(n).getDefiningOp<arith::AddFOp>();
  unsigned half = region.getNumArguments() / 2;
  Value a = region.getArgument(n), b = region.getArgument(half + n);
  return add &&
         ((add.getLhs() == a && add.getRhs() == b) || (add.getLhs() == b && add.getRhs() == a));
}

bool BodyWriter::writeCombine(BlockBuilder &out, Region &combine, Location location) {
  SmallVector<ReadAttr> identity;
  SmallVector<Key> squares;
  SmallVector<Type> types;
  auto isSplat = [](ReadAttr read, TypedAttr value) {
    return llvm::all_of(read.getPieces(), [&](PieceAttr piece) {
      return piece.getKind() == SourceKind::Splat && piece.getValue() == value;
    });
  };
  MLIRContext *context = location.getContext();
  IntegerSet all = getUniverse(context, group.numDims, group.symbols.size());
  auto splatRead = [&](TypedAttr value) {
    return ReadAttr::get(context, PieceAttr::getSplat(all, value), 0);
  };
  for (const StatePlan &state : plan.states) {
    const Member &member = group.members[state.member];
    BlockOp block = member.block;
    std::optional<Joining> joining = getJoining(group, state.member);
    if (!joining)
      return false;
    auto type = cast<RankedTensorType>(block.getYield().getOperand(state.write).getType());
    SmallVector<unsigned> writes = getStateWrites(member);
    unsigned n = llvm::find(writes, state.write) - writes.begin();
    ReadAttr neutral;
    if (joining->hasRegion) {
      neutral = importRead(out, group, block, cast<ReadAttr>(block.getIdentity()[n]));
    } else if (isa<arith::AddFOp, arith::AddIOp>(joining->folds[n])) {
      neutral = splatRead(Builder(context).getZeroAttr(type.getElementType()));
    } else if (state.init) {
      neutral = splatRead(state.init);
    } else {
      return false;
    }
    if (state.law == StatePlan::Moments && !isSum(*joining, block, n))
      return false;
    // A correction must leave the identity alone.
    if ((state.law == StatePlan::Factor || state.law == StatePlan::Square ||
         state.law == StatePlan::Moments) &&
        !isSplat(neutral, Builder(context).getZeroAttr(type.getElementType())))
      return false;
    if ((state.law == StatePlan::Select || state.law == StatePlan::Apart) &&
        !isSplat(neutral, state.init))
      return false;
    if (state.wide) {
      neutral = widenRead(neutral, state.wide);
      type = type.clone(state.wide);
    }
    identity.push_back(neutral);
    types.push_back(type);
    if (state.law == StatePlan::Square)
      squares.push_back({state.member, state.write});
  }
  for (Key key : squares) {
    Type type = before.states.lookup(key).getType();
    for (int i = 0; i < 2; ++i) {
      types.push_back(type);
      identity.push_back(
          splatRead(Builder(context).getZeroAttr(cast<RankedTensorType>(type).getElementType())));
    }
  }
  auto addBeside = [&](Value like, TypedAttr neutral = {}) {
    types.push_back(like.getType());
    TypedAttr zero = Builder(context).getZeroAttr(getElementTypeOrSelf(like.getType()));
    identity.push_back(splatRead(neutral ? neutral : zero));
  };
  for (auto &[moment, buffer] : momentBuffers) {
    const StatePlan *state = plan.getState(std::get<0>(moment), std::get<1>(moment));
    addBeside(before.moments[moment], state->law == StatePlan::Apart ? state->init : TypedAttr());
  }
  for (auto &[parameter, buffer] : centreBuffers)
    addBeside(before.centres[parameter]);
  for (auto &[scale, buffer] : scaleBuffers)
    addBeside(before.scales[scale]);

  auto *block = new Block();
  combine.push_back(block);
  OpBuilder inside(context);
  inside.setInsertionPointToEnd(block);
  StateValues sides[2], joined;
  for (StateValues &side : sides) {
    unsigned next = 0;
    SmallVector<Value> arguments;
    for (Type type : types)
      arguments.push_back(block->addArgument(type, location));
    for (const StatePlan &state : plan.states)
      side.states[{state.member, state.write}] = arguments[next++];
    for (Key key : squares) {
      side.weights[key] = arguments[next++];
      side.means[key] = arguments[next++];
    }
    for (auto &[moment, buffer] : momentBuffers)
      side.moments[moment] = arguments[next++];
    for (auto &[parameter, buffer] : centreBuffers)
      side.centres[parameter] = arguments[next++];
    for (auto &[scale, buffer] : scaleBuffers)
      side.scales[scale] = arguments[next++];
  }
  CorrectionBuilder make{inside, location};
  for (auto &[scale, buffer] : scaleBuffers) {
    // One that has seen nothing has 0.
    Value a = sides[0].scales[scale], b = sides[1].scales[scale];
    Value isNew = arith::CmpFOp::create(inside, location, arith::CmpFPredicate::OEQ, a,
                                        make.splat(cast<RankedTensorType>(a.getType()), 0.0));
    joined.scales[scale] = arith::SelectOp::create(inside, location, isNew, b, a);
  }
  for (Key key : squares) {
    joined.weights[key] =
        arith::AddFOp::create(inside, location, sides[0].weights[key], sides[1].weights[key]);
    joined.means[key] = make.joinMeans(sides[0].means[key], sides[1].means[key],
                                       sides[1].weights[key], joined.weights[key]);
  }
  FactorCache caches[2];
  for (unsigned m : plan.members) {
    const Member &member = group.members[m];
    SmallVector<unsigned> states = getStateWrites(member);
    if (states.empty())
      continue;
    BlockOp from = member.block;
    SmallVector<Value> arguments;
    for (unsigned w : states)
      for (const ShiftTerm &shift : plan.getState(m, w)->shifts)
        for (const ShiftTerm::Part &part : shift.parts)
          if (plan.centres[part.parameter].kind == Centre::Value &&
              !joined.centres.count(part.parameter))
            joined.centres[part.parameter] = joinCentres(make, part.parameter, sides, joined);
    for (unsigned w : states) {
      const StatePlan *state = plan.getState(m, w);
      if (state->law == StatePlan::Apart) {
        Value parts[2];
        for (unsigned s : {0, 1}) {
          Value beside = sides[s].moments[{m, w, {}}];
          auto type = cast<RankedTensorType>(beside.getType());
          parts[s] = arith::SelectOp::create(inside, location,
                                             isSame(make, *state, type, sides[s], joined), beside,
                                             make.splat(type, state->init));
        }
        joined.moments[{m, w, {}}] = joinStates(make, getFold(group, m, w), parts[0], parts[1]);
      }
      if (state->law != StatePlan::Moments)
        continue;
      std::vector<MomentIndex> moments = state->getMoments();
      for (const MomentIndex &index : ArrayRef(moments).drop_back()) {
        Value parts[2];
        for (unsigned s : {0, 1})
          parts[s] = correctMoment(make, *state, index, sides[s].moments[{m, w, index}], sides[s],
                                   joined, &caches[s]);
        joined.moments[{m, w, index}] = arith::AddFOp::create(inside, location, parts[0], parts[1]);
      }
    }
    for (unsigned s : {0, 1})
      for (unsigned w : states)
        arguments.push_back(correct(make, *plan.getState(m, w), sides[s].states[{m, w}], sides[s],
                                    joined, &caches[s]));
    Joining joining = *getJoining(group, m);
    if (joining.hasRegion) {
      SmallVector<Value> values =
          *cloneWidened(inside, from.getCombine().front(), arguments, nullptr);
      for (auto [n, w] : llvm::enumerate(states))
        joined.states[{m, w}] = make.widen(values[n], arguments[n].getType());
      continue;
    }
    for (auto [n, w] : llvm::enumerate(states)) {
      joined.states[{m, w}] =
          joinStates(make, joining.folds[n], arguments[n], arguments[states.size() + n]);
    }
  }
  SmallVector<Value> results;
  for (const StatePlan &state : plan.states)
    results.push_back(joined.states[{state.member, state.write}]);
  for (Key key : squares) {
    results.push_back(joined.weights[key]);
    results.push_back(joined.means[key]);
  }
  for (auto &[moment, buffer] : momentBuffers)
    results.push_back(joined.moments[moment]);
  for (auto &[parameter, buffer] : centreBuffers)
    results.push_back(joined.centres[parameter]);
  for (auto &[scale, buffer] : scaleBuffers)
    results.push_back(joined.scales[scale]);
  YieldOp::create(inside, location, results);
  out.identity = identity;
  return true;
}
