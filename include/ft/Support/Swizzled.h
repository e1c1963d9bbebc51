//===- Swizzled.h - the word for swizzled memory in attributes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_SWIZZLED_H
#define FT_SUPPORT_SWIZZLED_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::ft {

/// `, swizzled`, or nothing.
inline ParseResult parseSwizzled(AsmParser &parser, bool &swizzled) {
  swizzled = succeeded(parser.parseOptionalComma());
  return swizzled ? parser.parseKeyword("swizzled") : success();
}
inline void printSwizzled(AsmPrinter &printer, bool swizzled) {
  if (swizzled)
    printer << ", swizzled";
}

} // namespace mlir::ft

#endif // FT_SUPPORT_SWIZZLED_H
