//===- Ring.cpp - polynomials over integers that wrap ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Ring.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FTForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft;

/// Whether a float is an integer, and which.
static bool isInteger(const APFloat &value, int64_t &integer) {
  double number = value.convertToDouble();
  integer = static_cast<int64_t>(number);
  return static_cast<double>(integer) == number;
}

/// Types and constants.
static std::string replaceNumbers(ModuleOp module) {
  MLIRContext *context = module.getContext();
  Type integers = IntegerType::get(context, 64);
  std::string wrong;
  auto integerOf = [&](const APFloat &value) {
    int64_t integer = 0;
    if (!isInteger(value, integer))
      wrong = "a constant that is no integer";
    return APInt(64, static_cast<uint64_t>(integer));
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Float64Type) { return integers; });
  replacer.addReplacement([&](FloatAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (!attr.getType().isF64())
      return std::nullopt;
    return std::pair(Attribute(IntegerAttr::get(integers, integerOf(attr.getValue()))), WalkResult::skip());
  });
  replacer.addReplacement([&](DenseFPElementsAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (!attr.getElementType().isF64())
      return std::nullopt;
    return std::pair(Attribute(attr.mapValues(integers, integerOf)), WalkResult::skip());
  });
  // Generators of floats make no integers.
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Type type = function.getArgument(i).getType();
      auto list = dyn_cast<ListType>(type);
      auto element = dyn_cast<RankedTensorType>(list ? list.getElement() : type);
      if (element && element.getElementType().isF64())
        function.removeArgAttr(i, ft::names::gen);
    }
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  return wrong;
}

/// What an operation of floats is of integers; null where it is none.
static Value integerForm(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto operand = [&](unsigned i) { return op->getOperand(i); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddFOp>([&](auto) { return arith::AddIOp::create(b, loc, operand(0), operand(1)); })
      .Case<arith::SubFOp>([&](auto) { return arith::SubIOp::create(b, loc, operand(0), operand(1)); })
      .Case<arith::MulFOp>([&](auto) { return arith::MulIOp::create(b, loc, operand(0), operand(1)); })
      .Case<arith::NegFOp>([&](auto) {
        Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(operand(0).getType()));
        return arith::SubIOp::create(b, loc, zero, operand(0));
      })
      .Case<math::FmaOp>([&](auto) {
        Value product = arith::MulIOp::create(b, loc, operand(0), operand(1));
        return arith::AddIOp::create(b, loc, product, operand(2));
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([&](auto cast) -> Value {
        Type type = cast.getType();
        if (operand(0).getType() == type)
          return operand(0);
        return isa<arith::SIToFPOp>(op) ? Value(arith::ExtSIOp::create(b, loc, type, operand(0)))
                                        : Value(arith::ExtUIOp::create(b, loc, type, operand(0)));
      })
      .Default([](Operation *) { return Value(); });
}

static bool isOfFloats(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return !isa<math::AbsIOp, math::IPowIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp>(op);
  return isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::CmpFOp, arith::BitcastOp>(op) ||
         (isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && name.ends_with("f")) || isa<linalg::SoftmaxOp, SoftmaxOp, LayerNormOp, SigmoidOp, SiluOp>(op);
}

std::string mlir::ft::fuzz::toIntegers(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (isOfFloats(op))
      found.push_back(op);
  });
  if (std::string wrong = replaceNumbers(module); !wrong.empty())
    return wrong;
  for (Operation *op : found) {
    Value made = integerForm(op);
    if (!made)
      return op->getName().getStringRef().str() + ", which is no operation of a polynomial";
    op->getResult(0).replaceAllUsesWith(made);
    op->erase();
  }
  return {};
}
