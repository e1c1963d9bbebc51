//===- LinalgProgram.cpp - A linalg op compiled for evaluation ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilation and the three ways to run: multiply-add contractions as one
// strided loop, compiled bodies a row at a time, and anything else point by
// point. For each output element all three take the iterations of the reduction
// dimensions in lexicographic order, so they agree bit for bit.
//
//===----------------------------------------------------------------------===//
#include "LinalgProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ft::interp;

/// Iterations a compiled body handles at a time: its registers stay in cache.
static constexpr int64_t rowLength = 256;

struct LinalgProgram::Plan {
  SmallVector<Tensor> tensors;               // by operand
  SmallVector<const Cell *> data;            // by operand
  SmallVector<Cell *> outputs;               // by output
  SmallVector<int64_t> ranges;               // by loop
  SmallVector<SmallVector<int64_t>> strides; // by operand, by loop
  SmallVector<int64_t> bases;                // by operand
  bool isEmpty = false;
};

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

LinalgProgram::LinalgProgram(linalg::LinalgOp op, bool truth)
    : op(op), numLoops(op.getNumLoops()), iterators(op.getIteratorTypesArray()),
      maps(op.getIndexingMapsArray()) {
  hasReduction = llvm::is_contained(iterators, utils::IteratorType::reduction);
  bool hasHalfResult = llvm::any_of(op.getDpsInits(), [](Value init) {
    Type type = getElementTypeOrSelf(init);
    return type.isF16() || type.isBF16();
  });
  mode = RoundingMode{truth, hasReduction && hasHalfResult};
  compileMaps();
  compileBody();
  if (isCompiled && isLinear)
    recognizeContraction();
}

/// Adds `scale`·expr to `coefficients` and `constant`; false if not linear.
static bool addLinear(AffineExpr expr, int64_t scale, MutableArrayRef<int64_t> coefficients,
                      int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += scale;
    return true;
  }
  if (auto literal = dyn_cast<AffineConstantExpr>(expr)) {
    constant += scale * literal.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, coefficients, constant) &&
           addLinear(binary.getRHS(), scale, coefficients, constant);
  if (binary.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return addLinear(binary.getLHS(), scale * factor.getValue(), coefficients, constant);
  return false;
}

void LinalgProgram::compileMaps() {
  for (AffineMap map : maps) {
    auto &results = forms.emplace_back();
    for (AffineExpr expr : map.getResults()) {
      LinearForm form;
      form.coefficients.assign(numLoops, 0);
      isLinear &= addLinear(expr, 1, form.coefficients, form.constant);
      results.push_back(std::move(form));
    }
  }
}

/// The register of a value the body uses; values from outside are captured.
unsigned LinalgProgram::registerOf(Value value) {
  auto [it, isNew] = registers.try_emplace(value, numRegisters);
  if (isNew) {
    ++numRegisters;
    captured.push_back({value, it->second});
    isCompiled &= isSupportedElementType(value.getType());
  }
  return it->second;
}

void LinalgProgram::compileBody() {
  Block *body = op.getBlock();
  for (BlockArgument arg : body->getArguments()) {
    registers[arg] = numRegisters;
    if (!arg.use_empty())
      loads.push_back({arg.getArgNumber(), numRegisters});
    ++numRegisters;
    isCompiled &= isSupportedElementType(arg.getType());
  }
  for (Operation &inner : body->without_terminator()) {
    if (inner.getNumResults() == 0 || !isSupportedElementType(inner.getResult(0).getType())) {
      isCompiled = false;
      return;
    }
    auto define = [&](unsigned result = 0) {
      return registers[inner.getResult(result)] = numRegisters++;
    };
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      indices.push_back({index.getDim(), define()});
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      Cell cell;
      if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
        cell.f = value.getValueAsDouble();
      else if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
        cell.i = wrapToWidth(value.getValue().getSExtValue(), integerWidth(value.getType()));
      else
        isCompiled = false;
      literals.push_back({cell, define()});
      continue;
    }
    for (unsigned result = 0; result < inner.getNumResults(); ++result) {
      std::optional<ScalarInstr> scalar = decodeScalarOp(&inner, mode, result);
      if (!scalar) {
        isCompiled = false;
        return;
      }
      Instr instr{*scalar, {}, 0, &inner};
      for (Value operand : inner.getOperands())
        instr.sources.push_back(registerOf(operand));
      instr.target = define(result);
      instrs.push_back(std::move(instr));
    }
  }
  for (Value value : body->getTerminator()->getOperands())
    yields.push_back(registerOf(value));
}

void LinalgProgram::recognizeContraction() {
  if (!hasReduction || op.getNumDpsInits() != 1 || !captured.empty() || !literals.empty() ||
      !indices.empty())
    return;
  Block *body = op.getBlock();
  if (body->getNumArguments() != op->getNumOperands())
    return;
  // Widening changes nothing in the representation used here.
  auto skipWidening = [](Value value) {
    while (Operation *def = value.getDefiningOp()) {
      bool widens = isa<arith::ExtFOp>(def) ||
                    (isa<arith::ExtSIOp>(def) && !def->getOperand(0).getType().isInteger(1));
      if (!widens)
        break;
      value = def->getOperand(0);
    }
    return value;
  };
  auto decodeAs = [&](Value value, Opcode floatCode, Opcode intCode) -> std::optional<ScalarInstr> {
    Operation *def = value.getDefiningOp();
    std::optional<ScalarInstr> instr = def ? decodeScalarOp(def, mode) : std::nullopt;
    if (instr && (instr->opcode == floatCode || instr->opcode == intCode))
      return instr;
    return std::nullopt;
  };
  Value sum = body->getTerminator()->getOperand(0);
  std::optional<ScalarInstr> add = decodeAs(sum, Opcode::AddF, Opcode::AddI);
  if (!add)
    return;
  Value product;
  Value accumulator = body->getArgument(body->getNumArguments() - 1);
  for (unsigned i : {0u, 1u})
    if (sum.getDefiningOp()->getOperand(i) == accumulator)
      product = sum.getDefiningOp()->getOperand(1 - i);
  if (!product || !accumulator.hasOneUse())
    return;
  std::optional<ScalarInstr> mul = decodeAs(product, Opcode::MulF, Opcode::MulI);
  if (!mul || mul->resultType != add->resultType)
    return;
  auto a = dyn_cast<BlockArgument>(skipWidening(product.getDefiningOp()->getOperand(0)));
  auto b = dyn_cast<BlockArgument>(skipWidening(product.getDefiningOp()->getOperand(1)));
  if (!a || !b || a == accumulator || b == accumulator)
    return;
  contraction = Contraction{a.getArgNumber(), b.getArgNumber(), isa<FloatType>(add->resultType),
                            mul->round,       add->round,       add->resultWidth};
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

LogicalResult LinalgProgram::makePlan(TensorEval &eval, Environment &env, Plan &plan) {
  SmallVector<int64_t> sizes;
  for (Value operand : op->getOperands()) {
    FailureOr<Tensor> tensor = eval.readTensor(op, operand, env);
    if (failed(tensor))
      return failure();
    llvm::append_range(sizes, tensor->getShape());
    plan.tensors.push_back(*tensor);
  }
  AffineMap shapesToLoops = op.getShapesToLoopsMap();
  if (!shapesToLoops)
    return mlir::emitError(op->getLoc(), "the loop ranges do not follow from the operand shapes");
  plan.ranges = shapesToLoops.compose(sizes);
  plan.isEmpty = llvm::is_contained(plan.ranges, 0);
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i) {
    SmallVector<int64_t> tensorStrides = rowMajorStrides(plan.tensors[i].getShape());
    if (maps[i].getNumResults() != tensorStrides.size())
      return mlir::emitError(op->getLoc(), "operand ")
             << i << " has rank " << tensorStrides.size() << ", its indexing map "
             << maps[i].getNumResults();
    SmallVector<int64_t> loopStrides(numLoops, 0);
    int64_t base = 0;
    for (auto [form, stride, size] :
         llvm::zip_equal(forms[i], tensorStrides, plan.tensors[i].getShape())) {
      int64_t least = form.constant, most = form.constant;
      for (unsigned loop = 0; loop < numLoops; ++loop) {
        int64_t reach = form.coefficients[loop] * (plan.ranges[loop] - 1);
        (reach < 0 ? least : most) += reach;
        loopStrides[loop] += form.coefficients[loop] * stride;
      }
      base += form.constant * stride;
      if (isLinear && !plan.isEmpty && (least < 0 || most >= size))
        return mlir::emitError(op->getLoc(), "operand ")
               << i << " is accessed at " << (least < 0 ? least : most)
               << " in a dimension of size " << size;
    }
    plan.strides.push_back(std::move(loopStrides));
    plan.bases.push_back(base);
  }
  return success();
}

template <typename Fn>
LogicalResult LinalgProgram::walkOuter(const Plan &plan, int inner, Fn fn) const {
  SmallVector<int64_t> point(numLoops, 0);
  SmallVector<int64_t> offsets = plan.bases;
  while (true) {
    if (failed(fn(ArrayRef<int64_t>(point), ArrayRef<int64_t>(offsets))))
      return failure();
    int loop = static_cast<int>(numLoops) - 1;
    for (; loop >= 0; --loop) {
      if (loop == inner)
        continue;
      bool wraps = ++point[loop] == plan.ranges[loop];
      int64_t step = wraps ? 1 - plan.ranges[loop] : 1;
      for (size_t i = 0; i < offsets.size(); ++i)
        offsets[i] += step * plan.strides[i][loop];
      if (!wraps)
        break;
      point[loop] = 0;
    }
    if (loop < 0)
      return success();
  }
}

/// The loop a row runs along, or -1: parallel, and each iteration owns its
/// element of every output, so that a row has no dependence inside.
int LinalgProgram::chooseRowLoop(const Plan &plan) {
  unsigned firstOutput = op.getNumDpsInputs();
  // If some parallel loop does not move an output, its iterations write one
  // element in turn; then keep plain lexicographic order.
  for (unsigned loop = 0; loop < numLoops; ++loop)
    for (unsigned i = firstOutput; i < plan.strides.size(); ++i)
      if (iterators[loop] == utils::IteratorType::parallel && !maps[i].isFunctionOfDim(loop))
        return -1;
  for (unsigned i = firstOutput; i < plan.strides.size(); ++i)
    if (!maps[i].isProjectedPermutation())
      return -1;
  int best = -1;
  int64_t bestScore = -1;
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    if (iterators[loop] != utils::IteratorType::parallel)
      continue;
    int64_t score = std::min<int64_t>(plan.ranges[loop], 64);
    if (score >= bestScore) {
      best = loop;
      bestScore = score;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

template <Round round>
double fusedRound(double value) {
  if constexpr (round == Round::F32)
    return static_cast<double>(static_cast<float>(value));
  return round == Round::None ? value : roundTo(value, round);
}

/// acc[i·sAcc] += a[i·sA] · b[i·sB], in order, rounding both steps.
template <Round round>
void mulAddFloat(Cell *acc, int64_t sAcc, const Cell *a, int64_t sA, const Cell *b, int64_t sB,
                 int64_t count) {
  if (sAcc == 0) {
    double sum = acc->f;
    for (int64_t i = 0; i < count; ++i)
      sum = fusedRound<round>(sum + fusedRound<round>(a[i * sA].f * b[i * sB].f));
    acc->f = sum;
    return;
  }
  if (sAcc == 1 && sA == 0 && sB == 1) {
    const double scale = a->f;
    for (int64_t i = 0; i < count; ++i)
      acc[i].f = fusedRound<round>(acc[i].f + fusedRound<round>(scale * b[i].f));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    acc[i * sAcc].f =
        fusedRound<round>(acc[i * sAcc].f + fusedRound<round>(a[i * sA].f * b[i * sB].f));
}

/// The same on integers; the sum is wrapped once, which changes nothing.
void mulAddInt(Cell *acc, int64_t sAcc, const Cell *a, int64_t sA, const Cell *b, int64_t sB,
               int64_t count, unsigned width) {
  for (int64_t i = 0; i < count; ++i) {
    uint64_t product = static_cast<uint64_t>(a[i * sA].i) * static_cast<uint64_t>(b[i * sB].i);
    acc[i * sAcc].i =
        wrapToWidth(static_cast<int64_t>(static_cast<uint64_t>(acc[i * sAcc].i) + product), width);
  }
}

} // namespace

void LinalgProgram::runContraction(Plan &plan) {
  unsigned outOperand = op->getNumOperands() - 1;
  unsigned a = contraction->a, b = contraction->b;
  int inner = chooseRowLoop(plan);
  // Few parallel iterations: run the last reduction loop instead, in order.
  if (inner < 0 || plan.ranges[inner] < 8)
    for (int loop = numLoops - 1; loop >= 0; --loop)
      if (iterators[loop] == utils::IteratorType::reduction) {
        inner = loop;
        break;
      }
  int64_t count = inner < 0 ? 1 : plan.ranges[inner];
  int64_t sAcc = inner < 0 ? 0 : plan.strides[outOperand][inner];
  int64_t sA = inner < 0 ? 0 : plan.strides[a][inner];
  int64_t sB = inner < 0 ? 0 : plan.strides[b][inner];
  const Cell *dataA = plan.data[a], *dataB = plan.data[b];
  if (sA != 0 && sB == 0) { // a product commutes
    std::swap(a, b);
    std::swap(sA, sB);
    std::swap(dataA, dataB);
  }
  bool single = contraction->mulRound == Round::F32;
  (void)walkOuter(plan, inner, [&](ArrayRef<int64_t>, ArrayRef<int64_t> offsets) {
    Cell *acc = plan.outputs[0] + offsets[outOperand];
    const Cell *rowA = dataA + offsets[a], *rowB = dataB + offsets[b];
    if (!contraction->isFloat)
      mulAddInt(acc, sAcc, rowA, sA, rowB, sB, count, contraction->width);
    else if (single)
      mulAddFloat<Round::F32>(acc, sAcc, rowA, sA, rowB, sB, count);
    else if (contraction->mulRound == Round::NoisyF32)
      mulAddFloat<Round::NoisyF32>(acc, sAcc, rowA, sA, rowB, sB, count);
    else
      mulAddFloat<Round::None>(acc, sAcc, rowA, sA, rowB, sB, count);
    return success();
  });
}

LogicalResult LinalgProgram::runRows(TensorEval &eval, Environment &env, Plan &plan) {
  int inner = chooseRowLoop(plan);
  int64_t range = inner < 0 ? 1 : plan.ranges[inner];
  int64_t length = std::min(range, rowLength);
  std::vector<Cell> file(numRegisters * length);
  SmallVector<const Cell *> at(numRegisters);
  for (unsigned r = 0; r < numRegisters; ++r)
    at[r] = file.data() + r * length;
  auto cells = [&](unsigned r) { return file.data() + r * length; };

  for (auto [cell, r] : literals)
    std::fill_n(cells(r), length, cell);
  for (auto [value, r] : captured) {
    FailureOr<Tensor> tensor = eval.readTensor(op, value, env);
    if (failed(tensor))
      return failure();
    std::fill_n(cells(r), length, tensor->data()[0]);
  }

  unsigned firstOutput = op.getNumDpsInputs();
  auto strideOf = [&](unsigned operand) { return inner < 0 ? 0 : plan.strides[operand][inner]; };
  return walkOuter(plan, inner, [&](ArrayRef<int64_t> point, ArrayRef<int64_t> offsets) {
    for (int64_t start = 0; start < range; start += length) {
      int64_t count = std::min(length, range - start);
      for (auto [operand, r] : loads) {
        int64_t stride = strideOf(operand);
        const Cell *source = plan.data[operand] + offsets[operand] + start * stride;
        if (stride == 1 && operand < firstOutput)
          at[r] = source;
        else
          for (int64_t i = 0; i < count; ++i)
            cells(r)[i] = source[i * stride];
      }
      for (auto [loop, r] : indices)
        for (int64_t i = 0; i < count; ++i)
          cells(r)[i].i = loop == inner ? start + i : point[loop];
      for (const Instr &instr : instrs) {
        const Cell *in[3] = {};
        for (auto [i, source] : llvm::enumerate(instr.sources))
          in[i] = at[source];
        if (const char *problem = runScalar(instr.scalar, in, cells(instr.target), count))
          return LogicalResult(mlir::emitError(instr.origin->getLoc(), problem));
      }
      for (auto [i, r] : llvm::enumerate(yields)) {
        unsigned operand = firstOutput + i;
        int64_t stride = strideOf(operand);
        Cell *target = plan.outputs[i] + offsets[operand] + start * stride;
        for (int64_t k = 0; k < count; ++k)
          target[k * stride] = at[r][k];
      }
    }
    return success();
  });
}

LogicalResult LinalgProgram::runPoints(TensorEval &eval, Environment &env, Plan &plan) {
  Block *body = op.getBlock();
  llvm::SaveAndRestore saved(eval.halfAsSingle, mode.halfAsSingle);
  eval.iterations.emplace_back(numLoops, 0);
  SmallVector<SmallVector<int64_t>> strides;
  for (const Tensor &tensor : plan.tensors)
    strides.push_back(rowMajorStrides(tensor.getShape()));

  LogicalResult result =
      walkOuter(plan, -1, [&](ArrayRef<int64_t> point, ArrayRef<int64_t>) -> LogicalResult {
        eval.iterations.back().assign(point.begin(), point.end());
        SmallVector<int64_t> offsets;
        for (unsigned i = 0; i < plan.tensors.size(); ++i) {
          int64_t offset = 0;
          for (auto [index, stride, size] :
               llvm::zip_equal(maps[i].compose(point), strides[i], plan.tensors[i].getShape())) {
            if (index < 0 || index >= size)
              return mlir::emitError(op->getLoc(), "operand ")
                     << i << " is accessed at " << index << " in a dimension of size " << size;
            offset += index * stride;
          }
          offsets.push_back(offset);
        }
        for (BlockArgument arg : body->getArguments()) {
          unsigned i = arg.getArgNumber();
          env.bind(arg, Tensor::scalar(arg.getType(), plan.data[i][offsets[i]]));
        }
        if (failed(eval.evalBlock(*body, env)))
          return failure();
        SmallVector<Cell> yielded;
        for (Value value : body->getTerminator()->getOperands()) {
          FailureOr<Tensor> tensor = eval.readTensor(body->getTerminator(), value, env);
          if (failed(tensor))
            return failure();
          yielded.push_back(tensor->data()[0]);
        }
        for (auto [i, cell] : llvm::enumerate(yielded))
          plan.outputs[i][offsets[op.getNumDpsInputs() + i]] = cell;
        return success();
      });
  eval.iterations.pop_back();
  return result;
}

LogicalResult LinalgProgram::run(TensorEval &eval, Environment &env) {
  Plan plan;
  if (failed(makePlan(eval, env, plan)))
    return failure();
  unsigned firstOutput = op.getNumDpsInputs();
  // The outputs are unshared first: an input may be the same value.
  SmallVector<Tensor> outputs(plan.tensors.begin() + firstOutput, plan.tensors.end());
  for (unsigned i = firstOutput; i < plan.tensors.size(); ++i)
    plan.tensors[i] = Tensor(outputs[i - firstOutput]);
  for (Tensor &output : outputs)
    plan.outputs.push_back(output.mutableData());
  for (unsigned i = 0; i < plan.tensors.size(); ++i)
    plan.data.push_back(i < firstOutput ? plan.tensors[i].data() : plan.outputs[i - firstOutput]);

  if (!plan.isEmpty) {
    if (contraction)
      runContraction(plan);
    else if (isCompiled && isLinear) {
      if (failed(runRows(eval, env, plan)))
        return failure();
    } else if (failed(runPoints(eval, env, plan))) {
      return failure();
    }
  }
  for (auto [i, output] : llvm::enumerate(outputs)) {
    // A half-precision reduction rounds here, once.
    if (hasReduction && output.isFloat())
      roundArray(plan.outputs[i], output.getNumElements(),
                 RoundingMode{mode.truth, false}.of(output.getElementType()));
    env.bind(op->getResult(i), output);
  }
  return success();
}
