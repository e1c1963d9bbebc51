//===- Json.cpp - strict JSON for bundle manifests ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace ft::rt;

static constexpr int maxDepth = 200;

Json::Json(double value) : theKind(std::isfinite(value) ? real : null), theReal(value) {}

const Json *Json::find(std::string_view key) const {
  if (theKind == object)
    for (size_t i = 0; i < theKeys.size(); ++i)
      if (theKeys[i] == key)
        return &theItems[i];
  return nullptr;
}

static void printString(std::string &out, std::string_view text) {
  out += '"';
  for (char c : text) {
    switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      if ((unsigned char)c < 0x20) {
        out += "\\u00";
        out += "0123456789abcdef"[c >> 4];
        out += "0123456789abcdef"[c & 15];
      } else {
        out += c;
      }
    }
  }
  out += '"';
}

void Json::print(std::string &out, int indent) const {
  char text[32];
  switch (theKind) {
  case null:
    out += "null";
    return;
  case boolean:
    out += theInteger ? "true" : "false";
    return;
  case integer:
    out += std::to_string(theInteger);
    return;
  case real: {
    std::string_view digits(text, size_t(std::to_chars(text, text + 32, theReal).ptr - text));
    out += digits;
    if (digits.find_first_of(".e") == digits.npos)
      out += ".0"; // so that it reads back as a real
    return;
  }
  case string:
    printString(out, theString);
    return;
  case array:
  case object:
    break;
  }
  bool isList = theKind == array;
  bool flat = indent < 0 || theItems.empty() ||
              (isList && theItems.size() <= 16 &&
               std::none_of(
                   theItems.begin(), theItems.end(),
                   [](const Json &item) {
                     return item.theKind == object || (item.theKind == array && item.size() > 8);
                   }));
  out += isList ? '[' : '{';
  for (size_t i = 0; i < theItems.size(); ++i) {
    if (i)
      out += flat && indent >= 0 ? ", " : ",";
    if (!flat) {
      out += '\n';
      out.append(size_t(indent + 2), ' ');
    }
    if (!isList) {
      printString(out, theKeys[i]);
      out += indent < 0 ? ":" : ": ";
    }
    theItems[i].print(out, indent < 0 ? indent : indent + 2);
  }
  if (!flat) {
    out += '\n';
    out.append(size_t(indent), ' ');
  }
  out += isList ? ']' : '}';
}

std::string Json::dump(bool pretty) const {
  std::string out;
  print(out, pretty ? 0 : -1);
  if (pretty)
    out += '\n';
  return out;
}

namespace {
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Status run(Json &out) {
    Json value;
    if (parseValue(value, 0)) {
      skipSpace();
      if (at == text.size()) {
        out = std::move(value);
        return {};
      }
      fail("unexpected text after the value");
    }
    size_t line = 1, column = 1;
    for (char c : text.substr(0, errorAt)) {
      ++column;
      if (c == '\n')
        ++line, column = 1;
    }
    return Status::error(Code::corrupt, "JSON, line " + std::to_string(line) + ", column " +
                                            std::to_string(column) + ": " + error);
  }

private:
  bool fail(const char *why) {
    if (!error) {
      error = why;
      errorAt = at;
    }
    return false;
  }
  void skipSpace() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool eat(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool eatWord(std::string_view word) {
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  bool parseValue(Json &out, int depth) {
    skipSpace();
    if (depth > maxDepth)
      return fail("nested too deeply");
    if (at >= text.size())
      return fail("unexpected end of text");
    switch (text[at]) {
    case '{':
      return parseObject(out, depth);
    case '[':
      return parseArray(out, depth);
    case '"': {
      std::string value;
      if (!parseString(value))
        return false;
      out = Json(std::move(value));
      return true;
    }
    case 't':
      out = Json(true);
      return eatWord("true") || fail("expected a value");
    case 'f':
      out = Json(false);
      return eatWord("false") || fail("expected a value");
    case 'n':
      out = Json();
      return eatWord("null") || fail("expected a value");
    default:
      return parseNumber(out);
    }
  }

  bool parseArray(Json &out, int depth) {
    ++at;
    out = Json::makeArray();
    if (eat(']'))
      return true;
    do {
      Json item;
      if (!parseValue(item, depth + 1))
        return false;
      out.push(std::move(item));
    } while (eat(','));
    return eat(']') || fail("expected ',' or ']'");
  }

  bool parseObject(Json &out, int depth) {
    ++at;
    out = Json::makeObject();
    if (eat('}'))
      return true;
    do {
      skipSpace();
      std::string key;
      Json value;
      if (at >= text.size() || text[at] != '"')
        return fail("expected a key");
      if (!parseString(key))
        return false;
      if (out.find(key))
        return fail("duplicate key");
      if (!eat(':'))
        return fail("expected ':'");
      if (!parseValue(value, depth + 1))
        return false;
      out.set(std::move(key), std::move(value));
    } while (eat(','));
    return eat('}') || fail("expected ',' or '}'");
  }

  bool digits() {
    size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at > start;
  }

  bool parseNumber(Json &out) {
    size_t start = at;
    bool isReal = false;
    if (at < text.size() && text[at] == '-')
      ++at;
    size_t first = at;
    if (!digits())
      return fail("expected a value");
    if (text[first] == '0' && at > first + 1)
      return fail("a number with a leading zero");
    if (at < text.size() && text[at] == '.') {
      ++at;
      isReal = true;
      if (!digits())
        return fail("expected a digit");
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
      ++at;
      isReal = true;
      if (at < text.size() && (text[at] == '+' || text[at] == '-'))
        ++at;
      if (!digits())
        return fail("expected a digit");
    }
    const char *begin = text.data() + start, *end = text.data() + at;
    if (isReal) {
      double value = 0;
      if (std::from_chars(begin, end, value).ec != std::errc())
        return fail("a number out of range");
      out = Json(value);
      return true;
    }
    int64_t value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc())
      return fail("an integer out of range");
    out = Json(value);
    return true;
  }

  bool parseHex4(uint32_t &out) {
    if (text.size() - at < 4)
      return fail("expected four hexadecimal digits");
    auto [end, code] = std::from_chars(text.data() + at, text.data() + at + 4, out, 16);
    if (code != std::errc() || end != text.data() + at + 4)
      return fail("expected four hexadecimal digits");
    at += 4;
    return true;
  }

  static void appendUtf8(std::string &out, uint32_t c) {
    if (c < 0x80) {
      out += char(c);
      return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out += char((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | (c >> (6 * more)));
    while (more-- > 0)
      out += char(0x80 | (c >> (6 * more) & 0x3f));
  }

  bool parseEscape(std::string &out) {
    if (at >= text.size())
      return fail("unterminated string");
    char c = text[at++];
    static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (size_t which = names.find(c); which != names.npos) {
      out += values[which];
      return true;
    }
    if (c != 'u')
      return fail("unknown escape");
    uint32_t unit = 0;
    if (!parseHex4(unit))
      return false;
    if (unit >= 0xdc00 && unit < 0xe000)
      return fail("a lone surrogate");
    if (unit >= 0xd800 && unit < 0xdc00) {
      uint32_t low = 0;
      if (!eatWord("\\u"))
        return fail("a lone surrogate");
      if (!parseHex4(low))
        return false;
      if (low < 0xdc00 || low >= 0xe000)
        return fail("a lone surrogate");
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    appendUtf8(out, unit);
    return true;
  }

  /// One well-formed UTF-8 sequence: no overlong form, no surrogate.
  bool parseUtf8(std::string &out) {
    unsigned char lead = (unsigned char)text[at];
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - at < length)
      return fail("malformed UTF-8");
    uint32_t value = lead & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i) {
      unsigned char next = (unsigned char)text[at + i];
      if ((next & 0xc0) != 0x80)
        return fail("malformed UTF-8");
      value = value << 6 | (next & 0x3f);
    }
    static constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
      return fail("malformed UTF-8");
    out += text.substr(at, length);
    at += length;
    return true;
  }

  bool parseString(std::string &out) {
    ++at;
    while (at < text.size()) {
      unsigned char c = (unsigned char)text[at];
      if (c == '"') {
        ++at;
        return true;
      }
      if (c < 0x20)
        return fail("a control character in a string");
      if (c == '\\') {
        ++at;
        if (!parseEscape(out))
          return false;
      } else if (c >= 0x80) {
        if (!parseUtf8(out))
          return false;
      } else {
        out += char(c);
        ++at;
      }
    }
    return fail("unterminated string");
  }

  std::string_view text;
  size_t at = 0, errorAt = 0;
  const char *error = nullptr;
};
} // namespace

Status Json::parse(std::string_view text, Json &out) { return Parser(text).run(out); }
