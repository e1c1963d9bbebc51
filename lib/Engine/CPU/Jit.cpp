//===- Jit.cpp - machine code in this process -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MLIR's ExecutionEngine does, at less than half of its time: no wrappers for
// packed arguments, which here cost as much as the functions; leaves are internal;
// passes that generated code has no use for are left out; and functions are
// compiled on all threads, in parts that share nothing but names.
//
//===----------------------------------------------------------------------===//
#include "Jit.h"

#include "ft/Runtime/ThreadPool.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace mlir::ft;

JitCode::JitCode() = default;
JitCode::~JitCode() = default;

namespace {

/// The analyses and passes of LLVM's optimizer for one machine.
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
} // namespace

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

/// Instructions of a leaf that costs less than its call.
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

/// Below this a part costs more than it saves.
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
    auto read = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernels"), *part.context);
    if (!read)
      return fail(read.takeError());
    part.module = std::move(*read);
  }
  for (llvm::Function &function : *part.module)
    if (!function.isDeclaration() && !part.functions.contains(function.getName()))
      function.deleteBody();
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

FailureOr<std::shared_ptr<JitCode>> JitCode::compile(ModuleOp code, ArrayRef<std::string> entries) {
  MLIRContext *mlirContext = code.getContext();
  registerBuiltinDialectTranslation(*mlirContext);
  registerLLVMDialectTranslation(*mlirContext);
  static std::once_flag targets;
  std::call_once(targets, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto failWith = [&](const std::string &message) {
    return emitError(code.getLoc()) << "the CPU engine failed: " << message;
  };
  auto fail = [&](llvm::Error error) { return failWith(llvm::toString(std::move(error))); };
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return fail(host.takeError());
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto layout = host->getDefaultDataLayoutForTarget();
  if (!layout)
    return fail(layout.takeError());

  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(code, *context);
  if (!module)
    return failWith("there is no translation to LLVM");
  module->setTargetTriple(host->getTargetTriple());
  module->setDataLayout(*layout);
  std::shared_ptr<JitCode> result(new JitCode);
  result->size.translated = countInstructions(*module);

  llvm::StringSet<> names;
  for (const std::string &name : entries)
    names.insert(name);
  if (llvm::Error error = internalize(*module, names))
    return fail(std::move(error));
  std::vector<Part> parts(
      std::clamp<int64_t>(countInstructions(*module) / minPartInstructions, 1, ft_num_threads()));
  divide(*module, parts);
  llvm::SmallVector<char, 0> bitcode;
  if (parts.size() > 1) {
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*module, stream);
  }
  parts.front().context = std::move(context);
  parts.front().module = std::move(module);
  auto compileOne = [&](int64_t i) {
    compilePart(parts[i], {bitcode.data(), bitcode.size()}, *host);
  };
  ft_parallel_for(
      [](void *env, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          (*static_cast<decltype(compileOne) *>(env))(i);
      },
      &compileOne, parts.size(), /*grain=*/1);

  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(*host)
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
      .setObjectLinkingLayerCreator([](llvm::orc::ExecutionSession &session) {
        return std::make_unique<llvm::orc::RTDyldObjectLinkingLayer>(
            session, [](const llvm::MemoryBuffer &) {
              return std::make_unique<llvm::SectionMemoryManager>();
            });
      });
  auto jit = builder.create();
  if (!jit)
    return fail(jit.takeError());
  for (Part &part : parts) {
    if (!part.error.empty())
      return failWith(part.error);
    result->size.optimized += part.instructions;
    result->size.bytes += part.object.size();
    if (llvm::Error error = (*jit)->addObjectFile(std::make_unique<llvm::SmallVectorMemoryBuffer>(
            std::move(part.object), /*RequiresNullTerminator=*/false)))
      return fail(std::move(error));
  }
  result->jit = std::move(*jit);
  return result;
}

void *JitCode::lookup(Location loc, StringRef name) {
  auto address = jit->lookup(name);
  if (address)
    return address->toPtr<void *>();
  emitError(loc) << "the CPU engine failed: " << llvm::toString(address.takeError());
  return nullptr;
}
