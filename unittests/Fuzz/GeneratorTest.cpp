//===- GeneratorTest.cpp - random programs --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A seed names the same program each time, every program verifies, the operators are
// all there, and both interpreters agree.
//
//===----------------------------------------------------------------------===//

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Fuzz/Check.h"
#include "ft/Fuzz/Generator.h"
#include "ft/Fuzz/Shares.h"
#include "ft/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft::fuzz;

namespace {
struct GeneratorTest : testing::Test {
  GeneratorTest() {
    DialectRegistry registry;
    mlir::ft::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    loadDialects(&context);
  }
  std::string textOf(uint64_t seed, uint64_t number) {
    Program program = generateProgram(&context, seed, number);
    std::string text;
    llvm::raw_string_ostream os(text);
    program.module->print(os);
    return text;
  }
  MLIRContext context;
};
} // namespace

TEST_F(GeneratorTest, RandomIsTheSameEverywhere) {
  Random random(1);
  EXPECT_EQ(random.next(), Random(1).next());
  EXPECT_NE(Random(1).next(), Random(2).next());
  for (int i = 0; i < 1000; ++i) {
    int64_t value = random.between(-2, 3);
    EXPECT_GE(value, -2);
    EXPECT_LE(value, 3);
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(random.weighted({0, 5, 0}), 1u);
}

TEST_F(GeneratorTest, ASeedNamesAProgram) {
  EXPECT_EQ(textOf(7, 3), textOf(7, 3));
  EXPECT_NE(textOf(7, 3), textOf(7, 4));
  EXPECT_NE(textOf(7, 3), textOf(8, 3));
}

TEST_F(GeneratorTest, ProgramsVerifyAndCoverTheOperators) {
  Shares shares;
  for (uint64_t i = 0; i < 300; ++i) {
    Program program = generateProgram(&context, 11, i);
    EXPECT_TRUE(succeeded(verify(*program.module))) << "program " << i;
    EXPECT_FALSE(program.bindings.empty());
    shares.count(*program.module);
  }
  for (const std::string &line : shares.missing())
    ADD_FAILURE() << line;
}

TEST_F(GeneratorTest, MissingSharesAreNamed) {
  Shares none;
  none.programs = 500;
  std::vector<std::string> lines = none.missing();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), "depth >= 3: 0, expected at least 150");
}

TEST_F(GeneratorTest, BothInterpretersAgree) {
  std::vector<Program> programs;
  for (uint64_t i = 0; i < 20; ++i)
    programs.push_back(generateProgram(&context, 5, i));
  CheckOptions options;
  options.cpu = false;
  StageTimes times;
  for (auto [i, verdict] : llvm::enumerate(checkPrograms(&context, programs, options, times)))
    EXPECT_NE(verdict.outcome, Outcome::Failed) << "program " << i << ": " << verdict.stage << ": " << verdict.message;
}
