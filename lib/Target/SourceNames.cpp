//===- SourceNames.cpp - names and lines of a program's text --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SourceNames.h"

#include "ft/Support/SourceText.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

std::optional<std::string> etdg::getArgumentName(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return named.getName().str();
  auto place = dyn_cast<FileLineColLoc>(location);
  if (!place || !llvm::sys::fs::is_regular_file(place.getFilename().getValue()))
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(place.getFilename().getValue(), /*IsText=*/true);
  if (!file)
    return std::nullopt;
  return ft::nameAt((*file)->getBuffer(), place.getLine(), place.getColumn());
}

std::string etdg::withArgumentNames(StringRef text, GraphOp graph) {
  static constexpr StringLiteral word = "argument ";
  std::string result;
  for (size_t at = 0; (at = text.find(word)) != StringRef::npos;) {
    StringRef rest = text.drop_front(at + word.size()), number = rest.take_while(llvm::isDigit);
    unsigned position = 0;
    std::optional<std::string> name;
    if (!number.getAsInteger(10, position) && position < graph.getNumArguments())
      name = getArgumentName(graph.getArgument(position).getLoc());
    result += text.take_front(at);
    result += name ? *name : (word + number).str();
    text = rest.drop_front(number.size());
  }
  return result + text.str();
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
