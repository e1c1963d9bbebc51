//===- ReduceMain.cpp - ft-reduce -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-reduce with our dialects, input limits and a reduction of our own, `ft-shrink`.
//
//===----------------------------------------------------------------------===//
#include "ft/Tools/Output.h"
#include "Reducer.h"
#include "ft/Tools/SourceMessages.h"
#include "ft/Tools/ToolHelp.h"
#include "ft/Tools/ToolOptions.h"

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/InputLimits.h"
#include "ft/Tools/ToolMains.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace {
struct FTShrink : PassWrapper<FTShrink, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FTShrink)
  FTShrink() = default;
  FTShrink(const FTShrink &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "ft-shrink"; }
  StringRef getDescription() const override {
    return "make a module smaller while a script, called with the file's name, ends with a status other than 0";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!llvm::sys::fs::can_execute(test)) {
      emitError(module.getLoc(), "ft-shrink: test: '") << test << "' is no script that can be run";
      return signalPassFailure();
    }
    Tester tester(test, testArgs);
    auto isInteresting = [&](ModuleOp candidate) {
      return tester.isInteresting(candidate).first == Tester::Interestingness::True;
    };
    if (!isInteresting(module)) {
      emitError(module.getLoc(), "ft-shrink: the input is not interesting: '") << test << "' ends with status 0";
      return signalPassFailure();
    }
    ft::tools::Reducer reducer(OwningOpRef<ModuleOp>(module.clone()), isInteresting, maxTests);
    OwningOpRef<ModuleOp> smallest = reducer.run();
    if (reducer.getNumTests() >= maxTests)
      emitWarning(module.getLoc(), "ft-shrink: stopped after max-tests = ") << maxTests << "; there may be more to take away";
    module->setAttrs(smallest->getOperation()->getAttrDictionary());
    module.getBodyRegion().takeBody(smallest->getBodyRegion());
  }

  Option<std::string> test{*this, "test", llvm::cl::desc("The script")};
  ListOption<std::string> testArgs{*this, "test-arg", llvm::cl::desc("Its arguments before the file's name")};
  Option<uint64_t> maxTests{*this, "max-tests", llvm::cl::desc("Most runs of the script"), llvm::cl::init(10000)};
};
} // namespace

/// Upstream's reduction takes operations out of bodies without a look at what their ends are: of a program over lists that leaves
/// nothing that verifies.
static bool canReduce(PassManager &pm, ModuleOp module) {
  std::string pipeline;
  llvm::raw_string_ostream stream(pipeline);
  pm.printAsTextualPipeline(stream);
  if (!StringRef(pipeline).contains("reduction-tree"))
    return true;
  WalkResult found = module.walk([](Operation *op) {
    if (!isa_and_nonnull<mlir::ft::FTDialect>(op->getDialect()) || op->getNumRegions() == 0)
      return WalkResult::advance();
    op->emitError("reduction-tree cannot shrink bodies of programs over lists: use --ft-shrink=test=SCRIPT");
    return WalkResult::interrupt();
  });
  return !found.wasInterrupted();
}

int mlir::ft::reduceMain(int argc, char **argv, DialectRegistry &registry) {
  namespace cl = llvm::cl;
  llvm::InitLLVM init(argc, argv);
  setUpTool("ft-reduce");
  tools::registerInputOptions();
  cl::opt<std::string> inputFile(cl::Positional, cl::desc("<input file>"), cl::init("-"), cl::cat(tools::ownOptions()));
  cl::opt<std::string> outputFile("o", cl::desc("Output file"), cl::value_desc("filename"), cl::init("-"),
                                  cl::cat(tools::ownOptions()));
  PassRegistration<FTShrink>();
  registerReducerPasses();
  std::optional<PassPipelineCLParser> passes;
  tools::registerUpstream(
      [&] {
        registerAsmPrinterCLOptions();
        registerMLIRContextCLOptions();
        passes.emplace("", "Reductions and other passes to run");
      },
      {"pass-pipeline", "mlir-print-debuginfo", "mlir-disable-threading"});
  if (tools::asksForHelp(argc, argv)) {
    llvm::outs() << "Reductions; any pass may follow them, and --help-hidden describes all.\n\n";
    for (StringRef name : {"ft-shrink", "reduction-tree", "opt-reduction-pass"})
      PassInfo::lookup(name)->printHelpStr(/*indent=*/2, /*descIndent=*/30);
    llvm::outs() << '\n';
  }
  cl::ParseCommandLineOptions(argc, argv, "FractalTensor reduction driver\n");

  std::unique_ptr<llvm::MemoryBuffer> buffer = tools::loadInput(inputFile);
  if (!buffer)
    return EXIT_FAILURE;
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  auto manager = std::make_shared<llvm::SourceMgr>();
  manager->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  tools::SourceMessages handler(*manager, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(manager, &context);
  if (!module)
    return EXIT_FAILURE;
  PassManager pm(&context);
  auto report = [&](const Twine &message) {
    emitError(module->getLoc()) << message;
    return failure();
  };
  if (failed(passes->addToPipeline(pm, report)) || !canReduce(pm, *module) || failed(pm.run(*module)))
    return EXIT_FAILURE;
  // Into memory first: nothing is half written.
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return tools::writeOutput(outputFile, text) ? EXIT_SUCCESS : EXIT_FAILURE;
}
