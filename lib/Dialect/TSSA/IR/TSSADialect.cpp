//===- TSSADialect.cpp - the tssa dialect ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, types and attributes, the attribute on functions.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/TSSA/IR/TSSA.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tssa;

#include "ft/Dialect/TSSA/IR/TSSADialect.cpp.inc"
#include "ft/Dialect/TSSA/IR/TSSAEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/TSSA/IR/TSSAAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/TSSA/IR/TSSATypes.cpp.inc"

namespace {
/// Every operation can stand in any function.
struct TSSAInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void TSSADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ft/Dialect/TSSA/IR/TSSAAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ft/Dialect/TSSA/IR/TSSATypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ft/Dialect/TSSA/IR/TSSAOps.cpp.inc"
      >();
  addInterfaces<TSSAInliner>();
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

RankedTensorType MutableTensorType::getValueType() const {
  return RankedTensorType::get(getShape(), getElementType());
}

LogicalResult MutableTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType) {
  if (!elementType.isIntOrIndexOrFloat())
    return emitError() << "a mutable tensor has integers, indices or floats, found " << elementType
                       << " (T1)";
  for (int64_t size : shape)
    if (size < 0 && !ShapedType::isDynamic(size))
      return emitError() << "a size must not be negative";
  return success();
}

Type MutableTensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, element);
}

void MutableTensorType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape()) {
    if (ShapedType::isDynamic(size))
      printer << '?';
    else
      printer << size;
    printer << 'x';
  }
  printer << getElementType() << '>';
}

Attribute StepAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  SmallVector<int64_t> numbers;
  if (parser.parseLess() || parser.parseKeyword(&keyword) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        int64_t number;
        // An operand's place.
        if (succeeded(parser.parseOptionalQuestion()))
          return numbers.push_back(ShapedType::kDynamic), ParseResult::success();
        if (parser.parseInteger(number))
          return ParseResult::failure();
        return numbers.push_back(number), ParseResult::success();
      }) ||
      parser.parseGreater())
    return {};
  std::optional<StepKind> kind = symbolizeStepKind(keyword);
  if (!kind)
    return parser.emitError(loc, "there is no view step '") << keyword << "'", Attribute();
  return get(parser.getContext(), *kind, numbers);
}

void StepAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyStepKind(getKind()) << '(';
  llvm::interleaveComma(getNumbers(), printer, [&](int64_t number) {
    if (ShapedType::isDynamic(number))
      printer << '?';
    else
      printer << number;
  });
  printer << ")>";
}

//===----------------------------------------------------------------------===//
// Function attributes
//===----------------------------------------------------------------------===//

LogicalResult TSSADialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (attribute.getName() != "tssa.writeback" || !function)
    return op->emitError() << "unknown attribute '" << attribute.getName().getValue()
                           << "': the tssa dialect has 'tssa.writeback' on functions";
  auto pairs = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  if (!pairs || pairs.size() % 2)
    return op->emitError() << "'tssa.writeback' must be pairs of an argument's and a result's number";
  for (int64_t i = 0; i < pairs.size(); i += 2) {
    int64_t argument = pairs[i], result = pairs[i + 1];
    if (argument < 0 || argument >= int64_t(function.getNumArguments()) || result < 0 ||
        result >= int64_t(function.getNumResults()))
      return op->emitError() << "'tssa.writeback' names argument " << argument << " and result "
                             << result << ", there are " << function.getNumArguments() << " and "
                             << function.getNumResults();
  }
  return success();
}
