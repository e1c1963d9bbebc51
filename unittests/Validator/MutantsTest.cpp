//===- MutantsTest.cpp - the validator against enumeration ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scheduled examples, hundreds of small changes of each: the validator, which
// answers for all lengths, and the enumeration at some agree on every one.
//
//===----------------------------------------------------------------------===//
#include "fttest/Mutants.h"
#include "fttest/ValidatorTest.h"
#include "fttest/Truth.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {

struct Example {
  const char *name;
  std::vector<Sizes> sizes; // where the truth is asked
};

using MutantsTest = ValidatorTest;

// The lengths: small, asymmetrical, one 7, each with L = D + 3 somewhere.
const std::vector<Sizes> stacked = {{{"N", 1}, {"D", 1}, {"L", 1}}, {{"N", 2}, {"D", 2}, {"L", 5}},
                                    {{"N", 1}, {"D", 4}, {"L", 7}}, {{"N", 1}, {"D", 5}, {"L", 2}},
                                    {{"N", 2}, {"D", 3}, {"L", 4}}, {{"N", 1}, {"D", 0}, {"L", 3}},
                                    {{"N", 1}, {"D", 1}, {"L", 4}}};
const std::vector<Sizes> chain = {{{"N", 1}, {"L", 1}}, {{"N", 2}, {"L", 5}},
                                  {{"N", 1}, {"L", 7}}, {{"N", 3}, {"L", 2}},
                                  {{"N", 0}, {"L", 3}}, {{"N", 1}, {"L", 12}}};
const std::vector<Sizes> grid = {{{"N", 1}, {"D", 1}, {"S", 1}, {"T", 1}},
                                 {{"N", 2}, {"D", 2}, {"S", 3}, {"T", 2}},
                                 {{"N", 1}, {"D", 3}, {"S", 2}, {"T", 4}},
                                 {{"N", 1}, {"D", 2}, {"S", 4}, {"T", 3}}};
const std::vector<Example> examples = {
    {"stacked_rnn", stacked},
    {"stacked_lstm", stacked},
    {"grid_rnn", grid},
    {"dilated_rnn", chain},
    {"mlp",
     {{{"N", 1}, {"F", 1}}, {{"N", 2}, {"F", 3}}, {{"N", 7}, {"F", 1}}, {{"N", 0}, {"F", 2}}}},
    {"conv1d", chain}};
} // namespace

TEST_F(MutantsTest, AgreesWithEnumeration) {
  constexpr size_t perKind = 16; // of each kind of each example at most
  std::map<std::string, std::pair<unsigned, unsigned>> counts; // legal, illegal by kind
  unsigned rare = 0, confirmed = 0, missed = 0;
  for (ft::Phase phase : {ft::Phase::Reorder, ft::Phase::Schedule})
    for (const Example &example : examples) {
      GraphOp graph = load(example.name, phase);
      ASSERT_TRUE(graph) << example.name;
      EXPECT_TRUE(isAccepted(graph)) << example.name;
      for (const Sizes &sizes : example.sizes)
        EXPECT_EQ(findWrong(graph, sizes), "") << example.name;
      std::map<std::string, std::vector<Mutant>> kinds;
      for (Mutant &mutant : makeMutants(graph))
        kinds[mutant.kind].push_back(std::move(mutant));
      for (auto &[kind, mutants] : kinds)
        for (size_t i = 0; i < std::min(mutants.size(), perKind); ++i) {
          const Mutant &mutant = mutants[i * mutants.size() / std::min(mutants.size(), perKind)];
          OwningOpRef<ModuleOp> copy = module->clone();
          GraphOp changed = *copy->getOps<GraphOp>().begin();
          mutant.apply(changed);
          {
            ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
            if (failed(verify(*copy)))
              continue; // no graph at all
          }
          std::string truth, why;
          bool elsewhere = false; // wrong at lengths that are not L = D + 3
          for (const Sizes &sizes : example.sizes) {
            std::string here = findWrong(changed, sizes);
            auto d = sizes.find("D"), l = sizes.find("L");
            elsewhere |=
                !here.empty() && d != sizes.end() && l != sizes.end() && l->second != d->second + 3;
            if (truth.empty())
              truth = here;
          }
          bool accepted = isAccepted(changed, &why);
          // The validator speaks of all lengths: where it shows some, it is wrong there.
          if (std::optional<Sizes> shown = sizesOf(why, changed)) {
            std::string there = findWrong(changed, *shown);
            EXPECT_NE(there, "") << example.name << ", " << kind << ": " << mutant.what
                                 << "\n  no fault at the validator's example: " << why;
            ++confirmed;
            missed += truth.empty() && !there.empty();
            if (truth.empty())
              truth = there;
          }
          EXPECT_EQ(accepted, truth.empty())
              << example.name << " in phase " << ft::stringifyPhase(phase).str() << ", " << kind
              << ": " << mutant.what << "\n  truth: " << (truth.empty() ? "legal" : truth)
              << "\n  validator: " << (accepted ? "legal" : why);
          auto &[legal, illegal] = counts[kind];
          ++(truth.empty() ? legal : illegal);
          rare += kind == "only at L = D + 3" && !truth.empty() && !elsewhere;
        }
    }
  unsigned legal = 0, illegal = 0;
  for (auto &[kind, count] : counts) {
    printf("  %-20s %4u legal %4u illegal\n", kind.c_str(), count.first, count.second);
    legal += count.first;
    illegal += count.second;
  }
  printf("%u mutants of %zu kinds: %u legal, %u illegal, %u of them only at L = D + 3\n",
         legal + illegal, counts.size(), legal, illegal, rare);
  printf("%u examples of the validator confirmed, %u at lengths where no sampling had asked\n",
         confirmed, missed);
  EXPECT_GE(legal + illegal, 300u);
  EXPECT_GE(counts.size(), 10u);
  EXPECT_GE(illegal, 150u);
  EXPECT_GE(legal, 50u);
  EXPECT_GE(rare, 10u);
  EXPECT_GE(confirmed, 150u);
}
