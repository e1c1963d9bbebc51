//===- FTComputeTest.cpp - Compute operators of ft by hand ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// map, reduce, fold, foldl, foldr, scan, scanl, scanr at lengths 0, 1, 2 and 5,
// with a body that is neither commutative nor associative: s * 3 + x.
//
//===----------------------------------------------------------------------===//
#include "ProgramFixture.h"

using namespace mlir;
using namespace mlir::ft::interp;

namespace {

class FTCompute : public ProgramTest {
protected:
  /// An aggregate over a list of tensor<i32> with the body s * 3 + x.
  std::string aggregate(StringRef op, std::vector<int64_t> values, StringRef init = "1",
                        StringRef suffix = "") {
    bool isScan = op.starts_with("scan");
    std::string type = isScan ? "!ft.list<[L], tensor<i32>>" : "tensor<i32>";
    std::string initText = init.empty() ? "" : " init (%s = %init : tensor<i32>)" + suffix.str();
    std::string state = init.empty() ? "%s, %x = %xs" : "%x = %xs";
    // Without `init` the states are the first elements and need only names.
    std::string header = init.empty() ? "(%x = %xs : !ft.list<[L], tensor<i32>>) state (%s)"
                                      : "(%x = %xs : !ft.list<[L], tensor<i32>>)" + initText;
    std::string text = "func.func @f(%xs: !ft.list<[L], tensor<i32>>) -> " + type +
                       " attributes {ft.bounds = #ft.bounds<\"L >= " + (init.empty() ? "1" : "0") +
                       "\">} {\n%init = arith.constant dense<" + (init.empty() ? "0" : init.str()) +
                       "> : tensor<i32>\n%three = arith.constant dense<3> : tensor<i32>\n"
                       "%r = ft." +
                       op.str() + " " + header + " -> " + type +
                       " {\n"
                       "%t = arith.muli %s, %three : tensor<i32>\n"
                       "%u = arith.addi %t, %x : tensor<i32>\nft.yield %u : tensor<i32>\n}\n"
                       "return %r : " +
                       type + "\n}";
    return runFunction(text, {list(std::move(values))});
  }
};

const std::vector<int64_t> five = {4, 1, 2, 0, 5};

TEST_F(FTCompute, Map) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[L], tensor<i32>>, %ys: !ft.list<[L], tensor<i32>>)
        -> (!ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>>) {
      %a, %b = ft.map (%x, %y = %xs, %ys : !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>>)
          -> !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>> {
        %d = arith.subi %x, %y : tensor<i32>
        ft.yield %d, %x : tensor<i32>, tensor<i32>
      }
      return %a, %b : !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(text, {list({}), list({})}), "[]; []");
  EXPECT_EQ(runFunction(text, {list({7}), list({3})}), "[4]; [7]");
  EXPECT_EQ(runFunction(text, {list({7, 1}), list({3, 5})}), "[4, -4]; [7, 1]");
  EXPECT_EQ(runFunction(text, {list(five), list({1, 1, 1, 1, 1})}),
            "[3, 0, 1, -1, 4]; [4, 1, 2, 0, 5]");
}

TEST_F(FTCompute, FoldsFromTheLeft) {
  // 1 → 3·1+4 = 7 → 22 → 68 → 204 → 617.
  for (StringRef op : {"reduce", "fold", "foldl"}) {
    EXPECT_EQ(aggregate(op, {}), "1") << op.str();
    EXPECT_EQ(aggregate(op, {4}), "7") << op.str();
    EXPECT_EQ(aggregate(op, {4, 1}), "22") << op.str();
    EXPECT_EQ(aggregate(op, five), "617") << op.str();
  }
}

TEST_F(FTCompute, FoldsFromTheRight) {
  // 1 → 8 → 24 → 74 → 223 → 673, elements 5, 0, 2, 1, 4.
  EXPECT_EQ(aggregate("foldr", {}), "1");
  EXPECT_EQ(aggregate("foldr", {4}), "7");
  EXPECT_EQ(aggregate("foldr", {4, 1}), "16");
  EXPECT_EQ(aggregate("foldr", five), "673");
}

TEST_F(FTCompute, ScansAreInclusive) {
  for (StringRef op : {"scan", "scanl"}) {
    EXPECT_EQ(aggregate(op, {}), "[]") << op.str();
    EXPECT_EQ(aggregate(op, {4}), "[7]") << op.str();
    EXPECT_EQ(aggregate(op, {4, 1}), "[7, 22]") << op.str();
    EXPECT_EQ(aggregate(op, five), "[7, 22, 68, 204, 617]") << op.str();
  }
  EXPECT_EQ(aggregate("scanr", {}), "[]");
  EXPECT_EQ(aggregate("scanr", {4}), "[7]");
  EXPECT_EQ(aggregate("scanr", {4, 1}), "[16, 4]");
  // scanr f s xs = reverse(scanl f s (reverse xs)).
  EXPECT_EQ(aggregate("scanr", five), "[673, 223, 74, 24, 8]");
}

TEST_F(FTCompute, WithoutInitTheFirstElementIsTheState) {
  // 4 → 13 → 41 → 123 → 374; from the right 5 → 15 → 47 → 142 → 430.
  for (StringRef op : {"reduce", "fold", "foldl"}) {
    EXPECT_EQ(aggregate(op, {4}, ""), "4") << op.str();
    EXPECT_EQ(aggregate(op, {4, 1}, ""), "13") << op.str();
    EXPECT_EQ(aggregate(op, five, ""), "374") << op.str();
  }
  EXPECT_EQ(aggregate("foldr", five, ""), "430");
  for (StringRef op : {"scan", "scanl"}) {
    EXPECT_EQ(aggregate(op, {4}, ""), "[4]") << op.str();
    EXPECT_EQ(aggregate(op, five, ""), "[4, 13, 41, 123, 374]") << op.str();
  }
  EXPECT_EQ(aggregate("scanr", {4, 1}, ""), "[7, 1]");
  EXPECT_EQ(aggregate("scanr", five, ""), "[430, 142, 47, 15, 5]");
  EXPECT_EQ(aggregate("foldl", {}, ""),
            "error: the lengths do not satisfy the bound L >= 1: L = 0");
}

TEST_F(FTCompute, LagTakesAnEarlierState) {
  // lag 2: 7, 4, 3·7+2 = 23, 3·4+0 = 12, 3·23+5 = 74.
  EXPECT_EQ(aggregate("scanl", {}, "1", " lag 2"), "[]");
  EXPECT_EQ(aggregate("scanl", {4}, "1", " lag 2"), "[7]");
  EXPECT_EQ(aggregate("scanl", {4, 1}, "1", " lag 2"), "[7, 4]");
  EXPECT_EQ(aggregate("scanl", five, "1", " lag 2"), "[7, 4, 23, 12, 74]");
  EXPECT_EQ(aggregate("scanl", five, "1", " lag 7"), "[7, 4, 5, 3, 8]");
  // From the right: 8, 3, 3·8+2 = 26, 3·3+1 = 10, 3·26+4 = 82.
  EXPECT_EQ(aggregate("scanr", five, "1", " lag 2"), "[82, 10, 26, 3, 8]");
  EXPECT_EQ(aggregate("scan", five, "1", " lag 2"), "[7, 4, 23, 12, 74]");
}

TEST_F(FTCompute, TupleStatesAndEmit) {
  // (a, b) from (1, 2): a' = a + x, b' = b · a; emitted: a - b before the step.
  for (bool right : {false, true}) {
    std::string text = std::string(R"(
      func.func @f(%xs: !ft.list<[L], tensor<i32>>) -> (!ft.list<[L], tensor<i32>>,
          !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>>) {
        %a0 = arith.constant dense<1> : tensor<i32>
        %b0 = arith.constant dense<2> : tensor<i32>
        %as, %bs, %ds = ft.)") +
                       (right ? "scanr" : "scanl") + R"( (%x = %xs : !ft.list<[L], tensor<i32>>)
            init (%a, %b = %a0, %b0 : tensor<i32>, tensor<i32>)
            -> !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>> {
          %a1 = arith.addi %a, %x : tensor<i32>
          %b1 = arith.muli %b, %a : tensor<i32>
          %d = arith.subi %a, %b : tensor<i32>
          ft.yield %a1, %b1 : tensor<i32>, tensor<i32> emit %d : tensor<i32>
        }
        return %as, %bs, %ds : !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>>,
            !ft.list<[L], tensor<i32>>
      })";
    EXPECT_EQ(runFunction(text, {list({})}), "[]; []; []");
    EXPECT_EQ(runFunction(text, {list({3})}), "[4]; [2]; [-1]");
    EXPECT_EQ(runFunction(text, {list({3, 5})}),
              right ? "[9, 6]; [12, 2]; [4, -1]" : "[4, 9]; [2, 8]; [-1, 2]");
  }
}

TEST_F(FTCompute, FoldWithEmit) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[L], tensor<i32>>)
        -> (tensor<i32>, !ft.list<[L], tensor<i32>>) {
      %a0 = arith.constant dense<10> : tensor<i32>
      %a, %ds = ft.foldr (%x = %xs : !ft.list<[L], tensor<i32>>) init (%s = %a0 : tensor<i32>)
          -> tensor<i32>, !ft.list<[L], tensor<i32>> {
        %t = arith.subi %s, %x : tensor<i32>
        ft.yield %t : tensor<i32> emit %s : tensor<i32>
      }
      return %a, %ds : tensor<i32>, !ft.list<[L], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(text, {list({})}), "10; []");
  EXPECT_EQ(runFunction(text, {list({1, 2, 3})}), "4; [5, 7, 10]");
}

TEST_F(FTCompute, ListStatesNest) {
  // Listing 1 on numbers: y = x · w + s over [N, L] and [D].
  StringRef text = R"(
    !x = tensor<i32>
    func.func @f(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[N, D, L], !x> {
      %zero = arith.constant dense<0> : !x
      %ysss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, D, L], !x> {
        %yss = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%ss = %xs : !ft.list<[L], !x>)
            -> !ft.list<[D, L], !x> {
          %ys = ft.scanl (%x = %ss : !ft.list<[L], !x>) init (%s = %zero : !x)
              -> !ft.list<[L], !x> {
            %p = arith.muli %x, %w : !x
            %y = arith.addi %p, %s : !x
            ft.yield %y : !x
          }
          ft.yield %ys : !ft.list<[L], !x>
        }
        ft.yield %yss : !ft.list<[D, L], !x>
      }
      return %ysss : !ft.list<[N, D, L], !x>
    })";
  EXPECT_EQ(runFunction(text, {array({1, 3}, {1, 2, 3}), list({2, 1})}),
            "[[[2, 6, 12], [2, 8, 20]]]");
  EXPECT_EQ(runFunction(text, {array({2, 1}, {1, 2}), list({3})}), "[[[3]], [[6]]]");
  EXPECT_EQ(runFunction(text, {array({0, 3}, {}), list({3})}), "[]");
  EXPECT_EQ(runFunction(text, {array({2, 0}, {}), list({3})}), "[[[]], [[]]]");
  EXPECT_EQ(runFunction(text, {array({1, 2}, {4, 5}), list({})}), "[[]]");
}

TEST_F(FTCompute, CombineDoesNotChangeTheMeaning) {
  StringRef text = R"(
    !x = tensor<i32>
    !w = tensor<2xi32>
    func.func @f(%xs: !ft.list<[L], !w>) -> (!x, !x) {
      %one = arith.constant dense<1> : !x
      %zero = arith.constant dense<0> : !x
      %p, %s = ft.reduce (%x = %xs : !ft.list<[L], !w>) init (%a, %b = %one, %zero : !x, !x) -> !x, !x {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %l = tensor.extract %x[%c0] : !w
        %r = tensor.extract %x[%c1] : !w
        %lt = tensor.from_elements %l : !x
        %rt = tensor.from_elements %r : !x
        %q = arith.muli %a, %lt : !x
        %t = arith.addi %b, %rt : !x
        ft.yield %q, %t : !x, !x
      } combine (%a1, %b1, %a2, %b2) {
        %q = arith.muli %a1, %a2 : !x
        %t = arith.addi %b1, %b2 : !x
        ft.yield %q, %t : !x, !x
      } identity (%one, %zero : !x, !x)
      return %p, %s : !x, !x
    })";
  EXPECT_EQ(runFunction(text, {array({0, 2}, {})}), "1; 0");
  EXPECT_EQ(runFunction(text, {array({3, 2}, {2, 10, 3, 20, 4, 30})}), "24; 60");
}

TEST_F(FTCompute, Calls) {
  StringRef text = R"(
    !l = !ft.list<[L], tensor<i32>>
    func.func private @double(%xs: !l) -> !l {
      %r = ft.map (%x = %xs : !l) -> !l {
        %y = arith.addi %x, %x : tensor<i32>
        ft.yield %y : tensor<i32>
      }
      return %r : !l
    }
    func.func @f(%xs: !l) -> !l {
      %a = func.call @double(%xs) : (!l) -> !l
      %b = func.call @double(%a) : (!l) -> !l
      return %b : !l
    })";
  EXPECT_EQ(runFunction(text, {list({})}), "[]");
  EXPECT_EQ(runFunction(text, {list({1, 2, 3})}), "[4, 8, 12]");
  EXPECT_EQ(runFunction("func.func @f(%x: tensor<i32>) -> tensor<i32> {\n"
                        "%r = func.call @f(%x) : (tensor<i32>) -> tensor<i32>\n"
                        "return %r : tensor<i32>\n}",
                        {array({}, {1})}),
            "error: calls nest deeper than 200");
}

TEST_F(FTCompute, BranchesHoldOperators) {
  StringRef text = R"(
    !l = !ft.list<[L], tensor<i32>>
    func.func @f(%xs: !l, %c: tensor<i1>) -> !l {
      %b = tensor.extract %c[] : tensor<i1>
      %r = scf.if %b -> !l {
        %t = ft.reverse %xs : !l
        scf.yield %t : !l
      } else {
        scf.yield %xs : !l
      }
      return %r : !l
    })";
  EXPECT_EQ(runFunction(text, {list({1, 2}), array({}, {1}, DType::i1)}), "[2, 1]");
  EXPECT_EQ(runFunction(text, {list({1, 2}), array({}, {0}, DType::i1)}), "[1, 2]");
}

TEST_F(FTCompute, FloatTruthMode) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[L], tensor<f16>>) -> tensor<f16> {
      %z = arith.constant dense<2048.0> : tensor<f16>
      %m = arith.constant dense<2048.0> : tensor<f16>
      %r = ft.foldl (%x = %xs : !ft.list<[L], tensor<f16>>) init (%s = %z : tensor<f16>)
          -> tensor<f16> {
        %t = arith.addf %s, %x : tensor<f16>
        ft.yield %t : tensor<f16>
      }
      %d = arith.subf %r, %m : tensor<f16>
      return %d : tensor<f16>
    })";
  // States round to their type at every step; in truth mode they do not.
  HostArray ones = list({1, 1, 1, 1}, DType::f16);
  EXPECT_EQ(std::stod(runFunction(text, {ones})), 0.0);
  RunOptions truth;
  truth.truth = true;
  EXPECT_EQ(std::stod(runFunction(text, {ones}, Lengths(), truth)), 4.0);
}

TEST_F(FTCompute, LengthErrors) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[L], tensor<i32>>, %ys: !ft.list<[L], tensor<i32>>) -> tensor<i32>
        attributes {ft.bounds = #ft.bounds<"L >= 2">} {
      %z = ft.at %ys[1] : !ft.list<[L], tensor<i32>>
      return %z : tensor<i32>
    })";
  EXPECT_EQ(runFunction(text, {list({1, 2}), list({1, 2, 3})}),
            "error: two lengths for 'L': argument 1 has 3, argument 0 has 2");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "bound to 2 here");
  EXPECT_EQ(runFunction(text, {list({1, 2}), list({1, 2})}, {{"L", 3}}),
            "error: two lengths for 'L': argument 0 has 2, the caller gives 3");
  EXPECT_EQ(runFunction(text, {list({1, 2}), list({1, 2})}, {{"M", -1}}),
            "error: the length 'M' is negative: -1");
  EXPECT_EQ(runFunction(text, {list({1}), list({1})}),
            "error: the lengths do not satisfy the bound L >= 2: L = 1");
  EXPECT_EQ(runFunction(text, {list({1})}), "error: expects 2 arguments, found 1");
  EXPECT_EQ(runFunction(text, {list({1, 2}, DType::i64), list({1, 2})}),
            "error: argument 0: expects elements of type i32, found i64");
  EXPECT_EQ(runFunction(text, {array({1, 2}, {1, 2}), list({1, 2})}),
            "error: argument 0: expects 1 dimensions, found 2");

  StringRef empty = R"(
    func.func @f(%xs: !ft.list<[L, 0], tensor<i32>>) -> !ft.list<[L, 0], tensor<i32>> {
      return %xs : !ft.list<[L, 0], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(empty, {array({2, 0}, {})}), "[[], []]");
  EXPECT_EQ(runFunction(empty, {array({int64_t(1) << 40, 0}, {})}),
            "error: argument 0: the length 'L' = 1099511627776 is more than the interpreter takes");

  StringRef fixed = R"(
    func.func @f(%xs: !ft.list<[L, 3], tensor<2xi32>>, %ys: !ft.list<[L + 1], tensor<i32>>)
        -> !ft.list<[L + 1], tensor<i32>> {
      return %ys : !ft.list<[L + 1], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(fixed, {array({0, 3, 2}, {}), list({8})}), "[8]");
  EXPECT_EQ(runFunction(fixed, {array({0, 4, 2}, {}), list({8})}),
            "error: argument 0: dimension 1 is 3 = 3, found 4");
  EXPECT_EQ(runFunction(fixed, {array({0, 3, 2}, {}), list({8, 9})}),
            "error: argument 1: dimension 0 is L + 1 = 1, found 2");
  EXPECT_EQ(runFunction(fixed, {array({1, 3, 1}, {1, 2, 3}), list({8, 9})}),
            "error: argument 0: expects sizes 1x3x2, found 1x3x1");
}

TEST_F(FTCompute, BodyErrorsAreLocated) {
  StringRef text = R"(
    func.func @f(%xs: !ft.list<[L], tensor<i32>>, %ys: !ft.list<[L], tensor<i32>>)
        -> !ft.list<[L], tensor<i32>> {
      %r = ft.map (%x, %y = %xs, %ys : !ft.list<[L], tensor<i32>>, !ft.list<[L], tensor<i32>>)
          -> !ft.list<[L], tensor<i32>> {
        %two = arith.constant dense<[5, 6]> : tensor<2xi32>
        %n = tensor.extract %y[] : tensor<i32>
        %i = arith.index_cast %n : i32 to index
        %e = tensor.extract %two[%i] : tensor<2xi32>
        %q = tensor.from_elements %e : tensor<i32>
        %s = arith.addi %x, %q : tensor<i32>
        ft.yield %s : tensor<i32>
      }
      return %r : !ft.list<[L], tensor<i32>>
    })";
  EXPECT_EQ(runFunction(text, {list({7, 8}), list({1, 0})}), "[13, 13]");
  EXPECT_EQ(runFunction(text, {list({7, 8}), list({1, 2})}), "error: index 2 of dimension 0 is out of range: its size is 2");
}

} // namespace
