//===- TextCursor.h - text that is read from the left -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_RUNTIME_ARRAYS_TEXTCURSOR_H
#define LIB_RUNTIME_ARRAYS_TEXTCURSOR_H

#include <cctype>
#include <string_view>

namespace ft::rt {

/// What is left of a text.
struct TextCursor {
  std::string_view rest;

  void skipSpace() {
    while (!rest.empty() && isspace((unsigned char)rest[0]))
      rest.remove_prefix(1);
  }
  /// Takes the character after space, if it comes next.
  bool eat(char c) {
    skipSpace();
    if (rest.empty() || rest[0] != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }
};

} // namespace ft::rt

#endif // LIB_RUNTIME_ARRAYS_TEXTCURSOR_H
