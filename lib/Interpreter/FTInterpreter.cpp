//===- FTInterpreter.cpp - Reference interpreter of ft --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls, the binding of lengths, and the compute operators (FT Table 1).
//
//===----------------------------------------------------------------------===//
#include "ft/Interpreter/FTInterpreter.h"
#include "FTAccessEval.h"
#include "TSSAEval.h"
#include "ft/Dialect/FT/IR/FTForms.h"
#include "ft/Dialect/FT/IR/FunctionForm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::interp;

/// Calls nest no deeper: a recursive function is an error, not a crash.
static constexpr size_t maxCallDepth = 200;

namespace {
/// Short forms mean the operations that they stand for, which are kept: the evaluator remembers
/// operations by their address.
class ShortForms {
public:
  LogicalResult evaluate(Operation *op, TensorEval &eval, Environment &env) {
    auto &[block, value] = expanded[op];
    if (!block) {
      op->getContext()
          ->loadDialect<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
      block = std::make_unique<Block>();
      OpBuilder builder(op->getContext());
      builder.setInsertionPointToStart(block.get());
      value = expandShortForm(builder, op);
    }
    for (Operation &part : *block)
      if (failed(eval.evalOp(&part, env)))
        return failure();
    FailureOr<RuntimeValue> result = eval.read(op, value, env);
    if (failed(result))
      return failure();
    env.bind(op->getResult(0), *result);
    return success();
  }

private:
  llvm::DenseMap<Operation *, std::pair<std::unique_ptr<Block>, Value>> expanded;
};
} // namespace

FTInterpreter::FTInterpreter(const RunOptions &options) : eval(options.truth) {
  auto forms = std::make_shared<ShortForms>();
  eval.setExtension([this, forms](Operation *op, Environment &env) -> std::optional<LogicalResult> {
    if (isShortForm(op))
      return forms->evaluate(op, eval, env);
    return evalFTOp(op, env);
  });
}

//===----------------------------------------------------------------------===//
// Calls and lengths
//===----------------------------------------------------------------------===//

/// Binds the names in a value's type to the lengths of its lists.
static LogicalResult bindValue(LengthBinder &binder, unsigned argument, const RuntimeValue &value,
                               Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    if (value.isTuple() && value.getLength() == static_cast<int64_t>(tuple.size()))
      for (auto [item, member] : llvm::zip_equal(value.getItems(), tuple.getTypes()))
        if (failed(bindValue(binder, argument, item, member)))
          return failure();
    return success();
  }
  auto list = dyn_cast<ListType>(type);
  if (!list || !value.isList())
    return success(); // checkValue reports what does not fit
  LengthAttr length = list.getLength();
  if (StringAttr name = length.getSingleName(); name && !length.getRagged())
    if (failed(binder.bindName(argument, name, value.getLength())))
      return failure();
  for (const RuntimeValue &item : value.getItems())
    if (failed(bindValue(binder, argument, item, list.getPeeled())))
      return failure();
  return success();
}

void mlir::ft::interp::collectRaggedNames(Type type, SmallVectorImpl<StringAttr> &names) {
  if (auto tuple = dyn_cast<TupleType>(type))
    for (Type member : tuple.getTypes())
      collectRaggedNames(member, names);
  if (auto list = dyn_cast<ListType>(type)) {
    for (LengthAttr length : list.getLengths())
      if (length.getRagged() && !llvm::is_contained(names, length.getNames().front()))
        names.push_back(length.getNames().front());
    collectRaggedNames(list.getElement(), names);
  }
}

/// The lengths of the lists of the ragged level `name` of a value, in order.
static void collectRaggedLengths(const RuntimeValue &value, Type type, StringAttr name,
                                 std::vector<int64_t> &found) {
  if (auto tuple = dyn_cast<TupleType>(type); tuple && value.isTuple())
    for (auto [item, member] : llvm::zip(value.getItems(), tuple.getTypes()))
      collectRaggedLengths(item, member, name, found);
  auto list = dyn_cast<ListType>(type);
  if (!list || !value.isList())
    return;
  if (list.getLength().getRagged() && list.getLength().getNames().front() == name)
    found.push_back(value.getLength());
  for (const RuntimeValue &item : value.getItems())
    collectRaggedLengths(item, list.getPeeled(), name, found);
}

LogicalResult FTInterpreter::bindArguments(func::FuncOp function, ArrayRef<RuntimeValue> arguments,
                                           Activation &activation) {
  FunctionType type = function.getFunctionType();
  if (arguments.size() != type.getNumInputs())
    return mlir::emitError(function.getLoc(), "expects ")
           << type.getNumInputs() << " arguments, found " << arguments.size();
  LengthBinder binder(activation.lengths, argumentLocations(function.getBody(), function.getLoc(),
                                                            type.getNumInputs()));
  for (auto [i, value] : llvm::enumerate(arguments))
    if (failed(bindValue(binder, i, value, type.getInput(i))))
      return failure();
  for (auto [i, value] : llvm::enumerate(arguments)) {
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return mlir::emitError(function.getArgument(i).getLoc()) << "argument " << i << ": ";
    };
    if (failed(checkValue(value, type.getInput(i), activation.lengths, emitError)))
      return failure();
    SmallVector<StringAttr> names;
    collectRaggedNames(type.getInput(i), names);
    for (StringAttr name : names) {
      std::vector<int64_t> found;
      collectRaggedLengths(value, type.getInput(i), name, found);
      auto [it, isNew] = activation.lengths.ragged.try_emplace(name, found);
      if (!isNew && it->second != found)
        return emitError() << "has other lengths at the ragged level " << name
                           << " than an earlier argument";
    }
    activation.env.bind(function.getArgument(i), value);
  }
  return checkBounds(function, activation.lengths);
}

FailureOr<SmallVector<RuntimeValue>> FTInterpreter::call(func::FuncOp function,
                                                         ArrayRef<RuntimeValue> arguments,
                                                         const LengthBinding &given,
                                                         LengthBinding *bound) {
  if (function.isExternal())
    return mlir::emitError(function.getLoc(), "the interpreter runs functions that have a body");
  if (failed(verifyOneBlock(function)))
    return failure();
  Activation activation;
  activation.lengths = given;
  if (failed(bindArguments(function, arguments, activation)))
    return failure();
  if (bound)
    *bound = activation.lengths;
  activations.push_back(&activation);
  LogicalResult ran = eval.evalBlock(function.getBody().front(), activation.env);
  activations.pop_back();
  if (failed(ran))
    return failure();
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<RuntimeValue> results;
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    FailureOr<RuntimeValue> result = eval.read(terminator, value, activation.env);
    if (failed(result))
      return failure();
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return mlir::emitError(terminator->getLoc(), "result ") << i << ": ";
    };
    if (failed(checkValue(*result, value.getType(), activation.lengths, emitError)))
      return failure();
    results.push_back(*result);
  }
  return results;
}

LogicalResult FTInterpreter::evalCall(func::CallOp op, Environment &env) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return mlir::emitError(op.getLoc(), "calls an unknown function ") << op.getCalleeAttr();
  if (activations.size() >= maxCallDepth)
    return mlir::emitError(op.getLoc(), "calls nest deeper than ") << maxCallDepth;
  SmallVector<RuntimeValue> arguments;
  for (Value operand : op.getOperands()) {
    FailureOr<RuntimeValue> value = eval.read(op, operand, env);
    if (failed(value))
      return failure();
    arguments.push_back(*value);
  }
  // Types agree, so a name means the same length on both sides.
  LengthBinding given;
  given.names = activations.back()->lengths.names;
  FailureOr<SmallVector<RuntimeValue>> results = call(callee, arguments, given);
  if (failed(results)) {
    // The innermost error is out already; say which calls led to it, but not all of a recursion.
    if (++numCallers <= 5)
      mlir::emitRemark(op.getLoc()) << "called from here";
    return failure();
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
    env.bind(result, value);
  return success();
}

std::optional<LogicalResult> FTInterpreter::evalFTOp(Operation *op, Environment &env) {
  if (auto callOp = dyn_cast<func::CallOp>(op))
    return evalCall(callOp, env);
  if (auto compute = dyn_cast<ComputeOp>(op))
    return evalCompute(compute, env);
  if (isa_and_nonnull<tssa::TSSADialect>(op->getDialect()))
    return TSSAEval(eval, env).run(op);
  if (auto select = dyn_cast<arith::SelectOp>(op); select && isa<tssa::MutableTensorType>(select.getType())) {
    FailureOr<int64_t> which = eval.readInt(op, select.getCondition(), env);
    if (failed(which))
      return failure();
    FailureOr<RuntimeValue> chosen =
        eval.read(op, *which ? select.getTrueValue() : select.getFalseValue(), env);
    if (failed(chosen))
      return failure();
    env.bind(select.getResult(), *chosen);
    return success();
  }
  if (isa_and_nonnull<FTDialect>(op->getDialect()))
    return FTAccessEval(*this, env, activations.back()->lengths).run(op);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Compute operators
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<RuntimeValue>> FTInterpreter::readAll(Operation *user, ValueRange values, Environment &env) {
  SmallVector<RuntimeValue> result;
  for (Value value : values) {
    FailureOr<RuntimeValue> found = eval.read(user, value, env);
    if (failed(found))
      return failure();
    result.push_back(*found);
  }
  return result;
}

/// Results: the states, of a scan those after each step, then what the steps have put aside.
static void bindResults(ComputeOp op, Environment &env, int64_t count, ArrayRef<SmallVector<RuntimeValue>> history,
                        ArrayRef<RuntimeValue> last, MutableArrayRef<RuntimeValue::Items> collected) {
  using Items = RuntimeValue::Items;
  const unsigned numStates = op.isMap() ? 0 : op.getNumStates();
  for (unsigned i = 0; i < numStates; ++i) {
    if (op.isFold()) {
      env.bind(op->getResult(i), last[i]);
      continue;
    }
    Items items(count);
    for (int64_t step = 0; step < count; ++step)
      items[op.isRight() ? count - 1 - step : step] = history[step][i];
    env.bind(op->getResult(i), RuntimeValue::list(std::move(items)));
  }
  for (auto [i, items] : llvm::enumerate(collected))
    env.bind(op->getResult(numStates + i), RuntimeValue::list(std::move(items)));
}

LogicalResult FTInterpreter::evalCompute(ComputeOp op, Environment &env) {
  using Items = RuntimeValue::Items;
  FailureOr<SmallVector<RuntimeValue>> lists = readAll(op, op.getLists(), env);
  FailureOr<SmallVector<RuntimeValue>> inits = readAll(op, op.getInits(), env);
  if (failed(lists) || failed(inits))
    return failure();
  int64_t count = lists->front().getLength();
  for (const RuntimeValue &list : *lists)
    if (list.getLength() != count)
      return mlir::emitError(op.getLoc(), "lists differ in length: ")
             << count << " and " << list.getLength();

  auto element = [&](int64_t step, size_t list) -> const RuntimeValue & {
    return (*lists)[list].getItems()[op.isRight() ? count - 1 - step : step];
  };

  // `history[t]` holds the states after step t, in the order of traversal; a
  // fold needs the last ones only. Without `init` the first elements are the
  // first states and the traversal starts at the second.
  std::vector<SmallVector<RuntimeValue>> history;
  SmallVector<RuntimeValue> last = *inits;
  const unsigned numStates = op.isMap() ? 0 : op.getNumStates();
  LengthBinding &lengths = activations.back()->lengths;
  const std::optional<int64_t> bound = lengths.evaluate(op.getLagOrOne());
  if (!bound || *bound < 1)
    return mlir::emitError(op.getLoc(), "the lag ")
           << op.getLagOrOne().str() << " is no length of at least 1 here";
  const int64_t lag = *bound;
  int64_t first = 0;
  if (!op.isMap() && inits->empty()) {
    if (count == 0)
      return mlir::emitError(op.getLoc(), "an aggregate without `init` needs at least one element");
    for (size_t list = 0; list < lists->size(); ++list)
      last.push_back(element(0, list));
    if (op.isScan())
      history.push_back(last);
    first = 1;
  }

  // After the operator its name means nothing.
  llvm::scope_exit forget([&] {
    if (StringAttr name = op.getLayerName())
      lengths.names.erase(name);
  });
  SmallVector<Items> collected(op->getNumResults() - numStates, Items(count));
  YieldOp yield = op.getYield();
  for (int64_t step = first; step < count; ++step) {
    const SmallVector<RuntimeValue> &state = !op.isScan()  ? last
                                             : step >= lag ? history[step - lag]
                                                           : *inits;
    for (unsigned i = 0; i < numStates; ++i)
      env.bind(op.getStateArgs()[i], state[i]);
    for (auto [i, arg] : llvm::enumerate(op.getElementArgs()))
      env.bind(arg, element(step, i));
    if (StringAttr name = op.getLayerName())
      lengths.names[name] = op.getLayerValues()[op.isRight() ? count - 1 - step : step];
    if (failed(eval.evalBlock(op.getBody().front(), env)))
      return failure();
    FailureOr<SmallVector<RuntimeValue>> yielded = readAll(yield, yield->getOperands(), env);
    if (failed(yielded))
      return failure();
    int64_t place = op.isRight() ? count - 1 - step : step;
    for (auto [i, items] : llvm::enumerate(collected))
      items[place] = (*yielded)[numStates + i];
    yielded->truncate(numStates);
    if (op.isScan())
      history.push_back(*yielded);
    else
      last = *yielded;
  }

  bindResults(op, env, count, history, last, collected);
  return success();
}
