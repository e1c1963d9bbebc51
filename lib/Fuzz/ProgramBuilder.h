//===- ProgramBuilder.h - state of the generator ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds one random program. ProgramBuilder.cpp has the frame, choices among
// values and lengths; TensorStatements.cpp, AccessStatements.cpp and
// ComputeStatements.cpp add statements of their kind.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_FUZZ_PROGRAMBUILDER_H
#define FT_LIB_FUZZ_PROGRAMBUILDER_H

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Fuzz/Generator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::ft::fuzz {

/// The values that a statement may use: those of a region and of what encloses it.
struct Scope {
  Scope *parent = nullptr;
  SmallVector<Value> values;
  /// How often the region runs, at the largest lengths.
  int64_t iterations = 1;
  /// Compute operators around it.
  unsigned depth = 0;
  /// How much of what encloses it may be used at all.
  bool closed = false;
};

class ProgramBuilder {
public:
  ProgramBuilder(MLIRContext *context, Random rng, std::string name, Numbers numbers);
  Program run();

private:
  using Test = llvm::function_ref<bool(Value)>;

  // ProgramBuilder.cpp
  void chooseLengths();
  void chooseTypes();
  int64_t randomSize();
  LengthAttr randomLength();
  LengthAttr length(int64_t value) { return LengthAttr::get(context, value); }
  /// This constant or now and then a name, at least 1 by the bounds.
  LengthAttr smallLength(int64_t constant);
  std::optional<int64_t> evaluate(LengthAttr length, unsigned binding) const;
  int64_t largest(LengthAttr length) const;
  /// Follows from the function's bounds.
  bool holds(LengthAttr nonNegative) { return isProvablyNonNegative(anchor, nonNegative); }
  /// Elements of a value of this type, at the largest lengths.
  int64_t elementsOf(Type type) const;
  bool isReasonable(Type type) const;
  /// A name of no other length is taken for one with a large expression.
  RankedTensorType tensorType(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, scalar);
  }
  RankedTensorType randomTensorType();
  Value argument(Type type, Attribute generator = {});
  Value argumentOrNull(Type type, Attribute generator = {});
  Value pick(Scope &scope, Test test, bool own = false);
  Value pickType(Scope &scope, Type type);
  void add(Scope &scope, Value value) { scope.values.push_back(value); }
  void step(Scope &scope);
  void steps(Scope &scope, int64_t count);
  Value makeValue(Scope &scope, Type type, int effort);
  void listStatements(Scope &top);
  void finish(Scope &top);
  bool isScalarTensor(Type type) const;

  // TensorStatements.cpp
  TypedAttr numberAttr(Type type, int64_t value);
  Value constant(RankedTensorType type);
  Value splat(RankedTensorType type, int64_t value);
  Value empty(RankedTensorType type);
  Value makeTensor(Scope &scope, RankedTensorType type, int effort);
  Value makePermuted(Scope &scope, RankedTensorType type);
  Value makePadded(Scope &scope, RankedTensorType type);
  Value makeOtherElements(Scope &scope, RankedTensorType type);
  Value computeTensor(Scope &scope, RankedTensorType type, int effort);
  Value makeTranspose(Scope &scope, RankedTensorType type, int effort);
  Value findTensor(Scope &scope, RankedTensorType type);
  Value binary(Value a, Value b);
  Value binaryOfFloats(Value a, Value b);
  Value unary(Value a);
  Value unaryOfFloats(Value a);
  Value tame(Value a);
  Value weights(Value a, int64_t summed);
  Value convert(Value a);
  Type otherScalar();
  Value narrow(Value a, Type to);
  Value widen(Value a);
  Value throughOther(Scope &scope, Value a);
  Value makeMatmul(Scope &scope, RankedTensorType type, int effort);
  Value makeReduce(Scope &scope, RankedTensorType type, int effort);
  Value makeBroadcast(Scope &scope, RankedTensorType type, int effort);
  Value makeGeneric(Scope &scope, RankedTensorType type, int effort);
  // OddGenerics.cpp
  Value makeOddGeneric(Scope &scope, RankedTensorType type, int effort);
  SmallVector<AffineExpr> drawPlaces(ArrayRef<int64_t> shape, SmallVectorImpl<int64_t> &ranges);
  void drawGroupedRead(AffineExpr dim, int64_t range, SmallVectorImpl<AffineExpr> &map,
                       SmallVectorImpl<int64_t> &shape);
  SmallVector<utils::IteratorType> drawIteratorTypes(unsigned count);
  Value accumulate(OpBuilder &nested, Location at, bool adds, Value old, Value more);
  Value makeSlice(Scope &scope, RankedTensorType type, int effort);
  Value makeReshape(Scope &scope, RankedTensorType type, int effort);
  void tensorStep(Scope &scope);
  bool afford(const Scope &scope, int64_t work);
  Value scalarCode(OpBuilder &builder, Location at, SmallVector<Value> values);

  // WholeTensors.cpp
  void wholeTensors(Scope &scope);

  // AccessStatements.cpp
  Value access(Scope &scope, Value list);
  Value shift(Scope &scope, Value list);
  Value slice(Value list);
  Value stride(Value list);
  Value window(Value list);
  Value gather(Scope &scope, Value list);
  Value at(Value list);
  Value concat(Scope &scope, Value list);
  Value flattenOrSplit(Value list);
  Value transpose(Value list);
  Value castLength(Scope &scope, Value list);
  Value throughZip(Scope &scope, Value list);
  Value makeList(Scope &scope, ListType type, int effort);
  Value indices(Scope &scope, LengthAttr range, ArrayRef<LengthAttr> lengths);
  LengthAttr randomIndex(LengthAttr n);
  void accessStep(Scope &scope);

  // ComputeStatements.cpp
  bool canTraverse(const Scope &scope, Value list) const;
  Value freshList(Scope &scope, LengthAttr length);
  bool computeStep(Scope &scope);
  bool traverse(Scope &scope, Value first);
  void ordered(Scope &scope, OperatorKind kind, ArrayRef<Value> lists);
  bool reassociable(Scope &scope, OperatorKind kind, ArrayRef<Value> lists);
  void withCombine(Scope &scope, OperatorKind kind, ArrayRef<Value> lists);
  void map(Scope &scope, ArrayRef<Value> lists);
  /// A value of the type of `value` that depends on it.
  Value transform(Scope &scope, Value value);
  Value transformList(Scope &scope, Value list);
  struct Body {
    std::unique_ptr<Region> region;
    Scope scope;
    SmallVector<Value> states;
    OpBuilder::InsertPoint outside;
  };
  /// A detached region with its arguments; the builder stands in it.
  Body openBody(Scope &scope, TypeRange states, ArrayRef<Value> lists);
  void addElements(Scope &scope, ValueRange elements);
  ComputeOp closeBody(Scope &scope, Body &body, OperatorKind kind, ArrayRef<Value> lists,
                      ArrayRef<Value> inits, ArrayRef<Value> values, ArrayRef<Value> emits,
                      LengthAttr lag = {}, ArrayRef<Value> identities = {},
                      std::unique_ptr<Region> combine = nullptr);
  bool hasUnused(Scope &scope);
  SmallVector<Value> chooseYields(Scope &scope, unsigned count);
  /// An associative operation on tensors, or on lists of them element by element.
  struct Monoid {
    enum Kind { Add, Mul, Max, Min, And, Or, Xor, Affine, ArgMax } kind;
    unsigned width = 1; // states
  };
  Monoid randomMonoid();
  SmallVector<Value> combine(Monoid monoid, ValueRange a, ValueRange b);
  Value combineOne(Monoid monoid, Value a, Value b);
  /// The neutral values, or none where there is none of this type.
  SmallVector<Value> neutral(Monoid monoid, TypeRange types);
  std::unique_ptr<Region> combineRegion(ArrayRef<Monoid> monoids, TypeRange types);

  MLIRContext *context;
  Random rng;
  std::string name;
  OpBuilder b;
  Location loc;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  SmallVector<DictionaryAttr> argumentAttrs;
  Operation *anchor = nullptr; // where bounds are asked
  Scope *top = nullptr;

  SmallVector<StringAttr> names;
  SmallVector<llvm::DenseMap<StringAttr, int64_t>> bindings;
  Type scalar;
  SmallVector<int64_t> sizes; // of tensors
  /// Programs of mixed types: values of others than `scalar` beside it. Drawn apart, so that the
  /// choices of all other programs stay what they are.
  bool mixed = false;
  Numbers numbers;
  bool isPolynomial() const { return numbers == Numbers::Polynomial; }
  Random side;
  int64_t work = 0;
  unsigned targetDepth = 2, deepest = 0;
  unsigned numOps = 0;
};

} // namespace mlir::ft::fuzz

#endif // FT_LIB_FUZZ_PROGRAMBUILDER_H
