//===- Safetensors.cpp - files of named tensors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/Safetensors.h"

#include "ft/Runtime/Base/Json.h"

#include <algorithm>

using namespace ft::rt;

static constexpr size_t lengthBytes = 8;

static Status corrupt(const std::string &file, const std::string &why) { return Status::error(Code::corrupt, file + ": " + why); }

static std::optional<DType> elementType(const std::string &text) {
  static constexpr std::pair<const char *, DType> names[] = {{"F64", DType::f64}, {"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16},
                                                             {"I64", DType::i64}, {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},
                                                             {"U8", DType::u8},   {"BOOL", DType::i1}};
  for (const auto &[name, dtype] : names)
    if (text == name)
      return dtype;
  return std::nullopt;
}

/// Numbers from 0 on.
static bool readNumbers(const Json *json, std::vector<int64_t> &out) {
  if (!json || !json->isArray())
    return false;
  for (const Json &item : json->items()) {
    if (!item.isInteger() || item.asInteger() < 0)
      return false;
    out.push_back(item.asInteger());
  }
  return true;
}

static Status readTensor(const Json &json, std::string_view data, const std::string &where, SafeTensor &out) {
  const Json *dtype = json.find("dtype");
  std::vector<int64_t> ends;
  if (!json.isObject() || json.size() != 3 || !dtype || !dtype->isString() || !readNumbers(json.find("shape"), out.shape) ||
      !readNumbers(json.find("data_offsets"), ends) || ends.size() != 2)
    return corrupt(where, "expected \"dtype\", \"shape\" and two \"data_offsets\"");
  std::optional<DType> type = elementType(dtype->asString());
  if (!type)
    return Status::error(Code::unsupportedFormat, where + ": elements of type " + dtype->asString() + " are not read here");
  out.dtype = *type;
  if (ends[0] > ends[1] || uint64_t(ends[1]) > data.size())
    return corrupt(where, "its bytes are " + std::to_string(ends[0]) + " to " + std::to_string(ends[1]) + " of " + std::to_string(data.size()) +
                              " that the file has after its header");
  int64_t bytes = 0;
  FT_RT_TRY(countBytes(out.dtype, out.shape, bytes).inside(where));
  if (bytes != ends[1] - ends[0])
    return corrupt(where, describe(out.dtype, out.shape) + " has " + std::to_string(bytes) + " bytes, found " + std::to_string(ends[1] - ends[0]));
  out.bytes = data.substr(size_t(ends[0]), size_t(bytes));
  return {};
}

/// That each byte after the header is one tensor's.
static Status checkCover(const std::vector<SafeTensor> &tensors, std::string_view data, const std::string &file) {
  std::vector<const SafeTensor *> sorted;
  for (const SafeTensor &tensor : tensors)
    if (!tensor.bytes.empty())
      sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const SafeTensor *a, const SafeTensor *b) { return a->bytes.data() < b->bytes.data(); });
  const char *end = data.data();
  const SafeTensor *before = nullptr;
  for (const SafeTensor *tensor : sorted) {
    if (tensor->bytes.data() < end)
      return corrupt(file, "tensors \"" + before->name + "\" and \"" + tensor->name + "\" overlap");
    if (tensor->bytes.data() > end)
      return corrupt(file, std::to_string(tensor->bytes.data() - end) + " bytes before tensor \"" + tensor->name + "\" belong to none");
    end = tensor->bytes.data() + tensor->bytes.size();
    before = tensor;
  }
  if (end != data.data() + data.size())
    return corrupt(file, std::to_string(data.data() + data.size() - end) + " bytes at its end belong to no tensor");
  return {};
}

Status ft::rt::parseSafetensors(std::string_view content, const std::string &name, std::vector<SafeTensor> &out) {
  if (content.size() < lengthBytes)
    return corrupt(name, "truncated: " + std::to_string(content.size()) + " bytes, a safetensors file begins with the 8 of its header's length");
  uint64_t length = 0;
  for (size_t i = lengthBytes; i-- > 0;)
    length = length << 8 | uint8_t(content[i]);
  if (length > content.size() - lengthBytes)
    return corrupt(name, "truncated, or no safetensors file: a header of " + std::to_string(length) + " bytes in " + std::to_string(content.size()));
  Json header;
  FT_RT_TRY(Json::parse(content.substr(lengthBytes, size_t(length)), header).inside(name + ": header"));
  if (!header.isObject())
    return corrupt(name, "its header is no object");
  std::string_view data = content.substr(lengthBytes + size_t(length));
  std::vector<SafeTensor> tensors;
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string &key = header.keys()[i];
    if (key == "__metadata__")
      continue;
    SafeTensor tensor;
    tensor.name = key;
    FT_RT_TRY(readTensor(header[i], data, name + ": tensor \"" + key + "\"", tensor));
    tensors.push_back(std::move(tensor));
  }
  FT_RT_TRY(checkCover(tensors, data, name));
  out = std::move(tensors);
  return {};
}
