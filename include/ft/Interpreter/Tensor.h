//===- Tensor.h - Values of the reference interpreter ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dense row-major tensor as the reference interpreter holds it. Floats are
// doubles whatever their type, integers are 64-bit whatever their width; the
// operations round or wrap. A tensor of rank 0 stands for a scalar too.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INTERPRETER_TENSOR_H
#define FT_INTERPRETER_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <optional>

namespace mlir::ft::interp {

/// One element: a double for float types, an integer for the others. Integers
/// are kept sign-extended, i1 as 0 or 1.
union Cell {
  double f;
  int64_t i;
};

/// Where a float operation rounds its result. `None` serves f64 and the f64
/// truth mode; the noisy ones draw one of both neighbours (`RoundingNoise`).
enum class Round : uint8_t { None, F32, F16, BF16, NoisyF32, NoisyF16, NoisyBF16 };

/// The rounding of `type` (an f16, bf16, f32 or f64), or nothing.
std::optional<Round> roundingOf(Type type);
double roundTo(double value, Round round);
/// The noisy form of a rounding.
Round withNoise(Round round);

/// While it lives, operations of this thread that are decoded round with noise; with `seed` 0 as always.
class RoundingNoise {
public:
  explicit RoundingNoise(uint64_t seed);
  ~RoundingNoise();
  RoundingNoise(const RoundingNoise &) = delete;
  RoundingNoise &operator=(const RoundingNoise &) = delete;
  static bool isOn();

private:
  uint64_t outer;
};

void roundArray(Cell *cells, int64_t count, Round round);

/// Wraps to `width` bits: sign-extended, except i1, which is 0 or 1.
inline int64_t wrapToWidth(int64_t value, unsigned width) {
  if (width >= 64)
    return value;
  if (width == 1)
    return value & 1;
  return int64_t(uint64_t(value) << (64 - width)) >> (64 - width);
}

/// The signed and the unsigned reading of a kept integer.
inline int64_t asSigned(int64_t value, unsigned width) { return width == 1 ? -(value & 1) : value; }
inline uint64_t asUnsigned(int64_t value, unsigned width) {
  return width >= 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << width) - 1);
}

/// True for the element types the interpreter computes on.
bool isSupportedElementType(Type type);

/// Width in bits of an integer or index type (index is 64).
unsigned integerWidth(Type type);

/// Bytes of one element in memory: i1 and narrower than a byte take one byte,
/// index eight.
unsigned elementBytes(Type type);

/// The bits of an element and back; `cell` must be rounded to `type` already,
/// or is rounded here.
uint64_t toBits(Cell cell, Type type);
Cell fromBits(uint64_t bits, Type type);

/// The product of `shape`, or nothing if a size is negative or the product
/// exceeds what the interpreter is willing to allocate (2^30 elements).
std::optional<int64_t> countElements(ArrayRef<int64_t> shape);
/// That it is not more: an error at `loc` names the sizes.
LogicalResult checkAllocation(Location loc, ArrayRef<int64_t> shape);

/// Row-major strides of `shape`, in elements.
SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape);

/// A dense tensor; copies share their storage until one of them is written.
class Tensor {
public:
  Tensor() = default;

  /// A tensor whose cells are zero. `shape` must satisfy countElements.
  static Tensor zeros(Type elementType, ArrayRef<int64_t> shape);
  static Tensor splat(Type elementType, ArrayRef<int64_t> shape, Cell value);
  static Tensor scalar(Type elementType, Cell value) { return splat(elementType, {}, value); }
  static Tensor scalarFloat(Type elementType, double value);
  static Tensor scalarInt(Type elementType, int64_t value);

  /// Reads row-major elements of `elementBytes` each.
  static Tensor fromBytes(Type elementType, ArrayRef<int64_t> shape, const void *bytes);
  /// Writes them; floats are rounded to the element type.
  void toBytes(void *bytes) const;

  explicit operator bool() const { return payload != nullptr; }
  Type getElementType() const { return payload->elementType; }
  ArrayRef<int64_t> getShape() const { return payload->shape; }
  int64_t getRank() const { return payload->shape.size(); }
  int64_t getNumElements() const { return payload->count; }
  bool isFloat() const { return isa<FloatType>(payload->elementType); }

  const Cell *data() const { return payload->cells.get(); }
  /// The cells for writing: unshares them first.
  Cell *mutableData();

  /// The same cells under another shape or element type (of the same kind).
  Tensor withShape(ArrayRef<int64_t> shape) const;
  Tensor withElementType(Type type) const;

  double getFloat(int64_t index = 0) const { return data()[index].f; }
  int64_t getInt(int64_t index = 0) const { return data()[index].i; }

  /// Same type, shape and bits (a NaN equals a NaN).
  bool identicalTo(const Tensor &other) const;

  void print(raw_ostream &os) const;

private:
  struct Payload {
    Type elementType;
    SmallVector<int64_t, 4> shape;
    int64_t count = 0;
    std::shared_ptr<Cell[]> cells;
  };
  std::shared_ptr<const Payload> payload;
};

} // namespace mlir::ft::interp

#endif // FT_INTERPRETER_TENSOR_H
