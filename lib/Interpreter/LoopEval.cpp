//===- LoopEval.cpp - Evaluation of structured control flow ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions and loops of scf and affine over values.
//
//===----------------------------------------------------------------------===//
#include "TensorOpEval.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ft::interp;

LogicalResult TensorEval::evalIf(Operation *op, Environment &env) {
  auto branch = cast<scf::IfOp>(op);
  FailureOr<int64_t> condition = readInt(op, branch.getCondition(), env);
  if (failed(condition))
    return failure();
  Region &taken = *condition ? branch.getThenRegion() : branch.getElseRegion();
  if (taken.empty())
    return success();
  if (failed(evalBlock(taken.front(), env)))
    return failure();
  Operation *yield = taken.front().getTerminator();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), yield->getOperands())) {
    FailureOr<RuntimeValue> yielded = read(yield, value, env);
    if (failed(yielded))
      return failure();
    env.bind(result, *yielded);
  }
  return success();
}

FailureOr<SmallVector<RuntimeValue>> TensorEval::readAll(Operation *user, ValueRange values, const Environment &env) {
  SmallVector<RuntimeValue> result;
  for (Value value : values) {
    FailureOr<RuntimeValue> found = read(user, value, env);
    if (failed(found))
      return failure();
    result.push_back(*found);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Loops in order
//===----------------------------------------------------------------------===//

LogicalResult TensorEval::runLoop(Operation *op, Block &body, ValueRange inits, int64_t lower, int64_t upper,
                                  int64_t step, Environment &env) {
  if (step <= 0)
    return mlir::emitError(op->getLoc(), "expects a positive step, found ") << step;
  FailureOr<SmallVector<RuntimeValue>> carried = readAll(op, inits, env);
  if (failed(carried))
    return failure();
  BlockArgument counter = body.getArgument(0);
  // Counted down, so that a bound near the largest integer ends.
  int64_t trips = upper > lower ? (uint64_t(upper) - uint64_t(lower) - 1) / step + 1 : 0;
  for (int64_t trip = 0; trip < trips; ++trip) {
    env.bind(counter, Tensor::scalarInt(counter.getType(), lower + trip * step));
    for (auto [arg, value] : llvm::zip_equal(body.getArguments().drop_front(), *carried))
      env.bind(arg, value);
    if (failed(evalBlock(body, env)))
      return failure();
    Operation *yield = body.getTerminator();
    carried = readAll(yield, yield->getOperands(), env);
    if (failed(carried))
      return failure();
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *carried))
    env.bind(result, value);
  return success();
}

LogicalResult TensorEval::evalFor(Operation *op, Environment &env) {
  auto loop = cast<scf::ForOp>(op);
  FailureOr<int64_t> lower = readInt(op, loop.getLowerBound(), env);
  FailureOr<int64_t> upper = readInt(op, loop.getUpperBound(), env);
  FailureOr<int64_t> step = readInt(op, loop.getStep(), env);
  if (failed(lower) || failed(upper) || failed(step))
    return failure();
  return runLoop(op, *loop.getBody(), loop.getInitArgs(), *lower, *upper, *step, env);
}

/// The results of `map` for operands that are dimensions, then symbols.
static FailureOr<SmallVector<int64_t>> evalMap(TensorEval &eval, Operation *op, AffineMap map, ValueRange operands,
                                               const Environment &env) {
  Builder b(op->getContext());
  SmallVector<Attribute> constants, found;
  for (Value operand : operands) {
    FailureOr<int64_t> value = eval.readInt(op, operand, env);
    if (failed(value))
      return failure();
    constants.push_back(b.getIndexAttr(*value));
  }
  if (failed(map.constantFold(constants, found)))
    return mlir::emitError(op->getLoc(), "divides by a number that is not positive");
  return llvm::map_to_vector(found, [](Attribute value) { return cast<IntegerAttr>(value).getInt(); });
}

LogicalResult TensorEval::evalAffineMap(Operation *op, Environment &env) {
  AffineMap map = cast<AffineMapAttr>(op->getAttr("map")).getValue();
  FailureOr<SmallVector<int64_t>> values = evalMap(*this, op, map, op->getOperands(), env);
  if (failed(values))
    return failure();
  int64_t value = isa<affine::AffineMaxOp>(op) ? *llvm::max_element(*values) : *llvm::min_element(*values);
  env.bind(op->getResult(0), Tensor::scalarInt(op->getResult(0).getType(), value));
  return success();
}

LogicalResult TensorEval::evalAffineFor(Operation *op, Environment &env) {
  auto loop = cast<affine::AffineForOp>(op);
  FailureOr<SmallVector<int64_t>> lower = evalMap(*this, op, loop.getLowerBoundMap(), loop.getLowerBoundOperands(), env);
  FailureOr<SmallVector<int64_t>> upper = evalMap(*this, op, loop.getUpperBoundMap(), loop.getUpperBoundOperands(), env);
  if (failed(lower) || failed(upper))
    return failure();
  return runLoop(op, *loop.getBody(), loop.getInits(), *llvm::max_element(*lower), *llvm::min_element(*upper),
                 loop.getStepAsInt(), env);
}

/// A loop whose condition never fails would hang the caller.
static constexpr int64_t maxWhileTrips = int64_t(1) << 24;

LogicalResult TensorEval::evalWhile(Operation *op, Environment &env) {
  auto loop = cast<scf::WhileOp>(op);
  auto bindAll = [&](Operation *user, ValueRange from, ValueRange to) -> LogicalResult {
    SmallVector<RuntimeValue> values;
    for (Value value : from) {
      FailureOr<RuntimeValue> found = read(user, value, env);
      if (failed(found))
        return failure();
      values.push_back(*found);
    }
    for (auto [value, bound] : llvm::zip_equal(to, values))
      env.bind(value, bound);
    return success();
  };
  if (failed(bindAll(op, loop.getInits(), loop.getBeforeArguments())))
    return failure();
  for (int64_t trip = 0;; ++trip) {
    if (trip == maxWhileTrips)
      return mlir::emitError(op->getLoc(), "the loop has not ended after ") << trip << " iterations";
    if (failed(evalBlock(*loop.getBeforeBody(), env)))
      return failure();
    scf::ConditionOp condition = loop.getConditionOp();
    FailureOr<int64_t> goesOn = readInt(condition, condition.getCondition(), env);
    if (failed(goesOn))
      return failure();
    if (!*goesOn)
      return bindAll(condition, condition.getArgs(), loop.getResults());
    scf::YieldOp yield = loop.getYieldOp();
    if (failed(bindAll(condition, condition.getArgs(), loop.getAfterArguments())) ||
        failed(evalBlock(*loop.getAfterBody(), env)) ||
        failed(bindAll(yield, yield.getOperands(), loop.getBeforeArguments())))
      return failure();
  }
}

//===----------------------------------------------------------------------===//
// Loops in no order
//===----------------------------------------------------------------------===//

/// Each body sees the arrays as they were before the loop, and writes its slices of what they become.
LogicalResult TensorEval::evalForall(Operation *op, Environment &env) {
  auto loop = cast<scf::ForallOp>(op);
  SmallVector<int64_t> lowers, uppers, steps;
  for (auto [mixed, into] : {std::pair(loop.getMixedLowerBound(), &lowers), {loop.getMixedUpperBound(), &uppers},
                             {loop.getMixedStep(), &steps}})
    for (OpFoldResult bound : mixed) {
      std::optional<int64_t> constant = getConstantIntValue(bound);
      FailureOr<int64_t> value = constant ? FailureOr<int64_t>(*constant) : readInt(op, cast<Value>(bound), env);
      if (failed(value))
        return failure();
      into->push_back(*value);
    }
  for (int64_t step : steps)
    if (step <= 0)
      return mlir::emitError(op->getLoc(), "expects a positive step, found ") << step;
  FailureOr<SmallVector<RuntimeValue>> before = readAll(op, loop.getOutputs(), env);
  if (failed(before))
    return failure();
  for (auto [arg, result, value] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults(), *before)) {
    env.bind(arg, value);
    env.bind(result, value);
  }
  SmallVector<int64_t> point = lowers;
  bool isEmpty = llvm::any_of(llvm::zip_equal(lowers, uppers), [](auto range) { return std::get<0>(range) >= std::get<1>(range); });
  while (!isEmpty) {
    for (auto [counter, value] : llvm::zip_equal(loop.getInductionVars(), point))
      env.bind(counter, Tensor::scalarInt(counter.getType(), value));
    if (failed(evalBlock(*loop.getBody(), env)))
      return failure();
    for (Operation &part : loop.getTerminator().getYieldingOps()) {
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(part);
      if (!insert)
        return reportUnsupported(&part);
      OpResult result = loop.getTiedOpResult(loop.getTiedOpOperand(cast<BlockArgument>(insert.getDest())));
      if (failed(TensorOpEval(*this, env).insertInto(insert, result)))
        return failure();
    }
    int64_t d = point.size() - 1;
    for (; d >= 0; --d) {
      if (uppers[d] - point[d] > steps[d]) {
        point[d] += steps[d];
        break;
      }
      point[d] = lowers[d];
    }
    isEmpty = d < 0;
  }
  return success();
}
