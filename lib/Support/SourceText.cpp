//===- SourceText.cpp - what stands at a place of a text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Support/SourceText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using llvm::StringRef;

std::optional<std::string> mlir::ft::nameAt(StringRef text, unsigned line, unsigned column) {
  llvm::SourceMgr sources;
  unsigned number = sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "", /*RequiresNullTerminator=*/false), llvm::SMLoc());
  llvm::SMLoc place = line > 0 ? sources.FindLocForLineAndColumn(number, line, column) : llvm::SMLoc();
  if (!place.isValid())
    return std::nullopt;
  text = text.drop_front(size_t(place.getPointer() - text.data()));
  if (!text.consume_front("%"))
    return std::nullopt;
  StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; });
  if (name.empty())
    return std::nullopt;
  return name.str();
}
