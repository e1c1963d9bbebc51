//===- OnlineBody.cpp - the body of a merged reduction --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnlineBody.h"
#include "OnlineWiden.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

//===----------------------------------------------------------------------===//
// One iteration
//===----------------------------------------------------------------------===//

Value BodyWriter::addRead(BlockBuilder &spec, ReadAttr read, Type type, bool share) {
  if (share)
    if (Value known = shared.lookup({read, type}))
      return known;
  spec.reads.push_back(read);
  Value value = body->front().addArgument(type, *loc);
  if (share)
    shared[{read, type}] = value;
  return value;
}

/// Whether what stands for the parameter of a state is what it was.
Value BodyWriter::isSame(CorrectionBuilder &make, const StatePlan &state, RankedTensorType type,
                         StateValues &from, StateValues &to) {
  const Centre &centre = plan.centres[state.parameter];
  Key source{centre.member, centre.write};
  Value a = from.states.lookup(source), b = to.states.lookup(source);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  Value same = isFloat
                   ? arith::CmpFOp::create(make.builder, make.loc, arith::CmpFPredicate::OEQ, a, b)
                         .getResult()
                   : arith::CmpIOp::create(make.builder, make.loc, arith::CmpIPredicate::eq, a, b)
                         .getResult();
  return make.broadcast(same, state.dims, type);
}

/// `value`, whose factors were made with running maxima at `from`, as if made with those at `to`.
Value BodyWriter::correctFactors(CorrectionBuilder &make, const StatePlan &state, Value value,
                                 StateValues &from, StateValues &to, FactorCache *cache) {
  auto type = cast<RankedTensorType>(value.getType());
  for (const FactorTerm &term : state.terms) {
    const Centre &centre = plan.centres[term.parameter];
    if (term.exponent == 0 || centre.kind != Centre::Running)
      continue;
    Value factor;
    if (term.scale) {
      // Where all dimensions of the scale are the parameter's, too, so are those of the factor.
      auto shape = type;
      SmallVector<int64_t> own, places(term.dims.begin(), term.dims.end());
      for (int64_t d : term.scale->dims)
        own.push_back(d < 0 ? d : llvm::find(term.dims, d) - term.dims.begin());
      bool isNarrow =
          llvm::all_of(own, [&](int64_t d) { return d < static_cast<int64_t>(term.dims.size()); });
      if (isNarrow) {
        shape = cast<RankedTensorType>(group.parameters[term.parameter].type)
                    .clone(type.getElementType());
        places = llvm::to_vector(llvm::seq<int64_t>(0, term.dims.size()));
      } else {
        own.assign(term.scale->dims.begin(), term.scale->dims.end());
      }
      Value scale = to.scales.at({term.scale->member, term.scale->read});
      factor = make.scaledFactor(
          term.exponent,
          make.broadcast(make.widen(getRunning(make, centre, from), type), places, shape),
          make.broadcast(make.widen(getRunning(make, centre, to), type), places, shape),
          make.broadcast(make.widen(scale, type), own, shape), term.scale->inverse);
      for (int half = 0; half < 2; ++half)
        value = arith::MulFOp::create(make.builder, make.loc, value,
                                      isNarrow ? make.broadcast(factor, term.dims, type) : factor);
      continue;
    }
    Value *known = nullptr;
    if (cache) {
      // Bits of the exponent: equal corrections are made once.
      known = &(*cache)[{term.parameter, llvm::bit_cast<int64_t>(term.exponent),
                         type.getElementType().getAsOpaquePointer()}];
      factor = *known;
    }
    if (!factor)
      factor = make.expDifference(term.exponent, make.widen(getRunning(make, centre, from), type),
                                  make.widen(getRunning(make, centre, to), type));
    if (known)
      *known = factor;
    value = arith::MulFOp::create(make.builder, make.loc, value,
                                  make.broadcast(factor, term.dims, type));
  }
  return value;
}

/// `value`, made with what stood for parameters at `from`, as if made with that at `to`.
Value BodyWriter::correct(CorrectionBuilder &make, const StatePlan &state, Value value,
                          StateValues &from, StateValues &to, FactorCache *cache) {
  auto type = cast<RankedTensorType>(value.getType());
  Key key{state.member, state.write};
  switch (state.law) {
  case StatePlan::Invariant:
    return value;
  case StatePlan::Factor:
    return correctFactors(make, state, value, from, to, cache);
  case StatePlan::Moments:
    return correctMoment(make, state, state.getMoments().back(), value, from, to, cache);
  case StatePlan::Square:
    return make.addSquares(value, state.coefficient, from.weights.lookup(key),
                           from.means.lookup(key), to.means.lookup(key));
  case StatePlan::Select: {
    return arith::SelectOp::create(make.builder, make.loc, isSame(make, state, type, from, to),
                                   value, make.splat(type, state.init));
  }
  case StatePlan::Apart: {
    Value joined = joinStates(make, getFold(group, state.member, state.write), value,
                              from.moments.at({state.member, state.write, {}}));
    return arith::SelectOp::create(make.builder, make.loc, isSame(make, state, type, from, to),
                                   value, joined);
  }
  }
  return value;
}

/// A running maximum or minimum, finite where it stands in a difference.
Value BodyWriter::getRunning(CorrectionBuilder &make, const Centre &centre, StateValues &values) {
  Key key{centre.member, centre.write};
  if (!centre.clamps)
    return values.states.lookup(key);
  Value &clamped = values.clamped[key];
  if (!clamped)
    clamped = make.clamp(values.states.lookup(key), centre.rises);
  return clamped;
}

/// What stands for a parameter in this iteration.
Value BodyWriter::getCentre(unsigned parameter) {
  const Centre &centre = plan.centres[parameter];
  Key key{centre.member, centre.write};
  CorrectionBuilder make{*builder, *loc};
  switch (centre.kind) {
  case Centre::None:
    return {};
  case Centre::Running:
    return getRunning(make, centre, after);
  case Centre::One:
    return make.splat(group.parameters[parameter].type, 1.0);
  case Centre::Mean:
    if (!after.means.lookup(key))
      writeMean(parameter, key);
    return after.means.lookup(key);
  case Centre::Value:
    return getStandIn(make, parameter, after);
  }
  return {};
}

/// The bodies that lead to the state `key` once more, from what `stateOf` and `parameterOf` give
/// for states and parameters. `change` gives what replaces a clone's result, or null.
SmallVector<Value>
BodyWriter::writeAgain(Key key, llvm::function_ref<Value(Key)> stateOf,
                       llvm::function_ref<Value(unsigned)> parameterOf,
                       llvm::function_ref<Value(Operation *clone, Operation *original)> change) {
  // The dependent members on the way, in order.
  llvm::SmallSetVector<unsigned, 4> needed;
  needed.insert(key.first);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (const ReadRole &role : group.members[needed[i]].reads)
      if (role.kind == ReadRole::Internal && plan.contains(role.member) &&
          group.members[role.member].isDependent)
        needed.insert(role.member);
  SmallVector<SmallVector<Value>> results(group.members.size());
  for (unsigned m : plan.members) {
    if (!needed.contains(m))
      continue;
    const OnlineMember &member = group.members[m];
    BlockOp block = member.block;
    SmallVector<Value> arguments;
    for (auto [r, role] : llvm::enumerate(member.reads)) {
      if (role.kind == ReadRole::Internal && plan.contains(role.member))
        arguments.push_back(group.members[role.member].isDependent
                                ? results[role.member][role.write]
                                : yields[role.member][role.write]);
      else if (role.kind == ReadRole::State)
        arguments.push_back(stateOf({m, role.write}));
      else if (role.kind == ReadRole::Parameter)
        arguments.push_back(parameterOf(role.parameter));
      else
        arguments.push_back(externals.lookup({m, r}));
      if (!arguments.back()) // a parameter that nothing stands for is not used
        arguments.back() = arith::ConstantOp::create(
            *builder, *loc,
            cast<TypedAttr>(builder->getZeroAttr(block.getBody().getArgument(r).getType())));
    }
    llvm::DenseMap<Operation *, Operation *> original;
    results[m] = cloneBody(*builder, block, arguments, &original);
    for (auto [clone, from] : original)
      if (Value other = change(clone, from))
        for (Value &value : results[m])
          if (value == clone->getResult(0))
            value = other;
  }
  return results[key.first];
}

/// From a state of 0 and with what is squared (or 1, for the weights) in place of its square.
/// `mean` stands for the parameter.
SmallVector<Value> BodyWriter::writeProbe(Key key, Value mean, bool one) {
  const StatePlan *state = plan.getState(key.first, key.second);
  CorrectionBuilder make{*builder, *loc};
  return writeAgain(
      key,
      [&](Key other) {
        return make.splat(cast<RankedTensorType>(before.states.lookup(other).getType()), 0.0);
      },
      [&](unsigned parameter) {
        return parameter == state->parameter ? mean : getCentre(parameter);
      },
      [&](Operation *clone, Operation *original) -> Value {
        if (original != state->square)
          return {};
        OpBuilder inner(clone);
        Value substitute = clone->getOperand(0);
        if (one) {
          Type type = clone->getResult(0).getType();
          if (auto tensor = dyn_cast<RankedTensorType>(type))
            substitute = CorrectionBuilder{inner, *loc}.splat(tensor, 1.0);
          else
            substitute = arith::ConstantOp::create(inner, *loc, inner.getFloatAttr(type, 1.0));
        }
        clone->getResult(0).replaceAllUsesWith(substitute);
        return substitute;
      });
}

/// With what equals the parameter in place of what does not, joined to `state`.
Value BodyWriter::writeComplement(Key key, Value state) {
  const StatePlan *law = plan.getState(key.first, key.second);
  auto stateOf = [&](Key other) {
    return other.first == key.first ? state : before.states.lookup(other);
  };
  auto invert = [&](Operation *clone, Operation *original) -> Value {
    if (!llvm::is_contained(law->matches, original))
      return {};
    OpBuilder inner(clone->getContext());
    inner.setInsertionPointAfter(clone);
    Value match = clone->getResult(0);
    TypedAttr one = inner.getBoolAttr(true);
    if (auto tensor = dyn_cast<RankedTensorType>(match.getType()))
      one = SplatElementsAttr::get(tensor, Attribute(one));
    Value truth = arith::ConstantOp::create(inner, *loc, one);
    Value other = arith::XOrIOp::create(inner, *loc, match, truth);
    match.replaceAllUsesExcept(other, other.getDefiningOp());
    return other;
  };
  return writeAgain(
      key, stateOf, [&](unsigned parameter) { return getCentre(parameter); }, invert)[key.second];
}

/// The new mean of a `Square` state: the old one, moved by the weighted sum of the differences.
void BodyWriter::writeMean(unsigned parameter, Key key) {
  const StatePlan *state = plan.getState(key.first, key.second);
  CorrectionBuilder make{*builder, *loc};
  Value oldMean = before.means.lookup(key), oldWeight = before.weights.lookup(key);
  auto type = cast<RankedTensorType>(oldMean.getType());
  Operation *mark = body->front().empty() ? nullptr : &body->front().back();
  Value weight = writeProbe(key, oldMean, /*one=*/true)[key.second];
  weight = make.widen(weight, type);
  // Equal weights are counted, not summed.
  OnlineForms forms;
  for (Operation *op = mark ? mark->getNextNode() : &body->front().front(); op;
       op = op->getNextNode())
    forms.visit(op);
  std::optional<double> count = forms.get(weight).constant;
  if (count && *count > 0)
    weight = make.splat(type, *count);
  Value sum = make.widen(writeProbe(key, oldMean, /*one=*/false)[key.second], type);
  Value newWeight = arith::AddFOp::create(*builder, *loc, oldWeight, weight);
  // Σ w a (x - mean) / (a Σ w), where what is squared is a (x - π) and π has coefficient -a.
  Value scaled = sum;
  if (state->coefficient != -1)
    scaled = arith::MulFOp::create(*builder, *loc, sum, make.splat(type, -1 / state->coefficient));
  Value step = arith::DivFOp::create(*builder, *loc, scaled, newWeight);
  Value newMean = arith::AddFOp::create(*builder, *loc, oldMean, step);
  if (!count || *count <= 0) {
    Value none = arith::CmpFOp::create(*builder, *loc, arith::CmpFPredicate::OEQ, newWeight,
                                       make.splat(type, 0.0));
    newMean = arith::SelectOp::create(*builder, *loc, none, oldMean, newMean);
  }
  after.weights[key] = newWeight;
  after.means[key] = newMean;
}

SmallVector<Value> BodyWriter::writeMember(unsigned m) {
  const OnlineMember &member = group.members[m];
  BlockOp block = member.block;
  SmallVector<Value> arguments(member.reads.size());
  // Centres first: states are corrected to them.
  for (auto [r, role] : llvm::enumerate(member.reads))
    if (role.kind == ReadRole::Parameter && !block.getBody().getArgument(r).use_empty()) {
      arguments[r] = getCentre(role.parameter);
      if (!forms || !arguments[r])
        continue;
      // Two parameters may have one centre: each has a name of its own while forms are looked at.
      Value &standIn = standIns[role.parameter];
      if (!standIn) {
        standIn =
            UnrealizedConversionCastOp::create(*builder, *loc, arguments[r].getType(), arguments[r])
                .getResult(0);
        forms->declareParameter(standIn);
      }
      arguments[r] = standIn;
    }
  for (unsigned w : getStateWrites(member))
    if (const StatePlan *state = plan.getState(m, w)) {
      if (state->law == StatePlan::Square)
        (void)getCentre(state->parameter);
      for (const ShiftTerm &shift : state->shifts)
        for (const ShiftTerm::Part &part : shift.parts)
          (void)getCentre(part.parameter);
    }
  CorrectionBuilder make{*builder, *loc};
  for (auto [r, role] : llvm::enumerate(member.reads)) {
    if (role.kind == ReadRole::Internal && plan.contains(role.member))
      arguments[r] = yields[role.member][role.write];
    else if (role.kind == ReadRole::State)
      arguments[r] = correct(make, *plan.getState(m, role.write),
                             before.states.lookup({m, role.write}), before, after, &factors);
    else if (role.kind != ReadRole::Parameter)
      arguments[r] = externals.lookup({m, r});
  }
  // A parameter that the body does not use is nothing to stand for.
  for (auto [r, argument] : llvm::enumerate(arguments))
    if (!argument) {
      auto type = cast<RankedTensorType>(block.getBody().getArgument(r).getType());
      argument =
          arith::ConstantOp::create(*builder, *loc, cast<TypedAttr>(builder->getZeroAttr(type)));
    }
  for (unsigned w : getStateWrites(member))
    if (const StatePlan *state = plan.getState(m, w); state->law == StatePlan::Apart) {
      Value beside = before.moments.at({m, w, {}});
      auto type = cast<RankedTensorType>(beside.getType());
      beside = arith::SelectOp::create(*builder, *loc, isSame(make, *state, type, before, after),
                                       beside, make.splat(type, state->init));
      after.moments[{m, w, {}}] = writeComplement({m, w}, beside);
    }
  Operation *mark = body->front().empty() ? nullptr : &body->front().back();
  SmallVector<Value> results = cloneBody(*builder, block, arguments);
  if (forms) {
    writeMoments(m, arguments, mark, results);
  }
  return results;
}

/// All reads: what comes from outside, and states.
void BodyWriter::writeReads(BlockBuilder &out) {
  for (unsigned m : plan.members) {
    const OnlineMember &member = group.members[m];
    BlockOp block = member.block;
    for (auto [r, role] : llvm::enumerate(member.reads)) {
      if ((role.kind == ReadRole::Internal && plan.contains(role.member)) ||
          role.kind == ReadRole::Parameter)
        continue;
      ReadAttr read = importRead(out, group, block, block.getRead(r));
      Type type = block.getBody().getArgument(r).getType();
      bool isState = role.kind == ReadRole::State;
      if (const StatePlan *state = isState ? plan.getState(m, role.write) : nullptr;
          state && state->wide) {
        read = widenRead(read, state->wide);
        type = cast<RankedTensorType>(type).clone(state->wide);
      }
      Value value = addRead(out, read, type, !isState);
      if (isState)
        before.states[{m, role.write}] = value;
      else
        externals[{m, static_cast<unsigned>(r)}] = value;
    }
  }
}

/// Weight and mean of squares live beside the state, and start at 0.
void BodyWriter::writeWeights(BlockBuilder &out, OpBuilder &bufferBuilder) {
  Location location = *loc;
  for (const StatePlan &state : plan.states) {
    if (state.law != StatePlan::Square)
      continue;
    Key key{state.member, state.write};
    const OnlineMember &member = group.members[state.member];
    BlockOp block = member.block;
    unsigned r = member.stateReads[state.write];
    Value buffer = block.getBuffers()[block.getWrite(state.write).getOperand()];
    auto bufferOp = buffer.getDefiningOp<BufferOp>();
    for (auto *to : {&weightBuffers, &meanBuffers}) {
      auto made = BufferOp::create(bufferBuilder, location, buffer.getType(),
                                   bufferOp.getLiveAttr(), StringAttr());
      (*to)[key] = made;
      ReadAttr read = importRead(out, group, block, block.getRead(r));
      SmallVector<PieceAttr> pieces;
      for (PieceAttr piece : read.getPieces()) {
        if (piece.getKind() == SourceKind::Buffer && out.buffers[piece.getOperand()] == buffer)
          pieces.push_back(PieceAttr::getBuffer(piece.getSet().getValue(), out.operandFor(made),
                                                piece.getMap().getValue()));
        else
          pieces.push_back(piece);
      }
      ReadAttr own = ReadAttr::get(read.getContext(), pieces, 0);
      Type type = before.states.lookup(key).getType();
      Value value = addRead(out, state.wide ? widenRead(own, state.wide) : own, type, false);
      (to == &weightBuffers ? before.weights : before.means)[key] = value;
    }
  }
}

/// What else stands beside states: complements, scales, moments and their centres.
void BodyWriter::writeBeside(OpBuilder &bufferBuilder) {
  for (const StatePlan &state : plan.states)
    if (state.law == StatePlan::Apart) {
      std::tuple<unsigned, unsigned, MomentIndex> key{state.member, state.write, {}};
      Value like = before.states.lookup({state.member, state.write});
      momentBuffers[key] =
          makeBeside({state.member, state.write}, cast<RankedTensorType>(like.getType()),
                     bufferBuilder, before.moments[key], state.init);
    }
  for (const StatePlan &state : plan.states)
    for (const FactorTerm &term : state.terms)
      if (term.scale) {
        Key scale(term.scale->member, term.scale->read);
        after.scales[scale] = externals.lookup(scale);
      }
  for (const StatePlan &state : plan.states) {
    if (state.law != StatePlan::Moments)
      continue;
    if (!forms)
      forms = std::make_unique<OnlineForms>();
    Key key{state.member, state.write};
    auto type = cast<RankedTensorType>(before.states.lookup(key).getType());
    std::vector<MomentIndex> moments = state.getMoments();
    for (const MomentIndex &index : ArrayRef(moments).drop_back())
      momentBuffers[{key.first, key.second, index}] =
          makeBeside(key, type, bufferBuilder, before.moments[{key.first, key.second, index}]);
    for (const ShiftTerm &shift : state.shifts)
      for (const ShiftTerm::Part &part : shift.parts) {
        const Centre &centre = plan.centres[part.parameter];
        if (centre.kind != Centre::Value || centreBuffers.count(part.parameter))
          continue;
        RankedTensorType centreType = group.parameters[part.parameter].type;
        if (centre.wide)
          centreType = centreType.clone(centre.wide);
        Value made = makeBeside(key, centreType, bufferBuilder, before.centres[part.parameter]);
        centreBuffers[part.parameter] = {made, key};
      }
  }
}

/// The writes of all that, and the values that they take.
SmallVector<Value> BodyWriter::writeResults(BlockBuilder &out, ArrayRef<Key> kept) {
  Location location = *loc;
  SmallVector<Value> results;
  auto addWrite = [&](Key key, Value buffer, Value value) {
    BlockOp block = group.members[key.first].block;
    AffineMap map = alignMap(block.getWrite(key.second).getMap().getValue(), block, group.symbols);
    out.writes.push_back(
        WriteAttr::get(block.getContext(), out.operandFor(buffer), AffineMapAttr::get(map)));
    results.push_back(value);
  };
  auto bufferOf = [&](Key key) {
    BlockOp block = group.members[key.first].block;
    return block.getBuffers()[block.getWrite(key.second).getOperand()];
  };
  for (const StatePlan &state : plan.states) {
    Key key{state.member, state.write};
    addWrite(key, bufferOf(key), after.states[key]);
  }
  for (const StatePlan &state : plan.states) {
    Key key{state.member, state.write};
    if (state.law != StatePlan::Square)
      continue;
    addWrite(key, weightBuffers[key], after.weights[key]);
    addWrite(key, meanBuffers[key], after.means[key]);
  }
  for (auto &[moment, buffer] : momentBuffers)
    addWrite({std::get<0>(moment), std::get<1>(moment)}, buffer, after.moments[moment]);
  for (auto &[parameter, buffer] : centreBuffers)
    addWrite(buffer.second, buffer.first, after.centres[parameter]);
  for (Key key : kept) {
    Type declared = cast<BufferType>(bufferOf(key).getType()).getElement().getElementType();
    addWrite(key, bufferOf(key),
             convertElements(*builder, location, yields[key.first][key.second], declared));
  }
  return results;
}

void BodyWriter::write(BlockBuilder &out, ArrayRef<Key> kept, Location location,
                       OpBuilder &bufferBuilder) {
  loc = location;
  spec = &out;
  body = std::make_unique<Region>();
  body->push_back(new Block());
  builder = std::make_unique<OpBuilder>(location.getContext());
  builder->setInsertionPointToEnd(&body->front());
  yields.resize(group.members.size());
  for (const StatePlan &state : plan.states)
    if (state.wide) {
      // Its readers are put right after (`finish`).
      BlockOp block = group.members[state.member].block;
      Value buffer = block.getBuffers()[block.getWrite(state.write).getOperand()];
      auto type = cast<BufferType>(buffer.getType());
      buffer.setType(BufferType::get(type.getContext(), type.getLengths(),
                                     cast<RankedTensorType>(type.getElement().clone(state.wide))));
    }

  writeReads(out);
  writeWeights(out, bufferBuilder);
  writeBeside(bufferBuilder);
  for (unsigned m : plan.members) {
    yields[m] = writeMember(m);
    CorrectionBuilder make{*builder, location};
    for (unsigned w : getStateWrites(group.members[m]))
      after.states[{m, w}] = yields[m][w] =
          make.widen(yields[m][w], before.states.lookup({m, w}).getType());
  }

  SmallVector<Value> results = writeResults(out, kept);
  YieldOp::create(*builder, location, results);
  forms.reset();
  for (auto &[parameter, standIn] : standIns) {
    auto cast = standIn.getDefiningOp<UnrealizedConversionCastOp>();
    standIn.replaceAllUsesWith(cast.getOperand(0));
    cast.erase();
  }
  simplifyOnes(body->front());
}
