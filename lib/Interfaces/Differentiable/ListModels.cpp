//===- ListModels.cpp - derivatives of access operators -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All are linear in their lists. A vjp is the transpose, written by access operators and sums again: no place is
// written by data or twice. Bounds ask nothing that the operator itself does not ask.
//
//===----------------------------------------------------------------------===//
#include "Builders.h"
#include "GatherAdjoint.h"
#include "Terms.h"
#include "WindowAdjoint.h"

#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

namespace {
LengthAttr number(Operation *op, int64_t value) { return LengthAttr::get(op->getContext(), value); }

/// One result, linear in all operands but integers.
template <typename Model, typename Op>
struct AccessModel : DifferentiableOpInterface::ExternalModel<Model, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    gradients.assign(op->getNumOperands(), Value());
    if (!cotangents[0])
      return success();
    if (failed(refuseRagged(op)))
      return failure();
    Writer w{b, op->getLoc()};
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (wanted[i] && isDifferentiableType(op->getOperand(i).getType()))
        gradients[i] = Model::transpose(cast<Op>(op), w, primal, i, cotangents[0]);
    return success();
  }
  /// The same access of tangents.
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    results.push_back(Value());
    if (llvm::none_of(tangents, [](Value v) { return v != nullptr; }))
      return success();
    SmallVector<Value> operands;
    for (auto [operand, tangent] : llvm::zip_equal(op->getOperands(), tangents))
      operands.push_back(tangent                                    ? tangent
                         : isDifferentiableType(operand.getType()) ? buildZero(b, op->getLoc(), operand.getType())
                                                                   : primal(operand));
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
    results.back() = copy->getResult(0);
    return success();
  }

private:
  static LogicalResult refuseRagged(Operation *op) {
    for (Value operand : op->getOperands())
      if (auto list = dyn_cast<ListType>(operand.getType()); list && list.hasRagged())
        return op->emitOpError("of the ragged list ") << list << " has no derivative";
    return success();
  }
};

struct ShiftModel : AccessModel<ShiftModel, ShiftOp> {
  static Value transpose(ShiftOp op, Writer &w, PrimalReader, unsigned operand, Value g) {
    ListType list = listOf(g);
    LengthAttr offset = op.getOffset(), back = number(op, 0) - offset;
    if (operand == 0)
      return ShiftOp::create(w.b, w.loc, g, back, buildZero(w.b, w.loc, list.getPeeled()));
    return buildSumOfFilled(w.b, w.loc, g, offset);
  }
};

struct ReverseModel : AccessModel<ReverseModel, ReverseOp> {
  static Value transpose(ReverseOp, Writer &w, PrimalReader, unsigned, Value g) { return ReverseOp::create(w.b, w.loc, g); }
};

struct SliceModel : AccessModel<SliceModel, SliceOp> {
  static Value transpose(SliceOp op, Writer &w, PrimalReader, unsigned, Value g) {
    LengthAttr length = op.getInput().getType().getLength();
    LengthAttr lo = resolveIndex(op.getLo(), length), hi = resolveIndex(op.getHi(), length);
    return w.cast(w.surround(g, lo, length - hi), op.getInput().getType());
  }
};

struct StrideModel : AccessModel<StrideModel, StrideOp> {
  static Value transpose(StrideOp op, Writer &w, PrimalReader, unsigned, Value g) {
    int64_t start = op.getStart();
    LengthAttr rest = op.getInput().getType().getLength() - start;
    Value spread = w.slice(spreadBy(w, g, op.getStep()), number(op, 0), rest);
    return w.cast(w.surround(spread, number(op, start), number(op, 0)), op.getInput().getType());
  }
};

struct WindowModel : AccessModel<WindowModel, WindowOp> {
  static Value transpose(WindowOp op, Writer &w, PrimalReader, unsigned, Value g) { return transposeWindow(op, w, g); }
};

struct AtModel : AccessModel<AtModel, AtOp> {
  static Value transpose(AtOp op, Writer &w, PrimalReader, unsigned, Value g) {
    LengthAttr length = op.getInput().getType().getLength(), index = resolveIndex(op.getIndex(), length);
    Value one = RepeatOp::create(w.b, w.loc, g, number(op, 1));
    return w.cast(w.surround(one, index, length - index - 1), op.getInput().getType());
  }
};

struct ConcatModel : AccessModel<ConcatModel, ConcatOp> {
  static Value transpose(ConcatOp op, Writer &w, PrimalReader, unsigned operand, Value g) {
    LengthAttr lo = number(op, 0);
    for (Value input : op.getInputs().take_front(operand))
      lo = lo + listOf(input).getLength();
    Value part = w.slice(g, lo, lo + listOf(op.getInputs()[operand]).getLength());
    return w.cast(part, op.getInputs()[operand].getType());
  }
};

struct FlattenModel : AccessModel<FlattenModel, FlattenOp> {
  static Value transpose(FlattenOp op, Writer &w, PrimalReader, unsigned, Value g) {
    auto type = op.getInput().getType();
    LengthAttr inner = type.getLengths()[1];
    if (LengthAttr less = inner - 1; less && isProvablyNonNegative(op, less))
      return w.cast(SplitOp::create(w.b, w.loc, g, inner), type);
    // A length that may be 0 cuts nothing into pieces: element [i, j] is at i · inner + j.
    return byPlaces(op, w, g);
  }

private:
  static Value byPlaces(FlattenOp op, Writer &w, Value g) {
    auto type = op.getInput().getType();
    Type index = w.b.getI64Type();
    Value rows = w.iota(type.getLengths()[0], index), columns = w.iota(type.getLengths()[1], index);
    auto scalar = RankedTensorType::get({}, index);
    Value one = arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(scalar, w.b.getI64IntegerAttr(1)));
    Value none = arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(scalar, w.b.getI64IntegerAttr(-1)));
    Value most = LastOp::create(w.b, w.loc, columns, none), extent = arith::AddIOp::create(w.b, w.loc, most, one);
    return w.map(rows, [&](Writer &outer, ValueRange row) {
      return outer.map(columns, [&](Writer &inner, ValueRange column) -> Value {
        Value place = arith::MulIOp::create(inner.b, w.loc, row[0], extent);
        place = arith::AddIOp::create(inner.b, w.loc, place, column[0]);
        return GatherOp::create(inner.b, w.loc, g, place);
      });
    });
  }
};

struct SplitModel : AccessModel<SplitModel, SplitOp> {
  static Value transpose(SplitOp op, Writer &w, PrimalReader, unsigned, Value g) {
    return w.cast(FlattenOp::create(w.b, w.loc, g), op.getInput().getType());
  }
};

struct TransposeModel : AccessModel<TransposeModel, TransposeOp> {
  static Value transpose(TransposeOp op, Writer &w, PrimalReader, unsigned, Value g) {
    SmallVector<int64_t> inverse(op.getPermutation().size());
    for (auto [i, d] : llvm::enumerate(op.getPermutation()))
      inverse[d] = i;
    return TransposeOp::create(w.b, w.loc, g, inverse);
  }
};

struct RepeatModel : AccessModel<RepeatModel, RepeatOp> {
  static Value transpose(RepeatOp, Writer &w, PrimalReader, unsigned, Value g) { return w.sumOf(g); }
};

struct CastModel : AccessModel<CastModel, CastOp> {
  static Value transpose(CastOp op, Writer &w, PrimalReader, unsigned, Value g) { return w.cast(g, op.getInput().getType()); }
};

/// The last element where there is one, else the other value.
struct LastModel : AccessModel<LastModel, LastOp> {
  static Value transpose(LastOp op, Writer &w, PrimalReader, unsigned operand, Value g) {
    ListType list = listOf(op.getInput());
    Value zeros = w.zeros(list.getPeeled(), list.getLength());
    if (operand == 0)
      return ShiftOp::create(w.b, w.loc, zeros, number(op, -1), g);
    return LastOp::create(w.b, w.loc, zeros, g);
  }
};

struct GatherModel : AccessModel<GatherModel, GatherOp> {
  static Value transpose(GatherOp op, Writer &w, PrimalReader primal, unsigned, Value g) {
    return transposeGather(op, w, primal(op.getIndices()), g);
  }
};
} // namespace

void derivatives::registerListModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FTDialect *) {
    ShiftOp::attachInterface<ShiftModel>(*context);
    ReverseOp::attachInterface<ReverseModel>(*context);
    SliceOp::attachInterface<SliceModel>(*context);
    StrideOp::attachInterface<StrideModel>(*context);
    WindowOp::attachInterface<WindowModel>(*context);
    AtOp::attachInterface<AtModel>(*context);
    ConcatOp::attachInterface<ConcatModel>(*context);
    FlattenOp::attachInterface<FlattenModel>(*context);
    SplitOp::attachInterface<SplitModel>(*context);
    TransposeOp::attachInterface<TransposeModel>(*context);
    RepeatOp::attachInterface<RepeatModel>(*context);
    CastOp::attachInterface<CastModel>(*context);
    LastOp::attachInterface<LastModel>(*context);
    GatherOp::attachInterface<GatherModel>(*context);
    IotaOp::attachInterface<ConstantModel<IotaOp>>(*context);
  });
}
