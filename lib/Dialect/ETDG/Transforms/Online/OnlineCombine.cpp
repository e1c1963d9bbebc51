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

static bool isSplat(ReadAttr read, TypedAttr value) {
  return llvm::all_of(read.getPieces(), [&](PieceAttr piece) {
    return piece.getKind() == SourceKind::Splat && piece.getValue() == value;
  });
}

ReadAttr BodyWriter::readSplat(TypedAttr value) {
  MLIRContext *context = value.getContext();
  IntegerSet all = getUniverse(context, group.numDims, group.symbols.size());
  return ReadAttr::get(context, PieceAttr::getSplat(all, value), 0);
}

void BodyWriter::forEachSlot(StateValues &values, llvm::function_ref<void(Value &)> visit) {
  for (const StatePlan &state : plan.states)
    visit(values.states[{state.member, state.write}]);
  for (const StatePlan &state : plan.states)
    if (state.law == StatePlan::Square) {
      visit(values.weights[{state.member, state.write}]);
      visit(values.means[{state.member, state.write}]);
    }
  for (auto &[moment, buffer] : momentBuffers)
    visit(values.moments[moment]);
  for (auto &[parameter, buffer] : centreBuffers)
    visit(values.centres[parameter]);
}

ReadAttr BodyWriter::readNeutral(BlockBuilder &out, const StatePlan &state) {
  const OnlineMember &member = group.members[state.member];
  BlockOp block = member.block;
  std::optional<Joining> joining = getJoining(group, state.member);
  if (!joining)
    return {};
  auto type = cast<RankedTensorType>(block.getYield().getOperand(state.write).getType());
  TypedAttr zero = Builder(block->getContext()).getZeroAttr(type.getElementType());
  SmallVector<unsigned> writes = getStateWrites(member);
  unsigned n = llvm::find(writes, state.write) - writes.begin();
  ReadAttr neutral;
  if (joining->hasRegion)
    neutral = importRead(out, group, block, cast<ReadAttr>(block.getIdentity()[n]));
  else if (isa<arith::AddFOp, arith::AddIOp>(joining->folds[n]))
    neutral = readSplat(zero);
  else if (state.init)
    neutral = readSplat(state.init);
  else
    return {};
  if (state.law == StatePlan::Moments && !isSum(*joining, block, n))
    return {};
  // A correction must leave the identity alone.
  bool isCorrected =
      state.law == StatePlan::Factor || state.law == StatePlan::Square || state.law == StatePlan::Moments;
  bool isChosen = state.law == StatePlan::Select || state.law == StatePlan::Apart;
  if ((isCorrected && !isSplat(neutral, zero)) || (isChosen && !isSplat(neutral, state.init)))
    return {};
  return state.wide ? widenRead(neutral, state.wide) : neutral;
}

bool BodyWriter::collectIdentity(BlockBuilder &out, SmallVectorImpl<ReadAttr> &identity,
                                 SmallVectorImpl<Type> &types) {
  for (const StatePlan &state : plan.states) {
    ReadAttr neutral = readNeutral(out, state);
    if (!neutral)
      return false;
    BlockOp block = group.members[state.member].block;
    auto type = cast<RankedTensorType>(block.getYield().getOperand(state.write).getType());
    types.push_back(state.wide ? type.clone(state.wide) : type);
    identity.push_back(neutral);
  }
  auto addBeside = [&](Type type, TypedAttr neutral = {}) {
    TypedAttr zero = Builder(type.getContext()).getZeroAttr(getElementTypeOrSelf(type));
    types.push_back(type);
    identity.push_back(readSplat(neutral ? neutral : zero));
  };
  // In the order of `forEachSlot`.
  for (const StatePlan &state : plan.states)
    if (state.law == StatePlan::Square)
      for (int i = 0; i < 2; ++i)
        addBeside(before.states.lookup({state.member, state.write}).getType());
  for (auto &[moment, buffer] : momentBuffers) {
    const StatePlan *state = plan.getState(std::get<0>(moment), std::get<1>(moment));
    addBeside(before.moments[moment].getType(), state->law == StatePlan::Apart ? state->init : TypedAttr());
  }
  for (auto &[parameter, buffer] : centreBuffers)
    addBeside(before.centres[parameter].getType());
  return true;
}

void BodyWriter::joinBeside(CorrectionBuilder &make, StateValues (&sides)[2], StateValues &joined) {
  OpBuilder &inside = make.builder;
  for (const StatePlan &state : plan.states) {
    if (state.law != StatePlan::Square)
      continue;
    Key key = {state.member, state.write};
    joined.weights[key] = arith::AddFOp::create(inside, make.loc, sides[0].weights[key], sides[1].weights[key]);
    joined.means[key] =
        make.joinMeans(sides[0].means[key], sides[1].means[key], sides[1].weights[key], joined.weights[key]);
  }
}

void BodyWriter::joinMoments(CorrectionBuilder &make, Key key, StateValues (&sides)[2], StateValues &joined,
                             FactorCache (&caches)[2]) {
  auto [m, w] = key;
  const StatePlan *state = plan.getState(m, w);
  Value parts[2];
  if (state->law == StatePlan::Apart) {
    for (unsigned s : {0, 1}) {
      Value beside = sides[s].moments[{m, w, {}}];
      auto type = cast<RankedTensorType>(beside.getType());
      parts[s] = arith::SelectOp::create(make.builder, make.loc, isSame(make, *state, type, sides[s], joined), beside,
                                         make.splat(type, state->init));
    }
    joined.moments[{m, w, {}}] = joinStates(make, getFold(group, m, w), parts[0], parts[1]);
  }
  if (state->law != StatePlan::Moments)
    return;
  std::vector<MomentIndex> moments = state->getMoments();
  for (const MomentIndex &index : ArrayRef(moments).drop_back()) {
    for (unsigned s : {0, 1})
      parts[s] = correctMoment(make, *state, index, sides[s].moments[{m, w, index}], sides[s], joined, &caches[s]);
    joined.moments[{m, w, index}] = arith::AddFOp::create(make.builder, make.loc, parts[0], parts[1]);
  }
}

void BodyWriter::joinMember(CorrectionBuilder &make, unsigned m, StateValues (&sides)[2], StateValues &joined,
                            FactorCache (&caches)[2]) {
  const OnlineMember &member = group.members[m];
  SmallVector<unsigned> states = getStateWrites(member);
  if (states.empty())
    return;
  for (unsigned w : states)
    for (const ShiftTerm &shift : plan.getState(m, w)->shifts)
      for (const ShiftTerm::Part &part : shift.parts)
        if (plan.centres[part.parameter].kind == Centre::Value && !joined.centres.count(part.parameter))
          joined.centres[part.parameter] = joinCentres(make, part.parameter, sides, joined);
  for (unsigned w : states)
    joinMoments(make, {m, w}, sides, joined, caches);
  SmallVector<Value> arguments;
  for (unsigned s : {0, 1})
    for (unsigned w : states)
      arguments.push_back(correct(make, *plan.getState(m, w), sides[s].states[{m, w}], sides[s], joined, &caches[s]));
  Joining joining = *getJoining(group, m);
  SmallVector<Value> values;
  if (joining.hasRegion)
    values = *cloneWidened(make.builder, BlockOp(member.block).getCombine().front(), arguments, nullptr);
  for (auto [n, w] : llvm::enumerate(states))
    joined.states[{m, w}] = joining.hasRegion
                                ? make.widen(values[n], arguments[n].getType())
                                : joinStates(make, joining.folds[n], arguments[n], arguments[states.size() + n]);
}

bool BodyWriter::writeCombine(BlockBuilder &out, Region &combine, Location location) {
  if (readsScale())
    return false;
  SmallVector<ReadAttr> identity;
  SmallVector<Type> types;
  if (!collectIdentity(out, identity, types))
    return false;
  auto *block = new Block();
  combine.push_back(block);
  OpBuilder inside(location.getContext());
  inside.setInsertionPointToEnd(block);
  StateValues sides[2], joined;
  for (StateValues &side : sides) {
    ArrayRef<Type> rest = types;
    forEachSlot(side, [&](Value &slot) {
      slot = block->addArgument(rest.front(), location);
      rest = rest.drop_front();
    });
  }
  CorrectionBuilder make{inside, location};
  joinBeside(make, sides, joined);
  FactorCache caches[2];
  for (unsigned m : plan.members)
    joinMember(make, m, sides, joined, caches);
  SmallVector<Value> results;
  forEachSlot(joined, [&](Value &slot) { results.push_back(slot); });
  YieldOp::create(inside, location, results);
  out.identity = identity;
  return true;
}
