//===- Json.cpp - JSON for bundle manifests -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text is read and written by nlohmann's library, which checks the grammar and
// UTF-8 without recursion. What is added here are the limits that untrusted
// input needs, and what the library lets pass: equal keys, bytes after a NUL,
// and integers that 64 bits do not hold.
//
//===----------------------------------------------------------------------===//
#include "ft/Runtime/Base/Json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

using namespace ft::rt;
using Library = nlohmann::ordered_json;

Json::Json(double value) : theKind(std::isfinite(value) ? real : null), theReal(value) {}

const Json *Json::find(std::string_view key) const {
  if (theKind == object)
    for (size_t i = 0; i < theKeys.size(); ++i)
      if (theKeys[i] == key)
        return &theItems[i];
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Library toLibrary(const Json &json) {
  switch (json.kind()) {
  case Json::null:
    return nullptr;
  case Json::boolean:
    return json.asBool();
  case Json::integer:
    return json.asInteger();
  case Json::real:
    return json.asReal();
  case Json::string:
    return json.asString();
  case Json::array: {
    Library list = Library::array();
    for (const Json &item : json.items())
      list.push_back(toLibrary(item));
    return list;
  }
  case Json::object:
    break;
  }
  // Not by operator[], which would look each key up.
  Library members = Library::object();
  auto &list = members.get_ref<Library::object_t &>();
  list.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i)
    list.emplace_back(json.keys()[i], toLibrary(json[i]));
  return members;
}

std::string Json::dump(bool pretty) const {
  // Text that is no UTF-8, such as a file's name, is written with the mark for what cannot be read.
  std::string text = toLibrary(*this).dump(pretty ? 2 : -1, ' ', /*ensure_ascii=*/false,
                                           Library::error_handler_t::replace);
  return pretty ? text + '\n' : text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Builds the value from the library's events; false ends the reading.
class Builder : public nlohmann::json_sax<Library> {
public:
  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(int64_t value) override { return add(Json(value)); }
  bool number_unsigned(uint64_t value) override {
    return value <= uint64_t(INT64_MAX) ? add(Json(int64_t(value)))
                                        : fail("an integer out of range");
  }
  bool number_float(double value, const std::string &text) override {
    // The library reads an integer of more than 64 bits as a number that is near it.
    return text.find_first_of(".eE") == text.npos ? fail("an integer out of range")
                                                  : add(Json(value));
  }
  bool string(std::string &value) override { return add(Json(std::move(value))); }
  bool binary(Library::binary_t &) override { return fail("binary data"); }
  bool start_object(size_t) override { return open(Json::makeObject()); }
  bool start_array(size_t) override { return open(Json::makeArray()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string &name) override {
    if (!levels.back().keys.insert(name).second)
      return fail("duplicate key \"" + name + "\"");
    levels.back().key = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    errorAt = position;
    return fail("malformed");
  }

  Json result;
  std::string error;
  size_t errorAt = SIZE_MAX; // bytes read where the grammar is violated

private:
  struct Level {
    Json value;
    std::string key;                      // of the member that comes next
    std::unordered_set<std::string> keys; // of an object
  };

  bool fail(std::string why) {
    if (error.empty())
      error = std::move(why);
    return false;
  }
  bool count() {
    return ++values <= Json::maxValues ||
           fail("more than " + std::to_string(Json::maxValues) + " values");
  }
  bool open(Json value) {
    if (levels.size() >= Json::maxDepth)
      return fail("nested too deeply: more than " + std::to_string(Json::maxDepth) + " levels");
    if (!count())
      return false;
    levels.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Json value = std::move(levels.back().value);
    levels.pop_back();
    place(std::move(value));
    return true;
  }
  bool add(Json value) {
    if (!count())
      return false;
    place(std::move(value));
    return true;
  }
  void place(Json value) {
    if (levels.empty())
      result = std::move(value);
    else if (levels.back().value.isArray())
      levels.back().value.push(std::move(value));
    else
      levels.back().value.set(std::move(levels.back().key), std::move(value));
  }

  std::vector<Level> levels;
  size_t values = 0;
};
} // namespace

/// What is wrong there: the byte, as it stands or as a number, or that there is none.
static std::string describeByte(std::string_view text, size_t bytesRead) {
  if (bytesRead == 0 || bytesRead > text.size())
    return "unexpected end of text";
  auto byte = static_cast<unsigned char>(text[bytesRead - 1]);
  if (byte > 0x20 && byte < 0x7f)
    return "unexpected '" + std::string(1, char(byte)) + "'";
  return "unexpected byte " + std::to_string(byte);
}

/// ", line 3, column 5" of the last byte that was read.
static std::string placeOf(std::string_view text, size_t bytesRead) {
  if (bytesRead > text.size() + 1)
    return "";
  size_t line = 1, column = 1;
  for (char c : text.substr(0, bytesRead ? bytesRead - 1 : 0)) {
    ++column;
    if (c == '\n')
      ++line, column = 1;
  }
  return ", line " + std::to_string(line) + ", column " + std::to_string(column);
}

Status Json::parse(std::string_view text, Json &out) {
  auto refuse = [](const std::string &place, const std::string &why) {
    return Status::error(Code::corrupt, "JSON" + place + ": " + why);
  };
  if (text.size() > maxBytes)
    return refuse("", "more than " + std::to_string(maxBytes) + " bytes of text");
  // The library takes a NUL for the end of the text.
  if (size_t nul = text.find('\0'); nul != text.npos)
    return refuse(placeOf(text, nul + 1), "a NUL byte");
  Builder builder;
  if (!Library::sax_parse(text.begin(), text.end(), &builder))
    return refuse(placeOf(text, builder.errorAt), builder.errorAt == SIZE_MAX
                                                      ? builder.error
                                                      : describeByte(text, builder.errorAt));
  out = std::move(builder.result);
  return {};
}
