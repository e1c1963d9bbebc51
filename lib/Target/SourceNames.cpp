//===- SourceNames.cpp - names and lines of a program's text --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SourceNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

/// Of a text, the line of this number (from 1) from a column (from 1) on; empty where there is none.
static StringRef textAt(StringRef text, unsigned line, unsigned column) {
  for (unsigned i = 1; i < line; ++i)
    text = text.split('\n').second;
  return text.split('\n').first.drop_front(std::min<size_t>(column ? column - 1 : 0, text.split('\n').first.size()));
}

std::optional<std::string> etdg::getSourceName(Location location) {
  auto place = dyn_cast<FileLineColLoc>(location);
  if (!place || !llvm::sys::fs::is_regular_file(place.getFilename().getValue()))
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(place.getFilename().getValue(), /*IsText=*/true);
  if (!file)
    return std::nullopt;
  StringRef text = textAt((*file)->getBuffer(), place.getLine(), place.getColumn());
  if (!text.consume_front("%"))
    return std::nullopt;
  StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; });
  if (name.empty())
    return std::nullopt;
  return name.str();
}

std::optional<unsigned> etdg::getSourceLine(Location location) {
  std::optional<unsigned> line;
  location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place || place.getLine() == 0)
      return WalkResult::advance();
    line = place.getLine();
    return WalkResult::interrupt();
  });
  return line;
}
