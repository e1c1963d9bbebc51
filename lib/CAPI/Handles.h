//===- Handles.h - what the opaque handles of the C API hold ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CAPI_HANDLES_H
#define FT_LIB_CAPI_HANDLES_H

#include "Diagnostics.h"

#include "ft/Runtime/Bundle/Bundle.h"
#include "ft/Support/InputLimits.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace mlir::ft::capi {

/// A parsed program in a context of its own, so that sources never wait for each other. Who uses the
/// context holds the lock.
struct SourceState {
  SourceState(const DialectRegistry &registry, std::shared_ptr<Receiver> receiver, bool remarks);

  std::mutex lock;
  MLIRContext context;
  DiagnosticSink sink;
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> entries;
};

/// The functions and graphs of a module that are compiled: neither private nor declarations alone.
SmallVector<Operation *> findEntries(ModuleOp module);

/// Completes a source once its module is there; fails with the first error where it is not.
FtStatus finishSource(SourceState &state);

/// Sets this thread's message.
FtStatus fail(FtStatus status, const std::string &message);

struct Interpreted;

/// A bundle without code, whose entries the reference interpreters run on the host.
FtStatus makeInterpretedProgram(std::shared_ptr<SourceState> source, StringRef entry, ::ft::rt::Bundle &bundle,
                                std::shared_ptr<Interpreted> &interpreted);
/// The kernels of such a bundle, for one module.
FtKernels shareKernels(const std::shared_ptr<Interpreted> &interpreted);

/// Copies a caller's struct, which may be shorter or longer than ours; what it lacks keeps its default.
template <class T>
bool readStruct(const T *from, T &to) {
  if (!from)
    return true;
  if (from->struct_size < sizeof(size_t) || from->struct_size > 4096)
    return false;
  memcpy(&to, from, std::min(from->struct_size, sizeof(T)));
  return true;
}

} // namespace mlir::ft::capi

struct FtCompiler {
  mlir::DialectRegistry registry;
  std::shared_ptr<mlir::ft::capi::Receiver> receiver;
  mlir::ft::InputLimits limits;
  bool remarks = false;
};

struct FtSource {
  std::shared_ptr<mlir::ft::capi::SourceState> state;
};

struct FtProgram {
  std::string bytes; // the bundle
  int32_t deviceType = FT_CPU;
  std::shared_ptr<mlir::ft::capi::Interpreted> interpreted; // null: code
  std::map<std::string, double> figures;
};

#endif // FT_LIB_CAPI_HANDLES_H
