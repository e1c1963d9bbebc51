//===- ScalarModels.cpp - derivatives of arith and math -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models from the table MathDerivatives.def. They serve scalars and, element by element, tensors.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

namespace {
/// t · ∂op/∂x_i for each operand i, as the table says; `Derivative::apply` is one row of it.
template <typename Op, typename Derivative>
struct FormulaModel : DifferentiableOpInterface::ExternalModel<FormulaModel<Op, Derivative>, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    Place place{b, op->getLoc(), primal, op->getResult(0).getType()};
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      bool isUsed = cotangents[0] && wanted[i] && isDifferentiableType(op->getOperand(i).getType());
      gradients.push_back(isUsed ? apply(place, op, i, cotangents[0]) : Value());
    }
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    Place place{b, op->getLoc(), primal, op->getResult(0).getType()};
    Value sum;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (tangents[i])
        sum = buildSum(b, op->getLoc(), sum, apply(place, op, i, tangents[i]));
    results.push_back(sum);
    return success();
  }

private:
  static Value apply(Place &place, Operation *op, unsigned operand, Value t) {
    if (!isDifferentiableType(op->getResult(0).getType()))
      return Value();
    return Derivative::apply(place, op, operand, Term(place, t)).get(place);
  }
};

template <typename Op, typename Transposed>
struct CastModel : DifferentiableOpInterface::ExternalModel<CastModel<Op, Transposed>, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader, ArrayRef<Value> cotangents, ArrayRef<bool> wanted,
                         SmallVectorImpl<Value> &gradients) const {
    bool isUsed = cotangents[0] && wanted[0];
    gradients.push_back(
        isUsed ? Transposed::create(b, op->getLoc(), op->getOperand(0).getType(), cotangents[0]).getResult() : Value());
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    results.push_back(tangents[0]
                          ? Op::create(b, op->getLoc(), op->getResult(0).getType(), tangents[0]).getResult()
                          : Value());
    return success();
  }
};

/// A bitcast of integers and the like has no derivative to refuse.
template <typename Op, typename Reason>
struct RefusedModel : DifferentiableOpInterface::ExternalModel<RefusedModel<Op, Reason>, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &, PrimalReader, ArrayRef<Value>, ArrayRef<bool>,
                         SmallVectorImpl<Value> &) const {
    return refuse(op);
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &, PrimalReader, ArrayRef<Value>, SmallVectorImpl<Value> &) const {
    return refuse(op);
  }

private:
  static LogicalResult refuse(Operation *op) { return op->emitOpError("has no derivative: it ") << Reason::text; }
};

/// sin and cos at once.
struct SincosModel : DifferentiableOpInterface::ExternalModel<SincosModel, math::SincosOp> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    Value sum;
    if (wanted[0])
      for (unsigned i : {0u, 1u})
        if (cotangents[i])
          sum = buildSum(b, op->getLoc(), sum, partOf(op, b, primal, i, cotangents[i]));
    gradients.push_back(sum);
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    for (unsigned i : {0u, 1u})
      results.push_back(tangents[0] ? partOf(op, b, primal, i, tangents[0]) : Value());
    return success();
  }

private:
  static Value partOf(Operation *op, OpBuilder &b, PrimalReader primal, unsigned result, Value value) {
    Place place{b, op->getLoc(), primal, value.getType()};
    Term t(place, value), other = Term::read(place, op->getResult(1 - result));
    return (result == 0 ? t * other : -(t * other)).get(place);
  }
};

// One struct for each row of the table. Names of operations have a namespace, so rows are numbered by their line.
template <typename Op>
struct Row;

#define FT_TERMS                                                                                                       \
  [[maybe_unused]] const Term none = Term::none();                                                                     \
  [[maybe_unused]] auto operandOf = [&](unsigned i) {                                                                  \
    return i < op->getNumOperands() ? Term::read(place, op->getOperand(i)) : Term::none();                             \
  };                                                                                                                   \
  [[maybe_unused]] Term x = operandOf(0), y = operandOf(1), z = operandOf(2);                                          \
  [[maybe_unused]] Term r = Term::read(place, op->getResult(0));

#define FT_ROW(Op, ...)                                                                                                \
  template <>                                                                                                          \
  struct Row<Op> {                                                                                                     \
    static Term apply(Place &place, Operation *op, unsigned operand, [[maybe_unused]] Term t) {                        \
      FT_TERMS                                                                                                         \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  };
#define FT_DERIVATIVE_1(Op, dx) FT_ROW(Op, (void)operand; return dx;)
#define FT_DERIVATIVE_2(Op, dx, dy)                                                                                    \
  FT_ROW(Op, if (operand == 0) { return dx; } return dy;)
#define FT_DERIVATIVE_3(Op, dx, dy, dz)                                                                                \
  FT_ROW(Op, if (operand == 0) { return dx; } if (operand == 1) { return dy; } return dz;)
#define FT_REFUSED(Op, why)                                                                                            \
  template <>                                                                                                          \
  struct Row<Op> {                                                                                                     \
    static constexpr const char *text = why;                                                                           \
  };
#include "ft/Dialect/Math/Transforms/MathDerivatives.def"
} // namespace

template <typename... Ops>
static void attachConstant(MLIRContext *context) {
  (Ops::template attachInterface<ConstantModel<Ops>>(*context), ...);
}

static void attachIntegers(MLIRContext *context) {
  attachConstant<arith::ConstantOp, arith::AddIOp, arith::AddUIExtendedOp, arith::AndIOp, arith::CeilDivSIOp,
                 arith::CeilDivUIOp, arith::CmpIOp, arith::DivSIOp, arith::DivUIOp, arith::ExtSIOp, arith::ExtUIOp,
                 arith::FloorDivSIOp, arith::IndexCastOp, arith::IndexCastUIOp, arith::MaxSIOp, arith::MaxUIOp,
                 arith::MinSIOp, arith::MinUIOp, arith::MulIOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp,
                 arith::OrIOp, arith::RemSIOp, arith::RemUIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp,
                 arith::SubIOp, arith::TruncIOp, arith::XOrIOp>(context);
  attachConstant<math::AbsIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp, math::IPowIOp>(
      context);
}

void derivatives::registerScalarModels(DialectRegistry &registry) {
  // Both at once: the rows of the table are of either.
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *, math::MathDialect *) {
#define FT_DERIVATIVE_1(Op, dx) Op::attachInterface<FormulaModel<Op, Row<Op>>>(*context);
#define FT_DERIVATIVE_2(Op, dx, dy) Op::attachInterface<FormulaModel<Op, Row<Op>>>(*context);
#define FT_DERIVATIVE_3(Op, dx, dy, dz) Op::attachInterface<FormulaModel<Op, Row<Op>>>(*context);
#define FT_PIECEWISE_CONSTANT(Op) Op::attachInterface<ConstantModel<Op>>(*context);
#define FT_LINEAR_CAST(Op, Transposed) Op::attachInterface<CastModel<Op, Transposed>>(*context);
#define FT_REFUSED(Op, why) Op::attachInterface<RefusedModel<Op, Row<Op>>>(*context);
#include "ft/Dialect/Math/Transforms/MathDerivatives.def"
    math::SincosOp::attachInterface<SincosModel>(*context);
    attachIntegers(context);
  });
}
