//===- ToolSetup.cpp - What all tools do at start --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Tools/ToolHelp.h"

#include "ft/InitAll.h"
#include "ft/Tools/ToolMains.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

void mlir::ft::setUpTool(const char *name) {
  llvm::setBugReportMsg(getBugReportMessage());
  // Hundreds of options of LLVM's code generators stand in the way of a tool's own, which are
  // registered later, or say so; --help-hidden shows them all.
  for (auto &option : llvm::cl::getRegisteredOptions())
    if (!llvm::is_contained({"help", "help-hidden", "help-list", "version"}, option.first) &&
        !llvm::is_contained(option.second->Categories, &tools::ownOptions()))
      option.second->setHiddenFlag(llvm::cl::Hidden);
  static const char *toolName = name;
  toolName = name;
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << toolName << " (FractalTensor " << getVersion() << ", LLVM " << LLVM_VERSION_STRING
       << ")\n";
  });
}
