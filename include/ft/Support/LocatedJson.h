//===- LocatedJson.h - JSON that knows where it stands ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that people write in JSON (machines, operator graphs) as values with the
// line and column at which each begins, so that an error about a field can point
// at it. nlohmann's parser reads the text; files of others may be hostile, so size
// and depth have limits.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_LOCATEDJSON_H
#define FT_SUPPORT_LOCATEDJSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::ft {

/// A place in a text, both from 1.
struct TextPosition {
  unsigned line = 1, column = 1;
};

/// An error at a place of a file; its text is `FILE:LINE:COLUMN: error: WHAT`.
class FileError : public llvm::ErrorInfo<FileError> {
public:
  static char ID;
  FileError(llvm::StringRef file, TextPosition at, const llvm::Twine &what)
      : file(file.str()), at(at), what(what.str()) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const std::string file;
  const TextPosition at;
  const std::string what;
};

/// One value of a JSON text.
class LocatedJson {
public:
  enum class Kind { Null, Boolean, Number, String, Array, Object };
  struct Member;

  Kind kind = Kind::Null;
  TextPosition at;
  bool boolean = false;
  double number = 0;
  /// Whether `number` was written as an integer of 64 bits; then `integer` is its exact value.
  bool isInteger = false;
  int64_t integer = 0;
  std::string text;
  std::vector<LocatedJson> items;
  std::vector<Member> members; // in the order of the text; no name twice

  /// The member of this name of an object; null where there is none, or no object.
  const LocatedJson *find(llvm::StringRef name) const;
  /// "a number", "an object", …: for messages.
  llvm::StringRef describeKind() const;

  /// Values may lie so deep inside each other, and a text may have so many bytes.
  static constexpr unsigned mostDepth = 64;
  static constexpr size_t mostBytes = size_t(64) << 20;

  /// The value that the text is. An error (FileError) where it is no JSON, names a member of an
  /// object twice, or goes beyond the limits. `file` is the name for messages.
  static llvm::Expected<LocatedJson> parse(llvm::StringRef text, llvm::StringRef file);
  /// The same of a file's contents.
  static llvm::Expected<LocatedJson> load(llvm::StringRef path);
};

struct LocatedJson::Member {
  std::string name;
  TextPosition at; // of the name
  LocatedJson value;
};

} // namespace mlir::ft

#endif // FT_SUPPORT_LOCATEDJSON_H
