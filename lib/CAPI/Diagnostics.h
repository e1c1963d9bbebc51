//===- Diagnostics.h - what the compiler says, as C structs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes MLIR's diagnostics and remarks of one context and hands them to a
// callback of C; keeps the first error as text for ft_last_error().
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CAPI_DIAGNOSTICS_H
#define FT_LIB_CAPI_DIAGNOSTICS_H

#include "ft-c/Compiler.h"

#include "mlir/IR/Diagnostics.h"

#include <memory>
#include <mutex>
#include <string>

namespace mlir::ft::capi {

/// Where the diagnostics of a compiler go. Sources hold it, too, and may outlive the compiler, which
/// then takes its callback back.
class Receiver {
public:
  Receiver(FtDiagnosticFn callback, void *user) : callback(callback), user(user) {}
  /// One at a time, whatever thread it comes from.
  void send(const FtDiagnostic &diagnostic);
  void close();

private:
  std::mutex lock;
  FtDiagnosticFn callback;
  void *user;
};

/// Receives all diagnostics of a context while it lives, and remarks where they are asked for.
class DiagnosticSink {
public:
  DiagnosticSink(MLIRContext &context, std::shared_ptr<Receiver> receiver, bool remarks);
  ~DiagnosticSink();

  /// An error that MLIR did not make: a text that was refused before it was parsed.
  void report(const std::string &message, const std::string &file, int line, int column);

  /// "file:line:column: error: message" of the first error since `clear`, or nothing.
  const std::string &getFirstError() const { return firstError; }
  void clear() { firstError.clear(); }

private:
  void take(Diagnostic &diagnostic);
  void keep(const FtDiagnostic &diagnostic);

  MLIRContext &context;
  std::shared_ptr<Receiver> receiver;
  DiagnosticEngine::HandlerID handler;
  std::string firstError;
};

} // namespace mlir::ft::capi

#endif // FT_LIB_CAPI_DIAGNOSTICS_H
