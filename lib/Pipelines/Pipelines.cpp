//===- Pipelines.cpp - from one phase to the next -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Pipelines/Pipelines.h"
#include "ft/Pipelines/Phases.h"

using namespace mlir;

void ft::buildToETDGPipeline(OpPassManager &pm) {
  buildPhase(pm, Phase::FT);
  buildPhase(pm, Phase::ETDG);
}
