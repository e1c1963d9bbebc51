//===- OnlineFormTest.cpp - how values follow a parameter -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/OnlineForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// The forms of what a function returns: its first argument is a parameter, the second a state.
class OnlineFormTest : public ::testing::Test {
protected:
  OnlineFormTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                        math::MathDialect, tensor::TensorDialect>();
  }

  /// `body` over %m, %s : tensor<3xf32>, %x, %w : tensor<3x4xf32>.
  ValueForm run(const std::string &body, const ValueForm *state = nullptr,
                std::optional<double> init = 0) {
    std::string text = "!r = tensor<3xf32>\n!x = tensor<3x4xf32>\n"
                       "func.func @f(%m: !r, %s: !r, %x: !x, %w: !x) {\n" +
                       body + "\n  func.return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    if (!module)
      return {};
    forms = std::make_unique<OnlineForms>();
    auto function = *module->getOps<func::FuncOp>().begin();
    Block &block = function.getBody().front();
    forms->declareParameter(block.getArgument(0));
    forms->declareState(block.getArgument(1), 0, state, init);
    for (Operation &op : block.without_terminator())
      forms->visit(&op);
    return forms->get(block.getTerminator()->getPrevNode()->getResult(0));
  }
  double exponent(const ValueForm &form) {
    return form.factor && form.factor->exponents.size() == 1
               ? form.factor->exponents.begin()->second
               : 0;
  }
  int64_t power(const ValueForm &form) {
    return form.factor && form.factor->powers.size() == 1 ? form.factor->powers.begin()->second : 0;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<OnlineForms> forms;
};

const std::string spread = R"(
  %e = tensor.empty() : !x
  %b = linalg.broadcast ins(%m : !r) outs(%e : !x) dimensions = [1]
)";

TEST_F(OnlineFormTest, ExponentialOfADifference) {
  ValueForm form = run(spread + R"(
  %c = arith.constant dense<0.5> : !x
  %d = arith.subf %x, %b : !x
  %t = arith.mulf %d, %c : !x
  %p = math.exp %t : !x
  %v = arith.mulf %p, %w : !x)");
  EXPECT_EQ(exponent(form), -0.5);
  EXPECT_EQ(form.factor->exponents.begin()->first.dims, (SmallVector<int64_t, 4>{0}));
  EXPECT_EQ(forms->exponentials.size(), 1u);
}

TEST_F(OnlineFormTest, SumsKeepAFactorThatTheyDoNotRunOver) {
  ValueForm form = run(spread + R"(
  %d = arith.subf %x, %b : !x
  %p = math.exp %d : !x
  %v = linalg.reduce { arith.addf } ins(%p : !x) outs(%s : !r) dimensions = [1])");
  EXPECT_EQ(exponent(form), -1);
  form = run(spread + R"(
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %d = arith.subf %x, %b : !x
  %p = math.exp %d : !x
  %v = linalg.reduce { arith.addf } ins(%p : !x) outs(%z : tensor<4xf32>) dimensions = [0])");
  EXPECT_FALSE(form.isKnown());
  EXPECT_EQ(form.reason, "the correction varies along what it reduces");
}

TEST_F(OnlineFormTest, StateMustFollowLikeItsTerms) {
  const std::string body = spread + R"(
  %d = arith.subf %x, %b : !x
  %p = math.exp %d : !x
  %v = linalg.reduce { arith.addf } ins(%p : !x) outs(%s : !r) dimensions = [1])";
  ValueForm first = run(body);
  ValueForm second = run(body, &first);
  EXPECT_EQ(second.factor, first.factor);
  ValueForm other;
  other.factor.emplace();
  EXPECT_FALSE(run(body, &other).isKnown());
}

TEST_F(OnlineFormTest, PowersOfAParameter) {
  EXPECT_EQ(power(run(spread + "%v = arith.divf %x, %b : !x")), -1);
  EXPECT_EQ(power(run(spread + "%c = arith.divf %x, %b : !x\n %v = arith.mulf %c, %c : !x")), -2);
  EXPECT_TRUE(
      run(spread + "%c = arith.divf %x, %b : !x\n %v = arith.mulf %c, %b : !x").isInvariant());
}

TEST_F(OnlineFormTest, Squares) {
  ValueForm form = run(spread + R"(
  %d = arith.subf %b, %x : !x
  %q = arith.mulf %d, %d : !x
  %y = arith.mulf %q, %w : !x
  %v = linalg.reduce { arith.addf } ins(%y : !x) outs(%s : !r) dimensions = [1])");
  ASSERT_TRUE(form.square);
  auto terms = forms->getParameterTerms(form.squared);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms.begin()->second, 1);
  EXPECT_EQ(terms.begin()->first.dims, (SmallVector<int64_t, 4>{0}));
}

TEST_F(OnlineFormTest, WhatIsShiftedHasNoFactor) {
  EXPECT_FALSE(run(spread + "%v = arith.subf %x, %b : !x").isKnown());
  EXPECT_FALSE(run(spread + "%d = arith.subf %x, %b : !x\n %v = math.tanh %d : !x").isKnown());
  // It cancels.
  ValueForm cancels = run(spread + "%d = arith.subf %x, %b : !x\n %v = arith.addf %d, %b : !x");
  EXPECT_TRUE(forms->getParameterTerms(*cancels.linear).empty()); // `run` made these forms
}

TEST_F(OnlineFormTest, BoundsOfMaxima) {
  ValueForm invariant;
  invariant.factor.emplace();
  ValueForm form = run(
      "%v = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%s : !r) dimensions = [1]", &invariant);
  ASSERT_EQ(form.bounds.size(), 2u);
  for (const ElementBound &bound : form.bounds) {
    EXPECT_TRUE(bound.upper);
    ASSERT_EQ(bound.form.terms.size(), 1u);
    const ElementAtom &atom = bound.form.terms.begin()->first;
    // The state itself at the same place, or x at any column.
    if (atom.dims.size() == 1)
      EXPECT_EQ(atom.dims[0], 0);
    else
      EXPECT_EQ(atom.dims, (SmallVector<int64_t, 4>{0, 1}));
  }
}

TEST_F(OnlineFormTest, ComparisonsThatNoLongerHold) {
  const std::string body = spread + R"(
  %is = arith.cmpf oeq, %x, %b : !x
  %low = arith.constant dense<-1.0> : !x
  %t = arith.select %is, %w, %low : tensor<3x4xi1>, !x
  %v = linalg.reduce { arith.maximumf } ins(%t : !x) outs(%s : !r) dimensions = [1])";
  // The state stays where it starts at -1 or above: -1 is then never more than it.
  EXPECT_EQ(run(body, nullptr, 0).whenFalse.kind, WhenFalse::State);
  EXPECT_EQ(forms->matches.size(), 1u);
  EXPECT_EQ(run(body, nullptr, -1).whenFalse.kind, WhenFalse::State);
  EXPECT_EQ(run(body, nullptr, -2).whenFalse.kind, WhenFalse::Unknown);
  EXPECT_EQ(run(body, nullptr, std::nullopt).whenFalse.kind, WhenFalse::Unknown);
}

TEST_F(OnlineFormTest, NarrowsOnlyWhatIsBounded) {
  const std::string weights = spread + R"(
  %d = arith.subf %x, %b : !x
  %p = math.exp %d : !x
  %q = arith.divf %p, %b : !x
)";
  EXPECT_TRUE(run(weights + "%v = arith.truncf %q : !x to tensor<3x4xf16>").isKnown());
  EXPECT_FALSE(run(weights + "%y = arith.mulf %q, %w : !x\n"
                             "%v = arith.truncf %y : !x to tensor<3x4xf16>")
                   .isKnown());
  EXPECT_FALSE(run(spread + "%y = arith.divf %x, %b : !x\n"
                            "%v = arith.truncf %y : !x to tensor<3x4xf16>")
                   .isKnown());
}

TEST_F(OnlineFormTest, CountsEqualTerms) {
  ValueForm form = run(R"(
  %one = arith.constant dense<1.0> : !x
  %zero = arith.constant dense<0.0> : !r
  %v = linalg.reduce { arith.addf } ins(%one : !x) outs(%zero : !r) dimensions = [1])");
  ASSERT_TRUE(form.constant);
  EXPECT_EQ(*form.constant, 4);
}
} // namespace
