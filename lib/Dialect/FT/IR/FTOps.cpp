//===- FTOps.cpp - operations of the ft dialect ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration and the directives of the assembly formats.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"

using namespace mlir;
using namespace mlir::ft;

static ParseResult parseLength(OpAsmParser &parser, LengthAttr &length) {
  return ft::detail::parseLength(parser, length);
}
static void printLength(OpAsmPrinter &printer, Operation *, LengthAttr length) {
  ft::detail::printLength(printer, length);
}

/// 1 is what is meant without one, and then there is no attribute.
static ParseResult parseDilation(OpAsmParser &parser, LengthAttr &dilation) {
  if (ft::detail::parseLength(parser, dilation))
    return failure();
  if (dilation.getConstant() == 1)
    dilation = nullptr;
  return success();
}
static void printDilation(OpAsmPrinter &printer, Operation *, LengthAttr dilation) {
  ft::detail::printLength(printer, dilation);
}

static ParseResult parseBoundaryKeyword(OpAsmParser &parser, BoundaryAttr &boundary) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Boundary> value = symbolizeBoundary(keyword);
  if (!value)
    return parser.emitError(loc, "expected boundary to be one of: 'none', 'zero', 'clamp', "
                                 "'mirror', 'wrap'; found '")
           << keyword << "'";
  boundary = BoundaryAttr::get(parser.getContext(), *value);
  return success();
}
static void printBoundaryKeyword(OpAsmPrinter &printer, Operation *, BoundaryAttr boundary) {
  printer << stringifyBoundary(boundary.getValue());
}

#define GET_OP_CLASSES
#include "ft/Dialect/FT/IR/FTOps.cpp.inc"

void FTDialect::registerOperationList() {
  addOperations<
#define GET_OP_LIST
#include "ft/Dialect/FT/IR/FTOps.cpp.inc"
      >();
}
