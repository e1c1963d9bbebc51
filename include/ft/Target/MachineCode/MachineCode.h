//===- MachineCode.h - LLVM dialect modules for a machine -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code for processors (HostLibrary.h) and for GPUs (PTX.h) is made by.
//
//===----------------------------------------------------------------------===//
#ifndef FT_TARGET_MACHINECODE_MACHINECODE_H
#define FT_TARGET_MACHINECODE_MACHINECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
class Triple;
} // namespace llvm

namespace mlir::ft {

/// LLVM's target for `processor`; null, with an error at the module, where this LLVM has none. The
/// target must have been initialised.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(ModuleOp module, const llvm::Triple &triple,
                                                         StringRef processor, StringRef features,
                                                         llvm::CodeGenOptLevel level);

/// A module in the LLVM dialect (and NVVM's) as LLVM IR for the machine; null, with an error at the module, on failure.
std::unique_ptr<llvm::Module> translateToIR(ModuleOp module, llvm::TargetMachine &machine, llvm::LLVMContext &context);

/// LLVM's optimiser at its highest level.
llvm::Error optimizeForMachine(llvm::Module &module, llvm::TargetMachine &machine);

/// The same, optimised. `prepare` may change the IR before that.
std::unique_ptr<llvm::Module> translateForMachine(ModuleOp module, llvm::TargetMachine &machine,
                                                  llvm::LLVMContext &context,
                                                  llvm::function_ref<void(llvm::Module &)> prepare = {});

/// The IR as text.
std::string printToText(const llvm::Module &module);

} // namespace mlir::ft

#endif // FT_TARGET_MACHINECODE_MACHINECODE_H
