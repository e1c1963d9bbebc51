//===- PTX.cpp - LLVM dialect modules to PTX ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Target/PTX/PTX.h"
#include "ft/Target/MachineCode/MachineCode.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace mlir::ft;

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
  return createTargetMachine(module, llvm::Triple("nvptx64-nvidia-cuda"), target, features,
                             llvm::CodeGenOptLevel::Aggressive);
}

FailureOr<std::string> mlir::ft::translateToNVPTXText(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = machine ? translateForMachine(module, *machine, context) : nullptr;
  if (!code)
    return failure();
  return printToText(*code);
}

FailureOr<std::string> mlir::ft::translateToPTX(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = machine ? translateForMachine(module, *machine, context) : nullptr;
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
