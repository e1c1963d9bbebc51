//===- Pipelines.cpp - from one phase to the next -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Pipelines/Pipelines.h"

#include "ft/Conversion/Passes.h"
#include "ft/Dialect/FT/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void ft::buildToETDGPipeline(OpPassManager &pm) {
  pm.addPass(createFTInline());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertFTToETDG());
  pm.addPass(createConvertLinalgToETDG());
}
