//===- RewriteMutations.cpp - access, assign and update -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrite mutation (DAC'24 §4.1.1). A write assigns to the whole storage, through
// the chain of views that leads to it: the paper's *pass up*. A read accesses the
// storage through its chain where it stands: that is *pass down* on demand, so that views
// nothing reads again are never accessed anew.
//
//===----------------------------------------------------------------------===//
#include "Functionalize.h"
#include "ft/Dialect/TSSA/IR/StridedView.h"

using namespace mlir;
using namespace mlir::tssa;

namespace {
/// Sizes and strides of a view, kDynamic where they are not known.
struct StaticLayout {
  SmallVector<int64_t, 4> sizes, strides;
  bool dense = true; // row-major, whatever the sizes

  explicit StaticLayout(ArrayRef<int64_t> shape) : sizes(shape) {
    if (!ShapedType::isDynamicShape(shape))
      strides = StridedView::dense(shape).strides;
    else
      strides.assign(shape.size(), ShapedType::kDynamic);
  }
};

class Rewriter {
public:
  explicit Rewriter(func::FuncOp function) : function(function), b(function.getContext()) {}
  LogicalResult run(ArrayRef<unsigned> written);

private:
  /// The storage's name and the steps to `value`, checked.
  LogicalResult resolve(Operation *user, Value value, bool writes, Value &storage, Steps &steps);
  LogicalResult checkView(Operation *user, Value value, bool writes);
  LogicalResult rewriteRead(ReadOp op);
  LogicalResult rewriteMutate(MutateOp op);
  LogicalResult rewriteReturn(ArrayRef<unsigned> written);
  Value emitAccess(Operation *at, Value storage, ArrayRef<Step> steps, RankedTensorType type);

  func::FuncOp function;
  OpBuilder b;
  llvm::DenseMap<Value, Value> names; // of storages
};
} // namespace

/// What a storage holds: its name may have the mutable type still.
static RankedTensorType valueTypeOf(Value storage) {
  if (auto type = dyn_cast<MutableTensorType>(storage.getType()))
    return type.getValueType();
  return cast<RankedTensorType>(storage.getType());
}

/// Takes a step over sizes and strides that may be unknown; says why it has no view.
static std::string takeStep(StaticLayout &layout, const Step &step) {
  if (step.kind == StepKind::AsStrided) {
    // Of the storage, whatever its sizes: its own numbers say all.
    unsigned rank = step.numbers.size() / 2;
    auto number = [&](unsigned i) { return constantNumber(step, i).value_or(ShapedType::kDynamic); };
    layout = StaticLayout(SmallVector<int64_t>(rank, ShapedType::kDynamic));
    for (unsigned d = 0; d < rank; ++d) {
      layout.sizes[d] = number(1 + d);
      layout.strides[d] = number(1 + rank + d);
    }
    layout.dense = false;
    return "";
  }
  bool known = !ShapedType::isDynamicShape(layout.sizes) && !ShapedType::isDynamicShape(layout.strides);
  SmallVector<int64_t> numbers;
  for (unsigned i = 0; i < step.numbers.size(); ++i) {
    std::optional<int64_t> number = constantNumber(step, i);
    // Where a part begins does not matter here: anywhere that is in range.
    bool place = (step.kind == StepKind::Select || step.kind == StepKind::Narrow) && i == 1;
    known &= number.has_value() || place;
    numbers.push_back(number.value_or(0));
  }
  auto quiet = []() -> InFlightDiagnostic { return InFlightDiagnostic(); };
  if (known) {
    StridedView view{0, layout.sizes, layout.strides};
    // Range errors are the program's, at run time.
    std::string problem = view.apply(step.kind, numbers, std::numeric_limits<int64_t>::max());
    if (problem.empty()) {
      layout.sizes = view.sizes;
      layout.strides = view.strides;
      layout.dense &= step.kind == StepKind::Reshape || step.kind == StepKind::Squeeze ||
                      step.kind == StepKind::Unsqueeze;
      return "";
    }
    if (step.kind == StepKind::Reshape)
      return problem;
  } else if (step.kind == StepKind::Reshape && !layout.dense) {
    return "whether a view of these sizes needs a copy depends on sizes or strides that are not "
           "known";
  }
  FailureOr<SmallVector<int64_t>> shape = inferShape(layout.sizes, step, quiet);
  if (failed(shape))
    return "";
  // Strides that stay known: those of dimensions that the step leaves alone.
  SmallVector<int64_t, 4> strides(shape->size(), ShapedType::kDynamic);
  if (step.kind == StepKind::Slice || step.kind == StepKind::Narrow) {
    strides = layout.strides;
    int64_t dim = numbers[0];
    if (!ShapedType::isDynamic(strides[dim]))
      strides[dim] *= std::max<int64_t>(1, numbers[3]);
  } else if (step.kind == StepKind::Select) {
    strides = layout.strides;
    strides.erase(strides.begin() + numbers[0]);
  } else if (step.kind == StepKind::Permute) {
    for (auto [i, dim] : llvm::enumerate(numbers))
      strides[i] = layout.strides[dim];
  }
  layout.dense &= step.kind == StepKind::Reshape || step.kind == StepKind::Unsqueeze;
  layout.sizes.assign(shape->begin(), shape->end());
  layout.strides = strides;
  return "";
}

/// Whether a step may make two elements one.
static bool mayRepeat(const Step &step, ArrayRef<int64_t> sizes) {
  auto number = [&](unsigned i) { return constantNumber(step, i); };
  if (step.kind == StepKind::Unfold)
    return *number(2) < *number(1);
  if (step.kind == StepKind::AsStrided)
    return true; // asked of the strides
  if (step.kind != StepKind::Expand)
    return false;
  int64_t extra = int64_t(step.numbers.size()) - int64_t(sizes.size());
  for (int64_t i = 0; i < int64_t(step.numbers.size()); ++i) {
    std::optional<int64_t> wanted = number(i);
    int64_t old = i < extra ? 1 : sizes[i - extra];
    bool keeps = (wanted && (*wanted == -1 || *wanted == old)) || (!ShapedType::isDynamic(old) && old != 1);
    if (!keeps)
      return true;
  }
  return false;
}

LogicalResult Rewriter::checkView(Operation *user, Value value, bool writes) {
  SmallVector<ViewOp> views;
  for (Value v = value; auto view = v.getDefiningOp<ViewOp>(); v = view.getSource())
    views.push_back(view);
  Value storage = views.empty() ? value : views.back().getSource();
  StaticLayout layout(valueTypeOf(storage).getShape());
  ViewOp repeating;
  for (ViewOp view : llvm::reverse(views))
    for (const Step &step : getSteps(view.getSteps(), view.getNumbers())) {
      if (step.kind == StepKind::AsStrided) {
        repeating = nullptr;
        layout.dense = false;
      }
      if (mayRepeat(step, layout.sizes))
        repeating = view;
      std::string problem = takeStep(layout, step);
      if (problem.empty())
        continue;
      InFlightDiagnostic diag = user->emitError("uses an alias that is no view: ") << problem
                                << "; copy the tensor first";
      diag.attachNote(view.getLoc()) << "the alias is made here";
      return diag;
    }
  if (!writes || !repeating)
    return success();
  bool known = !ShapedType::isDynamicShape(layout.sizes) && !ShapedType::isDynamicShape(layout.strides);
  if (known && StridedView{0, layout.sizes, layout.strides}.isInjective() &&
      getSteps(repeating.getSteps(), repeating.getNumbers()).back().kind == StepKind::AsStrided)
    return success();
  InFlightDiagnostic diag = user->emitError("writes through an alias that repeats elements: one "
                                            "storage would get several values; copy the tensor first");
  diag.attachNote(repeating.getLoc()) << "the alias is made here";
  return diag;
}

LogicalResult Rewriter::resolve(Operation *user, Value value, bool writes, Value &storage,
                                Steps &steps) {
  Value base = stepsFromBase(value, steps);
  auto it = names.find(base);
  if (it == names.end()) {
    InFlightDiagnostic diag = user->emitError("uses a mutable tensor whose storage is not known");
    diag.attachNote(base.getLoc()) << "the alias is made here";
    return diag;
  }
  storage = it->second;
  return checkView(user, value, writes);
}

Value Rewriter::emitAccess(Operation *at, Value storage, ArrayRef<Step> steps, RankedTensorType type) {
  SmallVector<Value> numbers;
  ArrayAttr attrs = packSteps(b.getContext(), steps, numbers);
  return AccessOp::create(b, at->getLoc(), type, storage, attrs, numbers);
}

LogicalResult Rewriter::rewriteRead(ReadOp op) {
  Value storage;
  Steps steps;
  if (failed(resolve(op, op.getSource(), /*writes=*/false, storage, steps)))
    return failure();
  b.setInsertionPoint(op);
  op.replaceAllUsesWith(emitAccess(op, storage, steps, cast<RankedTensorType>(op.getType())));
  op.erase();
  return success();
}

LogicalResult Rewriter::rewriteMutate(MutateOp op) {
  Value storage;
  Steps steps;
  if (failed(resolve(op, op.getDest(), /*writes=*/true, storage, steps)))
    return failure();
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getDest().getType().getValueType();
  Value part;
  Value value = convertTo(b, loc, op.getValue(), type, [&](unsigned dim) {
    if (!part)
      part = emitAccess(op, storage, steps, type);
    return sizeOf(b, loc, part, dim);
  });
  SmallVector<Value> numbers;
  ArrayAttr attrs = packSteps(b.getContext(), steps, numbers);
  Value version = AssignOp::create(b, loc, valueTypeOf(storage), value, storage, attrs, numbers);
  UpdateOp::create(b, loc, version, storage);
  op.erase();
  return success();
}

LogicalResult Rewriter::rewriteReturn(ArrayRef<unsigned> written) {
  auto ret = cast<func::ReturnOp>(function.front().getTerminator());
  b.setInsertionPoint(ret);
  SmallVector<Value> values;
  for (Value value : ret.getOperands()) {
    if (isMutable(value)) {
      Value storage;
      Steps steps;
      RankedTensorType type = cast<MutableTensorType>(value.getType()).getValueType();
      if (failed(resolve(ret, value, /*writes=*/false, storage, steps)))
        return failure();
      value = emitAccess(ret, storage, steps, type);
    }
    values.push_back(value);
  }
  SmallVector<int64_t> pairs;
  for (unsigned argument : written) {
    pairs.append({int64_t(argument), int64_t(values.size())});
    Value name = function.getArgument(argument);
    values.push_back(emitAccess(ret, name, {}, cast<RankedTensorType>(name.getType())));
  }
  ret->setOperands(values);
  if (!pairs.empty())
    function->setAttr("tssa.writeback", b.getDenseI64ArrayAttr(pairs));
  SmallVector<Type> inputs(function.front().getArgumentTypes());
  function.setFunctionType(b.getFunctionType(inputs, TypeRange(ValueRange(values))));
  if (function.getResAttrsAttr())
    function.removeResAttrsAttr();
  return success();
}

LogicalResult Rewriter::run(ArrayRef<unsigned> written) {
  // Names first: arguments are values now, and new storage has a name of its own.
  for (BlockArgument argument : function.getArguments())
    if (isMutable(argument))
      names[argument] = argument;
  SmallVector<Operation *> ops, gone; // in order
  function.walk([&](Operation *op) {
    if (isa<NewOp, ReadOp, MutateOp, ViewOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (auto make = dyn_cast<NewOp>(op)) {
      b.setInsertionPoint(make);
      names[make.getResult()] = emitAccess(make, make.getValue(), {},
                                           cast<RankedTensorType>(make.getValue().getType()));
    }
  SmallVector<std::pair<BlockArgument, Type>> types;
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<MutableTensorType>(argument.getType()))
      types.push_back({argument, type.getValueType()});
  // Types of arguments change last: until then they are the mutable tensors' names.
  for (Operation *op : ops) {
    LogicalResult ok = success();
    if (isa<NewOp, ViewOp>(op))
      gone.push_back(op);
    if (auto read = dyn_cast<ReadOp>(op))
      ok = rewriteRead(read);
    else if (auto mutate = dyn_cast<MutateOp>(op))
      ok = rewriteMutate(mutate);
    if (failed(ok))
      return failure();
  }
  for (auto [argument, type] : types)
    argument.setType(type);
  if (failed(rewriteReturn(written)))
    return failure();
  for (Operation *op : llvm::reverse(gone))
    op->erase();
  return success();
}

LogicalResult mlir::tssa::rewriteMutations(func::FuncOp function, ArrayRef<unsigned> written) {
  return Rewriter(function).run(written);
}
