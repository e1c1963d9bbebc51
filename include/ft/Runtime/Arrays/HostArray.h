//===- HostArray.h - a dense array in host memory ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arrays that the tools read, generate, compare and write: row-major,
// 64-byte aligned, one byte for an i1.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_ARRAYS_HOSTARRAY_H
#define FT_RUNTIME_ARRAYS_HOSTARRAY_H

#include "ft/Runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ft::rt {

enum class DType : uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u8, i1 };

int64_t byteWidth(DType dtype);
/// The name in MLIR's spelling: "f32", "bf16", "i64", "ui8", "i1".
const char *dtypeName(DType dtype);
/// Inverse of `dtypeName`; also takes "u8".
std::optional<DType> parseDType(std::string_view name);
inline bool isFloat(DType dtype) { return dtype <= DType::bf16; }

/// "2x3xf32".
std::string describe(DType dtype, const std::vector<int64_t> &shape);

/// Number of elements, or an error for a negative extent or an overflow. A zero
/// extent anywhere gives zero, but the other extents are still checked.
Status countElements(const std::vector<int64_t> &shape, int64_t &count);
/// Number of bytes, with the same errors.
Status countBytes(DType dtype, const std::vector<int64_t> &shape, int64_t &bytes);

/// Throws std::bad_alloc when memory runs out; out of line, because callers may be
/// compiled without exceptions.
void *allocateAligned(size_t bytes, size_t alignment);
void freeAligned(void *pointer);

/// std::vector's memory at a cache line's alignment, so that vector code over
/// it never splits a line.
template <class T, size_t alignment>
struct AlignedAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = AlignedAllocator<U, alignment>;
  };
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U, alignment> &) {}
  T *allocate(size_t n) { return static_cast<T *>(allocateAligned(n * sizeof(T), alignment)); }
  void deallocate(T *p, size_t) { freeAligned(p); }
  bool operator==(const AlignedAllocator &) const { return true; }
};

struct HostArray {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte, AlignedAllocator<std::byte, 64>> storage;

  /// Zero-filled array; errors on negative or overflowing sizes and when memory
  /// runs out, and leaves `out` as it was then.
  static Status create(DType dtype, std::vector<int64_t> shape, HostArray &out);

  int64_t rank() const { return int64_t(shape.size()); }
  int64_t numBytes() const { return int64_t(storage.size()); }
  int64_t numElements() const { return numBytes() / byteWidth(dtype); }
  void *data() { return storage.data(); }
  const void *data() const { return storage.data(); }
  template <class T>
  T *as() {
    return reinterpret_cast<T *>(storage.data());
  }
  template <class T>
  const T *as() const {
    return reinterpret_cast<const T *>(storage.data());
  }

  /// Element access by linear index. `getFloat` is exact for every type but
  /// i64; `getInt` truncates floats toward zero (0 for NaN, saturating).
  double getFloat(int64_t index) const;
  int64_t getInt(int64_t index) const;
  /// Floats round to nearest even once; integers truncate toward zero and wrap.
  void setFloat(int64_t index, double value);
  void setInt(int64_t index, int64_t value);

  std::string describe() const { return rt::describe(dtype, shape); }
};

/// A copy with another element type; values convert as by setFloat and setInt.
Status convert(const HostArray &from, DType dtype, HostArray &to);

} // namespace ft::rt

#endif // FT_RUNTIME_ARRAYS_HOSTARRAY_H
