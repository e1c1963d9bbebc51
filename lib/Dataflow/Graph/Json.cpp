//===- Json.cpp - JSON values that know where they stand ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace ft::dataflow;

const JsonValue *JsonValue::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &items[i];
  return nullptr;
}

const char *ft::dataflow::describe(JsonValue::Kind kind) {
  static const char *const names[] = {"null",     "a boolean", "an integer", "a number",
                                      "a string", "an array",  "an object"};
  return names[kind];
}

std::string ft::dataflow::located(std::string_view file, Place place, std::string_view message) {
  return std::string(file) + ":" + std::to_string(place.line) + ":" +
         std::to_string(place.column) + ": error: " + std::string(message);
}

namespace {

/// The characters, counted as the parser takes them.
class Counted {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  Counted(const char *at, size_t *taken) : at(at), taken(taken) {}
  reference operator*() const { return *at; }
  Counted &operator++() {
    ++at;
    if (taken)
      ++*taken;
    return *this;
  }
  Counted operator++(int) {
    Counted before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Counted &other) const { return at == other.at; }
  bool operator!=(const Counted &other) const { return at != other.at; }

private:
  const char *at;
  size_t *taken;
};

class Builder {
public:
  using number_integer_t = int64_t;
  using number_unsigned_t = uint64_t;
  using number_float_t = double;
  using string_t = std::string;
  using binary_t = nlohmann::json::binary_t;

  Builder(std::string_view text, std::string_view file, const size_t &taken)
      : source(text), file(file), taken(taken), root(std::make_unique<JsonValue>()) {}

  bool null() { return put(JsonValue::Null, 4) != nullptr; }
  bool boolean(bool value) {
    JsonValue *at = put(JsonValue::Boolean, value ? 4 : 5);
    return at && (at->boolean = value, true);
  }
  bool number_integer(int64_t value) { return integer(value); }
  bool number_unsigned(uint64_t value) {
    if (value > uint64_t(INT64_MAX))
      return fail("expected an integer of 64 bits");
    return integer(int64_t(value));
  }
  bool number_float(double value, const std::string &text) {
    // An integer that did not fit comes here.
    if (text.find_first_of(".eE") == std::string::npos)
      return fail("expected an integer of 64 bits, found " + text);
    JsonValue *at = put(JsonValue::Real, 0);
    return at && (at->real = value, true);
  }
  bool string(std::string &value) {
    JsonValue *at = put(JsonValue::String, value.size() + 2);
    return at && (at->text = value, true);
  }
  bool binary(binary_t &) { return false; }
  bool start_object(size_t) { return open(JsonValue::Object); }
  bool start_array(size_t) { return open(JsonValue::Array); }
  bool end_object() { return stack.pop_back(), true; }
  bool end_array() { return stack.pop_back(), true; }
  bool key(std::string &value) {
    JsonValue &object = *stack.back();
    if (object.find(value))
      return fail("key '" + value + "' comes twice");
    object.keys.push_back(value);
    return true;
  }
  template <typename Error>
  bool parse_error(size_t position, const std::string &token, const Error &) {
    taken_ = std::min(position, source.size());
    return fail(token.empty() || position >= source.size()
                    ? "expected more JSON, found the end"
                    : "expected JSON, found '" + shorten(token) + "'");
  }

  std::unique_ptr<JsonValue> take(std::string &into) {
    into = error;
    return error.empty() ? std::move(root) : nullptr;
  }

private:
  static std::string shorten(const std::string &token) {
    return token.size() > 40 ? token.substr(0, 40) + "..." : token;
  }

  bool integer(int64_t value) {
    JsonValue *at = put(JsonValue::Integer, 0);
    return at && (at->integer = value, at->real = double(value), true);
  }

  /// Where the token begins that ends before what was taken.
  Place placeOf() const {
    size_t end = std::min(taken_ != size_t(-1) ? taken_ : taken, source.size());
    // Back over what ended a number, then over the token.
    size_t begin = end;
    auto isSpace = [&](size_t i) { return std::string_view(" \t\r\n,]}:").find(source[i]) != std::string_view::npos; };
    while (begin > 0 && isSpace(begin - 1))
      --begin;
    if (begin > 0 && source[begin - 1] == '"') {
      --begin;
      while (begin > 0 && (source[begin - 1] != '"' || (begin > 1 && source[begin - 2] == '\\')))
        --begin;
      begin -= begin > 0;
    } else if (begin > 0) {
      --begin;
      while (begin > 0 && !isSpace(begin - 1) && source[begin] != '{' && source[begin] != '[')
        --begin;
    }
    Place place;
    for (size_t i = 0; i < begin && i < source.size(); ++i)
      if (source[i] == '\n')
        ++place.line, place.column = 1;
      else
        ++place.column;
    return place;
  }

  bool fail(const std::string &message) {
    if (error.empty())
      error = located(file, placeOf(), message);
    return false;
  }

  JsonValue *put(JsonValue::Kind kind, size_t) {
    JsonValue *at = root.get();
    if (!stack.empty()) {
      stack.back()->items.emplace_back();
      at = &stack.back()->items.back();
    }
    at->kind = kind;
    at->place = placeOf();
    return at;
  }

  bool open(JsonValue::Kind kind) {
    if (stack.size() >= 64)
      return fail("expected at most 64 levels of nesting");
    JsonValue *at = put(kind, 1);
    stack.push_back(at);
    return true;
  }

  std::string_view source, file;
  const size_t &taken;
  size_t taken_ = size_t(-1);
  std::unique_ptr<JsonValue> root;
  std::vector<JsonValue *> stack;
  std::string error;
};

} // namespace

std::unique_ptr<JsonValue> ft::dataflow::parseJson(std::string_view text, std::string_view file,
                                                   std::string &error) {
  size_t taken = 0;
  Builder builder(text, file, taken);
  nlohmann::json::sax_parse(Counted(text.data(), &taken), Counted(text.data() + text.size(), nullptr),
                            &builder);
  return builder.take(error);
}
