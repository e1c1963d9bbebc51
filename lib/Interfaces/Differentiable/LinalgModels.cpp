//===- LinalgModels.cpp - derivatives of linalg ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From maps and body, for every structured operation: with y[O p] joined over p of t(x_r[A_r p], …),
//
//     x̄_r[A_r p] += ∂t/∂x_r · w · ȳ[O p]        ẏ[O p] += w · Σ_r ∂t/∂x_r · ẋ_r[A_r p]
//
// where w depends on how terms are joined: 1 for a sum; [t = y] / (number of such) for a maximum or minimum, as
// `torch.amax`; the product of the others for a product.
//
//===----------------------------------------------------------------------===//
#include "LinalgBody.h"
#include "Terms.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

namespace {
/// The derivatives of one operation.
class Derivative {
public:
  Derivative(linalg::LinalgOp op, OpBuilder &b, PrimalReader primal) : op(op), w{b, op->getLoc()}, primal(primal) {}

  LogicalResult gradients(ArrayRef<Value> cotangents, ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients);
  LogicalResult tangents(ArrayRef<Value> tangents, SmallVectorImpl<Value> &results);

private:
  bool isReduction(unsigned output);
  FailureOr<Join> joinOf(unsigned output);
  /// Adds to the cotangent of one operand what comes from one result.
  FailureOr<Value> gradientOf(OpOperand &operand, unsigned output, Value cotangent, const Join &join);
  Value gradientOfInit(unsigned output, Value cotangent, const Join &join);
  FailureOr<Value> tangentOf(unsigned output, ArrayRef<Value> tangents, const Join &join);
  /// How many terms are the extremum, and whether the initial value is one: as numbers.
  Value countOf(unsigned output, const Join &join, Value &initIs);
  /// Of a product: Π of the factors that are not 0, and the number of those that are.
  void factorsOf(unsigned output, const Join &join, Value &product, Value &zeros);
  /// w · value for the term of one iteration, in the body that is built.
  Value weigh(GenericBody &body, unsigned output, const Join &join, Value value);

  linalg::LinalgOp op;
  Writer w;
  PrimalReader primal;
  // By output, when first needed.
  DenseMap<unsigned, std::pair<Value, Value>> counts, factors;
};
} // namespace

/// Whether a place of the result is written by several iterations or by none, whatever the loops are called.
bool Derivative::isReduction(unsigned output) {
  OpOperand *init = op.getDpsInitOperand(output);
  AffineMap map = op.getMatchingIndexingMap(init);
  auto tensor = dyn_cast<RankedTensorType>(init->get().getType());
  if (op.getNumReductionLoops() != 0 || !tensor)
    return true;
  SmallVector<bool> seen(map.getNumDims(), false);
  for (auto [place, extent] : llvm::zip_equal(map.getResults(), tensor.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(place);
    if (dim ? seen[dim.getPosition()] : extent != 1)
      return true;
    if (dim)
      seen[dim.getPosition()] = true;
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::any_of(llvm::enumerate(ranges), [&](auto range) { return range.value() != 1 && !seen[range.index()]; });
}

FailureOr<Join> Derivative::joinOf(unsigned output) {
  if (!isReduction(output))
    return Join{Join::Each, op.getBlock()->getTerminator()->getOperand(output)};
  std::optional<Join> join = findJoin(op, output);
  if (join)
    return *join;
  InFlightDiagnostic diag = op->emitOpError("has no derivative: a reduction joins its terms by a sum, product, maximum "
                                            "or minimum; found another body");
  if (Operation *made = op.getBlock()->getTerminator()->getOperand(output).getDefiningOp())
    diag.attachNote(made->getLoc()) << "the value is made here";
  return diag;
}

Value Derivative::countOf(unsigned output, const Join &join, Value &initIs) {
  auto &[count, known] = counts[output];
  if (!count) {
    Value result = primal(op->getResult(output)), init = primal(op.getDpsInitOperand(output)->get());
    Type type = result.getType();
    Value one = w.splat(type, 1.0), zero = w.splat(type, 0.0);
    Value same = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, init, result);
    known = arith::SelectOp::create(w.b, w.loc, same, one, zero);
    GenericBody body(op, w, primal);
    Value term = body.read(join.term), top = body.addInput(result, body.outputMap(output));
    Value hit = arith::CmpFOp::create(body.b, w.loc, arith::CmpFPredicate::OEQ, term, top);
    Type element = term.getType();
    Value is = arith::SelectOp::create(body.b, w.loc, hit, Writer{body.b, w.loc}.splat(element, 1.0),
                                       Writer{body.b, w.loc}.splat(element, 0.0));
    count = body.finish(is, type, body.outputMap(output), known);
  }
  initIs = known;
  return count;
}

void Derivative::factorsOf(unsigned output, const Join &join, Value &product, Value &zeros) {
  auto &[found, number] = factors[output];
  if (!found) {
    Value init = primal(op.getDpsInitOperand(output)->get());
    Type type = init.getType();
    auto split = [&](Writer &at, Value value, bool isProduct) -> Value {
      Type t = value.getType();
      Value isZero = arith::CmpFOp::create(at.b, at.loc, arith::CmpFPredicate::OEQ, value, at.splat(t, 0.0));
      Value one = at.splat(t, 1.0);
      return isProduct ? arith::SelectOp::create(at.b, at.loc, isZero, one, value).getResult()
                       : arith::SelectOp::create(at.b, at.loc, isZero, one, at.splat(t, 0.0)).getResult();
    };
    for (bool isProduct : {true, false}) {
      Value start = split(w, init, isProduct);
      GenericBody body(op, w, primal);
      Writer inner{body.b, w.loc};
      Value part = split(inner, body.read(join.term), isProduct);
      (isProduct ? found : number) = body.finish(part, type, body.outputMap(output), start, isProduct);
    }
  }
  product = found;
  zeros = number;
}

/// Π of the others, from Π of all that are not 0 and the number of zeros, times `value`.
static Value timesOthers(Writer &w, Value term, Value product, Value zeros, Value value) {
  Type type = term.getType();
  auto is = [&](Value a, double number) -> Value {
    return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, a, w.splat(type, number));
  };
  auto choose = [&](Value c, Value a, Value b) -> Value { return arith::SelectOp::create(w.b, w.loc, c, a, b); };
  Value zero = w.splat(type, 0.0);
  Value quotient = arith::DivFOp::create(w.b, w.loc, product, choose(is(term, 0.0), w.splat(type, 1.0), term));
  Value others = choose(is(term, 0.0), choose(is(zeros, 1.0), product, zero), choose(is(zeros, 0.0), quotient, zero));
  return w.mul(others, value);
}

/// value / count where the term is the extremum, else 0.
static Value shareOf(Writer &w, Value isOne, Value count, Value value) {
  Value share = arith::DivFOp::create(w.b, w.loc, value, count);
  return arith::SelectOp::create(w.b, w.loc, isOne, share, w.splat(value.getType(), 0.0));
}

Value Derivative::weigh(GenericBody &body, unsigned output, const Join &join, Value value) {
  Writer inner{body.b, w.loc};
  if (join.kind == Join::Extremum) {
    Value initIs, count = countOf(output, join, initIs);
    Value top = body.addInput(primal(op->getResult(output)), body.outputMap(output));
    Value number = body.addInput(count, body.outputMap(output));
    Value hit = arith::CmpFOp::create(body.b, w.loc, arith::CmpFPredicate::OEQ, body.read(join.term), top);
    return shareOf(inner, hit, number, value);
  }
  if (join.kind == Join::Product) {
    Value product, zeros;
    factorsOf(output, join, product, zeros);
    Value p = body.addInput(product, body.outputMap(output)), z = body.addInput(zeros, body.outputMap(output));
    return timesOthers(inner, body.read(join.term), p, z, value);
  }
  if (join.isNegative)
    return arith::NegFOp::create(body.b, w.loc, value);
  return value;
}

FailureOr<Value> Derivative::gradientOf(OpOperand &operand, unsigned output, Value cotangent, const Join &join) {
  BlockArgument argument = op.getMatchingBlockArgument(&operand);
  GenericBody body(op, w, primal);
  if (!body.dependsOn(join.term, argument))
    return Value();
  Value seed = body.addInput(cotangent, body.outputMap(output));
  FailureOr<Value> part = body.reverse(join.term, weigh(body, output, join, seed), argument);
  if (failed(part))
    return failure();
  if (!*part)
    return Value();
  Type type = operand.get().getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  Value made = body.finishInto(*part, tensor ? tensor : RankedTensorType::get({}, type), op.getMatchingIndexingMap(&operand));
  return tensor ? made : w.scalar(made);
}

Value Derivative::gradientOfInit(unsigned output, Value cotangent, const Join &join) {
  if (join.kind == Join::Sum)
    return cotangent;
  if (join.kind == Join::Extremum) {
    Value initIs, count = countOf(output, join, initIs);
    Value hit = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, initIs, w.splat(initIs.getType(), 0.0));
    return shareOf(w, hit, count, cotangent);
  }
  Value product, zeros;
  factorsOf(output, join, product, zeros);
  return timesOthers(w, primal(op.getDpsInitOperand(output)->get()), product, zeros, cotangent);
}

LogicalResult Derivative::gradients(ArrayRef<Value> cotangents, ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) {
  gradients.assign(op->getNumOperands(), Value());
  for (unsigned output = 0; output < op->getNumResults(); ++output) {
    if (!cotangents[output])
      continue;
    FailureOr<Join> join = joinOf(output);
    if (failed(join))
      return failure();
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      if (!wanted[number] || !isDifferentiableType(operand.get().getType()))
        continue;
      FailureOr<Value> part = Value();
      if (join->kind == Join::Each || op.isDpsInput(&operand))
        part = gradientOf(operand, output, cotangents[output], *join);
      else if (&operand == op.getDpsInitOperand(output))
        part = gradientOfInit(output, cotangents[output], *join);
      if (failed(part))
        return failure();
      gradients[number] = buildSum(w.b, w.loc, gradients[number], *part);
    }
  }
  return success();
}

FailureOr<Value> Derivative::tangentOf(unsigned output, ArrayRef<Value> tangents, const Join &join) {
  Value init = join.kind == Join::Each ? Value() : tangents[op.getDpsInitOperand(output)->getOperandNumber()];
  if (init && join.kind != Join::Sum)
    init = gradientOfInit(output, init, join); // the same diagonal
  GenericBody body(op, w, primal);
  DenseMap<Value, Value> seeds;
  for (OpOperand &operand : op->getOpOperands())
    if (Value tangent = tangents[operand.getOperandNumber()]; tangent && (join.kind == Join::Each || op.isDpsInput(&operand)))
      if (BlockArgument argument = op.getMatchingBlockArgument(&operand); body.dependsOn(join.term, argument))
        seeds[argument] = body.addInput(tangent, op.getMatchingIndexingMap(&operand));
  if (seeds.empty())
    return init;
  FailureOr<Value> part = body.forward(join.term, seeds);
  if (failed(part))
    return failure();
  if (!*part)
    return init;
  Type type = op->getResult(output).getType();
  Value weighed = weigh(body, output, join, *part);
  if (join.kind != Join::Each && !init)
    init = w.splat(type, 0.0);
  return body.finish(weighed, type, body.outputMap(output), init);
}

LogicalResult Derivative::tangents(ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  for (unsigned output = 0; output < op->getNumResults(); ++output) {
    results.push_back(Value());
    if (!isDifferentiableType(op->getResult(output).getType()))
      continue;
    if (llvm::none_of(tangents, [](Value v) { return v != nullptr; }))
      continue;
    FailureOr<Join> join = joinOf(output);
    if (failed(join))
      return failure();
    FailureOr<Value> tangent = tangentOf(output, tangents, *join);
    if (failed(tangent))
      return failure();
    results.back() = *tangent;
  }
  return success();
}

namespace {
template <typename Op>
struct StructuredModel : DifferentiableOpInterface::ExternalModel<StructuredModel<Op>, Op> {
  LogicalResult buildVjp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> cotangents,
                         ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients) const {
    return Derivative(cast<linalg::LinalgOp>(op), b, primal).gradients(cotangents, wanted, gradients);
  }
  LogicalResult buildJvp(Operation *op, OpBuilder &b, PrimalReader primal, ArrayRef<Value> tangents,
                         SmallVectorImpl<Value> &results) const {
    return Derivative(cast<linalg::LinalgOp>(op), b, primal).tangents(tangents, results);
  }
};

template <typename... Ops>
void attachAll(MLIRContext *context) {
  (Ops::template attachInterface<StructuredModel<Ops>>(*context), ...);
}
} // namespace

void derivatives::registerLinalgModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachAll<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
}
