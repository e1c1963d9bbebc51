//===- SourceMessages.cpp - messages of bounded length --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Tools/SourceMessages.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ft;

/// Columns of a line that is shown whole, and of the part of a longer one; characters of a message's own text.
static constexpr size_t mostColumns = 1000, columnsAround = 200, mostText = 4000;

/// What of `line` stands around `column`, which is made a column of the result.
static std::string windowOf(StringRef line, size_t &column) {
  if (line.size() <= mostColumns)
    return line.str();
  const StringRef left = "... ", right = " ...";
  size_t begin = column > columnsAround / 2 ? column - columnsAround / 2 : 0;
  begin = std::min(begin, line.size() - columnsAround);
  std::string text = line.substr(begin, columnsAround).str();
  column -= begin;
  if (begin > 0) {
    text = left.str() + text;
    column += left.size();
  }
  return begin + columnsAround < line.size() ? text + right.str() : text;
}

static std::string boundedText(StringRef text) {
  if (text.size() <= mostText)
    return text.str();
  return (text.take_front(mostText) + "... (" + Twine(text.size() - mostText) + " more characters)").str();
}

/// Whether a message stands at a comment, as those about a whole file may: there is nothing to point at.
static bool isAboutWholeFile(const llvm::SMDiagnostic &message) {
  return message.getLineNo() == 1 && message.getColumnNo() == 0 && message.getLineContents().starts_with("//");
}

static void printBounded(const llvm::SMDiagnostic &message, void *) {
  StringRef line = message.getLineContents();
  if (isAboutWholeFile(message)) {
    llvm::SMDiagnostic((message.getFilename() + ":1:1").str(), message.getKind(), boundedText(message.getMessage())).print(nullptr, llvm::errs());
    return;
  }
  if (line.size() <= mostColumns && message.getMessage().size() <= mostText) {
    message.print(nullptr, llvm::errs());
    return;
  }
  // The number of the column is that in the file; the caret stands in what is shown of the line.
  std::string place = (message.getFilename() + ":" + Twine(message.getLineNo())).str();
  if (message.getColumnNo() >= 0)
    place += ":" + std::to_string(message.getColumnNo() + 1);
  llvm::SMDiagnostic(place, message.getKind(), boundedText(message.getMessage())).print(nullptr, llvm::errs());
  if (message.getLineNo() < 0 || message.getColumnNo() < 0)
    return;
  size_t column = std::min<size_t>(message.getColumnNo(), line.size());
  std::string shown = windowOf(line, column);
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  llvm::errs() << shown << '\n' << std::string(column, ' ') << "^\n";
}

void tools::boundMessages(llvm::SourceMgr &sources) { sources.setDiagHandler(printBounded); }

bool tools::hasLongLine(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (line.size() > mostColumns)
      return true;
    text = rest;
  }
  return false;
}
