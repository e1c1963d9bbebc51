//===- ft-dataflow.cpp - Thin main ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/ETDGToDataflow/MachineAccelerator.h"
#include "ft/Dataflow/Report/Tool.h"

using ft::dataflow::Accelerator;
using mlir::ft::Machine;

static std::optional<Accelerator> findMachine(const std::string &nameOrFile, std::string &error) {
  llvm::Expected<std::shared_ptr<const Machine>> found = Machine::find(nameOrFile);
  if (!found) {
    error = llvm::toString(found.takeError());
    if (error.find(": error: ") == std::string::npos)
      error = "ft-dataflow: error: " + error;
    return std::nullopt;
  }
  Accelerator result = toAccelerator(**found);
  if (result.globalBytes <= 0) {
    error = "ft-dataflow: error: machine '" + nameOrFile + "' has no buffer of a known size";
    return std::nullopt;
  }
  return result;
}

int main(int argc, char **argv) { return ft::dataflow::dataflowMain(argc, argv, findMachine); }
