//===- OptMain.cpp - ft-opt -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with our dialects and passes, except that the text goes through the
// input limits first.
//
//===----------------------------------------------------------------------===//
#include "Output.h"
#include "ToolOptions.h"

#include "ft/Tools/ToolMains.h"

#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Upstream takes an expression that is none for one that matches nothing.
static bool checkRemarkFilters(const MlirOptMainConfig &config) {
  std::pair<const char *, std::string> filters[] = {
      {"remarks-filter", config.getRemarksAllFilter()},
      {"remarks-filter-passed", config.getRemarksPassedFilter()},
      {"remarks-filter-failed", config.getRemarksFailedFilter()},
      {"remarks-filter-missed", config.getRemarksMissedFilter()},
      {"remarks-filter-analyse", config.getRemarksAnalyseFilter()}};
  for (auto &[name, filter] : filters) {
    std::string reason;
    if (filter.empty() || llvm::Regex(filter).isValid(reason))
      continue;
    llvm::errs() << "error: --" << name << "=" << filter << " is no regular expression: " << reason << '\n';
    return false;
  }
  return true;
}

int mlir::ft::optMain(int argc, char **argv, DialectRegistry &registry) {
  setUpTool("ft-opt");
  tools::registerInputOptions();
  tools::registerPhaseOptions();
  auto [inputFile, outputFile] =
      registerAndParseCLIOptions(argc, argv, "FractalTensor optimiser driver", registry);
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
  // Into memory first: nothing is half written.
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(buffer), registry, config)))
    return EXIT_FAILURE;
  return tools::writeOutput(outputFile, text) ? EXIT_SUCCESS : EXIT_FAILURE;
}
