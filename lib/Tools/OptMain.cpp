//===- OptMain.cpp - ft-opt -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with our dialects and passes, except that the text goes through the
// input limits first.
//
//===----------------------------------------------------------------------===//
#include "ft/Tools/Output.h"
#include "ft/Tools/SourceMessages.h"
#include "ft/Tools/ToolHelp.h"
#include "ft/Tools/ToolOptions.h"

#include "ft/Tools/ToolMains.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ft;

/// Upstream takes an expression that is none for one that matches nothing.
static bool checkRemarkFilters(const MlirOptMainConfig &config) {
  std::pair<const char *, std::string> filters[] = {
      {"remarks-filter", config.getRemarksAllFilter()},
      {"remarks-filter-passed", config.getRemarksPassedFilter()},
      {"remarks-filter-failed", config.getRemarksFailedFilter()},
      {"remarks-filter-missed", config.getRemarksMissedFilter()},
      {"remarks-filter-analyze", config.getRemarksAnalyseFilter()}};
  for (auto &[name, filter] : filters) {
    std::string reason;
    if (filter.empty() || llvm::Regex(filter).isValid(reason))
      continue;
    llvm::errs() << "error: --" << name << "=" << filter << " is no regular expression: " << reason << '\n';
    return false;
  }
  return true;
}

namespace {
/// Shows messages of passes for as long as their pass manager lives.
struct MessagesOfPasses : PassInstrumentation {
  MessagesOfPasses(MLIRContext *context, llvm::MemoryBufferRef input) : messages(sources, context) {
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input, /*RequiresNullTerminator=*/false), llvm::SMLoc());
  }
  llvm::SourceMgr sources;
  tools::SourceMessages messages;
};
} // namespace

/// The driver below shows whole lines, whatever their length. Its messages while it parses are given before it, where there
/// are long lines, and those of passes instead of it. Tests that expect messages, and parts of a file, are left to it.
static LogicalResult boundMessages(MlirOptMainConfig &config, const llvm::MemoryBuffer &input, DialectRegistry &registry) {
  if (config.shouldVerifyDiagnostics() || !config.inputSplitMarker().empty())
    return success();
  MlirOptMainConfig given = config;
  config.setPassPipelineSetupFn([given, text = input.getMemBufferRef()](PassManager &pm) {
    pm.addInstrumentation(std::make_unique<MessagesOfPasses>(pm.getContext(), text));
    return given.setupPassPipeline(pm);
  });
  if (isBytecode(input) || !tools::hasLongLine(input.getBuffer()))
    return success();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input.getMemBufferRef(), /*RequiresNullTerminator=*/false), llvm::SMLoc());
  tools::SourceMessages messages(sources, &context);
  ParserConfig parser(&context, /*verifyAfterParse=*/true);
  return success(config.shouldUseExplicitModule() ? bool(parseSourceFile(sources, parser)) : bool(parseSourceFile<ModuleOp>(sources, parser)));
}

int mlir::ft::optMain(int argc, char **argv, DialectRegistry &registry) {
  setUpTool("ft-opt");
  tools::registerInputOptions();
  tools::registerPhaseOptions();
  std::string header;
  tools::registerUpstream([&] { header = registerCLIOptions("FractalTensor optimiser driver", registry); },
                          {"o", "pass-pipeline", "list-passes", "show-dialects", "dump-pass-pipeline", "split-input-file", "verify-diagnostics",
                           "verify-each", "run-reproducer", "load-dialect-plugin", "load-pass-plugin", "allow-unregistered-dialect", "no-implicit-module",
                           "remarks-filter", "remark-format", "remarks-output-file", "mlir-print-ir-after-all", "mlir-print-ir-after-change",
                           "mlir-print-ir-before-all", "mlir-print-ir-after-failure", "mlir-print-ir-tree-dir", "mlir-print-ir-after",
                           "mlir-timing", "mlir-pass-pipeline-crash-reproducer", "mlir-print-debuginfo", "mlir-disable-threading",
                           "mlir-elide-elementsattrs-if-larger", "emit-bytecode"});
  if (tools::asksForHelp(argc, argv))
    tools::printPassesByPhase();
  auto [inputFile, outputFile] = parseCLIOptions(argc, argv, "FractalTensor optimiser driver");
  llvm::InitLLVM init(argc, argv);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects()) {
    llvm::outs() << "Available Dialects: ";
    llvm::interleaveComma(registry.getDialectNames(), llvm::outs());
    llvm::outs() << '\n';
    return EXIT_SUCCESS;
  }
  if (config.shouldListPasses()) {
    printRegisteredPasses();
    return EXIT_SUCCESS;
  }
  if (!checkRemarkFilters(config))
    return EXIT_FAILURE;
  if (inputFile == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";

  std::unique_ptr<llvm::MemoryBuffer> buffer = tools::loadInput(inputFile);
  if (!buffer)
    return EXIT_FAILURE;
  if (failed(boundMessages(config, *buffer, registry)))
    return EXIT_FAILURE;
  // Into memory first: nothing is half written.
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(buffer), registry, config)))
    return EXIT_FAILURE;
  return tools::writeOutput(outputFile, text) ? EXIT_SUCCESS : EXIT_FAILURE;
}
