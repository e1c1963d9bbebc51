//===- TSSAEval.h - the heap of mutable tensors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tssa as it is meant: storages on a heap, and views that name parts of them by
// offset, sizes and strides. A write changes the storage, and what all of its
// views hold.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_TSSAEVAL_H
#define LIB_FT_INTERPRETER_TSSAEVAL_H

#include "ft/Dialect/TSSA/IR/StridedView.h"
#include "ft/Interpreter/TensorEval.h"

namespace mlir::ft::interp {

struct HeapStorage {
  Type elementType;
  std::vector<Cell> cells;
};

struct HeapView {
  std::shared_ptr<HeapStorage> storage;
  tssa::StridedView where;
};

/// New storage that holds `value`, and a view of all of it.
RuntimeValue allocate(const Tensor &value);
/// What a view holds now; its sizes must satisfy countElements.
Tensor readView(const HeapView &view);
/// An element under another type: toward zero, by `!= 0` to i1; rounded unless `truth`.
Cell convertCell(Cell cell, Type from, Type to, bool truth);

/// Evaluates the operations of tssa.
class TSSAEval {
public:
  TSSAEval(TensorEval &eval, Environment &env) : eval(eval), env(env) {}
  /// Evaluates `op`, an operation of the dialect.
  LogicalResult run(Operation *op);

private:
  using Numbers = SmallVector<SmallVector<int64_t>>;
  LogicalResult visit(tssa::NewOp op);
  LogicalResult visit(tssa::ReadOp op);
  LogicalResult visit(tssa::ViewOp op);
  LogicalResult visit(tssa::MutateOp op);
  LogicalResult visit(tssa::AccessOp op);
  LogicalResult visit(tssa::AssignOp op);
  LogicalResult visit(tssa::IndexOp op);
  LogicalResult visit(tssa::IndexPutOp op);

  FailureOr<std::shared_ptr<const HeapView>> readReference(Operation *op, Value value);
  /// Takes the steps of `op`, one after the other.
  LogicalResult applySteps(Operation *op, ArrayAttr steps, ValueRange numbers, int64_t storage,
                           tssa::StridedView &view);
  /// The positions in a dense tensor that `index` and `index_put` name, in order.
  FailureOr<SmallVector<int64_t>> positions(Operation *op, const Tensor &source,
                                            ArrayRef<int64_t> dims, ValueRange indices,
                                            SmallVectorImpl<int64_t> &shape);

  TensorEval &eval;
  Environment &env;
};

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_TSSAEVAL_H
