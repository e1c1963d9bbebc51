//===- SourceText.h - what stands at a place of a text ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_SOURCETEXT_H
#define FT_SUPPORT_SOURCETEXT_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::ft {

/// The name without `%` of the value at a line and a column (both from 1); none where
/// the text has something else there.
std::optional<std::string> nameAt(llvm::StringRef text, unsigned line, unsigned column);

} // namespace mlir::ft

#endif // FT_SUPPORT_SOURCETEXT_H
