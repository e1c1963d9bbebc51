//===- ContractionTest.cpp - Products of matrices -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafTester.h"

#include "gtest/gtest.h"

using namespace leaftest;

namespace {

std::string replaced(std::string text, std::vector<std::pair<std::string, std::string>> all) {
  for (const auto &[name, value] : all)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), value);
  return text;
}

struct Product {
  int64_t m, n, k;
  std::string type = "f32";
  bool lhsTransposed = false, rhsTransposed = false;
  std::vector<bool> batched = {};
  unsigned vectorBytes = 0;
  bool listed = false;
};

/// An m x k by k x n product that starts from the third input.
void checkProduct(Product p) {
  Check test;
  bool isFloat = p.type[0] != 'i';
  test.text = replaced(R"(
    func.func private @leaf(%a: tensor<$Ax$T>, %b: tensor<$Bx$T>, %c: tensor<$Mx$Nx$T>) -> tensor<$Mx$Nx$T> {
      %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> ($aidx)>, affine_map<(m, n, k) -> ($bidx)>, affine_map<(m, n, k) -> (m, n)>],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<$Ax$T>, tensor<$Bx$T>) outs(%c : tensor<$Mx$Nx$T>) {
        ^bb0(%x: $T, %y: $T, %z: $T):
          %p = arith.mul$f %x, %y : $T
          %s = arith.add$f %z, %p : $T
          linalg.yield %s : $T
      } -> tensor<$Mx$Nx$T>
      return %0 : tensor<$Mx$Nx$T>
    })",
                       {{"$aidx", p.lhsTransposed ? "k, m" : "m, k"},
                        {"$bidx", p.rhsTransposed ? "n, k" : "k, n"},
                        {"$A", p.lhsTransposed ? "$Kx$M" : "$Mx$K"},
                        {"$B", p.rhsTransposed ? "$Nx$K" : "$Kx$N"},
                        {"$M", std::to_string(p.m)},
                        {"$N", std::to_string(p.n)},
                        {"$K", std::to_string(p.k)},
                        {"$f", isFloat ? "f" : "i"},
                        {"$T", p.type}});
  if (!isFloat) {
    test.low = -1;
    test.high = 2;
  }
  test.batched = p.batched;
  test.vectorBytes = p.vectorBytes;
  test.listed = p.listed;
  test.reference = [p](const std::vector<Values> &in) {
    Values out = in[2];
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j)
        for (int64_t l = 0; l < p.k; ++l)
          out[i * p.n + j] += in[0][p.lhsTransposed ? l * p.m + i : i * p.k + l] *
                              in[1][p.rhsTransposed ? j * p.k + l : l * p.n + j];
    if (p.type == "i8")
      for (double &value : out)
        value = int8_t(int64_t(value));
    return std::vector<Values>{out};
  };
  SCOPED_TRACE(test.text);
  check(test);
}

TEST(Contraction, OddSizes) {
  for (int64_t m : {1, 7, 16})
    for (int64_t n : {1, 7, 16, 17, 127})
      for (int64_t k : {1, 17, 64})
        checkProduct({m, n, k, "f32", false, false, {true, false, true}});
}

TEST(Contraction, OddSizesPerRow) {
  for (int64_t m : {1, 8, 31})
    for (int64_t n : {5, 64, 100})
      checkProduct({m, n, 33, "f32", false, false, {true, true, true}});
}

TEST(Contraction, Transposed) {
  for (bool lhs : {false, true})
    for (bool rhs : {false, true})
      for (int64_t m : {1, 8, 33})
        for (int64_t n : {1, 16, 70})
          for (std::vector<bool> batched : std::vector<std::vector<bool>>{
                   {true, false, false}, {false, true, true}, {true, true, false}})
            checkProduct({m, n, 40, "f32", lhs, rhs, batched});
}

TEST(Contraction, Types) {
  for (const char *type : {"f64", "f16", "bf16", "i32", "i64", "i16", "i8"})
    for (bool rhs : {false, true})
      for (int64_t m : {1, 13})
        for (int64_t n : {1, 33})
          checkProduct({m, n, 50, type, false, rhs, {true, false, true}});
}

// Tiles of the leaf's rows, of a longer m, of k along the lanes, and a loop over the rows.
TEST(Contraction, ListedRows) {
  for (const char *type : {"f32", "bf16", "i32", "i8"})
    for (bool rhs : {false, true})
      for (int64_t m : {1, 7})
        for (int64_t n : {1, 33, 127})
          checkProduct({m, n, 20, type, false, rhs, {true, false, true}, 0, true});
  for (std::vector<bool> batched : std::vector<std::vector<bool>>{
           {true, true, true}, {false, true, true}, {true, false, false}, {false, false, true}})
    checkProduct({7, 17, 40, "f32", true, false, batched, 0, true});
}

TEST(Contraction, Avx2) {
  for (const char *type : {"f32", "f16", "f64"})
    for (bool rhs : {false, true})
      for (int64_t n : {1, 16, 45})
        checkProduct({9, n, 50, type, false, rhs, {true, false, true}, 32});
}

TEST(Contraction, NamedOps) {
  Check test;
  test.text = R"(
    func.func private @leaf(%a: tensor<1x40xf32>, %w: tensor<40x96xf32>, %u: tensor<2x96x8xf32>, %v: tensor<40xf32>)
        -> (tensor<1x96xf32>, tensor<2x1x8xf32>, tensor<96xf32>, tensor<f32>, tensor<8xf32>) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1x96xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96xf32>) -> tensor<1x96xf32>
      %0 = linalg.matmul ins(%a, %w : tensor<1x40xf32>, tensor<40x96xf32>) outs(%z : tensor<1x96xf32>) -> tensor<1x96xf32>
      %x = tensor.concat dim(0) %0, %0 : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<2x96xf32>
      %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 1, 96] : tensor<2x96xf32> into tensor<2x1x96xf32>
      %e1 = tensor.empty() : tensor<2x1x8xf32>
      %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
      %1 = linalg.batch_matmul ins(%y, %u : tensor<2x1x96xf32>, tensor<2x96x8xf32>) outs(%z1 : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
      %e2 = tensor.empty() : tensor<96xf32>
      %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<96xf32>) -> tensor<96xf32>
      %2 = linalg.vecmat ins(%v, %w : tensor<40xf32>, tensor<40x96xf32>) outs(%z2 : tensor<96xf32>) -> tensor<96xf32>
      %e3 = tensor.empty() : tensor<f32>
      %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
      %3 = linalg.dot ins(%v, %v : tensor<40xf32>, tensor<40xf32>) outs(%z3 : tensor<f32>) -> tensor<f32>
      %u0 = tensor.extract_slice %u[0, 0, 0] [1, 96, 8] [1, 1, 1] : tensor<2x96x8xf32> to tensor<96x8xf32>
      %et = tensor.empty() : tensor<8x96xf32>
      %ut = linalg.transpose ins(%u0 : tensor<96x8xf32>) outs(%et : tensor<8x96xf32>) permutation = [1, 0]
      %e4 = tensor.empty() : tensor<8xf32>
      %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<8xf32>) -> tensor<8xf32>
      %4 = linalg.matvec ins(%ut, %2 : tensor<8x96xf32>, tensor<96xf32>) outs(%z4 : tensor<8xf32>) -> tensor<8xf32>
      return %0, %1, %2, %3, %4 : tensor<1x96xf32>, tensor<2x1x8xf32>, tensor<96xf32>, tensor<f32>, tensor<8xf32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values first(96), second(16), third(96), dot(1), last(8);
    for (int n = 0; n < 96; ++n)
      for (int k = 0; k < 40; ++k) {
        first[n] += in[0][k] * in[1][k * 96 + n];
        third[n] += in[3][k] * in[1][k * 96 + n];
      }
    for (int k = 0; k < 40; ++k)
      dot[0] += in[3][k] * in[3][k];
    for (int n = 0; n < 8; ++n)
      for (int k = 0; k < 96; ++k) {
        for (int b = 0; b < 2; ++b)
          second[b * 8 + n] += first[k] * in[2][(b * 96 + k) * 8 + n];
        last[n] += third[k] * in[2][k * 8 + n];
      }
    return std::vector<Values>{first, second, third, dot, last};
  };
  check(test);
  test.batched = {true, false, false, true};
  check(test);
  test.batched = {false, true, true, false};
  check(test);
}

TEST(Contraction, OperandsInOneBuffer) {
  // Both operands are one value, and the result lies beside them.
  Check test;
  test.text = R"(
    func.func private @leaf(%a: tensor<40x40xf32>) -> tensor<40x80xf32> {
      %zero = arith.constant dense<0.0> : tensor<40x40xf32>
      %x = arith.negf %a : tensor<40x40xf32>
      %0 = linalg.matmul ins(%x, %x : tensor<40x40xf32>, tensor<40x40xf32>) outs(%zero : tensor<40x40xf32>) -> tensor<40x40xf32>
      %1 = tensor.concat dim(1) %x, %0 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x80xf32>
      return %1 : tensor<40x80xf32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values out(40 * 80);
    for (int m = 0; m < 40; ++m)
      for (int n = 0; n < 40; ++n) {
        out[m * 80 + n] = -in[0][m * 40 + n];
        for (int k = 0; k < 40; ++k)
          out[m * 80 + 40 + n] += in[0][m * 40 + k] * in[0][k * 40 + n];
      }
    return std::vector<Values>{out};
  };
  check(test);
}

TEST(Contraction, StartsWhereTheDataSays) {
  // The row of the table that the product is added to differs from row to row.
  Check test;
  test.low = 0;
  test.high = 3;
  test.batched = {true, false, false, true};
  test.text = R"(
    func.func private @leaf(%x: tensor<1x24xf32>, %w: tensor<24x32xf32>, %table: tensor<4x32xf32>, %at: tensor<index>) -> tensor<1x32xf32> {
      %i = tensor.extract %at[] : tensor<index>
      %start = tensor.extract_slice %table[%i, 0] [1, 32] [1, 1] : tensor<4x32xf32> to tensor<1x32xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<1x24xf32>, tensor<24x32xf32>) outs(%start : tensor<1x32xf32>) -> tensor<1x32xf32>
      return %0 : tensor<1x32xf32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values out(32);
    for (int n = 0; n < 32; ++n) {
      out[n] = in[2][int(in[3][0]) * 32 + n];
      for (int k = 0; k < 24; ++k)
        out[n] += in[0][k] * in[1][k * 32 + n];
    }
    return std::vector<Values>{out};
  };
  check(test);
}

TEST(Contraction, WideningIntegers) {
  Check test;
  test.low = -20;
  test.high = 20;
  test.text = R"(
    func.func private @leaf(%a: tensor<5x40xi8>, %b: tensor<40x20xi8>) -> tensor<5x20xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<5x20xi32>
      %z = linalg.fill ins(%zero : i32) outs(%e : tensor<5x20xi32>) -> tensor<5x20xi32>
      %0 = linalg.matmul ins(%a, %b : tensor<5x40xi8>, tensor<40x20xi8>) outs(%z : tensor<5x20xi32>) -> tensor<5x20xi32>
      return %0 : tensor<5x20xi32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values out(100);
    for (int m = 0; m < 5; ++m)
      for (int n = 0; n < 20; ++n)
        for (int k = 0; k < 40; ++k)
          out[m * 20 + n] += in[0][m * 40 + k] * in[1][k * 20 + n];
    return std::vector<Values>{out};
  };
  check(test);
  test.batched = {true, false};
  check(test);
}

} // namespace
