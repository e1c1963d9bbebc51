//===- IntegerOperations.cpp - integers without exceptions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Math/Transforms/IntegerOperations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ft;

namespace {
enum class Kind : uint8_t { Quotient, Remainder, ShiftLeft, ShiftRight, FromFloat };
enum class Sign : uint8_t { Signed, Unsigned };
struct Rule {
  Kind kind;
  Sign sign;
  bool isSigned() const { return sign == Sign::Signed; }
  bool divides() const { return kind == Kind::Quotient || kind == Kind::Remainder; }
};
} // namespace

static Rule ruleOf(IntegerOperation operation) {
  switch (operation) {
#define FT_INTEGER_OP(Name, mnemonic, kind, sign)                                                  \
  case IntegerOperation::Name:                                                                     \
    return {Kind::kind, Sign::sign};
#include "ft/Dialect/Math/Transforms/IntegerOperations.def"
  }
  llvm_unreachable("no operation of the table");
}

std::optional<IntegerOperation> mlir::ft::getIntegerOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<IntegerOperation>>(op)
#define FT_INTEGER_OP(Name, mnemonic, kind, sign)                                                  \
  .Case<arith::Name##Op>([](auto) { return IntegerOperation::Name; })
#include "ft/Dialect/Math/Transforms/IntegerOperations.def"
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// As numbers
//===----------------------------------------------------------------------===//

/// The quotient rounded as the operation says; b is neither 0 nor, with the lowest a, -1.
template <typename T>
static T divide(IntegerOperation operation, T a, T b) {
  T quotient = a / b, rest = a % b;
  bool isBetween = rest != 0, isBelow = isBetween && (rest < 0) != (b < 0);
  if (operation == IntegerOperation::FloorDivSI)
    return quotient - isBelow;
  if (operation == IntegerOperation::CeilDivSI || operation == IntegerOperation::CeilDivUI)
    return quotient + (isBetween && !isBelow);
  return quotient;
}

int64_t mlir::ft::computeInteger(IntegerOperation operation, int64_t a, int64_t b, unsigned width) {
  Rule rule = ruleOf(operation);
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width), ua = a & mask, ub = b & mask;
  int64_t sa = llvm::SignExtend64(ua, width), sb = llvm::SignExtend64(ub, width);
  if (rule.kind == Kind::ShiftLeft)
    return ub < width ? ua << ub : 0;
  if (rule.kind == Kind::ShiftRight) {
    if (rule.isSigned())
      return sa >> std::min<uint64_t>(ub, width - 1);
    return ub < width ? ua >> ub : 0;
  }
  bool isQuotient = rule.kind == Kind::Quotient;
  if (ub == 0)
    return 0;
  if (!rule.isSigned())
    return isQuotient ? divide(operation, ua, ub) : ua % ub;
  if (sb == -1) // the processor has no quotient of the lowest number
    return isQuotient ? static_cast<int64_t>(0 - static_cast<uint64_t>(sa)) : 0;
  return isQuotient ? divide(operation, sa, sb) : sa % sb;
}

int64_t mlir::ft::computeFromFloat(IntegerOperation operation, double value, unsigned width) {
  bool isSigned = ruleOf(operation).isSigned();
  unsigned bits = isSigned ? width - 1 : width;
  double limit = std::ldexp(1.0, bits);
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(bits));
  if (value < (isSigned ? -limit : 0.0))
    return isSigned ? static_cast<int64_t>(~uint64_t(0) << bits) : 0;
  return isSigned ? static_cast<int64_t>(value) : static_cast<int64_t>(static_cast<uint64_t>(value));
}

//===----------------------------------------------------------------------===//
// As operations
//===----------------------------------------------------------------------===//

namespace {
/// Builds on operands of one shape.
class IntegerBuilder {
public:
  IntegerBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value build(Operation *op, Rule rule, ValueRange operands, Type result) const;

private:
  OpBuilder &b;
  Location loc;

  Value create(Operation *op, ValueRange operands, Type result) const;
  Value divide(Operation *op, Rule rule, Value x, Value y, Type result) const;
  Value shift(Operation *op, Rule rule, Value x, Value by, Type result) const;
  Value fromFloat(Operation *op, Rule rule, Value x, Type result) const;

  Value constant(Type type, TypedAttr element) const {
    if (auto shaped = dyn_cast<ShapedType>(type))
      element = DenseElementsAttr::get(shaped, Attribute(element));
    return arith::ConstantOp::create(b, loc, element);
  }
  Value integer(Type type, const APInt &value) const {
    return constant(type, IntegerAttr::get(getElementTypeOrSelf(type), value));
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) const {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
};
} // namespace

static unsigned widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? IndexType::kInternalStorageBitWidth : element.getIntOrFloatBitWidth();
}

/// `op` on other operands, without its promises (`exact`, `overflow`): a result that they exclude wraps.
Value IntegerBuilder::create(Operation *op, ValueRange operands, Type result) const {
  OperationState state(loc, op->getName(), operands, result, {});
  return b.create(state)->getResult(0);
}

Value IntegerBuilder::divide(Operation *op, Rule rule, Value x, Value y, Type result) const {
  unsigned width = widthOf(result);
  if (width == 1) { // 1, or as signed -1, divides all, and -1 / -1 wraps
    if (rule.kind == Kind::Remainder)
      return integer(result, APInt::getZero(1));
    return arith::AndIOp::create(b, loc, x, y);
  }
  APInt known;
  if (matchPattern(y, m_ConstantInt(&known)) && !known.isZero() && !(rule.isSigned() && known.isAllOnes()))
    return create(op, {x, y}, result);
  Value zero = integer(result, APInt::getZero(width));
  Value isZero = compare(arith::CmpIPredicate::eq, y, zero), isBad = isZero;
  if (rule.isSigned()) {
    Value isLowest = compare(arith::CmpIPredicate::eq, x, integer(result, APInt::getSignedMinValue(width)));
    Value isMinus = compare(arith::CmpIPredicate::eq, y, integer(result, APInt::getAllOnes(width)));
    Value overflows = arith::AndIOp::create(b, loc, isLowest, isMinus);
    isBad = arith::OrIOp::create(b, loc, isBad, overflows);
  }
  // By 1 the lowest number is itself, and a remainder 0.
  Value divided = create(op, {x, select(isBad, integer(result, APInt(width, 1)), y)}, result);
  return rule.kind == Kind::Quotient ? select(isZero, zero, divided) : divided;
}

Value IntegerBuilder::shift(Operation *op, Rule rule, Value x, Value by, Type result) const {
  unsigned width = widthOf(result);
  APInt known;
  if (matchPattern(by, m_ConstantInt(&known)) && known.ult(width))
    return create(op, {x, by}, result);
  if (rule.kind == Kind::ShiftRight && rule.isSigned()) {
    Value most = integer(result, APInt(width, width - 1));
    return create(op, {x, arith::MinUIOp::create(b, loc, by, most)}, result);
  }
  Value zero = integer(result, APInt::getZero(width));
  Value isInside = compare(arith::CmpIPredicate::ule, by, integer(result, APInt(width, width - 1)));
  return select(isInside, create(op, {x, select(isInside, by, zero)}, result), zero);
}

Value IntegerBuilder::fromFloat(Operation *op, Rule rule, Value x, Type result) const {
  unsigned width = widthOf(result), bits = rule.isSigned() ? width - 1 : width;
  auto type = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  auto number = [&](const APFloat &value) { return constant(x.getType(), FloatAttr::get(type, value)); };
  auto compareF = [&](arith::CmpFPredicate predicate, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  // A power of two; infinity where the floats do not go so far: then it alone is beyond.
  bool loses;
  APFloat most(APFloat::IEEEdouble());
  most.convertFromAPInt(APInt::getOneBitSet(bits + 1, bits), /*IsSigned=*/false, APFloat::rmTowardZero);
  most.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  bool isInfinite = !most.isFinite();
  APFloat least = rule.isSigned() ? -most : APFloat::getZero(semantics);
  Value above = number(most), below = number(least), zero = number(APFloat::getZero(semantics));
  Value isInside = arith::AndIOp::create(
      b, loc, compareF(rule.isSigned() && isInfinite ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE, below),
      compareF(arith::CmpFPredicate::OLT, above));
  Value converted = create(op, select(isInside, x, zero), result);
  APInt highest = APInt::getLowBitsSet(width, bits);
  converted = select(compareF(arith::CmpFPredicate::OGE, above), integer(result, highest), converted);
  if (!rule.isSigned())
    return converted;
  Value isBelow = compareF(isInfinite ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT, below);
  return select(isBelow, integer(result, ~highest), converted);
}

Value IntegerBuilder::build(Operation *op, Rule rule, ValueRange operands, Type result) const {
  if (rule.divides())
    return divide(op, rule, operands[0], operands[1], result);
  if (rule.kind == Kind::FromFloat)
    return fromFloat(op, rule, operands[0], result);
  return shift(op, rule, operands[0], operands[1], result);
}

Value mlir::ft::buildIntegerOperation(OpBuilder &b, Location loc, Operation *op, ValueRange operands, Type result) {
  return IntegerBuilder(b, loc).build(op, ruleOf(*getIntegerOperation(op)), operands, result);
}

/// Whether no element of a constant divisor is 0 or -1.
static bool isSafeDivisor(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return false;
  return llvm::none_of(elements.getValues<APInt>(), [](const APInt &v) { return v.isZero() || v.isAllOnes(); });
}

void mlir::ft::expandFloorQuotients(Operation *root) {
  SmallVector<arith::FloorDivSIOp> found;
  root->walk([&](arith::FloorDivSIOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (type && type.hasStaticShape() && !isSafeDivisor(op.getRhs()))
      found.push_back(op);
  });
  for (arith::FloorDivSIOp op : found) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value x = op.getLhs(), y = op.getRhs();
    unsigned width = widthOf(op.getType());
    auto constant = [&](int64_t value) -> Value {
      APInt number(width, static_cast<uint64_t>(value), /*isSigned=*/true, /*implicitTrunc=*/true);
      auto element = IntegerAttr::get(getElementTypeOrSelf(op.getType()), number);
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<ShapedType>(op.getType()), Attribute(element)));
    };
    Value zero = constant(0), quotient = arith::DivSIOp::create(b, loc, x, y), rest = arith::RemSIOp::create(b, loc, x, y);
    auto isBelow = [&](Value v) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, v, zero); };
    Value isBetween = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, zero);
    Value isMixed = arith::XOrIOp::create(b, loc, isBelow(rest), isBelow(y));
    Value isLess = arith::AndIOp::create(b, loc, isBetween, isMixed);
    Value floored = arith::SelectOp::create(b, loc, isLess, arith::SubIOp::create(b, loc, quotient, constant(1)), quotient);
    op.replaceAllUsesWith(floored);
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

namespace {
template <typename Op>
struct FoldInteger : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const final {
    Type type = op.getType();
    Type element = getElementTypeOrSelf(type);
    auto shaped = dyn_cast<ShapedType>(type);
    unsigned width = widthOf(type);
    SmallVector<Attribute> operands(op->getNumOperands());
    for (auto [attribute, operand] : llvm::zip_equal(operands, op->getOperands()))
      if (!matchPattern(operand, m_Constant(&attribute)))
        return failure();
    if (width > 64 || (shaped && !llvm::all_of(operands, llvm::IsaPred<DenseElementsAttr>)))
      return failure();
    // All elements, or the one of scalars and splats.
    auto isOne = [](Attribute a) { return !isa<DenseElementsAttr>(a) || isa<SplatElementsAttr>(a); };
    int64_t count = llvm::all_of(operands, isOne) ? 1 : shaped.getNumElements();
    SmallVector<Attribute> results;
    for (int64_t i = 0; i < count; ++i) {
      int64_t found = compute(*getIntegerOperation(op), operands, i, width);
      results.push_back(IntegerAttr::get(element, APInt(width, static_cast<uint64_t>(found), false, /*implicitTrunc=*/true)));
    }
    TypedAttr folded = shaped ? TypedAttr(DenseElementsAttr::get(shaped, results)) : cast<TypedAttr>(results.front());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, folded);
    return success();
  }

private:
  static Attribute elementOf(Attribute attribute, int64_t at) {
    if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
      return splat.getSplatValue<Attribute>();
    if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
      return *std::next(dense.getValues<Attribute>().begin(), at);
    return attribute;
  }

  static int64_t compute(IntegerOperation operation, ArrayRef<Attribute> operands, int64_t at, unsigned width) {
    auto number = [&](Attribute a) { return cast<IntegerAttr>(elementOf(a, at)).getValue().getSExtValue(); };
    if (operands.size() == 2)
      return computeInteger(operation, number(operands[0]), number(operands[1]), width);
    APFloat value = cast<FloatAttr>(elementOf(operands[0], at)).getValue();
    bool loses;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return computeFromFloat(operation, value.convertToDouble(), width);
  }
};
} // namespace

void mlir::ft::populateFoldIntegerPatterns(RewritePatternSet &patterns) {
#define FT_INTEGER_OP(Name, mnemonic, kind, sign) patterns.add<FoldInteger<arith::Name##Op>>(patterns.getContext());
#include "ft/Dialect/Math/Transforms/IntegerOperations.def"
}
