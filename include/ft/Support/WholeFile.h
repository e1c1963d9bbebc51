//===- WholeFile.h - where errors about a whole file stand ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_WHOLEFILE_H
#define FT_SUPPORT_WHOLEFILE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::ft {

/// The parser puts a module that the file does not spell out at 0:0, a place that no editor
/// knows: the file's beginning then, else `loc` as it is.
inline Location wholeFile(Location loc) {
  auto file = dyn_cast<FileLineColLoc>(loc);
  if (!file || file.getLine() != 0)
    return loc;
  return FileLineColLoc::get(file.getFilename(), 1, 1);
}

} // namespace mlir::ft

#endif // FT_SUPPORT_WHOLEFILE_H
