//===- ft-plugin.cpp - Our dialects and passes for mlir-opt ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loaded by --load-dialect-plugin and --load-pass-plugin (both are needed). It
// holds nothing itself: everything is in the one shared library, so that tool
// and plugin can live in one process.
//
//===----------------------------------------------------------------------===//
#include "ft/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

// Without default visibility the loader does not find the entries, and then
// reports the consequence ("unregistered dialect") rather than the cause.
#define FT_PLUGIN_ENTRY extern "C" __attribute__((visibility("default"), weak))

FT_PLUGIN_ENTRY mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "FractalTensor", mlir::ft::getVersion(),
          [](mlir::DialectRegistry *registry) { mlir::ft::registerOwnDialects(*registry); }};
}

FT_PLUGIN_ENTRY mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "FractalTensor", mlir::ft::getVersion(),
          [] { mlir::ft::registerOwnPasses(); }};
}
