//===- HostLibrary.h - LLVM dialect modules to CPU libraries ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ahead-of-time code for processors of a class, in place of the one that runs
// the compiler.
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

/// What leaf code may use of such a processor; none for a name that is not in the list.
std::optional<CpuTarget> getCpuTarget(StringRef name);

/// LLVM IR of a module in the LLVM dialect, optimised for the class, as text.
FailureOr<std::string> translateToLLVMText(ModuleOp module, StringRef target);

/// Whether `translateToLibrary` finds a linker.
bool hasLinker();

/// A shared library with the module's functions. Linking asks a linker of the system (ld.lld or ld, of
/// which `FT_LINKER` may name another one); without one the module gets an error that says so.
FailureOr<std::string> translateToLibrary(ModuleOp module, StringRef target);

} // namespace mlir::ft

#endif // FT_TARGET_HOST_HOSTLIBRARY_H
