//===- ReductionTest.cpp - Leaves with reductions -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafTester.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace leaftest;

namespace {

const char *floats[] = {"f64", "f32", "f16", "bf16"};

std::string sized(std::string text, int64_t n, const std::string &type) {
  for (size_t at; (at = text.find("$N")) != std::string::npos;)
    text.replace(at, 2, std::to_string(n));
  return withType(text, type);
}

TEST(Reduction, SumAndMaxOverEitherDimension) {
  for (const char *type : floats)
    for (int64_t n : {1, 7, 16, 17, 127}) {
      Check test;
      test.text = sized(R"(
        func.func private @leaf(%a: tensor<5x$Nx$T>, %z: tensor<5x$T>) -> (tensor<5x$T>, tensor<$Nx$T>, tensor<5x$T>, tensor<$T>) {
          %zero = arith.constant 0.0 : $T
          %low = arith.constant -1.0e4 : $T
          %en = tensor.empty() : tensor<$Nx$T>
          %e5 = tensor.empty() : tensor<5x$T>
          %e0 = tensor.empty() : tensor<$T>
          %zn = linalg.fill ins(%zero : $T) outs(%en : tensor<$Nx$T>) -> tensor<$Nx$T>
          %l5 = linalg.fill ins(%low : $T) outs(%e5 : tensor<5x$T>) -> tensor<5x$T>
          %z0 = linalg.fill ins(%zero : $T) outs(%e0 : tensor<$T>) -> tensor<$T>
          %rows = linalg.reduce { arith.addf } ins(%a : tensor<5x$Nx$T>) outs(%z : tensor<5x$T>) dimensions = [1]
          %cols = linalg.reduce { arith.addf } ins(%a : tensor<5x$Nx$T>) outs(%zn : tensor<$Nx$T>) dimensions = [0]
          %max = linalg.reduce { arith.maximumf } ins(%a : tensor<5x$Nx$T>) outs(%l5 : tensor<5x$T>) dimensions = [1]
          %all = linalg.reduce { arith.addf } ins(%a : tensor<5x$Nx$T>) outs(%z0 : tensor<$T>) dimensions = [0, 1]
          return %rows, %cols, %max, %all : tensor<5x$T>, tensor<$Nx$T>, tensor<5x$T>, tensor<$T>
        })",
                        n, type);
      test.reference = [n](const std::vector<Values> &in) {
        Values rows = in[1], cols(n), max(5, -1e4), all(1);
        for (int i = 0; i < 5; ++i)
          for (int j = 0; j < n; ++j) {
            double x = in[0][i * n + j];
            rows[i] += x;
            cols[j] += x;
            max[i] = std::max(max[i], x);
            all[0] += x;
          }
        return std::vector<Values>{rows, cols, max, all};
      };
      check(test);
      test.batched = {true, false};
      check(test);
      test.vectorBytes = 32;
      check(test);
    }
}

TEST(Reduction, SumsOfHalvesRoundOnce) {
  // 2048 + 1 + 1 + ... stays at 2048 if each step rounds to f16.
  Check test;
  test.low = 1;
  test.high = 1;
  test.tolerance = 1e-6;
  test.text = R"(
    func.func private @leaf(%a: tensor<500xf16>) -> tensor<f16> {
      %init = arith.constant dense<2048.0> : tensor<f16>
      %0 = linalg.reduce { arith.addf } ins(%a : tensor<500xf16>) outs(%init : tensor<f16>) dimensions = [0]
      return %0 : tensor<f16>
    })";
  test.reference = [](const std::vector<Values> &) { return std::vector<Values>{{2548}}; };
  check(test);
}

TEST(Reduction, SumsOfHalvesRoundAtEachStep) {
  // Columns are lanes, so that the terms of each are added in order: 2048 + 1 is 2048 in f16.
  Check test;
  test.low = 1;
  test.high = 1;
  test.tolerance = 1e-6;
  test.text = R"(
    func.func private @leaf(%a: tensor<40x16xf16>) -> tensor<16xf16> {
      %init = arith.constant dense<2048.0> : tensor<16xf16>
      %0 = linalg.reduce { arith.addf } ins(%a : tensor<40x16xf16>) outs(%init : tensor<16xf16>) dimensions = [0]
      return %0 : tensor<16xf16>
    })";
  for (bool rounds : {false, true}) {
    test.roundsSums = rounds;
    test.reference = [rounds](const std::vector<Values> &) { return std::vector<Values>{Values(16, rounds ? 2048 : 2088)}; };
    check(test);
  }
}

TEST(Reduction, ProductsOfHalvesRoundAtEachStep) {
  // 2048 + 1 * 1 + …: such a product has no tile whose sums stay f32.
  Check test;
  test.low = 1;
  test.high = 1;
  test.tolerance = 1e-6;
  test.text = R"(
    func.func private @leaf(%a: tensor<8x32xf16>, %b: tensor<32x16xf16>) -> tensor<8x16xf16> {
      %init = arith.constant dense<2048.0> : tensor<8x16xf16>
      %0 = linalg.matmul ins(%a, %b : tensor<8x32xf16>, tensor<32x16xf16>) outs(%init : tensor<8x16xf16>) -> tensor<8x16xf16>
      return %0 : tensor<8x16xf16>
    })";
  for (bool rounds : {false, true}) {
    test.roundsSums = rounds;
    test.reference = [rounds](const std::vector<Values> &) { return std::vector<Values>{Values(128, rounds ? 2048 : 2080)}; };
    check(test);
  }
}

TEST(Reduction, Integers) {
  for (const char *type : {"i64", "i32", "i16", "i8"}) {
    Check test;
    test.low = 0;
    test.high = 3;
    test.text = withType(R"(
      func.func private @leaf(%a: tensor<3x37x$T>) -> (tensor<3x$T>, tensor<3x$T>) {
        %zero = arith.constant 0 : $T
        %e = tensor.empty() : tensor<3x$T>
        %z = linalg.fill ins(%zero : $T) outs(%e : tensor<3x$T>) -> tensor<3x$T>
        %s = linalg.reduce { arith.addi } ins(%a : tensor<3x37x$T>) outs(%z : tensor<3x$T>) dimensions = [1]
        %m = linalg.reduce { arith.maxsi } ins(%a : tensor<3x37x$T>) outs(%z : tensor<3x$T>) dimensions = [1]
        return %s, %m : tensor<3x$T>, tensor<3x$T>
      })",
                         type);
    test.reference = [](const std::vector<Values> &in) {
      Values sum(3), max(3);
      for (int i = 0; i < 111; ++i) {
        sum[i / 37] += in[0][i];
        max[i / 37] = std::max(max[i / 37], in[0][i]);
      }
      return std::vector<Values>{sum, max};
    };
    check(test);
  }
}

TEST(Reduction, Booleans) {
  Check test;
  test.text = R"(
    func.func private @leaf(%p: tensor<3x37xi1>, %a: tensor<3x37xf32>) -> (tensor<3xi1>, tensor<37xi1>, tensor<3xi1>) {
      %true = arith.constant dense<true> : tensor<3xi1>
      %false = arith.constant dense<false> : tensor<37xi1>
      %all = linalg.reduce { arith.andi } ins(%p : tensor<3x37xi1>) outs(%true : tensor<3xi1>) dimensions = [1]
      %any = linalg.reduce { arith.ori } ins(%p : tensor<3x37xi1>) outs(%false : tensor<37xi1>) dimensions = [0]
      %half = arith.constant dense<-0.9> : tensor<3x37xf32>
      %q = arith.cmpf ogt, %a, %half : tensor<3x37xf32>
      %r = arith.ori %p, %q : tensor<3x37xi1>
      %big = linalg.reduce { arith.andi } ins(%r : tensor<3x37xi1>) outs(%true : tensor<3xi1>) dimensions = [1]
      return %all, %any, %big : tensor<3xi1>, tensor<37xi1>, tensor<3xi1>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values all(3, 1), any(37), big(3, 1);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 37; ++j) {
        bool p = in[0][i * 37 + j] != 0;
        all[i] = all[i] && p;
        any[j] = any[j] || p;
        big[i] = big[i] && (p || in[1][i * 37 + j] > -0.9);
      }
    return std::vector<Values>{all, any, big};
  };
  check(test);
}

TEST(Reduction, ConvolutionsAndPooling) {
  Check test;
  test.text = R"(
    func.func private @leaf(%x: tensor<1x12x6xf32>, %w: tensor<3x6x20xf32>, %d: tensor<3x6xf32>)
        -> (tensor<1x10x20xf32>, tensor<1x10x6xf32>, tensor<1x10x6xf32>) {
      %z = arith.constant dense<0.0> : tensor<1x10x20xf32>
      %c = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x12x6xf32>, tensor<3x6x20xf32>) outs(%z : tensor<1x10x20xf32>) -> tensor<1x10x20xf32>
      %z1 = arith.constant dense<0.0> : tensor<1x10x6xf32>
      %depthwise = linalg.depthwise_conv_1d_nwc_wc ins(%x, %d : tensor<1x12x6xf32>, tensor<3x6xf32>) outs(%z1 : tensor<1x10x6xf32>) -> tensor<1x10x6xf32>
      %window = tensor.empty() : tensor<3xf32>
      %pool = linalg.pooling_nwc_sum ins(%x, %window : tensor<1x12x6xf32>, tensor<3xf32>) outs(%z1 : tensor<1x10x6xf32>) -> tensor<1x10x6xf32>
      return %c, %depthwise, %pool : tensor<1x10x20xf32>, tensor<1x10x6xf32>, tensor<1x10x6xf32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values conv(200), depthwise(60), pool(60);
    for (int t = 0; t < 10; ++t)
      for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 6; ++c) {
          double x = in[0][(t + k) * 6 + c];
          for (int f = 0; f < 20; ++f)
            conv[t * 20 + f] += x * in[1][(k * 6 + c) * 20 + f];
          depthwise[t * 6 + c] += x * in[2][k * 6 + c];
          pool[t * 6 + c] += x;
        }
    return std::vector<Values>{conv, depthwise, pool};
  };
  check(test);
  test.batched = {true, false, false};
  check(test);
}

TEST(Reduction, ArgMaxWithTwoResults) {
  Check test;
  test.text = R"(
    func.func private @leaf(%a: tensor<4x33xf32>) -> (tensor<4xf32>, tensor<4xindex>) {
      %low = arith.constant -1.0e30 : f32
      %c0 = arith.constant 0 : index
      %ef = tensor.empty() : tensor<4xf32>
      %ei = tensor.empty() : tensor<4xindex>
      %lf = linalg.fill ins(%low : f32) outs(%ef : tensor<4xf32>) -> tensor<4xf32>
      %li = linalg.fill ins(%c0 : index) outs(%ei : tensor<4xindex>) -> tensor<4xindex>
      %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                             iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<4x33xf32>) outs(%lf, %li : tensor<4xf32>, tensor<4xindex>) {
        ^bb0(%x: f32, %m: f32, %at: index):
          %j = linalg.index 1 : index
          %p = arith.cmpf ogt, %x, %m : f32
          %m2 = arith.select %p, %x, %m : f32
          %at2 = arith.select %p, %j, %at : index
          linalg.yield %m2, %at2 : f32, index
      } -> (tensor<4xf32>, tensor<4xindex>)
      return %r#0, %r#1 : tensor<4xf32>, tensor<4xindex>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values max(4, -1e30), at(4);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 33; ++j)
        if (in[0][i * 33 + j] > max[i]) {
          max[i] = in[0][i * 33 + j];
          at[i] = j;
        }
    return std::vector<Values>{max, at};
  };
  check(test);
}

TEST(Reduction, Softmax) {
  for (const char *type : {"f32", "f64"})
    for (int64_t n : {1, 7, 16, 17, 127}) {
      Check test;
      test.text = sized(R"(
        func.func private @leaf(%a: tensor<3x$Nx$T>) -> tensor<3x$Nx$T> {
          %e = tensor.empty() : tensor<3x$Nx$T>
          %0 = linalg.softmax dimension(1) ins(%a : tensor<3x$Nx$T>) outs(%e : tensor<3x$Nx$T>) -> tensor<3x$Nx$T>
          return %0 : tensor<3x$Nx$T>
        })",
                        n, type);
      test.reference = [n](const std::vector<Values> &in) {
        Values out = in[0];
        for (int i = 0; i < 3; ++i) {
          double sum = 0;
          for (int j = 0; j < n; ++j)
            sum += std::exp(in[0][i * n + j]);
          for (int j = 0; j < n; ++j)
            out[i * n + j] = std::exp(in[0][i * n + j]) / sum;
        }
        return std::vector<Values>{out};
      };
      check(test);
    }
}

} // namespace
