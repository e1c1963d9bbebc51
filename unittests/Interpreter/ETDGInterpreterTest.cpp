//===- ETDGInterpreterTest.cpp - Graphs in three orders, by hand ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces, sources, private buffers, schedules and kernels; every order gives the
// same numbers; and each error that an access can make.
//
//===----------------------------------------------------------------------===//
#include "ProgramFixture.h"

#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::ft::interp;

namespace {

class ETDGRun : public ProgramTest {
protected:
  /// Runs in all orders with several seeds; all must agree.
  std::string runAll(StringRef text, ArrayRef<HostArray> arguments) {
    std::string expected = runGraph(text, arguments, Order::Dataflow);
    for (uint64_t seed = 0; seed < 4; ++seed)
      for (Order order : {Order::Random, Order::Declared})
        EXPECT_EQ(runGraph(text, arguments, order, seed), expected)
            << "order " << static_cast<int>(order) << " seed " << seed;
    return expected;
  }
};

/// Listing 1 on numbers: four regions of one nest, y = x · w + s.
std::string stackedRNN(StringRef operators = "[map, scanl, scanl]", StringRef schedule = "") {
  auto block = [&](StringRef name, StringRef domain, StringRef reads, StringRef types) {
    return ("etdg.block @" + name + " " + operators + " (i, j, k) in [0, N) x " + domain +
            " reads (" + reads + ") writes (%ys[i, j, k]) {\n%p = arith.muli %x, %w : !x\n" +
            "%y = arith.addi %p, %s : !x\netdg.yield %y : !x\n} : " + types + "\n")
        .str();
  };
  return "!x = tensor<i32>\n!xs = !etdg.buffer<[N, L], !x>\n!ws = !etdg.buffer<[D], !x>\n"
         "!ys = !etdg.buffer<[N, D, L], !x>\n"
         "etdg.graph @f(%xs: !xs, %ws: !ws) -> !ys {\n%ys = etdg.buffer : !ys\netdg.nest" +
         schedule.str() + " {\n" +
         block("r0", "[0, min(1, D)) x [0, min(1, L))",
               "%x = %xs[i, k] : !x, %w = %ws[j] : !x, %s = splat 0 : i32 : !x", "!xs, !ws, !ys") +
         block("r1", "[0, min(1, D)) x [1, L)",
               "%x = %xs[i, k] : !x, %w = %ws[j] : !x, %s = %ys[i, j, k - 1] : !x",
               "!xs, !ws, !ys") +
         block("r2", "[1, D) x [0, min(1, L))",
               "%x = %ys[i, j - 1, k] : !x, %w = %ws[j] : !x, %s = splat 0 : i32 : !x",
               "!ys, !ws") +
         block("r3", "[1, D) x [1, L)",
               "%x = %ys[i, j - 1, k] : !x, %w = %ws[j] : !x, %s = %ys[i, j, k - 1] : !x",
               "!ys, !ws") +
         "}\netdg.return %ys : !ys\n}";
}

TEST_F(ETDGRun, StackedRNN) {
  std::string text = stackedRNN();
  EXPECT_EQ(runAll(text, {array({1, 3}, {1, 2, 3}), list({2, 1})}), "[[[2, 6, 12], [2, 8, 20]]]");
  EXPECT_EQ(runAll(text, {array({2, 1}, {1, 2}), list({3})}), "[[[3]], [[6]]]");
  EXPECT_EQ(runAll(text, {array({0, 3}, {}), list({3})}), "[]");
  EXPECT_EQ(runAll(text, {array({2, 0}, {}), list({3})}), "[[[]], [[]]]");
  EXPECT_EQ(runAll(text, {array({1, 2}, {4, 5}), list({})}), "[[]]");
}

TEST_F(ETDGRun, WavefrontSchedule) {
  // t = j + k in order, the rest parallel: legal.
  std::string wave = stackedRNN(
      "[map, scanl, scanl]",
      " schedule <map = affine_map<(i, j, k) -> (j + k, i, j)>, loops = [<dimension = 0, kind = "
      "sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]>");
  EXPECT_EQ(runAll(wave, {array({1, 3}, {1, 2, 3}), list({2, 1})}), "[[[2, 6, 12], [2, 8, 20]]]");
  // t = j - k runs against the dependence of k.
  std::string wrong = stackedRNN(
      "[map, scanl, scanl]",
      " schedule <map = affine_map<(i, j, k) -> (j - k, i, j)>, loops = [<dimension = 0, kind = "
      "sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]>");
  EXPECT_EQ(runGraph(wrong, {array({1, 2}, {1, 2}), list({2})}, Order::Declared),
            "error: @r1 at (i = 0, j = 0, k = 1) reads %buf[0, 0, 0] before it is written in the "
            "declared order");
}

TEST_F(ETDGRun, PlantedParallelFailsInDeclaredOrderOnly) {
  // The time dimension is declared `map`: whatever the shuffle, it is caught.
  std::string planted = stackedRNN("[map, scanl, map]");
  std::vector<HostArray> arguments = {array({1, 2}, {1, 2}), list({2})};
  EXPECT_EQ(runGraph(planted, arguments, Order::Dataflow), "[[[2, 6]]]");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(runGraph(planted, arguments, Order::Random, seed), "[[[2, 6]]]");
    EXPECT_TRUE(StringRef(runGraph(planted, arguments, Order::Declared, seed))
                    .starts_with("error: @r1 at (i = 0, j = 0, k = 1) reads %"));
  }
  // In order by chance, it is still a race.
  std::string message;
  for (uint64_t seed = 0; seed < 8 && message.find("another") == std::string::npos; ++seed)
    message = runGraph(planted, arguments, Order::Declared, seed);
  EXPECT_NE(message.find("which another iteration of the parallel dimension 'k' writes"),
            std::string::npos)
      << message;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "the buffer is here");
  // By the schedule instead of the operator.
  std::string scheduled = stackedRNN(
      "[map, scanl, scanl]",
      " schedule <map = affine_map<(i, j, k) -> (j, i, k)>, loops = [<dimension = 0, kind = "
      "sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]>");
  EXPECT_EQ(runGraph(scheduled, arguments, Order::Dataflow), "[[[2, 6]]]");
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_TRUE(StringRef(runGraph(scheduled, arguments, Order::Declared, seed))
                    .starts_with("error: @r1 at (i = 0, j = 0, k = 1) reads %"));
}

TEST_F(ETDGRun, PiecesSourcesAndGather) {
  StringRef text = R"(
    etdg.graph @f(%xs: !etdg.buffer<[M], tensor<2xi32>>, %idx: !etdg.buffer<[N], tensor<i64>>)
        -> !etdg.buffer<[N], tensor<2xi32>> {
      %out = etdg.buffer : !etdg.buffer<[N], tensor<2xi32>>
      %c = etdg.constant dense<[100, 200]> : tensor<2xi32> as !etdg.buffer<[], tensor<2xi32>>
      etdg.block @b [map] (i) in [0, N)
          reads (%x = %xs[%idx[i]] : tensor<2xi32>, %n = index(10 * i + 1) : tensor<2xi32>,
                 %k = %c[] : tensor<2xi32>,
                 %e = elem (a) {a = 0: splat 7 : i32, a > 0: %xs[i, a - 1]} : tensor<2xi32>,
                 %p = {i = 0: splat -1 : i32, i >= 1: %xs[i - 1]} : tensor<2xi32>)
          writes (%out[N - 1 - i]) {
        %s = arith.addi %x, %n : tensor<2xi32>
        %t = arith.addi %s, %k : tensor<2xi32>
        %u = arith.addi %t, %e : tensor<2xi32>
        %v = arith.addi %u, %p : tensor<2xi32>
        etdg.yield %v : tensor<2xi32>
      } : !etdg.buffer<[M], tensor<2xi32>>, !etdg.buffer<[N], tensor<i64>>,
          !etdg.buffer<[], tensor<2xi32>>, !etdg.buffer<[N], tensor<2xi32>>
      etdg.return %out : !etdg.buffer<[N], tensor<2xi32>>
    })";
  // i = 0: x = [3, 4], n = 1, c, e = [7, 1], p = -1; i = 1: x = [1, 2], n = 11, e = [7, 3],
  // p = [1, 2].
  HostArray xs = array({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(runAll(text, {xs, list({1, 0}, DType::i64)}), "[[120, 218], [110, 205]]");
  std::string out = "error: @b at (i = 1) gathers at index 2, which is out of range: dimension 0 "
                    "of %arg0 has size 2";
  EXPECT_EQ(runAll(text, {xs, list({1, 2}, DType::i64)}), out);
  EXPECT_EQ(notes, std::vector<std::string>{"the indices are here"});
  EXPECT_EQ(runAll(text, {xs, list({}, DType::i64)}), "[]");
}

TEST_F(ETDGRun, GatherWaitsForItsIndex) {
  // The index is computed by a later block; the dataflow order waits for it.
  StringRef text = R"(
    etdg.graph @f(%xs: !etdg.buffer<[N], tensor<i32>>) -> !etdg.buffer<[N], tensor<i32>> {
      %out = etdg.buffer : !etdg.buffer<[N], tensor<i32>>
      %idx = etdg.buffer : !etdg.buffer<[N], tensor<i32>>
      etdg.block @use [map] (i) in [0, N) reads (%x = %xs[%idx[i]] : tensor<i32>) writes (%out[i]) {
        etdg.yield %x : tensor<i32>
      } : !etdg.buffer<[N], tensor<i32>>, !etdg.buffer<[N], tensor<i32>>, !etdg.buffer<[N], tensor<i32>>
      etdg.block @make [map] (i) in [0, N) reads (%n = index(N - 1 - i) : tensor<i32>)
          writes (%idx[i]) {
        etdg.yield %n : tensor<i32>
      } : !etdg.buffer<[N], tensor<i32>>
      etdg.return %out : !etdg.buffer<[N], tensor<i32>>
    })";
  EXPECT_EQ(runGraph(text, {list({1, 2, 3})}, Order::Dataflow), "[3, 2, 1]");
  EXPECT_EQ(runGraph(text, {list({1, 2, 3})}, Order::Random, 3), "[3, 2, 1]");
  EXPECT_TRUE(StringRef(runGraph(text, {list({1})}, Order::Declared))
                  .ends_with("before it is written in the declared order"));
}

TEST_F(ETDGRun, PrivateBuffersAndFolds) {
  // Sums of rows; each row has planes of its own.
  StringRef text = R"(
    etdg.graph @f(%xs: !etdg.buffer<[N, K], tensor<i32>>) -> !etdg.buffer<[N], tensor<i32>> {
      %out = etdg.buffer : !etdg.buffer<[N], tensor<i32>>
      etdg.block @outer [map] (i) in [0, N) {
        %s = etdg.buffer live [1] : !etdg.buffer<[K], tensor<i32>>
        etdg.block @sum [reduce] (i | k) in [0, K)
            reads (%x = %xs[i, k] : tensor<i32>,
                   %t = {k = 0: splat 0 : i32, k >= 1: %s[k - 1]} : tensor<i32>)
            writes (%s[k]) {
          %y = arith.addi %x, %t : tensor<i32>
          etdg.yield %y : tensor<i32>
        } : !etdg.buffer<[N, K], tensor<i32>>, !etdg.buffer<[K], tensor<i32>>
        etdg.block @last [] (i |)
            reads (%x = {K >= 1: %s[K - 1], K <= 0: splat 0 : i32} : tensor<i32>)
            writes (%out[i]) {
          etdg.yield %x : tensor<i32>
        } : !etdg.buffer<[K], tensor<i32>>, !etdg.buffer<[N], tensor<i32>>
      }
      etdg.return %out : !etdg.buffer<[N], tensor<i32>>
    })";
  EXPECT_EQ(runAll(text, {array({2, 3}, {1, 2, 3, 4, 5, 6})}), "[6, 15]");
  EXPECT_EQ(runAll(text, {array({2, 1}, {1, 2})}), "[1, 2]");
  EXPECT_EQ(runAll(text, {array({2, 0}, {})}), "[0, 0]");
  EXPECT_EQ(runAll(text, {array({0, 2}, {})}), "[]");
}

TEST_F(ETDGRun, KernelSharesLoops) {
  // b[i] = a[i - 1] + x: only a shared, sequential first loop makes it work.
  auto text = [](StringRef kind) {
    return (R"(
    !b = !etdg.buffer<[N], tensor<i32>>
    etdg.graph @f(%xs: !b) -> (!b, !b) {
      %as = etdg.buffer : !b
      %bs = etdg.buffer : !b
      etdg.kernel shared 1 {
        etdg.block @a [)" +
            kind + R"(] (i) in [0, N)
            reads (%x = %xs[i] : tensor<i32>,
                   %p = {i = 0: splat 0 : i32, i >= 1: %bs[i - 1]} : tensor<i32>)
            writes (%as[i]) {
          %y = arith.addi %x, %p : tensor<i32>
          etdg.yield %y : tensor<i32>
        } : !b, !b, !b
        etdg.block @b [)" +
            kind + R"(] (i) in [0, N) reads (%x = %as[i] : tensor<i32>) writes (%bs[i]) {
          %y = arith.addi %x, %x : tensor<i32>
          etdg.yield %y : tensor<i32>
        } : !b, !b
      }
      etdg.return %as, %bs : !b, !b
    })")
        .str();
  };
  EXPECT_EQ(runAll(text("scanl"), {list({1, 1, 1})}), "[1, 3, 7]; [2, 6, 14]");
  for (uint64_t seed = 0; seed < 4; ++seed)
    EXPECT_TRUE(StringRef(runGraph(text("map"), {list({1, 1, 1})}, Order::Declared, seed))
                    .starts_with("error: @a at (i = "));
}

TEST_F(ETDGRun, TiledLoopsAndOddDomains) {
  // A triangle in tiles of 2, parallel; and a domain with mod and several bounds.
  StringRef text = R"(
    !b = !etdg.buffer<[N, N], tensor<i32>>
    etdg.graph @f(%xs: !etdg.buffer<[N], tensor<i32>>) -> !b {
      %ys = etdg.buffer : !b
      etdg.nest {
        etdg.block @low [map, map] (i, j) in [0, N) x [0, *) where j <= i and mod(i + j, 2) = 0
            reads (%x = %xs[i] : tensor<i32>) writes (%ys[i, j]) {
          etdg.yield %x : tensor<i32>
        } : !etdg.buffer<[N], tensor<i32>>, !b
        etdg.block @odd [map, map] (i, j) in [0, N) x [0, *) where j <= i and mod(i + j, 2) = 1
            reads (%x = splat 0 : i32 : tensor<i32>) writes (%ys[i, j]) {
          etdg.yield %x : tensor<i32>
        } : !b
        etdg.block @high [map, map] (i, j) in [0, N) x [i + 1, N)
            reads (%x = index(j) : tensor<i32>) writes (%ys[i, j]) {
          etdg.yield %x : tensor<i32>
        } : !b
      }
      etdg.return %ys : !b
    })";
  EXPECT_EQ(runAll(text, {list({7, 8, 9})}), "[[7, 1, 2], [0, 8, 2], [9, 0, 9]]");
  std::string tiled = text.str();
  tiled.replace(tiled.find("etdg.nest {"), 11,
                "etdg.nest schedule <map = affine_map<(i, j) -> (i, i + j)>, loops = [<dimension = "
                "1, tile = 2, kind = parallel>, <dimension = 0, kind = parallel>, <dimension = 1, "
                "kind = vector>]> {");
  EXPECT_EQ(runAll(tiled, {list({7, 8, 9})}), "[[7, 1, 2], [0, 8, 2], [9, 0, 9]]");
}

/// One dimension of each kind that runs in any order, and one that does not.
static std::string loops(StringRef schedule, StringRef operators = "[map, scanl]") {
  return ("!b = !etdg.buffer<[N, L], tensor<i32>>\netdg.graph @f(%xs: !b) -> !b {\n%ys = etdg.buffer : "
          "!b\netdg.block @a " +
          operators + " (i, k) in [0, N) x [0, L) reads (%x = %xs[i, k] : tensor<i32>) writes (%ys[i, k])" +
          schedule + " {\netdg.yield %x : tensor<i32>\n} : !b, !b\netdg.return %ys : !b\n}")
      .str();
}

/// How many different orders some seeds give; each must run every iteration once.
static unsigned countOrders(llvm::function_ref<std::string(uint64_t)> trace) {
  std::set<std::string> orders, contents;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    std::string order = trace(seed);
    orders.insert(order);
    SmallVector<StringRef> parts;
    StringRef(order).split(parts, ") ");
    llvm::sort(parts);
    contents.insert(llvm::join(parts, ";"));
  }
  EXPECT_EQ(contents.size(), 1u);
  return orders.size();
}

TEST_F(ETDGRun, OrdersAreDrawnBySeeds) {
  std::vector<HostArray> rows = {array({4, 1}, {1, 2, 3, 4})}, row = {array({1, 4}, {1, 2, 3, 4})};
  auto count = [&](const std::string &text, ArrayRef<HostArray> arguments, Order order) {
    return countOrders([&](uint64_t seed) { return traceGraph(text, arguments, order, seed); });
  };
  auto scheduled = [](StringRef kind) {
    return (" schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = " + kind +
            ">, <dimension = 1, kind = sequential>]>")
        .str();
  };
  // Of 4! orders a dozen seeds draw several; sequential loops have one.
  EXPECT_GE(count(loops(""), rows, Order::Declared), 5u);
  EXPECT_EQ(count(loops(""), row, Order::Declared), 1u);
  EXPECT_EQ(count(loops("", "[scanl, scanl]"), rows, Order::Declared), 1u);
  EXPECT_EQ(traceGraph(loops("", "[scanl, scanl]"), rows, Order::Declared, 7), "@a(0, 0) @a(1, 0) @a(2, 0) @a(3, 0) ");
  for (StringRef kind : {"parallel", "vector"})
    EXPECT_GE(count(loops(scheduled(kind)), rows, Order::Declared), 5u) << kind.str();
  for (StringRef kind : {"sequential", "unroll"})
    EXPECT_EQ(count(loops(scheduled(kind)), rows, Order::Declared), 1u) << kind.str();
  EXPECT_GE(count(loops(""), rows, Order::Random), 5u);
  EXPECT_GE(count(loops("", "[scanl, scanl]"), rows, Order::Random), 5u); // nothing depends on anything
  EXPECT_EQ(count(loops(""), rows, Order::Dataflow), 1u);
}

/// y[i] = y[i - 1] + x[i], with loops that do not keep that order.
TEST_F(ETDGRun, RacesInEachKindOfLoop) {
  auto nest = [](StringRef first, StringRef rest, StringRef schedule) {
    return ("!b = !etdg.buffer<[N], tensor<i32>>\netdg.graph @f(%xs: !b) -> !b {\n%ys = etdg.buffer : "
            "!b\netdg.nest" +
            schedule + " {\netdg.block @first [" + first +
            "] (i) in [0, min(1, N)) reads (%x = %xs[i] : tensor<i32>) writes (%ys[i]) {\netdg.yield %x : "
            "tensor<i32>\n} : !b, !b\netdg.block @rest [" +
            rest +
            "] (i) in [1, N) reads (%x = %xs[i] : tensor<i32>, %p = %ys[i - 1] : tensor<i32>) writes (%ys[i]) "
            "{\n%y = arith.addi %x, %p : tensor<i32>\netdg.yield %y : tensor<i32>\n} : !b, "
            "!b\n}\netdg.return %ys : !b\n}")
        .str();
  };
  auto schedule = [](StringRef kind) {
    return (" schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = " + kind + ">]>").str();
  };
  std::vector<HostArray> three = {list({1, 1, 1})};
  EXPECT_EQ(runAll(nest("scanl", "scanl", ""), three), "[1, 2, 3]");
  EXPECT_EQ(runAll(nest("scanl", "scanl", schedule("sequential")), three), "[1, 2, 3]");
  EXPECT_EQ(runAll(nest("scanl", "scanl", schedule("unroll")), three), "[1, 2, 3]");
  // A loop is parallel only where all regions of the nest say so, in whatever order they stand.
  EXPECT_EQ(runAll(nest("map", "scanl", ""), three), "[1, 2, 3]");
  EXPECT_EQ(runAll(nest("scanl", "map", ""), three), "[1, 2, 3]");
  for (const std::string &racy : {nest("map", "map", ""), nest("scanl", "scanl", schedule("parallel")),
                                  nest("scanl", "scanl", schedule("vector"))})
    for (uint64_t seed = 0; seed < 8; ++seed)
      EXPECT_TRUE(StringRef(runGraph(racy, three, Order::Declared, seed)).starts_with("error: @rest at (i = "))
          << racy << seed;
}

/// What may be re-associated is cut at random places and joined by `combine`: a wrong one shows.
TEST_F(ETDGRun, CombineJoinsWhatIsCut) {
  auto sum = [](StringRef op, StringRef combine, StringRef identity) {
    return ("!b = !etdg.buffer<[N], tensor<i32>>\n!r = !etdg.buffer<[N], tensor<i32>>\n"
            "etdg.graph @f(%xs: !b) -> !r {\n%ys = etdg.buffer : !r\netdg.block @a [" +
            op +
            "] (i) in [0, N) reads (%s = {i = 0: splat 5 : i32, i >= 1: %ys[i - 1]} : tensor<i32>, %x = %xs[i] : "
            "tensor<i32>) writes (%ys[i]) {\n%y = arith.addi %s, %x : tensor<i32>\netdg.yield %y : "
            "tensor<i32>\n} combine (%a: tensor<i32>, %b: tensor<i32>) {\n%c = arith." +
            combine + " %a, %b : tensor<i32>\netdg.yield %c : tensor<i32>\n} identity (splat " + identity +
            " : i32) : !r, !b\netdg.return %ys : !r\n}")
        .str();
  };
  std::vector<HostArray> ten = {list({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})};
  std::string right = "[6, 8, 11, 15, 20, 26, 33, 41, 50, 60]";
  for (StringRef op : {"reduce", "fold", "scan"})
    EXPECT_EQ(runAll(sum(op, "addi", "0"), ten), right) << op.str();
  // The other orders do not cut.
  EXPECT_EQ(runGraph(sum("reduce", "subi", "0"), ten, Order::Dataflow), right);
  EXPECT_EQ(runGraph(sum("reduce", "addi", "1"), ten, Order::Declared, 3), right);
  unsigned seen = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    seen += runGraph(sum("reduce", "subi", "0"), ten, Order::Random, seed) != right;
    seen += runGraph(sum("scan", "addi", "1"), ten, Order::Random, seed) != right;
  }
  EXPECT_GE(seen, 12u);
}

TEST_F(ETDGRun, AccessErrors) {
  auto copy = [](StringRef domain, StringRef read, StringRef write) {
    return ("!b = !etdg.buffer<[N], tensor<i32>>\netdg.graph @f(%xs: !b) -> !b {\n"
            "%ys = etdg.buffer : !b\netdg.block @c [scanl] (i) in " +
            domain + " reads (%x = " + read + " : tensor<i32>) writes (%ys[" + write +
            "]) {\netdg.yield %x : tensor<i32>\n"
            "} : !b, !b\netdg.return %ys : !b\n}")
        .str();
  };
  std::vector<HostArray> two = {list({1, 2})};
  EXPECT_EQ(runAll(copy("[0, N)", "%xs[i]", "i"), two), "[1, 2]");
  EXPECT_EQ(runGraph(copy("[0, N)", "%xs[i + 1]", "i"), two, Order::Dataflow),
            "error: @c at (i = 1) reads %arg0[2], out of bounds: dimension 0 has size 2");
  EXPECT_EQ(runGraph(copy("[0, N)", "%xs[i]", "i - 1"), two, Order::Declared),
            "error: @c at (i = 0) writes %buf[-1], out of bounds: dimension 0 has size 2");
  EXPECT_EQ(runGraph(copy("[0, N)", "%xs[i]", "0"), two, Order::Declared),
            "error: @c at (i = 1) writes %buf[0] a second time");
  EXPECT_EQ(runGraph(copy("[1, N)", "%xs[i]", "i"), two, Order::Dataflow),
            "error: result 0: element %buf[0] is never written");
  EXPECT_EQ(runGraph(copy("[0, N)", "{i >= 1: %xs[i]}", "i"), two, Order::Declared),
            "error: @c at (i = 0) has no piece of read 0 at element []");
  EXPECT_EQ(runGraph(copy("[0, N)", "{i >= 0: %xs[i], i >= 1: splat 0 : i32}", "i"), two,
                     Order::Declared),
            "error: @c at (i = 1) has two pieces of read 0 at element []");
}

TEST_F(ETDGRun, Cycles) {
  StringRef text = R"(
    !b = !etdg.buffer<[N], tensor<i32>>
    etdg.graph @f(%xs: !b) -> !b {
      %ys = etdg.buffer : !b
      etdg.block @c [scanl] (i) in [0, N) reads (%x = %ys[N - 1 - i] : tensor<i32>) writes (%ys[i]) {
        etdg.yield %x : tensor<i32>
      } : !b
      etdg.return %ys : !b
    })";
  std::string tail = " reads %buf[1] before it is written: no iteration that can run writes it";
  EXPECT_EQ(runGraph(text, {list({1, 2})}, Order::Dataflow), "error: @c at (i = 0)" + tail);
  EXPECT_EQ(runGraph(text, {list({1, 2})}, Order::Random, 5), "error: @c at (i = 0)" + tail);
  EXPECT_EQ(runGraph(text, {list({1, 2})}, Order::Declared),
            "error: @c at (i = 0) reads %buf[1] before it is written in the declared order");
}

TEST_F(ETDGRun, ArgumentErrors) {
  std::string text = stackedRNN();
  EXPECT_EQ(runGraph(text, {list({1, 2})}, Order::Dataflow), "error: expects 2 arguments, found 1");
  EXPECT_EQ(runGraph(text, {list({1, 2}), list({1})}, Order::Dataflow),
            "error: argument 0: expects 2 dimensions, found 1");
  EXPECT_EQ(runGraph(text, {array({1, 1}, {1}, DType::i64), list({1})}, Order::Dataflow),
            "error: argument 0: expects elements of type i32, found i64");
  StringRef same = R"(
    !b = !etdg.buffer<[N], tensor<i32>>
    etdg.graph @f(%xs: !b, %ys: !b) attributes {ft.bounds = #ft.bounds<"N >= 2">} {
      etdg.return
    })";
  EXPECT_EQ(runGraph(same, {list({1, 2}), list({1, 2, 3})}, Order::Dataflow),
            "error: two lengths for 'N': argument 1 has 3, argument 0 has 2");
  EXPECT_EQ(runGraph(same, {list({1}), list({1})}, Order::Dataflow),
            "error: the lengths do not satisfy the bound N >= 2: N = 1");
}

TEST_F(ETDGRun, BodyErrorsAreLocated) {
  StringRef text = R"(
    !b = !etdg.buffer<[N], tensor<i32>>
    etdg.graph @f(%xs: !b, %zs: !b) -> !b {
      %ys = etdg.buffer : !b
      etdg.block @c [map] (i) in [0, N)
          reads (%x = %xs[i] : tensor<i32>, %z = %zs[i] : tensor<i32>) writes (%ys[i]) {
        %two = arith.constant dense<[5, 6]> : tensor<2xi32>
        %n = tensor.extract %z[] : tensor<i32>
        %i = arith.index_cast %n : i32 to index
        %e = tensor.extract %two[%i] : tensor<2xi32>
        %q = tensor.from_elements %e : tensor<i32>
        %s = arith.addi %x, %q : tensor<i32>
        etdg.yield %s : tensor<i32>
      } : !b, !b, !b
      etdg.return %ys : !b
    })";
  EXPECT_EQ(runAll(text, {list({9, 8}), list({1, 0})}), "[15, 13]");
  EXPECT_EQ(runAll(text, {list({9, 8}), list({1, 2})}), "error: index 2 of dimension 0 is out of range: its size is 2");
}

} // namespace
