//===- FTAccessTest.cpp - Access operators of ft by hand ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every access operator at lengths 0, 1, 2 and 5 where it is defined there, and
// the errors of those that depend on data or lengths.
//
//===----------------------------------------------------------------------===//
#include "ProgramFixture.h"

using namespace mlir;
using namespace mlir::ft::interp;

namespace {

class FTAccess : public ProgramTest {
protected:
  /// `op` on %xs : !ft.list<[L], tensor<i32>>, whose result is %r.
  std::string access(StringRef op, StringRef resultType, std::vector<int64_t> values,
                     StringRef bound = "L >= 0") {
    std::string text = ("func.func @f(%xs: !ft.list<[L], tensor<i32>>) -> " + resultType +
                        " attributes {ft.bounds = #ft.bounds<\"" + bound +
                        "\">} {\n%fill = arith.constant dense<-9> : tensor<i32>\n%r = " + op +
                        "\nreturn %r : " + resultType + "\n}")
                           .str();
    return runFunction(text, {list(std::move(values))});
  }
};

#define LIST "!ft.list<[L], tensor<i32>>"

TEST_F(FTAccess, Shift) {
  StringRef up = "ft.shift %xs by 2 fill %fill : " LIST ", tensor<i32>";
  EXPECT_EQ(access(up, LIST, {}), "[]");
  EXPECT_EQ(access(up, LIST, {1}), "[-9]");
  EXPECT_EQ(access(up, LIST, {1, 2}), "[-9, -9]");
  EXPECT_EQ(access(up, LIST, {1, 2, 3, 4, 5}), "[-9, -9, 1, 2, 3]");
  StringRef down = "ft.shift %xs by -1 fill %fill : " LIST ", tensor<i32>";
  EXPECT_EQ(access(down, LIST, {}), "[]");
  EXPECT_EQ(access(down, LIST, {1}), "[-9]");
  EXPECT_EQ(access(down, LIST, {1, 2}), "[2, -9]");
  EXPECT_EQ(access(down, LIST, {1, 2, 3, 4, 5}), "[2, 3, 4, 5, -9]");
  EXPECT_EQ(access("ft.shift %xs by -9223372036854775807 fill %fill : " LIST ", tensor<i32>", LIST,
                   {1, 2}),
            "[-9, -9]");
}

TEST_F(FTAccess, Reverse) {
  StringRef op = "ft.reverse %xs : " LIST;
  EXPECT_EQ(access(op, LIST, {}), "[]");
  EXPECT_EQ(access(op, LIST, {1}), "[1]");
  EXPECT_EQ(access(op, LIST, {1, 2}), "[2, 1]");
  EXPECT_EQ(access(op, LIST, {1, 2, 3, 4, 5}), "[5, 4, 3, 2, 1]");
}

TEST_F(FTAccess, Slice) {
  StringRef type = "!ft.list<[L - 2], tensor<i32>>";
  StringRef op = "ft.slice %xs[1 to -1] : " LIST;
  EXPECT_EQ(access(op, type, {1, 2}, "L >= 2"), "[]");
  EXPECT_EQ(access(op, type, {1, 2, 3, 4, 5}, "L >= 2"), "[2, 3, 4]");
  EXPECT_EQ(access("ft.slice %xs[0 to L] : " LIST, LIST, {}), "[]");
  EXPECT_EQ(access("ft.slice %xs[0 to 1] : " LIST, "!ft.list<[1], tensor<i32>>", {7}, "L >= 1"),
            "[7]");
}

TEST_F(FTAccess, Stride) {
  StringRef type = "!ft.list<[ceildiv(L, 2)], tensor<i32>>";
  StringRef op = "ft.stride %xs from 0 step 2 : " LIST;
  EXPECT_EQ(access(op, type, {}), "[]");
  EXPECT_EQ(access(op, type, {1}), "[1]");
  EXPECT_EQ(access(op, type, {1, 2}), "[1]");
  EXPECT_EQ(access(op, type, {1, 2, 3, 4, 5}), "[1, 3, 5]");
  EXPECT_EQ(access("ft.stride %xs from 1 step 3 : " LIST,
                   "!ft.list<[ceildiv(L - 1, 3)], tensor<i32>>", {1, 2, 3, 4, 5}, "L >= 1"),
            "[2, 5]");
}

TEST_F(FTAccess, Window) {
  StringRef open = "!ft.list<[L - 2, 3], tensor<i32>>";
  EXPECT_EQ(access("ft.window %xs size 3 : " LIST, open, {1, 2, 3, 4, 5}, "L >= 3"),
            "[[1, 2, 3], [2, 3, 4], [3, 4, 5]]");
  EXPECT_EQ(access("ft.window %xs size 2 step 2 dilation 2 : " LIST,
                   "!ft.list<[floordiv(L - 3, 2) + 1, 2], tensor<i32>>", {1, 2, 3, 4, 5}, "L >= 3"),
            "[[1, 3], [3, 5]]");
  StringRef same = "!ft.list<[L, 3], tensor<i32>>";
  auto bounded = [&](StringRef boundary, std::vector<int64_t> values, StringRef bound) {
    return access(("ft.window %xs size 3 boundary " + boundary + " : " LIST).str(), same,
                  std::move(values), bound);
  };
  EXPECT_EQ(bounded("zero", {}, "L >= 0"), "[]");
  EXPECT_EQ(bounded("zero", {1}, "L >= 0"), "[[0, 1, 0]]");
  EXPECT_EQ(bounded("zero", {1, 2}, "L >= 0"), "[[0, 1, 2], [1, 2, 0]]");
  EXPECT_EQ(bounded("clamp", {1}, "L >= 1"), "[[1, 1, 1]]");
  EXPECT_EQ(bounded("clamp", {1, 2}, "L >= 1"), "[[1, 1, 2], [1, 2, 2]]");
  EXPECT_EQ(bounded("wrap", {1}, "L >= 1"), "[[1, 1, 1]]");
  EXPECT_EQ(bounded("wrap", {1, 2, 3}, "L >= 1"), "[[3, 1, 2], [1, 2, 3], [2, 3, 1]]");
  EXPECT_EQ(bounded("mirror", {1, 2}, "L >= 2"), "[[2, 1, 2], [1, 2, 1]]");
  EXPECT_EQ(bounded("mirror", {1, 2, 3, 4, 5}, "L >= 2"),
            "[[2, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 4]]");
  // Even sizes look one place further to the right.
  EXPECT_EQ(
      access("ft.window %xs size 2 boundary zero : " LIST, "!ft.list<[L, 2], tensor<i32>>", {1, 2}),
      "[[1, 2], [2, 0]]");
}

TEST_F(FTAccess, Gather) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[L], tensor<i32>>, %is: !ft.list<[M, 2], tensor<i64>>)
        -> !ft.list<[M, 2], tensor<i32>> {
      %r = ft.gather %xs[%is] : !ft.list<[L], tensor<i32>>, !ft.list<[M, 2], tensor<i64>>
      return %r : !ft.list<[M, 2], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(text, {list({5}), array({0, 2}, {}, DType::i64)}), "[]");
  EXPECT_EQ(runFunction(text, {list({5, 6}), array({2, 2}, {0, 1, 1, 1}, DType::i64)}),
            "[[5, 6], [6, 6]]");
  EXPECT_EQ(runFunction(text, {list({5, 6}), array({1, 2}, {0, 2}, DType::i64)}),
            "error: index 2 is out of range: the list has length 2");
  EXPECT_EQ(runFunction(text, {list({5, 6}), array({1, 2}, {-1, 0}, DType::i64)}),
            "error: index -1 is out of range: the list has length 2");
  StringRef one = R"(
    func.func @f(%xs: !ft.list<[L], tensor<i32>>, %i: tensor<i32>) -> tensor<i32> {
      %r = ft.gather %xs[%i] : !ft.list<[L], tensor<i32>>, tensor<i32>
      return %r : tensor<i32>
    })";
  EXPECT_EQ(runFunction(one, {list({5, 6, 7}), array({}, {2})}), "7");
}

TEST_F(FTAccess, ZipAndGet) {
  StringRef text = R"(
    !l = !ft.list<[L], tensor<i32>>
    !z = !ft.list<[L], tuple<tensor<i32>, tensor<i32>>>
    func.func @f(%xs: !l, %ys: !l) -> (!l, !l) {
      %z = ft.zip %xs, %ys : !l, !l
      %a = ft.map (%t = %z : !z) -> !l {
        %x = ft.get %t[0] : tuple<tensor<i32>, tensor<i32>>
        %y = ft.get %t[1] : tuple<tensor<i32>, tensor<i32>>
        %d = arith.subi %x, %y : tensor<i32>
        ft.yield %d : tensor<i32>
      }
      %b = ft.get %z[1] : !z
      return %a, %b : !l, !l
    })";
  EXPECT_EQ(runFunction(text, {list({}), list({})}), "[]; []");
  EXPECT_EQ(runFunction(text, {list({9, 8}), list({1, 5})}), "[8, 3]; [1, 5]");
}

TEST_F(FTAccess, At) {
  EXPECT_EQ(access("ft.at %xs[0] : " LIST, "tensor<i32>", {7}, "L >= 1"), "7");
  EXPECT_EQ(access("ft.at %xs[-1] : " LIST, "tensor<i32>", {7, 8}, "L >= 1"), "8");
  EXPECT_EQ(access("ft.at %xs[L - 3] : " LIST, "tensor<i32>", {1, 2, 3, 4, 5}, "L >= 3"), "3");
}

TEST_F(FTAccess, Concat) {
  StringRef op = "ft.concat %xs, %xs : " LIST ", " LIST;
  StringRef type = "!ft.list<[2 * L], tensor<i32>>";
  EXPECT_EQ(access(op, type, {}), "[]");
  EXPECT_EQ(access(op, type, {1}), "[1, 1]");
  EXPECT_EQ(access(op, type, {1, 2}), "[1, 2, 1, 2]");
}

TEST_F(FTAccess, FlattenAndSplit) {
  StringRef flatten = R"(
    func.func @f(%xs: !ft.list<[N, 2], tensor<i32>>) -> !ft.list<[2 * N], tensor<i32>> {
      %r = ft.flatten %xs : !ft.list<[N, 2], tensor<i32>>
      return %r : !ft.list<[2 * N], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(flatten, {array({0, 2}, {})}), "[]");
  EXPECT_EQ(runFunction(flatten, {array({2, 2}, {1, 2, 3, 4})}), "[1, 2, 3, 4]");
  StringRef type = "!ft.list<[floordiv(L, 2), 2], tensor<i32>>";
  StringRef split = "ft.split %xs by 2 : " LIST;
  EXPECT_EQ(access(split, type, {}), "[]");
  EXPECT_EQ(access(split, type, {1, 2}), "[[1, 2]]");
  EXPECT_EQ(access(split, type, {1, 2, 3, 4, 5}),
            "error: a list of length 5 cannot be split into pieces of 2 = 2");
}

TEST_F(FTAccess, Transpose) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[N, L, 2], tensor<i32>>) -> !ft.list<[L, N, 2], tensor<i32>> {
      %r = ft.transpose %xs [1, 0] : !ft.list<[N, L, 2], tensor<i32>>
      return %r : !ft.list<[L, N, 2], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(text, {array({1, 2, 2}, {1, 2, 3, 4})}), "[[[1, 2]], [[3, 4]]]");
  EXPECT_EQ(runFunction(text, {array({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}),
            "[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]");
  EXPECT_EQ(runFunction(text, {array({0, 2, 2}, {})}), "[[], []]");
  StringRef cycle = R"(
    func.func @f(%xs: !ft.list<[A, B, C], tensor<i32>>) -> !ft.list<[C, A, B], tensor<i32>> {
      %r = ft.transpose %xs [2, 0, 1] : !ft.list<[A, B, C], tensor<i32>>
      return %r : !ft.list<[C, A, B], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(cycle, {array({1, 2, 2}, {1, 2, 3, 4})}), "[[[1, 3]], [[2, 4]]]");
}

TEST_F(FTAccess, RepeatAndIota) {
  StringRef repeat = "ft.repeat %fill times L : tensor<i32>";
  EXPECT_EQ(access(repeat, LIST, {}), "[]");
  EXPECT_EQ(access(repeat, LIST, {1, 2}), "[-9, -9]");
  StringRef iota = "ft.iota : " LIST;
  EXPECT_EQ(access(iota, LIST, {}), "[]");
  EXPECT_EQ(access(iota, LIST, {9}), "[0]");
  EXPECT_EQ(access(iota, LIST, {9, 9, 9, 9, 9}), "[0, 1, 2, 3, 4]");
}

TEST_F(FTAccess, Cast) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[2 * M], tensor<i32>>, %ms: !ft.list<[M], tensor<i32>>,
                 %ls: !ft.list<[L], tensor<i32>>) -> !ft.list<[L], tensor<i32>> {
      %r = ft.cast %xs : !ft.list<[2 * M], tensor<i32>> to !ft.list<[L], tensor<i32>>
      return %r : !ft.list<[L], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(text, {list({1, 2}), list({0}), list({0, 0})}), "[1, 2]");
  EXPECT_EQ(runFunction(text, {list({1, 2}), list({0}), list({0})}),
            "error: expects a list of length L = 1, found 2");
}

TEST_F(FTAccess, Ragged) {
  // Two lists of 1 and 3 elements: values one after the other, then offsets.
  StringRef text = R"(
    !r = !ft.list<[N, ragged(r)], tensor<i32>>
    func.func @f(%xs: !r) -> (!ft.list<[N], tensor<i32>>, !r) {
      %zero = arith.constant dense<0> : tensor<i32>
      %s, %d = ft.map (%x = %xs : !r) -> !ft.list<[N], tensor<i32>>, !r {
        %t = ft.foldl (%e = %x : !ft.list<[ragged(r)], tensor<i32>>) init (%a = %zero : tensor<i32>)
            -> tensor<i32> {
          %u = arith.addi %a, %e : tensor<i32>
          ft.yield %u : tensor<i32>
        }
        %m = ft.map (%e = %x : !ft.list<[ragged(r)], tensor<i32>>)
            -> !ft.list<[ragged(r)], tensor<i32>> {
          %u = arith.addi %e, %t : tensor<i32>
          ft.yield %u : tensor<i32>
        }
        ft.yield %t, %m : tensor<i32>, !ft.list<[ragged(r)], tensor<i32>>
      }
      return %s, %d : !ft.list<[N], tensor<i32>>, !r
    })";
  EXPECT_EQ(runFunction(text, {list({5, 1, 2, 3}), list({0, 1, 4}, DType::i64)}),
            "[5, 6]; [10, 7, 8, 9]; [0, 1, 4]");
  EXPECT_EQ(runFunction(text, {list({}), list({0}, DType::i64)}), "[]; []; [0]");
  EXPECT_EQ(runFunction(text, {list({}), list({0, 0, 0}, DType::i64)}), "[0, 0]; []; [0, 0, 0]");
  EXPECT_EQ(runFunction(text, {list({5}), list({0, 1, 4}, DType::i64)}),
            "error: argument 0: has fewer elements than the offsets say");
  EXPECT_EQ(runFunction(text, {list({5, 6}), list({0, 1}, DType::i64)}),
            "error: argument 0: the offsets say 1 elements, its array has 2 numbers");
  EXPECT_EQ(runFunction(text, {list({5})}),
            "error: expects 1 arguments and offsets of 1 ragged levels, found 1");
}

} // namespace
