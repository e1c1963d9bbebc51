//===- SourceText.cpp - what stands at a place of a text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Support/SourceText.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

/// Of a text, the line of this number from a column on; empty where there is none.
static StringRef textAt(StringRef text, unsigned line, unsigned column) {
  for (unsigned i = 1; i < line; ++i)
    text = text.split('\n').second;
  return text.split('\n').first.drop_front(std::min<size_t>(column ? column - 1 : 0, text.split('\n').first.size()));
}

std::optional<std::string> mlir::ft::nameAt(StringRef text, unsigned line, unsigned column) {
  text = textAt(text, line, column);
  if (!text.consume_front("%"))
    return std::nullopt;
  StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; });
  if (name.empty())
    return std::nullopt;
  return name.str();
}
