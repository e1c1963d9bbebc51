//===- Json.h - JSON values that know where they stand ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads JSON (with nlohmann's parser) into values with a line and a column, so
// that a wrong field is an error at its place. Objects keep their order.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_GRAPH_JSON_H
#define LIB_DATAFLOW_GRAPH_JSON_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ft::dataflow {

struct Place {
  unsigned line = 1, column = 1;
};

struct JsonValue {
  enum Kind { Null, Boolean, Integer, Real, String, Array, Object };
  Kind kind = Null;
  Place place;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<std::string> keys; // of an object, in order
  std::vector<JsonValue> items;  // of an array or an object

  /// The value of a key, or null.
  const JsonValue *find(std::string_view key) const;
};

/// "an object", "a string", …: what a value is, for messages.
const char *describe(JsonValue::Kind kind);

/// The value, or null and `FILE:LINE:COLUMN: error: …` in `error`. An integer beyond 64 bits, a key
/// that comes twice and nesting beyond 64 levels are errors.
std::unique_ptr<JsonValue> parseJson(std::string_view text, std::string_view file,
                                     std::string &error);

/// `FILE:LINE:COLUMN: error: MESSAGE`
std::string located(std::string_view file, Place place, std::string_view message);

} // namespace ft::dataflow

#endif // LIB_DATAFLOW_GRAPH_JSON_H
