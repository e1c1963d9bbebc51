//===- OperatorMirror.cpp - operators reversed ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     foldl f s0 xs          (s̄0, x̄s) = foldr over (x, h₋, ē) init s̄n: (s̄, x̄) = f̄(h₋, x; s̄, ē)
//     scanl f s0 xs          the same, with the cotangent of a result added to the state at the begin of its step
//     scanl f s0 xs lag d    scanr lag d; s̄0 is the sum of what the first d steps give to steps before the first
//     map f xs               a map
//
// What a body captures gets, outside, the sum of what its iterations give. Where such a part is made by one operation
// of less data than it has itself, as xᵀg of a weight, its operands leave the loop and the sum makes it.
//
//===----------------------------------------------------------------------===//
#include "Mirror.h"

#include "ft/Dialect/FT/IR/FTForms.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

/// Tensors of f16 and bf16 are added up as f32.
static Type wideOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<FloatType>(tensor.getElementType()) || tensor.getElementTypeBitWidth() >= 32)
    return type;
  return tensor.clone(Float32Type::get(type.getContext()));
}

static Value widen(OpBuilder &b, Location loc, Value value) {
  Type wide = wideOf(value.getType());
  return wide == value.getType() ? value : arith::ExtFOp::create(b, loc, wide, value).getResult();
}

static Value narrow(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : arith::TruncFOp::create(b, loc, type, value).getResult();
}

OperatorMirror::OperatorMirror(Mirror &outer, ComputeOp op)
    : outer(outer), op(op), block(new Block()), inner(outer, op, *block),
      hasLag(op.isScan() && op.getLagOrOne().getConstant() != 1) {}

OperatorMirror::~OperatorMirror() {
  if (!block)
    return;
  block->dropAllReferences();
  delete block;
}

LogicalResult OperatorMirror::run() {
  findCarried();
  addStates();
  seed();
  if (failed(inner.reverse()))
    return failure();
  readStates();
  dropConstantStates();
  readGradients();
  readSums();
  build();
  return success();
}

/// States from which a value is reached whose cotangent is not zero.
void OperatorMirror::findCarried() {
  YieldOp yield = op.getYield();
  SmallVector<Value> work;
  llvm::DenseSet<Value> seen;
  auto visit = [&](Value value) {
    if (value.getParentBlock() == &op.getBody().front() && seen.insert(value).second)
      work.push_back(value);
  };
  for (auto [value, result] : llvm::zip(yield.getValues(), op.getStateResults()))
    if (outer.cotangentOf(result))
      visit(value);
  for (auto [value, result] : llvm::zip(yield.getEmits(), op.getEmitResults()))
    if (outer.cotangentOf(result))
      visit(value);
  llvm::DenseSet<unsigned> reached;
  for (auto [i, result] : llvm::enumerate(op.getStateResults()))
    if (!op.isMap() && outer.cotangentOf(result))
      reached.insert(i);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned number = argument.getArgNumber();
      if (number < op.getNumStates() && reached.insert(number).second)
        visit(yield.getValues()[number]);
      continue;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      visit(operand);
    for (Value operand : getCaptured(value.getDefiningOp()))
      visit(operand);
  }
  // A state that was reached by its result alone is reached through its value, too.
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    if (reached.contains(i) && outer.activity.isVaried(op.getStateArgs()[i]))
      carried.push_back(i);
}

void OperatorMirror::addStates() {
  Location loc = op.getLoc();
  for (unsigned state : carried) {
    Type type = op.getStateArgs()[state].getType();
    stateArguments.push_back(block->addArgument(wideOf(type), loc));
    Value last = op.isFold() ? outer.cotangentOf(op->getResult(state)) : Value();
    if (!last)
      last = buildZero(outer.b, loc, type);
    stateInits.push_back(widen(outer.b, loc, last));
  }
}

void OperatorMirror::seed() {
  Location loc = op.getLoc();
  YieldOp yield = op.getYield();
  for (auto [i, state] : llvm::enumerate(carried)) {
    Value part = stateArguments[i];
    if (Value list = op.isScan() ? outer.cotangentOf(op->getResult(state)) : Value())
      part = buildSum(inner.b, loc, part, widen(inner.b, loc, inner.addList(list)));
    inner.accumulate(yield.getValues()[state], narrow(inner.b, loc, part, op.getStateArgs()[state].getType()));
  }
  auto take = [&](Value value, Value result) {
    if (Value list = outer.cotangentOf(result))
      inner.accumulate(value, inner.addList(list));
  };
  if (op.isMap())
    for (auto [value, result] : llvm::zip(yield.getValues(), op->getResults()))
      take(value, result);
  // A result whose state is not carried depends on no argument.
  for (auto [value, result] : llvm::zip(yield.getEmits(), op.getEmitResults()))
    take(value, result);
}

unsigned OperatorMirror::emit(Value value) {
  for (auto [i, known] : llvm::enumerate(emits))
    if (known == value)
      return i;
  emits.push_back(value);
  return emits.size() - 1;
}

void OperatorMirror::readStates() {
  Location loc = op.getLoc();
  for (auto [i, state] : llvm::enumerate(carried)) {
    Value argument = op.getStateArgs()[state], found = inner.cotangentOf(argument);
    // The cotangent itself, where the state only passes through.
    if (found)
      if (auto narrowed = found.getDefiningOp<arith::TruncFOp>(); narrowed && narrowed.getIn() == stateArguments[i])
        found = stateArguments[i];
    if (!found)
      found = buildZero(inner.b, loc, argument.getType());
    stateYields.push_back(widen(inner.b, loc, found));
  }
}

/// A value of the mirror; what is no state any more has become its first value.
Value OperatorMirror::kept(Value value) const {
  Value other = dropped.lookup(value);
  return other ? other : value;
}

void OperatorMirror::readGradients() {
  for (auto [list, argument] : llvm::zip(op.getLists(), op.getElementArgs())) {
    Value found = kept(inner.cotangentOf(argument));
    if (!found)
      continue;
    // A list that is summed over a loop around leaves this one as what its elements are made of.
    Sum own{list, {}, {found}, found};
    if (list.getParentBlock() != &outer.source && sinks(own)) {
      emitSources(own);
      made.push_back(own);
      continue;
    }
    gradients.emplace_back(list, emit(found));
  }
}

/// The numbers of a tensor, or of a list's element.
static std::optional<int64_t> countOf(Type type) {
  auto list = dyn_cast<ListType>(type);
  auto tensor = dyn_cast<RankedTensorType>(list ? list.getElement() : type);
  return tensor ? std::optional<int64_t>(tensor.getNumElements()) : std::nullopt;
}

static size_t countLengths(Type type) {
  auto list = dyn_cast<ListType>(type);
  return list ? list.getLengths().size() : 0;
}

/// What the mirror computes may be made of instead, of the fewest numbers: added to the sources and operations of `sum`. Returns how
/// many numbers; none where it can't be known. `depth` operations are looked through.
std::optional<int64_t> OperatorMirror::findSources(Value value, Value part, Sum &sum, unsigned depth) {
  if (value.getParentBlock() != block)
    return 0;
  Operation *defining = value.getDefiningOp();
  if (defining && (defining->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(defining))) {
    if (!llvm::is_contained(sum.made, defining))
      sum.made.push_back(defining);
    return 0;
  }
  // What is there once for many elements of the part costs nothing beside them.
  std::optional<int64_t> own = countLengths(value.getType()) < countLengths(part.getType()) ? 0 : countOf(value.getType());
  if (!own)
    return std::nullopt;
  bool isWhole = isa_and_nonnull<linalg::LinalgOp, BroadcastOp, arith::MulFOp, arith::NegFOp>(defining);
  if (defining && depth > 0 && defining->getNumResults() == 1 && (isWhole || (isa<ComputeOp>(defining) && value == part)) &&
      !llvm::is_contained(sum.made, defining)) {
    // What is not finished cannot be copied.
    bool isOpen = defining->walk([](UnrealizedConversionCastOp) { return WalkResult::interrupt(); }).wasInterrupted();
    Sum made = sum;
    int64_t total = 0;
    SmallVector<Value> read(defining->getOperands());
    llvm::append_range(read, getCaptured(defining));
    for (Value operand : read) {
      std::optional<int64_t> of = findSources(operand, part, made, depth - 1);
      isOpen |= !of;
      total += of.value_or(0);
    }
    if (!isOpen && (total < *own || (total == 0 && *own == 0))) {
      made.made.push_back(defining);
      sum = std::move(made);
      return total;
    }
  }
  if (!llvm::is_contained(sum.sources, value))
    sum.sources.push_back(value);
  return own;
}

/// Whether the operator outside can make the part, of less data: `sum` gets how.
bool OperatorMirror::sinks(Sum &sum) {
  Value part = sum.part;
  constexpr unsigned mostDepth = 4;
  Sum found{sum.target, {}, {}, part};
  std::optional<int64_t> size = countOf(part.getType()), sources = findSources(part, part, found, mostDepth);
  if (!size || !sources || *sources >= *size || found.sources.empty() || !llvm::is_contained(found.made, part.getDefiningOp()))
    return false;
  sum = std::move(found);
  return true;
}

void OperatorMirror::emitSources(const Sum &sum) {
  for (Value source : sum.sources)
    if (!isElement(source))
      emit(source);
}

void OperatorMirror::readSums() {
  Location loc = op.getLoc();
  for (auto &[target, parts] : inner.captured) {
    SmallVector<Sum> own;
    bool all = true;
    for (Value part : parts) {
      own.push_back(Sum{target, {}, {kept(part)}, kept(part)});
      all &= sinks(own.back());
    }
    if (!all) {
      // One list for all of them.
      Value total;
      for (Value part : parts)
        total = buildSum(inner.b, loc, total, kept(part));
      total = widen(inner.b, loc, total);
      own = {Sum{target, {}, {total}, total}};
    }
    for (Sum &sum : own) {
      emitSources(sum);
      sums.push_back(sum);
    }
  }
}

/// A cotangent that each step hands on as it is, as that of a sum, is no state: then all steps are independent.
void OperatorMirror::dropConstantStates() {
  if (op.isScan() && !carried.empty())
    for (unsigned state : carried)
      if (hasLag || outer.cotangentOf(op->getResult(state)))
        return;
  for (unsigned i = carried.size(); i-- > 0;) {
    if (stateYields[i] != stateArguments[i])
      continue;
    Value init = stateInits[i];
    for (Value &value : stateYields)
      if (value == stateArguments[i])
        value = init;
    dropped[stateArguments[i]] = init;
    stateArguments[i].replaceAllUsesWith(init);
    outer.accumulate(op.getInits()[carried[i]], narrow(outer.b, op.getLoc(), init, op.getInits()[carried[i]].getType()));
    unsigned number = cast<BlockArgument>(stateArguments[i]).getArgNumber();
    block->eraseArgument(number);
    carried.erase(carried.begin() + i);
    stateArguments.erase(stateArguments.begin() + i);
    stateYields.erase(stateYields.begin() + i);
    stateInits.erase(stateInits.begin() + i);
  }
}

void OperatorMirror::build() {
  Location loc = op.getLoc();
  bool hasStates = !carried.empty();
  if (!hasStates && emits.empty()) {
    // What is summed, if anything, are elements of lists that are there.
    for (const Sum &sum : made)
      returnList(sum, {});
    for (const Sum &sum : sums)
      returnSum(sum, {});
    return;
  }
  if (inner.lists.empty()) {
    // Nothing is read: the places are gone through.
    Type place = RankedTensorType::get({}, inner.b.getI64Type());
    inner.addList(IotaOp::create(outer.b, loc, ListType::wrap(op.getLength(), place)));
  }
  OperatorKind kind = OperatorKind::Map;
  if (hasStates)
    kind = hasLag ? (op.isRight() ? OperatorKind::ScanL : OperatorKind::ScanR)
                  : (op.isRight() ? OperatorKind::FoldL : OperatorKind::FoldR);
  YieldOp::create(inner.b, loc, hasStates ? stateYields : emits, hasStates ? emits : SmallVector<Value>());
  SmallVector<Type> types;
  for (Value state : stateYields)
    types.push_back(hasLag ? Type(ListType::wrap(op.getLength(), state.getType())) : state.getType());
  for (Value value : emits)
    types.push_back(ListType::wrap(op.getLength(), value.getType()));
  ComputeOp mirrored = createCompute(outer.b, loc, kind, types, inner.lists, stateInits, {},
                                 hasStates && hasLag ? op.getLagOrOne() : LengthAttr());
  mirrored.getBody().push_back(block);
  block = nullptr;
  returnStates(mirrored);
  for (auto [list, number] : gradients)
    outer.accumulate(list, mirrored->getResult(carried.size() + number));
  for (const Sum &sum : made)
    returnList(sum, mirrored);
  for (const Sum &sum : sums)
    returnSum(sum, mirrored);
}

/// To the initial states, what the first steps give to the states before them.
void OperatorMirror::returnStates(ComputeOp made) {
  Location loc = op.getLoc();
  for (auto [i, state] : llvm::enumerate(carried)) {
    Value init = op.getInits()[state], first = made->getResult(i);
    if (!outer.activity.isVaried(init))
      continue;
    if (hasLag) {
      LengthAttr lag = op.getLagOrOne();
      if (op.isRight())
        lag = LengthAttr::get(op.getContext(), 0) - lag;
      first = buildSumOfFilled(outer.b, loc, first, lag);
    }
    outer.accumulate(init, narrow(outer.b, loc, first, init.getType()));
  }
}

/// An element of a list that the mirror goes through.
bool OperatorMirror::isElement(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &inner.mirror && !llvm::is_contained(stateArguments, value);
}

/// A value of the mirror's block as the list of it, outside.
Value OperatorMirror::listOf(Value value, ComputeOp made) {
  unsigned states = carried.size();
  if (isElement(value))
    return inner.lists[cast<BlockArgument>(value).getArgNumber() - states];
  return made->getResult(states + std::distance(emits.begin(), llvm::find(emits, value)));
}

/// What is summed, in another body: of copies of the operations that make it.
Value OperatorMirror::cloneMade(OpBuilder &b, const Sum &sum, IRMapping &mapping) {
  for (Operation *each : sum.made)
    b.clone(*each, mapping);
  return mapping.lookupOrDefault(sum.part);
}

void OperatorMirror::returnList(const Sum &sum, ComputeOp mirrored) {
  Location loc = op.getLoc();
  SmallVector<Value> lists;
  for (Value source : sum.sources)
    lists.push_back(listOf(source, mirrored));
  Type type = ListType::wrap(op.getLength(), sum.part.getType());
  ComputeOp map = createCompute(outer.b, loc, OperatorKind::Map, type, lists, ValueRange(), ValueRange());
  auto *body = new Block();
  map.getBody().push_back(body);
  IRMapping mapping;
  for (auto [source, list] : llvm::zip_equal(sum.sources, lists))
    mapping.map(source, body->addArgument(cast<ListType>(list.getType()).getPeeled(), loc));
  OpBuilder at = OpBuilder::atBlockEnd(body);
  Value part = cloneMade(at, sum, mapping);
  YieldOp::create(at, loc, ValueRange{part}, ValueRange());
  outer.accumulate(sum.target, map->getResult(0));
}

void OperatorMirror::returnSum(const Sum &sum, ComputeOp mirrored) {
  Location loc = op.getLoc();
  OpBuilder &b = outer.b;
  SmallVector<Value> lists;
  for (Value source : sum.sources)
    lists.push_back(listOf(source, mirrored));
  Type type = sum.target.getType(), wide = wideOf(type);
  Value zero = buildZero(b, loc, wide);
  ComputeOp total = createCompute(b, loc, OperatorKind::Reduce, wide, lists, zero, sum.made.empty() ? ValueRange() : ValueRange(zero));
  auto *body = new Block();
  total.getBody().push_back(body);
  Value state = body->addArgument(wide, loc);
  IRMapping mapping;
  for (auto [source, list] : llvm::zip_equal(sum.sources, lists))
    mapping.map(source, body->addArgument(cast<ListType>(list.getType()).getPeeled(), loc));
  OpBuilder at = OpBuilder::atBlockEnd(body);
  Value part = cloneMade(at, sum, mapping);
  YieldOp::create(at, loc, ValueRange{buildSum(at, loc, state, widen(at, loc, part))}, ValueRange());
  if (!sum.made.empty()) {
    auto *combine = new Block();
    total->getRegion(1).push_back(combine);
    combine->addArguments({wide, wide}, {loc, loc});
    OpBuilder in = OpBuilder::atBlockEnd(combine);
    Value both = buildSum(in, loc, combine->getArgument(0), combine->getArgument(1));
    YieldOp::create(in, loc, ValueRange{both}, ValueRange());
  }
  outer.accumulate(sum.target, narrow(b, loc, total->getResult(0), type));
}
