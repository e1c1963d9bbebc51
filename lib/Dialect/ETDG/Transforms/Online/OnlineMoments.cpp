//===- OnlineMoments.cpp - sums of products of shifted forms --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A state Σ h (x - π)ⁿ beside the moments Σ h (x - π)ᵏ, k < n, all around what stands
// for π so far: when that moves by δ, each becomes a polynomial in δ of those below it
// (Chan, Pébay). The moments are written by the bodies themselves, with some of the
// linear forms left out; nothing is ever summed around 0.
//
//===----------------------------------------------------------------------===//
#include "OnlineBody.h"
#include "OnlineWiden.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

//===----------------------------------------------------------------------===//
// Corrections
//===----------------------------------------------------------------------===//

static double choose(unsigned n, unsigned k) {
  double result = 1;
  for (unsigned i = 0; i < k; ++i)
    result = result * (n - i) / (i + 1);
  return result;
}

Value online::shiftMoment(CorrectionBuilder &make, const MomentIndex &index, ArrayRef<Value> shifts,
                          llvm::function_ref<Value(const MomentIndex &)> moment) {
  // Horner's rule, form by form: no power of a shift stands alone, where it might overflow although
  // the moments are 0.
  auto expand = [&](auto &self, MomentIndex prefix) -> Value {
    unsigned d = prefix.size();
    if (d == index.size())
      return moment(prefix);
    if (!shifts[d]) {
      prefix.push_back(index[d]);
      return self(self, prefix);
    }
    Value sum;
    for (unsigned i = 0; i <= index[d]; ++i) {
      MomentIndex longer = prefix;
      longer.push_back(i);
      Value term = self(self, longer);
      auto type = cast<RankedTensorType>(term.getType());
      if (double factor = choose(index[d], i); factor != 1)
        term = arith::MulFOp::create(make.builder, make.loc, term, make.splat(type, factor));
      if (sum) {
        sum = arith::MulFOp::create(make.builder, make.loc, sum, shifts[d]);
        term = arith::AddFOp::create(make.builder, make.loc, sum, term);
      }
      sum = term;
    }
    return sum;
  };
  return expand(expand, {});
}

/// What stands for a parameter that shifts terms.
Value BodyWriter::getStandIn(CorrectionBuilder &make, unsigned parameter, StateValues &values) {
  const Centre &centre = plan.centres[parameter];
  if (centre.kind == Centre::Running)
    return getRunning(make, centre, values);
  if (centre.kind == Centre::Mean)
    return values.means.lookup({centre.member, centre.write});
  Value &known = values.centres[parameter];
  if (known)
    return known;
  // What the parameter would be now; what it was taken for, where that is no finite number.
  Value old = before.centres[parameter];
  Value now = make.widen(evaluate(make, plan.evaluations.at(parameter), values), old.getType());
  Value zero = arith::SubFOp::create(make.builder, make.loc, now, now);
  Value finite = arith::CmpFOp::create(make.builder, make.loc, arith::CmpFPredicate::OEQ, zero,
                                       make.splat(cast<RankedTensorType>(old.getType()), 0.0));
  return known = arith::SelectOp::create(make.builder, make.loc, finite, now, old);
}

/// Of two partial results.
Value BodyWriter::joinCentres(CorrectionBuilder &make, unsigned parameter, StateValues (&sides)[2],
                              StateValues &joined) {
  // One that has seen nothing stands at 0.
  Value a = sides[0].centres[parameter], b = sides[1].centres[parameter];
  auto type = cast<RankedTensorType>(a.getType());
  Value zero = make.splat(type, 0.0);
  Value isNew = arith::CmpFOp::create(make.builder, make.loc, arith::CmpFPredicate::OEQ, a, zero);
  Value either = arith::SelectOp::create(make.builder, make.loc, isNew, b, a);
  const Evaluation &evaluation = plan.evaluations.at(parameter);
  if (evaluation.hasExternal())
    return either;
  Value now = make.widen(evaluate(make, evaluation, joined), type);
  Value difference = arith::SubFOp::create(make.builder, make.loc, now, now);
  Value finite =
      arith::CmpFOp::create(make.builder, make.loc, arith::CmpFPredicate::OEQ, difference, zero);
  return arith::SelectOp::create(make.builder, make.loc, finite, now, either);
}

Value BodyWriter::evaluateParameter(CorrectionBuilder &make, unsigned parameter,
                                    StateValues &values) {
  return evaluate(make, plan.evaluations.at(parameter), values);
}

Value BodyWriter::evaluate(CorrectionBuilder &make, const Evaluation &evaluation,
                           StateValues &values) {
  OpBuilder &at = make.builder;
  switch (evaluation.kind) {
  case Evaluation::State: {
    Value value = values.states.lookup({evaluation.member, evaluation.write});
    auto type = cast<RankedTensorType>(value.getType());
    const StatePlan *state = plan.getState(evaluation.member, evaluation.write);
    for (const FactorTerm &term : state->terms) {
      if (isAtCentre(group, plan, term))
        continue;
      Value parameter = make.widen(evaluateParameter(make, term.parameter, values), type);
      if (term.power) {
        Value factor = make.broadcast(parameter, term.dims, type);
        value = term.power > 0 ? arith::MulFOp::create(at, make.loc, value, factor).getResult()
                               : arith::DivFOp::create(at, make.loc, value, factor).getResult();
        continue;
      }
      Value centre = make.widen(getRunning(make, plan.centres[term.parameter], values), type);
      Value factor = make.expDifference(term.exponent, centre, parameter);
      value = arith::MulFOp::create(at, make.loc, value, make.broadcast(factor, term.dims, type));
    }
    return value;
  }
  case Evaluation::Block: {
    BlockOp block = evaluation.block;
    SmallVector<Value> arguments;
    for (auto [argument, read] : llvm::zip(block.getBody().getArguments(), evaluation.reads))
      arguments.push_back(make.widen(evaluate(make, read, values), argument.getType()));
    return cloneBody(at, block, arguments)[evaluation.index];
  }
  case Evaluation::External: {
    // The same for all j.
    BlockOp block = evaluation.block;
    ReadAttr read = importRead(*spec, group, block, block.getRead(evaluation.index));
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : read.getPieces()) {
      IntegerSet set = piece.getSet().getValue();
      AffineMap map = piece.getMap().getValue();
      pieces.push_back(PieceAttr::get(
          piece.getContext(),
          IntegerSetAttr::get(IntegerSet::get(group.numDims, set.getNumSymbols(),
                                              set.getConstraints(), set.getEqFlags())),
          piece.getKind(), piece.getOperand(),
          AffineMapAttr::get(AffineMap::get(group.numDims, map.getNumSymbols(), map.getResults(),
                                            map.getContext())),
          piece.getGathers(), piece.getValue()));
    }
    return addRead(*spec, ReadAttr::get(read.getContext(), pieces, 0),
                   block.getBody().getArgument(evaluation.index).getType(), true);
  }
  }
  return {};
}

/// The moment `index` of a state, made with what stood for parameters at `from`, as if made with
/// that at `to`. `value`: it, at `from`.
Value BodyWriter::correctMoment(CorrectionBuilder &make, const StatePlan &state,
                                const MomentIndex &index, Value value, StateValues &from,
                                StateValues &to, FactorCache *cache) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> shifts;
  for (const ShiftTerm &shift : state.shifts) {
    Value sum;
    for (const ShiftTerm::Part &part : shift.parts) {
      if (part.isLogarithm)
        continue;
      Value a = make.widen(getStandIn(make, part.parameter, from), type);
      Value b = make.widen(getStandIn(make, part.parameter, to), type);
      if (part.coefficient == -1)
        std::swap(a, b);
      Value shifted = arith::SubFOp::create(make.builder, make.loc, b, a);
      if (std::abs(part.coefficient) != 1 || part.coefficient > 0) {
        if (part.coefficient != 1)
          shifted = arith::MulFOp::create(
              make.builder, make.loc, shifted,
              make.splat(cast<RankedTensorType>(shifted.getType()), part.coefficient));
      }
      shifted = make.broadcast(shifted, part.dims, type);
      sum = sum ? arith::AddFOp::create(make.builder, make.loc, sum, shifted).getResult() : shifted;
    }
    shifts.push_back(sum);
  }
  return shiftMoment(make, index, shifts, [&](const MomentIndex &lower) {
    Value moment = lower == index ? value : from.moments.at({state.member, state.write, lower});
    return correctFactors(make, state, moment, from, to, cache);
  });
}

/// A buffer beside that of a state, with the same planes, that starts at 0; `value`: its last plane
/// so far.
Value BodyWriter::makeBeside(Key key, RankedTensorType type, OpBuilder &bufferBuilder, Value &value,
                             TypedAttr init) {
  const OnlineMember &member = group.members[key.first];
  BlockOp block = member.block;
  Value buffer = block.getBuffers()[block.getWrite(key.second).getOperand()];
  auto bufferOp = buffer.getDefiningOp<BufferOp>();
  auto made = BufferOp::create(
      bufferBuilder, *loc,
      BufferType::get(type.getContext(), cast<BufferType>(buffer.getType()).getLengths(), type),
      bufferOp.getLiveAttr(), StringAttr());
  ReadAttr read = importRead(*spec, group, block, block.getRead(member.stateReads[key.second]));
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    IntegerSet set = piece.getSet().getValue();
    if (piece.getKind() == SourceKind::Buffer && spec->buffers[piece.getOperand()] == buffer)
      pieces.push_back(
          PieceAttr::getBuffer(set, spec->operandFor(made), piece.getMap().getValue()));
    else
      pieces.push_back(PieceAttr::getSplat(
          set, init ? init : Builder(type.getContext()).getZeroAttr(type.getElementType())));
  }
  value = addRead(*spec, ReadAttr::get(read.getContext(), pieces, 0), type, false);
  return made;
}

static SmallVector<unsigned, 4> getPowers(const ValueForm &form) {
  SmallVector<unsigned, 4> powers;
  if (std::optional<ShiftedProduct> product = form.getProduct())
    for (const ShiftedForm &shifted : product->forms)
      powers.push_back(shifted.power);
  return powers;
}

/// Finds the forms of what a member's body has just written (after `mark`), and writes the moments
/// of its states.
void BodyWriter::writeMoments(unsigned m, ArrayRef<Value> arguments, Operation *mark,
                              MutableArrayRef<Value> results) {
  const OnlineMember &member = group.members[m];
  auto getFirst = [&]() -> Operation * {
    return mark ? mark->getNextNode() : body->front().empty() ? nullptr : &body->front().front();
  };
  // As in the plan: what is equal has one name.
  if (Operation *first = getFirst())
    operationsSoFar.share(first, results);
  yields[m].assign(results.begin(), results.end());
  SmallVector<Operation *> operations;
  for (Operation *op = getFirst(); op; op = op->getNextNode())
    operations.push_back(op);
  SmallVector<unsigned> states = getStateWrites(member);
  std::vector<std::optional<ValueForm>> known(states.size());
  bool hasMoments = false;
  for (auto [n, w] : llvm::enumerate(states)) {
    hasMoments |= plan.getState(m, w)->law == StatePlan::Moments;
    if (!member.isDependent) {
      known[n].emplace();
      known[n]->factor.emplace();
    }
  }
  for (unsigned round = 0; round < (states.empty() ? 1 : 3); ++round) {
    for (auto [n, w] : llvm::enumerate(states))
      forms->declareState(arguments[member.stateReads[w]], n, known[n] ? &*known[n] : nullptr,
                          std::nullopt);
    for (Operation *op : operations)
      forms->visit(op);
    for (auto [n, w] : llvm::enumerate(states)) {
      ValueForm form = forms->get(yields[m][w]);
      if (form.unknownState || (form.touched.empty() && !form.touchesMore)) {
        form = ValueForm();
        form.factor.emplace();
      }
      if (member.isDependent)
        known[n] = form;
    }
  }
  if (!hasMoments)
    return;
  CorrectionBuilder make{*builder, *loc};
  std::map<std::pair<void *, MomentIndex>, Value> corrected;
  for (unsigned w : states) {
    const StatePlan *state = plan.getState(m, w);
    std::vector<MomentIndex> moments = state->getMoments();
    if (state->law != StatePlan::Moments)
      continue;
    for (const MomentIndex &index : ArrayRef(moments).drop_back())
      corrected[{arguments[member.stateReads[w]].getAsOpaquePointer(), index}] = correctMoment(
          make, *state, index, before.moments[{m, w, index}], before, after, &factors);
  }
  MomentWriter moments(*forms, *builder, corrected);
  for (unsigned w : states) {
    const StatePlan *state = plan.getState(m, w);
    std::vector<MomentIndex> indices = state->getMoments();
    if (state->law != StatePlan::Moments)
      continue;
    // Forms that fell together in the plan must do so here.
    failed |= ArrayRef(getPowers(forms->get(yields[m][w]))) != ArrayRef(indices.back());
    for (const MomentIndex &index : ArrayRef(indices).drop_back()) {
      Value moment = failed ? Value() : moments.write(yields[m][w], index);
      failed |= !moment;
      Value state = before.states.lookup({m, w});
      after.moments[{m, w, index}] = moment ? make.widen(moment, state.getType()) : state;
    }
  }
}

//===----------------------------------------------------------------------===//
// Writing moments
//===----------------------------------------------------------------------===//

/// Whether a value is one of the linear forms itself.
static bool isLinearInParameters(OnlineForms &forms, const ValueForm &form, Value value) {
  if (form.shifted && value.getDefiningOp<math::LogOp>())
    return true;
  return form.linear && !OnlineForms::isScaled(*form.linear) &&
         !forms.getParameterTerms(*form.linear).empty();
}

static Value makeOne(OpBuilder &builder, Location loc, Type type) {
  auto one = builder.getFloatAttr(getElementTypeOrSelf(type), 1.0);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(tensor, Attribute(one)));
  return arith::ConstantOp::create(builder, loc, one);
}

/// An elementwise operation with less of its forms; `write` gives operands with less of theirs.
static Value writeElementwise(Operation *op, const MomentIndex &index, OnlineForms &forms,
                              OpBuilder &builder,
                              llvm::function_ref<Value(Value, const MomentIndex &)> write) {
  auto full = [&](Value value) { return write(value, getPowers(forms.get(value))); };
  // Zeros go with everything.
  auto part = [&](Value value) {
    ValueForm form = forms.get(value);
    return form.isZero() ? full(value) : write(value, index);
  };
  auto clone = [&](ArrayRef<Value> operands) -> Value {
    if (llvm::is_contained(operands, Value()))
      return {};
    IRMapping mapping;
    for (auto [from, to] : llvm::zip(op->getOperands(), operands))
      mapping.map(from, to);
    Operation *made = builder.cloneWithoutRegions(*op, mapping);
    made->setOperands(operands);
    return made->getResult(0);
  };
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return clone({part(op->getOperand(0)), part(op->getOperand(1))});
  if (isa<arith::SelectOp>(op))
    return clone({full(op->getOperand(0)), part(op->getOperand(1)), part(op->getOperand(2))});
  if (isa<arith::NegFOp, arith::ExtFOp>(op))
    return clone({part(op->getOperand(0))});
  if (isa<arith::DivFOp>(op))
    return clone({part(op->getOperand(0)), full(op->getOperand(1))});
  if (!isa<arith::MulFOp>(op))
    return {};
  std::optional<ShiftedProduct> a = forms.get(op->getOperand(0)).getProduct(),
                                b = forms.get(op->getOperand(1)).getProduct();
  if (!a || !b)
    return {};
  SmallVector<unsigned> places;
  (void)ShiftedProduct::multiply(*a, *b, &places);
  MomentIndex left = index, lefts, rights;
  for (auto [i, place] : llvm::enumerate(places)) {
    bool first = i < a->forms.size();
    unsigned power = first ? a->forms[i].power : b->forms[i - a->forms.size()].power;
    unsigned taken = std::min(power, left[place]);
    left[place] -= taken;
    (first ? lefts : rights).push_back(taken);
  }
  return clone({write(op->getOperand(0), lefts), write(op->getOperand(1), rights)});
}

namespace mlir::etdg::online {
/// The body of a structured operation with less of its forms: what it reads becomes inputs, each in
/// the powers that are needed.
class ScalarMomentWriter {
public:
  ScalarMomentWriter(MomentWriter &outer, linalg::LinalgOp op) : outer(outer), op(op) {}
  Value write(unsigned result, const MomentIndex &index);

private:
  Value writeScalar(Value value, const MomentIndex &index);
  Value read(BlockArgument argument, const MomentIndex &index);

  MomentWriter &outer;
  linalg::LinalgOp op;
  std::unique_ptr<OpBuilder> inside;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<BlockArgument> arguments;
  std::map<std::pair<void *, MomentIndex>, Value> known;
  Value init;
  BlockArgument out, newOut;
  MomentIndex outIndex;
};
} // namespace mlir::etdg::online

Value ScalarMomentWriter::read(BlockArgument argument, const MomentIndex &index) {
  if (argument == out) {
    outIndex = index;
    return newOut;
  }
  for (OpOperand *operand : op.getDpsInputOperands())
    if (op.getMatchingBlockArgument(operand) == argument) {
      Value tensor = outer.write(operand->get(), index);
      if (!tensor)
        return {};
      inputs.push_back(tensor);
      maps.push_back(op.getMatchingIndexingMap(operand));
      arguments.push_back(
          newOut.getOwner()->insertArgument(newOut.getOwner()->getNumArguments() - 1,
                                            getElementTypeOrSelf(tensor.getType()), op.getLoc()));
      return arguments.back();
    }
  return {};
}

Value ScalarMomentWriter::writeScalar(Value value, const MomentIndex &index) {
  const ValueForm form = outer.forms.get(value);
  Value &mine = known[{value.getAsOpaquePointer(), index}];
  if (mine)
    return mine;
  Value made;
  bool full = ArrayRef(index) == ArrayRef(getPowers(form));
  Operation *def = value.getDefiningOp();
  if (!full && isLinearInParameters(outer.forms, form, value)) {
    made = makeOne(*inside, op.getLoc(), value.getType());
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    made = argument.getOwner() == op.getBlock() ? read(argument, index) : Value();
  } else if (def->getBlock() != op.getBlock()) {
    made = full ? value : Value();
  } else if (full) {
    IRMapping mapping;
    for (Value operand : def->getOperands()) {
      Value each = writeScalar(operand, getPowers(outer.forms.get(operand)));
      if (!each)
        return {};
      mapping.map(operand, each);
    }
    made = inside->clone(*def, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  } else {
    made = writeElementwise(def, index, outer.forms, *inside,
                            [&](Value v, const MomentIndex &i) { return writeScalar(v, i); });
  }
  return known[{value.getAsOpaquePointer(), index}] = made;
}

Value ScalarMomentWriter::write(unsigned result, const MomentIndex &index) {
  Block &from = *op.getBlock();
  OpOperand *operand = op.getDpsInitOperand(result);
  out = op.getMatchingBlockArgument(operand);
  auto region = std::make_unique<Region>();
  auto *block = new Block();
  region->push_back(block);
  newOut = block->addArgument(out.getType(), op.getLoc());
  inside = std::make_unique<OpBuilder>(op.getContext());
  inside->setInsertionPointToEnd(block);
  outIndex = index;
  Value value = writeScalar(from.getTerminator()->getOperand(result), index);
  if (!value)
    return {};
  linalg::YieldOp::create(*inside, op.getLoc(), value);
  // The loops' extents follow from what it read before, too.
  for (OpOperand *input : op.getDpsInputOperands()) {
    bool isRead = llvm::is_contained(maps, op.getMatchingIndexingMap(input));
    if (isRead)
      continue;
    inputs.push_back(input->get());
    maps.push_back(op.getMatchingIndexingMap(input));
    block->insertArgument(block->getNumArguments() - 1,
                          getElementTypeOrSelf(input->get().getType()), op.getLoc());
  }
  ValueForm start = outer.forms.get(operand->get());
  Value init =
      start.isZero() || newOut.use_empty() ? operand->get() : outer.write(operand->get(), outIndex);
  if (!init)
    return {};
  maps.push_back(op.getMatchingIndexingMap(operand));
  auto made = linalg::GenericOp::create(outer.builder, op.getLoc(), TypeRange(init.getType()),
                                        inputs, ValueRange(init), maps, op.getIteratorTypesArray());
  made.getRegion().takeBody(*region);
  return made.getResult(0);
}

Value MomentWriter::write(Value value, const MomentIndex &index) {
  auto key = std::pair(value.getAsOpaquePointer(), index);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  const ValueForm form = forms.get(value);
  if (ArrayRef(index) == ArrayRef(getPowers(form)) || form.isZero())
    return value;
  Operation *op = value.getDefiningOp();
  Value made;
  if (isLinearInParameters(forms, form, value))
    made = makeOne(builder, value.getLoc(), value.getType());
  else if (!op)
    return {};
  else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    made =
        ScalarMomentWriter(*this, structured).write(cast<OpResult>(value).getResultNumber(), index);
  else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    if (Value source = write(op->getOperand(0), index)) {
      IRMapping mapping;
      mapping.map(op->getOperand(0), source);
      made = builder.clone(*op, mapping)->getResult(0);
    }
  } else if (op->getNumResults() == 1 && op->getNumRegions() == 0)
    made = writeElementwise(op, index, forms, builder,
                            [&](Value v, const MomentIndex &i) { return write(v, i); });
  return known[key] = made;
}
