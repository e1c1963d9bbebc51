//===- Tensor.cpp - Values of the reference interpreter -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage, rounding and the conversions from and to raw memory.
//
//===----------------------------------------------------------------------===//
#include "ft/Interpreter/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <bit>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::ft::interp;

static constexpr int64_t maxElements = int64_t(1) << 30;

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Rounds to nearest even with `mantissa` stored bits, smallest normal
/// exponent `minExponent` and largest finite value below `overflow`.
template <int mantissa, int minExponent>
static double roundNarrow(double value, double overflow) {
  double magnitude = std::fabs(value);
  if (!(magnitude < overflow)) // also NaN
    return std::isnan(value) ? value : std::copysign(INFINITY, value);
  if (magnitude < std::ldexp(1.0, minExponent)) {
    // Subnormal: a multiple of 2^(minExponent - mantissa). Adding and taking
    // away 1.5·2^52 of these units leaves the rounded value.
    const double magic = std::ldexp(1.5, 52 + minExponent - mantissa);
    return std::copysign((magnitude + magic) - magic, value);
  }
  constexpr int drop = 52 - mantissa;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bits += ((uint64_t(1) << (drop - 1)) - 1) + ((bits >> drop) & 1);
  bits &= ~((uint64_t(1) << drop) - 1);
  return std::bit_cast<double>(bits);
}

/// The state of a generator (xorshift64), 0 where there is no noise.
static thread_local uint64_t noiseState = 0;

RoundingNoise::RoundingNoise(uint64_t seed) : outer(noiseState) {
  // Seeds that differ by little begin apart.
  noiseState = seed ? (seed * 0x9E3779B97F4A7C15u) | 1 : 0;
}
RoundingNoise::~RoundingNoise() { noiseState = outer; }
bool RoundingNoise::isOn() { return noiseState != 0; }

/// A number in [0, 1).
static double drawNoise() {
  noiseState ^= noiseState << 13;
  noiseState ^= noiseState >> 7;
  noiseState ^= noiseState << 17;
  return std::ldexp(static_cast<double>(noiseState >> 11), -53);
}

/// One of both neighbours of `value` among numbers with `mantissa` stored bits: `nearest`, or that on the other side.
static double roundWithNoise(double value, double nearest, int mantissa, int minExponent, Round round) {
  double rest = value - nearest;
  if (rest == 0 || !std::isfinite(rest))
    return nearest;
  double spacing = std::ldexp(1.0, std::max(std::ilogb(value), minExponent) - mantissa);
  if (drawNoise() * spacing >= std::fabs(rest))
    return nearest;
  return roundTo(nearest + std::copysign(spacing, rest), round);
}

Round mlir::ft::interp::withNoise(Round round) {
  return round == Round::F32    ? Round::NoisyF32
         : round == Round::F16  ? Round::NoisyF16
         : round == Round::BF16 ? Round::NoisyBF16
                                : round;
}

double mlir::ft::interp::roundTo(double value, Round round) {
  switch (round) {
  case Round::None:
    return value;
  case Round::F32:
    return static_cast<float>(value);
  case Round::F16:
    return roundNarrow<10, -14>(value, 65520.0);
  case Round::BF16:
    return roundNarrow<7, -126>(value, 0x1.FFp127);
  case Round::NoisyF32:
    return roundWithNoise(value, roundTo(value, Round::F32), 23, -126, Round::F32);
  case Round::NoisyF16:
    return roundWithNoise(value, roundTo(value, Round::F16), 10, -14, Round::F16);
  case Round::NoisyBF16:
    return roundWithNoise(value, roundTo(value, Round::BF16), 7, -126, Round::BF16);
  }
  return value;
}

void mlir::ft::interp::roundArray(Cell *cells, int64_t count, Round round) {
  if (round == Round::None)
    return;
  if (round == Round::F32) {
    for (int64_t i = 0; i < count; ++i)
      cells[i].f = static_cast<float>(cells[i].f);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    cells[i].f = roundTo(cells[i].f, round);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::optional<Round> mlir::ft::interp::roundingOf(Type type) {
  if (type.isF64())
    return Round::None;
  if (type.isF32())
    return Round::F32;
  if (type.isF16())
    return Round::F16;
  if (type.isBF16())
    return Round::BF16;
  return std::nullopt;
}

bool mlir::ft::interp::isSupportedElementType(Type type) {
  if (isa<FloatType>(type))
    return roundingOf(type).has_value();
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() >= 1 && integer.getWidth() <= 64;
  return isa<IndexType>(type);
}

unsigned mlir::ft::interp::integerWidth(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth();
  return 64;
}

unsigned mlir::ft::interp::elementBytes(Type type) {
  if (isa<IndexType>(type))
    return 8;
  unsigned bytes = (type.getIntOrFloatBitWidth() + 7) / 8;
  return std::bit_ceil(bytes);
}

uint64_t mlir::ft::interp::toBits(Cell cell, Type type) {
  if (!isa<FloatType>(type))
    return asUnsigned(cell.i, integerWidth(type));
  if (type.isF64())
    return std::bit_cast<uint64_t>(cell.f);
  if (type.isF32())
    return std::bit_cast<uint32_t>(static_cast<float>(cell.f));
  if (std::isnan(cell.f))
    return (std::signbit(cell.f) ? 0x8000u : 0u) | (type.isF16() ? 0x7E00u : 0x7FC0u);
  if (type.isBF16()) // exact in f32 once rounded
    return std::bit_cast<uint32_t>(static_cast<float>(roundTo(cell.f, Round::BF16))) >> 16;
  llvm::APFloat value(roundTo(cell.f, Round::F16));
  bool loses;
  value.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.bitcastToAPInt().getZExtValue();
}

Cell mlir::ft::interp::fromBits(uint64_t bits, Type type) {
  Cell cell;
  if (!isa<FloatType>(type)) {
    cell.i = wrapToWidth(static_cast<int64_t>(bits), integerWidth(type));
  } else if (type.isF64()) {
    cell.f = std::bit_cast<double>(bits);
  } else if (type.isF32()) {
    cell.f = std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else if (type.isBF16()) {
    cell.f = std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  } else {
    int exponent = (bits >> 10) & 31;
    double mantissa = bits & 1023;
    double magnitude = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                       : exponent == 0 ? std::ldexp(mantissa, -24)
                                       : std::ldexp(1024 + mantissa, exponent - 25);
    cell.f = std::copysign(magnitude, bits & 0x8000 ? -1.0 : 1.0);
  }
  return cell;
}

std::optional<int64_t> mlir::ft::interp::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      empty = true;
    else if (size > maxElements / count)
      return std::nullopt;
    else
      count *= size;
  }
  return empty ? 0 : count;
}

LogicalResult mlir::ft::interp::checkAllocation(Location loc, ArrayRef<int64_t> shape) {
  if (countElements(shape))
    return success();
  InFlightDiagnostic diag = mlir::emitError(loc, "cannot allocate a tensor of sizes ");
  llvm::interleave(shape, diag, "x");
  return diag;
}

SmallVector<int64_t> mlir::ft::interp::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

Tensor Tensor::zeros(Type elementType, ArrayRef<int64_t> shape) {
  auto fresh = std::make_shared<Payload>();
  fresh->elementType = elementType;
  fresh->shape.assign(shape.begin(), shape.end());
  fresh->count = countElements(shape).value_or(0);
  fresh->cells = std::shared_ptr<Cell[]>(new Cell[fresh->count]());
  Tensor result;
  result.payload = std::move(fresh);
  return result;
}

Tensor Tensor::splat(Type elementType, ArrayRef<int64_t> shape, Cell value) {
  Tensor result = zeros(elementType, shape);
  Cell *cells = result.payload->cells.get();
  std::fill(cells, cells + result.getNumElements(), value);
  return result;
}

Tensor Tensor::scalarFloat(Type elementType, double value) {
  Cell cell;
  cell.f = roundTo(value, roundingOf(elementType).value_or(Round::None));
  return scalar(elementType, cell);
}

Tensor Tensor::scalarInt(Type elementType, int64_t value) {
  Cell cell;
  cell.i = wrapToWidth(value, integerWidth(elementType));
  return scalar(elementType, cell);
}

Tensor Tensor::fromBytes(Type elementType, ArrayRef<int64_t> shape, const void *bytes) {
  Tensor result = zeros(elementType, shape);
  Cell *cells = result.payload->cells.get();
  unsigned size = elementBytes(elementType);
  const char *source = static_cast<const char *>(bytes);
  for (int64_t i = 0, e = result.getNumElements(); i < e; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, source + i * size, size);
    cells[i] = fromBits(bits, elementType);
  }
  return result;
}

void Tensor::toBytes(void *bytes) const {
  unsigned size = elementBytes(getElementType());
  char *target = static_cast<char *>(bytes);
  for (int64_t i = 0, e = getNumElements(); i < e; ++i) {
    // i1 is the byte 0 or 1; other odd widths are sign-extended to whole bytes.
    uint64_t bits =
        isFloat() ? toBits(data()[i], getElementType()) : static_cast<uint64_t>(data()[i].i);
    std::memcpy(target + i * size, &bits, size);
  }
}

Cell *Tensor::mutableData() {
  if (payload.use_count() > 1 || payload->cells.use_count() > 1) {
    auto fresh = std::make_shared<Payload>(*payload);
    fresh->cells = std::shared_ptr<Cell[]>(new Cell[payload->count]);
    if (payload->count)
      std::memcpy(fresh->cells.get(), payload->cells.get(), payload->count * sizeof(Cell));
    payload = std::move(fresh);
  }
  return payload->cells.get();
}

Tensor Tensor::withShape(ArrayRef<int64_t> shape) const {
  auto fresh = std::make_shared<Payload>(*payload);
  fresh->shape.assign(shape.begin(), shape.end());
  Tensor result;
  result.payload = std::move(fresh);
  return result;
}

Tensor Tensor::withElementType(Type type) const {
  auto fresh = std::make_shared<Payload>(*payload);
  fresh->elementType = type;
  Tensor result;
  result.payload = std::move(fresh);
  return result;
}

bool Tensor::identicalTo(const Tensor &other) const {
  if (getElementType() != other.getElementType() || getShape() != other.getShape())
    return false;
  for (int64_t i = 0, e = getNumElements(); i < e; ++i) {
    bool bothNan = isFloat() && std::isnan(getFloat(i)) && std::isnan(other.getFloat(i));
    if (data()[i].i != other.data()[i].i && !bothNan)
      return false;
  }
  return true;
}

void Tensor::print(raw_ostream &os) const {
  SmallVector<int64_t> strides = rowMajorStrides(getShape());
  auto printLevel = [&](auto &self, int64_t level, int64_t offset) -> void {
    if (level == getRank()) {
      if (isFloat())
        os << llvm::format("%.7g", getFloat(offset));
      else
        os << getInt(offset);
      return;
    }
    os << '[';
    for (int64_t i = 0; i < getShape()[level]; ++i) {
      if (i)
        os << ", ";
      self(self, level + 1, offset + i * strides[level]);
    }
    os << ']';
  };
  printLevel(printLevel, 0, 0);
}
