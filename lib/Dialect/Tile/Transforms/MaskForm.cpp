//===- MaskForm.cpp - sums that masks compare -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskForm.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

template <typename Key>
static void addTo(SmallVectorImpl<std::pair<Key, int64_t>> &terms, const Key &key, int64_t factor) {
  auto *found = llvm::find_if(terms, [&](const auto &term) { return term.first == key; });
  if (found == terms.end())
    terms.emplace_back(key, factor);
  else
    found->second += factor;
  llvm::erase_if(terms, [](const auto &term) { return term.second == 0; });
}

/// number / d % m, and m times as much of number / (d m), are number / d.
static bool joinDigits(SmallVectorImpl<std::pair<NumberDigit, int64_t>> &digits) {
  for (auto [low, factor] : llvm::to_vector(digits))
    for (auto [high, other] : llvm::to_vector(digits)) {
      if (low.axis != high.axis || low.modulus == 0 || high.divisor != low.divisor * low.modulus || other != factor * low.modulus)
        continue;
      NumberDigit whole{low.axis, low.divisor, low.modulus * high.modulus};
      addTo(digits, low, -factor);
      addTo(digits, high, -other);
      addTo(digits, whole, factor);
      return true;
    }
  return false;
}

void MaskForm::add(const MaskForm &other, int64_t factor) {
  constant += other.constant * factor;
  for (const auto &[value, own] : other.scalars)
    addTo(scalars, value, own * factor);
  for (const auto &[digit, own] : other.digits)
    addTo(digits, digit, own * factor);
  while (joinDigits(digits)) {
  }
}

int64_t MaskForm::take(Value scalar) {
  auto *found = llvm::find_if(scalars, [&](const auto &term) { return term.first == scalar; });
  const int64_t factor = found == scalars.end() ? 0 : found->second;
  addTo(scalars, scalar, -factor);
  return factor;
}

std::optional<int64_t> MaskForm::factorOf(int64_t axis) const {
  std::optional<int64_t> factor;
  for (const auto &[digit, own] : digits) {
    if (digit.axis != axis)
      continue;
    if (factor || digit.divisor != 1 || digit.modulus != 0)
      return std::nullopt;
    factor = own;
  }
  return factor.value_or(0);
}

std::pair<int64_t, int64_t> MaskForm::rangeOf(int64_t axis, int64_t numbers) const {
  int64_t least = 0, greatest = 0;
  for (const auto &[digit, factor] : digits) {
    if (digit.axis != axis)
      continue;
    const int64_t all = (numbers - 1) / digit.divisor, most = digit.modulus ? std::min(all, digit.modulus - 1) : all;
    (factor < 0 ? least : greatest) += factor * most;
  }
  return {least, greatest};
}

Value MaskForm::emit(ImplicitLocOpBuilder &b) const {
  Value sum = arith::ConstantIntOp::create(b, constant, 64);
  for (auto [value, factor] : scalars) {
    Value own = factor == 1 ? value : b.createOrFold<arith::MulIOp>(value, arith::ConstantIntOp::create(b, factor, 64));
    sum = b.createOrFold<arith::AddIOp>(own, sum);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Value mlir::tile::tileOfElement(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto map = argument ? dyn_cast<MapOp>(argument.getOwner()->getParentOp()) : MapOp();
  return map ? map.getInputs()[argument.getArgNumber()] : value;
}

static bool isOfTiles(Value value) { return isa<RegistersType, RowVectorType>(value.getType()); }

std::optional<MaskForm> MaskForms::readTile(Operation *op, unsigned result) {
  if (auto numbers = dyn_cast<NumbersOp>(op)) {
    std::optional<MaskForm> form = read(numbers.getFirst());
    if (form)
      addTo(form->digits, NumberDigit{int64_t(numbers.getAlong()), 1, 0}, 1);
    return form;
  }
  if (auto map = dyn_cast<MapOp>(op))
    return read(map.getBody().front().getTerminator()->getOperand(result));
  if (auto values = dyn_cast<RowValuesOp>(op)) { // the same in all columns
    std::optional<MaskForm> form = read(op->getOperand(0));
    return form && form->factorOf(1) == 0 ? form : std::nullopt;
  }
  return isa<SplatOp, BroadcastOp>(op) ? read(op->getOperand(0)) : std::nullopt;
}

/// A digit of a digit.
std::optional<MaskForm> MaskForms::readDigit(const MaskForm &of, int64_t number, bool isRemainder) const {
  if (number <= 0 || of.constant != 0 || !of.scalars.empty() || of.digits.size() != 1 || of.digits.front().second != 1)
    return std::nullopt;
  NumberDigit digit = of.digits.front().first;
  if (digit.modulus % number != 0)
    return std::nullopt;
  digit.modulus = isRemainder ? number : digit.modulus / number;
  digit.divisor *= isRemainder ? 1 : number;
  MaskForm form;
  form.digits.emplace_back(digit, 1);
  return form;
}

/// Whether a loop does not change a value, which is computed before the loop then.
static bool hoist(Value value, scf::ForOp loop) {
  Operation *op = value.getDefiningOp();
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  if (!op || op->getNumRegions() != 0 || !isPure(op) || !llvm::all_of(op->getOperands(), [&](Value operand) { return hoist(operand, loop); }))
    return false;
  op->moveBefore(loop);
  return true;
}

std::optional<MaskForm> MaskForms::readScalar(Value value, Operation *op) {
  APInt constant;
  MaskForm form;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    form.constant = constant.getSExtValue();
    return form;
  }
  if (value == loop.getInductionVar() || hoist(value, loop)) {
    form.scalars.emplace_back(value, 1);
    return form;
  }
  if (!op)
    return std::nullopt;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp>(op))
    return std::nullopt;
  std::optional<MaskForm> one = read(op->getOperand(0)), other = read(op->getOperand(1));
  if (!one || !other)
    return std::nullopt;
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    one->add(*other, isa<arith::AddIOp>(op) ? 1 : -1);
    return one;
  }
  if (!other->scalars.empty() || !other->digits.empty())
    std::swap(*one, *other);
  if (!other->scalars.empty() || !other->digits.empty())
    return std::nullopt;
  if (!isa<arith::MulIOp>(op))
    return matchPattern(op->getOperand(1), m_ConstantInt(&constant)) ? readDigit(*one, other->constant, isa<arith::RemUIOp>(op)) : std::nullopt;
  form.add(*one, other->constant);
  return form;
}

std::optional<MaskForm> MaskForms::read(Value value) {
  if (Value tile = tileOfElement(value); tile != value)
    return read(tile);
  Operation *op = value.getDefiningOp();
  if (isOfTiles(value))
    return op ? readTile(op, cast<OpResult>(value).getResultNumber()) : std::nullopt;
  return value.getType().isInteger(64) ? readScalar(value, op) : std::nullopt;
}
