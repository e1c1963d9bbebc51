//===- InputLimits.cpp - Refuse hostile input before MLIR sees it ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A single pass over the characters, without recursion and with memory linear
// in the nesting it accepts. It need not understand MLIR: it only has to count
// at least as deep as the parser would recurse.
//
//===----------------------------------------------------------------------===//
#include "ft/Support/InputLimits.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace {

/// Elements of one shaped type beyond which its byte size no longer fits into
/// a signed 64-bit integer, whatever the element type (at most 16 bytes).
constexpr uint64_t kMaxElements = uint64_t(INT64_MAX) / 16;

class Scanner {
public:
  Scanner(MemoryBufferRef buffer, const mlir::ft::InputLimits &limits, raw_ostream &errors)
      : text(buffer.getBuffer()), name(buffer.getBufferIdentifier()), limits(limits),
        errors(errors) {}

  bool run();
  bool skipComment(size_t &i);
  bool takeString(size_t &i);
  bool takeWord(size_t &i);

private:
  char at(size_t i) const { return i < text.size() ? text[i] : '\0'; }
  static bool isIdentChar(char c) {
    return isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
  }

  bool error(size_t where, const Twine &message);
  void skipString(size_t &i);
  bool open(char c, size_t where);
  void close(char c);
  bool alias(size_t &i);
  bool shape(size_t i);
  bool integerList(StringRef keyword, size_t begin, size_t i);
  bool checkDepth(size_t where, unsigned extra);

  StringRef text, name;
  const mlir::ft::InputLimits &limits;
  raw_ostream &errors;

  /// Open brackets. A '<' with blanks on both sides is kept as '~': it may be
  /// a comparison (`1 <= j < D`), which nothing closes.
  SmallVector<char, 64> stack;
  /// Number of '~' on the stack; the rest of it is real nesting.
  unsigned loose = 0;

  /// Nesting of each alias, and the one being defined.
  StringMap<unsigned> aliasDepth;
  StringRef defining;
  unsigned definingDepth = 0;
  bool definitionHasToken = false;
};

bool Scanner::error(size_t where, const Twine &message) {
  StringRef before = text.take_front(where);
  size_t line = before.count('\n') + 1;
  size_t column = where - (before.rfind('\n') == StringRef::npos ? 0 : before.rfind('\n') + 1) + 1;
  errors << name << ':' << line << ':' << column << ": error: " << message << '\n';
  return false;
}

/// Leaves `i` after the closing quote, or at the end of the line when there
/// is none (the parser reports that).
void Scanner::skipString(size_t &i) {
  for (++i; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"') {
      ++i;
      return;
    }
  }
}

bool Scanner::checkDepth(size_t where, unsigned extra) {
  unsigned depth = stack.size() - loose + extra;
  if (!defining.empty())
    definingDepth = std::max(definingDepth, depth);
  if (limits.maxNesting && depth > limits.maxNesting)
    return error(where, "nesting deeper than " + Twine(limits.maxNesting) +
                            " (raise the limit with --max-nesting)");
  return true;
}

bool Scanner::open(char c, size_t where) {
  if (c == '<' && at(where + 1) == '=')
    return true;
  if (c == '<' && where && isSpace(text[where - 1]) && isSpace(at(where + 1))) {
    stack.push_back('~');
    // Still bounded, for a type may be written `tuple < tuple < ... > >`.
    if (limits.maxNesting && ++loose > 8 * limits.maxNesting)
      return error(where, "more than " + Twine(8 * limits.maxNesting) + " unclosed '<'");
    return true;
  }
  stack.push_back(c);
  return checkDepth(where, 0);
}

/// Closers are matched loosely, since `[0, N)` is an interval: ')' and ']'
/// close the innermost of '(' and '[', '}' closes up to its '{', '>' only '<'.
void Scanner::close(char c) {
  auto pop = [&] {
    if (stack.pop_back_val() == '~')
      --loose;
  };
  auto isAngle = [&] { return stack.back() == '<' || stack.back() == '~'; };
  if (c == '>') {
    if (!stack.empty() && isAngle())
      pop();
    return;
  }
  if (c == '}') {
    if (!llvm::is_contained(stack, '{'))
      return;
    while (stack.back() != '{')
      pop();
    pop();
    return;
  }
  size_t n = stack.size();
  while (n && (stack[n - 1] == '<' || stack[n - 1] == '~'))
    --n;
  if (!n || stack[n - 1] == '{')
    return;
  while (stack.size() >= n)
    pop();
}

/// At '!' or '#': a use of an alias is as deep as its definition, so a chain
/// of aliases cannot hide nesting.
bool Scanner::alias(size_t &i) {
  size_t begin = i, end = i + 1;
  while (isIdentChar(at(end)))
    ++end;
  i = end;
  StringRef id = text.slice(begin, end);
  size_t next = end;
  while (at(next) == ' ' || at(next) == '\t')
    ++next;
  if (stack.empty() && at(next) == '=' && at(next + 1) != '=') {
    if (!defining.empty())
      aliasDepth[defining] = definingDepth;
    defining = id;
    definingDepth = 1;
    definitionHasToken = false;
    i = next + 1;
    return true;
  }
  definitionHasToken = true;
  auto known = aliasDepth.find(id);
  if (known == aliasDepth.end())
    return true;
  return checkDepth(begin, known->second);
}

/// After the '<' of a shaped type: `4x?x8x` must not overflow.
bool Scanner::shape(size_t i) {
  uint64_t product = 1;
  size_t begin = i;
  for (;;) {
    size_t digits = i;
    bool bracket = at(i) == '[';
    i += bracket;
    uint64_t extent = 0;
    bool overflow = false;
    size_t first = i;
    for (; isDigit(at(i)); ++i) {
      extent = SaturatingMultiplyAdd<uint64_t>(extent, 10, at(i) - '0');
      overflow |= extent > uint64_t(INT64_MAX);
    }
    if (i == first && at(i) == '?')
      ++i, extent = 1;
    else if (i == first)
      return true;
    if (bracket && at(i) == ']')
      ++i;
    if (at(i) != 'x')
      return true;
    if (overflow)
      return error(digits, "extent does not fit into 63 bits");
    // A zero extent does not excuse the others: strides are products too.
    if (extent)
      product = SaturatingMultiply(product, extent);
    if (product > kMaxElements)
      return error(begin, "shape has more than " + Twine(kMaxElements) +
                              " elements, so its size in bytes overflows 64 bits");
    ++i;
  }
}

/// After `linalg.transpose ins(...) outs(...) permutation` and the like: MLIR 22's
/// parser of `= [1, 0]` goes on with a null attribute when the list is broken, and crashes.
bool Scanner::integerList(StringRef keyword, size_t begin, size_t i) {
  if (keyword != "permutation" && keyword != "dimensions")
    return true;
  size_t before = begin;
  while (before && isSpace(text[before - 1]))
    --before;
  if (!before || text[before - 1] != ')')
    return true; // an attribute of a dictionary
  auto skip = [&] {
    while (isSpace(at(i)) || (at(i) == '/' && at(i + 1) == '/'))
      i = isSpace(at(i)) ? i + 1 : std::min(text.find('\n', i), text.size());
  };
  auto expected = [&] { return error(i, "expected '" + keyword + " = [' and integers that fit 64 bits, then ']'"); };
  skip();
  if (at(i) != '=')
    return true; // the parser says so
  ++i;
  skip();
  if (at(i) != '[')
    return expected();
  ++i;
  skip();
  for (bool first = true; first || at(i) != ']'; first = false) {
    if (first && at(i) == ']')
      return true;
    if (!first) {
      if (at(i) != ',')
        return expected();
      ++i;
      skip();
    }
    i += at(i) == '-';
    size_t digits = i;
    while (isDigit(at(i)))
      ++i;
    if (i == digits || i - digits > 18)
      return expected();
    skip();
  }
  return true;
}

/// After a comment; no NUL byte is in it.
bool Scanner::skipComment(size_t &i) {
  size_t eol = text.find('\n', i);
  size_t end = eol == StringRef::npos ? text.size() : eol;
  if (size_t nul = text.slice(i, end).find('\0'); nul != StringRef::npos)
    return error(i + nul, "unexpected NUL byte");
  i = end;
  return true;
}

/// After a text in quotes.
bool Scanner::takeString(size_t &i) {
  size_t begin = i;
  skipString(i);
  i = std::min(i, text.size());
  if (size_t nul = text.slice(begin, i).find('\0'); nul != StringRef::npos)
    return error(begin + nul, "unexpected NUL byte");
  definitionHasToken = true;
  return true;
}

/// After a word, and the list of numbers that may follow it.
bool Scanner::takeWord(size_t &i) {
  // A keyword outside all brackets starts the next operation.
  if (stack.empty() && !defining.empty() && definitionHasToken) {
    aliasDepth[defining] = definingDepth;
    defining = StringRef();
  }
  definitionHasToken = true;
  size_t begin = i;
  while (isIdentChar(at(i)) && !(at(i) == '-' && at(i + 1) == '>'))
    ++i;
  return integerList(text.slice(begin, i), begin, i);
}

bool Scanner::run() {
  if (limits.maxBytes && text.size() > limits.maxBytes)
    return error(0, "input has " + Twine(text.size()) + " bytes, more than the limit of " +
                        Twine(limits.maxBytes));
  unsigned minuses = 0;
  bool anyToken = false;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '\0')
      return error(i, "unexpected NUL byte");
    if (isSpace(c)) {
      ++i;
      continue;
    }
    if (c == '/' && at(i + 1) == '/') {
      if (!skipComment(i))
        return false;
      continue;
    }
    anyToken = true;
    // `- - - d0` is parsed by recursion too.
    if (c == '-' && at(i + 1) != '>') {
      if (limits.maxNesting && ++minuses > limits.maxNesting)
        return error(i, "more than " + Twine(limits.maxNesting) + " consecutive '-'");
      ++i;
      continue;
    }
    minuses = 0;
    switch (c) {
    case '"':
      if (!takeString(i))
        return false;
      continue;
    case '-': // "->", whose '>' closes nothing
      i += 2;
      continue;
    case '(':
    case '[':
    case '{':
    case '<':
      if (!open(c, i))
        return false;
      if (c == '<' && !shape(i + 1))
        return false;
      definitionHasToken = true;
      break;
    case ')':
    case ']':
    case '}':
      close(c);
      break;
    case '>':
      if (at(i + 1) != '=')
        close(c);
      break;
    case '!':
    case '#':
      if (!alias(i))
        return false;
      continue;
    default:
      if (isAlpha(c) || c == '_') {
        if (!takeWord(i))
          return false;
        continue;
      }
    }
    ++i;
  }
  if (!anyToken)
    return error(0, "the input is empty");
  return true;
}

} // namespace

bool mlir::ft::checkInput(MemoryBufferRef buffer, const InputLimits &limits, raw_ostream &errors) {
  // The magic number of MLIR bytecode ("ML\xefR").
  if (buffer.getBuffer().starts_with("ML\xef\x52")) {
    if (limits.allowBytecode)
      return true;
    errors << buffer.getBufferIdentifier()
           << ":1:1: error: MLIR bytecode is not hardened against malformed input; pass "
              "--allow-unsafe-bytecode if you trust this file\n";
    return false;
  }
  return Scanner(buffer, limits, errors).run();
}
