//===- TensorEval.h - Reference evaluator of tensor bodies ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates upstream operations on values: arith and math on scalars and
// tensors, linalg on tensors, tensor, and scf.if/scf.for/scf.while. Both interpreters
// (`ft` and `etdg`) run their bodies through it.
//
// Numbers. Each float operation rounds to its element type, except in the f64
// truth mode, which never rounds. A linalg op with reduction dimensions whose
// type is f16 or bf16 computes in f32 and rounds its results once, at the end.
// Integers wrap. Division by zero and an index out of range are errors at the
// operation.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INTERPRETER_TENSOREVAL_H
#define FT_INTERPRETER_TENSOREVAL_H

#include "ft/Interpreter/RuntimeValue.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include <functional>

namespace mlir::ft::interp {

class LinalgProgram;

class TensorEval {
public:
  /// Evaluates operations that TensorEval does not know (another dialect's).
  /// Returns nothing if it does not know the operation either.
  using Extension = std::function<std::optional<LogicalResult>(Operation *, Environment &)>;

  explicit TensorEval(bool truth = false);
  ~TensorEval();
  TensorEval(const TensorEval &) = delete;
  TensorEval &operator=(const TensorEval &) = delete;

  void setExtension(Extension fn) { extension = std::move(fn); }
  bool isTruth() const { return truth; }

  /// Evaluates `op` and binds its results. Failures are reported at `op`.
  LogicalResult evalOp(Operation *op, Environment &env);

  /// Evaluates the operations of `block` up to its terminator, whose operands
  /// the caller then reads.
  LogicalResult evalBlock(Block &block, Environment &env);

  /// The value bound to an operand of `user`; an error at `user` if there is
  /// none (or if it is not a tensor).
  FailureOr<RuntimeValue> read(Operation *user, Value value, const Environment &env);
  FailureOr<Tensor> readTensor(Operation *user, Value value, const Environment &env);
  FailureOr<int64_t> readInt(Operation *user, Value value, const Environment &env);

  /// The value of a constant attribute of `type`, or an error at `op`.
  FailureOr<Tensor> materialize(Operation *op, Attribute value, Type type);

private:
  LogicalResult evalElementwise(Operation *op, Environment &env, bool &known);
  LogicalResult evalConstant(Operation *op, Environment &env);
  LogicalResult evalLinalg(Operation *op, Environment &env);
  LogicalResult evalSoftmax(Operation *op, Environment &env);
  LogicalResult evalIf(Operation *op, Environment &env);
  LogicalResult evalFor(Operation *op, Environment &env);
  LogicalResult evalWhile(Operation *op, Environment &env);
  LogicalResult evalForall(Operation *op, Environment &env);
  LogicalResult evalAffineFor(Operation *op, Environment &env);
  /// affine.apply, affine.min and affine.max.
  LogicalResult evalAffineMap(Operation *op, Environment &env);
  FailureOr<SmallVector<RuntimeValue>> readAll(Operation *user, ValueRange values, const Environment &env);
  /// Runs `body` for `lower`, `lower + step`, … below `upper` with the values that it carries, and binds the results.
  LogicalResult runLoop(Operation *op, Block &body, ValueRange inits, int64_t lower, int64_t upper, int64_t step, Environment &env);
  LogicalResult reportUnsupported(Operation *op);

  friend class LinalgProgram;
  friend class TensorOpEval;

  bool truth;
  /// Set while the body of a linalg reduction is evaluated point by point.
  bool halfAsSingle = false;
  Extension extension;
  llvm::DenseMap<Operation *, std::unique_ptr<LinalgProgram>> programs;
  llvm::DenseMap<Operation *, Tensor> constants;
  /// The iteration of each enclosing linalg op evaluated point by point.
  SmallVector<SmallVector<int64_t>> iterations;
};

} // namespace mlir::ft::interp

#endif // FT_INTERPRETER_TENSOREVAL_H
