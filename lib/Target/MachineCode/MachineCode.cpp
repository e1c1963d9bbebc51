//===- MachineCode.cpp - LLVM dialect modules for a machine ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Target/MachineCode/MachineCode.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

std::unique_ptr<llvm::TargetMachine> ft::createTargetMachine(ModuleOp module, const llvm::Triple &triple,
                                                             StringRef processor, StringRef features,
                                                             llvm::CodeGenOptLevel level) {
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine;
  if (found) // position-independent code is what shared libraries need; GPUs know nothing else
    machine.reset(found->createTargetMachine(triple, processor, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                             std::nullopt, level));
  if (!machine)
    module.emitError() << "this LLVM has no target " << processor << (error.empty() ? "" : ": " + error);
  return machine;
}

std::unique_ptr<llvm::Module> ft::translateToIR(ModuleOp module, llvm::TargetMachine &machine, llvm::LLVMContext &context) {
  MLIRContext *registry = module.getContext();
  registerBuiltinDialectTranslation(*registry);
  registerLLVMDialectTranslation(*registry);
  registerNVVMDialectTranslation(*registry);
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kernels");
  if (!code)
    return nullptr;
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  return code;
}

llvm::Error ft::optimizeForMachine(llvm::Module &module, llvm::TargetMachine &machine) {
  return makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0, &machine)(&module);
}

std::unique_ptr<llvm::Module> ft::translateForMachine(ModuleOp module, llvm::TargetMachine &machine,
                                                      llvm::LLVMContext &context,
                                                      llvm::function_ref<void(llvm::Module &)> prepare) {
  std::unique_ptr<llvm::Module> code = translateToIR(module, machine, context);
  if (!code)
    return nullptr;
  if (prepare)
    prepare(*code);
  if (llvm::Error failed = optimizeForMachine(*code, machine)) {
    module.emitError() << "LLVM failed: " << llvm::toString(std::move(failed));
    return nullptr;
  }
  return code;
}

std::string ft::printToText(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}
