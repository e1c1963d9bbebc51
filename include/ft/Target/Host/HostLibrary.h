//===- HostLibrary.h - LLVM dialect modules to code for CPUs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for the processor that runs the compiler ("cpu"), or for all of a class.
//
//===----------------------------------------------------------------------===//
#ifndef FT_TARGET_HOST_HOSTLIBRARY_H
#define FT_TARGET_HOST_HOSTLIBRARY_H

#include "ft/Machine/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace mlir::ft {

/// The classes of processors that this build compiles for, the most capable last: "x86-64-v3" (AVX2 and
/// FMA) and "x86-64-v4" (AVX-512) on x86-64, "aarch64" there.
ArrayRef<StringRef> getCpuTargets();

/// What leaf code may use of such a processor, or of this one ("cpu"); none for another name.
std::optional<CpuTarget> getCpuTarget(StringRef name);

/// LLVM IR of a module in the LLVM dialect, optimised for the class, as text.
FailureOr<std::string> translateToLLVMText(ModuleOp module, StringRef target);

/// Machine code of a module, and how much there was to compile: figures that are the same in every run,
/// so that tests can bound them.
struct HostObjects {
  std::string image; // a relocatable object, or an archive of several
  /// Instructions of LLVM's representation before and after its passes.
  int64_t translated = 0, optimized = 0;
};

/// Compiles a module that holds nothing but LLVM's dialect. Functions named in `entries` can be looked
/// up in the image; all others belong to it and may vanish. Emits an error at the module and fails when
/// LLVM refuses it.
FailureOr<HostObjects> translateToObjects(ModuleOp module, StringRef target, ArrayRef<std::string> entries);

/// The same code as assembly, whose `.loc` lines name the lines of the program's source. The module gets what LLVM wants to know of
/// its functions for them.
FailureOr<std::string> translateToAssembly(ModuleOp module, StringRef target, ArrayRef<std::string> entries);

} // namespace mlir::ft

#endif // FT_TARGET_HOST_HOSTLIBRARY_H
