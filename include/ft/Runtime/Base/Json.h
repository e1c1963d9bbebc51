//===- Json.h - strict JSON for bundle manifests ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RFC 8259, and no more: no comments, no trailing commas, no duplicate keys, no
// text after the value, valid UTF-8. Integers that fit 64 bits stay exact; others
// are refused. Text may come from anywhere: its size, its depth and the number of
// its values are bounded. Objects keep the order of their keys, so that writing
// is deterministic.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BASE_JSON_H
#define FT_RUNTIME_BASE_JSON_H

#include "ft/Runtime/Base/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace ft::rt {

class Json {
public:
  enum Kind : uint8_t { null, boolean, integer, real, string, array, object };

  Json() = default;
  Json(bool value) : theKind(boolean), theInteger(value) {}
  Json(int value) : theKind(integer), theInteger(value) {}
  Json(int64_t value) : theKind(integer), theInteger(value) {}
  /// JSON has no infinities and NaN: they become null.
  Json(double value);
  Json(const char *value) : theKind(string), theString(value) {}
  Json(std::string value) : theKind(string), theString(std::move(value)) {}
  Json(std::string_view value) : theKind(string), theString(value) {}
  static Json makeArray() { return Json(array); }
  static Json makeObject() { return Json(object); }

  Kind kind() const { return theKind; }
  bool isInteger() const { return theKind == integer; }
  bool isString() const { return theKind == string; }
  bool isArray() const { return theKind == array; }
  bool isObject() const { return theKind == object; }
  bool isBool() const { return theKind == boolean; }

  /// The values; zero or empty where the kind is another.
  bool asBool() const { return theKind == boolean && theInteger; }
  int64_t asInteger() const { return theKind == integer ? theInteger : 0; }
  double asReal() const { return theKind == real ? theReal : double(asInteger()); }
  const std::string &asString() const { return theString; }
  /// Elements of an array, or values of an object in order.
  const std::vector<Json> &items() const { return theItems; }
  const std::vector<std::string> &keys() const { return theKeys; }
  size_t size() const { return theItems.size(); }
  const Json &operator[](size_t index) const { return theItems[index]; }
  /// The member, or null if there is none.
  const Json *find(std::string_view key) const;

  Json &push(Json value) {
    theItems.push_back(std::move(value));
    return *this;
  }
  /// Adds a member; the key must be new.
  Json &set(std::string key, Json value) {
    theKeys.push_back(std::move(key));
    theItems.push_back(std::move(value));
    return *this;
  }

  /// Text with two spaces of indentation, or on one line.
  std::string dump(bool pretty = true) const;

  /// Limits of text that is read.
  static constexpr size_t maxBytes = size_t(64) << 20, maxValues = size_t(4) << 20, maxDepth = 200;
  /// In time linear in the text. The error says line and column.
  static Status parse(std::string_view text, Json &out);

private:
  explicit Json(Kind kind) : theKind(kind) {}

  Kind theKind = null;
  int64_t theInteger = 0;
  double theReal = 0;
  std::string theString;
  std::vector<Json> theItems;
  std::vector<std::string> theKeys;
};

} // namespace ft::rt

#endif // FT_RUNTIME_BASE_JSON_H
