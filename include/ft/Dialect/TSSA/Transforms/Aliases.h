//===- Aliases.h - which mutable tensors share storage ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which storages a mutable tensor may name, over views, scf, selects and calls; and
// whether two parts of one storage are the same, apart, or neither. Storages are
// `tssa.new`, the arguments of the function, and what a call allocates. Arguments do
// not overlap: that is checked at the call.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_TSSA_TRANSFORMS_ALIASES_H
#define FT_DIALECT_TSSA_TRANSFORMS_ALIASES_H

#include "ft/Dialect/TSSA/IR/TSSA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tssa {

inline bool isMutable(Type type) { return isa<MutableTensorType>(type); }
inline bool isMutable(Value value) { return isMutable(value.getType()); }

/// Whether a function has mutable tensors anywhere.
bool hasMutableTensors(func::FuncOp function);

/// What two mutable tensors have to do with each other.
enum class AliasKind {
  No,   // no element in common
  May,  // not known
  Part, // some elements in common, surely
  Must, // the same elements in the same order
};
StringRef stringify(AliasKind kind);

/// How two chains of steps from one value relate: what is known of their offsets.
AliasKind compareSteps(ArrayRef<Step> a, ArrayRef<Step> b, ArrayRef<int64_t> shape);

/// The storage or merged value that a view goes back to, and the steps from there. An
/// `as_strided` begins anew at the storage.
Value stepsFromBase(Value view, Steps &steps);

class AliasGraph {
public:
  explicit AliasGraph(func::FuncOp function);

  /// The storages that a mutable tensor may name.
  const llvm::SmallSetVector<Value, 4> &storages(Value value) const;
  AliasKind alias(Value a, Value b) const;
  /// Mutable tensors that one may become directly: by a view, a merge or a call.
  ArrayRef<Value> successors(Value value) const;
  /// All mutable tensors of the function.
  ArrayRef<Value> values() const { return order; }
  /// Writes and calls that write: the operation, and which operand.
  ArrayRef<OpOperand *> writes() const { return writers; }

  /// Numbers of the arguments that may be written.
  SmallVector<unsigned> writtenArguments() const;
  /// Numbers of the arguments that result `number` may be a view of; all if unknown.
  SmallVector<unsigned> returnedArguments(unsigned number) const;

private:
  void collect(func::FuncOp function);
  void addEdge(Value from, Value to);
  void addCall(func::CallOp call);

  func::FuncOp function;
  SmallVector<Value> order;
  SmallVector<OpOperand *> writers;
  llvm::DenseMap<Value, SmallVector<Value, 2>> next;
  llvm::DenseMap<Value, llvm::SmallSetVector<Value, 4>> reach;
};

} // namespace mlir::tssa

#endif // FT_DIALECT_TSSA_TRANSFORMS_ALIASES_H
