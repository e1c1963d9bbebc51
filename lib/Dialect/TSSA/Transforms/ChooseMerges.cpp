//===- ChooseMerges.cpp - merges as choices -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `v = a[0] if c else b[i]; v.add_(1)`: control flow carries which alternative v is, and
// the numbers of its steps; a read or write branches on it. Loops find the alternatives of
// their carried names by iteration. Storage that a loop's body makes and carries on lives
// in a slot: its contents are carried.
//
//===----------------------------------------------------------------------===//
#include "Merges.h"

using namespace mlir;
using namespace mlir::tssa;

// More alternatives, or longer chains, come from loops that take a view of a view each time.
static constexpr size_t maxAlternatives = 8, maxSteps = 10;

//===----------------------------------------------------------------------===//
// Steps with holes
//===----------------------------------------------------------------------===//

/// Two permutations in a row are one; the identity goes.
static void normalize(Steps &steps) {
  for (size_t i = 0; i < steps.size();) {
    if (steps[i].kind != StepKind::Permute) {
      ++i;
      continue;
    }
    while (i + 1 < steps.size() && steps[i + 1].kind == StepKind::Permute) {
      Step joined = steps[i + 1];
      for (unsigned d = 0; d < joined.numbers.size(); ++d)
        joined.numbers[d] = steps[i].numbers[*constantNumber(steps[i + 1], d)];
      steps[i] = joined;
      steps.erase(steps.begin() + i + 1);
    }
    bool identity = true;
    for (unsigned d = 0; d < steps[i].numbers.size(); ++d)
      identity &= constantNumber(steps[i], d) == int64_t(d);
    if (identity)
      steps.erase(steps.begin() + i);
    else
      ++i;
  }
}

static Steps concat(ArrayRef<Step> first, ArrayRef<Step> then) {
  Steps all;
  if (then.empty() || then.front().kind != StepKind::AsStrided)
    all.assign(first.begin(), first.end());
  llvm::append_range(all, then);
  normalize(all);
  return all;
}

/// Whether number `i` of a step may differ between the ways that come in.
static bool isHole(const Step &step, unsigned i) {
  if (!step.numbers[i] || isa<Value>(step.numbers[i]))
    return true;
  return ((step.kind == StepKind::Select || step.kind == StepKind::Narrow) && i == 1) ||
         (step.kind == StepKind::AsStrided && i == 0);
}

/// The steps with nothing where they may differ.
static Steps shapeOf(ArrayRef<Step> steps) {
  Steps shape(steps.begin(), steps.end());
  for (Step &step : shape)
    for (unsigned i = 0; i < step.numbers.size(); ++i)
      if (isHole(step, i))
        step.numbers[i] = OpFoldResult();
  return shape;
}

static SmallVector<OpFoldResult> numbersInHoles(ArrayRef<Step> steps) {
  SmallVector<OpFoldResult> numbers;
  for (const Step &step : steps)
    for (unsigned i = 0; i < step.numbers.size(); ++i)
      if (isHole(step, i))
        numbers.push_back(step.numbers[i]);
  return numbers;
}

static Steps fillHoles(ArrayRef<Step> shape, ValueRange numbers) {
  Steps steps(shape.begin(), shape.end());
  for (Step &step : steps)
    for (OpFoldResult &number : step.numbers)
      if (!number) {
        number = numbers.front();
        numbers = numbers.drop_front();
      }
  return steps;
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

namespace {
/// One way that something comes in; without a condition: the last one.
struct Leaf {
  Value condition, base;
  Steps steps;
};

/// What a name may be, before numbers are known. No base: the slot.
struct Alternative {
  Value base;
  Steps shape;
  bool operator==(const Alternative &other) const {
    return base == other.base && shape == other.shape;
  }
};

class OperationChooser {
public:
  OperationChooser(ChoiceMap &choices, Operation *op) : choices(choices), op(op), b(op->getContext()) {}
  LogicalResult run();

private:
  struct State {
    Merge merge;
    SmallVector<SmallVector<Leaf, 2>, 2> leaves; // of each incoming operand
    SmallVector<Alternative, 2> alternatives;
    MutableTensorType slot; // of the storage that lives there
    unsigned firstExtra = 0;
    unsigned numExtras() const;
  };

  void expand(Value base, Steps steps, Value condition, SmallVectorImpl<Leaf> &leaves);
  State *ownerOf(Value name);
  bool isInside(Value value) { return op->isAncestor(value.getParentBlock()->getParentOp()); }
  LogicalResult findAlternatives();
  LogicalResult addAlternative(State &state, Value base, const Steps &steps, bool &changed);
  LogicalResult checkSharing();
  InFlightDiagnostic refuse(const Merge &merge, const Twine &why);

  void rebuild();
  Value placeholder(Type type);
  SmallVector<Type> extraTypes(const State &state);
  void setChoices();
  void fillEdge(State &state, unsigned incoming);

  Value constant(int64_t number) { return arith::ConstantIndexOp::create(b, op->getLoc(), number); }
  Value both(Value x, Value y) {
    return !x ? y : !y ? x : arith::AndIOp::create(b, op->getLoc(), x, y).getResult();
  }
  Value isTag(Value tag, int64_t which) {
    return arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, tag, constant(which));
  }
  Value select(Value condition, Value yes, Value no) {
    return condition ? arith::SelectOp::create(b, op->getLoc(), condition, yes, no).getResult() : yes;
  }

  ChoiceMap &choices;
  Operation *op;
  OpBuilder b;
  std::vector<State> states;
};
} // namespace

unsigned OperationChooser::State::numExtras() const {
  unsigned count = alternatives.size() > 1;
  for (const Alternative &alternative : alternatives)
    count += numbersInHoles(alternative.shape).size();
  return count + bool(slot);
}

OperationChooser::State *OperationChooser::ownerOf(Value name) {
  for (State &state : states)
    if (llvm::is_contained(state.merge.names, name))
      return &state;
  return nullptr;
}

InFlightDiagnostic OperationChooser::refuse(const Merge &merge, const Twine &why) {
  InFlightDiagnostic diag = op->emitError("merges mutable tensors, and ") << why;
  for (OpOperand *operand : merge.incoming)
    if (!llvm::is_contained(merge.names, operand->get()))
      diag.attachNote(operand->get().getLoc()) << "the alias is made here";
  return diag;
}

/// Takes choices that were made inside apart.
void OperationChooser::expand(Value value, Steps steps, Value condition, SmallVectorImpl<Leaf> &leaves) {
  Value base = stepsFromBase(value, steps);
  auto inner = choices.find(base);
  if (inner == choices.end() || !isInside(base) || ownerOf(base)) {
    normalize(steps);
    leaves.push_back({condition, base, steps});
    return;
  }
  Choice choice = inner->second;
  for (auto [i, alternative] : llvm::enumerate(choice.alternatives)) {
    bool last = i + 1 == choice.alternatives.size();
    Value here = choice.tag && !last ? both(condition, isTag(choice.tag, i)) : condition;
    if (choice.tag && last && condition)
      here = condition; // all others have been asked before
    expand(alternative.base, concat(alternative.steps, steps), here, leaves);
  }
}

LogicalResult OperationChooser::addAlternative(State &state, Value base, const Steps &steps,
                                               bool &changed) {
  Alternative found{base, shapeOf(steps)};
  if (llvm::is_contained(state.alternatives, found))
    return success();
  if (state.alternatives.size() == maxAlternatives || steps.size() > maxSteps)
    return refuse(state.merge, "takes a view of a view in each iteration: what it names has no "
                               "bounded form; copy the tensor instead");
  state.alternatives.push_back(found);
  changed = true;
  return success();
}

LogicalResult OperationChooser::findAlternatives() {
  for (bool changed = true; changed;) {
    changed = false;
    for (State &state : states)
      for (auto &leaves : state.leaves)
        for (Leaf &leaf : leaves) {
          if (State *from = ownerOf(leaf.base)) {
            for (size_t i = 0; i < from->alternatives.size(); ++i) {
              Alternative alternative = from->alternatives[i];
              Steps all = concat(alternative.shape, leaf.steps);
              if (!alternative.base) {
                if (state.slot && state.slot != from->slot)
                  return refuse(state.merge, "carries storages of several types that its body makes");
                state.slot = from->slot;
              }
              if (failed(addAlternative(state, alternative.base, all, changed)))
                return failure();
            }
            continue;
          }
          bool inside = isInside(leaf.base);
          if (inside) {
            auto type = cast<MutableTensorType>(leaf.base.getType());
            if (!type.hasStaticShape() || (state.slot && state.slot != type))
              return refuse(state.merge, "carries storages of several or unknown sizes that its body makes");
            state.slot = type;
          }
          if (failed(addAlternative(state, inside ? Value() : leaf.base, leaf.steps, changed)))
            return failure();
        }
  }
  return success();
}

/// A slot is one name's: storage that two carried names share has no place.
LogicalResult OperationChooser::checkSharing() {
  llvm::DenseMap<std::pair<Operation *, Value>, State *> holder;
  for (State &state : states)
    for (auto [operand, leaves] : llvm::zip_equal(state.merge.incoming, state.leaves))
      for (Leaf &leaf : leaves) {
        State *from = ownerOf(leaf.base);
        bool inSlot = from ? llvm::any_of(from->alternatives, [](auto &a) { return !a.base; })
                           : isInside(leaf.base);
        if (!inSlot)
          continue;
        auto [it, isNew] = holder.try_emplace({operand->getOwner(), leaf.base}, &state);
        if (!isNew && it->second != &state)
          return refuse(state.merge, "two of them share storage that its body makes; copy one of them");
      }
  return success();
}

//===----------------------------------------------------------------------===//
// Carried choices
//===----------------------------------------------------------------------===//

Value OperationChooser::placeholder(Type type) {
  if (type.isIndex())
    return constant(0);
  auto tensor = cast<RankedTensorType>(type);
  return arith::ConstantOp::create(
      b, op->getLoc(), DenseElementsAttr::get(tensor, Attribute(b.getZeroAttr(tensor.getElementType()))));
}

SmallVector<Type> OperationChooser::extraTypes(const State &state) {
  SmallVector<Type> types(state.numExtras(), b.getIndexType());
  if (state.slot)
    types.back() = state.slot.getValueType();
  return types;
}

void OperationChooser::rebuild() {
  b.setInsertionPoint(op);
  SmallVector<Value> extras, passed;
  for (State &state : states) {
    bool isPassed = isa<scf::WhileOp>(op) && state.merge.names.size() == 2;
    auto &list = isPassed ? passed : extras;
    state.firstExtra = list.size();
    for (Type type : extraTypes(state))
      list.push_back(placeholder(type));
  }
  auto shift = [&](bool ofPassed, unsigned by) {
    for (State &state : states)
      if ((isa<scf::WhileOp>(op) && state.merge.names.size() == 2) == ofPassed)
        state.firstExtra += by;
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    shift(false, loop.getNumResults());
    op = addCarried(loop, extras);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    shift(false, branch.getNumResults());
    op = addResults(branch, extras, extras);
  } else {
    auto loop_ = cast<scf::WhileOp>(op);
    shift(false, loop_.getBeforeArguments().size());
    shift(true, loop_.getNumResults());
    op = addCarried(loop_, extras, passed);
  }
  // The merges again, as the new operation's.
  SmallVector<Merge> again = mergesOf(op);
  unsigned next = 0;
  for (Merge &merge : again) {
    if (choices.contains(merge.names.front()))
      continue;
    if (next < states.size())
      states[next++].merge = merge;
  }
}

void OperationChooser::setChoices() {
  for (State &state : states)
    for (Value name : state.merge.names) {
      SmallVector<Value> extras;
      auto argument = dyn_cast<BlockArgument>(name);
      unsigned first = isa<scf::ForOp>(op) && argument ? 1 : 0;
      for (unsigned i = 0; i < state.numExtras(); ++i)
        if (argument)
          extras.push_back(argument.getOwner()->getArgument(first + state.firstExtra + i));
        else
          extras.push_back(op->getResult(state.firstExtra + i));
      Choice choice;
      ValueRange rest = extras;
      if (state.alternatives.size() > 1) {
        choice.tag = rest.front();
        rest = rest.drop_front();
      }
      Value slot;
      if (state.slot) {
        if (argument)
          b.setInsertionPointToStart(argument.getOwner());
        else
          b.setInsertionPointAfter(op);
        slot = NewOp::create(b, op->getLoc(), state.slot, extras.back());
      }
      for (const Alternative &alternative : state.alternatives) {
        unsigned count = numbersInHoles(alternative.shape).size();
        choice.alternatives.push_back({alternative.base ? alternative.base : slot,
                                       fillHoles(alternative.shape, rest.take_front(count))});
        rest = rest.drop_front(count);
      }
      choices[name] = choice;
    }
}

void OperationChooser::fillEdge(State &state, unsigned incoming) {
  Operation *user = state.merge.incoming[incoming]->getOwner();
  b.setInsertionPoint(user);
  // Ways with their conditions, and which alternative each is.
  struct Way {
    Value condition;
    unsigned which;
    SmallVector<OpFoldResult> numbers;
    Value storage; // of the slot
  };
  SmallVector<Way> ways;
  auto add = [&](Value condition, Value base, bool inSlot, const Steps &steps) {
    Alternative wanted{inSlot ? Value() : base, shapeOf(steps)};
    unsigned which = llvm::find(state.alternatives, wanted) - state.alternatives.begin();
    ways.push_back({condition, which, numbersInHoles(steps), inSlot ? base : Value()});
  };
  for (Leaf &leaf : state.leaves[incoming]) {
    State *from = ownerOf(leaf.base);
    if (!from) {
      add(leaf.condition, leaf.base, isInside(leaf.base), leaf.steps);
      continue;
    }
    Choice choice = choices[leaf.base];
    for (auto [i, alternative] : llvm::enumerate(choice.alternatives)) {
      bool last = i + 1 == choice.alternatives.size();
      Value condition = choice.tag && !last ? both(leaf.condition, isTag(choice.tag, i)) : leaf.condition;
      add(condition, alternative.base, !from->alternatives[i].base, concat(alternative.steps, leaf.steps));
    }
  }
  // What is not this way's keeps what it was, or nothing.
  unsigned first = state.firstExtra;
  auto setOperand = [&](unsigned extra, Value value) {
    unsigned at = first + extra;
    if (user == op)
      at += isa<scf::ForOp>(op) ? 3 : 0; // bounds and step
    if (isa<scf::ConditionOp>(user))
      at += 1;
    user->setOperand(at, value);
  };
  auto choose = [&](unsigned extra, Value otherwise, function_ref<Value(const Way &)> valueOf) {
    Value value = otherwise;
    for (const Way &way : llvm::reverse(ways))
      if (Value here = valueOf(way))
        value = select(way.condition, here, value);
      else if (way.condition)
        value = select(way.condition, otherwise, value);
      else
        value = otherwise;
    setOperand(extra, value);
  };
  unsigned extra = 0;
  if (state.alternatives.size() > 1)
    choose(extra++, constant(0), [&](const Way &way) { return constant(way.which); });
  for (unsigned which = 0; which < state.alternatives.size(); ++which)
    for (unsigned i = 0, e = numbersInHoles(state.alternatives[which].shape).size(); i < e; ++i)
      choose(extra++, constant(0), [&](const Way &way) {
        return way.which == which ? getValueOrCreateConstantIndexOp(b, op->getLoc(), way.numbers[i]) : Value();
      });
  if (state.slot)
    choose(extra, placeholder(state.slot.getValueType()), [&](const Way &way) -> Value {
      if (!way.storage)
        return Value();
      return ReadOp::create(b, op->getLoc(), state.slot.getValueType(), way.storage);
    });
}

LogicalResult OperationChooser::run() {
  for (const Merge &merge : mergesOf(op))
    if (!choices.contains(merge.names.front()))
      states.push_back({merge, {}, {}, {}, 0});
  for (State &state : states)
    for (OpOperand *operand : state.merge.incoming) {
      b.setInsertionPoint(operand->getOwner());
      state.leaves.emplace_back();
      expand(operand->get(), {}, Value(), state.leaves.back());
    }
  if (failed(findAlternatives()) || failed(checkSharing()))
    return failure();
  rebuild();
  setChoices();
  for (State &state : states)
    for (unsigned i = 0; i < state.merge.incoming.size(); ++i)
      fillEdge(state, i);
  return success();
}

LogicalResult mlir::tssa::chooseMerges(Operation *op, ChoiceMap &choices) {
  return OperationChooser(choices, op).run();
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {
/// Reads and writes of names that are choices.
class UseRewriter {
public:
  UseRewriter(const ChoiceMap &choices, MLIRContext *context) : choices(choices), b(context) {}
  void run(func::FuncOp function);

private:
  Value read(Location loc, Value base, const Steps &steps, MutableTensorType type);
  void write(Location loc, Value base, const Steps &steps, MutableTensorType type, Value value);
  /// A branch on each alternative but the last.
  Value branch(Location loc, const Choice &choice, Type result,
               function_ref<Value(Value base, const Steps &steps)> emit, const Steps &rest, unsigned first);
  Value viewOf(Location loc, Value base, const Steps &steps, MutableTensorType type);

  const ChoiceMap &choices;
  OpBuilder b;
};
} // namespace

Value UseRewriter::viewOf(Location loc, Value base, const Steps &steps, MutableTensorType type) {
  if (steps.empty() && base.getType() == type)
    return base;
  SmallVector<Value> numbers;
  ArrayAttr attrs = packSteps(b.getContext(), steps, numbers);
  return ViewOp::create(b, loc, type, base, attrs, numbers);
}

Value UseRewriter::branch(Location loc, const Choice &choice, Type result,
                          function_ref<Value(Value, const Steps &)> emit, const Steps &rest, unsigned first) {
  const auto &alternative = choice.alternatives[first];
  Steps steps = concat(alternative.steps, rest);
  if (first + 1 == choice.alternatives.size())
    return emit(alternative.base, steps);
  Value which = arith::ConstantIndexOp::create(b, loc, first);
  Value test = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, choice.tag, which);
  auto op = scf::IfOp::create(b, loc, result ? TypeRange(result) : TypeRange(), test,
                              /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *block, function_ref<Value()> body) {
    block->clear();
    b.setInsertionPointToStart(block);
    Value made = body();
    scf::YieldOp::create(b, loc, made ? ValueRange(made) : ValueRange());
  };
  fill(op.thenBlock(), [&] { return emit(alternative.base, steps); });
  fill(op.elseBlock(), [&] { return branch(loc, choice, result, emit, rest, first + 1); });
  return result ? op.getResult(0) : Value();
}

Value UseRewriter::read(Location loc, Value base, const Steps &steps, MutableTensorType type) {
  auto it = choices.find(base);
  if (it == choices.end())
    return ReadOp::create(b, loc, type.getValueType(), viewOf(loc, base, steps, type));
  auto emit = [&](Value inner, const Steps &all) { return read(loc, inner, all, type); };
  return branch(loc, it->second, type.getValueType(), emit, steps, 0);
}

void UseRewriter::write(Location loc, Value base, const Steps &steps, MutableTensorType type, Value value) {
  auto it = choices.find(base);
  if (it == choices.end()) {
    MutateOp::create(b, loc, viewOf(loc, base, steps, type), value);
    return;
  }
  auto emit = [&](Value inner, const Steps &all) {
    write(loc, inner, all, type, value);
    return Value();
  };
  branch(loc, it->second, Type(), emit, steps, 0);
}

void UseRewriter::run(func::FuncOp function) {
  SmallVector<Operation *> uses;
  function.walk([&](Operation *op) {
    if (isa<ReadOp, MutateOp, func::ReturnOp>(op))
      uses.push_back(op);
  });
  for (Operation *op : uses) {
    b.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MutableTensorType>(operand.get().getType());
      if (!type)
        continue;
      Steps steps;
      Value base = stepsFromBase(operand.get(), steps);
      if (!choices.contains(base))
        continue;
      if (auto mutate = dyn_cast<MutateOp>(op)) {
        write(op->getLoc(), base, steps, type, mutate.getValue());
        op->erase();
        break;
      }
      Value value = read(op->getLoc(), base, steps, type);
      if (isa<func::ReturnOp>(op)) {
        operand.set(NewOp::create(b, op->getLoc(), type, value));
        continue;
      }
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
      break;
    }
  }
}

void mlir::tssa::rewriteChoices(func::FuncOp function, const ChoiceMap &choices) {
  UseRewriter(choices, function.getContext()).run(function);
  // Views of the names, and the names themselves: nothing reads or writes them.
  SmallVector<Operation *> views, around;
  function.walk([&](Operation *op) {
    Steps steps;
    if (auto view = dyn_cast<ViewOp>(op); view && choices.contains(stepsFromBase(view.getSource(), steps)))
      views.push_back(op);
    if (!mergesOf(op).empty())
      around.push_back(op);
  });
  for (Operation *op : around)
    for (const Merge &merge : mergesOf(op))
      for (OpOperand *operand : merge.incoming)
        operand->set(Value());
  for (Operation *view : llvm::reverse(views)) {
    view->dropAllUses();
    view->erase();
  }
  auto mutableOnes = [](ValueRange values) {
    llvm::SmallBitVector dropped(values.size());
    for (auto [i, value] : llvm::enumerate(values))
      if (isMutable(value))
        dropped.set(i);
    return dropped;
  };
  for (Operation *op : around) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      dropCarried(loop, mutableOnes(loop.getResults()));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      dropResults(branch, mutableOnes(branch.getResults()));
    } else {
      auto loop_ = cast<scf::WhileOp>(op);
      dropCarried(loop_, mutableOnes(loop_.getBeforeArguments()), mutableOnes(loop_.getResults()));
    }
  }
}
