//===- Fixture.h - examples in a phase, judged ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_UNITTESTS_VALIDATOR_FIXTURE_H
#define FT_UNITTESTS_VALIDATOR_FIXTURE_H

#include "Truth.h"
#include "ft/InitAll.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Validator/Validator.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

namespace mlir::etdg {

class ValidatorTest : public ::testing::Test {
protected:
  static DialectRegistry &registry() {
    static DialectRegistry all = [] {
      DialectRegistry registry;
      ft::registerAllDialects(registry);
      return registry;
    }();
    return all;
  }
  ValidatorTest() : context(registry(), MLIRContext::Threading::DISABLED) {}

  /// The graph of an example when a phase has been reached.
  GraphOp load(const std::string &name, ft::Phase to) {
    module = parseSourceFile<ModuleOp>(std::string(FT_EXAMPLES) + "/" + name + ".mlir", &context);
    if (!module)
      return {};
    PassManager pm(&context);
    ft::EngineOptions options;
    options.to = to;
    options.validate = false;
    ft::buildEnginePipeline(pm, ft::Phase::Input, options);
    if (failed(pm.run(*module)))
      return {};
    auto graphs = module->getOps<GraphOp>();
    return graphs.empty() ? GraphOp() : *graphs.begin();
  }

  GraphOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    auto graphs = module->getOps<GraphOp>();
    return graphs.empty() ? GraphOp() : *graphs.begin();
  }

  bool isAccepted(GraphOp graph, std::string *why = nullptr,
                  const GraphSnapshot *before = nullptr) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (why && why->empty())
        *why = diagnostic.str();
      return success();
    });
    ValidateOptions options;
    options.writeReproducer = false;
    options.maxErrors = 1;
    options.before = before;
    return succeeded(validateGraph(graph, options));
  }

  /// The lengths in a message that ends in `for example at L = 2, i = 0`.
  static std::optional<Sizes> sizesOf(StringRef message, GraphOp graph) {
    size_t at = message.find("; for example at ");
    if (at == StringRef::npos)
      return std::nullopt;
    Sizes sizes;
    SmallVector<StringRef> parts;
    message.substr(at + strlen("; for example at ")).split(parts, ", ");
    for (StringRef part : parts) {
      auto [name, value] = part.split(" = ");
      int64_t number;
      if (!value.getAsInteger(10, number) && !sizes.count(name.str()))
        sizes[name.str()] = number;
    }
    Sizes lengths;
    for (StringAttr name : graph.getSymbolNames()) {
      auto it = sizes.find(name.str());
      if (it == sizes.end())
        return std::nullopt;
      lengths[name.str()] = it->second;
    }
    return lengths;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace mlir::etdg

#endif // FT_UNITTESTS_VALIDATOR_FIXTURE_H
