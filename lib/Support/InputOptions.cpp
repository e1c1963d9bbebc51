//===- InputOptions.cpp - How tools read their input ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a file under the limits, and `--type name=type`: an example names its
// element types by aliases, and one of them is replaced before parsing.
//
//===----------------------------------------------------------------------===//
#include "ft/Support/InputLimits.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace mlir::ft {

bool parseTypeOverride(StringRef option, TypeOverride &result, raw_ostream &errors) {
  auto [name, type] = option.split('=');
  name = name.trim();
  name.consume_front("!");
  type = type.trim();
  bool named = !name.empty() && llvm::all_of(name, [](char c) {
    return isAlnum(c) || c == '_' || c == '$';
  });
  if (!named || type.empty()) {
    errors << "error: --type expects NAME=TYPE, such as x=tensor<1x8xf32>, but got '" << option
           << "'\n";
    return false;
  }
  result = {name.str(), type.str()};
  return true;
}

/// Where the type that starts at `i` ends: at the end of the first line on
/// which all brackets are closed, or at a comment on it.
static size_t endOfDefinition(StringRef text, size_t i) {
  int depth = 0;
  bool any = false;
  for (; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
      continue;
    }
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      if (depth <= 0 && any)
        return i;
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    if (c == '\n' && depth <= 0 && any)
      return i;
    any |= !isSpace(c);
    if (c == '(' || c == '[' || c == '{' || c == '<')
      ++depth;
    if (c == ')' || c == ']' || c == '}' || (c == '>' && text[i - 1] != '-'))
      --depth;
  }
  return i;
}

std::unique_ptr<MemoryBuffer> applyTypeOverrides(std::unique_ptr<MemoryBuffer> buffer,
                                                 ArrayRef<TypeOverride> overrides,
                                                 raw_ostream &errors) {
  if (overrides.empty() || !buffer)
    return buffer;
  StringRef text = buffer->getBuffer();
  std::string result;
  SmallVector<bool> used(overrides.size(), false);
  SmallVector<StringRef> defined;
  // Alias definitions stand at the beginning of a line.
  for (size_t i = 0; i < text.size();) {
    size_t eol = std::min(text.find('\n', i), text.size() - 1) + 1;
    StringRef line = text.slice(i, eol);
    StringRef rest = line.ltrim(" \t");
    size_t equal = rest.find('=');
    StringRef id;
    if (rest.starts_with("!") && equal != StringRef::npos)
      id = rest.slice(1, equal).rtrim(" \t");
    bool isAlias = !id.empty() && llvm::all_of(id, [](char c) {
      return isAlnum(c) || c == '_' || c == '$';
    });
    const TypeOverride *found = nullptr;
    if (isAlias) {
      defined.push_back(id);
      // The last one given wins, as with other options.
      for (auto [n, candidate] : llvm::enumerate(overrides))
        if (candidate.name == id) {
          found = &candidate;
          used[n] = true;
        }
    }
    if (!found) {
      result += line;
      i = eol;
      continue;
    }
    size_t end = endOfDefinition(text, (rest.data() - text.data()) + equal + 1);
    result += ("!" + id + " = " + found->type).str();
    // Lines keep their numbers in later errors.
    result.append(text.slice(i, end).count('\n'), '\n');
    i = end;
  }
  for (auto [n, candidate] : llvm::enumerate(overrides)) {
    if (used[n])
      continue;
    errors << buffer->getBufferIdentifier() << ":1:1: error: --type names '!" << candidate.name
           << "', which this file does not define; it defines ";
    if (defined.empty())
      errors << "no type alias";
    llvm::interleave(
        defined, errors, [&](StringRef id) { errors << "'!" << id << "'"; }, ", ");
    errors << '\n';
    return nullptr;
  }
  return MemoryBuffer::getMemBufferCopy(result, buffer->getBufferIdentifier());
}

/// All of a file, or of what a pipe or a device gives, but no more than one byte above the limit: some
/// have no end.
static ErrorOr<std::unique_ptr<MemoryBuffer>> readInput(StringRef file, uint64_t limit) {
  bool isStandard = file == "-";
  Expected<sys::fs::file_t> opened = sys::fs::getStdinHandle();
  if (!isStandard)
    opened = sys::fs::openNativeFileForRead(file);
  if (!opened)
    return errorToErrorCode(opened.takeError());
  std::string text;
  std::error_code error;
  char chunk[1 << 14];
  while (!limit || text.size() <= limit) {
    Expected<size_t> count = sys::fs::readNativeFile(*opened, MutableArrayRef(chunk));
    if (!count) {
      error = errorToErrorCode(count.takeError());
      break;
    }
    if (*count == 0)
      break;
    text.append(chunk, *count);
  }
  if (!isStandard)
    sys::fs::closeFile(*opened);
  if (error)
    return error;
  return MemoryBuffer::getMemBufferCopy(text, isStandard ? "<stdin>" : file);
}

std::unique_ptr<MemoryBuffer> loadInput(StringRef file, const InputLimits &limits,
                                        ArrayRef<TypeOverride> overrides, raw_ostream &errors) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = readInput(file, limits.maxBytes);
  if (!buffer) {
    errors << "error: cannot open '" << file << "': " << buffer.getError().message() << '\n';
    return nullptr;
  }
  if (!checkInput((*buffer)->getMemBufferRef(), limits, errors))
    return nullptr;
  if (overrides.empty())
    return std::move(*buffer);
  std::unique_ptr<MemoryBuffer> replaced =
      applyTypeOverrides(std::move(*buffer), overrides, errors);
  // A type from the command line is input like any other.
  if (!replaced || !checkInput(replaced->getMemBufferRef(), limits, errors))
    return nullptr;
  return replaced;
}

} // namespace mlir::ft
