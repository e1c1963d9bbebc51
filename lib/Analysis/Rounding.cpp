//===- Rounding.cpp - the coarsest type that a result went through --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward analysis over values: each holds the coarsest type that went into it,
// and it grows until nothing changes. Regions of the array operators are followed
// value by value; of other operations every result gets what any operand or
// region gives.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Rounding.h"

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ft;

namespace {
/// Of two types the one with fewer digits; null is exact.
FloatType coarser(FloatType a, FloatType b) {
  if (!a || !b)
    return a ? a : b;
  return a.getFPMantissaWidth() <= b.getFPMantissaWidth() ? a : b;
}

/// Whether an operation's results are exact for exact operands.
bool isExact(Operation *op) {
  if (isa<arith::ConstantOp, arith::ExtFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp, arith::SelectOp, arith::BitcastOp, math::AbsFOp, math::CopySignOp, math::FloorOp,
          math::CeilOp, math::RoundEvenOp, math::TruncOp>(op))
    return true;
  Dialect *dialect = op->getDialect();
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(dialect))
    return false;
  // Of a structured operation its body says what it computes; a named one like `linalg.matmul` has one, too.
  return true;
}

class Rounding {
public:
  /// Visits all operations until nothing changes; what results get is the result.
  SmallVector<FloatType> run(FunctionOpInterface function) {
    Region &body = function.getFunctionBody();
    if (body.empty())
      return SmallVector<FloatType>(function.getNumResults());
    do {
      changed = false;
      body.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    } while (changed);
    SmallVector<FloatType> results(function.getNumResults());
    for (Block &block : body)
      if (Operation *last = block.empty() ? nullptr : &block.back(); last && last->getNumOperands() == results.size())
        for (auto [result, operand] : llvm::zip_equal(results, last->getOperands()))
          result = coarser(result, types.lookup(operand));
    return results;
  }

private:
  void raise(Value value, FloatType type) {
    FloatType &known = types[value];
    FloatType now = coarser(known, type);
    changed |= now != known;
    known = now;
  }
  FloatType join(ValueRange values) const {
    FloatType type;
    for (Value value : values)
      type = coarser(type, types.lookup(value));
    return type;
  }

  void visit(Operation *op) {
    if (auto compute = dyn_cast<ComputeOp>(op))
      return visitCompute(compute);
    FloatType type = join(op->getOperands());
    if (!isExact(op))
      for (Type result : op->getResultTypes())
        if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(result)))
          type = coarser(type, element);
    // A product rounds to the type that it is summed in, and its result to its own.
    if (auto structured = dyn_cast<linalg::LinalgOp>(op); structured && !isa<linalg::FillOp, linalg::CopyOp>(op))
      for (Operation &inner : *structured.getBlock())
        if (!isExact(&inner))
          for (Type result : inner.getResultTypes())
            if (auto element = dyn_cast<FloatType>(result))
              type = coarser(type, element);
    if (auto call = dyn_cast<func::CallOp>(op))
      type = coarser(type, ofCallee(call));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          type = coarser(type, join(block.back().getOperands()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          raise(argument, type);
    for (Value result : op->getResults())
      raise(result, type);
    // What a block of a graph writes are buffers, which stand among its operands.
    if (op->getNumResults() == 0 && op->getNumRegions())
      for (Value operand : op->getOperands())
        if (isa<etdg::BufferType>(operand.getType()))
          raise(operand, type);
  }

  void visitCompute(ComputeOp op) {
    unsigned states = op.getNumStates();
    Operation *yield = op.getYield();
    for (auto [i, argument] : llvm::enumerate(op.getStateArgs())) {
      // Without initial states the first element is the state.
      ValueRange begins = op.getInits().empty() ? ValueRange(op.getLists()) : ValueRange(op.getInits());
      raise(argument, types.lookup(begins[i]));
      raise(argument, types.lookup(yield->getOperand(i)));
    }
    for (auto [argument, list] : llvm::zip(op.getElementArgs(), op.getLists()))
      raise(argument, types.lookup(list));
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      raise(result, types.lookup(yield->getOperand(i)));
      if (i < states && !op.getInits().empty())
        raise(result, types.lookup(op.getInits()[i]));
    }
    Region *combine = op.getCombineOrNull();
    if (!combine || combine->empty())
      return;
    Operation *joined = combine->front().getTerminator();
    for (auto [i, argument] : llvm::enumerate(combine->getArguments()))
      raise(argument, coarser(types.lookup(op->getResult(i % states)), types.lookup(op.getStateArgs()[i % states])));
    for (unsigned i = 0; i < states; ++i)
      raise(op->getResult(i), types.lookup(joined->getOperand(i)));
  }

  /// The coarsest of a function that is called: of all its results.
  FloatType ofCallee(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal() || callee->isProperAncestor(call))
      return FloatType();
    auto [it, isNew] = callees.try_emplace(callee);
    if (isNew) { // one that calls itself is refused elsewhere
      SmallVector<FloatType> results = Rounding(callees).run(callee);
      FloatType type;
      for (FloatType result : results)
        type = coarser(type, result);
      callees[callee] = type;
    }
    return callees.lookup(callee);
  }

public:
  using Callees = DenseMap<Operation *, FloatType>;
  explicit Rounding(Callees &callees) : callees(callees) {}

private:
  Callees &callees;
  DenseMap<Value, FloatType> types;
  bool changed = false;
};
} // namespace

SmallVector<FloatType> ft::findCoarsestRounding(FunctionOpInterface function) {
  Rounding::Callees callees;
  return Rounding(callees).run(function);
}
