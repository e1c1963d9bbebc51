//===- BodyEvaluator.h - the body of a nest's member ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the body of a member at a point. Values are scalars, indices i64, where a target has no other rules, as for lanes of
// a vector; memory is the target's. What rounds when is the same on every target: f16 and bf16 are computed in f32, after each op
// rounded to the type, or, in the body of a reduction with such sums (`NestMember::sums`), only where the result is stored.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_LEAFGRAPH_BODYEVALUATOR_H
#define FT_ANALYSIS_LEAFGRAPH_BODYEVALUATOR_H

#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::ft::leaf {

class BodyEvaluator {
public:
  BodyEvaluator(ImplicitLocOpBuilder &builder, const NestMember &member) : member(member), builder(builder) {}
  virtual ~BodyEvaluator() = default;

  /// The value of a loop of the nest, for linalg.index.
  llvm::function_ref<Value(int loop)> loopIndex;
  void map(Value bodyValue, Value value) { values[bodyValue] = value; }
  /// All operations of the body; an error where the target has no rule for one.
  LogicalResult evaluate();
  Value result(unsigned number) { return lookup(member.yields[number]); }
  /// `op(a, b)` for an op with two operands and one result of one type.
  Value combine(Operation *op, Value a, Value b) { return evaluateElementwise(op, {a, b}).front(); }

protected:
  const NestMember &member;

  /// What a value of the body or from outside of it is here; null if it is unknown.
  Value lookup(Value value);
  void set(Value bodyValue, Value value) { values[bodyValue] = value; }

  // Memory.
  virtual Value loadCaptured(const ElementView &view) = 0;
  /// `tensor.extract` of a captured tensor that lies at `view`.
  virtual Value evaluateExtract(tensor::ExtractOp op, const ElementView &view) = 0;

  // What is otherwise where values are no scalars.
  virtual Value zeroIndex();
  /// A constant, or an operation with regions.
  virtual LogicalResult evaluateOther(Operation *op);
  virtual Value toFloat32(Value value);
  virtual Value toElement(Value value, Type element);
  /// Makes operands alike, where an operation needs that.
  virtual void unify(SmallVectorImpl<Value> &operands) {}
  /// The type of a result with these elements of an operation on such operands.
  virtual Type typeFor(Type element, ArrayRef<Value> operands);
  /// An index as an integer of another width, or back; null: the operation is computed as it is.
  virtual Value castIndex(Operation *op, Value value);

private:
  ImplicitLocOpBuilder &builder;
  DenseMap<Value, Value> values;

  const ElementView *viewOf(Value captured) const;
  LogicalResult evaluateOp(Operation *op);
  SmallVector<Value> evaluateElementwise(Operation *op, SmallVector<Value> operands);
};

} // namespace mlir::ft::leaf

#endif // FT_ANALYSIS_LEAFGRAPH_BODYEVALUATOR_H
