//===- InitAll.cpp - Register everything ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that knows every dialect and pass.
//
//===----------------------------------------------------------------------===//
#include "ft/InitAll.h"

#include "ft/Conversion/ETDGToDataflow/Passes.h"
#include "ft/Conversion/LoopsToGPU/Passes.h"
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Conversion/Passes.h"
#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Dialect/Loops/Transforms/Passes.h"
#include "ft/Dialect/TSSA/IR/TSSA.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Dialect/Tile/Transforms/Passes.h"
#include "ft/Dialect/TSSA/Transforms/Passes.h"
#include "ft/Partition/Passes.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Schedule/Passes.h"
#include "ft/Validator/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void mlir::ft::registerOwnDialects(DialectRegistry &registry) {
  registry.insert<FTDialect, etdg::ETDGDialect, loops::LoopsDialect, tile::TileDialect, tssa::TSSADialect>();
}

void mlir::ft::registerAllDialects(DialectRegistry &registry) {
  registerOwnDialects(registry);
  // Registration loads nothing: a dialect costs time only when it is used.
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
}

void mlir::ft::registerOwnPasses(std::function<bool()> validates) {
  registerFTPasses();
  etdg::registerETDGPasses();
  tssa::registerTSSAPasses();
  registerFTConversionPasses();
  registerFTTilePasses();
  registerFTLoopsPasses();
  tile::registerTilePipelinePasses();
  registerFTGpuPasses();
  registerFTSchedulePasses();
  registerFTPartitionPasses();
  etdg::registerExploreDataflowPass();
  registerLeafPasses();
  registerPipelines(std::move(validates));
  etdg::registerFTValidatorPasses();
}

void mlir::ft::registerAllPasses(std::function<bool()> validates) {
  registerOwnPasses(std::move(validates));
  mlir::registerAllPasses();
}

const char *mlir::ft::getVersion() { return FT_VERSION; }

const char *mlir::ft::getBugReportMessage() {
  return "This is a bug in FractalTensor or in the MLIR that it uses. Please report it with the\n"
         "input file and the command line above; --mlir-pass-pipeline-crash-reproducer=FILE\n"
         "writes both into FILE.\n";
}
