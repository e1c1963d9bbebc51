//===- Residuals.h - what a backward function reads -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_RESIDUALS_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_RESIDUALS_H

#include "Differentiate.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ft::differentiate {

/// The values of a forward function that its backward function takes, and the lists that leave operators for them.
class Residuals {
public:
  explicit Residuals(func::FuncOp forward) : forward(forward) {}

  /// A value of the function's own block is one of the residuals; their number.
  unsigned add(Value value);
  ArrayRef<Value> getAll() const { return residuals.getArrayRef(); }
  /// The list of `value`, of the body of `op`, beside the operator. The value leaves the body by `emit`, or by `yield`
  /// of a map. The list is a placeholder until `finish`.
  Value lift(ComputeOp op, Value value);
  /// Of a placeholder: what it is the list of.
  struct Origin {
    Operation *around;
    Value value;
  };
  std::optional<Origin> originOf(Value placeholder) const;
  /// Takes out of a copy of operators what leaves the originals for placeholders.
  void dropLifted(Operation *copy);
  /// A block that is given up, with the operators in it.
  void forget(Block &block);
  /// Gives operators and the function the results for what was lifted and added. Returns where each residual comes from:
  /// "argument 0", "result 1", "saved 0".
  SmallVector<std::string> finish();

private:
  void addResults(ComputeOp op, ArrayRef<Value> placeholders);

  func::FuncOp forward;
  llvm::SetVector<Value> residuals;
  DenseMap<std::pair<Operation *, Value>, Value> lifted;
  llvm::MapVector<Operation *, SmallVector<Value>> placeholders;
  DenseMap<Value, Origin> origins;
};

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_RESIDUALS_H
