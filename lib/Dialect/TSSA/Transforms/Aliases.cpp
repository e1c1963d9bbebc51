//===- Aliases.cpp - which mutable tensors share storage ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of what becomes what, over views and control flow: no order of execution is
// asked, so that it holds at every point.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/TSSA/Transforms/Aliases.h"
#include "ft/Dialect/TSSA/IR/StridedView.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tssa;

bool mlir::tssa::hasMutableTensors(func::FuncOp function) {
  auto any = [](TypeRange types) { return llvm::any_of(types, [](Type t) { return isMutable(t); }); };
  if (any(function.getArgumentTypes()) || any(function.getResultTypes()))
    return true;
  return function
      .walk([&](Operation *op) {
        return any(op->getResultTypes()) || any(op->getOperandTypes()) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

StringRef mlir::tssa::stringify(AliasKind kind) {
  switch (kind) {
  case AliasKind::No:
    return "no";
  case AliasKind::May:
    return "may";
  case AliasKind::Part:
    return "part";
  case AliasKind::Must:
    return "must";
  }
  llvm_unreachable("unknown kind");
}

Value mlir::tssa::stepsFromBase(Value view, Steps &steps) {
  while (auto op = view.getDefiningOp<ViewOp>()) {
    Steps own = getSteps(op.getSteps(), op.getNumbers());
    if (steps.empty() || steps.front().kind != StepKind::AsStrided)
      steps.insert(steps.begin(), own.begin(), own.end());
    view = op.getSource();
  }
  for (size_t i = steps.size(); i-- > 1;)
    if (steps[i].kind == StepKind::AsStrided) {
      steps.erase(steps.begin(), steps.begin() + i);
      break;
    }
  return view;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void AliasGraph::addEdge(Value from, Value to) {
  if (isMutable(from) && isMutable(to))
    next[from].push_back(to);
}

void AliasGraph::addCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  bool known = callee && !callee.isExternal() && callee != function;
  // A function that calls itself in a circle is taken to do anything to its arguments.
  static thread_local SmallVector<func::FuncOp> stack;
  known = known && !llvm::is_contained(stack, callee);
  std::optional<AliasGraph> inner;
  if (known) {
    stack.push_back(function);
    inner.emplace(callee);
    stack.pop_back();
  }
  SmallVector<unsigned> written;
  if (inner)
    written = inner->writtenArguments();
  for (OpOperand &operand : call->getOpOperands())
    if (isMutable(operand.get()) && (!known || llvm::is_contained(written, operand.getOperandNumber())))
      writers.push_back(&operand);
  for (OpResult result : call.getResults()) {
    if (!isMutable(result))
      continue;
    SmallVector<unsigned> from;
    if (inner)
      from = inner->returnedArguments(result.getResultNumber());
    for (OpOperand &operand : call->getOpOperands())
      if (!known || llvm::is_contained(from, operand.getOperandNumber()))
        addEdge(operand.get(), result);
  }
}

void AliasGraph::collect(func::FuncOp function) {
  auto addAll = [&](ValueRange from, ValueRange to) {
    for (auto [a, b] : llvm::zip_equal(from, to))
      addEdge(a, b);
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isMutable(argument))
            order.push_back(argument);
    for (Value result : op->getResults())
      if (isMutable(result))
        order.push_back(result);
    if (auto view = dyn_cast<ViewOp>(op)) {
      addEdge(view.getSource(), view.getResult());
    } else if (auto mutate = dyn_cast<MutateOp>(op)) {
      writers.push_back(&mutate.getDestMutable());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      addAll(loop.getInitArgs(), loop.getRegionIterArgs());
      addAll(loop.getYieldedValues(), loop.getRegionIterArgs());
      addAll(loop.getInitArgs(), loop.getResults());
      addAll(loop.getYieldedValues(), loop.getResults());
    } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults()) {
      addAll(branch.thenYield().getOperands(), branch.getResults());
      addAll(branch.elseYield().getOperands(), branch.getResults());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      addAll(loop.getInits(), loop.getBeforeArguments());
      addAll(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
      addAll(loop.getConditionOp().getArgs(), loop.getAfterArguments());
      addAll(loop.getConditionOp().getArgs(), loop.getResults());
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      addEdge(select.getTrueValue(), select.getResult());
      addEdge(select.getFalseValue(), select.getResult());
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      addCall(call);
    }
  });
}

/// What no other mutable tensor becomes.
static bool isStorage(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa<NewOp, func::CallOp>(value.getDefiningOp());
}

AliasGraph::AliasGraph(func::FuncOp function) : function(function) {
  collect(function);
  SmallVector<Value> worklist;
  for (Value value : order)
    if (isStorage(value)) {
      reach[value].insert(value);
      worklist.push_back(value);
    }
  while (!worklist.empty()) {
    Value from = worklist.pop_back_val();
    SmallVector<Value> here(reach[from].begin(), reach[from].end());
    for (Value to : successors(from)) {
      auto &set = reach[to];
      size_t before = set.size();
      set.insert(here.begin(), here.end());
      if (set.size() != before)
        worklist.push_back(to);
    }
  }
}

ArrayRef<Value> AliasGraph::successors(Value value) const {
  auto it = next.find(value);
  return it == next.end() ? ArrayRef<Value>() : ArrayRef<Value>(it->second);
}

const llvm::SmallSetVector<Value, 4> &AliasGraph::storages(Value value) const {
  static const llvm::SmallSetVector<Value, 4> none;
  auto it = reach.find(value);
  return it == reach.end() ? none : it->second;
}

SmallVector<unsigned> AliasGraph::writtenArguments() const {
  llvm::SmallBitVector written(func::FuncOp(function).getNumArguments());
  for (OpOperand *write : writers)
    for (Value storage : storages(write->get()))
      if (auto argument = dyn_cast<BlockArgument>(storage))
        written.set(argument.getArgNumber());
  return SmallVector<unsigned>(written.set_bits_begin(), written.set_bits_end());
}

SmallVector<unsigned> AliasGraph::returnedArguments(unsigned number) const {
  func::FuncOp whole = function;
  llvm::SmallBitVector found(whole.getNumArguments());
  if (!whole.isExternal())
    for (auto ret : whole.getOps<func::ReturnOp>())
      for (Value storage : storages(ret.getOperand(number)))
        if (auto argument = dyn_cast<BlockArgument>(storage))
          found.set(argument.getArgNumber());
  return SmallVector<unsigned>(found.set_bits_begin(), found.set_bits_end());
}

AliasKind AliasGraph::alias(Value a, Value b) const {
  if (a == b)
    return AliasKind::Must;
  Steps stepsA, stepsB;
  Value baseA = stepsFromBase(a, stepsA), baseB = stepsFromBase(b, stepsB);
  if (baseA == baseB) // a storage, or whatever a merge chose
    return compareSteps(stepsA, stepsB, cast<MutableTensorType>(baseA.getType()).getShape());
  const auto &from = storages(a);
  for (Value storage : storages(b))
    if (from.contains(storage))
      return AliasKind::May;
  return AliasKind::No;
}

//===----------------------------------------------------------------------===//
// Parts of one storage
//===----------------------------------------------------------------------===//

namespace {
/// An index as a sum of values and a constant.
struct IndexSum {
  llvm::SmallDenseMap<Value, int64_t, 4> terms;
  int64_t constant = 0;

  void add(OpFoldResult value, int64_t factor, unsigned depth = 0) {
    if (std::optional<int64_t> known = getConstantIntValue(value)) {
      constant += factor * *known;
      return;
    }
    Value v = cast<Value>(value);
    if (depth < 8) {
      if (auto sum = v.getDefiningOp<arith::AddIOp>())
        return add(sum.getLhs(), factor, depth + 1), add(sum.getRhs(), factor, depth + 1);
      if (auto difference = v.getDefiningOp<arith::SubIOp>())
        return add(difference.getLhs(), factor, depth + 1),
               add(difference.getRhs(), -factor, depth + 1);
      if (auto product = v.getDefiningOp<arith::MulIOp>()) {
        if (auto by = getConstantIntValue(product.getRhs()))
          return add(product.getLhs(), factor * *by, depth + 1);
        if (auto by = getConstantIntValue(product.getLhs()))
          return add(product.getRhs(), factor * *by, depth + 1);
      }
    }
    if ((terms[v] += factor) == 0)
      terms.erase(v);
  }
  std::optional<int64_t> asConstant() const {
    return terms.empty() ? std::optional(constant) : std::nullopt;
  }
};

/// Indices from, from + by, ... of one dimension.
struct IndexRange {
  OpFoldResult from;
  std::optional<int64_t> count;
  int64_t by = 1;
  /// An index that may be negative, and then counts from the end of this size.
  std::optional<int64_t> wraps = std::nullopt;
};
} // namespace

static std::optional<int64_t> difference(OpFoldResult a, OpFoldResult b) {
  IndexSum sum;
  sum.add(a, 1);
  sum.add(b, -1);
  return sum.asConstant();
}

/// The range that a select, slice or narrow takes of its dimension of size `size`.
static std::optional<IndexRange> rangeOf(const Step &step, int64_t size) {
  if (step.kind == StepKind::Select) {
    IndexRange range{step.numbers[1], 1, 1};
    if (std::optional<int64_t> index = constantNumber(step, 1); index && *index < 0) {
      if (ShapedType::isDynamic(size))
        return std::nullopt;
      range.from = Builder(cast<Attribute>(step.numbers[1]).getContext()).getIndexAttr(*index + size);
    }
    if (!isNonNegative(range.from))
      range.wraps = size;
    return range;
  }
  if (step.kind == StepKind::Narrow)
    return IndexRange{step.numbers[1], constantNumber(step, 2), *constantNumber(step, 3)};
  if (step.kind != StepKind::Slice || ShapedType::isDynamic(size))
    return std::nullopt;
  std::optional<int64_t> from = constantNumber(step, 1), to = constantNumber(step, 2);
  if (!from || !to)
    return std::nullopt;
  int64_t by = *constantNumber(step, 3);
  auto [first, count] = clampSlice(size, *from, *to, by);
  return IndexRange{Builder(cast<Attribute>(step.numbers[3]).getContext()).getIndexAttr(first), count, by};
}

/// Whether two ranges have an index in common: surely not, surely, or nothing knows.
static AliasKind compareRanges(const IndexRange &a, const IndexRange &b) {
  std::optional<int64_t> apart = difference(b.from, a.from);
  if (!apart || !a.count || !b.count)
    return AliasKind::May;
  if ((a.wraps || b.wraps) && *apart != 0) {
    // i and i + k are the same index where k is a multiple of the size.
    int64_t size = a.wraps.value_or(0);
    return a.wraps == b.wraps && size > 0 && *apart % size != 0 ? AliasKind::No : AliasKind::May;
  }
  if (*a.count == 0 || *b.count == 0)
    return AliasKind::No;
  if (*apart == 0 && *a.count == *b.count && (a.by == b.by || *a.count == 1))
    return AliasKind::Must;
  int64_t lastA = (*a.count - 1) * a.by, lastB = *apart + (*b.count - 1) * b.by;
  if (*apart > lastA || lastB < 0)
    return AliasKind::No;
  // Same stride, other remainder: the even and the odd rows.
  if (a.by == b.by)
    return *apart % a.by != 0 ? AliasKind::No : AliasKind::Part;
  if (a.by == 1 || b.by == 1) {
    const IndexRange &fine = a.by == 1 ? a : b;
    int64_t begin = a.by == 1 ? 0 : *apart, end = begin + *fine.count - 1;
    int64_t from = a.by == 1 ? *apart : 0, by = a.by == 1 ? b.by : a.by,
            count = a.by == 1 ? *b.count : *a.count;
    for (int64_t i = 0; i < std::min<int64_t>(count, 4096); ++i)
      if (from + i * by >= begin && from + i * by <= end)
        return AliasKind::Part;
    return count <= 4096 ? AliasKind::No : AliasKind::May;
  }
  return AliasKind::May;
}

AliasKind mlir::tssa::compareSteps(ArrayRef<Step> a, ArrayRef<Step> b, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes(shape);
  auto quiet = [&]() -> InFlightDiagnostic { return InFlightDiagnostic(); };
  // Over the steps that both take alike: the same part of the same part.
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    FailureOr<SmallVector<int64_t>> inner = inferShape(sizes, a.front(), quiet);
    if (failed(inner))
      return AliasKind::May;
    sizes = *inner;
    a = a.drop_front();
    b = b.drop_front();
  }
  if (a.empty() && b.empty())
    return AliasKind::Must;
  // Ranges of the dimensions that both still have in place: one that is apart decides.
  auto ranges = [&](ArrayRef<Step> steps, SmallVector<std::optional<IndexRange>> &found) {
    // found[d]: the range of dimension d, or nothing for all of it.
    found.assign(sizes.size(), std::nullopt);
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < sizes.size(); ++d)
      dims.push_back(d);
    for (const Step &step : steps) {
      if (step.kind != StepKind::Select && step.kind != StepKind::Slice &&
          step.kind != StepKind::Narrow)
        return false;
      unsigned dim = *constantNumber(step, 0), base = dims[dim];
      if (found[base])
        return false; // a range of a range
      found[base] = rangeOf(step, sizes[base]);
      if (!found[base])
        return false;
      if (step.kind == StepKind::Select)
        dims.erase(dims.begin() + dim);
    }
    return true;
  };
  SmallVector<std::optional<IndexRange>> rangesA, rangesB;
  bool allA = ranges(a, rangesA), allB = ranges(b, rangesB);
  AliasKind result = AliasKind::Must;
  for (auto [x, y] : llvm::zip_equal(rangesA, rangesB)) {
    AliasKind here = x && y   ? compareRanges(*x, *y)
                     : x || y ? ((x ? x : y)->count == 0 ? AliasKind::No : AliasKind::Part)
                              : AliasKind::Must;
    if (here == AliasKind::No)
      return AliasKind::No;
    if (here != AliasKind::Must && result != AliasKind::May)
      result = here;
    if (here == AliasKind::May)
      result = AliasKind::May;
  }
  if (!allA || !allB)
    return AliasKind::May;
  // The same elements as parts of other shapes are not the same tensors.
  if (result == AliasKind::Must && a.size() != b.size())
    return AliasKind::Part;
  return result;
}
