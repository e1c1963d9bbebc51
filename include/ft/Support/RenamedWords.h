//===- RenamedWords.h - words of the IR that had other names ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of words that texts of before may hold. An error at an old word gives the new one.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_RENAMEDWORDS_H
#define FT_SUPPORT_RENAMEDWORDS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::ft {

/// What a word names, since one word may name several things.
enum class WordKind { Attribute, LoopField, Mapping, Other };

struct RenamedWord {
  WordKind kind;
  llvm::StringLiteral old, now;
};

inline constexpr RenamedWord renamedWords[] = {
    {WordKind::Attribute, "loops.memory", "`in` of loops.alloc"},
    {WordKind::Attribute, "loops.parts", "`parts` of loops.alloc"},
    {WordKind::LoopField, "dealing", "'mapping'"},
    {WordKind::Mapping, "turn", "'dynamic' of cores, 'cyclic' of thread blocks"},
    {WordKind::Mapping, "shares", "'block'"},
    {WordKind::Mapping, "fixed", "'static'"},
};

/// What an old word is now; empty of any other word.
inline llvm::StringRef findRenamed(WordKind kind, llvm::StringRef old) {
  const RenamedWord *found = llvm::find_if(renamedWords, [&](const RenamedWord &word) { return word.kind == kind && word.old == old; });
  return found == std::end(renamedWords) ? llvm::StringRef() : llvm::StringRef(found->now);
}

} // namespace mlir::ft

#endif // FT_SUPPORT_RENAMEDWORDS_H
