//===- TimesTest.cpp - what the validator costs, and snapshots ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <ctime>

using namespace mlir;
using namespace mlir::etdg;

#ifndef __has_feature
#define __has_feature(x) 0
#endif

namespace {
class TimesTest : public ValidatorTest {
protected:
  /// Milliseconds of this thread, the least of a few runs.
  double measure(GraphOp graph, unsigned runs) {
    double best = 1e9;
    for (unsigned i = 0; i < runs; ++i) {
      timespec begin, end;
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
      EXPECT_TRUE(isAccepted(graph));
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
      best =
          std::min(best, (end.tv_sec - begin.tv_sec) * 1e3 + (end.tv_nsec - begin.tv_nsec) * 1e-6);
    }
    return best;
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

TEST_F(TimesTest, Examples) {
  std::error_code code;
  unsigned count = 0;
  double worst = 0;
#if __has_feature(address_sanitizer)
  constexpr double allowed = 200;
#else
  constexpr double allowed = 10;
#endif
  for (llvm::sys::fs::directory_iterator it(FT_EXAMPLES, code), end; it != end && !code;
       it.increment(code)) {
    StringRef path = it->path();
    if (llvm::sys::path::extension(path) != ".mlir")
      continue;
    std::string name = llvm::sys::path::stem(path).str();
    std::string line;
    for (ft::Phase phase : {ft::Phase::ETDG, ft::Phase::Coarsen, ft::Phase::Reorder,
                            ft::Phase::Schedule, ft::Phase::Storage}) {
      GraphOp graph = load(name, phase);
      ASSERT_TRUE(graph) << name;
      double ms = measure(graph, 5);
      EXPECT_LE(ms, allowed) << name << " in phase " << ft::stringifyPhase(phase).str();
      worst = std::max(worst, ms);
      char text[32];
      snprintf(text, sizeof text, " %6.2f", ms);
      line += text;
    }
    printf("  %-24s%s ms\n", name.c_str(), line.c_str());
    ++count;
  }
  printf("%u examples in five phases, at most %.2f ms\n", count, worst);
  EXPECT_GE(count, 17u);
}

TEST_F(TimesTest, ChainIsLinear) {
  GraphOp small = parse(chain(250));
  ASSERT_TRUE(small);
  double ms250 = measure(small, 3);
  GraphOp large = parse(chain(1000));
  ASSERT_TRUE(large);
  double ms1000 = measure(large, 3);
  printf("  chain of 250: %.1f ms, of 1000: %.1f ms\n", ms250, ms1000);
  EXPECT_LE(ms1000, 7 * ms250);
}

TEST_F(TimesTest, Snapshots) {
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
TEST_F(TimesTest, LargeNumbersAreNoProof) {
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
