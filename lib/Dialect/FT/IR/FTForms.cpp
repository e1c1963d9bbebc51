//===- FTForms.cpp - short forms of the ft dialect ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification of the short forms, and the upstream operations that they stand for.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/IR/FTForms.h"
#include "FTDetail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::ft;

static ParseResult parseLength(OpAsmParser &parser, LengthAttr &length) {
  return ft::detail::parseLength(parser, length);
}
static void printLength(OpAsmPrinter &printer, Operation *, LengthAttr length) {
  ft::detail::printLength(printer, length);
}

#define GET_OP_CLASSES
#include "ft/Dialect/FT/IR/FTForms.cpp.inc"

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult LastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr, OpaqueProperties,
                                       RegionRange, SmallVectorImpl<Type> &results) {
  auto list = dyn_cast<ListType>(operands[0].getType());
  if (!list)
    return emitOptionalError(location, "'ft.last' op expects a list, found ",
                             operands[0].getType());
  if (operands[1].getType() != list.getPeeled()) // M1
    return emitOptionalError(location, "'ft.last' op (M1) the value of an empty list must have the "
                                       "type of the elements ",
                             list.getPeeled(), ", found ", operands[1].getType());
  results.push_back(list.getPeeled());
  return success();
}

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static LogicalResult verifyNumbers(Operation *op, StringRef number, bool floatsOnly) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type ? type.getElementType() : Type();
  if (element && (isa<FloatType>(element) || (!floatsOnly && element.isInteger())))
    return success();
  return op->emitOpError("(") << number << ") expects a static tensor of "
                              << (floatsOnly ? "floats" : "integers or floats") << ", found "
                              << op->getResult(0).getType();
}

LogicalResult LowestOp::verify() { return verifyNumbers(*this, "O1", false); } // O1

LogicalResult ScaleOp::verify() {
  if (failed(verifyNumbers(*this, "O2", false)))
    return failure();
  auto factor = dyn_cast<RankedTensorType>(getFactor().getType());
  if (!factor || factor.getRank() != 0 ||
      factor.getElementType() != tensorOf(getInput()).getElementType()) // O2
    return emitOpError("(O2) the factor must be ")
           << RankedTensorType::get({}, tensorOf(getInput()).getElementType()) << ", found "
           << getFactor().getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = dyn_cast<RankedTensorType>(getInput().getType()),
       to = dyn_cast<RankedTensorType>(getResult().getType());
  bool fits = from && to && from.getElementType() == to.getElementType() &&
              from.getRank() <= to.getRank();
  for (int64_t d = 1; fits && d <= from.getRank(); ++d) {
    int64_t size = from.getDimSize(from.getRank() - d);
    fits = size == 1 || size == to.getDimSize(to.getRank() - d);
  }
  if (!fits) // O3
    return emitOpError("(O3) ") << getInput().getType() << " cannot be repeated to "
                                << getResult().getType()
                                << ": aligned at the innermost one, each dimension must be the "
                                   "result's or 1";
  return success();
}

static LengthAttr countOf(ListType list) {
  LengthAttr count = LengthAttr::get(list.getContext(), 1);
  for (LengthAttr length : list.getLengths())
    count = count * length;
  return count;
}

void GroupOp::build(OpBuilder &builder, OperationState &state, Value indices, LengthAttr values) {
  Type place = RankedTensorType::get({}, builder.getI64Type());
  LengthAttr count = countOf(cast<ListType>(indices.getType()));
  build(builder, state, ListType::wrap(count, place), ListType::wrap(values, place), indices, values);
}

LogicalResult GroupOp::verify() {
  ListType list = getIndices().getType();
  auto element = dyn_cast<RankedTensorType>(list.getElement());
  bool isIndex = element && element.getRank() == 0 && element.getElementType().isIntOrIndex();
  if (!isIndex || list.hasRagged()) // U1
    return emitOpError("(U1) expects a list of tensor<iN> or tensor<index>, found ") << list;
  Type place = RankedTensorType::get({}, IntegerType::get(getContext(), 64));
  Type order = ListType::wrap(countOf(list), place), ends = ListType::wrap(getValues(), place);
  if (getOrder().getType() != order || getEnds().getType() != ends) // U1
    return emitOpError("(U1) gives ") << order << " and " << ends << ", found " << getOrder().getType() << " and "
                                      << getEnds().getType();
  return ft::detail::verifyNonNegative(*this, getValues(), "(U1) the number of values " + getValues().str(),
                                       "must not be negative");
}

LogicalResult SigmoidOp::verify() { return verifyNumbers(*this, "O4", true); } // O4
LogicalResult StopGradientOp::verify() { return verifyNumbers(*this, "O4", true); } // O4
LogicalResult SiluOp::verify() { return verifyNumbers(*this, "O4", true); }    // O4

LogicalResult SoftmaxOp::verify() {
  if (failed(verifyNumbers(*this, "O4", true)))
    return failure();
  int64_t dim = getDim(), rank = tensorOf(getInput()).getRank();
  if (dim < 0 || dim >= rank) // O5
    return emitOpError("(O5) dimension ") << dim << " is not one of the " << rank << " of "
                                          << getInput().getType();
  return success();
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNumbers(*this, "O4", true)))
    return failure();
  RankedTensorType type = tensorOf(getInput());
  if (type.getRank() == 0 || type.getShape().back() < 1) // O6
    return emitOpError("(O6) expects rows of at least one element, found ") << type;
  auto row = RankedTensorType::get({type.getShape().back()}, type.getElementType());
  if (getGamma().getType() != row) // O6
    return emitOpError("(O6) scale and shift must be ") << row << ", found "
                                                        << getGamma().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

namespace {
/// Writes upstream operations on tensors.
struct Writer {
  OpBuilder &b;
  Location loc;

  Value splat(RankedTensorType type, double value) {
    Type element = type.getElementType();
    auto attr = b.getFloatAttr(element, value);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, attr));
  }
  /// Repeats `value` along the given dimensions of `type`.
  Value repeat(Value value, RankedTensorType type, ArrayRef<int64_t> dims) {
    if (dims.empty())
      return value;
    Value shape =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    return linalg::BroadcastOp::create(b, loc, value, shape, dims).getResult().front();
  }
  /// Joins all elements along a dimension, from `init`.
  Value join(Value value, int64_t dim, double init,
             llvm::function_ref<Value(OpBuilder &, Value, Value)> combine) {
    RankedTensorType type = tensorOf(value);
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + dim);
    Value start = splat(RankedTensorType::get(shape, type.getElementType()), init);
    return linalg::ReduceOp::create(b, loc, value, start, dim,
                                    [&](OpBuilder &inner, Location at, ValueRange args) {
                                      linalg::YieldOp::create(inner, at,
                                                              combine(inner, args[0], args[1]));
                                    })
        .getResult(0);
  }
  Value sum(Value value, int64_t dim) {
    return join(value, dim, 0.0, [&](OpBuilder &inner, Value x, Value s) -> Value {
      return arith::AddFOp::create(inner, loc, x, s);
    });
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  /// 1 + exp(-x)
  Value logistic(Value x) {
    Value minus = arith::NegFOp::create(b, loc, x);
    return add(splat(tensorOf(x), 1.0), math::ExpOp::create(b, loc, minus));
  }
  /// In f32 where the type is narrower.
  Value widen(Value x) {
    RankedTensorType type = tensorOf(x);
    if (type.getElementTypeBitWidth() >= 32)
      return x;
    return arith::ExtFOp::create(b, loc, type.clone(b.getF32Type()), x);
  }
  Value narrow(Value x, Type type) {
    return x.getType() == type ? x : arith::TruncFOp::create(b, loc, type, x).getResult();
  }

  Value lowest(RankedTensorType type) {
    Type element = type.getElementType();
    Attribute value;
    if (auto real = dyn_cast<FloatType>(element))
      value = b.getFloatAttr(element,
                             APFloat::getLargest(real.getFloatSemantics(), /*Negative=*/true));
    else
      value = b.getIntegerAttr(element, APInt::getSignedMinValue(element.getIntOrFloatBitWidth()));
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
  }
  Value scale(Value x, Value factor) {
    RankedTensorType type = tensorOf(x);
    SmallVector<int64_t> dims(type.getRank());
    std::iota(dims.begin(), dims.end(), 0);
    Value factors = repeat(factor, type, dims);
    if (isa<FloatType>(type.getElementType()))
      return mul(x, factors);
    return arith::MulIOp::create(b, loc, x, factors);
  }
  Value broadcast(Value x, RankedTensorType to) {
    RankedTensorType from = tensorOf(x);
    int64_t missing = to.getRank() - from.getRank();
    SmallVector<int64_t> kept, added;
    for (int64_t d = 0; d < to.getRank(); ++d) {
      bool has = d >= missing && from.getDimSize(d - missing) == to.getDimSize(d);
      if (has)
        kept.push_back(to.getDimSize(d));
      else
        added.push_back(d);
    }
    if (static_cast<int64_t>(kept.size()) != from.getRank()) {
      // Without the dimensions of extent 1 that are repeated: they join their neighbours.
      SmallVector<ReassociationIndices> groups;
      for (int64_t d = 0; d < from.getRank(); ++d) {
        bool has = from.getDimSize(d) == to.getDimSize(d + missing);
        if (groups.empty() || (has && hasKept(groups.back(), from, to, missing)))
          groups.emplace_back();
        groups.back().push_back(d);
      }
      if (kept.empty())
        groups.clear();
      x = tensor::CollapseShapeOp::create(b, loc, RankedTensorType::get(kept, from.getElementType()),
                                          x, groups);
    }
    return repeat(x, to, added);
  }
  static bool hasKept(ArrayRef<int64_t> group, RankedTensorType from, RankedTensorType to,
                      int64_t missing) {
    return llvm::any_of(group, [&](int64_t d) {
      return from.getDimSize(d) == to.getDimSize(d + missing);
    });
  }
  Value softmax(Value input, int64_t dim) {
    Value x = widen(input);
    RankedTensorType type = tensorOf(x);
    double least = -std::numeric_limits<double>::infinity();
    Value most = join(x, dim, least, [&](OpBuilder &inner, Value a, Value m) -> Value {
      return arith::MaximumFOp::create(inner, loc, a, m);
    });
    Value terms = math::ExpOp::create(b, loc, sub(x, repeat(most, type, dim)));
    return narrow(div(terms, repeat(sum(terms, dim), type, dim)), input.getType());
  }
  Value layerNorm(LayerNormOp op) {
    Value x = widen(op.getInput());
    RankedTensorType type = tensorOf(x);
    int64_t dim = type.getRank() - 1;
    auto mean = [&](Value of) {
      Value total = sum(of, dim);
      return div(total, splat(tensorOf(total), static_cast<double>(type.getShape().back())));
    };
    SmallVector<int64_t> outer(dim);
    std::iota(outer.begin(), outer.end(), 0);
    Value centred = sub(x, repeat(mean(x), type, dim));
    Value variance = mean(mul(centred, centred));
    Value safe = add(variance, splat(tensorOf(variance), op.getEpsilon().convertToDouble()));
    Value inverse = math::RsqrtOp::create(b, loc, safe);
    Value normal = mul(centred, repeat(inverse, type, dim));
    Value scaled = mul(normal, repeat(widen(op.getGamma()), type, outer));
    return narrow(add(scaled, repeat(widen(op.getBeta()), type, outer)), op.getType());
  }
};
} // namespace

bool mlir::ft::isShortForm(Operation *op) {
  return isa<LowestOp, ScaleOp, BroadcastOp, SigmoidOp, SiluOp, SoftmaxOp, StopGradientOp, LayerNormOp>(op);
}

Value mlir::ft::expandShortForm(OpBuilder &builder, Operation *op) {
  Writer w{builder, op->getLoc()};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](LowestOp o) { return w.lowest(cast<RankedTensorType>(o.getType())); })
      .Case([&](ScaleOp o) { return w.scale(o.getInput(), o.getFactor()); })
      .Case([&](BroadcastOp o) {
        return w.broadcast(o.getInput(), cast<RankedTensorType>(o.getType()));
      })
      .Case([&](SigmoidOp o) {
        return w.div(w.splat(tensorOf(o.getInput()), 1.0), w.logistic(o.getInput()));
      })
      .Case([&](StopGradientOp o) { return o.getInput(); })
      .Case([&](SiluOp o) { return w.div(o.getInput(), w.logistic(o.getInput())); })
      .Case([&](SoftmaxOp o) { return w.softmax(o.getInput(), o.getDim()); })
      .Case([&](LayerNormOp o) { return w.layerNorm(o); });
}
