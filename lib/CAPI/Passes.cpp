//===- Passes.cpp - passes and pipelines, in C ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/Passes.h"

#include "ft/Conversion/Passes.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/TSSA/Transforms/Passes.h"
#include "ft/InitAll.h"
#include "ft/Partition/Passes.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Schedule/Passes.h"
#include "ft/Validator/Passes.h"

#include "mlir/CAPI/Pass.h"

#include <mutex>

namespace mlir::ft {
#define GEN_PASS_REGISTRATION
#include "ft/Pipelines/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::ft;
using namespace mlir::tssa;

#include "ft/Conversion/Passes.capi.cpp.inc"
#include "ft/Dialect/ETDG/Transforms/Passes.capi.cpp.inc"
#include "ft/Dialect/FT/Transforms/Passes.capi.cpp.inc"
#include "ft/Dialect/TSSA/Transforms/Passes.capi.cpp.inc"
#include "ft/Partition/Passes.capi.cpp.inc"
#include "ft/Pipelines/Passes.capi.cpp.inc"
#include "ft/Schedule/Passes.capi.cpp.inc"
#include "ft/Validator/Passes.capi.cpp.inc"

void mlirRegisterFTAllPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] { registerOwnPasses(); });
}
