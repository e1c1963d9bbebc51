//===- LengthBinding.h - What named lengths are at a call -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of the names that the arguments of a function or graph bind.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INTERPRETER_LENGTHBINDING_H
#define FT_INTERPRETER_LENGTHBINDING_H

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Interpreter/RunOptions.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace mlir::ft::interp {

/// The lengths of one activation: names, and the lengths of the lists of each
/// ragged level, in order.
struct LengthBinding {
  LengthBinding() {}

  llvm::DenseMap<StringAttr, int64_t> names;
  llvm::DenseMap<StringAttr, std::vector<int64_t>> ragged;

  /// The value of a length, or nothing if it has an unbound name or is ragged.
  std::optional<int64_t> evaluate(LengthAttr length) const;
};

/// Binds names argument by argument and remembers which argument bound each, so
/// that an error about a second length for a name points to both.
class LengthBinder {
public:
  /// `locations[i]` is where argument i stands.
  LengthBinder(LengthBinding &lengths, ArrayRef<Location> locations)
      : lengths(lengths), locations(locations) {}

  LogicalResult bindName(unsigned argument, StringAttr name, int64_t length);
  /// Binds the dimensions of an array that are one name.
  LogicalResult bindShape(unsigned argument, ArrayRef<LengthAttr> dims, ArrayRef<int64_t> shape);
  /// Checks all dimensions once every argument is bound.
  LogicalResult checkShape(unsigned argument, ArrayRef<LengthAttr> dims, ArrayRef<int64_t> shape);

private:
  LengthBinding &lengths;
  SmallVector<Location> locations;
  llvm::DenseMap<StringAttr, unsigned> boundBy;
};

/// Lists and buffer dimensions are no longer than this: a length that no memory
/// holds (beside a zero, say) is an error, not a crash.
constexpr int64_t maxLength = int64_t(1) << 30;

/// Binds the lengths that a caller gives by name.
LogicalResult bindGiven(Operation *function, const Lengths &given, LengthBinding &lengths);

/// Checks the inequalities of `function`'s `ft.bounds`.
LogicalResult checkBounds(Operation *function, const LengthBinding &lengths);

/// Where the arguments of a function body stand.
SmallVector<Location> argumentLocations(Region &body, Location whole, unsigned count);

} // namespace mlir::ft::interp

#endif // FT_INTERPRETER_LENGTHBINDING_H
