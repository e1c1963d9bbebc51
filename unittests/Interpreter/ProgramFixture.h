//===- ProgramFixture.h - Run small programs in a test --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses a module, reads arguments from a literal such as "[[1, 2], [3, 4]]" and
// prints the results the same way. All elements are tensor<i32> or i64.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_INTERPRETER_PROGRAMFIXTURE_H
#define FT_UNITTESTS_INTERPRETER_PROGRAMFIXTURE_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include "ft/Interpreter/FTInterpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::ft::interp {

using ::ft::rt::DType;
using ::ft::rt::HostArray;

class ProgramTest : public ::testing::Test {
protected:
  ProgramTest() {
    context.loadDialect<FTDialect, etdg::ETDGDialect, arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                        tensor::TensorDialect>();
    context.printOpOnDiagnostic(false);
  }

  /// An integer array of the given shape.
  static HostArray array(std::vector<int64_t> shape, std::vector<int64_t> values,
                         DType dtype = DType::i32) {
    HostArray result;
    EXPECT_TRUE(HostArray::create(dtype, std::move(shape), result).ok());
    EXPECT_EQ(result.numElements(), static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      result.setInt(i, values[i]);
    return result;
  }
  static HostArray list(std::vector<int64_t> values, DType dtype = DType::i32) {
    int64_t size = values.size();
    return array({size}, std::move(values), dtype);
  }

  static std::string print(const HostArray &array) {
    std::string text;
    size_t next = 0;
    auto level = [&](auto &self, size_t dim) -> void {
      if (dim == array.shape.size()) {
        text += ::ft::rt::isFloat(array.dtype) ? std::to_string(array.getFloat(next))
                                               : std::to_string(array.getInt(next));
        ++next;
        return;
      }
      text += "[";
      for (int64_t i = 0; i < array.shape[dim]; ++i) {
        text += i ? ", " : "";
        self(self, dim + 1);
      }
      text += "]";
    };
    level(level, 0);
    return text;
  }

  static std::string printAll(const FailureOr<std::vector<HostArray>> &results) {
    std::string text;
    for (const HostArray &result : *results)
      text += (text.empty() ? "" : "; ") + print(result);
    return text;
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  /// Runs function `f` of the module and prints its results, or "error: " and
  /// the first diagnostic.
  std::string runFunction(StringRef text, ArrayRef<HostArray> arguments, Lengths lengths = Lengths(),
                          RunOptions options = {}) {
    return capture([&]() -> std::string {
      OwningOpRef<ModuleOp> module = parse(text);
      if (!module)
        return "";
      auto results = runFT(*module, "f", lengths, arguments, options);
      return failed(results) ? "" : printAll(results);
    });
  }

  static RunOptions optionsFor(Order order, uint64_t seed) {
    RunOptions options;
    options.order = order;
    options.seed = seed;
    return options;
  }

  /// Runs graph `f` in one order.
  std::string runGraph(StringRef text, ArrayRef<HostArray> arguments, Order order,
                       uint64_t seed = 0) {
    return capture([&]() -> std::string {
      OwningOpRef<ModuleOp> module = parse(text);
      if (!module)
        return "";
      auto results = runETDG(*module, "f", Lengths(), arguments, optionsFor(order, seed));
      return failed(results) ? "" : printAll(results);
    });
  }

  /// Runs graph `f`, and gives the iterations in the order in which they ran: "@a(0, 1) ".
  std::string traceGraph(StringRef text, ArrayRef<HostArray> arguments, Order order, uint64_t seed) {
    std::string trace;
    RunOptions options;
    options.order = order;
    options.seed = seed;
    options.observe = [&](StringRef name, ArrayRef<int64_t> point) {
      trace += "@" + name.str() + "(";
      for (auto [i, value] : llvm::enumerate(point))
        trace += (i ? ", " : "") + std::to_string(value);
      trace += ") ";
    };
    OwningOpRef<ModuleOp> module = parse(text);
    EXPECT_TRUE(module && succeeded(runETDG(*module, "f", Lengths(), arguments, options)));
    return trace;
  }

  /// What `fn` returns, or its first error.
  std::string capture(llvm::function_ref<std::string()> fn) {
    std::string error;
    notes.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
      if (error.empty() && diag.getSeverity() == DiagnosticSeverity::Error) {
        error = "error: " + diag.str();
        for (Diagnostic &note : diag.getNotes())
          notes.push_back(note.str());
      }
      return success();
    });
    std::string result = fn();
    return error.empty() ? result : error;
  }

  MLIRContext context;
  /// The notes of the last error.
  std::vector<std::string> notes;
};

} // namespace mlir::ft::interp

#endif // FT_UNITTESTS_INTERPRETER_PROGRAMFIXTURE_H
