//===- HostLibrary.cpp - LLVM dialect modules to CPU libraries ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Target/Host/HostLibrary.h"
#include "ft/Target/MachineCode/MachineCode.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
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
  if (!llvm::is_contained(getCpuTargets(), name))
    return std::nullopt;
  CpuTarget target;
  target.vectorBytes = name == "x86-64-v4" ? 64 : name == "x86-64-v3" ? 32 : 16;
  target.vectorRegisters = name == "x86-64-v3" ? 16 : 32;
  return target;
}

static std::unique_ptr<llvm::TargetMachine> createMachine(ModuleOp module, StringRef target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  return createTargetMachine(module, llvm::Triple(llvm::sys::getDefaultTargetTriple()),
                             target.starts_with("x86-64") ? target : "generic", "", llvm::CodeGenOptLevel::Default);
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

static llvm::ErrorOr<std::string> findLinker() {
  if (const char *named = getenv("FT_LINKER"))
    return llvm::sys::findProgramByName(named);
  for (StringRef name : {"ld.lld-22", "ld.lld", "ld"})
    if (auto found = llvm::sys::findProgramByName(name))
      return found;
  return std::make_error_code(std::errc::no_such_file_or_directory);
}

bool ft::hasLinker() { return bool(findLinker()); }

FailureOr<std::string> ft::translateToLibrary(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  if (!machine)
    return failure();
  auto linker = findLinker();
  if (!linker)
    return module.emitError() << "code for " << target << " needs a linker: expected ld.lld-22, ld.lld or ld on the path"
                              << (getenv("FT_LINKER") ? ", or the one that FT_LINKER names" : "") << ", found none";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translate(module, *machine, context);
  if (!code)
    return failure();

  SmallString<64> object, library, log;
  if (llvm::sys::fs::createTemporaryFile("ft", "o", object) || llvm::sys::fs::createTemporaryFile("ft", "so", library) ||
      llvm::sys::fs::createTemporaryFile("ft", "log", log))
    return module.emitError("cannot make a temporary file for the linker");
  llvm::FileRemover removeObject(object), removeLibrary(library), removeLog(log);
  {
    std::error_code failed;
    llvm::raw_fd_ostream stream(object, failed);
    llvm::legacy::PassManager passes;
    if (failed || machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
      return module.emitError() << "LLVM cannot emit an object: " << failed.message();
    passes.run(*code);
    stream.close();
    if (stream.has_error()) {
      stream.clear_error();
      return module.emitError("cannot write the object for the linker: is the disk full?");
    }
  }
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(
      *linker, {*linker, "-shared", "--no-undefined-version", "-z", "nodelete", "-s", object, "-o", library}, std::nullopt,
      redirects);
  auto read = [](StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  if (status != 0)
    return module.emitError() << *linker << " failed: " << read(log);
  return read(library);
}
