//===- FTTypes.cpp - types of the ft dialect ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list type: `!ft.list<[N, L - 2], tensor<1x512xf32>>`.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/FT/IR/FTTypes.cpp.inc"

void FTDialect::registerTypeList() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ft/Dialect/FT/IR/FTTypes.cpp.inc"
      >();
}

static constexpr size_t maxDepth = 16;

/// An element by itself: a static tensor of numbers.
static bool isElementTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrIndexOrFloat();
}

bool mlir::ft::isValueType(Type type) {
  if (isa<ListType>(type))
    return true;
  if (auto tuple = dyn_cast<TupleType>(type))
    return tuple.size() != 0 && llvm::all_of(tuple.getTypes(), isValueType);
  return isElementTensor(type);
}

std::optional<int64_t> mlir::ft::detail::getConstantBytes(Type type) {
  int64_t bytes = 0;
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type member : tuple) {
      std::optional<int64_t> size = getConstantBytes(member);
      if (!size || llvm::AddOverflow(bytes, *size, bytes))
        return std::nullopt;
    }
    return bytes;
  }
  auto multiply = [&](int64_t factor) { return !llvm::MulOverflow(bytes, factor, bytes); };
  if (auto list = dyn_cast<ListType>(type)) {
    std::optional<int64_t> size = getConstantBytes(list.getElement());
    if (!size)
      return std::nullopt;
    bytes = *size;
    for (LengthAttr length : list.getLengths())
      if (!multiply(length.getConstant().value_or(1)))
        return std::nullopt;
    return bytes;
  }
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  bytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : tensor.getShape())
    if (!multiply(size))
      return std::nullopt;
  return bytes;
}

LogicalResult ListType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<LengthAttr> lengths, Type element) {
  if (lengths.empty() || lengths.size() > maxDepth) // T1
    return emitError() << "(T1) a list has 1 to " << maxDepth << " programmable dimensions, found "
                       << lengths.size();
  if (!element ||
      !(isElementTensor(element) || (isa<TupleType>(element) && isValueType(element)))) // T2
    return emitError() << "(T2) the element of a list is a ranked tensor of static shape with "
                          "integer, index or float elements, or a tuple of such and lists, found "
                       << element;
  std::optional<int64_t> bytes = ft::detail::getConstantBytes(element);
  for (auto [index, length] : llvm::enumerate(lengths)) {
    int64_t constant = length.getConstant().value_or(1);
    if (constant < 0) // T3
      return emitError() << "(T3) length " << index << " of a list is negative: " << constant;
    int64_t product;
    if (bytes)
      bytes = llvm::MulOverflow(*bytes, constant, product) ? std::nullopt : std::optional(product);
  }
  if (!bytes) // T3
    return emitError()
           << "(T3) the byte size of the list's constant dimensions does not fit 63 bits";
  return success();
}

Type ListType::parse(AsmParser &parser) {
  SmallVector<LengthAttr> lengths;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return ft::detail::parseLength(parser, lengths.emplace_back()); }) ||
      parser.parseComma() || parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<ListType>(loc, parser.getContext(), ArrayRef<LengthAttr>(lengths),
                                     element);
}

void ListType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getLengths(), printer.getStream(),
                        [&](LengthAttr length) { ft::detail::printLength(printer, length); });
  printer << "], " << getElement() << '>';
}

Type ListType::getPeeled() const {
  if (getDepth() == 1)
    return getElement();
  return ListType::get(getContext(), getLengths().drop_front(), getElement());
}

ListType ListType::wrap(LengthAttr length, Type value) {
  SmallVector<LengthAttr> lengths{length};
  if (auto list = dyn_cast<ListType>(value)) {
    llvm::append_range(lengths, list.getLengths());
    value = list.getElement();
  }
  return ListType::get(length.getContext(), ArrayRef<LengthAttr>(lengths), value);
}

bool ListType::hasRagged() const {
  return llvm::any_of(getLengths(), [](LengthAttr length) { return length.getRagged(); });
}
