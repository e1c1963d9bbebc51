//===- WorkTest.cpp - what the validator does, and snapshots --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fttest/ValidatorTest.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Analysis/SetWork.h"
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

  /// `depth` scans inside each other around one over a list, each with the last of the list that it
  /// carries beside it.
  static std::string nestedScans(unsigned depth) {
    const std::string list = "!ft.list<[L], !x>";
    std::string text = "!x = tensor<2xf32>\nfunc.func @nested(%init: !x, %s: " + list, body, end;
    for (unsigned d = 0; d < depth; ++d) {
      std::string n = std::to_string(d), state = d ? "%s" + std::to_string(d - 1) : "%s";
      text += ", %xs" + n + ": !ft.list<[N" + n + "], !x>";
      body += "%r" + n + " = ft.scanl (%x" + n + " = %xs" + n + " : !ft.list<[N" + n + "], !x>) init (%s" + n + " = " +
              state + " : " + list + ") -> !ft.list<[N" + n + ", L], !x> {\n";
      std::string last = "%l" + n + " = ft.last %r" + n + " or " + state + " : !ft.list<[N" + n + ", L], !x>, " + list;
      end = last + (d ? "\nft.yield %l" : "\nreturn %l") + n + " : " + list + "\n}\n" + end;
    }
    std::string inner = std::to_string(depth - 1);
    body += "%t = ft.scanl (%e = %s" + inner + " : " + list + ") init (%h = %init : !x) -> " + list +
            " {\n%y = arith.addf %e, %h : !x\n%z = arith.mulf %y, %x" + inner +
            " : !x\nft.yield %z : !x\n}\nft.yield %t : " + list + "\n}\n";
    return text + ") -> " + list + " {\n" + body + end;
  }

  /// `depth` folds inside each other, which carry one state through all: what an iteration continues from is in one of
  /// as many places as there are loops around it.
  static std::string nestedFolds(unsigned depth) {
    SmallVector<std::string> types{"!x"};
    for (unsigned d = depth; d-- > 0;) {
      std::string names;
      for (unsigned n = d; n < depth; ++n)
        names += (n > d ? ", N" : "N") + std::to_string(n);
      types.insert(types.begin(), "!ft.list<[" + names + "], !x>");
    }
    std::string text = "!x = tensor<2xf32>\nfunc.func @nested(%a0: " + types[0] + ", %s0: !x) -> !x {\n", end;
    for (unsigned d = 0; d < depth; ++d) {
      std::string n = std::to_string(d), next = std::to_string(d + 1);
      text += "%r" + n + " = ft.foldl (%a" + next + " = %a" + n + " : " + types[d] + ") init (%s" + next + " = %s" + n +
              " : !x) {\n";
      end = "}\n" + std::string(d ? "ft.yield %r" : "return %r") + n + " : !x\n" + end;
    }
    std::string last = std::to_string(depth);
    return text + "%y = arith.addf %s" + last + ", %a" + last + " : !x\nft.yield %y : !x\n" + end + "}\n";
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

// The code is linear in the program however deep its scans are, and what is asked of sets on the way
// down at most quadratic.
TEST_F(WorkTest, NestedScans) {
  int64_t blocks[2] = {0, 0}, sets[2] = {0, 0};
  for (unsigned i = 0; i < 2; ++i) {
    int64_t before = getNumSetsAsked();
    ASSERT_TRUE(parse(nestedScans(6 << i), ft::Phase::Storage));
    sets[i] = getNumSetsAsked() - before;
    module->walk([&](BlockOp) { ++blocks[i]; });
  }
  printf("6 and 12 scans: %lld and %lld blocks, %lld and %lld sets\n", (long long)blocks[0], (long long)blocks[1],
         (long long)sets[0], (long long)sets[1]);
  EXPECT_GE(blocks[0], 16);
  EXPECT_LE(blocks[1], 2 * blocks[0]);
  EXPECT_GE(sets[0], blocks[0]);
  EXPECT_LE(sets[1], 4 * sets[0]);
}

// Of n folds inside each other there are n² / 2 reads, and as many are asked of: planes that live and orders are a
// matter of the few dimensions in which two iterations may differ.
TEST_F(WorkTest, NestedFolds) {
  int64_t sets[2] = {0, 0};
  ValidatorWork work[2];
  for (unsigned i = 0; i < 2; ++i) {
    int64_t before = getNumSetsAsked();
    GraphOp graph = parse(nestedFolds(8 << i), ft::Phase::Storage);
    ASSERT_TRUE(graph);
    EXPECT_TRUE(succeeded(verifyGraph(graph)));
    sets[i] = getNumSetsAsked() - before;
    work[i] = measure(graph);
  }
  printf("8 and 16 folds: %lld and %lld sets, %lld and %lld questions\n", (long long)sets[0], (long long)sets[1],
         (long long)work[0].questions, (long long)work[1].questions);
  EXPECT_GE(sets[0], 8 * 8);
  EXPECT_LE(sets[1], 4.25 * sets[0]);
  EXPECT_LE(sets[1], 50 * 16 * 16);
  EXPECT_LE(work[1].questions, 4.25 * work[0].questions);
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
