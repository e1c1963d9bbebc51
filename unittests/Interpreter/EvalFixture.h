//===- EvalFixture.h - Evaluate a few lines of MLIR in a test -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the body of a function, evaluates it and prints what it returns.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_INTERPRETER_EVALFIXTURE_H
#define FT_UNITTESTS_INTERPRETER_EVALFIXTURE_H

#include "ft/Interpreter/TensorEval.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::ft::interp {

class EvalTest : public ::testing::Test {
protected:
  EvalTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                        math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                        tensor::TensorDialect>();
  }

  /// The values of the operands of `return`, printed and joined by "; ". An
  /// error prints as "error: line: message" of the first diagnostic.
  std::string eval(StringRef body, bool truth = false) {
    std::string text = ("func.func private @test() {\n" + body + "\n}").str();
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
      if (!error.empty())
        return success();
      unsigned line = 0;
      if (auto location = dyn_cast<FileLineColLoc>(diag.getLocation()))
        line = location.getLine() - 1;
      error = "error: " + std::to_string(line) + ": " + diag.str();
      return success();
    });
    // The results are read from a marker op, so that no type need be written.
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return error;
    TensorEval evaluator(truth);
    Environment env;
    auto function = *module->getOps<func::FuncOp>().begin();
    std::string result;
    llvm::raw_string_ostream os(result);
    for (Operation &op : function.getBody().front()) {
      if (isa<func::ReturnOp>(op))
        break;
      if (op.getName().getStringRef() == "test.show") {
        llvm::interleave(
            op.getOperands(), os, [&](Value value) { env.lookup(value)->print(os); }, "; ");
        continue;
      }
      if (failed(evaluator.evalOp(&op, env)))
        return error;
    }
    return result;
  }

  /// Evaluates `op` (with %a, %b, %c defined before it) and shows %r.
  std::string show(StringRef lines, bool truth = false) {
    context.allowUnregisteredDialects();
    return eval(lines.str() + "\n return", truth);
  }

  MLIRContext context;
};

} // namespace mlir::ft::interp

#endif // FT_UNITTESTS_INTERPRETER_EVALFIXTURE_H
