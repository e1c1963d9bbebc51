//===- TensorEval.cpp - Reference evaluator of tensor bodies --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatch, reading of operands, constants, elementwise ops and softmax. linalg
// is in LinalgProgram, tensor in TensorOpEval, control flow in LoopEval.
//
//===----------------------------------------------------------------------===//
#include "ft/Interpreter/TensorEval.h"
#include "LinalgProgram.h"
#include "ScalarKernels.h"
#include "TensorOpEval.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ft::interp;

TensorEval::TensorEval(bool truth) : truth(truth) {}
TensorEval::~TensorEval() = default;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

FailureOr<RuntimeValue> TensorEval::read(Operation *user, Value value, const Environment &env) {
  if (const RuntimeValue *found = env.lookup(value))
    return *found;
  return mlir::emitError(user->getLoc(), "operand of type ")
         << value.getType() << " has no value yet";
}

FailureOr<Tensor> TensorEval::readTensor(Operation *user, Value value, const Environment &env) {
  FailureOr<RuntimeValue> found = read(user, value, env);
  if (failed(found))
    return failure();
  if (!found->isTensor())
    return mlir::emitError(user->getLoc(),
                           "expects a tensor or scalar operand, found a value of type ")
           << value.getType();
  return found->getTensor();
}

FailureOr<int64_t> TensorEval::readInt(Operation *user, Value value, const Environment &env) {
  FailureOr<Tensor> tensor = readTensor(user, value, env);
  if (failed(tensor))
    return failure();
  if (tensor->isFloat() || tensor->getNumElements() != 1)
    return mlir::emitError(user->getLoc(), "expects one integer, found a value of type ")
           << value.getType();
  return tensor->getInt();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

LogicalResult TensorEval::evalBlock(Block &block, Environment &env) {
  for (Operation &op : block.without_terminator())
    if (failed(evalOp(&op, env)))
      return failure();
  return success();
}

LogicalResult TensorEval::evalOp(Operation *op, Environment &env) {
  if (extension)
    if (std::optional<LogicalResult> result = extension(op, env))
      return *result;
  bool known = false;
  if (failed(evalElementwise(op, env, known)))
    return failure();
  if (known)
    return success();
  if (isa<arith::ConstantOp>(op))
    return evalConstant(op, env);
  if (isa<linalg::LinalgOp>(op))
    return evalLinalg(op, env);
  if (isa<linalg::SoftmaxOp>(op))
    return evalSoftmax(op, env);
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    if (iterations.empty() || index.getDim() >= iterations.back().size())
      return mlir::emitError(op->getLoc(), "linalg.index outside of a structured op");
    env.bind(index.getResult(),
             Tensor::scalarInt(index.getType(), iterations.back()[index.getDim()]));
    return success();
  }
  if (isa<scf::IfOp>(op))
    return evalIf(op, env);
  if (isa<scf::ForOp>(op))
    return evalFor(op, env);
  if (isa<scf::WhileOp>(op))
    return evalWhile(op, env);
  if (isa<scf::ForallOp>(op))
    return evalForall(op, env);
  if (isa<affine::AffineForOp>(op))
    return evalAffineFor(op, env);
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op))
    return evalAffineMap(op, env);
  if (isa<linalg::PackOp, linalg::UnPackOp>(op))
    return TensorOpEval(*this, env).runPacking(op);
  if (isa_and_nonnull<tensor::TensorDialect>(op->getDialect()))
    if (std::optional<LogicalResult> result = TensorOpEval(*this, env).run(op))
      return *result;
  return reportUnsupported(op);
}

LogicalResult TensorEval::reportUnsupported(Operation *op) {
  InFlightDiagnostic diag = mlir::emitError(op->getLoc(), "the interpreter does not support '")
                            << op->getName() << "' here";
  diag.attachNote() << "it supports " << listScalarOps()
                    << ", affine.apply, affine.for, affine.max, affine.min, arith.constant, linalg ops on tensors, linalg.index, "
                    << "linalg.pack, linalg.softmax, linalg.unpack, " << TensorOpEval::listOps()
                    << ", scf.if, scf.for, scf.forall, scf.while";
  return diag;
}

//===----------------------------------------------------------------------===//
// Constants and elementwise ops
//===----------------------------------------------------------------------===//

FailureOr<Tensor> TensorEval::materialize(Operation *op, Attribute value, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!isSupportedElementType(element))
    return mlir::emitError(op->getLoc(), "the interpreter does not compute on elements of type ")
           << element;
  Cell cell;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    cell.f = number.getValueAsDouble();
    return Tensor::scalar(element, cell);
  }
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    cell.i = wrapToWidth(number.getValue().getSExtValue(), integerWidth(element));
    return Tensor::scalar(element, cell);
  }
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return mlir::emitError(op->getLoc(), "the interpreter cannot evaluate the constant ") << value;
  if (!countElements(shaped.getShape()))
    return mlir::emitError(op->getLoc(), "a constant of type ") << type << " is too large";
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    int64_t bytes = *countElements(shaped.getShape()) * elementBytes(element);
    if (!blob || static_cast<int64_t>(blob->getData().size()) != bytes)
      return mlir::emitError(op->getLoc(), "the resource of the constant is missing or not ")
             << bytes << " bytes";
    return Tensor::fromBytes(element, shaped.getShape(), blob->getData().data());
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return mlir::emitError(op->getLoc(), "the interpreter cannot evaluate the constant ") << value;
  Tensor result = Tensor::zeros(element, shaped.getShape());
  Cell *cells = result.mutableData();
  if (isa<FloatType>(element)) {
    auto convert = [](const APFloat &number) {
      APFloat wide = number;
      bool loses;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
      return wide.convertToDouble();
    };
    if (dense.isSplat()) {
      cell.f = convert(dense.getSplatValue<APFloat>());
      std::fill_n(cells, result.getNumElements(), cell);
    } else {
      for (auto [i, number] : llvm::enumerate(dense.getValues<APFloat>()))
        cells[i].f = convert(number);
    }
    return result;
  }
  unsigned width = integerWidth(element);
  if (dense.isSplat()) {
    cell.i = wrapToWidth(dense.getSplatValue<APInt>().getSExtValue(), width);
    std::fill_n(cells, result.getNumElements(), cell);
  } else {
    for (auto [i, number] : llvm::enumerate(dense.getValues<APInt>()))
      cells[i].i = wrapToWidth(number.getSExtValue(), width);
  }
  return result;
}

LogicalResult TensorEval::evalConstant(Operation *op, Environment &env) {
  auto constant = cast<arith::ConstantOp>(op);
  Tensor &cached = constants[op];
  if (!cached) {
    FailureOr<Tensor> value = materialize(op, constant.getValue(), constant.getType());
    if (failed(value))
      return failure();
    cached = *value;
  }
  env.bind(constant.getResult(), cached);
  return success();
}

LogicalResult TensorEval::evalElementwise(Operation *op, Environment &env, bool &known) {
  std::optional<ScalarInstr> instr = decodeScalarOp(op, RoundingMode{truth, halfAsSingle});
  if (!instr)
    return success();
  known = true;
  SmallVector<Tensor, 3> tensors;
  for (Value operand : op->getOperands()) {
    FailureOr<Tensor> tensor = readTensor(op, operand, env);
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
  }
  if (instr->opcode == Opcode::Select && tensors[0].getRank() == 0) {
    env.bind(op->getResult(0), tensors[tensors[0].getInt() ? 1 : 2]);
    return success();
  }
  for (const Tensor &tensor : tensors)
    if (tensor.getShape() != tensors[0].getShape())
      return mlir::emitError(op->getLoc(), "operands differ in shape");
  const Cell *in[3] = {};
  for (auto [i, tensor] : llvm::enumerate(tensors))
    in[i] = tensor.data();
  for (OpResult value : op->getResults()) {
    instr = decodeScalarOp(op, RoundingMode{truth, halfAsSingle}, value.getResultNumber());
    Tensor result = Tensor::zeros(instr->resultType, tensors[0].getShape());
    if (const char *problem = runScalar(*instr, in, result.mutableData(), result.getNumElements()))
      return mlir::emitError(op->getLoc(), problem);
    env.bind(value, result);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

LogicalResult TensorEval::evalLinalg(Operation *op, Environment &env) {
  auto structured = cast<linalg::LinalgOp>(op);
  if (!structured.hasPureTensorSemantics())
    return mlir::emitError(op->getLoc(),
                           "the interpreter evaluates linalg on tensors, not on buffers");
  for (Value operand : op->getOperands())
    if (!isSupportedElementType(getElementTypeOrSelf(operand)))
      return mlir::emitError(op->getLoc(), "the interpreter does not compute on elements of type ")
             << getElementTypeOrSelf(operand);
  std::unique_ptr<LinalgProgram> &program = programs[op];
  if (!program)
    program = std::make_unique<LinalgProgram>(structured, truth);
  LinalgProgram *compiled = program.get(); // nested ops may grow the table
  return compiled->run(*this, env);
}

/// Softmax by its definition: m = max x, e = exp(x - m), e / sum e; each of the
/// four steps rounds to the element type, the sum as any reduction does.
LogicalResult TensorEval::evalSoftmax(Operation *op, Environment &env) {
  auto softmax = cast<linalg::SoftmaxOp>(op);
  FailureOr<Tensor> input = readTensor(op, softmax.getInput(), env);
  if (failed(input))
    return failure();
  if (!input->isFloat() || op->getNumResults() != 1)
    return mlir::emitError(op->getLoc(), "the interpreter evaluates softmax on float tensors");
  Round round = RoundingMode{truth, false}.of(input->getElementType());
  Round sumRound = RoundingMode{truth, true}.of(input->getElementType());
  int64_t dim = softmax.getDimension();
  ArrayRef<int64_t> shape = input->getShape();
  if (dim < 0 || dim >= input->getRank())
    return mlir::emitError(op->getLoc(), "dimension ")
           << dim << " is not below the rank " << input->getRank();
  int64_t length = shape[dim], stride = rowMajorStrides(shape)[dim];
  Tensor result = *input;
  Cell *cells = result.mutableData();
  int64_t rows = length == 0 ? 0 : result.getNumElements() / length;
  for (int64_t row = 0; row < rows; ++row) {
    Cell *at = cells + (row / stride) * stride * length + row % stride;
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < length; ++i)
      if (!std::isnan(at[i * stride].f))
        most = std::max(most, at[i * stride].f);
    for (int64_t i = 0; i < length; ++i) {
      double e = roundTo(std::exp(roundTo(at[i * stride].f - most, round)), round);
      at[i * stride].f = e;
      sum = roundTo(sum + e, sumRound);
    }
    sum = roundTo(sum, round);
    for (int64_t i = 0; i < length; ++i)
      at[i * stride].f = roundTo(at[i * stride].f / sum, round);
  }
  env.bind(op->getResult(0), result);
  return success();
}
