//===- FormModels.cpp - derivatives of short forms ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In closed form, which reads less than the operations that a short form stands for. Softmax and layer norm of f16 and
// bf16 are differentiated in f32 and rounded once, as they are computed.
//
//===----------------------------------------------------------------------===//
#include "Builders.h"
#include "Terms.h"

#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

namespace {
/// A form of one tensor whose Jacobian is symmetric: `apply` is both products with it.
template <typename Model, typename Op>
struct SymmetricModel : DifferentiableOpInterface::ExternalModel<Model, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    Writer w{b, op->getLoc()};
    gradients.assign(op->getNumOperands(), Value());
    if (cotangents[0] && wanted[0])
      gradients[0] = Model::apply(cast<Op>(op), w, primal, cotangents[0]);
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    Writer w{b, op->getLoc()};
    results.push_back(tangents[0] ? Model::apply(cast<Op>(op), w, primal, tangents[0]) : Value());
    return success();
  }
};

struct SigmoidModel : SymmetricModel<SigmoidModel, SigmoidOp> {
  static Value apply(SigmoidOp op, Writer &w, PrimalReader primal, Value t) {
    Value r = primal(op.getResult());
    return w.mul(t, w.mul(r, w.sub(w.splat(r.getType(), 1.0), r)));
  }
};

struct SiluModel : SymmetricModel<SiluModel, SiluOp> {
  static Value apply(SiluOp op, Writer &w, PrimalReader primal, Value t) {
    Value x = primal(op.getInput());
    Value s = SigmoidOp::create(w.b, w.loc, x.getType(), x), one = w.splat(x.getType(), 1.0);
    Value inner = w.add(one, w.mul(x, w.sub(one, s)));
    return w.mul(t, w.mul(s, inner));
  }
};

/// p (t - Σ p t)
Value applySoftmax(Writer &w, Value result, Value t, int64_t dim) {
  Value p = w.widen(result), wide = w.widen(t);
  Value weighted = w.mul(p, wide);
  Value mean = w.repeat(w.sum(weighted, dim), tensorOf(p), dim);
  return w.narrow(w.mul(p, w.sub(wide, mean)), t.getType());
}

struct SoftmaxModel : SymmetricModel<SoftmaxModel, SoftmaxOp> {
  static Value apply(SoftmaxOp op, Writer &w, PrimalReader primal, Value t) {
    return applySoftmax(w, primal(op.getResult()), t, op.getDim());
  }
};
struct LinalgSoftmaxModel : SymmetricModel<LinalgSoftmaxModel, linalg::SoftmaxOp> {
  static Value apply(linalg::SoftmaxOp op, Writer &w, PrimalReader primal, Value t) {
    return applySoftmax(w, primal(op->getResult(0)), t, op.getDimension());
  }
};

struct ScaleModel : DifferentiableOpInterface::ExternalModel<ScaleModel, ScaleOp> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    auto scale = cast<ScaleOp>(op);
    Writer w{b, op->getLoc()};
    Value g = cotangents[0];
    gradients.assign(2, Value());
    if (g && wanted[0])
      gradients[0] = ScaleOp::create(b, w.loc, g, primal(scale.getFactor()));
    if (g && wanted[1])
      gradients[1] = w.sum(w.mul(g, primal(scale.getInput())), allDims(tensorOf(g)));
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    auto scale = cast<ScaleOp>(op);
    Value sum;
    if (tangents[0])
      sum = ScaleOp::create(b, op->getLoc(), tangents[0], primal(scale.getFactor()));
    if (tangents[1])
      sum = buildSum(b, op->getLoc(), sum, ScaleOp::create(b, op->getLoc(), primal(scale.getInput()), tangents[1]));
    results.push_back(sum);
    return success();
  }
};

struct BroadcastModel : DifferentiableOpInterface::ExternalModel<BroadcastModel, BroadcastOp> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader, ArrayRef<Value> cotangents, ArrayRef<bool> wanted,
                         SmallVectorImpl<Value> &gradients) const {
    auto broadcast = cast<BroadcastOp>(op);
    Writer w{b, op->getLoc()};
    gradients.push_back(Value());
    if (!cotangents[0] || !wanted[0])
      return success();
    auto from = tensorOf(broadcast.getInput()), to = cast<RankedTensorType>(broadcast.getType());
    int64_t missing = to.getRank() - from.getRank();
    SmallVector<int64_t> added;
    for (int64_t d = 0; d < to.getRank(); ++d)
      if (d < missing || from.getDimSize(d - missing) != to.getDimSize(d))
        added.push_back(d);
    gradients[0] = w.reshape(w.sum(cotangents[0], added), from);
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    results.push_back(
        tangents[0] ? BroadcastOp::create(b, op->getLoc(), op->getResult(0).getType(), tangents[0]).getResult() : Value());
    return success();
  }
};

/// With x̂ = (x - mean x) / σ: the Jacobian of x̂ is t -> (t - mean t - x̂ mean(t x̂)) / σ, which is symmetric.
struct LayerNormModel : DifferentiableOpInterface::ExternalModel<LayerNormModel, LayerNormOp> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    auto norm = cast<LayerNormOp>(op);
    gradients.assign(3, Value());
    if (!cotangents[0])
      return success();
    Rows rows(norm, b, primal);
    Writer &w = rows.w;
    Value g = w.widen(cotangents[0]);
    if (wanted[0])
      gradients[0] = w.narrow(rows.apply(w.mul(g, rows.alongRows(norm.getGamma()))), cotangents[0].getType());
    if (wanted[1])
      gradients[1] = w.narrow(w.sum(w.mul(g, rows.getNormal()), rows.outer), norm.getGamma().getType());
    if (wanted[2])
      gradients[2] = w.narrow(w.sum(g, rows.outer), norm.getBeta().getType());
    return success();
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    auto norm = cast<LayerNormOp>(op);
    Rows rows(norm, b, primal);
    Writer &w = rows.w;
    Value sum;
    if (tangents[0])
      sum = w.mul(rows.apply(w.widen(tangents[0])), rows.alongRows(norm.getGamma()));
    if (tangents[1])
      sum = buildSum(b, w.loc, sum, w.mul(rows.getNormal(), rows.repeat(tangents[1])));
    if (tangents[2])
      sum = buildSum(b, w.loc, sum, rows.repeat(tangents[2]));
    results.push_back(sum ? w.narrow(sum, norm.getType()) : sum);
    return success();
  }

private:
  struct Rows {
    Rows(LayerNormOp op, OpBuilder &b, PrimalReader primal) : op(op), primal(primal), w{b, op.getLoc()} {
      type = cast<RankedTensorType>(op.getType());
      if (type.getElementTypeBitWidth() < 32)
        type = RankedTensorType::get(type.getShape(), b.getF32Type());
      dim = type.getRank() - 1;
      outer = allDims(type);
      outer.pop_back();
    }
    Value mean(Value x) {
      Value total = w.sum(x, dim);
      Value count = w.splat(total.getType(), static_cast<double>(type.getShape().back()));
      return w.repeat(arith::DivFOp::create(w.b, w.loc, total, count), type, dim);
    }
    Value repeat(Value row) { return w.repeat(w.widen(row), type, outer); }
    Value alongRows(Value source) { return repeat(primal(source)); }
    Value getNormal() {
      compute();
      return normal;
    }
    Value apply(Value t) {
      compute();
      Value centred = w.sub(t, mean(t));
      return w.mul(w.sub(centred, w.mul(normal, mean(w.mul(t, normal)))), inverse);
    }
    void compute() {
      if (normal)
        return;
      Value x = w.widen(primal(op.getInput())), centred = w.sub(x, mean(x));
      Value variance = mean(w.mul(centred, centred));
      Value safe = w.add(variance, w.splat(type, op.getEpsilon().convertToDouble()));
      inverse = math::RsqrtOp::create(w.b, w.loc, safe);
      normal = w.mul(centred, inverse);
    }

    LayerNormOp op;
    PrimalReader primal;
    Writer w;
    RankedTensorType type;
    int64_t dim;
    SmallVector<int64_t> outer;
    Value normal, inverse;
  };
};
} // namespace

void derivatives::registerFormModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FTDialect *) {
    SigmoidOp::attachInterface<SigmoidModel>(*context);
    SiluOp::attachInterface<SiluModel>(*context);
    SoftmaxOp::attachInterface<SoftmaxModel>(*context);
    LowestOp::attachInterface<ConstantModel<LowestOp>>(*context);
    StopGradientOp::attachInterface<ConstantModel<StopGradientOp>>(*context);
    ScaleOp::attachInterface<ScaleModel>(*context);
    BroadcastOp::attachInterface<BroadcastModel>(*context);
    LayerNormOp::attachInterface<LayerNormModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::SoftmaxOp::attachInterface<LinalgSoftmaxModel>(*context);
  });
}
