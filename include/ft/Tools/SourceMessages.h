//===- SourceMessages.h - messages of bounded length ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows messages with the source line that each is about, as MLIR's own tools do. Of a long line it shows
// what stands around the place, and of a long text its begin.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_TOOLS_SOURCEMESSAGES_H
#define LIB_FT_TOOLS_SOURCEMESSAGES_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::ft::tools {

/// Messages of this manager's files, and of those that locations name, are of bounded length from now on.
void boundMessages(llvm::SourceMgr &sources);

/// Prints the messages of a context to standard error while it lives.
class SourceMessages : public SourceMgrDiagnosticHandler {
public:
  SourceMessages(llvm::SourceMgr &sources, MLIRContext *context) : SourceMgrDiagnosticHandler(sources, context) {
    boundMessages(sources);
  }
};

/// Whether a message about the text would show a line of which it has no room for all.
bool hasLongLine(StringRef text);

} // namespace mlir::ft::tools

#endif // LIB_FT_TOOLS_SOURCEMESSAGES_H
