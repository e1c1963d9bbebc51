//===- LinalgEvalTest.cpp - linalg on tensors by hand ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named and generic structured ops, the rounding of reductions, and the rate of
// contractions.
//
//===----------------------------------------------------------------------===//
#include "EvalFixture.h"
#include <chrono>

using namespace mlir;
using namespace mlir::ft::interp;

namespace {

class LinalgEval : public EvalTest {
protected:
  /// %a is 2x3, %b is 3x2, %z a zero 2x2, all i32.
  std::string with(StringRef lines, StringRef resultType) {
    return show(("%a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
                 "%b = arith.constant dense<[[1, 0], [2, 1], [-1, 3]]> : tensor<3x2xi32>\n"
                 "%z = arith.constant dense<0> : tensor<2x2xi32>\n"
                 "%v = arith.constant dense<[1, -1, 2]> : tensor<3xi32>\n" +
                 lines + "\n\"test.show\"(%r) : (" + resultType + ") -> ()")
                    .str());
  }
};

TEST_F(LinalgEval, Matmul) {
  // Row 0: 1·1+2·2-3 = 2, 2+9 = 11; row 1: 4+10-6 = 8, 5+18 = 23.
  EXPECT_EQ(with("%r = linalg.matmul ins(%a, %b : tensor<2x3xi32>, tensor<3x2xi32>) "
                 "outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>",
                 "tensor<2x2xi32>"),
            "[[2, 11], [8, 23]]");
  // b transposed by its map: rows of a with rows of a.
  EXPECT_EQ(with("%r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
                 "affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] "
                 "ins(%a, %a : tensor<2x3xi32>, tensor<2x3xi32>) "
                 "outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>",
                 "tensor<2x2xi32>"),
            "[[14, 32], [32, 77]]");
}

TEST_F(LinalgEval, OtherContractions) {
  EXPECT_EQ(with("%o = arith.constant dense<[10, 20]> : tensor<2xi32>\n"
                 "%r = linalg.matvec ins(%a, %v : tensor<2x3xi32>, tensor<3xi32>) "
                 "outs(%o : tensor<2xi32>) -> tensor<2xi32>",
                 "tensor<2xi32>"),
            "[15, 31]");
  EXPECT_EQ(with("%o = arith.constant dense<[0, 0]> : tensor<2xi32>\n"
                 "%r = linalg.vecmat ins(%v, %b : tensor<3xi32>, tensor<3x2xi32>) "
                 "outs(%o : tensor<2xi32>) -> tensor<2xi32>",
                 "tensor<2xi32>"),
            "[-3, 5]");
  EXPECT_EQ(with("%o = arith.constant dense<1> : tensor<i32>\n"
                 "%r = linalg.dot ins(%v, %v : tensor<3xi32>, tensor<3xi32>) "
                 "outs(%o : tensor<i32>) -> tensor<i32>",
                 "tensor<i32>"),
            "7");
  EXPECT_EQ(with("%x = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 1, 3] "
                 ": tensor<2x3xi32> into tensor<2x1x3xi32>\n"
                 "%y = tensor.expand_shape %a [[0], [1, 2]] output_shape [2, 3, 1] "
                 ": tensor<2x3xi32> into tensor<2x3x1xi32>\n"
                 "%o = arith.constant dense<0> : tensor<2x1x1xi32>\n"
                 "%r = linalg.batch_matmul ins(%x, %y : tensor<2x1x3xi32>, tensor<2x3x1xi32>) "
                 "outs(%o : tensor<2x1x1xi32>) -> tensor<2x1x1xi32>",
                 "tensor<2x1x1xi32>"),
            "[[[14]], [[77]]]");
  EXPECT_EQ(with("%o = arith.constant dense<0> : tensor<2x2xi32>\n"
                 "%r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
                 "affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] "
                 "ins(%a, %b : tensor<2x3xi32>, tensor<3x2xi32>) "
                 "outs(%o : tensor<2x2xi32>) -> tensor<2x2xi32>",
                 "tensor<2x2xi32>"),
            "[[2, 11], [8, 23]]");
  EXPECT_EQ(with("%x = arith.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi32>\n"
                 "%f = arith.constant dense<[[[1]], [[10]]]> : tensor<2x1x1xi32>\n"
                 "%o = arith.constant dense<0> : tensor<1x3x1xi32>\n"
                 "%r = linalg.conv_1d_nwc_wcf ins(%x, %f : tensor<1x4x1xi32>, tensor<2x1x1xi32>) "
                 "outs(%o : tensor<1x3x1xi32>) -> tensor<1x3x1xi32>",
                 "tensor<1x3x1xi32>"),
            "[[[21], [32], [43]]]");
}

TEST_F(LinalgEval, MixedWidths) {
  EXPECT_EQ(show("%a = arith.constant dense<[[100, 100]]> : tensor<1x2xi8>\n"
                 "%b = arith.constant dense<[[100], [100]]> : tensor<2x1xi8>\n"
                 "%z = arith.constant dense<0> : tensor<1x1xi32>\n"
                 "%r = linalg.matmul ins(%a, %b : tensor<1x2xi8>, tensor<2x1xi8>) "
                 "outs(%z : tensor<1x1xi32>) -> tensor<1x1xi32>\n"
                 "%y = arith.constant dense<0> : tensor<1x1xi8>\n"
                 "%s = linalg.matmul ins(%a, %b : tensor<1x2xi8>, tensor<2x1xi8>) "
                 "outs(%y : tensor<1x1xi8>) -> tensor<1x1xi8>\n"
                 "\"test.show\"(%r, %s) : (tensor<1x1xi32>, tensor<1x1xi8>) -> ()"),
            "[[20000]]; [[32]]");
}

TEST_F(LinalgEval, FillBroadcastTransposeReduceMap) {
  EXPECT_EQ(with("%s = arith.constant 7 : i32\n%r = linalg.fill ins(%s : i32) "
                 "outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>",
                 "tensor<2x2xi32>"),
            "[[7, 7], [7, 7]]");
  EXPECT_EQ(with("%o = tensor.empty() : tensor<2x3xi32>\n"
                 "%r = linalg.broadcast ins(%v : tensor<3xi32>) outs(%o : tensor<2x3xi32>) "
                 "dimensions = [0]",
                 "tensor<2x3xi32>"),
            "[[1, -1, 2], [1, -1, 2]]");
  EXPECT_EQ(with("%o = tensor.empty() : tensor<3x2xi32>\n"
                 "%r = linalg.transpose ins(%a : tensor<2x3xi32>) outs(%o : tensor<3x2xi32>) "
                 "permutation = [1, 0]",
                 "tensor<3x2xi32>"),
            "[[1, 4], [2, 5], [3, 6]]");
  EXPECT_EQ(with("%o = arith.constant dense<[100, 0]> : tensor<2xi32>\n"
                 "%r = linalg.reduce { arith.addi } ins(%a : tensor<2x3xi32>) "
                 "outs(%o : tensor<2xi32>) dimensions = [1]",
                 "tensor<2xi32>"),
            "[106, 15]");
  // Order matters here: ((0 - 1) - 2) - 3.
  EXPECT_EQ(with("%o = arith.constant dense<0> : tensor<2xi32>\n"
                 "%r = linalg.reduce ins(%a : tensor<2x3xi32>) outs(%o : tensor<2xi32>) "
                 "dimensions = [1] (%in: i32, %acc: i32) {\n"
                 "%d = arith.subi %acc, %in : i32\n linalg.yield %d : i32\n}",
                 "tensor<2xi32>"),
            "[-6, -15]");
  EXPECT_EQ(with("%o = tensor.empty() : tensor<2x3xi32>\n"
                 "%r = linalg.map { arith.subi } ins(%a, %a : tensor<2x3xi32>, tensor<2x3xi32>) "
                 "outs(%o : tensor<2x3xi32>)",
                 "tensor<2x3xi32>"),
            "[[0, 0, 0], [0, 0, 0]]");
}

TEST_F(LinalgEval, NamedElementwise) {
  EXPECT_EQ(with("%o = tensor.empty() : tensor<2x3xi32>\n"
                 "%r = linalg.add ins(%a, %a : tensor<2x3xi32>, tensor<2x3xi32>) "
                 "outs(%o : tensor<2x3xi32>) -> tensor<2x3xi32>",
                 "tensor<2x3xi32>"),
            "[[2, 4, 6], [8, 10, 12]]");
  EXPECT_EQ(show("%a = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>\n"
                 "%o = tensor.empty() : tensor<2xf32>\n"
                 "%r = linalg.elementwise kind=#linalg.elementwise_kind<exp> "
                 "ins(%a : tensor<2xf32>) outs(%o : tensor<2xf32>) -> tensor<2xf32>\n"
                 "%s = linalg.sqrt ins(%a : tensor<2xf32>) outs(%o : tensor<2xf32>) "
                 "-> tensor<2xf32>\n"
                 "\"test.show\"(%r, %s) : (tensor<2xf32>, tensor<2xf32>) -> ()"),
            "[1, 2.718282]; [0, 1]");
}

TEST_F(LinalgEval, GenericWithIndexCaptureAndSeveralOutputs) {
  EXPECT_EQ(with("%k = arith.constant 100 : i32\n%o = tensor.empty() : tensor<2x3xi32>\n"
                 "%r, %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, "
                 "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], "
                 "iterator_types = [\"parallel\", \"parallel\"]} "
                 "ins(%a : tensor<2x3xi32>) outs(%o, %o : tensor<2x3xi32>, tensor<2x3xi32>) {\n"
                 "^bb0(%x: i32, %p: i32, %q: i32):\n%i = linalg.index 0 : index\n"
                 "%ic = arith.index_cast %i : index to i32\n%t = arith.muli %ic, %k : i32\n"
                 "%u = arith.addi %x, %t : i32\n linalg.yield %u, %x : i32, i32\n"
                 "} -> (tensor<2x3xi32>, tensor<2x3xi32>)\n"
                 "\"test.show\"(%s) : (tensor<2x3xi32>) -> ()",
                 "tensor<2x3xi32>"),
            "[[1, 2, 3], [4, 5, 6]][[1, 2, 3], [104, 105, 106]]");
}

TEST_F(LinalgEval, GenericPointByPoint) {
  // A table look-up and a branch cannot be compiled to registers.
  EXPECT_EQ(
      with("%t = arith.constant dense<[5, 6, 7, 8, 9, 10, 11]> : tensor<7xi32>\n"
           "%c3 = arith.constant 3 : i32\n%r = linalg.generic {indexing_maps = "
           "[affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} "
           "outs(%a : tensor<2x3xi32>) {\n^bb0(%x: i32):\n"
           "%i = arith.index_cast %x : i32 to index\n"
           "%e = tensor.extract %t[%i] : tensor<7xi32>\n"
           "%big = arith.cmpi sgt, %x, %c3 : i32\n"
           "%y = scf.if %big -> i32 {\n scf.yield %e : i32\n} else {\n scf.yield %x : i32\n}\n"
           "linalg.yield %y : i32\n} -> tensor<2x3xi32>",
           "tensor<2x3xi32>"),
      "[[1, 2, 3], [9, 10, 11]]");
}

TEST_F(LinalgEval, StridedAndBroadcastMaps) {
  // out[i] = in[5 - i]; a negative coefficient and a constant.
  EXPECT_EQ(show("%a = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>\n"
                 "%o = tensor.empty() : tensor<6xi32>\n"
                 "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (5 - i)>, "
                 "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} "
                 "ins(%a : tensor<6xi32>) outs(%o : tensor<6xi32>) {\n"
                 "^bb0(%x: i32, %y: i32):\nlinalg.yield %x : i32\n} -> tensor<6xi32>\n"
                 "\"test.show\"(%r) : (tensor<6xi32>) -> ()"),
            "[5, 4, 3, 2, 1, 0]");
  EXPECT_EQ(show("%a = arith.constant dense<[0, 1, 2]> : tensor<3xi32>\n"
                 "%o = tensor.empty() : tensor<6xi32>\n"
                 "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, "
                 "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} "
                 "ins(%a : tensor<3xi32>) outs(%o : tensor<6xi32>) {\n"
                 "^bb0(%x: i32, %y: i32):\nlinalg.yield %x : i32\n} -> tensor<6xi32>\n"
                 "\"test.show\"(%r) : (tensor<6xi32>) -> ()"),
            "[0, 0, 1, 1, 2, 2]");
}

TEST_F(LinalgEval, HalfReductionsRoundOnce) {
  // 2048 + 1 + 1 is 2048 when each step rounds to f16, 2050 when the sum is f32.
  std::string reduce = "%x = arith.constant dense<[2048.0, 1.0, 1.0]> : tensor<3xf16>\n"
                       "%o = arith.constant dense<0.0> : tensor<f16>\n"
                       "%r = linalg.reduce { arith.addf } ins(%x : tensor<3xf16>) "
                       "outs(%o : tensor<f16>) dimensions = [0]\n"
                       "\"test.show\"(%r) : (tensor<f16>) -> ()";
  EXPECT_EQ(show(reduce), "2050");
  std::string matmul = "%x = arith.constant dense<[[2048.0, 1.0, 1.0]]> : tensor<1x3xf16>\n"
                       "%y = arith.constant dense<1.0> : tensor<3x1xf16>\n"
                       "%o = arith.constant dense<0.0> : tensor<1x1xf16>\n"
                       "%r = linalg.matmul ins(%x, %y : tensor<1x3xf16>, tensor<3x1xf16>) "
                       "outs(%o : tensor<1x1xf16>) -> tensor<1x1xf16>\n"
                       "\"test.show\"(%r) : (tensor<1x1xf16>) -> ()";
  EXPECT_EQ(show(matmul), "[[2050]]");
  // An elementwise op has no reduction: each step rounds.
  std::string generic = "%x = arith.constant dense<2048.0> : tensor<1xf16>\n"
                        "%one = arith.constant 1.0 : f16\n"
                        "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], "
                        "iterator_types = [\"parallel\"]} outs(%x : tensor<1xf16>) {\n"
                        "^bb0(%a: f16):\n%b = arith.addf %a, %one : f16\n"
                        "%c = arith.addf %b, %one : f16\nlinalg.yield %c : f16\n"
                        "} -> tensor<1xf16>\n\"test.show\"(%r) : (tensor<1xf16>) -> ()";
  EXPECT_EQ(show(generic), "[2048]");
  EXPECT_EQ(show(generic, /*truth=*/true), "[2050]");
}

TEST_F(LinalgEval, SingleRoundsEachStep) {
  std::string text = "%x = arith.constant dense<[16777216.0, 1.0, 1.0]> : tensor<3xf32>\n"
                     "%one = arith.constant dense<1.0> : tensor<3xf32>\n"
                     "%o = arith.constant dense<0.0> : tensor<f32>\n"
                     "%r = linalg.dot ins(%x, %one : tensor<3xf32>, tensor<3xf32>) "
                     "outs(%o : tensor<f32>) -> tensor<f32>\n"
                     "%s = arith.subf %r, %big : tensor<f32>\n"
                     "\"test.show\"(%s) : (tensor<f32>) -> ()";
  std::string big = "%big = arith.constant dense<16777216.0> : tensor<f32>\n";
  EXPECT_EQ(show(big + text), "0");
  EXPECT_EQ(show(big + text, /*truth=*/true), "2");
}

TEST_F(LinalgEval, Softmax) {
  // exp(0), exp(-ln 2 …): rows [ln 1, ln 3] give 1/4, 3/4 up to rounding; equal entries halves.
  EXPECT_EQ(show("%x = arith.constant dense<[[5.0, 5.0], [0.0, -1.0e+30]]> : tensor<2x2xf32>\n"
                 "%o = tensor.empty() : tensor<2x2xf32>\n"
                 "%r = linalg.softmax dimension(1) ins(%x : tensor<2x2xf32>) "
                 "outs(%o : tensor<2x2xf32>) -> tensor<2x2xf32>\n"
                 "%s = linalg.softmax dimension(0) ins(%x : tensor<2x2xf32>) "
                 "outs(%o : tensor<2x2xf32>) -> tensor<2x2xf32>\n"
                 "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
                 "%e = tensor.extract %s[%c0, %c1] : tensor<2x2xf32>\n"
                 "\"test.show\"(%r, %e) : (tensor<2x2xf32>, f32) -> ()"),
            "[[0.5, 0.5], [1, 0]]; 1");
}

TEST_F(LinalgEval, Errors) {
  EXPECT_EQ(show("%a = arith.constant dense<[4, 2]> : tensor<2xi32>\n"
                 "%z = arith.constant dense<[1, 2]> : tensor<2xi32>\n"
                 "%o = tensor.empty() : tensor<2xi32>\n"
                 "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
                 "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
                 "[\"parallel\"]} ins(%a, %z : tensor<2xi32>, tensor<2xi32>) "
                 "outs(%o : tensor<2xi32>) {\n^bb0(%x: i32, %y: i32, %w: i32):\n"
                 "%i = arith.index_cast %y : i32 to index\n%d = tensor.extract %a[%i] : tensor<2xi32>\n"
                 "linalg.yield %d : i32\n} -> tensor<2xi32>"),
            "error: 7: index 2 of dimension 0 is out of range: its size is 2");
  EXPECT_EQ(show("%o = tensor.empty() : tensor<2xf8E4M3FN>"),
            "error: 1: the interpreter does not compute on elements of type 'f8E4M3FN'");
}

TEST_F(LinalgEval, EmptyIterationSpaces) {
  EXPECT_EQ(show("%a = tensor.empty() : tensor<2x0xi32>\n%b = tensor.empty() : tensor<0x2xi32>\n"
                 "%z = arith.constant dense<5> : tensor<2x2xi32>\n"
                 "%r = linalg.matmul ins(%a, %b : tensor<2x0xi32>, tensor<0x2xi32>) "
                 "outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>\n"
                 "\"test.show\"(%r) : (tensor<2x2xi32>) -> ()"),
            "[[5, 5], [5, 5]]");
}

/// Contractions take paths of their own: many rows, a second operand that is read by
/// columns, and few parallel iterations (a dot product).
TEST_F(LinalgEval, ContractionsOfManyShapes) {
  struct {
    const char *maps;
    int64_t m, n, k;
  } cases[] = {
      {"affine_map<(m, n, k) -> (k, n)>", 64, 512, 512},
      {"affine_map<(m, n, k) -> (n, k)>", 128, 128, 64},
      {"affine_map<(m, n, k) -> (k, n)>", 1, 1, 32768},
  };
  for (StringRef type : {"f32", "f16", "i32"})
    for (auto &c : cases) {
      bool transposed = StringRef(c.maps).contains("(n, k)>");
      auto shape = [&](int64_t rows, int64_t columns) {
        return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type.str() +
               ">";
      };
      std::string a = shape(c.m, c.k), out = shape(c.m, c.n),
                  b = transposed ? shape(c.n, c.k) : shape(c.k, c.n);
      StringRef one = type == "i32" ? "1" : "1.0";
      std::string repeated;
      bool isInteger = type == "i32";
      std::string text =
          "%a = arith.constant dense<" + one.str() + "> : " + a + "\n%b = arith.constant dense<" +
          one.str() + "> : " + b + "\n%z = arith.constant dense<" + (isInteger ? "0" : "0.0") +
          "> : " + out +
          "\n%r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> "
          "(m, k)>, " +
          c.maps + ", affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : " + a + ", " + b +
          ") outs(%z : " + out + ") -> " + out +
          "\n%c0 = arith.constant 0 : index\n%e = tensor.extract %r[%c0, %c0] : " + out +
          "\n%t = arith.constant " + std::to_string(c.k) + (isInteger ? "" : ".0") + " : " +
          type.str() + "\n%w = arith." +
          (isInteger ? "cmpi eq" : "cmpf oeq") + ", %e, %t : " + type.str() +
          "\n\"test.show\"(%w) : (i1) -> ()";
      EXPECT_EQ(show(text), "1") << type.str() << " " << c.m << "x" << c.n << "x" << c.k;
    }
}

} // namespace
