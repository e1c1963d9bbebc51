//===- TranslateMain.cpp - ft-translate -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver for the translations that are registered with MLIR's registry.
// Upstream's opens the file itself; ours reads it under the input limits, and
// leaves no output file after when a translation fails.
//
//===----------------------------------------------------------------------===//
#include "ft/Tools/Output.h"
#include "ft/Tools/SourceMessages.h"
#include "ft/Tools/ToolHelp.h"
#include "ft/Tools/ToolOptions.h"
#include "Translations.h"

#include "ft/Support/WholeFile.h"
#include "ft/Tools/ToolMains.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

void mlir::ft::registerAllTranslations() {
  tools::registerGraphTranslations();
  tools::registerCodeTranslations();
}

int mlir::ft::translateMain(int argc, char **argv, DialectRegistry &registry) {
  namespace cl = llvm::cl;
  llvm::InitLLVM init(argc, argv);
  setUpTool("ft-translate");
  tools::registerInputOptions();
  tools::registerPhaseOptions();
  cl::OptionCategory &own = tools::ownOptions();
  cl::opt<std::string> inputFile(cl::Positional, cl::desc("<input file>"), cl::init("-"), cl::cat(own));
  cl::opt<std::string> outputFile("o", cl::desc("Output file"), cl::value_desc("filename"), cl::init("-"), cl::cat(own));
  cl::opt<std::string> splitMarker("split-input-file", cl::ValueOptional, cl::desc("Translate the pieces of the file independently"),
                                   cl::init(""), cl::cat(own), cl::callback([&](const std::string &value) {
                                     if (value.empty())
                                       splitMarker.setValue(kDefaultSplitMarker);
                                   }));
  cl::opt<bool> verifyDiagnostics("verify-diagnostics", cl::init(false), cl::desc("Check diagnostics against expected-* comments"),
                                  cl::cat(own));
  cl::list<const Translation *, bool, TranslationParser> requested("", cl::desc("Translation to perform"), cl::cat(own));
  tools::registerUpstream(
      [] {
        registerAsmPrinterCLOptions();
        registerMLIRContextCLOptions();
        registerTranslationCLOptions();
      },
      {"mlir-print-debuginfo", "mlir-disable-threading"});
  tools::registerPassOptions();
  cl::ParseCommandLineOptions(argc, argv, "FractalTensor translation driver\n");
  if (requested.size() != 1) {
    llvm::errs() << "ft-translate: error: expected one translation, such as --etdg-to-json, found " << requested.size()
                 << "; --help lists them\n";
    return EXIT_FAILURE;
  }

  std::unique_ptr<llvm::MemoryBuffer> buffer = tools::loadInput(inputFile);
  if (!buffer)
    return EXIT_FAILURE;

  // Into memory first: nothing is half written.
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto translate = [&](std::unique_ptr<llvm::MemoryBuffer> chunk, llvm::raw_ostream &os) {
    MLIRContext context(registry);
    context.printOpOnDiagnostic(false);
    auto manager = std::make_shared<llvm::SourceMgr>();
    manager->AddNewSourceBuffer(std::move(chunk), llvm::SMLoc());
    if (verifyDiagnostics) {
      SourceMgrDiagnosticVerifierHandler handler(*manager, &context);
      (void)(*requested[0])(manager, os, &context);
      return handler.verify();
    }
    tools::SourceMessages handler(*manager, &context);
    // What is wrong with a whole file is wrong at its beginning.
    ScopedDiagnosticHandler whole(&context, [](Diagnostic &diagnostic) {
      Location place = wholeFile(diagnostic.getLocation());
      if (place == diagnostic.getLocation() || diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      InFlightDiagnostic again = emitError(place) << diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        again.attachNote(note.getLocation()) << note.str();
      return success();
    });
    return (*requested[0])(manager, os, &context);
  };
  if (failed(splitAndProcessBuffer(std::move(buffer), translate, stream, splitMarker)))
    return EXIT_FAILURE;

  return tools::writeOutput(outputFile, text) ? EXIT_SUCCESS : EXIT_FAILURE;
}
