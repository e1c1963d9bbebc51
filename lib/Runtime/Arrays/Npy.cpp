//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/Npy.h"

#include "TextCursor.h"
#include "ft/Runtime/Base/File.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>

using namespace ft::rt;

static_assert(std::endian::native == std::endian::little, ".npy is written as it lies in memory");

static constexpr char magic[] = "\x93NUMPY";

namespace {
struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the header's Python dictionary: string keys; a string, a bool and a
/// tuple of integers as values; in any order, each once.
class HeaderParser : TextCursor {
public:
  explicit HeaderParser(std::string_view text) : TextCursor{text} {}

  bool parse(Header &header) {
    bool haveDescr = false, haveOrder = false, haveShape = false;
    if (!eat('{'))
      return false;
    while (!eat('}')) {
      std::string key;
      if (!parseString(key) || !eat(':'))
        return false;
      bool valid = false;
      if (key == "descr" && !haveDescr)
        valid = haveDescr = parseString(header.descr);
      else if (key == "fortran_order" && !haveOrder)
        valid = haveOrder = parseBool(header.fortranOrder);
      else if (key == "shape" && !haveShape)
        valid = haveShape = parseTuple(header.shape);
      if (!valid)
        return false;
      if (!eat(',')) {
        if (!eat('}'))
          return false;
        break;
      }
    }
    skipSpace();
    return haveDescr && haveOrder && haveShape && rest.empty();
  }

private:
  bool parseString(std::string &out) {
    skipSpace();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return false;
    size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      return false;
    out = std::string(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return true;
  }
  bool parseBool(bool &out) {
    skipSpace();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (rest.starts_with(word)) {
        out = value;
        rest.remove_prefix(word.size());
        return true;
      }
    }
    return false;
  }
  bool parseTuple(std::vector<int64_t> &out) {
    if (!eat('('))
      return false;
    while (!eat(')')) {
      skipSpace();
      int64_t extent = 0;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
      if (error != std::errc() || extent < 0 || out.size() >= 64)
        return false;
      rest.remove_prefix(size_t(end - rest.data()));
      if (!rest.empty() && rest[0] == 'L') // Python 2's long
        rest.remove_prefix(1);
      out.push_back(extent);
      if (!eat(','))
        return eat(')') && out.size() != 1; // "(3)" is no tuple
    }
    return true;
  }
};
} // namespace

static const char *descrOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return "<f8";
  case DType::f32:
    return "<f4";
  case DType::f16:
    return "<f2";
  case DType::bf16:
    return "<u2";
  case DType::i64:
    return "<i8";
  case DType::i32:
    return "<i4";
  case DType::i16:
    return "<i2";
  case DType::i8:
    return "|i1";
  case DType::u8:
    return "|u1";
  case DType::i1:
    return "|b1";
  }
  return "";
}

/// A type's `descr`; one-byte types have no byte order, so any prefix will do.
static std::optional<DType> dtypeOfDescr(std::string_view descr, std::optional<DType> expected) {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::i64, DType::i32, DType::i16,
                      DType::i8, DType::u8, DType::i1}) {
    std::string_view own = descrOf(dtype);
    if (descr == own || (own[0] == '<' && descr == "=" + std::string(own.substr(1))) ||
        (own[0] == '|' && descr.size() == own.size() && descr.substr(1) == own.substr(1) &&
         (descr[0] == '<' || descr[0] == '>' || descr[0] == '=')))
      return dtype;
  }
  if (descr == "<u2" && expected == DType::bf16)
    return DType::bf16;
  return std::nullopt;
}

static std::string describeExpected(const NpyExpectation &expected) {
  std::string text;
  if (expected.shape)
    for (int64_t extent : *expected.shape)
      text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text + (expected.dtype ? dtypeName(*expected.dtype) : "(any type)");
}

static Status checkExpected(const std::string &name, DType dtype, const std::vector<int64_t> &shape,
                            const NpyExpectation &expected) {
  std::string wrong;
  if (expected.dtype && *expected.dtype != dtype)
    wrong = "element type";
  else if (expected.shape && expected.shape->size() != shape.size())
    wrong = "rank";
  else if (expected.shape)
    for (size_t d = 0; d < shape.size() && wrong.empty(); ++d)
      if ((*expected.shape)[d] >= 0 && (*expected.shape)[d] != shape[d])
        wrong = "extent of dimension " + std::to_string(d);
  if (wrong.empty())
    return {};
  return Status::error(Code::invalidArgument, name + ": wrong " + wrong + ": expected " +
                                                  describeExpected(expected) + ", found " +
                                                  describe(dtype, shape));
}

template <class T>
static void transpose(const std::byte *from, HostArray &to) {
  size_t rank = to.shape.size();
  std::vector<int64_t> index(rank, 0), stride(rank, 1); // column-major strides
  for (size_t d = 1; d < rank; ++d)
    stride[d] = stride[d - 1] * to.shape[d - 1];
  int64_t offset = 0, count = to.numElements();
  for (int64_t i = 0; i < count; ++i) {
    memcpy(to.as<T>() + i, from + offset * int64_t(sizeof(T)), sizeof(T));
    for (size_t d = rank; d-- > 0;) {
      offset += stride[d];
      if (++index[d] < to.shape[d])
        break;
      offset -= stride[d] * to.shape[d];
      index[d] = 0;
    }
  }
}

Status ft::rt::parseNpy(const void *bytes, size_t size, const std::string &name, HostArray &out,
                        const NpyExpectation &expected) {
  auto corrupt = [&](const std::string &why) {
    return Status::error(Code::corrupt, name + ": " + why);
  };
  auto *data = static_cast<const std::byte *>(bytes);
  if (size < 10 || memcmp(data, magic, 6) != 0)
    return corrupt("not a .npy file (no \\x93NUMPY at its start)");
  int major = int(data[6]), minor = int(data[7]);
  if (major < 1 || major > 3)
    return Status::error(Code::unsupportedFormat, name + ": expected .npy version 1 to 3, found " +
                                                      std::to_string(major) + "." +
                                                      std::to_string(minor));
  size_t start = major == 1 ? 10 : 12, length = 0;
  if (size < start)
    return corrupt("truncated in its header");
  for (size_t i = start; i-- > 8;)
    length = length << 8 | size_t(data[i]);
  if (length > size - start)
    return corrupt("truncated: a header of " + std::to_string(length) + " bytes in a file of " +
                   std::to_string(size));
  Header header;
  if (!HeaderParser({reinterpret_cast<const char *>(data) + start, length}).parse(header))
    return corrupt("malformed header");

  std::optional<DType> dtype = dtypeOfDescr(header.descr, expected.dtype);
  if (!dtype)
    return Status::error(Code::invalidArgument,
                         name + ": unsupported element type '" + header.descr + "'" +
                             (expected.dtype
                                  ? ", expected " + std::string(dtypeName(*expected.dtype)) +
                                        " ('" + descrOf(*expected.dtype) + "')"
                                  : std::string()));
  FT_RT_TRY(checkExpected(name, *dtype, header.shape, expected));
  int64_t needed = 0;
  FT_RT_TRY(countBytes(*dtype, header.shape, needed).inside(name));
  size_t payload = size - start - length;
  // Before anything is allocated: a header alone must not ask for terabytes.
  if (uint64_t(needed) != payload)
    return corrupt((payload < uint64_t(needed) ? "truncated: " : "trailing bytes: ") +
                   describe(*dtype, header.shape) + " needs " + std::to_string(needed) +
                   " bytes of data, the file has " + std::to_string(payload));
  HostArray result;
  FT_RT_TRY(HostArray::create(*dtype, header.shape, result).inside(name));
  const std::byte *from = data + start + length;
  if (!header.fortranOrder || header.shape.size() < 2) {
    if (needed)
      memcpy(result.data(), from, size_t(needed));
  } else {
    switch (byteWidth(*dtype)) {
    case 8:
      transpose<uint64_t>(from, result);
      break;
    case 4:
      transpose<uint32_t>(from, result);
      break;
    case 2:
      transpose<uint16_t>(from, result);
      break;
    default:
      transpose<uint8_t>(from, result);
    }
  }
  if (*dtype == DType::i1)
    for (int64_t i = 0; i < needed; ++i)
      if (result.as<uint8_t>()[i] > 1)
        return corrupt("a boolean that is neither 0 nor 1 at element " + std::to_string(i));
  out = std::move(result);
  return {};
}

Status ft::rt::readNpy(const std::string &path, HostArray &out, const NpyExpectation &expected) {
  std::string content;
  FT_RT_TRY(readFile(path, content));
  return parseNpy(content.data(), content.size(), path, out, expected);
}

/// What stands before the data of a file.
static std::string headOf(const HostArray &array) {
  std::string dict =
      "{'descr': '" + std::string(descrOf(array.dtype)) + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : array.shape)
    dict += std::to_string(extent) + (array.rank() == 1 ? "," : ", ");
  if (array.rank() > 1)
    dict.resize(dict.size() - 2);
  dict += "), }";
  // The data begin at a multiple of 64, after a newline.
  bool longHeader = dict.size() + 11 > 65535;
  size_t prefix = longHeader ? 12 : 10;
  dict.append((64 - (prefix + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  std::string head(magic, 6);
  head += char(longHeader ? 2 : 1);
  head += '\0';
  for (size_t i = 0; i < prefix - 8; ++i)
    head += char(dict.size() >> (8 * i) & 0xff);
  return head + dict;
}

Status ft::rt::writeNpy(OutputFiles &files, size_t index, const HostArray &array) {
  std::string head = headOf(array);
  return files.write(index, {std::as_bytes(std::span(head)),
                             std::span(array.storage.data(), array.storage.size())});
}

Status ft::rt::writeNpy(const std::string &path, const HostArray &array) {
  OutputFiles files;
  FT_RT_TRY(files.open(path));
  FT_RT_TRY(writeNpy(files, 0, array));
  return files.commit();
}
