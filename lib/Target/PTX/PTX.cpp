//===- PTX.cpp - LLVM dialect modules to PTX ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Target/PTX.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

/// The oldest PTX version that has what both targets' kernels use.
static constexpr const char features[] = "+ptx80";

bool mlir::ft::isGpuTarget(StringRef target) { return target == "sm_80" || target == "sm_90a"; }

static std::unique_ptr<llvm::TargetMachine> createMachine(ModuleOp module, StringRef target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine;
  if (found)
    machine.reset(found->createTargetMachine(triple, target, features, llvm::TargetOptions(), std::nullopt, std::nullopt,
                                             llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    module.emitError() << "this LLVM has no target " << target << (error.empty() ? "" : ": " + error);
  return machine;
}

static std::unique_ptr<llvm::Module> translate(ModuleOp module, llvm::TargetMachine &machine,
                                               llvm::LLVMContext &context) {
  MLIRContext *registry = module.getContext();
  registerBuiltinDialectTranslation(*registry);
  registerLLVMDialectTranslation(*registry);
  registerNVVMDialectTranslation(*registry);
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kernels");
  if (!code)
    return nullptr;
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0, &machine);
  if (llvm::Error failed = optimize(code.get())) {
    module.emitError() << "LLVM failed: " << llvm::toString(std::move(failed));
    return nullptr;
  }
  return code;
}

FailureOr<std::string> mlir::ft::translateToNVPTXText(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = machine ? translate(module, *machine, context) : nullptr;
  if (!code)
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  code->print(stream, nullptr);
  return text;
}

FailureOr<std::string> mlir::ft::translateToPTX(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = machine ? translate(module, *machine, context) : nullptr;
  if (!code)
    return failure();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("LLVM cannot emit PTX");
  passes.run(*code);
  return text.str().str();
}

std::optional<std::string> mlir::ft::assemblePTX(StringRef ptx, StringRef target, Location loc) {
  if (getenv("FT_NO_PTXAS"))
    return std::nullopt;
  auto program = llvm::sys::findProgramByName("ptxas");
  if (!program)
    return std::nullopt;
  SmallString<64> input, output, log;
  if (llvm::sys::fs::createTemporaryFile("ft", "ptx", input) ||
      llvm::sys::fs::createTemporaryFile("ft", "cubin", output) ||
      llvm::sys::fs::createTemporaryFile("ft", "log", log))
    return std::nullopt;
  auto read = [](StringRef path) -> std::optional<std::string> {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return std::nullopt;
    return (*buffer)->getBuffer().str();
  };
  std::optional<std::string> code;
  {
    std::error_code failed;
    llvm::raw_fd_ostream file(input, failed);
    file << ptx;
  }
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  std::string arch = ("-arch=" + target).str();
  int status = llvm::sys::ExecuteAndWait(*program, {*program, arch, "-O3", input, "-o", output},
                                         std::nullopt, redirects);
  if (status == 0)
    code = read(output);
  else
    emitWarning(loc) << "ptxas refuses the kernels: " << read(log).value_or("");
  for (StringRef path : {StringRef(input), StringRef(output), StringRef(log)})
    llvm::sys::fs::remove(path);
  return code;
}
