//===- OptMain.cpp - ft-opt -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with our dialects and passes, except that the text goes through the
// input limits first.
//
//===----------------------------------------------------------------------===//
#include "ft/Support/InputLimits.h"
#include "ft/Tools/ToolMains.h"

#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

int mlir::ft::optMain(int argc, char **argv, DialectRegistry &registry) {
  setUpTool("ft-opt");
  registerInputOptions();
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
  if (inputFile == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";

  std::unique_ptr<llvm::MemoryBuffer> buffer = loadInputFromOptions(inputFile);
  if (!buffer)
    return EXIT_FAILURE;
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputFile, &message);
  if (!output) {
    llvm::errs() << "error: " << message << '\n';
    return EXIT_FAILURE;
  }
  if (failed(MlirOptMain(output->os(), std::move(buffer), registry, config)))
    return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}
