//===- TSSAOps.cpp - operations of the tssa dialect -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folds and the directives of the assembly formats.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/TSSA/IR/StridedView.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::tssa;

//===----------------------------------------------------------------------===//
// Assembly formats
//===----------------------------------------------------------------------===//

/// `[select(0, %i), slice(1, 0, _, 2)]`; nothing for no steps.
static ParseResult parseSteps(OpAsmParser &parser, ArrayAttr &steps,
                              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &numbers) {
  SmallVector<Attribute> attrs;
  auto parseNumber = [&](SmallVectorImpl<int64_t> &constants) -> ParseResult {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
    if (isOperand.has_value()) {
      numbers.push_back(operand);
      constants.push_back(ShapedType::kDynamic);
      return *isOperand;
    }
    if (succeeded(parser.parseOptionalKeyword("_"))) {
      constants.push_back(toTheEnd);
      return success();
    }
    int64_t number = 0;
    if (parser.parseInteger(number))
      return failure();
    constants.push_back(number);
    return success();
  };
  auto parseStep = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    SmallVector<int64_t> constants;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<StepKind> kind = symbolizeStepKind(keyword);
    if (!kind)
      return parser.emitError(loc, "there is no view step '")
             << keyword << "'; expected select, slice, narrow, permute, reshape, squeeze, "
             << "unsqueeze, expand, diagonal, unfold or as_strided";
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                       [&] { return parseNumber(constants); }))
      return failure();
    attrs.push_back(StepAttr::get(parser.getContext(), *kind, constants));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalSquare, parseStep))
    return failure();
  steps = parser.getBuilder().getArrayAttr(attrs);
  return success();
}

static void printSteps(OpAsmPrinter &printer, Operation *, ArrayAttr steps, ValueRange numbers) {
  if (steps.empty())
    return;
  printer << '[';
  llvm::interleaveComma(steps.getAsRange<StepAttr>(), printer, [&](StepAttr step) {
    printer << stringifyStepKind(step.getKind()) << '(';
    llvm::interleaveComma(step.getNumbers(), printer, [&](int64_t number) {
      if (number == toTheEnd) {
        printer << '_';
      } else if (!ShapedType::isDynamic(number)) {
        printer << number;
      } else if (numbers.empty()) { // not verified yet
        printer << "<<no operand>>";
      } else {
        printer.printOperand(numbers.front());
        numbers = numbers.drop_front();
      }
    });
    printer << ')';
  });
  printer << ']';
}

/// The result of `new`: the mutable tensor of a value's type.
static ParseResult parseMutableOf(OpAsmParser &, Type value, Type &result) {
  if (auto tensor = dyn_cast<RankedTensorType>(value))
    result = tssa::MutableTensorType::get(tensor);
  return success();
}
static void printMutableOf(OpAsmPrinter &, Operation *, Type, Type) {}

/// The result of `read`: the value type of a mutable tensor.
static ParseResult parseValueOf(OpAsmParser &, Type source, Type &result) {
  if (auto tensor = dyn_cast<tssa::MutableTensorType>(source))
    result = tensor.getValueType();
  return success();
}
static void printValueOf(OpAsmPrinter &, Operation *, Type, Type) {}

#define GET_OP_CLASSES
#include "ft/Dialect/TSSA/IR/TSSAOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// (V1) to (V4): that `result` is a view of `source` by the steps.
static LogicalResult verifySteps(Operation *op, ArrayAttr steps, ValueRange numbers,
                                 ArrayRef<int64_t> source, Type sourceElement,
                                 ArrayRef<int64_t> result, Type resultElement) {
  size_t operands = 0;
  for (auto step : steps.getAsRange<StepAttr>())
    operands += llvm::count(step.getNumbers(), ShapedType::kDynamic);
  if (operands != numbers.size())
    return op->emitOpError("has ") << numbers.size() << " operands for " << operands
                                   << " numbers that are no constants (V3)";
  FailureOr<SmallVector<int64_t>> shape =
      inferShape(source, getSteps(steps, numbers), [&] { return op->emitOpError(); });
  if (failed(shape))
    return failure();
  if (sourceElement != resultElement)
    return op->emitOpError("changes the element type from ")
           << sourceElement << " to " << resultElement << " (V2)";
  bool fits = shape->size() == result.size();
  for (size_t i = 0; fits && i < result.size(); ++i)
    fits = (*shape)[i] == result[i] || ShapedType::isDynamic((*shape)[i]) ||
           ShapedType::isDynamic(result[i]);
  if (!fits)
    return op->emitOpError("gives sizes that fit ")
           << RankedTensorType::get(*shape, sourceElement) << ", found "
           << RankedTensorType::get(result, resultElement) << " (V2)";
  return success();
}

LogicalResult NewOp::verify() {
  if (getType().getValueType() != getValue().getType())
    return emitOpError("holds a value of another type: ")
           << getValue().getType() << " in " << getType();
  return success();
}

LogicalResult ReadOp::verify() {
  if (getSource().getType().getValueType() != getType())
    return emitOpError("gives a value of another type: ")
           << getType() << " of " << getSource().getType();
  return success();
}

LogicalResult ViewOp::verify() {
  auto source = getSource().getType(), result = getType();
  return verifySteps(*this, getSteps(), getNumbers(), source.getShape(), source.getElementType(),
                     result.getShape(), result.getElementType());
}

LogicalResult AccessOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()),
       result = cast<RankedTensorType>(getType());
  return verifySteps(*this, getSteps(), getNumbers(), source.getShape(), source.getElementType(),
                     result.getShape(), result.getElementType());
}

LogicalResult AssignOp::verify() {
  auto dest = cast<RankedTensorType>(getDest().getType()),
       value = cast<RankedTensorType>(getValue().getType());
  if (failed(verifySteps(*this, getSteps(), getNumbers(), dest.getShape(), dest.getElementType(),
                         value.getShape(), value.getElementType())))
    return failure();
  SmallVector<int64_t> sizes(dest.getShape());
  for (const Step &step : tssa::getSteps(getSteps(), getNumbers())) {
    SmallVector<int64_t> next = *inferShape(sizes, step, [&] { return emitOpError(); });
    // An expand that keeps all sizes, and adds none but 1, repeats nothing.
    SmallVector<int64_t> ones(next.size() - std::min(next.size(), sizes.size()), 1);
    llvm::append_range(ones, sizes);
    if ((step.kind == StepKind::Expand && next != ones) ||
        (step.kind == StepKind::Unfold && *constantNumber(step, 2) < *constantNumber(step, 1)))
      return emitOpError("writes through '")
             << stringifyStepKind(step.kind) << "', which repeats elements (S2)";
    sizes = std::move(next);
  }
  return success();
}

LogicalResult MutateOp::verify() {
  ArrayRef<int64_t> dest = getDest().getType().getShape();
  ArrayRef<int64_t> value = cast<RankedTensorType>(getValue().getType()).getShape();
  bool fits = value.size() <= dest.size();
  for (size_t i = 0; fits && i < value.size(); ++i) {
    int64_t from = value[value.size() - 1 - i], to = dest[dest.size() - 1 - i];
    fits = from == to || from == 1 || ShapedType::isDynamic(from) || ShapedType::isDynamic(to);
  }
  if (!fits)
    return emitOpError("cannot broadcast ")
           << getValue().getType() << " to " << getDest().getType() << " (M1)";
  return success();
}

/// The sizes of tensors broadcast to each other, or what is wrong.
static FailureOr<SmallVector<int64_t>>
broadcastShapes(TypeRange types, function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<int64_t> shape;
  for (Type type : types) {
    ArrayRef<int64_t> other = cast<RankedTensorType>(type).getShape();
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    for (auto [a, b] : llvm::zip(llvm::reverse(shape), llvm::reverse(other))) {
      if (a == b || b == 1)
        continue;
      if (a != 1 && !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b))
        return emitError() << "indices of sizes " << a << " and " << b
                           << " can't be broadcast to each other (I1)";
      if (a == 1 || ShapedType::isDynamic(a))
        a = b;
    }
  }
  return shape;
}

FailureOr<SmallVector<int64_t>>
mlir::tssa::inferIndexShape(RankedTensorType source, ArrayRef<int64_t> dims, TypeRange indices,
                            function_ref<InFlightDiagnostic()> emitError) {
  if (dims.empty() || dims.size() != indices.size())
    return emitError() << "has " << indices.size() << " indices for " << dims.size()
                       << " dimensions (I1)";
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= source.getRank() || (i > 0 && dim <= dims[i - 1]))
      return emitError() << "expects rising dimensions of a tensor of rank " << source.getRank()
                         << ", found " << dim << " (I1)";
  for (Type type : indices)
    if (!cast<RankedTensorType>(type).getElementType().isIntOrIndex())
      return emitError() << "expects indices that are integers, found " << type << " (I1)";
  FailureOr<SmallVector<int64_t>> broadcast = broadcastShapes(indices, emitError);
  if (failed(broadcast))
    return failure();
  SmallVector<int64_t> result;
  bool adjacent = dims.back() - dims.front() + 1 == int64_t(dims.size());
  if (!adjacent)
    result = *broadcast;
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    if (adjacent && dim == dims.front())
      llvm::append_range(result, *broadcast);
    if (!llvm::is_contained(dims, dim))
      result.push_back(source.getDimSize(dim));
  }
  return result;
}

LogicalResult IndexOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()),
       result = cast<RankedTensorType>(getType());
  FailureOr<SmallVector<int64_t>> shape =
      inferIndexShape(source, getDims(), getIndices().getTypes(), [&] { return emitOpError(); });
  if (failed(shape))
    return failure();
  auto expected = RankedTensorType::get(*shape, source.getElementType());
  if (failed(verifyCompatibleShape(expected, result)) ||
      expected.getElementType() != result.getElementType())
    return emitOpError("gives ") << expected << ", found " << result << " (I2)";
  return success();
}

LogicalResult IndexPutOp::verify() {
  auto dest = cast<RankedTensorType>(getDest().getType()),
       value = cast<RankedTensorType>(getValue().getType());
  FailureOr<SmallVector<int64_t>> shape =
      inferIndexShape(dest, getDims(), getIndices().getTypes(), [&] { return emitOpError(); });
  if (failed(shape))
    return failure();
  bool fits = value.getElementType() == dest.getElementType() && value.getRank() <= int64_t(shape->size());
  for (int64_t i = 0; fits && i < value.getRank(); ++i) {
    int64_t from = value.getDimSize(value.getRank() - 1 - i), to = (*shape)[shape->size() - 1 - i];
    fits = from == to || from == 1 || ShapedType::isDynamic(from) || ShapedType::isDynamic(to);
  }
  if (!fits)
    return emitOpError("cannot broadcast ")
           << value << " to " << RankedTensorType::get(*shape, dest.getElementType()) << " (P2)";
  return success();
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

OpFoldResult AccessOp::fold(FoldAdaptor) {
  if (getSteps().empty() && getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult AssignOp::fold(FoldAdaptor) {
  if (getSteps().empty() && getValue().getType() == getType())
    return getValue();
  return {};
}
