//===- ScalarKernels.cpp - arith and math on arrays of cells --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of each arith and math operation. Float operations compute in
// double and round to the type: for + - * / and sqrt that is the correctly
// rounded result of f32, f16 and bf16, because a double has more than twice
// their digits.
//
//===----------------------------------------------------------------------===//
#include "ScalarKernels.h"
#include "ft/Dialect/Math/Transforms/IntegerOperations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace mlir::ft::interp;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static const llvm::StringMap<Opcode> &opcodeTable() {
  static const llvm::StringMap<Opcode> table = {
      {"arith.addf", Opcode::AddF},
      {"arith.subf", Opcode::SubF},
      {"arith.mulf", Opcode::MulF},
      {"arith.divf", Opcode::DivF},
      {"arith.remf", Opcode::RemF},
      {"arith.negf", Opcode::NegF},
      {"arith.maximumf", Opcode::MaximumF},
      {"arith.minimumf", Opcode::MinimumF},
      {"arith.maxnumf", Opcode::MaxNumF},
      {"arith.minnumf", Opcode::MinNumF},
      {"arith.cmpf", Opcode::CmpF},
      {"arith.addi", Opcode::AddI},
      {"arith.subi", Opcode::SubI},
      {"arith.muli", Opcode::MulI},
      {"arith.andi", Opcode::AndI},
      {"arith.ori", Opcode::OrI},
      {"arith.xori", Opcode::XOrI},
      {"arith.maxsi", Opcode::MaxSI},
      {"arith.maxui", Opcode::MaxUI},
      {"arith.minsi", Opcode::MinSI},
      {"arith.minui", Opcode::MinUI},
      {"arith.cmpi", Opcode::CmpI},
      {"arith.select", Opcode::Select},
      {"arith.extf", Opcode::ExtF},
      {"arith.truncf", Opcode::TruncF},
      {"arith.extsi", Opcode::ExtSI},
      {"arith.extui", Opcode::ExtUI},
      {"arith.trunci", Opcode::TruncI},
      {"arith.sitofp", Opcode::SIToFP},
      {"arith.uitofp", Opcode::UIToFP},
      {"arith.index_cast", Opcode::IndexCast},
      {"arith.index_castui", Opcode::IndexCastUI},
      {"arith.bitcast", Opcode::Bitcast},
#define FT_INTEGER_OP(Name, mnemonic, kind, sign) {"arith." #mnemonic, Opcode::Name},
#include "ft/Dialect/Math/Transforms/IntegerOperations.def"
#define FT_MATH_OP(Name, mnemonic, how) {"math." #mnemonic, Opcode::Name},
#include "ft/Dialect/Math/Transforms/MathFunctions.def"
  };
  return table;
}

std::string mlir::ft::interp::listScalarOps() {
  SmallVector<StringRef> names;
  for (const auto &entry : opcodeTable())
    names.push_back(entry.getKey());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

Round RoundingMode::of(Type type) const {
  if (truth)
    return Round::None;
  Round round = roundingOf(type).value_or(Round::None);
  if (halfAsSingle && (round == Round::F16 || round == Round::BF16))
    round = Round::F32;
  return RoundingNoise::isOn() ? withNoise(round) : round;
}

std::optional<ScalarInstr> mlir::ft::interp::decodeScalarOp(Operation *op, RoundingMode mode,
                                                            unsigned result) {
  auto it = opcodeTable().find(op->getName().getStringRef());
  if (it == opcodeTable().end() || result >= op->getNumResults() || op->getNumOperands() == 0 ||
      op->getNumOperands() > 3)
    return std::nullopt;
  ScalarInstr instr;
  instr.opcode = it->second;
  if (instr.opcode == Opcode::Sincos)
    instr.opcode = result == 0 ? Opcode::Sin : Opcode::Cos;
  else if (op->getNumResults() != 1)
    return std::nullopt;
  instr.numOperands = op->getNumOperands();
  instr.resultType = getElementTypeOrSelf(op->getResult(result));
  // A select is described by the values it chooses from, not by its condition.
  Value described = op->getOperand(instr.opcode == Opcode::Select ? 1 : 0);
  instr.operandType = getElementTypeOrSelf(described);
  if (!isSupportedElementType(instr.resultType) || !isSupportedElementType(instr.operandType))
    return std::nullopt;
  if (!isa<FloatType>(instr.operandType))
    instr.operandWidth = integerWidth(instr.operandType);
  if (isa<FloatType>(instr.resultType)) {
    bool isCast = instr.opcode == Opcode::TruncF;
    instr.round = RoundingMode{mode.truth, mode.halfAsSingle && !isCast}.of(instr.resultType);
  } else {
    instr.resultWidth = integerWidth(instr.resultType);
  }
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    instr.predicate = static_cast<uint8_t>(cmp.getPredicate());
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    instr.predicate = static_cast<uint8_t>(cmp.getPredicate());
  return instr;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

/// The operands of one call, and the loops over them.
struct Lanes {
  const ScalarInstr &instr;
  const Cell *const *in;
  Cell *out;
  int64_t count;

  template <typename Fn>
  const char *each(Fn fn) const {
    for (int64_t i = 0; i < count; ++i)
      out[i] = fn(i);
    return nullptr;
  }

  /// Float results, rounded. The common roundings are fused with the loop.
  template <typename Fn>
  const char *floats(Fn fn) const {
    if (instr.round == Round::F32) {
      for (int64_t i = 0; i < count; ++i)
        out[i].f = static_cast<float>(fn(i));
      return nullptr;
    }
    for (int64_t i = 0; i < count; ++i)
      out[i].f = fn(i);
    roundArray(out, count, instr.round);
    return nullptr;
  }
  template <typename Fn>
  const char *unaryF(Fn fn) const {
    const Cell *a = in[0];
    return floats([=](int64_t i) { return fn(a[i].f); });
  }
  template <typename Fn>
  const char *binaryF(Fn fn) const {
    const Cell *a = in[0], *b = in[1];
    return floats([=](int64_t i) { return fn(a[i].f, b[i].f); });
  }

  /// Integer results, wrapped to the result's width.
  template <typename Fn>
  const char *integers(Fn fn) const {
    unsigned width = instr.resultWidth;
    for (int64_t i = 0; i < count; ++i)
      out[i].i = wrapToWidth(static_cast<int64_t>(fn(i)), width);
    return nullptr;
  }
  /// On the raw bits, as unsigned: wrapping is then the whole difference.
  template <typename Fn>
  const char *binaryRaw(Fn fn) const {
    const Cell *a = in[0], *b = in[1];
    return integers([=](int64_t i) { return fn(uint64_t(a[i].i), uint64_t(b[i].i)); });
  }
  template <typename Fn>
  const char *binaryS(Fn fn) const {
    const Cell *a = in[0], *b = in[1];
    unsigned width = instr.operandWidth;
    return integers(
        [=](int64_t i) { return fn(asSigned(a[i].i, width), asSigned(b[i].i, width)); });
  }
  template <typename Fn>
  const char *binaryU(Fn fn) const {
    const Cell *a = in[0], *b = in[1];
    unsigned width = instr.operandWidth;
    return integers(
        [=](int64_t i) { return fn(asUnsigned(a[i].i, width), asUnsigned(b[i].i, width)); });
  }
  template <typename Fn>
  const char *testF(Fn fn) const {
    const Cell *a = in[0];
    return integers([=](int64_t i) { return fn(a[i].f) ? 1 : 0; });
  }
};

} // namespace

static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  if (a == 0 && b == 0)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
static double minimum(double a, double b) { return -maximum(-a, -b); }

template <typename T>
static bool compare(uint8_t predicate, T a, T b) {
  switch (predicate) { // the order of CmpIPredicate's first six cases
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  default:
    return a >= b;
  }
}

static bool compareFloat(uint8_t predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (static_cast<arith::CmpFPredicate>(predicate)) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return !unordered && a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return unordered || a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  return false;
}

/// Integer power by squaring; a negative exponent leaves 0 unless |base| is 1.
static int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return static_cast<int64_t>(result);
}

static const char *runFloat(const ScalarInstr &instr, const Lanes &lanes) {
  const Cell *const *in = lanes.in;
  switch (instr.opcode) {
  case Opcode::AddF:
    return lanes.binaryF([](double a, double b) { return a + b; });
  case Opcode::SubF:
    return lanes.binaryF([](double a, double b) { return a - b; });
  case Opcode::MulF:
    return lanes.binaryF([](double a, double b) { return a * b; });
  case Opcode::DivF:
    return lanes.binaryF([](double a, double b) { return a / b; });
  case Opcode::RemF:
    return lanes.binaryF([](double a, double b) { return std::fmod(a, b); });
  case Opcode::NegF:
    return lanes.unaryF([](double a) { return -a; });
  case Opcode::MaximumF:
    return lanes.binaryF(maximum);
  case Opcode::MinimumF:
    return lanes.binaryF(minimum);
  case Opcode::MaxNumF:
    return lanes.binaryF([](double a, double b) {
      return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
    });
  case Opcode::MinNumF:
    return lanes.binaryF([](double a, double b) {
      return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
    });
  case Opcode::CmpF:
    return lanes.integers(
        [&](int64_t i) { return compareFloat(instr.predicate, in[0][i].f, in[1][i].f); });
  case Opcode::ExtF:
  case Opcode::TruncF:
    return lanes.unaryF([](double a) { return a; });
#define FT_MATH_UNARY(Name, mnemonic, how, host)                                                   \
  case Opcode::Name:                                                                               \
    return lanes.unaryF([](double a) { return host(a); });
#define FT_MATH_BINARY(Name, mnemonic, how, host)                                                  \
  case Opcode::Name:                                                                               \
    return lanes.binaryF([](double a, double b) { return host(a, b); });
#include "ft/Dialect/Math/Transforms/MathFunctions.def"
  case Opcode::ClampF:
    return lanes.floats(
        [&](int64_t i) { return minimum(maximum(in[0][i].f, in[1][i].f), in[2][i].f); });
  case Opcode::Fma:
    // A product of f32 and a sum in double could round twice.
    if (instr.round == Round::F32)
      return lanes.floats([&](int64_t i) {
        return std::fma(static_cast<float>(in[0][i].f), static_cast<float>(in[1][i].f),
                        static_cast<float>(in[2][i].f));
      });
    return lanes.floats([&](int64_t i) { return std::fma(in[0][i].f, in[1][i].f, in[2][i].f); });
  case Opcode::FPowI:
    return lanes.floats(
        [&](int64_t i) { return std::pow(in[0][i].f, static_cast<double>(in[1][i].i)); });
  case Opcode::IsFinite:
    return lanes.testF([](double a) { return std::isfinite(a); });
  case Opcode::IsInf:
    return lanes.testF([](double a) { return std::isinf(a); });
  case Opcode::IsNaN:
    return lanes.testF([](double a) { return std::isnan(a); });
  case Opcode::IsNormal: {
    // Normal in its own type, not as a double.
    double smallest = instr.operandType.isF64()   ? 0x1p-1022
                      : instr.operandType.isF16() ? 0x1p-14
                                                  : 0x1p-126;
    return lanes.testF([=](double a) { return std::isfinite(a) && std::fabs(a) >= smallest; });
  }
  default:
    return "is not a float operation";
  }
}

/// Operations on bits, and conversions.
static const char *runBitsAndConversions(const ScalarInstr &instr, const Lanes &lanes) {
  const Cell *const *in = lanes.in;
  const unsigned width = instr.operandWidth;
  switch (instr.opcode) {
  case Opcode::AbsI:
    return lanes.integers([&](int64_t i) {
      int64_t a = asSigned(in[0][i].i, width);
      return a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
    });
  case Opcode::CountLeadingZeros:
    return lanes.integers([&](int64_t i) {
      return std::countl_zero(asUnsigned(in[0][i].i, width)) - static_cast<int>(64 - width);
    });
  case Opcode::CountTrailingZeros:
    return lanes.integers([&](int64_t i) {
      return std::min<int>(std::countr_zero(asUnsigned(in[0][i].i, width)), width);
    });
  case Opcode::CtPop:
    return lanes.integers([&](int64_t i) { return std::popcount(asUnsigned(in[0][i].i, width)); });
  case Opcode::IPowI:
    return lanes.binaryS([](int64_t a, int64_t b) { return integerPower(a, b); });
  case Opcode::TruncI:
  case Opcode::ExtSI:
  case Opcode::IndexCast:
    return lanes.integers([&](int64_t i) { return asSigned(in[0][i].i, width); });
  case Opcode::ExtUI:
  case Opcode::IndexCastUI:
    return lanes.integers([&](int64_t i) { return asUnsigned(in[0][i].i, width); });
  case Opcode::SIToFP:
    if (instr.round == Round::F32) // in one step: a double would round twice
      return lanes.floats(
          [&](int64_t i) { return static_cast<float>(asSigned(in[0][i].i, width)); });
    return lanes.floats(
        [&](int64_t i) { return static_cast<double>(asSigned(in[0][i].i, width)); });
  case Opcode::UIToFP:
    if (instr.round == Round::F32)
      return lanes.floats(
          [&](int64_t i) { return static_cast<float>(asUnsigned(in[0][i].i, width)); });
    return lanes.floats(
        [&](int64_t i) { return static_cast<double>(asUnsigned(in[0][i].i, width)); });
  default:
    return "is not an integer operation";
  }
}

static const char *runInteger(const ScalarInstr &instr, const Lanes &lanes) {
  const Cell *const *in = lanes.in;
  const unsigned width = instr.operandWidth;
  switch (instr.opcode) {
  case Opcode::AddI:
    return lanes.binaryRaw([](uint64_t a, uint64_t b) { return a + b; });
  case Opcode::SubI:
    return lanes.binaryRaw([](uint64_t a, uint64_t b) { return a - b; });
  case Opcode::MulI:
    return lanes.binaryRaw([](uint64_t a, uint64_t b) { return a * b; });
  case Opcode::AndI:
    return lanes.binaryRaw([](uint64_t a, uint64_t b) { return a & b; });
  case Opcode::OrI:
    return lanes.binaryRaw([](uint64_t a, uint64_t b) { return a | b; });
  case Opcode::XOrI:
    return lanes.binaryRaw([](uint64_t a, uint64_t b) { return a ^ b; });
#define FT_INTEGER_OP_Quotient(Name) FT_INTEGER_OP_Remainder(Name)
#define FT_INTEGER_OP_ShiftLeft(Name) FT_INTEGER_OP_Remainder(Name)
#define FT_INTEGER_OP_ShiftRight(Name) FT_INTEGER_OP_Remainder(Name)
#define FT_INTEGER_OP_Remainder(Name)                                                              \
  case Opcode::Name:                                                                               \
    return lanes.integers([&](int64_t i) {                                                         \
      return ft::computeInteger(ft::IntegerOperation::Name, in[0][i].i, in[1][i].i, width);        \
    });
#define FT_INTEGER_OP_FromFloat(Name)                                                              \
  case Opcode::Name:                                                                               \
    return lanes.integers([&](int64_t i) {                                                         \
      return ft::computeFromFloat(ft::IntegerOperation::Name, in[0][i].f, instr.resultWidth);      \
    });
#define FT_INTEGER_OP(Name, mnemonic, kind, sign) FT_INTEGER_OP_##kind(Name)
#include "ft/Dialect/Math/Transforms/IntegerOperations.def"
  case Opcode::MaxSI:
    return lanes.binaryS([](int64_t a, int64_t b) { return std::max(a, b); });
  case Opcode::MinSI:
    return lanes.binaryS([](int64_t a, int64_t b) { return std::min(a, b); });
  case Opcode::MaxUI:
    return lanes.binaryU([](uint64_t a, uint64_t b) { return std::max(a, b); });
  case Opcode::MinUI:
    return lanes.binaryU([](uint64_t a, uint64_t b) { return std::min(a, b); });
  case Opcode::CmpI:
    // eq … sge are cases 0 to 5, ult … uge repeat 2 to 5 on unsigned values.
    if (instr.predicate < 6)
      return lanes.binaryS([&](int64_t a, int64_t b) { return compare(instr.predicate, a, b); });
    return lanes.binaryU(
        [&](uint64_t a, uint64_t b) { return compare<uint64_t>(instr.predicate - 4, a, b); });
  default:
    return runBitsAndConversions(instr, lanes);
  }
}

const char *mlir::ft::interp::runScalar(const ScalarInstr &instr, const Cell *const *in, Cell *out,
                                        int64_t count) {
  Lanes lanes{instr, in, out, count};
  if (instr.opcode == Opcode::Select)
    return lanes.each([&](int64_t i) { return in[0][i].i ? in[1][i] : in[2][i]; });
  if (instr.opcode == Opcode::Bitcast)
    return lanes.each(
        [&](int64_t i) { return fromBits(toBits(in[0][i], instr.operandType), instr.resultType); });
  // A conversion between the kinds is an integer operation here.
  bool convertsKind = instr.opcode == Opcode::SIToFP || instr.opcode == Opcode::UIToFP ||
                      instr.opcode == Opcode::FPToSI || instr.opcode == Opcode::FPToUI;
  if (isa<FloatType>(instr.operandType) && !convertsKind)
    return runFloat(instr, lanes);
  return runInteger(instr, lanes);
}
