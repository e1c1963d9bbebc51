//===- IndexForms.cpp - what indices are, as sums of products -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/IndexForms.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

IndexForm::IndexForm(int64_t constant) { add({}, constant); }

IndexForm IndexForm::ofUnknown(unsigned number) {
  IndexForm form;
  form.add({number}, 1);
  return form;
}

void IndexForm::add(const std::vector<unsigned> &product, int64_t factor) {
  int64_t &known = terms[product];
  isExact &= !llvm::AddOverflow(known, factor, known);
  if (known == 0)
    terms.erase(product);
}

IndexForm IndexForm::operator+(const IndexForm &other) const {
  IndexForm sum = *this;
  sum.isExact &= other.isExact;
  for (const auto &[product, factor] : other.terms)
    sum.add(product, factor);
  return sum;
}

IndexForm IndexForm::operator-(const IndexForm &other) const { return *this + other * IndexForm(-1); }

IndexForm IndexForm::operator*(const IndexForm &other) const {
  IndexForm result;
  result.isExact = isExact && other.isExact;
  for (const auto &[left, a] : terms)
    for (const auto &[right, b] : other.terms) {
      std::vector<unsigned> product;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(product));
      int64_t factor;
      result.isExact &= !llvm::MulOverflow(a, b, factor);
      result.add(product, factor);
    }
  return result;
}

std::optional<int64_t> IndexForm::getConstant() const {
  if (!isExact || terms.size() > 1 || (terms.size() == 1 && !terms.begin()->first.empty()))
    return std::nullopt;
  return terms.empty() ? 0 : terms.begin()->second;
}

bool IndexForm::isMultipleOf(int64_t divisor) const {
  return isExact && llvm::all_of(terms, [&](const auto &term) { return term.second % divisor == 0; });
}

bool IndexForm::isNeverNegative(llvm::function_ref<bool(unsigned)> isNever) const {
  return isExact && llvm::all_of(terms, [&](const auto &term) { return term.second >= 0 && llvm::all_of(term.first, isNever); });
}

//===----------------------------------------------------------------------===//
// Unknowns
//===----------------------------------------------------------------------===//

IndexForm IndexForms::unknown(const Unknown &wanted) {
  for (auto [number, known] : llvm::enumerate(unknowns))
    if (known.kind == wanted.kind && known.value == wanted.value && known.divisor == wanted.divisor && (wanted.value || known.inside == wanted.inside))
      return IndexForm::ofUnknown(unsigned(number));
  unknowns.push_back(wanted);
  return IndexForm::ofUnknown(unsigned(unknowns.size() - 1));
}

IndexForm IndexForms::notNegative() {
  // (By 0 nothing is divided, so that none is found again.)
  unknowns.push_back({Kind::value, Value(), IndexForm(), int64_t(unknowns.size()), /*isNeverNegative=*/true});
  return IndexForm::ofUnknown(unsigned(unknowns.size() - 1));
}

/// Whether a value is a length of a call, an index of a loop that begins at 0 or later, or the number of a chunk's iterations.
bool IndexForms::isNeverNegative(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  Operation *parent = argument.getOwner()->getParentOp();
  auto isKnown = [&](OpFoldResult bound) {
    std::optional<IndexForm> form = formOf(bound, IndexPlace());
    return form && isNeverNegative(*form, IndexPlace());
  };
  return TypeSwitch<Operation *, bool>(parent)
      .Case([&](func::FuncOp) {
        return llvm::all_of(launches, [&](loops::LaunchOp launch) { return isa<loops::LengthOp>(launch.getArguments()[argument.getArgNumber()].getDefiningOp()); });
      })
      .Case([&](scf::ForOp loop) {
        std::optional<int64_t> step = getConstantIntValue(loop.getStep());
        return argument == loop.getInductionVar() && step && *step > 0 && isKnown(loop.getLowerBound());
      })
      .Case([&](scf::ForallOp loop) { return argument.getArgNumber() == 0 && isKnown(loop.getMixedLowerBound()[0]); })
      .Case([&](loops::ChunksOp chunks) { return argument == chunks.getCount() || isKnown(chunks.getLower()); })
      .Default(false);
}

bool IndexForms::isNeverNegative(const IndexForm &form, const IndexPlace &place) {
  auto isNever = [&](unsigned number) { return unknowns[number].isNeverNegative; };
  if (form.isNeverNegative(isNever))
    return true;
  // Of what is known, that a number is no less than its quotient times the divisor included, up to two facts tell it.
  SmallVector<IndexForm> facts(place.notNegative);
  for (auto [number, unknown] : llvm::enumerate(unknowns))
    if (unknown.kind == Kind::quotient)
      facts.push_back(unknown.inside - IndexForm::ofUnknown(unsigned(number)) * unknown.divisor);
  for (auto [i, one] : llvm::enumerate(facts)) {
    if ((form - one).isNeverNegative(isNever))
      return true;
    for (const IndexForm &other : ArrayRef(facts).drop_front(i + 1))
      if ((form - one - other).isNeverNegative(isNever))
        return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<IndexForm> IndexForms::divided(Kind kind, const IndexForm &inside, int64_t divisor, const IndexPlace &place) {
  if (divisor <= 0)
    return std::nullopt;
  bool isNever = isNeverNegative(inside, place);
  if (std::optional<int64_t> constant = inside.getConstant(); constant && *constant >= 0)
    return IndexForm(kind == Kind::quotient ? *constant / divisor : *constant % divisor);
  // (Of what is not negative both remainders are one.)
  if (kind == Kind::remainder && isNever)
    kind = Kind::modulo;
  return unknown({kind, Value(), inside, divisor, kind != Kind::quotient || isNever});
}

std::optional<IndexForm> IndexForms::ofExpression(AffineExpr expr, ArrayRef<IndexForm> operands, unsigned numDims, const IndexPlace &place) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexForm(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto both = cast<AffineBinaryOpExpr>(expr);
  std::optional<IndexForm> left = ofExpression(both.getLHS(), operands, numDims, place), right = ofExpression(both.getRHS(), operands, numDims, place);
  if (!left || !right)
    return std::nullopt;
  std::optional<int64_t> divisor = right->getConstant();
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *left + *right;
  case AffineExprKind::Mul:
    return *left * *right;
  case AffineExprKind::Mod:
    return divisor ? divided(Kind::modulo, *left, *divisor, place) : std::nullopt;
  case AffineExprKind::FloorDiv:
    return divisor ? divided(Kind::quotient, *left, *divisor, place) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<IndexForm> IndexForms::ofOperation(Operation *op, const IndexPlace &place) {
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::RemUIOp, affine::AffineApplyOp>(op))
    return std::nullopt;
  SmallVector<IndexForm> operands;
  for (Value operand : op->getOperands()) {
    std::optional<IndexForm> form = formOf(operand, place);
    if (!form)
      return std::nullopt;
    operands.push_back(*form);
  }
  return TypeSwitch<Operation *, std::optional<IndexForm>>(op)
      .Case([&](arith::AddIOp) { return operands[0] + operands[1]; })
      .Case([&](arith::SubIOp) { return operands[0] - operands[1]; })
      .Case([&](arith::MulIOp) { return operands[0] * operands[1]; })
      .Case([&](arith::RemUIOp) {
        std::optional<int64_t> divisor = operands[1].getConstant();
        return divisor ? divided(Kind::remainder, operands[0], *divisor, place) : std::nullopt;
      })
      .Case([&](affine::AffineApplyOp apply) {
        return ofExpression(apply.getAffineMap().getResult(0), operands, apply.getAffineMap().getNumDims(), place);
      });
}

std::optional<IndexForm> IndexForms::formOf(Value value, const IndexPlace &place) {
  if (auto found = place.bound.find(value); found != place.bound.end())
    return found->second;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexForm(*constant);
  if (Value chosen = chosenOf(value, place); chosen != value)
    return formOf(chosen, place);
  if (std::optional<IndexForm> form = ofOperation(value.getDefiningOp(), place))
    return form;
  // What is made inside differs from iteration to iteration.
  if (place.within && place.within->isAncestor(value.getParentBlock()->getParentOp()))
    return std::nullopt;
  return unknown({Kind::value, value, IndexForm(), 0, isNeverNegative(value)});
}

std::optional<IndexForm> IndexForms::formOf(OpFoldResult value, const IndexPlace &place) {
  if (auto constant = dyn_cast<Attribute>(value))
    return IndexForm(cast<IntegerAttr>(constant).getInt());
  return formOf(cast<Value>(value), place);
}

std::optional<IndexForm> IndexForms::sumOf(ArrayRef<OpFoldResult> numbers, ArrayRef<OpFoldResult> strides, const IndexPlace &place) {
  IndexForm sum;
  for (auto [number, stride] : llvm::zip_equal(numbers, strides)) {
    std::optional<IndexForm> left = formOf(number, place), right = formOf(stride, place);
    if (!left || !right)
      return std::nullopt;
    sum = sum + *left * *right;
  }
  return sum;
}

std::optional<IndexForm> IndexForms::beginOf(loops::ViewOp view, const IndexPlace &place) {
  return sumOf(view.getMixedIndices(), view.getMixedStrides(), place);
}

std::optional<IndexForm> IndexForms::stepOf(loops::ViewOp view, const IndexPlace &place) {
  return sumOf(view.getMixedSteps(), view.getMixedStrides(), place);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

std::optional<bool> IndexForms::compares(arith::CmpIOp compare, const IndexPlace &place) {
  using Predicate = arith::CmpIPredicate;
  std::optional<IndexForm> left = formOf(compare.getLhs(), place), right = formOf(compare.getRhs(), place);
  if (!left || !right)
    return std::nullopt;
  // Whether a >= b: surely, surely not, or it is unknown.
  auto isAtLeast = [&](const IndexForm &a, const IndexForm &b) -> std::optional<bool> {
    if (isNeverNegative(a - b, place))
      return true;
    return isNeverNegative(b - a - 1, place) ? std::optional(false) : std::nullopt;
  };
  auto isNot = [](std::optional<bool> holds) { return holds ? std::optional(!*holds) : std::nullopt; };
  switch (compare.getPredicate()) {
  case Predicate::sge:
    return isAtLeast(*left, *right);
  case Predicate::slt:
    return isNot(isAtLeast(*left, *right));
  case Predicate::sle:
    return isAtLeast(*right, *left);
  case Predicate::sgt:
    return isNot(isAtLeast(*right, *left));
  case Predicate::eq:
  case Predicate::ne: {
    bool isEqual = *left == *right, differs = isAtLeast(*left, *right + 1) == true || isAtLeast(*right, *left + 1) == true;
    if (!isEqual && !differs)
      return std::nullopt;
    return isEqual == (compare.getPredicate() == Predicate::eq);
  }
  default:
    return std::nullopt;
  }
}

std::optional<bool> IndexForms::isTrue(Value condition, const IndexPlace &place) {
  Operation *op = condition.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op); compare && compare.getLhs().getType().isIndex())
    return compares(compare, place);
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
    std::optional<bool> left = isTrue(both.getLhs(), place), right = isTrue(both.getRhs(), place);
    if (left == false || right == false)
      return false;
    return left && right ? std::optional(true) : std::nullopt;
  }
  return std::nullopt;
}

Value IndexForms::chosenOf(Value value, const IndexPlace &place) {
  while (auto branch = value.getDefiningOp<scf::IfOp>()) {
    std::optional<bool> is = isTrue(branch.getCondition(), place);
    if (!is)
      break;
    unsigned number = cast<OpResult>(value).getResultNumber();
    value = (*is ? branch.thenYield() : branch.elseYield()).getOperand(number);
  }
  return value;
}
