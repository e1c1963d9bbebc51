//===- FT.h - the ft dialect ------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, attributes, operations and interfaces of the ft dialect.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_FT_IR_FT_H
#define FT_DIALECT_FT_IR_FT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/bit.h"
#include <optional>
#include <string>

namespace mlir::ft {
class ListType;
class YieldOp;

/// A double that is equal when its bits are.
struct Real {
  double value;
  Real(double value) : value(value) {}
  operator double() const { return value; }
  bool operator==(const Real &other) const {
    return llvm::bit_cast<uint64_t>(value) == llvm::bit_cast<uint64_t>(other.value);
  }
  friend llvm::hash_code hash_value(const Real &real) {
    return llvm::hash_value(llvm::bit_cast<uint64_t>(real.value));
  }
};

/// A list, a ranked tensor of static shape, or a tuple of these.
bool isValueType(Type type);

namespace detail {
/// The names in the types of operands and results must be bound by the arguments of the function.
LogicalResult verifyNamesBound(Operation *op);
} // namespace detail

/// On every operation of the dialect: no operation invents the name of a length.
template <typename ConcreteType>
class NamesBound : public OpTrait::TraitBase<ConcreteType, NamesBound> {
public:
  static LogicalResult verifyTrait(Operation *op) { return detail::verifyNamesBound(op); }
};
} // namespace mlir::ft

#include "ft/Dialect/FT/IR/FTEnums.h.inc"

// Before the dialect, whose helpers for discardable attributes name their classes.
#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/FT/IR/FTAttrs.h.inc"

#include "ft/Dialect/FT/IR/FTDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/FT/IR/FTTypes.h.inc"

#include "ft/Dialect/FT/IR/FTInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ft/Dialect/FT/IR/FTOps.h.inc"

namespace mlir::ft {

template <typename ConcreteOp>
LengthAttr detail::ComputeOpTrait<ConcreteOp>::getLength() {
  return ComputeOp(static_cast<ConcreteOp *>(this)->getOperation()).getLength();
}
template <typename ConcreteOp>
YieldOp detail::ComputeOpTrait<ConcreteOp>::getYield() {
  return ComputeOp(static_cast<ConcreteOp *>(this)->getOperation()).getYield();
}

/// A compute operator with empty regions, for the caller to fill: `body` takes
/// the states, then the elements (C2).
ComputeOp createCompute(OpBuilder &builder, Location loc, OperatorKind kind, TypeRange results,
                        ValueRange lists, ValueRange inits = {}, ValueRange identities = {},
                        LengthAttr lag = {});

/// `index` as a position in a list of `length`: negative constants count from the end.
LengthAttr resolveIndex(LengthAttr index, LengthAttr length);

/// The bounds that hold at `op`: those of the enclosing function (`ft.bounds`), or null.
BoundsAttr getBoundsAt(Operation *op);

/// Whether `nonNegative` ≥ 0 follows from the bounds at `op` and from all names being ≥ 0.
bool isProvablyNonNegative(Operation *op, LengthAttr nonNegative);

/// `L >= 5` for L - 5 ≥ 0: how bounds print, and what a refused access says is missing.
std::string inequalityStr(LengthAttr nonNegative);

/// The names that the arguments of a function type bind: lengths that are one
/// name, in order of appearance.
SmallVector<StringAttr> getBoundNames(TypeRange argumentTypes);

/// The names that lengths at `op` may have: those that the arguments of its function bind, and those of
/// the operators around it (`for`), outermost first.
SmallVector<StringAttr> getNamesAt(Operation *op);

} // namespace mlir::ft

#endif // FT_DIALECT_FT_IR_FT_H
