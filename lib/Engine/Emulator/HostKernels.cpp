//===- HostKernels.cpp - GPU kernels as functions of this process ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HostKernels.h"
#include "GroupCalls.h"
#include "Instrument.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace ::ft::emulate;

HostKernels::HostKernels() = default;
HostKernels::~HostKernels() = default;

/// What makes code small enough to compile and run; hooks are calls that nothing is moved over.
static llvm::Error optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(
          passes, "function(simplifycfg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)"))
    return error;
  passes.run(module, modules);
  return llvm::Error::success();
}

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> makeJit(const llvm::orc::JITTargetMachineBuilder &host) {
  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(host)
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
      .setObjectLinkingLayerCreator([](llvm::orc::ExecutionSession &session) {
        return std::make_unique<llvm::orc::RTDyldObjectLinkingLayer>(session, [](const llvm::MemoryBuffer &) {
          return std::make_unique<llvm::SectionMemoryManager>();
        });
      });
  auto jit = builder.create();
  if (!jit)
    return jit.takeError();
  llvm::orc::SymbolMap symbols;
  for (auto [name, address] : hooks)
    symbols[(*jit)->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                              llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return error;
  // Elementary functions that this processor has no instruction for.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  return jit;
}

FailureOr<std::unique_ptr<HostKernels>> HostKernels::compile(ModuleOp module,
                                                                         std::vector<TileOperation> tiles) {
  MLIRContext *registry = module.getContext();
  registerBuiltinDialectTranslation(*registry);
  registerLLVMDialectTranslation(*registry);
  registerNVVMDialectTranslation(*registry);
  static std::once_flag targets;
  std::call_once(targets, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto failWith = [&](const llvm::Twine &message) { return module.emitError() << "the emulator failed: " << message; };
  auto fail = [&](llvm::Error error) { return failWith(llvm::toString(std::move(error))); };
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return fail(host.takeError());
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  auto machine = host->createTargetMachine();
  if (!machine)
    return fail(machine.takeError());

  std::vector<std::string> products;
  if (failed(::ft::emulate::callGroupProducts(module, products)))
    return failure();
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, *context, "kernels");
  if (!code)
    return failWith("there is no translation to LLVM");
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  std::vector<std::string> names;
  std::unique_ptr<HostKernels> result(new HostKernels);
  Instrumented instrumented = instrument(*code, std::move(products));
  if (!instrumented.error.empty())
    return module.emitError() << instrumented.error;
  result->sites = std::move(instrumented.sites);
  result->granule = instrumented.granule;
  result->addTiles(std::move(tiles));
  for (llvm::GlobalVariable &variable : code->globals()) {
    if (variable.isDeclaration() || variable.getName().empty() || variable.getName().starts_with("llvm."))
      continue;
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    result->globals.push_back({variable.getName().str(),
                               code->getDataLayout().getTypeAllocSize(variable.getValueType()), nullptr});
  }
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*code, &stream))
    return failWith(problem);
  if (llvm::Error error = optimize(*code, **machine))
    return fail(std::move(error));
  auto jit = makeJit(*host);
  if (!jit)
    return fail(jit.takeError());
  if (llvm::Error error = (*jit)->addIRModule({std::move(code), std::move(context)}))
    return fail(std::move(error));
  for (Global &global : result->globals) {
    auto address = (*jit)->lookup(global.name);
    if (!address)
      return fail(address.takeError());
    global.address = address->toPtr<void *>();
  }
  result->jit = std::move(*jit);
  return result;
}

void HostKernels::addTiles(std::vector<TileOperation> operations) {
  tiles = std::move(operations);
  for (TileOperation &tile : tiles) {
    tile.site = uint32_t(sites.size());
    sites.push_back(tile.text);
    for (uint32_t bytes : {tile.element.bytes(), tile.lhs.element.bytes(), tile.rhs.element.bytes()})
      granule = std::min<uint64_t>(granule, bytes);
  }
}

Kernel HostKernels::lookup(const std::string &name) {
  auto address = jit->lookup(callerOf(name));
  if (address)
    return address->toPtr<Kernel>();
  llvm::consumeError(address.takeError());
  return nullptr;
}
