//===- VerifierWorkTest.cpp - what the verifier of graphs asks of sets ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counted in sets, which are the same in every run (ft/Analysis/SetWork.h).
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Analysis/SetWork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <string>

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// Maps nested in each other, `depth` of them, with a fold beside what each holds. The folds keep
/// `live` planes of their state and carry `lag` planes on.
std::string foldsInMaps(unsigned depth, unsigned live, unsigned lag) {
  std::string type = "!etdg.buffer<[", outer, index, text;
  for (unsigned d = 0; d < depth; ++d)
    type += (d ? ", N" : "N") + std::to_string(d);
  type += "], !x>";
  std::string far = std::to_string(lag);
  text = "!x = tensor<2xf32>\n!s = !etdg.buffer<[M], !x>\n"
         "etdg.graph @nested(%v: !s, %all: " + type + ") -> " + type + " {\n%out = etdg.buffer : " + type + "\n";
  for (unsigned d = 0; d < depth; ++d) {
    std::string n = std::to_string(d), i = "i" + n;
    text += "etdg.block [map] (" + outer + (d ? " | " : "") + i + ") in [0, N" + n + ") {\n";
    outer += (d ? ", " : "") + i;
    index += (d ? ", " : "") + i;
    text += "%s" + n + " = etdg.buffer live [" + std::to_string(live) + "] : !s\n" +
            "etdg.block [foldl] (" + outer + " | m) in [0, M) reads (%a = {m >= " + far + ": %s" + n +
            "[m - " + far + "], m <= " + std::to_string(lag - 1) +
            ": splat 0.0 : f32} : !x, %b = %v[m] : !x) writes (%s" + n + "[m]) {\n" +
            "%y = arith.addf %a, %b : !x\netdg.yield %y : !x\n} : !s, !s\n";
  }
  text += "etdg.block [] (" + outer + " |) reads (%a = splat 0.0 : f32 : !x) writes (%out[" + index +
          "]) {\netdg.yield %a : !x\n} : " + type + "\n";
  for (unsigned d = 0; d < depth; ++d)
    text += "}\n";
  return text + "etdg.return %out : " + type + "\n}\n";
}

class VerifierWork : public ::testing::Test {
protected:
  VerifierWork() {
    context.loadDialect<ETDGDialect, arith::ArithDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        message += diagnostic.str();
      return success();
    });
  }

  /// Sets that it takes to verify a graph.
  int64_t measure(const std::string &text, bool isGood) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message << "\n" << text;
    if (!module)
      return -1;
    int64_t before = getNumSetsAsked();
    EXPECT_EQ(succeeded(verifyGraph(*module->getOps<GraphOp>().begin())), isGood) << message;
    return getNumSetsAsked() - before;
  }

  MLIRContext context;
  std::string message;
};
} // namespace

// Each fold is compared with itself in the orders of its own loop alone: those around it agree in whose plane it is.
TEST_F(VerifierWork, LivePlanesOfNestedFolds) {
  int64_t few = measure(foldsInMaps(6, 1, 1), true), many = measure(foldsInMaps(12, 1, 1), true);
  llvm::outs() << "6 and 12 maps: " << few << " and " << many << " sets\n";
  EXPECT_GE(few, 6 * 6);
  EXPECT_LE(many, 2.5 * few);
}

// What makes the questions fewer forgets no order: a plane too few is seen at each depth.
TEST_F(VerifierWork, LivePlanesAreCounted) {
  for (unsigned depth : {1, 3, 7})
    for (unsigned lag : {1, 2, 3}) {
      measure(foldsInMaps(depth, lag, lag), true);
      if (lag == 1)
        continue;
      message.clear();
      measure(foldsInMaps(depth, lag - 1, lag), false);
      EXPECT_NE(message.find("(V8)"), std::string::npos) << message;
    }
}
