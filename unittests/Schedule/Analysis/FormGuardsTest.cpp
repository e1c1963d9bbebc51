//===- FormGuardsTest.cpp - guards that tell forms apart ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/Analysis/FormGuards.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

namespace {
class FormGuards : public ::testing::Test {
protected:
  FormGuards() {
    context.loadDialect<etdg::ETDGDialect>();
    module = parseSourceString<ModuleOp>(R"(
      etdg.graph @f(%xs: !etdg.buffer<[N, L], tensor<1xf32>>) -> !etdg.buffer<[N, L], tensor<1xf32>>
          attributes {ft.lengths = {N = 16 : i64, L = 64 : i64}} {
        %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1xf32>>
        etdg.block @r [map, map] (i, k) in [0, N) x [0, L) reads (%x = %xs[i, k] : tensor<1xf32>) writes (%ys[i, k]) {
          etdg.yield %x : tensor<1xf32>
        } : !etdg.buffer<[N, L], tensor<1xf32>>, !etdg.buffer<[N, L], tensor<1xf32>>
        etdg.return %ys : !etdg.buffer<[N, L], tensor<1xf32>>
      })", &context);
    graph = *module->getOps<etdg::GraphOp>().begin();
    item = *graph.getBody().getOps<etdg::BlockOp>().begin();
  }

  static int64_t at(const Lengths &lengths, StringRef name) {
    for (auto [own, value] : lengths)
      if (own == name)
        return value;
    return -1;
  }

  /// The choice as text: form, guard, …, form.
  std::string choose(unsigned forms, llvm::function_ref<double(unsigned, int64_t, int64_t)> price, double share = 0.9) {
    FormChoice choice = chooseForms(graph, sampleLengths(graph, item, 32), forms, share, [&](unsigned form, const Lengths &lengths) {
      return price(form, at(lengths, "N"), at(lengths, "L"));
    });
    std::string text;
    for (auto [form, guard] : llvm::zip(choice.forms, choice.guards))
      text += llvm::formatv("{0} {1} ", form, guard).str();
    return text + std::to_string(choice.forms.back());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  etdg::GraphOp graph;
  Operation *item = nullptr;
};
} // namespace

TEST_F(FormGuards, SamplesAroundTypicalLengths) {
  std::vector<Lengths> all = sampleLengths(graph, item, 32), some = sampleLengths(graph, item, 9), few = sampleLengths(graph, item, 3);
  EXPECT_EQ(all.size(), 25u);
  EXPECT_EQ(some.size(), 9u);
  EXPECT_LE(few.size(), 3u);
  for (const std::vector<Lengths> &points : {all, some}) {
    EXPECT_EQ(at(points.front(), "N"), 1);
    EXPECT_EQ(at(points.back(), "N"), 256);
    EXPECT_EQ(at(points.back(), "L"), 1024);
  }
}

TEST_F(FormGuards, TakesOneWhereOneIsBest) {
  EXPECT_EQ(choose(2, [](unsigned form, int64_t, int64_t) { return form ? 0.5 : 1; }), "1");
  // What promises less than the share is not worth another form.
  EXPECT_EQ(choose(2, [](unsigned form, int64_t, int64_t) { return form ? 0.95 : 1; }), "0");
  EXPECT_EQ(choose(3, [](unsigned form, int64_t n, int64_t) { return n < 16 && form ? 0.95 : 1; }), "0");
}

TEST_F(FormGuards, CutsByOneLength) {
  // Times cross at L = 100: near enough is an eighth.
  std::string text = choose(2, [](unsigned form, int64_t, int64_t l) { return form ? 100 + 0.5 * double(l) : 50 + double(l); });
  int64_t limit = 0;
  ASSERT_EQ(sscanf(text.c_str(), "1 #etdg.guard<[L] from %ld> 0", &limit), 1) << text;
  EXPECT_GE(limit, 88);
  EXPECT_LE(limit, 113);
}

TEST_F(FormGuards, CutsByTwoLengthsAtOnce) {
  // Better for few rows of long lists alone, elsewhere worse.
  auto price = [](unsigned form, int64_t n, int64_t l) { return form == 0 ? 1 : n <= 4 && l >= 256 ? 0.25 : 4; };
  std::string text = choose(2, price);
  int64_t rows = 0, length = 0;
  bool isOneOrder = sscanf(text.c_str(), "1 #etdg.guard<[L] from %ld and [N] below %ld> 0", &length, &rows) == 2;
  ASSERT_TRUE(isOneOrder || sscanf(text.c_str(), "1 #etdg.guard<[N] below %ld and [L] from %ld> 0", &rows, &length) == 2) << text;
  EXPECT_GT(rows, 4);
  EXPECT_LE(rows, 16);
  EXPECT_GT(length, 64);
  EXPECT_LE(length, 256);
}

TEST_F(FormGuards, KeepsThreeFormsAtMost) {
  std::string text = choose(5, [](unsigned form, int64_t n, int64_t) { return std::abs(std::log(double(n)) - 1.4 * form) + 0.1; });
  EXPECT_EQ(llvm::StringRef(text).count("guard"), 2u) << text;
}

TEST_F(FormGuards, FindsLengthsOfEachVariant) {
  auto guardOf = [&](StringRef text) { return cast<etdg::GuardAttr>(parseAttribute(("#etdg.guard<" + text + ">").str(), &context)); };
  SmallVector<etdg::GuardAttr> guards = {guardOf("[N] below 4 and [L] from 256"), guardOf("[N] below 32")};
  Lengths first = lengthsOfVariant(graph, guards, 0), second = lengthsOfVariant(graph, guards, 1), last = lengthsOfVariant(graph, guards, 2);
  EXPECT_EQ(at(first, "N"), 3);
  EXPECT_EQ(at(first, "L"), 256);
  EXPECT_TRUE(second.empty()); // typical ones
  EXPECT_EQ(at(last, "N"), 32);
  EXPECT_EQ(at(last, "L"), -1);
}
