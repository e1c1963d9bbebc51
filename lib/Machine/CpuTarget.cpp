//===- CpuTarget.cpp - vector registers of a processor --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Machine/CpuTarget.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir::ft;

CpuTarget CpuTarget::host() {
  static const CpuTarget target = [] {
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    CpuTarget found;
    if (!features.lookup("avx512f")) {
      found.vectorBytes = features.lookup("avx") ? 32 : 16;
      found.vectorRegisters = llvm::sys::getDefaultTargetTriple().starts_with("x86") ? 16 : 32;
    }
    return found;
  }();
  return target;
}
