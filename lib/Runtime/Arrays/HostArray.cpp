//===- HostArray.cpp - a dense array in host memory -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/HostArray.h"

#include "ft/Runtime/Arrays/Float16.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

using namespace ft::rt;

int64_t ft::rt::byteWidth(DType dtype) {
  switch (dtype) {
  case DType::f64:
  case DType::i64:
    return 8;
  case DType::f32:
  case DType::i32:
    return 4;
  case DType::f16:
  case DType::bf16:
  case DType::i16:
    return 2;
  case DType::i8:
  case DType::u8:
  case DType::i1:
    return 1;
  }
  return 1;
}

static constexpr const char *names[] = {"f64", "f32", "f16", "bf16", "i64",
                                        "i32", "i16", "i8",  "ui8",  "i1"};

const char *ft::rt::dtypeName(DType dtype) { return names[size_t(dtype)]; }

std::optional<DType> ft::rt::parseDType(std::string_view name) {
  for (size_t i = 0; i < std::size(names); ++i)
    if (name == names[i])
      return DType(i);
  if (name == "u8")
    return DType::u8;
  return std::nullopt;
}

std::string ft::rt::describe(DType dtype, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + dtypeName(dtype);
}

static Status sizeError(DType dtype, const std::vector<int64_t> &shape, const char *what) {
  return Status::error(Code::invalidArgument, describe(dtype, shape) + " " + what);
}

static Status countBytesWith(DType dtype, const std::vector<int64_t> &shape, int64_t width,
                             int64_t &bytes) {
  int64_t product = width;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return sizeError(dtype, shape, "has a negative extent");
    // Zeros are left out of the product: 0 x 2^62 x 2^62 has no bytes, but its
    // strides overflow all the same.
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, extent, &product))
      return sizeError(dtype, shape, "has more bytes than a 64-bit integer counts");
  }
  bytes = empty ? 0 : product;
  return {};
}

Status ft::rt::countBytes(DType dtype, const std::vector<int64_t> &shape, int64_t &bytes) {
  return countBytesWith(dtype, shape, byteWidth(dtype), bytes);
}

Status ft::rt::countElements(const std::vector<int64_t> &shape, int64_t &count) {
  return countBytesWith(DType::i8, shape, 1, count);
}

void *ft::rt::allocateAligned(size_t bytes, size_t alignment) {
  void *pointer = nullptr;
  if (posix_memalign(&pointer, alignment, bytes) != 0)
    throw std::bad_alloc();
  return pointer;
}

void ft::rt::freeAligned(void *pointer) { free(pointer); }

Status HostArray::create(DType dtype, std::vector<int64_t> shape, HostArray &out) {
  int64_t bytes = 0;
  FT_RT_TRY(countBytes(dtype, shape, bytes));
  HostArray result;
  result.dtype = dtype;
  try {
    result.storage.resize(size_t(bytes));
  } catch (const std::exception &) {
    return Status::error(Code::outOfMemory, "no memory for " + rt::describe(dtype, shape) + " (" +
                                                std::to_string(bytes) + " bytes)");
  }
  result.shape = std::move(shape);
  out = std::move(result);
  return {};
}

static int64_t saturate(double value) {
  if (value != value)
    return 0;
  if (value >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return int64_t(value);
}

double HostArray::getFloat(int64_t i) const {
  switch (dtype) {
  case DType::f64:
    return as<double>()[i];
  case DType::f32:
    return as<float>()[i];
  case DType::f16:
    return halfToFloat(as<uint16_t>()[i]);
  case DType::bf16:
    return bfloatToFloat(as<uint16_t>()[i]);
  default:
    return double(getInt(i));
  }
}

int64_t HostArray::getInt(int64_t i) const {
  switch (dtype) {
  case DType::i64:
    return as<int64_t>()[i];
  case DType::i32:
    return as<int32_t>()[i];
  case DType::i16:
    return as<int16_t>()[i];
  case DType::i8:
    return as<int8_t>()[i];
  case DType::u8:
    return as<uint8_t>()[i];
  case DType::i1:
    return as<uint8_t>()[i] != 0;
  default:
    return saturate(getFloat(i));
  }
}

void HostArray::setFloat(int64_t i, double value) {
  switch (dtype) {
  case DType::f64:
    as<double>()[i] = value;
    return;
  case DType::f32:
    as<float>()[i] = float(value);
    return;
  case DType::f16:
    as<uint16_t>()[i] = doubleToHalf(value);
    return;
  case DType::bf16:
    as<uint16_t>()[i] = doubleToBfloat(value);
    return;
  default:
    setInt(i, saturate(value));
  }
}

void HostArray::setInt(int64_t i, int64_t value) {
  switch (dtype) {
  case DType::i64:
    as<int64_t>()[i] = value;
    return;
  case DType::i32:
    as<int32_t>()[i] = int32_t(value);
    return;
  case DType::i16:
    as<int16_t>()[i] = int16_t(value);
    return;
  case DType::i8:
  case DType::u8:
    as<uint8_t>()[i] = uint8_t(value);
    return;
  case DType::i1:
    as<uint8_t>()[i] = value & 1;
    return;
  case DType::f32:
    // Straight from the integer: through f64 an i64 would round twice.
    as<float>()[i] = float(value);
    return;
  default:
    setFloat(i, double(value));
  }
}

Status ft::rt::convert(const HostArray &from, DType dtype, HostArray &to) {
  HostArray result;
  FT_RT_TRY(HostArray::create(dtype, from.shape, result));
  int64_t count = from.numElements();
  if (isFloat(from.dtype))
    for (int64_t i = 0; i < count; ++i)
      result.setFloat(i, from.getFloat(i));
  else
    for (int64_t i = 0; i < count; ++i)
      result.setInt(i, from.getInt(i));
  to = std::move(result);
  return {};
}
