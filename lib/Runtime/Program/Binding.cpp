//===- Binding.cpp - a call's tensors against an entry --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Program/Binding.h"

#include <algorithm>

using namespace ft::rt;

FtTensor ft::rt::asTensor(HostArray &array, void *data, int32_t deviceType, int32_t deviceId) {
  FtTensor tensor = {};
  tensor.data = data;
  tensor.device = {deviceType, deviceId};
  tensor.ndim = int32_t(array.shape.size());
  dlpackType(array.dtype, tensor.dtype.code, tensor.dtype.bits);
  tensor.dtype.lanes = 1;
  tensor.shape = array.shape.data();
  return tensor;
}

void ft::rt::dlpackType(DType dtype, uint8_t &code, uint8_t &bits) {
  bits = uint8_t(8 * byteWidth(dtype));
  switch (dtype) {
  case DType::f64:
  case DType::f32:
  case DType::f16:
    code = 2;
    break;
  case DType::bf16:
    code = 4;
    break;
  case DType::u8:
    code = 1;
    break;
  case DType::i1:
    code = 6;
    break;
  default:
    code = 0;
  }
}

static std::string typeText(const FtTensor &t) {
  static constexpr const char *letters[] = {"i", "ui", "f", "handle", "bf", "complex", "bool"};
  std::string text;
  for (int32_t d = 0; d < t.ndim; ++d)
    text += std::to_string(t.shape[d]) + "x";
  text += t.dtype.code < std::size(letters) ? letters[t.dtype.code]
                                            : "type" + std::to_string(t.dtype.code) + "_";
  text += std::to_string(t.dtype.bits);
  if (t.dtype.lanes != 1)
    text += "x" + std::to_string(t.dtype.lanes) + " lanes";
  return text;
}

static std::string expectedText(const Entry &entry, const Argument &a) {
  std::string text;
  for (const Expr &e : a.shape)
    text += e.describe([&](int64_t v) { return entry.variableName(v); }) + "x";
  return text + dtypeName(a.dtype);
}

static std::string deviceText(int32_t type, int32_t id) {
  switch (type) {
  case FT_CPU:
    return "the CPU";
  case FT_CUDA:
    return "CUDA device " + std::to_string(id);
  default:
    return "device type " + std::to_string(type) + ", id " + std::to_string(id);
  }
}

namespace {
class Binder {
public:
  Binder(const Entry &entry, const FtTensor *const *tensors, BindMode mode, Binding &binding)
      : entry(entry), tensors(tensors), mode(mode), binding(binding) {}

  Status run(int64_t count, int32_t deviceType, int32_t deviceId) {
    int64_t expected = int64_t(entry.arguments.size());
    if (count != expected || (!tensors && count))
      return Status::error(Code::invalidArgument,
                           "entry \"" + entry.name + "\": expected " + std::to_string(entry.numPassed()) +
                               " arguments, found " + std::to_string(tensors ? count - (expected - entry.numPassed()) : 0));
    binding.variables.resize(size_t(entry.numVariables()));
    binding.addresses.resize(size_t(expected));
    binding.begins.resize(size_t(expected));
    binding.ends.resize(size_t(expected));
    for (int64_t i = 0; i < expected; ++i)
      if (tensors[i] || !optional(i))
        FT_RT_TRY(checkTensor(i, deviceType, deviceId));
    FT_RT_TRY(bindVariables());
    for (int64_t i = 0; i < expected; ++i)
      if (tensors[i])
        FT_RT_TRY(checkShape(i));
    if (mode == BindMode::call)
      FT_RT_TRY(checkOverlaps());
    return {};
  }

private:
  bool optional(int64_t i) const {
    return mode == BindMode::shapes && entry.arguments[size_t(i)].output;
  }

  Status error(int64_t i, const std::string &what) const {
    return Status::error(Code::invalidArgument,
                         "entry \"" + entry.name + "\", argument " + std::to_string(entry.passedBefore(i)) + " \"" +
                             entry.arguments[size_t(i)].name + "\": " + what);
  }
  Status mismatch(int64_t i, const char *what) const {
    return error(i, std::string("wrong ") + what + ": expected " +
                        expectedText(entry, entry.arguments[size_t(i)]) + ", found " +
                        typeText(*tensors[i]));
  }

  /// What needs no symbol: rank, element type, device, strides, alignment.
  Status checkTensor(int64_t i, int32_t deviceType, int32_t deviceId) {
    const Argument &a = entry.arguments[size_t(i)];
    const FtTensor *t = tensors[i];
    if (!t)
      return error(i, "is NULL");
    if (t->ndim < 0 || t->ndim > maxRank || (t->ndim > 0 && !t->shape))
      return error(i,
                   "has no shape, or a rank that is not between 0 and " + std::to_string(maxRank));
    uint8_t code, bits;
    dlpackType(a.dtype, code, bits);
    if (t->dtype.code != code || t->dtype.bits != bits || t->dtype.lanes != 1)
      return mismatch(i, "element type");
    if (t->ndim != int32_t(a.shape.size()))
      return mismatch(i, "rank");
    if (t->device.type != deviceType || (deviceType != FT_CPU && t->device.id != deviceId))
      return error(i, "wrong device: expected " + deviceText(deviceType, deviceId) + ", found " +
                          deviceText(t->device.type, t->device.id));
    return checkLayout(i, a, *t, bits / 8);
  }

  Status checkLayout(int64_t i, const Argument &a, const FtTensor &t, int64_t width) {
    // Elements from the first to one past the last; rows are checked from inside.
    int64_t dense = 1, span = 1, below = 0;
    // Where there is nothing to step over, libraries write what strides they like.
    bool empty = std::find(t.shape, t.shape + t.ndim, 0) != t.shape + t.ndim;
    for (int32_t d = t.ndim; d-- > 0;) {
      int64_t extent = t.shape[d];
      if (extent < 0)
        return mismatch(i, "shape (a negative extent)");
      int64_t stride = t.strides && !empty ? t.strides[d] : dense;
      if (extent > 1 && stride != dense) {
        if (d >= a.stridedDims)
          return error(i, "dimension " + std::to_string(d) + " of " + typeText(t) +
                              " must be dense: expected stride " + std::to_string(dense) +
                              ", found " + std::to_string(stride));
        // Rows of an output must not share elements; an input may repeat and reverse them.
        if (a.output && stride < span)
          return error(i, "dimension " + std::to_string(d) + " of " + typeText(t) + " has stride " +
                              std::to_string(stride) + ", which overlaps its own rows");
        if (int64_t rows = rowAlignment(a, width); stride % rows)
          return error(i, "dimension " + std::to_string(d) + " of " + typeText(t) + " has stride " +
                              std::to_string(stride) + ": rows must lie at multiples of " +
                              std::to_string(rows) + " elements");
      }
      int64_t reach = 0;
      if (extent != 0 &&
          (__builtin_mul_overflow(extent - 1, stride, &reach) ||
           (stride < 0 ? __builtin_add_overflow(below, reach, &below) : __builtin_add_overflow(span, reach, &span)) ||
           __builtin_mul_overflow(dense, extent, &dense)))
        return error(i, typeText(t) + " has more elements than a 64-bit integer counts");
    }
    int64_t bytes = 0, bytesBelow = 0;
    if (__builtin_mul_overflow(empty ? 0 : span, width, &bytes) ||
        __builtin_mul_overflow(empty ? 0 : below, width, &bytesBelow))
      return error(i, typeText(t) + " has more bytes than a 64-bit integer counts");
    uint64_t address = reinterpret_cast<uint64_t>(t.data) + t.byte_offset;
    binding.addresses[size_t(i)] = address;
    binding.begins[size_t(i)] = address + uint64_t(bytesBelow);
    binding.ends[size_t(i)] = address + uint64_t(bytes);
    if (mode == BindMode::shapes || bytes == 0)
      return {};
    if (!t.data)
      return error(i, typeText(t) + " has no data (NULL)");
    int64_t alignment = std::max(a.alignment, width);
    if (address & uint64_t(alignment - 1))
      return error(i, "must be aligned to " + std::to_string(alignment) + " bytes");
    return {};
  }

  /// Code relies on rows to be as aligned as they are one after the other: elements between them.
  static int64_t rowAlignment(const Argument &a, int64_t width) {
    int64_t bytes = width;
    for (size_t d = a.shape.size(); d-- > size_t(a.stridedDims);) {
      std::optional<int64_t> extent = a.shape[d].asConstant();
      if (!extent || *extent < 1 || __builtin_mul_overflow(bytes, *extent, &bytes))
        break;
    }
    return std::max<int64_t>(std::min(a.alignment, bytes & -bytes) / width, 1);
  }

  Status bindVariables() {
    int64_t *variables = binding.variables.data();
    for (size_t x = 0; x < entry.extents.size(); ++x) {
      const Entry::Extent &e = entry.extents[x];
      const FtTensor *t = tensors[e.argument];
      int64_t value = 0;
      if (t) {
        value = t->shape[e.dim];
        if (e.stride && t->strides)
          value = t->strides[e.dim];
        else if (e.stride)
          value = denseStride(*t, e.dim);
      }
      variables[size_t(entry.firstExtent()) + x] = value;
    }
    for (size_t s = 0; s < entry.symbols.size(); ++s) {
      const Symbol &symbol = entry.symbols[s];
      if (mode == BindMode::shapes && dependsOnAbsent(symbol.value))
        return Status::error(Code::invalidArgument,
                             "entry \"" + entry.name + "\": \"" + symbol.name +
                                 "\" is an extent of an output, which the caller chooses");
      if (!symbol.value.evaluate(variables, variables[s]))
        return Status::error(Code::invalidArgument,
                             "entry \"" + entry.name + "\": \"" + symbol.name + "\" overflows");
      if (variables[s] < symbol.least)
        return Status::error(Code::invalidArgument,
                             "entry \"" + entry.name + "\": needs " + symbol.name +
                                 " >= " + std::to_string(symbol.least) + ", found " + symbol.name +
                                 " = " + std::to_string(variables[s]));
    }
    for (const Requirement &r : entry.requirements) {
      int64_t value = 0;
      if (!r.nonNegative.evaluate(variables, value) || value < 0)
        return Status::error(Code::invalidArgument,
                             "entry \"" + entry.name + "\": needs " + r.text + valuesText());
    }
    return {};
  }

  static int64_t denseStride(const FtTensor &t, int64_t dim) {
    int64_t stride = 1;
    for (int64_t d = t.ndim - 1; d > dim; --d)
      stride *= std::max<int64_t>(t.shape[d], 1); // cannot overflow: checkLayout was here
    return stride;
  }

  bool dependsOnAbsent(const Expr &value) const {
    for (size_t x = 0; x < entry.extents.size(); ++x)
      if (!tensors[entry.extents[x].argument] && value.uses(entry.firstExtent() + int64_t(x)))
        return true;
    return false;
  }

  std::string valuesText() const {
    std::string text;
    for (size_t s = 0; s < entry.symbols.size(); ++s)
      text += (text.empty() ? ", found " : ", ") + entry.symbols[s].name + " = " +
              std::to_string(binding.variables[s]);
    return text;
  }

  Status checkShape(int64_t i) {
    const Argument &a = entry.arguments[size_t(i)];
    const FtTensor &t = *tensors[i];
    for (size_t d = 0; d < a.shape.size(); ++d) {
      int64_t value = 0;
      if (!a.shape[d].evaluate(binding.variables.data(), value) || value != t.shape[d])
        return error(i, "wrong extent of dimension " + std::to_string(d) + ": expected " +
                            expectedText(entry, a) + ", found " + typeText(t) + valuesText());
    }
    return {};
  }

  Status checkOverlaps() {
    size_t count = entry.arguments.size();
    for (size_t i = 0; i < count; ++i) {
      if (!entry.arguments[i].output)
        continue;
      uint64_t begin = binding.begins[i], end = binding.ends[i];
      for (size_t j = 0; j < count; ++j) {
        if (binding.begins[j] >= end || begin >= binding.ends[j] || i == j || begin == end ||
            binding.begins[j] == binding.ends[j])
          continue;
        // Bound by writeback: the very same memory is meant.
        if (entry.arguments[i].writeback == int64_t(j) && begin == binding.begins[j] &&
            end == binding.ends[j])
          continue;
        return error(int64_t(i), "overlaps argument " + std::to_string(j) + " \"" +
                                     entry.arguments[j].name + "\" in memory");
      }
    }
    return {};
  }

  const Entry &entry;
  const FtTensor *const *tensors;
  BindMode mode;
  Binding &binding;
};
} // namespace

Status ft::rt::bind(const Entry &entry, const FtTensor *const *tensors, int64_t count,
                    int32_t deviceType, int32_t deviceId, BindMode mode, Binding &binding) {
  return Binder(entry, tensors, mode, binding).run(count, deviceType, deviceId);
}

Status ft::rt::shapeOf(const Entry &entry, const Binding &binding, int64_t argument,
                       std::vector<int64_t> &shape) {
  const Argument &a = entry.arguments[size_t(argument)];
  shape.resize(a.shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (!a.shape[d].evaluate(binding.variables.data(), shape[d]) || shape[d] < 0)
      return Status::error(Code::invalidArgument,
                           "entry \"" + entry.name + "\": dimension " + std::to_string(d) +
                               " of \"" + a.name + "\" is negative or overflows for these inputs");
  int64_t bytes = 0;
  return countBytes(a.dtype, shape, bytes)
      .inside("entry \"" + entry.name + "\", \"" + a.name + "\"");
}
