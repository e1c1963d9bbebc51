//===- InputLimits.h - Refuse hostile input before MLIR sees it -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser recurses once per bracket, so a few thousand nested ones
// overflow its stack, and its bytecode reader is not hardened. Every tool runs
// this linear scan over the text first; what it refuses gets a located error.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_INPUTLIMITS_H
#define FT_SUPPORT_INPUTLIMITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::ft {

/// What a tool accepts. Zero means "no limit".
struct InputLimits {
  /// Deepest nesting of ( [ { <, aliases expanded.
  unsigned maxNesting = 256;
  /// Largest input.
  uint64_t maxBytes = uint64_t(1) << 28;
  /// MLIR bytecode is read only when the caller vouches for it.
  bool allowBytecode = false;
};

/// Checks `buffer`; prints `file:line:col: error: ...` to `errors` and returns
/// false when it is refused. `alone` is false for the pieces of a split file,
/// which may be empty.
bool checkInput(llvm::MemoryBufferRef buffer, const InputLimits &limits, llvm::raw_ostream &errors);

/// One `--type name=type` of the command line: `!name = ...` of the text is
/// replaced before parsing.
struct TypeOverride {
  std::string name;
  std::string type;
};

/// Parses "x=tensor<1x8xf32>" (a leading '!' is allowed). Returns false and
/// prints an error when there is no '=' or no name.
bool parseTypeOverride(llvm::StringRef text, TypeOverride &result, llvm::raw_ostream &errors);

/// Replaces the definitions of type aliases. Lines keep their numbers. An
/// override of an alias that the text does not define is an error that lists
/// those it does. Returns null after printing an error.
std::unique_ptr<llvm::MemoryBuffer> applyTypeOverrides(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                       llvm::ArrayRef<TypeOverride> overrides,
                                                       llvm::raw_ostream &errors);

/// Opens `file` ("-" is standard input), checks it, applies the overrides.
/// Null after printing an error.
std::unique_ptr<llvm::MemoryBuffer> loadInput(llvm::StringRef file, const InputLimits &limits,
                                              llvm::ArrayRef<TypeOverride> overrides,
                                              llvm::raw_ostream &errors);

} // namespace mlir::ft

#endif // FT_SUPPORT_INPUTLIMITS_H
