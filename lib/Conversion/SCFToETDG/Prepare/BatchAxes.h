//===- BatchAxes.h - dimensions that all statements of a loop share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over whole tensors whose statements all work on one dimension element by
// element (the heads of attention, the rows of a batch) computes as many
// recurrences that know nothing of each other. Here is which dimension of which
// tensor that is.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_CONVERSION_SCFTOETDG_PREPARE_BATCHAXES_H
#define LIB_CONVERSION_SCFTOETDG_PREPARE_BATCHAXES_H

#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ft::raising {

/// The *batch* of a loop: an axis for each tensor of its body that has one, such that element b along it depends on
/// elements b alone. What has no axis is the same for all b.
class BatchAxes {
public:
  explicit BatchAxes(scf::ForOp loop) : loop(loop) {}

  /// Whether dimension `axis` of carried tensor `state` is a batch of the whole loop: follows it through all statements.
  bool infer(unsigned state, unsigned axis);
  /// Whether the loop is better off as a loop over the batch around it: it has sums that stay whole, elements of the
  /// batch are not neighbours in memory where sums go through it, and what is the same for all is not most of the work.
  bool isWorthSpreading() const;

  int64_t getSize() const { return size; }
  /// The axis of a tensor of the body, where it has one.
  std::optional<unsigned> of(Value value) const;
  /// The axis with which an operand is taken; the same for all uses of what the body computes.
  std::optional<unsigned> of(OpOperand &use) const;
  /// Whether the operation, or what is in it, has to do with the batch.
  bool isTouched(Operation *op) const { return touched.contains(op); }
  /// What each use may cut along an axis of its own: values from outside, constants, fills.
  bool isFree(Value value) const;

private:
  bool set(Value value, unsigned axis);
  bool set(OpOperand &use, unsigned axis);
  bool relate(Operation *op);
  bool relateLinalg(linalg::LinalgOp op);
  bool relateStates(scf::ForOp op);
  bool relateBranches(scf::IfOp op);
  bool relateAccess(SubsetAccessOpInterface op);
  bool relateElementwise(Operation *op);
  bool relateReshape(ReassociativeReshapeOpInterface op);
  void touch(Operation *op);
  bool hasNeighbours(linalg::LinalgOp op) const;

  scf::ForOp loop;
  int64_t size = 0;
  llvm::DenseMap<Value, unsigned> axes;
  llvm::DenseMap<OpOperand *, unsigned> uses;
  llvm::SetVector<Operation *> work;
  llvm::DenseSet<Operation *> touched;
};

} // namespace mlir::ft::raising

#endif // LIB_CONVERSION_SCFTOETDG_PREPARE_BATCHAXES_H
