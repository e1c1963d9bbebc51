//===- PtxParts.cpp - PTX of a module, kernel by kernel -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels know nothing of each other, so that LLVM may work on several at a time, each part in a context of its own. Their texts after each other are one
// module: what begins each text is said once, and what a part defines for itself has the part's name.
//
//===----------------------------------------------------------------------===//
#include "PtxParts.h"

#include "ft/Runtime/Host/ThreadPool.h"
#include "ft/Target/MachineCode/MachineCode.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <vector>

using namespace mlir;
using namespace mlir::ft;

namespace {
/// Kernels that are compiled together.
struct Part {
  llvm::StringSet<> kernels;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module; // null: it is read from the bitcode of all
  std::string text, error;
};
} // namespace

/// Below this a part's own passes over its module cost LLVM more time than a second core saves.
static constexpr int64_t minPartInstructions = 1000;

/// Neighbouring kernels, as many as fill a part; all in one where functions call each other.
static std::vector<Part> divide(const llvm::Module &module) {
  std::vector<Part> parts(1);
  int64_t weight = 0;
  for (const llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel) {
      parts.clear();
      parts.emplace_back();
      return parts;
    }
    if (weight >= minPartInstructions) {
      parts.emplace_back();
      weight = 0;
    }
    parts.back().kernels.insert(function.getName());
    weight += function.getInstructionCount();
  }
  return parts;
}

/// Leaves a part's kernels alone in a module, and gives what is defined beside them names that no other part has.
static llvm::Error restrictTo(const llvm::StringSet<> &kernels, size_t number, llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !kernels.contains(function.getName()))
      function.deleteBody();
  if (llvm::Error error = module.materializeAll())
    return error;
  for (llvm::GlobalVariable &variable : module.globals())
    if (!variable.isDeclaration() && variable.hasLocalLinkage())
      variable.setName(variable.getName() + "_part" + llvm::Twine(number));
  return llvm::Error::success();
}

static llvm::Error compile(llvm::Module &module, llvm::TargetMachine &machine, std::string &text) {
  if (llvm::Error error = optimizeForMachine(module, machine))
    return error;
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("this target has no PTX");
  passes.run(module);
  text = buffer.str().str();
  return llvm::Error::success();
}

static llvm::Error compilePart(Part &part, size_t number, llvm::MemoryBufferRef bitcode, bool isOnly, llvm::TargetMachine &machine) {
  if (!part.module) {
    part.context = std::make_unique<llvm::LLVMContext>();
    // Bodies of other parts' kernels are never read.
    auto read = llvm::getLazyBitcodeModule(bitcode, *part.context);
    if (!read)
      return read.takeError();
    part.module = std::move(*read);
  }
  if (!isOnly)
    if (llvm::Error error = restrictTo(part.kernels, number, *part.module))
      return error;
  llvm::Error error = compile(*part.module, machine, part.text);
  part.module.reset();
  part.context.reset();
  return error;
}

/// The texts as that of one module: after the first, none says again for which version and target it is, or declares what is declared.
static std::string joinTexts(ArrayRef<Part> parts) {
  constexpr StringRef lastOfHead = ".address_size";
  std::string all;
  llvm::StringSet<> declared;
  for (const Part &part : parts) {
    SmallVector<StringRef> lines;
    StringRef(part.text).rtrim('\n').split(lines, '\n');
    auto *begin = lines.begin();
    if (!all.empty())
      begin = std::next(llvm::find_if(lines, [&](StringRef line) { return line.starts_with(lastOfHead); }));
    for (StringRef line : llvm::make_range(begin, lines.end()))
      if (!line.starts_with(".extern") || declared.insert(line).second)
        (all += line) += '\n';
  }
  return all;
}

llvm::Expected<std::string> mlir::ft::compileInParts(std::unique_ptr<llvm::Module> module,
                                                     const std::function<std::unique_ptr<llvm::TargetMachine>()> &createMachine) {
  std::vector<Part> parts = divide(*module);
  llvm::SmallVector<char, 0> bitcode;
  if (parts.size() > 1) {
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*module, stream);
  }
  parts.front().module = std::move(module);
  auto compileOne = [&](int64_t i) {
    std::unique_ptr<llvm::TargetMachine> machine = createMachine();
    llvm::MemoryBufferRef all(StringRef(bitcode.data(), bitcode.size()), "kernels");
    if (llvm::Error error = compilePart(parts[size_t(i)], size_t(i), all, parts.size() == 1, *machine))
      parts[size_t(i)].error = llvm::toString(std::move(error));
  };
  ft_parallel_for(
      [](void *env, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          (*static_cast<decltype(compileOne) *>(env))(i);
      },
      &compileOne, int64_t(parts.size()), /*grain=*/1);
  for (const Part &part : parts)
    if (!part.error.empty())
      return llvm::createStringError(part.error);
  return joinTexts(parts);
}
