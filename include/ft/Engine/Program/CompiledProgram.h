//===- CompiledProgram.h - a bundle's entry, ready to run -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a bundle that was just compiled and calls an entry of it on arrays of the
// host, through the runtime's C ABI: on this processor, or on a GPU. Lengths are
// those of the arrays: one compilation serves all of them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ENGINE_PROGRAM_COMPILEDPROGRAM_H
#define FT_ENGINE_PROGRAM_COMPILEDPROGRAM_H

#include "ft-c/Runtime.h"
#include "ft/Runtime/Bundle/Bundle.h"
#include "ft/Runtime/Arrays/HostArray.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <vector>

namespace mlir::ft {

class CompiledProgram {
public:
  /// Loads what was compiled. Entries are named when they are used; errors of all calls are emitted at `loc`.
  /// Fails where there is no driver or no device.
  static FailureOr<std::unique_ptr<CompiledProgram>> load(const ::ft::rt::Bundle &bundle, Location loc,
                                                          FtDeviceType device = FT_CPU);
  /// All phases and code for this processor; the module is changed.
  static FailureOr<std::unique_ptr<CompiledProgram>> compile(ModuleOp module);
  ~CompiledProgram();

  /// One call with its memory; may be run again and again. It lives no longer than the program.
  class Call {
  public:
    ~Call();
    /// Runs once and waits.
    LogicalResult run();
    /// Runs once, its pieces timed: the text of a Chrome trace.
    FailureOr<std::string> trace();
    /// What the last run gave.
    FailureOr<std::vector<::ft::rt::HostArray>> results();
    /// Memory of buffers that are neither arguments nor results.
    FailureOr<uint64_t> workspaceBytes();

  private:
    friend class CompiledProgram;
    struct State;
    explicit Call(std::unique_ptr<State> state);
    std::unique_ptr<State> state;
  };

  /// Makes room for results, and moves arguments to the device where that is another one: the host's are
  /// used where they are, and must live as long as the call.
  FailureOr<std::unique_ptr<Call>> prepare(StringRef entry, ArrayRef<const ::ft::rt::HostArray *> arguments);

private:
  CompiledProgram(FtModule *module, FtDeviceType device, Location loc) : module(module), device(device), loc(loc) {}
  FtModule *module;
  FtDeviceType device;
  Location loc;
};

} // namespace mlir::ft

#endif // FT_ENGINE_PROGRAM_COMPILEDPROGRAM_H
