//===- KeptErrors.h - errors as text ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_FUZZ_KEPTERRORS_H
#define FT_LIB_FUZZ_KEPTERRORS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace mlir::ft::fuzz {

/// Keeps the errors that are emitted while it lives.
struct KeptErrors {
  explicit KeptErrors(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "\n") + diagnostic.str();
          return success();
        }) {}
  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::ft::fuzz

#endif // FT_LIB_FUZZ_KEPTERRORS_H
