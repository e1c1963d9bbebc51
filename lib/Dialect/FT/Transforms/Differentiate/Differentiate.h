//===- Differentiate.h - derivatives of functions over lists ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_DIFFERENTIATE_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_DIFFERENTIATE_H

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Interfaces/Differentiable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ft {
struct Machine;
}

namespace mlir::ft::differentiate {

/// What of a function is differentiated: numbers of arguments and of results.
struct Request {
  SmallVector<unsigned> wrt, results;
};

enum class Save;

/// Gives each fold and scan an initial state, and refuses what has no rule: layers that are not unrolled, calls, branches,
/// ragged lists, tuples.
LogicalResult normalize(func::FuncOp function);

/// Folds whose sums follow a running maximum by a factor, as in flash attention, become a maximum and sums at the last one.
void closeRunningMaxima(func::FuncOp function);

/// A fold that is the greatest or least element of one list: `maximumf`, `minimumf`, `maxnumf` or `minnumf` of state and
/// element, and nothing else.
bool isExtremum(ComputeOp op);

/// The values that depend on differentiable arguments.
class Activity {
public:
  Activity(func::FuncOp function, ArrayRef<unsigned> wrt);
  bool isVaried(Value value) const { return varied.contains(value); }
  bool isAnyVaried(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return isVaried(value); });
  }

private:
  bool mark(Value value);
  bool visit(Block &block);
  bool visitCompute(ComputeOp op);

  llvm::DenseSet<Value> varied;
};

/// An error where the bits of a value are taken that depends on a differentiable argument.
LogicalResult refuseBits(func::FuncOp function, const Activity &activity);

/// The values from outside that the regions of an operation use.
SmallVector<Value> getCaptured(Operation *op);

/// Refuses an operation without a derivative, or one whose body captures a differentiable value.
FailureOr<DifferentiableOpInterface> getModel(Operation *op, llvm::function_ref<bool(Value)> isVaried);

/// `op` with further lists, states, values and another kind, over the same regions; `results` are all its types. The old
/// operation stays, without regions.
ComputeOp rebuild(OpBuilder &builder, ComputeOp op, OperatorKind kind, TypeRange results, ValueRange lists,
                  ValueRange inits, ValueRange identities);

/// The kind with the same meaning that keeps its order.
OperatorKind getOrdered(OperatorKind kind);

/// Makes chunks of the iterations of each fold and scan with `ft.checkpoint`: the states of a chunk are computed again.
/// A remark tells where that is not done, and why.
void makeChunks(func::FuncOp function);

/// @f_forward and @f_backward, after `function`, which is normalized. What is saved is priced on the machine.
LogicalResult buildReverse(func::FuncOp function, const Request &request, Save save, const Machine &machine);
/// @f_jvp.
LogicalResult buildForward(func::FuncOp function, const Request &request);

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_DIFFERENTIATE_H
