//===- WorkTest.cpp - what the validator does, and snapshots --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
constexpr int64_t mostQuestions = 2400, mostConstraints = 2200, mostExact = 10;

class WorkTest : public ValidatorTest {
protected:
  /// What it takes to accept a graph.
  ValidatorWork measure(GraphOp graph) {
    ValidatorWork before = getValidatorWork();
    EXPECT_TRUE(isAccepted(graph));
    ValidatorWork after = getValidatorWork();
    return {after.questions - before.questions, after.constraints - before.constraints,
            after.exact - before.exact};
  }

  /// `length` maps, each reading the one before.
  static std::string chain(unsigned length) {
    const std::string type = "!etdg.buffer<[L], tensor<1xf32>>";
    std::string text = "etdg.graph @chain(%b0: " + type + ") -> " + type + " {\n";
    for (unsigned i = 1; i <= length; ++i) {
      std::string from = "%b" + std::to_string(i - 1), to = "%b" + std::to_string(i);
      text += to + " = etdg.buffer : " + type + "\n" +
              "etdg.block [map] (k) in [0, L) reads (%x = " + from +
              "[k] : tensor<1xf32>) writes (" + to + "[k]) {\n" +
              "%y = math.exp %x : tensor<1xf32>\netdg.yield %y : tensor<1xf32>\n} : " + type +
              ", " + type + "\n";
    }
    return text + "etdg.return %b" + std::to_string(length) + " : " + type + "\n}\n";
  }
};
} // namespace

TEST_F(WorkTest, Examples) {
  std::error_code code;
  unsigned count = 0;
  ValidatorWork most;
  for (llvm::sys::fs::directory_iterator it(FT_EXAMPLES, code), end; it != end && !code;
       it.increment(code)) {
    StringRef path = it->path();
    if (llvm::sys::path::extension(path) != ".mlir")
      continue;
    std::string name = llvm::sys::path::stem(path).str();
    for (ft::Phase phase : {ft::Phase::ETDG, ft::Phase::Coarsen, ft::Phase::Reorder,
                            ft::Phase::Schedule, ft::Phase::Storage}) {
      GraphOp graph = load(name, phase);
      ASSERT_TRUE(graph) << name;
      ValidatorWork work = measure(graph);
      most.questions = std::max(most.questions, work.questions);
      most.constraints = std::max(most.constraints, work.constraints);
      most.exact = std::max(most.exact, work.exact);
    }
    ++count;
  }
  printf("%u examples in five phases, at most %lld questions, %lld constraints, %lld exact\n", count,
         (long long)most.questions, (long long)most.constraints, (long long)most.exact);
  EXPECT_GE(count, 17u);
  // Twice what examples take when this was written.
  EXPECT_LE(most.questions, mostQuestions);
  EXPECT_LE(most.constraints, mostConstraints);
  EXPECT_LE(most.exact, mostExact);
}

TEST_F(WorkTest, ChainIsLinear) {
  GraphOp small = parse(chain(250));
  ASSERT_TRUE(small);
  ValidatorWork few = measure(small);
  GraphOp large = parse(chain(1000));
  ASSERT_TRUE(large);
  ValidatorWork many = measure(large);
  EXPECT_GE(few.questions, 250);
  EXPECT_LE(many.questions, 4.1 * few.questions);
  EXPECT_LE(many.constraints, 4.1 * few.constraints);
  EXPECT_LE(many.exact, 4.1 * few.exact);
}

TEST_F(WorkTest, Snapshots) {
  const std::string text = chain(2);
  GraphOp graph = parse(text);
  ASSERT_TRUE(graph);
  GraphSnapshot before = GraphSnapshot::take(graph);
  std::string why;
  EXPECT_TRUE(isAccepted(graph, &why, &before)) << why;
  // A bound that was not there: lengths that worked would be refused.
  std::string bounded = text;
  bounded.replace(bounded.find(" {\n"), 3, " attributes {ft.bounds = #ft.bounds<\"L >= 2\">} {\n");
  GraphOp narrower = parse(bounded);
  ASSERT_TRUE(narrower);
  EXPECT_FALSE(isAccepted(narrower, &why, &before));
  EXPECT_EQ(why, "internal error: (T9) the graph asks L - 2 >= 0 of its lengths, which it did not "
                 "before");
  // The other way round nothing is lost.
  before = GraphSnapshot::take(narrower);
  why.clear();
  graph = parse(text);
  EXPECT_TRUE(isAccepted(graph, &why, &before)) << why;
  // Another result.
  GraphOp other = parse("etdg.graph @chain(%x: !etdg.buffer<[L], tensor<1xf32>>) {\n"
                        "  etdg.return\n}\n");
  ASSERT_TRUE(other);
  EXPECT_FALSE(isAccepted(other, &why, &before));
  EXPECT_TRUE(StringRef(why).starts_with("internal error: (T9) the graph was (")) << why;
}

// Coefficients that leave 61 bits on the way are no proof.
TEST_F(WorkTest, LargeNumbersAreNoProof) {
  GraphOp graph = parse(R"(
    etdg.graph @large(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
      %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
      etdg.block @a [scanl] (k) in [0, L)
          reads (%x = {k = 0: splat 0.0 : f32, k >= 1: %ys[1000000000000000000 * k - 999999999999999999 * k - 1]} : tensor<1xf32>)
          writes (%ys[k]) {
        etdg.yield %x : tensor<1xf32>
      } : !etdg.buffer<[L], tensor<1xf32>>
      etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
    })");
  ASSERT_TRUE(graph);
  std::string why;
  EXPECT_TRUE(isAccepted(graph, &why)) << why; // it is k - 1 after all
  graph = parse(R"(
    etdg.graph @large(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
      %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
      etdg.block @a [map] (k) in [0, L)
          reads (%x = %xs[k] : tensor<1xf32>)
          writes (%ys[4000000000000000000 * k]) {
        etdg.yield %x : tensor<1xf32>
      } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
      etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
    })");
  ASSERT_TRUE(graph);
  EXPECT_FALSE(isAccepted(graph, &why));
}
