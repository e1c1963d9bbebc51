//===- MaskForm.h - sums that masks compare ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_TRANSFORMS_MASKFORM_H
#define FT_LIB_DIALECT_TILE_TRANSFORMS_MASKFORM_H

#include "Pipelined.h"

#include <optional>

namespace mlir::tile {

/// A digit of the number that an element's row (axis 0) or column (axis 1) has: number / divisor, modulo `modulus` unless that is 0.
struct NumberDigit {
  int64_t axis = 0, divisor = 1, modulus = 0;
  bool operator==(const NumberDigit &other) const { return axis == other.axis && divisor == other.divisor && modulus == other.modulus; }
};

/// An integer of each element of a tile: a sum of scalars and digits with factors, and of a constant.
struct MaskForm {
  llvm::SmallVector<std::pair<Value, int64_t>, 4> scalars;
  llvm::SmallVector<std::pair<NumberDigit, int64_t>, 4> digits;
  int64_t constant = 0;

  void add(const MaskForm &other, int64_t factor);
  /// Takes a scalar out; its factor.
  int64_t take(Value scalar);
  /// The factor of an axis' number as a whole; none where other digits of it are there.
  std::optional<int64_t> factorOf(int64_t axis) const;
  /// Least and greatest value of the digits of an axis with so many numbers.
  std::pair<int64_t, int64_t> rangeOf(int64_t axis, int64_t numbers) const;
  /// The scalars and the constant as a value.
  Value emit(ImplicitLocOpBuilder &b) const;
};

/// Reads integers of tiles in the body of a loop; scalars are what the loop does not change, and its index.
class MaskForms {
public:
  explicit MaskForms(scf::ForOp loop) : loop(loop) {}
  std::optional<MaskForm> read(Value value);

private:
  std::optional<MaskForm> readTile(Operation *op, unsigned result);
  std::optional<MaskForm> readDigit(const MaskForm &of, int64_t number, bool isRemainder) const;
  std::optional<MaskForm> readScalar(Value value, Operation *op);

  scf::ForOp loop;
};

/// What an element of a map's body is in the tile that the map takes; the value itself elsewhere.
Value tileOfElement(Value value);

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_TRANSFORMS_MASKFORM_H
