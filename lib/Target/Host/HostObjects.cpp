//===- HostObjects.cpp - LLVM dialect modules to code for processors ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM's compilers do, at a third of their time: leaves are internal, passes
// that generated code has no use for are left out, and functions are compiled on
// all threads, in parts that share nothing but names. The runtime loads the
// objects as they are: nothing needs a linker.
//
//===----------------------------------------------------------------------===//
#include "ft/Runtime/Host/ThreadPool.h"
#include "ft/Target/Host/HostLibrary.h"

#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace mlir::ft;

namespace {

/// The analyzes and passes of LLVM's optimizer for one machine.
class Optimizer {
public:
  explicit Optimizer(llvm::TargetMachine *machine) : builder(machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
  llvm::Error run(llvm::Module &module, llvm::StringRef pipeline) {
    llvm::ModulePassManager passes;
    if (llvm::Error error = builder.parsePassPipeline(passes, pipeline))
      return error;
    passes.run(module, modules);
    return llvm::Error::success();
  }

private:
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

/// Functions that are compiled together, in a context of their own.
struct Part {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::StringSet<> functions;
  int64_t weight = 0;
  llvm::SmallVector<char, 0> object;
  int64_t instructions = 0;
  std::string error;
};

/// A module of LLVM's for a machine, in which all functions but the entries are its own.
struct Translated {
  std::optional<llvm::orc::JITTargetMachineBuilder> machine;
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
  std::string errors; // of LLVM, once it was translated
  int64_t instructions = 0;
};
} // namespace

/// Keeps LLVM's errors as text; nothing goes to stderr, where LLVM would write it.
static void collectErrors(llvm::LLVMContext &context, std::string &errors) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *text) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(text));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &errors);
}

/// For all functions at once: descriptors of memory that callers take together and callees take
/// apart again vanish, and with them most arguments; constant ones become part of their callee.
static constexpr llvm::StringLiteral wholePipeline =
    "always-inline,function(early-cse),ipsccp,deadargelim,globaldce";

/// For the functions of a part. Products and elementwise chains arrive as vectors and as loops
/// unrolled by hand, so what LLVM's O3 does beyond this changes nothing but its time: it gives the
/// same figures on all examples and takes three times as long. Loops are vectorized where they ask
/// for it.
static constexpr llvm::StringLiteral partPipeline =
    "function<eager-inv>(simplifycfg,instcombine<no-verify-fixpoint>,reassociate,loop-mssa(loop-"
    "rotate,licm),"
    "loop(indvars,loop-unroll-full),early-cse<memssa>,"
    "loop-vectorize<no-interleave-forced-only;vectorize-forced-only>,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse)";

static int64_t countInstructions(const llvm::Module &module) {
  int64_t count = 0;
  for (const llvm::Function &function : module)
    count += function.getInstructionCount();
  return count;
}

/// Instructions of a leaf that costs less than its call: in code, not in time, so that it is no machine's.
static constexpr unsigned maxInlined = 200;

/// Everything but the entries is the module's own; what is small becomes part of its callers.
static llvm::Error internalize(llvm::Module &module, const llvm::StringSet<> &entries) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || entries.contains(function.getName()))
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (!function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(function.getInstructionCount() <= maxInlined
                             ? llvm::Attribute::AlwaysInline
                             : llvm::Attribute::NoInline);
  }
  return Optimizer(/*machine=*/nullptr).run(module, wholePipeline);
}

/// Below this a part's own passes over its module cost LLVM more time than a second core saves.
static constexpr int64_t minPartInstructions = 400;

/// Divides the functions among parts of about equal size; what one part calls of another gets a
/// name that both see.
static void divide(llvm::Module &module, std::vector<Part> &parts) {
  std::vector<llvm::Function *> functions;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  auto key = [](llvm::Function *function) {
    return std::pair(-int64_t(function->getInstructionCount()), function->getName());
  };
  llvm::sort(functions, [&](llvm::Function *x, llvm::Function *y) { return key(x) < key(y); });
  for (llvm::Function *function : functions) {
    Part &part =
        *llvm::min_element(parts, [](const Part &x, const Part &y) { return x.weight < y.weight; });
    part.weight += function->getInstructionCount();
    part.functions.insert(function->getName());
    if (parts.size() > 1 && function->hasLocalLinkage()) {
      function->setLinkage(llvm::GlobalValue::ExternalLinkage);
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
  }
}

/// Makes an object file of a part; `bitcode` is the whole module, for parts that do not have it
/// yet.
static void compilePart(Part &part, llvm::StringRef bitcode,
                        llvm::orc::JITTargetMachineBuilder host) {
  auto fail = [&](llvm::Error error) { part.error = llvm::toString(std::move(error)); };
  if (!part.module) {
    part.context = std::make_unique<llvm::LLVMContext>();
    collectErrors(*part.context, part.error);
    // Bodies of other parts' functions are never read.
    auto read = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, "kernels"), *part.context);
    if (!read)
      return fail(read.takeError());
    part.module = std::move(*read);
  }
  for (llvm::Function &function : *part.module)
    if (!function.isDeclaration() && !part.functions.contains(function.getName()))
      function.deleteBody();
  if (llvm::Error error = part.module->materializeAll())
    return fail(std::move(error));
  auto machine = host.createTargetMachine();
  if (!machine)
    return fail(machine.takeError());
  if (llvm::Error error = Optimizer(machine->get()).run(*part.module, partPipeline))
    return fail(std::move(error));
  part.instructions = countInstructions(*part.module);
  llvm::raw_svector_ostream stream(part.object);
  llvm::legacy::PassManager passes;
  llvm::MCContext *context = nullptr;
  if ((*machine)->addPassesToEmitMC(passes, context, stream)) {
    part.error = "this target emits no machine code";
    return;
  }
  passes.run(*part.module);
  part.module.reset();
  part.context.reset();
}

/// LLVM's description of a target; null, with an error at the module, where there is none.
static std::optional<llvm::orc::JITTargetMachineBuilder> describeMachine(ModuleOp code, StringRef target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) {
    code.emitError() << "no code can be made for this processor: " << llvm::toString(host.takeError());
    return std::nullopt;
  }
  if (target != "cpu") {
    llvm::orc::JITTargetMachineBuilder ofClass(host->getTargetTriple());
    ofClass.setCPU(target.starts_with("x86-64") ? target.str() : "generic");
    *host = std::move(ofClass);
  }
  // What the runtime's loader takes.
  host->setRelocationModel(llvm::Reloc::PIC_);
  host->setCodeModel(llvm::CodeModel::Small);
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return std::move(*host);
}

/// The objects of all parts as one file.
static FailureOr<std::string> joinObjects(ModuleOp code, ArrayRef<Part> parts) {
  auto textOf = [](const Part &part) { return StringRef(part.object.data(), part.object.size()); };
  if (parts.size() == 1)
    return textOf(parts.front()).str();
  std::vector<llvm::NewArchiveMember> members;
  for (auto [i, part] : llvm::enumerate(parts)) {
    llvm::NewArchiveMember &member = members.emplace_back();
    member.Buf = llvm::MemoryBuffer::getMemBufferCopy(textOf(part), "part" + std::to_string(i));
    member.MemberName = member.Buf->getBufferIdentifier();
  }
  auto archive = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
                                            /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return code.emitError() << "the objects cannot be joined: " << llvm::toString(archive.takeError());
  return (*archive)->getBuffer().str();
}

/// Parts of code that is stored: the same on every machine.
static constexpr int64_t maxStoredParts = 8;

static LogicalResult failWith(ModuleOp code, StringRef target, const std::string &message) {
  return code.emitError() << "code generation for " << target << " failed: " << message;
}

static LogicalResult translate(ModuleOp code, StringRef target, ArrayRef<std::string> entries, Translated &result) {
  registerBuiltinDialectTranslation(*code.getContext());
  registerLLVMDialectTranslation(*code.getContext());
  result.machine = describeMachine(code, target);
  if (!result.machine)
    return failure();
  auto layout = result.machine->getDefaultDataLayoutForTarget();
  if (!layout)
    return failWith(code, target, llvm::toString(layout.takeError()));
  collectErrors(*result.context, result.errors);
  result.module = translateModuleToLLVMIR(code, *result.context);
  if (!result.module)
    return failWith(code, target, "there is no translation to LLVM");
  result.module->setTargetTriple(result.machine->getTargetTriple());
  result.module->setDataLayout(*layout);
  result.instructions = countInstructions(*result.module);
  llvm::StringSet<> names;
  for (const std::string &name : entries)
    names.insert(name);
  if (llvm::Error error = internalize(*result.module, names))
    return failWith(code, target, llvm::toString(std::move(error)));
  return success();
}

FailureOr<std::string> mlir::ft::translateToAssembly(ModuleOp code, StringRef target, ArrayRef<std::string> entries) {
  PassManager scopes(code.getContext());
  scopes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  Translated translated;
  if (failed(scopes.run(code)) || failed(translate(code, target, entries, translated)))
    return failure();
  auto machine = translated.machine->createTargetMachine();
  if (!machine)
    return failWith(code, target, llvm::toString(machine.takeError()));
  if (llvm::Error error = Optimizer(machine->get()).run(*translated.module, partPipeline))
    return failWith(code, target, llvm::toString(std::move(error)));
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return failWith(code, target, "this target emits no assembly");
  passes.run(*translated.module);
  if (!translated.errors.empty())
    return failWith(code, target, translated.errors);
  return text.str().str();
}

FailureOr<HostObjects> mlir::ft::translateToObjects(ModuleOp code, StringRef target, ArrayRef<std::string> entries) {
  Translated translated;
  if (failed(translate(code, target, entries, translated)))
    return failure();
  HostObjects result;
  result.translated = translated.instructions;
  llvm::Module &module = *translated.module;
  std::vector<Part> parts(std::clamp<int64_t>(countInstructions(module) / minPartInstructions, 1,
                                              target == "cpu" ? ft_num_threads() : maxStoredParts));
  divide(module, parts);
  llvm::SmallVector<char, 0> bitcode;
  if (parts.size() > 1) {
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(module, stream);
  }
  collectErrors(*translated.context, parts.front().error);
  parts.front().context = std::move(translated.context);
  parts.front().module = std::move(translated.module);
  auto compileOne = [&](int64_t i) {
    compilePart(parts[i], {bitcode.data(), bitcode.size()}, *translated.machine);
  };
  ft_parallel_for(
      [](void *env, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          (*static_cast<decltype(compileOne) *>(env))(i);
      },
      &compileOne, parts.size(), /*grain=*/1);
  for (const Part &part : parts) {
    if (!part.error.empty() || !translated.errors.empty())
      return failWith(code, target, part.error + translated.errors);
    result.optimized += part.instructions;
  }
  FailureOr<std::string> image = joinObjects(code, parts);
  if (failed(image))
    return failure();
  result.image = std::move(*image);
  return result;
}
