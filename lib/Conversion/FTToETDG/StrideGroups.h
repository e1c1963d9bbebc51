//===- StrideGroups.h - which dimensions lie by a caller's strides -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_FTTOETDG_STRIDEGROUPS_H
#define FT_LIB_CONVERSION_FTTOETDG_STRIDEGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::toetdg {

/// Of an argument's outermost dimensions, those that lie by strides of the caller (`ft.strided`), and for each the caller's
/// dimensions that it stands for (`ft.strides`). Where nothing was joined or cut, they are the same.
class StrideGroups {
public:
  explicit StrideGroups(BlockArgument argument);

  /// How many dimensions lie by strides.
  size_t size() const { return groups.size(); }
  /// Dimensions `at` and `at + 1` become one. The first of them lies by a stride.
  void join(unsigned at);
  /// Dimension `at` becomes two.
  void cut(unsigned at);
  /// Writes both attributes.
  void write();

private:
  BlockArgument argument;
  SmallVector<SmallVector<int64_t>> groups;
};

} // namespace mlir::ft::toetdg

#endif // FT_LIB_CONVERSION_FTTOETDG_STRIDEGROUPS_H
