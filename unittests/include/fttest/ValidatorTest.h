//===- ValidatorTest.h - examples in a phase, judged ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FTTEST_VALIDATORTEST_H
#define FTTEST_VALIDATORTEST_H

#include "fttest/Mutants.h"
#include "fttest/Truth.h"
#include "ft/InitAll.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Validator/Validator.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <random>

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
    return lower(to);
  }

  /// The graph of a program when a phase has been reached.
  GraphOp parse(const std::string &text, ft::Phase to) {
    module = parseSourceString<ModuleOp>(text, &context);
    return lower(to);
  }

  /// The graph of the module when a phase has been reached.
  GraphOp lower(ft::Phase to) {
    if (!module)
      return {};
    PassManager pm(&context);
    ft::PipelineOptions options;
    options.to = to;
    options.validate = false;
    ft::buildPipeline(pm, options);
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

  /// What a run over graphs and their mutants has seen.
  struct Tally {
    unsigned used = 0, legal = 0, illegal = 0, confirmed = 0;
    void print(const char *what) const {
      printf("%u %s, %u mutants: %u legal, %u illegal, %u of them at the validator's lengths "
             "alone\n",
             used, what, legal + illegal, legal, illegal, confirmed);
    }
  };

  /// A graph is right, and for `count` mutants of it that still are graphs the validator says what
  /// enumeration at these sizes says.
  void judgeMutants(GraphOp graph, ArrayRef<Sizes> sizes, unsigned count, std::mt19937_64 &random,
                    const std::string &name, Tally &tally) {
    std::string why;
    EXPECT_TRUE(isAccepted(graph, &why)) << name << ": " << why;
    for (const Sizes &these : sizes)
      EXPECT_EQ(findWrong(graph, these), "") << name;
    ++tally.used;
    std::vector<Mutant> mutants = makeMutants(graph);
    for (unsigned m = 0; m < count && !mutants.empty(); ++m) {
      const Mutant &mutant = mutants[random() % mutants.size()];
      OwningOpRef<ModuleOp> copy = ModuleOp::create(graph.getLoc());
      auto changed = cast<GraphOp>(graph->clone());
      copy->push_back(changed);
      mutant.apply(changed);
      {
        ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
        if (failed(verify(*copy)))
          continue; // no graph at all
      }
      std::string truth, reason;
      for (const Sizes &these : sizes)
        if (truth.empty())
          truth = findWrong(changed, these);
      bool accepted = isAccepted(changed, &reason);
      // The validator speaks of all lengths: where it shows some, it is wrong there.
      if (truth.empty() && !accepted)
        if (std::optional<Sizes> shown = sizesOf(reason, changed)) {
          truth = findWrong(changed, *shown);
          tally.confirmed += !truth.empty();
        }
      EXPECT_EQ(accepted, truth.empty())
          << name << ", " << mutant.kind << ": " << mutant.what
          << "\n  truth: " << (truth.empty() ? "legal" : truth)
          << "\n  validator: " << (accepted ? "legal" : reason);
      ++(truth.empty() ? tally.legal : tally.illegal);
    }
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

#endif // FTTEST_VALIDATORTEST_H
