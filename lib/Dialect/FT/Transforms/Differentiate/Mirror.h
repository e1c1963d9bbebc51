//===- Mirror.h - the backward counterpart of a block -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MIRROR_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MIRROR_H

#include "Plan.h"
#include "Residuals.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::ft::differentiate {

/// Tensors of f16 and bf16 are added up as f32.
Type wideOf(Type type);
Value widen(OpBuilder &b, Location loc, Value value);
Value narrow(OpBuilder &b, Location loc, Value value, Type type);

/// What all mirrors of a function share.
struct Context {
  const Activity &activity;
  Residuals &residuals;
  const Plan &plan;
  AdjointReads &reads; // filled
  /// Sums and maps of the backward program that loops around them leave to what is outside.
  llvm::DenseSet<Operation *> late = {};
};

/// The block of the backward program in which the operations of one block of the forward program are reversed.
class Mirror {
public:
  /// Of a function's block: `mirror` is the backward function's, whose first arguments are the residuals.
  Mirror(Context &context, Block &source, Block &mirror);
  /// Of the body of `op`, below `parent`.
  Mirror(Mirror &parent, ComputeOp op, Block &mirror);

  /// A value of the forward program, in the backward one.
  Value primal(Value value);
  /// Adds to the cotangent of a value, of this block or of one around it.
  void accumulate(Value value, Value part);
  /// The cotangent of a value of this block; null for zero.
  Value cotangentOf(Value value) { return cotangents.lookup(value); }
  /// Reverses the operations of the block.
  LogicalResult reverse();

private:
  friend class OperatorMirror;

  /// An operation computed again here: the copy, and where values of its bodies are in it.
  struct Copy {
    Operation *made = nullptr;
    IRMapping mapping;
  };

  Value read(Value value);
  bool isExact(Value value);
  Value readResult(Operation *step, OpResult result);
  void reverseExtremum(ComputeOp extremum);
  Value bring(Value value);
  Value bringFromBody(Value value);
  Value stateBefore(unsigned state);
  Copy copy(Operation *op);
  Copy &getCopy(Operation *op);
  Value liftFromCopy(Value placeholder, IRMapping &mapping, ComputeOp made);
  /// An element of a list of the parent's mirror.
  Value addList(Value list);

  Context &context;
  const Activity &activity;
  Residuals &residuals;
  Mirror *parent = nullptr;
  ComputeOp op;
  Block &source, &mirror;
  OpBuilder b;
  DenseMap<Value, Value> available, cotangents;
  DenseMap<Operation *, Copy> copies;
  /// What comes for values of blocks around, by value.
  llvm::MapVector<Value, SmallVector<Value>> captured;
  /// The lists whose elements the mirror's last arguments are.
  SmallVector<Value> lists;
};

/// Reverses one operator: makes its mirror and what is around it.
class OperatorMirror {
public:
  OperatorMirror(Mirror &outer, ComputeOp op);
  ~OperatorMirror();
  LogicalResult run();

private:
  /// What is made outside of the loop: values of the mirror that leave it, and the operations that make it of them. The
  /// first value itself where there are no operations.
  struct Late {
    SmallVector<Operation *> steps;
    SmallVector<Value> sources;
  };
  /// What is summed over the iterations, for a value that the body captures.
  struct Sum {
    Value target;
    Late late;
  };
  /// What an element of a list gets.
  struct Gradient {
    Value list;
    Late late;
  };

  bool carries(unsigned state) const { return llvm::is_contained(carried, state); }
  void findCarried();
  void addStates();
  void seed();
  void readGradients();
  void readSums();
  bool isAtHand(Value value);
  bool isComputedAgain(Value value);
  bool bringOut(Value value, Late &late);
  /// Whether a gradient can be made outside, of less data.
  bool findLate(Value part, Late &late);
  Value makeLateList(const Late &late, ComputeOp made);
  Value makeLateSum(const Late &late, ComputeOp made);
  void emitSources(const Late &late);
  void dropConstantStates();
  void build();
  void returnStates(ComputeOp made);
  void returnParts(ComputeOp made);
  void returnSum(const Sum &sum, ComputeOp made);
  unsigned emit(Value value);
  bool isElement(Value value);
  Value listOf(Value value, ComputeOp made);

  Mirror &outer;
  ComputeOp op;
  Block *block;
  Mirror inner;
  bool hasLag;
  SmallVector<unsigned> carried; // states whose cotangents go from step to step
  SmallVector<Value> stateArguments, stateYields, stateInits;
  SmallVector<Value> emits;
  SmallVector<Gradient> gradients;
  SmallVector<Sum> sums;
};

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MIRROR_H
