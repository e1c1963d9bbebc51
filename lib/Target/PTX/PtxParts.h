//===- PtxParts.h - PTX of a module, kernel by kernel -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_TARGET_PTX_PTXPARTS_H
#define FT_LIB_TARGET_PTX_PTXPARTS_H

#include "mlir/Support/LLVM.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::ft {

/// Optimises a module and prints it as PTX, its kernels in parts on all threads. The text is the same on every machine. `createMachine` is
/// called by several threads at a time.
llvm::Expected<std::string> compileInParts(std::unique_ptr<llvm::Module> module, const std::function<std::unique_ptr<llvm::TargetMachine>()> &createMachine);

} // namespace mlir::ft

#endif // FT_LIB_TARGET_PTX_PTXPARTS_H
