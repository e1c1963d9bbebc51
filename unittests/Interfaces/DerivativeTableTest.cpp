//===- DerivativeTableTest.cpp - no scalar operation is left out ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation of `arith` and `math`, as they are installed, has a derivative, is constant piece by piece, or is
// refused with a reason (MathDerivatives.def). An operation that a newer MLIR adds fails here, not in a user's program.
//
//===----------------------------------------------------------------------===//
#include "ft/InitAll.h"
#include "ft/Interfaces/Differentiable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

static void checkDialect(MLIRContext &context, StringRef dialect, unsigned fewest) {
  unsigned found = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != dialect)
      continue;
    ++found;
    EXPECT_TRUE(name.hasInterface<ft::DifferentiableOpInterface>()) << name.getStringRef().str() << " has no derivative and no refusal";
  }
  EXPECT_GE(found, fewest); // or nothing would be checked
}

TEST(DerivativeTable, HasEachOperation) {
  DialectRegistry registry;
  ft::registerAllDialects(registry);
  ft::registerDifferentiableModels(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect, math::MathDialect>();
  checkDialect(context, "arith", 40);
  checkDialect(context, "math", 40);
}
