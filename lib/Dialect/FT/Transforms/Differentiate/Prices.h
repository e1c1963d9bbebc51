//===- Prices.h - what saving and computing again take ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PRICES_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PRICES_H

#include "Differentiate.h"

#include "ft/Machine/Machine.h"

namespace mlir::ft::differentiate {

/// Prices of the values of a function, on one unit of a machine, at typical lengths: those of `ft.lengths`, else the
/// geometric means of `ft.typical`, else `unknown`.
class Prices {
public:
  Prices(func::FuncOp function, const Machine &machine);

  static constexpr int64_t unknown = 16;
  /// At least 1.
  double typically(LengthAttr length) const;
  /// How often a block runs in one call.
  double timesOf(Block &block) const;
  double bytesOf(Type type) const;
  /// Seconds to move so many bytes once. What is saved is read after the rest of the forward program has run, so it is
  /// taken to lie in the farthest memory.
  double moveSeconds(double bytes) const;
  /// Seconds to compute what an operation gives once, all that its regions do included.
  double computeSeconds(Operation &op) const;

private:
  double countOf(Type type) const;
  double scalarSeconds(Operation &op, double count) const;

  const Machine &machine;
  DenseMap<StringAttr, int64_t> lengths;
};

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_PRICES_H
