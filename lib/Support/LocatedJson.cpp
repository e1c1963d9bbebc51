//===- LocatedJson.cpp - JSON that knows where it stands ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nlohmann's parser tells its events, but not where: the iterator by which it
// reads counts for it.
//
//===----------------------------------------------------------------------===//

#include "ft/Support/LocatedJson.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <iterator>
#include <nlohmann/json.hpp>

using namespace mlir::ft;

char FileError::ID = 0;

void FileError::log(llvm::raw_ostream &os) const {
  os << file << ':' << at.line << ':' << at.column << ": error: " << what;
}

const LocatedJson *LocatedJson::find(llvm::StringRef name) const {
  for (const Member &member : members)
    if (member.name == name)
      return &member.value;
  return nullptr;
}

llvm::StringRef LocatedJson::describeKind() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Boolean:
    return boolean ? "true" : "false";
  case Kind::Number:
    return "a number";
  case Kind::String:
    return "a string";
  case Kind::Array:
    return "a list";
  case Kind::Object:
    return "an object";
  }
  return "a value";
}

namespace {
/// Reads the text and tells how far it came.
class Cursor {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  Cursor(const char *at, const char **furthest) : at(at), furthest(furthest) {}
  reference operator*() const { return *at; }
  Cursor &operator++() {
    *furthest = ++at;
    return *this;
  }
  Cursor operator++(int) {
    Cursor old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Cursor &other) const { return at == other.at; }
  bool operator!=(const Cursor &other) const { return at != other.at; }

private:
  const char *at;
  const char **furthest;
};

/// Takes the parser's events; the functions that it calls have its names.
class TreeBuilder {
public:
  using Json = nlohmann::json;

  TreeBuilder(llvm::StringRef text, llvm::StringRef file)
      : text(text), file(file), tokenEnd(text.begin()), furthest(text.begin()) {}

  llvm::Expected<LocatedJson> run() {
    bool good = Json::sax_parse(Cursor(text.begin(), &furthest), Cursor(text.end(), &furthest), this);
    if (!good)
      return llvm::make_error<FileError>(file, failedAt, failure);
    return std::move(root);
  }

  bool null() { return add(LocatedJson::Kind::Null); }
  bool boolean(bool value) {
    LocatedJson *json = add(LocatedJson::Kind::Boolean);
    json->boolean = value;
    return true;
  }
  bool number_integer(int64_t value) { return integer(value, double(value), true); }
  bool number_unsigned(uint64_t value) {
    return integer(int64_t(value), double(value), value <= uint64_t(INT64_MAX));
  }
  bool number_float(double value, const std::string &) { return integer(0, value, false); }
  bool string(std::string &value) {
    add(LocatedJson::Kind::String)->text = std::move(value);
    return true;
  }
  bool binary(Json::binary_t &) { return false; } // JSON texts have none
  bool start_object(size_t) { return open(LocatedJson::Kind::Object); }
  bool start_array(size_t) { return open(LocatedJson::Kind::Array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string &name) {
    TextPosition at = positionOf(skipToToken());
    tokenEnd = furthest;
    LocatedJson &object = *around.back();
    if (!names.back().insert(name).second)
      return fail(at, "'" + name + "' stands twice in one object");
    object.members.push_back({std::move(name), at, {}});
    return true;
  }
  bool parse_error(size_t position, const std::string &, const Json::exception &error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what is wrong".
    llvm::StringRef what = error.what();
    if (size_t colon = what.find("column "); colon != llvm::StringRef::npos)
      what = what.substr(what.find(": ", colon) + 2);
    else if (size_t bracket = what.find("] "); bracket != llvm::StringRef::npos)
      what = what.substr(bracket + 2);
    size_t offset = std::min(position ? position - 1 : 0, text.size());
    return fail(positionOf(text.begin() + offset), "no JSON: " + what);
  }

private:
  bool fail(TextPosition at, const llvm::Twine &what) {
    failedAt = at;
    failure = what.str();
    return false;
  }

  TextPosition positionOf(const char *at) {
    // Places are asked in the order of the text.
    if (at < counted) {
      counted = lineBegin = text.begin();
      line = 1;
    }
    for (; counted < at; ++counted)
      if (*counted == '\n') {
        ++line;
        lineBegin = counted + 1;
      }
    return {line, unsigned(at - lineBegin) + 1};
  }

  /// Where the token begins that the parser has just read.
  const char *skipToToken() {
    const char *at = tokenEnd;
    while (at < text.end() && (llvm::isSpace(*at) || *at == ',' || *at == ':'))
      ++at;
    return at;
  }

  LocatedJson *add(LocatedJson::Kind kind) {
    const char *begin = skipToToken();
    LocatedJson *into = &root;
    if (!around.empty() && around.back()->kind == LocatedJson::Kind::Object)
      into = &around.back()->members.back().value;
    else if (!around.empty())
      into = &around.back()->items.emplace_back();
    into->kind = kind;
    into->at = positionOf(begin);
    // A number ends where the parser has already read on.
    tokenEnd = furthest;
    if (kind == LocatedJson::Kind::Number)
      for (tokenEnd = begin; tokenEnd < text.end() && (llvm::isAlnum(*tokenEnd) || llvm::StringRef("+-.").contains(*tokenEnd));)
        ++tokenEnd;
    return into;
  }

  bool integer(int64_t value, double number, bool exact) {
    LocatedJson *json = add(LocatedJson::Kind::Number);
    json->number = number;
    json->isInteger = exact;
    json->integer = exact ? value : 0;
    return true;
  }

  bool open(LocatedJson::Kind kind) {
    LocatedJson *json = add(kind);
    if (around.size() == LocatedJson::mostDepth)
      return fail(json->at, "values lie more than " + llvm::Twine(LocatedJson::mostDepth) + " deep inside each other");
    around.push_back(json);
    names.emplace_back();
    return true;
  }
  bool close() {
    tokenEnd = furthest;
    around.pop_back();
    names.pop_back();
    return true;
  }

  llvm::StringRef text, file;
  const char *tokenEnd, *furthest;
  const char *counted = text.begin(), *lineBegin = text.begin();
  unsigned line = 1;
  LocatedJson root;
  /// Objects and lists around the current place. (A list's items move when it grows, but only
  /// while none of them is open.)
  std::vector<LocatedJson *> around;
  std::vector<llvm::StringSet<>> names;
  TextPosition failedAt;
  std::string failure = "no JSON";
};
} // namespace

llvm::Expected<LocatedJson> LocatedJson::parse(llvm::StringRef text, llvm::StringRef file) {
  if (text.size() > mostBytes)
    return llvm::make_error<FileError>(file, TextPosition(),
                                       "expected at most " + llvm::Twine(mostBytes) + " bytes, found " +
                                           llvm::Twine(text.size()));
  return TreeBuilder(text, file).run();
}

llvm::Expected<LocatedJson> LocatedJson::load(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), path + ": error: can't read it: " + buffer.getError().message());
  return parse((*buffer)->getBuffer(), path);
}
