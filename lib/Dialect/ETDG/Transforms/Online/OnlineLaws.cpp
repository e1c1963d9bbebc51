//===- OnlineLaws.cpp - how each state follows the parameters -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The members' bodies one after the other, with parameters as free values: what
// follows from knowing nothing of the states must follow again from itself.
//
//===----------------------------------------------------------------------===//
#include "OnlinePlanner.h"
#include "OnlineWiden.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

TypedAttr Planner::getInit(unsigned m, unsigned write) {
  const OnlineMember &member = group.members[m];
  BlockOp block = member.block;
  Value self = block.getBuffers()[block.getWrite(write).getOperand()];
  TypedAttr init;
  for (PieceAttr piece : block.getRead(member.stateReads[write]).getPieces()) {
    if (piece.getKind() == SourceKind::Buffer && block.getBuffers()[piece.getOperand()] == self)
      continue;
    if (piece.getKind() != SourceKind::Splat || (init && init != piece.getValue()))
      return {};
    init = piece.getValue();
  }
  return init;
}

std::optional<double> Planner::getInitNumber(unsigned m, unsigned write) {
  TypedAttr init = getInit(m, write);
  if (auto number = dyn_cast_or_null<FloatAttr>(init))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(init);
      number && number.getValue().getSignificantBits() <= 53)
    return static_cast<double>(number.getValue().getSExtValue());
  return std::nullopt;
}

/// Whether `x`, seen from the element of the parameter that `parameter` names, is bounded by the
/// centre: x ≤ centre (`upper`), and the centre never moves the other way.
bool Planner::isBound(const Centre &centre, const Combination &x, const ElementAtom &parameter,
                      bool upper, bool sameConstant) {
  Value value = yields[centre.member][centre.write];
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  const ValueForm &form = forms->get(value);
  Combination self;
  self.terms[forms->atomOf(stateArgs.lookup({centre.member, centre.write}))] = 1;
  bool moves = false, bounds = false;
  for (const ElementBound &bound : form.bounds) {
    if (bound.upper != upper)
      continue;
    moves |= bound.form == self;
    if (bound.form.terms.size() != x.terms.size() || x.terms.empty() ||
        (sameConstant && bound.form.constant != x.constant))
      continue;
    SmallVector<int64_t> free;
    bool same = true;
    for (auto [mine, theirs] : llvm::zip(bound.form.terms, x.terms)) {
      const auto &[atom, coefficient] = mine;
      const auto &[other, otherCoefficient] = theirs;
      same &= atom.root == other.root && atom.dims.size() == other.dims.size() &&
              std::abs(coefficient - otherCoefficient) <= 1e-9 * std::abs(coefficient);
      if (!same)
        break;
      for (auto [d, e] : llvm::zip(atom.dims, other.dims)) {
        if (d < 0 || d < rank) {
          same &= (d < 0 ? -1 : parameter.dims[d]) == e;
          continue;
        }
        unsigned place = d - rank;
        if (free.size() <= place)
          free.resize(place + 1, -3);
        same &= free[place] == -3 || free[place] == e;
        free[place] = e;
      }
    }
    bounds |= same;
  }
  return moves && bounds;
}

bool Planner::takeCentre(unsigned m, Operation *op, unsigned parameter, Centre centre) {
  Centre &mine = plan.centres[parameter];
  if (mine.kind == Centre::None || mine == centre) {
    mine = centre;
    return true;
  }
  // A running maximum serves sums of squares, too.
  if (!avoidsMeans && (mine.kind == Centre::Mean || centre.kind == Centre::Mean)) {
    avoidsMeans = restarts = true;
    return false;
  }
  exclude(m, op, "needs the same value in two forms at once");
  return false;
}

static std::string nameOf(Operation *op) { return op->getName().getStringRef().str(); }

bool Planner::checkExponentials(unsigned m, size_t from) {
  for (const ParameterExponential &use : ArrayRef(forms->exponentials).drop_front(from)) {
    Operation *op = originalOf(use.op);
    std::map<ElementAtom, double> parameters = forms->getParameterTerms(use.argument);
    if (parameters.size() != 1) {
      exclude(m, op, "'" + nameOf(op) + "' depends on more than one last state");
      return false;
    }
    auto [atom, coefficient] = *parameters.begin();
    unsigned parameter = parameterOf(atom);
    Combination x = use.argument;
    x.terms.erase(atom);
    x.scale(-1 / coefficient);
    if (atom.scale) {
      // exp(a c (x - π)) with any c: either bound does, the correction is never greater than what
      // the program's own terms would have been.
      Combination unscaled;
      bool alike = x.constant == 0;
      for (const auto &[each, factor] : x.terms) {
        alike &= each.scale == atom.scale && each.scaleDims == atom.scaleDims &&
                 each.inverse == atom.inverse;
        unscaled.terms[each.getUnscaled()] = factor;
      }
      if (!alike) {
        exclude(m, op, "only a part of the argument of '" + nameOf(op) + "' is scaled");
        return false;
      }
      x = unscaled;
    }
    // exp(a (x - π)): what stands for π must be at least every x so far where a > 0.
    bool upper = coefficient < 0;
    SmallVector<Centre> candidates;
    const Parameter &info = group.parameters[parameter];
    if (info.lastPlane)
      candidates.push_back({Centre::Running, info.lastPlane->first, info.lastPlane->second});
    for (unsigned r : plan.members)
      for (unsigned w = 0; w < group.members[r].block.getNumWrites(); ++w)
        if (group.members[r].isState(w))
          candidates.push_back({Centre::Running, r, w});
    auto it = llvm::find_if(candidates, [&](const Centre &centre) {
      return included.test(centre.member) && !group.members[centre.member].isDependent &&
             yields[centre.member][centre.write].getType() == info.type &&
             (isBound(centre, x, atom, upper, /*sameConstant=*/false) ||
              (atom.scale && isBound(centre, x, atom, !upper, /*sameConstant=*/false)));
    });
    if (it != candidates.end() && atom.scale)
      upper = isBound(*it, x, atom, true, /*sameConstant=*/false);
    if (it == candidates.end()) {
      exclude(m, op,
              "'" + nameOf(op) + "' may overflow before the end: no running " +
                  (upper ? "maximum" : "minimum") + " of its argument is computed in this loop");
      return false;
    }
    std::optional<double> init = getInitNumber(it->member, it->write);
    it->clamps = !init || !std::isfinite(*init);
    it->rises = upper;
    if (!takeCentre(m, op, parameter, *it))
      return false;
  }
  return true;
}

/// Whether no parameter has any influence on a value.
static bool isUntouched(const ValueForm &form) { return form.touched.empty() && !form.touchesMore; }

/// What scales an atom, if some member reads it whole and alike in all iterations.
std::optional<FactorTerm::Scale> Planner::getScale(const ElementAtom &atom) {
  auto it = externalArgs.find(forms->getRoot(*atom.scale));
  if (it == externalArgs.end())
    return std::nullopt;
  auto [m, r] = it->second;
  BlockOp block = group.members[m].block;
  if (group.members[m].reads[r].kind != ReadRole::External)
    return std::nullopt;
  unsigned j = group.numDims - 1;
  for (PieceAttr piece : block.getRead(r).getPieces()) {
    bool varies = !piece.getGathers().empty() || piece.getKind() == SourceKind::Index;
    for (AffineExpr result : piece.getMap().getValue().getResults())
      varies |= result.isFunctionOfDim(j);
    for (AffineExpr constraint : piece.getSet().getValue().getConstraints())
      varies |= constraint.isFunctionOfDim(j);
    if (varies)
      return std::nullopt;
  }
  return FactorTerm::Scale{m, r, atom.scaleDims, atom.inverse};
}

/// Writes down how a state follows exponentials and powers of parameters.
bool Planner::takeFactor(StatePlan &state, const ParameterFactor &factor) {
  unsigned m = state.member;
  for (const auto &[atom, exponent] : factor.exponents) {
    FactorTerm term{parameterOf(atom), atom.dims, exponent, 0};
    if (atom.scale) {
      term.scale = getScale(atom);
      if (!term.scale || !isAtCentre(group, plan, term)) {
        exclude(m, nullptr,
                term.scale ? "what scales its exponent would scale a step after the loop, too"
                           : "what scales its exponent is not the same in all iterations");
        return false;
      }
    }
    state.terms.push_back(term);
  }
  for (const auto &[atom, power] : factor.powers) {
    if (std::abs(power) != 1) {
      exclude(m, nullptr,
              "power " + std::to_string(power) +
                  " of a last state: taken out of the sum, the terms might overflow");
      return false;
    }
    state.terms.push_back({parameterOf(atom), atom.dims, 0, power});
    if (!takeCentre(m, nullptr, parameterOf(atom), {Centre::One, 0, 0}))
      return false;
  }
  // What stood for the parameter moves one way: the correction must shrink the state.
  for (const FactorTerm &term : state.terms)
    if (term.exponent != 0 && !term.scale &&
        (term.exponent < 0) != plan.centres[term.parameter].rises) {
      exclude(m, nullptr, "its terms are divided by an exponential: the correction would grow");
      return false;
    }
  return true;
}

/// Writes down how a state follows parameters that shift its terms.
bool Planner::takeShifts(StatePlan &state, const ValueForm &form) {
  constexpr unsigned maxMoments = 9; // of powers 0 to 8: corrections grow with their square
  state.law = StatePlan::Moments;
  for (const ShiftedForm &shifted : form.shifted->forms) {
    ShiftTerm term;
    term.power = shifted.power;
    for (const auto &[atom, coefficient] : shifted.parameters) {
      term.parts.push_back({parameterOf(atom), atom.dims, coefficient});
      shiftedBy.try_emplace(parameterOf(atom), state.member);
    }
    for (const auto &[atom, coefficient] : shifted.logarithms) {
      term.parts.push_back({parameterOf(atom), atom.dims, coefficient, true});
      if (!takeCentre(state.member, nullptr, parameterOf(atom), {Centre::One, 0, 0}))
        return false;
    }
    state.shifts.push_back(term);
  }
  if (state.getMoments().size() > maxMoments) {
    exclude(state.member, nullptr,
            "needs " + std::to_string(state.getMoments().size() - 1) + " moments beside its state");
    return false;
  }
  return takeFactor(state, form.shifted->factor);
}

/// A state is as wide as the widest of what corrects it, and f32 at least; false where that is no floating-point number.
bool Planner::widen(StatePlan &state, unsigned parameter) const {
  BlockOp block = group.members[state.member].block;
  Type own = cast<RankedTensorType>(block.getYield().getOperand(state.write).getType()).getElementType();
  Type element = group.parameters[parameter].type.getElementType();
  FloatType wide = options.narrowStates && element == own ? FloatType()
                                                          : getWideType(state.wide ? state.wide : own, element);
  if (wide && wide != own)
    state.wide = wide;
  return isa<FloatType>(element);
}

/// The law of a sum of squared differences from a last state.
bool Planner::takeSquare(StatePlan &state, const ValueForm &form, RankedTensorType type) {
  unsigned m = state.member, write = state.write;
  std::map<ElementAtom, double> terms = forms->getParameterTerms(form.squared);
  if (terms.size() != 1) {
    exclude(m, originalOf(form.square), "squares a difference from more than one last state");
    return false;
  }
  auto [atom, coefficient] = *terms.begin();
  state.law = StatePlan::Square;
  state.parameter = parameterOf(atom);
  state.coefficient = coefficient;
  state.square = originalOf(form.square);
  auto identity = llvm::to_vector_of<int64_t, 4>(llvm::seq<int64_t>(0, type.getRank()));
  if (atom.dims != identity || !widen(state, state.parameter) ||
      group.parameters[state.parameter].type.getShape() != type.getShape()) {
    exclude(m, state.square,
            "each element of its state holds differences from one element of "
            "the last state, and this one doesn't");
    return false;
  }
  plan.states.push_back(state);
  Centre mean{Centre::Mean, m, write};
  FloatType running = state.wide ? state.wide : cast<FloatType>(type.getElementType());
  if (running != group.parameters[state.parameter].type.getElementType())
    mean.wide = running;
  return takeCentre(m, state.square, state.parameter, mean);
}

/// Writes down the law of a state.
bool Planner::takeForm(unsigned m, unsigned write, const ValueForm &form, bool select) {
  BlockOp block = group.members[m].block;
  auto type = cast<RankedTensorType>(block.getYield().getOperand(write).getType());
  StatePlan state;
  state.member = m;
  state.write = write;
  state.init = getInit(m, write);
  if (isUntouched(form)) {
    plan.states.push_back(state);
    return true;
  }
  if (select) {
    if (form.touchesMore || form.touched.size() != 1) {
      exclude(m, nullptr, "an element of its state depends on several of the last state");
      return false;
    }
    if (!state.init) {
      exclude(m, nullptr, "its initial state is no constant");
      return false;
    }
    state.law = StatePlan::Select;
    state.parameter = parameterOf(form.touched.front());
    state.dims = form.touched.front().dims;
    plan.states.push_back(state);
    return true;
  }
  // Zero is what every correction leaves alone.
  auto zero = dyn_cast_or_null<FloatAttr>(state.init);
  if (!zero || !zero.getValue().isZero()) {
    exclude(m, nullptr, "its initial state is not 0: the correction would change it");
    return false;
  }
  if (form.shifted && (!form.square || avoidsMeans)) {
    if (!takeShifts(state, form))
      return false;
    for (const FactorTerm &term : state.terms)
      widen(state, term.parameter);
    for (const ShiftTerm &shift : state.shifts)
      for (const ShiftTerm::Part &part : shift.parts)
        widen(state, part.parameter);
    plan.states.push_back(state);
    return true;
  }
  if (form.square)
    return takeSquare(state, form, type);
  state.law = StatePlan::Factor;
  if (!takeFactor(state, *form.factor))
    return false;
  for (const FactorTerm &term : state.terms)
    if (!widen(state, term.parameter)) {
      exclude(m, nullptr, "the last state is no floating-point number");
      return false;
    }
  plan.states.push_back(state);
  return true;
}

static bool sameLaw(const ValueForm &a, const ValueForm &b) {
  return a.factor == b.factor && a.square == b.square &&
         a.shifted.has_value() == b.shifted.has_value() &&
         (!a.shifted || a.shifted->movesLike(*b.shifted));
}
static bool isLawful(const ValueForm &form) { return form.factor || form.square || form.shifted; }

/// One pass over a member, where so much is known of its states.
void Planner::pass(unsigned m, const States &states, const Known &known) {
  forms->exponentials.resize(states.numExponentials);
  forms->matches.resize(states.numMatches);
  for (auto [n, w] : llvm::enumerate(states.writes))
    forms->declareState(stateArgs.lookup({m, w}), n, known[n] ? &*known[n] : nullptr,
                        getInitNumber(m, w));
  for (Operation *op : operations[m])
    forms->visit(op);
}

/// The other way to follow: what was chosen by a comparison that no longer holds is forgotten.
std::optional<bool> Planner::takeSelected(unsigned m, const States &states, Known &known) {
  for (auto &form : known) {
    if (isUntouched(*form))
      continue;
    form->factor.reset();
    form->square = nullptr;
    form->shifted.reset();
  }
  pass(m, states, known);
  bool selects = !forms->matches.empty();
  for (auto [n, w] : llvm::enumerate(states.writes)) {
    const ValueForm &form = forms->get(yields[m][w]);
    bool isKept = form.whenFalse.kind == WhenFalse::State && form.whenFalse.state == n;
    selects &= (isKept || isUntouched(form)) && form.touched == known[n]->touched;
  }
  if (!selects)
    return std::nullopt;
  if (!checkMatches(m, states.writes, states.numMatches))
    return false;
  for (unsigned w : states.writes)
    if (!takeForm(m, w, forms->get(yields[m][w]), /*select=*/true))
      return false;
  return true;
}

/// Or what is not equal to a maximum: what was equal to the old one joins when it changes.
std::optional<bool> Planner::takeUnequal(unsigned m, const States &states, const Known &known) {
  if (states.writes.size() != 1)
    return std::nullopt;
  // The comparison may be in a map before.
  SmallVector<ParameterMatch, 2> matches = forms->matches;
  SmallVector<ParameterExponential, 2> exponentials = forms->exponentials;
  ValueForm form;
  for (bool hold : {true, false}) {
    forms->matchesHold = hold;
    for (unsigned other : plan.members)
      if (other != m && group.members[other].isDependent)
        for (Operation *op : operations[other])
          forms->visit(op);
    pass(m, states, known);
    if (hold)
      form = forms->get(yields[m][states.writes.front()]);
  }
  forms->matches = matches;
  forms->exponentials = exponentials;
  bool compares = llvm::any_of(matches, [&](const ParameterMatch &match) {
    return form.touched.size() == 1 && match.parameter.root == form.touched.front().root;
  });
  if (compares && form.whenFalse.kind == WhenFalse::State && form.whenFalse.state == 0 &&
      form.touched == known[0]->touched)
    return checkMatches(m, states.writes, states.numMatches) && takeApart(m, states.writes.front(), form, states.numMatches);
  return std::nullopt;
}

bool Planner::analyseMember(unsigned m) {
  const OnlineMember &member = group.members[m];
  BlockOp block = member.block;
  States states;
  for (unsigned w = 0; w < block.getNumWrites(); ++w)
    if (member.isState(w))
      states.writes.push_back(w);
  states.numExponentials = forms->exponentials.size();
  states.numMatches = forms->matches.size();
  // What follows from knowing nothing of the states must follow again from itself.
  std::vector<std::optional<ValueForm>> known(states.writes.size());
  if (!member.isDependent) {
    ValueForm invariant;
    invariant.factor.emplace();
    known.assign(states.writes.size(), invariant);
    pass(m, states, known);
    for (unsigned w : states.writes)
      plan.states.push_back({m, w, StatePlan::Invariant, {}, 0, {}, 0, nullptr, getInit(m, w), {}});
    return true;
  }
  pass(m, states, known);
  bool lawful = true;
  ValueForm failed;
  for (unsigned round = 0; round < 3; ++round) {
    lawful = true;
    bool stable = true;
    for (auto [n, w] : llvm::enumerate(states.writes)) {
      ValueForm form = forms->get(yields[m][w]);
      // The state as it was, or one that has nothing to do with parameters.
      if (form.unknownState || isUntouched(form)) {
        form = ValueForm();
        form.factor.emplace();
      }
      lawful &= isLawful(form);
      stable &= known[n] && sameLaw(*known[n], form) && known[n]->touched == form.touched;
      if (!isLawful(form))
        failed = form;
      known[n] = form;
    }
    if (!lawful || stable)
      break;
    pass(m, states, known);
    if (round == 2)
      lawful = false;
  }
  if (lawful) {
    if (!checkExponentials(m, states.numExponentials))
      return false;
    for (auto [n, w] : llvm::enumerate(states.writes))
      if (!takeForm(m, w, *known[n], /*select=*/false))
        return false;
    return true;
  }

  if (std::optional<bool> taken = takeSelected(m, states, known))
    return *taken;
  if (std::optional<bool> taken = takeUnequal(m, states, known))
    return *taken;
  Operation *culprit = failed.culprit ? originalOf(failed.culprit) : nullptr;
  exclude(m, culprit,
          culprit ? "'" + nameOf(culprit) + "' does not factor: " + failed.reason.str()
                  : "what it adds changes from iteration to iteration");
  return false;
}

/// What a member's body takes, as values of the tape.
SmallVector<Value> Planner::argumentsOf(unsigned m, Block *block, BlockBuilder &reads,
                                        llvm::DenseMap<std::pair<Attribute, Type>, Value> &externals) {
  const OnlineMember &member = group.members[m];
  BlockOp from = member.block;
  Location unknown = UnknownLoc::get(from.getContext());
  SmallVector<Value> arguments;
  for (auto [r, role] : llvm::enumerate(member.reads)) {
    Type type = from.getBody().getArgument(r).getType();
    if (role.kind == ReadRole::Internal && included.test(role.member)) {
      arguments.push_back(yields[role.member][role.write]);
    } else if (role.kind == ReadRole::Parameter) {
      arguments.push_back(parameterArgs[role.parameter]);
    } else if (role.kind == ReadRole::State) {
      arguments.push_back(block->addArgument(type, unknown));
      stateArgs[{m, role.write}] = arguments.back();
    } else {
      Value &value = externals[{importRead(reads, group, from, from.getRead(r)), type}];
      if (!value) {
        value = block->addArgument(type, unknown);
        externalArgs[value] = {m, r};
      }
      arguments.push_back(value);
    }
  }
  return arguments;
}

/// Puts the bodies one after the other and finds the law of each state.
bool Planner::analyse() {
  plan = OnlinePlan();
  shiftedBy.clear();
  plan.centres.resize(group.parameters.size());
  for (bool dependent : {false, true})
    for (unsigned m : included.set_bits())
      if (group.members[m].isDependent == dependent)
        plan.members.push_back(m);
  forms = std::make_unique<OnlineForms>();
  tape = std::make_unique<Region>();
  original.clear();
  operationsSoFar = {};
  stateArgs.clear();
  externalArgs.clear();
  yields.assign(group.members.size(), {});
  operations.assign(group.members.size(), {});
  auto *block = new Block();
  tape->push_back(block);
  OpBuilder builder(group.members.front().block.getContext());
  builder.setInsertionPointToEnd(block);
  parameterArgs.clear();
  for (const Parameter &parameter : group.parameters) {
    parameterArgs.push_back(block->addArgument(parameter.type, builder.getUnknownLoc()));
    forms->declareParameter(parameterArgs.back());
  }
  BlockBuilder reads;
  llvm::BitVector failed(group.members.size());
  llvm::DenseMap<std::pair<Attribute, Type>, Value> externals;
  for (unsigned m : plan.members) {
    const OnlineMember &member = group.members[m];
    BlockOp from = member.block;
    SmallVector<Value> arguments = argumentsOf(m, block, reads, externals);
    Operation *before = block->empty() ? nullptr : &block->back();
    yields[m] = cloneBody(builder, from, arguments, &original);
    operationsSoFar.share(before           ? before->getNextNode()
                          : block->empty() ? nullptr
                                           : &block->front(),
                          yields[m]);
    for (Operation *op = before           ? before->getNextNode()
                         : block->empty() ? nullptr
                                          : &block->front();
         op; op = op->getNextNode())
      operations[m].push_back(op);
    // One that fails takes along those that read it; the others are looked at in the same round.
    bool readsFailed = llvm::any_of(member.reads, [&](const ReadRole &role) {
      return role.kind == ReadRole::Internal && member.isDependent && failed.test(role.member);
    });
    SmallVector<Centre> centres = plan.centres;
    size_t numStates = plan.states.size();
    if (readsFailed || !analyseMember(m)) {
      if (restarts)
        break;
      failed.set(m);
      plan.centres = centres;
      plan.states.resize(numStates);
    }
  }
  if (std::exchange(restarts, false))
    return analyse();
  if (failed.any() || !findCentres() || !checkMoments())
    return false;
  // Whatever reads a parameter has something to stand for it.
  for (unsigned m : plan.members)
    for (const ReadRole &role : group.members[m].reads)
      if (role.kind == ReadRole::Parameter && plan.centres[role.parameter].kind == Centre::None &&
          !parameterArgs[role.parameter].use_empty()) {
        exclude(m, nullptr, "reads a last state on which no state of it depends");
        return false;
      }
  return true;
}
