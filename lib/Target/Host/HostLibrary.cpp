//===- HostLibrary.cpp - classes of processors, and LLVM IR for them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Target/Host/HostLibrary.h"
#include "ft/Machine/Machine.h"
#include "ft/Target/MachineCode/MachineCode.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace mlir::ft;

ArrayRef<StringRef> ft::getCpuTargets() {
#if defined(__x86_64__)
  static constexpr StringRef names[] = {"x86-64-v3", "x86-64-v4"};
#elif defined(__aarch64__)
  static constexpr StringRef names[] = {"aarch64"};
#else
  static constexpr StringRef names[] = {"cpu"};
#endif
  return names;
}

std::optional<CpuTarget> ft::getCpuTarget(StringRef name) {
  if (name == "cpu")
    return CpuTarget::host();
  if (!llvm::is_contained(getCpuTargets(), name))
    return std::nullopt;
  CpuTarget target;
  target.vectorBytes = name == "x86-64-v4" ? 64 : name == "x86-64-v3" ? 32 : 16;
  target.vectorRegisters = name == "x86-64-v3" ? 16 : 32;
  target.planFor(Machine::cpuDefault());
  return target;
}

static std::unique_ptr<llvm::TargetMachine> createMachine(ModuleOp module, StringRef target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  StringRef processor = target == "cpu" ? llvm::sys::getHostCPUName() : target.starts_with("x86-64") ? target : "generic";
  return createTargetMachine(module, llvm::Triple(llvm::sys::getDefaultTargetTriple()), processor, "",
                             llvm::CodeGenOptLevel::Default);
}

static std::unique_ptr<llvm::Module> translate(ModuleOp module, llvm::TargetMachine &machine,
                                               llvm::LLVMContext &context) {
  return translateForMachine(module, machine, context, [&](llvm::Module &code) {
    for (llvm::Function &function : code)
      if (!function.isDeclaration()) {
        function.addFnAttr("target-cpu", machine.getTargetCPU());
        // Code calls through its own table only, and a fault should have a stack to show.
        function.setUWTableKind(llvm::UWTableKind::Default);
      }
  });
}

FailureOr<std::string> ft::translateToLLVMText(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = machine ? translate(module, *machine, context) : nullptr;
  if (!code)
    return failure();
  return printToText(*code);
}
