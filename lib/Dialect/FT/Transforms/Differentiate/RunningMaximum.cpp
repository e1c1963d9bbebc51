//===- RunningMaximum.cpp - folds whose states follow a maximum -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fold in the form of flash attention carries a maximum m and sums that it rescales at each step:
//
//     m' = max(m, x)        s' = s · exp(m - m') + t(m'),    t(m') · exp(m' - m'') = t(m'')
//
// The factors telescope: s_n = Σ t(m_n) + s_0 · exp(m_0 - m_n), with the last maximum m_n (Milakov and Gimelshein 2018,
// §3). In this form no step waits for another: its adjoint is maps and sums. A term t has the property where it is linear in
// exp(a - m'), which is read off the operations.
//
//===----------------------------------------------------------------------===//
#include "Differentiate.h"
#include "MaximumShift.h"

#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

namespace {
/// What a value of the body is.
enum class Role {
  Free,     // independent of all states
  Old,      // m
  New,      // m'
  Distance, // a - m'
  Step,     // m - m'
  Factor,   // exp(m - m')
  Term,     // linear in exp(a - m')
  State,    // s
  Scaled,   // s · exp(m - m')
  Next,     // s'
  Other,
};
struct Kind {
  Role role;
  unsigned state = 0;
  bool is(Role other) const { return role == other; }
};

class RunningMaximum {
public:
  explicit RunningMaximum(ComputeOp op) : op(op), body(op.getBody().front()) {}
  bool match();
  void rewrite();

private:
  Kind kindOf(Value value);
  Kind kindOfResult(Operation *made);
  Kind kindOfStructured(linalg::LinalgOp made);
  Kind kindOfGeneric(linalg::LinalgOp made);
  Kind combine(Operation *made, ArrayRef<Kind> operands);
  Kind combineExponential(Operation *made, Kind exponent);
  bool findMaximum();
  Value findScaled(unsigned state);
  bool readsElements(Value value);
  void cloneInto(OpBuilder &b, Value value, IRMapping &mapping);
  Value buildMaximum(OpBuilder &b);
  void buildSums(OpBuilder &b, Value maximum);
  bool isFreeOfLast();
  bool hasOneMaximumEach();
  std::optional<SmallVector<int64_t>> dimsOf(Value value);

  ComputeOp op;
  Block &body;
  unsigned maximumState = 0;
  Operation *maximum = nullptr; // makes m'
  DenseMap<Value, Kind> kinds;
  std::optional<bool> isBaseTwo; // of the exponentials of distances and steps: exp2 or exp
  DenseMap<unsigned, Value> scaled; // by state: s · exp(m - m')
};
} // namespace

static bool isZeroTensor(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

/// The operation of a reduction's body, where that is all there is.
static Operation *getReducer(linalg::ReduceOp reduce) {
  Block &block = reduce.getCombiner().front();
  return block.getOperations().size() == 2 ? &block.front() : nullptr;
}

/// Factors telescope with terms of the same base alone, so the first exponential decides the base of all.
Kind RunningMaximum::combineExponential(Operation *made, Kind exponent) {
  bool isRead = exponent.is(Role::Distance) || exponent.is(Role::Step);
  if (!isRead || !isa<math::ExpOp, math::Exp2Op>(made))
    return {Role::Other};
  bool isTwo = isa<math::Exp2Op>(made);
  if (isBaseTwo.value_or(isTwo) != isTwo)
    return {Role::Other};
  isBaseTwo = isTwo;
  return {exponent.is(Role::Distance) ? Role::Term : Role::Factor};
}

/// Of an operation on scalars, or on tensors element by element.
Kind RunningMaximum::combine(Operation *made, ArrayRef<Kind> operands) {
  if (llvm::all_of(operands, [](Kind kind) { return kind.is(Role::Free); }))
    return {Role::Free};
  if (operands.size() == 1)
    return combineExponential(made, operands[0]);
  if (operands.size() != 2)
    return {Role::Other};
  Kind a = operands[0], b = operands[1];
  if (isa<arith::SubFOp>(made) && b.is(Role::New))
    return {a.is(Role::Free) ? Role::Distance : a.is(Role::Old) ? Role::Step : Role::Other};
  if (isa<arith::DivFOp>(made))
    return {a.is(Role::Term) && b.is(Role::Free) ? Role::Term : Role::Other};
  if (isa<arith::MulFOp, ScaleOp>(made)) {
    if (b.is(Role::Term) || b.is(Role::State))
      std::swap(a, b);
    if (a.is(Role::Term) && b.is(Role::Free))
      return {Role::Term};
    return a.is(Role::State) && b.is(Role::Factor) ? Kind{Role::Scaled, a.state} : Kind{Role::Other};
  }
  if (isa<arith::AddFOp>(made)) {
    if (b.is(Role::Scaled))
      std::swap(a, b);
    if (a.is(Role::Term) && b.is(Role::Term))
      return {Role::Term};
    return a.is(Role::Scaled) && b.is(Role::Term) ? Kind{Role::Next, a.state} : Kind{Role::Other};
  }
  return {Role::Other};
}

/// One loop nest without a reduction: the body's scalars have the roles of the operands.
Kind RunningMaximum::kindOfGeneric(linalg::LinalgOp made) {
  DenseMap<Value, Kind> own;
  for (OpOperand *input : made.getDpsInputOperands())
    own[made.getMatchingBlockArgument(input)] = kindOf(input->get());
  auto lookup = [&](Value value) -> Kind {
    if (auto found = own.find(value); found != own.end())
      return found->second;
    return value.getParentBlock() == made.getBlock() ? Kind{Role::Other} : kindOf(value);
  };
  for (Operation &each : made.getBlock()->without_terminator()) {
    if (each.getNumResults() != 1)
      return {Role::Other};
    own[each.getResult(0)] = combine(&each, llvm::map_to_vector(each.getOperands(), lookup));
  }
  Kind found = lookup(made.getBlock()->getTerminator()->getOperand(0));
  // The scaled state has to be a value of its own.
  return found.is(Role::Next) ? Kind{Role::Other} : found;
}

Kind RunningMaximum::kindOfStructured(linalg::LinalgOp made) {
  if (made->getNumResults() != 1)
    return {Role::Other};
  if (made.getNumReductionLoops() == 0)
    return kindOfGeneric(made);
  SmallVector<Kind> inputs;
  for (OpOperand *input : made.getDpsInputOperands())
    inputs.push_back(kindOf(input->get()));
  bool isSum = false;
  if (auto reduce = dyn_cast<linalg::ReduceOp>(made.getOperation()))
    isSum = isa_and_nonnull<arith::AddFOp>(getReducer(reduce));
  else
    isSum = linalg::isaContractionOpInterface(made);
  int64_t terms = llvm::count_if(inputs, [](Kind kind) { return kind.is(Role::Term); });
  int64_t free = llvm::count_if(inputs, [](Kind kind) { return kind.is(Role::Free); });
  if (!isSum || terms != 1 || terms + free != static_cast<int64_t>(inputs.size()))
    return {Role::Other};
  Value init = made.getDpsInits()[0];
  if (isZeroTensor(init))
    return {Role::Term};
  Kind start = kindOf(init);
  return start.is(Role::Scaled) ? Kind{Role::Next, start.state} : Kind{Role::Other};
}

Kind RunningMaximum::kindOfResult(Operation *made) {
  SmallVector<Kind> operands = llvm::map_to_vector(made->getOperands(), [&](Value v) { return kindOf(v); });
  SmallVector<Kind> all(operands);
  if (made->getNumRegions() != 0)
    for (Value value : getCaptured(made))
      all.push_back(kindOf(value));
  if (llvm::all_of(all, [](Kind kind) { return kind.is(Role::Free); }))
    return {Role::Free};
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp, tensor::CastOp, BroadcastOp,
          linalg::BroadcastOp, linalg::TransposeOp>(made))
    return operands[0];
  if (auto structured = dyn_cast<linalg::LinalgOp>(made))
    return kindOfStructured(structured);
  return made->getNumRegions() == 0 ? combine(made, operands) : Kind{Role::Other};
}

Kind RunningMaximum::kindOf(Value value) {
  if (value.getParentBlock() != &body)
    return {Role::Free};
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    if (number >= op.getNumStates())
      return {Role::Free};
    return number == maximumState ? Kind{Role::Old} : Kind{Role::State, number};
  }
  if (value.getDefiningOp() == maximum)
    return {Role::New};
  if (auto found = kinds.find(value); found != kinds.end())
    return found->second;
  Kind kind = kindOfResult(value.getDefiningOp());
  kinds[value] = kind;
  return kind;
}

/// The state that is a running maximum of what no state is needed for.
bool RunningMaximum::findMaximum() {
  for (auto [i, value] : llvm::enumerate(op.getYield().getValues())) {
    Operation *made = value.getDefiningOp();
    if (!made || made->getBlock() != &body)
      continue;
    Value state = op.getStateArgs()[i];
    bool isMaximum = isa<arith::MaximumFOp, arith::MaxNumFOp>(made) && llvm::is_contained(made->getOperands(), state);
    if (auto reduce = dyn_cast<linalg::ReduceOp>(made); reduce && reduce.getInits().size() == 1)
      isMaximum = isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(getReducer(reduce)) && reduce.getInits()[0] == state;
    if (!isMaximum)
      continue;
    maximumState = i;
    auto isOk = [&](Value operand) { return operand == state || kindOf(operand).is(Role::Free); };
    if (!llvm::all_of(made->getOperands(), isOk) || made->getOperand(0) == made->getOperand(1))
      return false;
    maximum = made;
    kinds.clear();
    isBaseTwo.reset();
    return true;
  }
  return false;
}

/// The one value that is the state times the factor, on the way to its next value.
Value RunningMaximum::findScaled(unsigned state) {
  Value found;
  for (Operation &each : body.without_terminator())
    for (Value result : each.getResults())
      if (Kind kind = kindOf(result); kind.is(Role::Scaled) && kind.state == state) {
        if (found)
          return nullptr;
        found = result;
      }
  return found;
}

/// Whether a value of the body needs an element, other than by m'.
bool RunningMaximum::readsElements(Value value) {
  if (value.getParentBlock() != &body || value.getDefiningOp() == maximum)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= op.getNumStates();
  Operation *made = value.getDefiningOp();
  SmallVector<Value> read(made->getOperands());
  llvm::append_range(read, getCaptured(made));
  return llvm::any_of(read, [&](Value each) { return readsElements(each); });
}

bool RunningMaximum::match() {
  unsigned states = op.getNumStates();
  if (!op.isFold() || states < 2 || op.getInits().size() != states || !op.getEmitResults().empty() || !findMaximum())
    return false;
  for (auto [i, value] : llvm::enumerate(op.getYield().getValues())) {
    if (i == maximumState)
      continue;
    Kind kind = kindOf(value);
    if (!kind.is(Role::Next) || kind.state != i)
      return false;
    scaled[i] = findScaled(i);
    if (!scaled[i] || readsElements(scaled[i]) || scaled[i].getType() != op.getStateArgs()[i].getType())
      return false;
  }
  if (!hasOneMaximumEach())
    return false;
  // exp(m_0 - m_n) is NaN where both are -inf: of a list without elements.
  bool isInfinite = matchPattern(op.getInits()[maximumState], m_NegInfFloat());
  return !isInfinite || isProvablyNonNegative(op, op.getLength() - 1);
}

void RunningMaximum::cloneInto(OpBuilder &b, Value value, IRMapping &mapping) {
  if (mapping.contains(value) || value.getParentBlock() != &body)
    return;
  Operation *made = value.getDefiningOp();
  if (!made)
    return;
  SmallVector<Value> read(made->getOperands());
  llvm::append_range(read, getCaptured(made));
  for (Value each : read)
    cloneInto(b, each, mapping);
  b.clone(*made, mapping);
}

Value RunningMaximum::buildMaximum(OpBuilder &b) {
  Location loc = op.getLoc();
  Type type = op.getStateArgs()[maximumState].getType();
  Value lowest = LowestOp::create(b, loc, type), first = op.getInits()[maximumState];
  ComputeOp fold = createCompute(b, loc, OperatorKind::Reduce, type, SmallVector<Value>(op.getLists()), first, lowest);
  auto *block = new Block();
  fold.getBody().push_back(block);
  Value state = block->addArgument(type, loc);
  IRMapping mapping;
  for (BlockArgument element : op.getElementArgs())
    mapping.map(element, block->addArgument(element.getType(), loc));
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  Value own = op.getStateArgs()[maximumState], compared;
  if (isa<linalg::ReduceOp>(maximum)) {
    mapping.map(own, LowestOp::create(inner, loc, type).getResult());
    cloneInto(inner, maximum->getResult(0), mapping);
    compared = mapping.lookup(maximum->getResult(0));
  } else {
    Value source = maximum->getOperand(maximum->getOperand(0) == own ? 1 : 0);
    cloneInto(inner, source, mapping);
    compared = mapping.lookupOrDefault(source);
  }
  Value next = arith::MaximumFOp::create(inner, loc, state, compared);
  YieldOp::create(inner, loc, ValueRange{next}, ValueRange());
  auto *both = new Block();
  fold->getRegion(1).push_back(both);
  both->addArguments({type, type}, {loc, loc});
  OpBuilder join = OpBuilder::atBlockEnd(both);
  Value joined = arith::MaximumFOp::create(join, loc, both->getArgument(0), both->getArgument(1));
  YieldOp::create(join, loc, ValueRange{joined}, ValueRange());
  return fold->getResult(0);
}

void RunningMaximum::buildSums(OpBuilder &b, Value last) {
  Location loc = op.getLoc();
  SmallVector<Value> inits, zeros, values;
  SmallVector<Type> types;
  SmallVector<unsigned> states;
  for (unsigned i = 0; i < op.getNumStates(); ++i) {
    if (i == maximumState)
      continue;
    states.push_back(i);
    types.push_back(op.getStateArgs()[i].getType());
    zeros.push_back(buildZero(b, loc, types.back()));
    IRMapping mapping;
    mapping.map(maximum->getResult(0), last);
    mapping.map(op.getStateArgs()[maximumState], op.getInits()[maximumState]);
    mapping.map(op.getStateArgs()[i], op.getInits()[i]);
    cloneInto(b, scaled[i], mapping);
    inits.push_back(mapping.lookup(scaled[i]));
  }
  ComputeOp fold =
      createCompute(b, loc, OperatorKind::Reduce, types, SmallVector<Value>(op.getLists()), inits, zeros);
  auto *block = new Block(), *both = new Block();
  fold.getBody().push_back(block);
  fold->getRegion(1).push_back(both);
  IRMapping mapping;
  mapping.map(maximum->getResult(0), last);
  for (auto [state, type] : llvm::zip_equal(states, types))
    mapping.map(scaled[state], block->addArgument(type, loc));
  for (BlockArgument element : op.getElementArgs())
    mapping.map(element, block->addArgument(element.getType(), loc));
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  for (unsigned state : states) {
    Value next = op.getYield().getValues()[state];
    cloneInto(inner, next, mapping);
    values.push_back(mapping.lookup(next));
  }
  YieldOp::create(inner, loc, values, ValueRange());
  for (unsigned side = 0; side < 2; ++side)
    for (Type type : types)
      both->addArgument(type, loc);
  OpBuilder join = OpBuilder::atBlockEnd(both);
  SmallVector<Value> joined;
  for (unsigned i = 0; i < types.size(); ++i)
    joined.push_back(buildSum(join, loc, both->getArgument(i), both->getArgument(types.size() + i)));
  YieldOp::create(join, loc, joined, ValueRange());
  for (auto [i, state] : llvm::enumerate(states))
    op->getResult(state).replaceAllUsesWith(fold->getResult(i));
}

/// Which of the maximum's dimensions those of a value are that follows it; nothing where they are mixed.
std::optional<SmallVector<int64_t>> RunningMaximum::dimsOf(Value value) {
  if (value == maximum->getResult(0) || value == op.getStateArgs()[maximumState]) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return llvm::to_vector(llvm::seq<int64_t>(0, type ? type.getRank() : 0));
  }
  Operation *made = value.getDefiningOp();
  if (!made || made->getBlock() != &body)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> found;
  for (Value operand : made->getOperands()) {
    if (kindOf(operand).is(Role::Free) || kindOf(operand).is(Role::State))
      continue;
    std::optional<SmallVector<int64_t>> own = dimsOf(operand);
    // Sums begin with the state as it is now, which has the dimensions of the result.
    auto structured = dyn_cast<linalg::LinalgOp>(made);
    bool isInit = structured && llvm::is_contained(structured.getDpsInits(), operand);
    if (own && !isInit)
      own = moveDims(made, operand, *own);
    if (!own || (found && *found != *own))
      return std::nullopt;
    found = own;
  }
  return found;
}

/// Whether each element of the states follows one element of the maximum: factors and terms that are broadcast along
/// different dimensions don't telescope.
bool RunningMaximum::hasOneMaximumEach() {
  return llvm::all_of(op.getYield().getValues(), [&](Value value) { return dimsOf(value).has_value(); });
}

/// Whether what the sums are used for is the same for each maximum.
bool RunningMaximum::isFreeOfLast() {
  auto type = dyn_cast<RankedTensorType>(op.getStateArgs()[maximumState].getType());
  if (!type || !isBaseTwo)
    return false;
  DenseMap<Value, MaximumShift> shifts;
  for (auto [i, value] : llvm::enumerate(op.getYield().getValues())) {
    MaximumShift own;
    (i == maximumState ? own.shift : own.power) = 1;
    own.dims = *dimsOf(value);
    shifts[op->getResult(i)] = own;
  }
  return isFreeOfMaximum(*op->getBlock(), shifts, *isBaseTwo);
}

void RunningMaximum::rewrite() {
  OpBuilder b(op);
  bool isFree = isFreeOfLast();
  Value last = buildMaximum(b);
  if (isFree) // its cotangent is zero
    last = StopGradientOp::create(b, op.getLoc(), last.getType(), last);
  buildSums(b, last);
  op->getResult(maximumState).replaceAllUsesWith(last);
  op->erase();
}

void differentiate::closeRunningMaxima(func::FuncOp function) {
  SmallVector<ComputeOp> folds;
  function.walk([&](ComputeOp op) { folds.push_back(op); });
  for (ComputeOp op : folds) {
    RunningMaximum found(op);
    if (found.match())
      found.rewrite();
  }
}
