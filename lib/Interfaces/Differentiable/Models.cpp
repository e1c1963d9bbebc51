//===- Models.cpp - the interface of operations with derivatives ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;

#include "ft/Interfaces/Differentiable.cpp.inc"

SmallVector<Value> mlir::ft::getAdjointReads(Operation *op, ArrayRef<bool> wanted) {
  auto model = dyn_cast<DifferentiableOpInterface>(op);
  if (!model)
    return {};
  // The vjp is built for its questions alone, of cotangents that come from nowhere.
  ScopedDiagnosticHandler silent(op->getContext(), [](Diagnostic &) { return success(); });
  Block scratch;
  OpBuilder b(op->getContext());
  b.setInsertionPointToEnd(&scratch);
  SmallVector<Value> cotangents, gradients;
  for (Value result : op->getResults())
    cotangents.push_back(isDifferentiableType(result.getType()) ? Value(scratch.addArgument(result.getType(), op->getLoc()))
                                                                : Value());
  llvm::SetVector<Value> reads;
  auto primal = [&](Value value) {
    reads.insert(value);
    return value;
  };
  if (failed(model.buildVjp(b, primal, cotangents, wanted, gradients)))
    reads.clear();
  while (!scratch.empty())
    scratch.back().erase();
  return reads.takeVector();
}

void mlir::ft::registerDifferentiableModels(DialectRegistry &registry) {
  derivatives::registerScalarModels(registry);
  derivatives::registerTensorModels(registry);
  derivatives::registerLinalgModels(registry);
  derivatives::registerListModels(registry);
  derivatives::registerFormModels(registry);
}
