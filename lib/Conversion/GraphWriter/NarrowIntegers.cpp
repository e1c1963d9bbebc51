//===- NarrowIntegers.cpp - integers that no memory holds -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NarrowIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;

/// The least number of bits of a byte, and the most of an integer in memory.
static constexpr unsigned byteWidth = 8, mostWidth = 64;

static bool isNarrow(IntegerType type) {
  unsigned width = type.getWidth();
  return type.isSignless() && width > 1 && width < mostWidth && (width < byteWidth || !llvm::isPowerOf2_32(width));
}
static bool isNarrow(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && isNarrow(integer);
}

namespace {
class NarrowWidener {
public:
  explicit NarrowWidener(func::FuncOp function) : function(function), rewriter(function.getContext()) {
    types.addReplacement([](IntegerType type) -> std::optional<Type> {
      if (!isNarrow(type))
        return std::nullopt;
      unsigned width = std::max<unsigned>(llvm::PowerOf2Ceil(type.getWidth()), byteWidth);
      return Type(IntegerType::get(type.getContext(), width));
    });
  }
  void run();

private:
  struct Widths {
    unsigned operand = 0, result = 0; // 0: not narrow
  };
  void rewrite(Operation *op, Widths narrow);
  void rewriteCast(Operation *op, Widths narrow);
  Value constant(Type type, const APInt &value);
  Value wrapped(Value value, unsigned width);
  Value masked(Value value, unsigned width);
  /// Operands as unsigned numbers.
  void mask(Operation *op, unsigned width, unsigned first = 0);
  /// Cuts the result to `width` bits.
  void wrap(Operation *op, unsigned width);
  /// `value` under a type of another width.
  Value resize(Value value, Type type, bool isSigned);

  func::FuncOp function;
  IRRewriter rewriter;
  AttrTypeReplacer types;
};
} // namespace

Value NarrowWidener::constant(Type type, const APInt &value) {
  TypedAttr attr = IntegerAttr::get(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, Attribute(attr));
  return arith::ConstantOp::create(rewriter, function.getLoc(), attr);
}

static unsigned widthOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

Value NarrowWidener::wrapped(Value value, unsigned width) {
  Value by = constant(value.getType(), APInt(widthOf(value), widthOf(value) - width));
  return arith::ShRSIOp::create(rewriter, value.getLoc(), arith::ShLIOp::create(rewriter, value.getLoc(), value, by), by);
}

Value NarrowWidener::masked(Value value, unsigned width) {
  return arith::AndIOp::create(rewriter, value.getLoc(), value, constant(value.getType(), APInt::getLowBitsSet(widthOf(value), width)));
}

void NarrowWidener::mask(Operation *op, unsigned width, unsigned first) {
  rewriter.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands().drop_front(first))
    operand.set(masked(operand.get(), width));
}

void NarrowWidener::wrap(Operation *op, unsigned width) {
  rewriter.setInsertionPointAfter(op);
  Value result = op->getResult(0), cut = wrapped(result, width);
  result.replaceUsesWithIf(cut, [&](OpOperand &use) {
    // (The shift left that cuts.)
    return use.getOwner() != cut.getDefiningOp()->getOperand(0).getDefiningOp();
  });
}

Value NarrowWidener::resize(Value value, Type type, bool isSigned) {
  unsigned from = widthOf(value), to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (to < from)
    return arith::TruncIOp::create(rewriter, value.getLoc(), type, value);
  if (isSigned)
    return arith::ExtSIOp::create(rewriter, value.getLoc(), type, value);
  return arith::ExtUIOp::create(rewriter, value.getLoc(), type, value);
}

/// Between integers and floats, indices, and integers of other widths.
void NarrowWidener::rewriteCast(Operation *op, Widths narrow) {
  rewriter.setInsertionPoint(op);
  Value value = op->getOperand(0);
  Type type = op->getResult(0).getType();
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
    bool isSigned = !isa<arith::ExtUIOp>(op);
    if (!isSigned && narrow.operand)
      value = masked(value, narrow.operand);
    value = resize(value, type, isSigned);
    if (isa<arith::TruncIOp>(op) && narrow.result)
      value = wrapped(value, narrow.result);
    return rewriter.replaceOp(op, value);
  }
  if (isa<arith::UIToFPOp, arith::IndexCastUIOp>(op) && narrow.operand)
    mask(op, narrow.operand);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && narrow.result)
    wrap(op, narrow.result);
  if (!isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return;
  // The nearest number of the wider type, then of the narrow one.
  bool isSigned = isa<arith::FPToSIOp>(op);
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  rewriter.setInsertionPointAfter(op);
  Value result = op->getResult(0), most = constant(type, APInt::getLowBitsSet(width, narrow.result - isSigned));
  Value clamped = isSigned ? Value(arith::MinSIOp::create(rewriter, op->getLoc(), result, most))
                           : Value(arith::MinUIOp::create(rewriter, op->getLoc(), result, most));
  Operation *first = clamped.getDefiningOp();
  if (isSigned)
    clamped = arith::MaxSIOp::create(rewriter, op->getLoc(), clamped, constant(type, ~APInt::getLowBitsSet(width, narrow.result - 1)));
  else
    clamped = wrapped(clamped, narrow.result);
  result.replaceUsesWithIf(clamped, [&](OpOperand &use) { return use.getOwner() != first; });
}

void NarrowWidener::rewrite(Operation *op, Widths narrow) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, math::IPowIOp,
            math::AbsIOp>([&](auto) { wrap(op, narrow.result); })
      .Case<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, arith::ShRUIOp, math::CtPopOp>([&](auto) {
        mask(op, narrow.operand);
        wrap(op, narrow.result);
      })
      .Case<arith::ShLIOp>([&](auto) {
        mask(op, narrow.operand, /*first=*/1);
        wrap(op, narrow.result);
      })
      .Case<arith::ShRSIOp>([&](auto) { mask(op, narrow.operand, /*first=*/1); })
      .Case<math::CountLeadingZerosOp>([&](auto) {
        mask(op, narrow.operand);
        rewriter.setInsertionPointAfter(op);
        Value result = op->getResult(0), above = constant(result.getType(), APInt(widthOf(result), widthOf(result) - narrow.operand));
        auto own = arith::SubIOp::create(rewriter, op->getLoc(), result, above);
        result.replaceAllUsesExcept(own, own);
        wrap(own, narrow.result);
      })
      .Case<math::CountTrailingZerosOp>([&](auto) {
        rewriter.setInsertionPoint(op); // a bit above its own ends the count
        Value value = op->getOperand(0), end = constant(value.getType(), APInt::getOneBitSet(widthOf(value), narrow.operand));
        op->setOperand(0, arith::OrIOp::create(rewriter, op->getLoc(), value, end));
        wrap(op, narrow.result);
      })
      .Default([&](Operation *) {
        if (op->getNumOperands() == 1 && op->getNumResults() == 1 && isa<CastOpInterface>(op) && isa<arith::ArithDialect>(op->getDialect()))
          rewriteCast(op, narrow);
      });
}

void NarrowWidener::run() {
  SmallVector<std::pair<Operation *, Widths>> computing;
  bool any = false;
  auto isNarrowIn = [&](Type type) { return types.replace(type) != type; };
  function.walk([&](Operation *op) {
    auto widthOfNarrow = [](Type type) { return isNarrow(type) ? getElementTypeOrSelf(type).getIntOrFloatBitWidth() : 0; };
    Widths widths{op->getNumOperands() ? widthOfNarrow(op->getOperand(0).getType()) : 0,
                  op->getNumResults() ? widthOfNarrow(op->getResult(0).getType()) : 0};
    any |= llvm::any_of(op->getOperandTypes(), isNarrowIn) || llvm::any_of(op->getResultTypes(), isNarrowIn);
    if ((widths.operand || widths.result) && isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      computing.push_back({op, widths});
  });
  bool isOutside = llvm::any_of(llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()), isNarrowIn);
  if (!any || isOutside)
    return;
  // The bodies of named operations follow from their types.
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) && llvm::any_of(op->getOperandTypes(), isNarrowIn))
      named.push_back(op);
  });
  if (!named.empty()) {
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
    computing.clear();
    return run();
  }
  // (Constants of narrow integers become ones with their signs.)
  types.addReplacement([&](IntegerAttr attr) -> std::optional<Attribute> {
    Type type = types.replace(attr.getType());
    if (type == attr.getType())
      return std::nullopt;
    return Attribute(IntegerAttr::get(type, attr.getValue().sext(type.getIntOrFloatBitWidth())));
  });
  types.addReplacement([&](DenseIntElementsAttr attr) -> std::optional<Attribute> {
    Type element = types.replace(attr.getElementType());
    if (element == attr.getElementType())
      return std::nullopt;
    return Attribute(attr.mapValues(element, [&](const APInt &value) { return value.sext(element.getIntOrFloatBitWidth()); }));
  });
  types.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  for (auto [op, widths] : computing)
    rewrite(op, widths);
}

void graphwriter::widenNarrowIntegers(func::FuncOp function) { NarrowWidener(function).run(); }
