//===- ElementwiseTest.cpp - Elementwise leaves and data movement ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafTester.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace leaftest;

namespace {

const char *floats[] = {"f64", "f32", "f16", "bf16"};

std::string shaped(std::string text, int64_t m, int64_t n, const std::string &type) {
  for (auto [name, value] : {std::pair<std::string, int64_t>{"$M", m}, {"$N", n}})
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, 2, std::to_string(value));
  return withType(text, type);
}

TEST(Elementwise, ChainOnTensors) {
  for (const char *type : floats)
    for (int64_t n : {1, 7, 16, 17, 127}) {
      Check test;
      test.text = shaped(R"(
        func.func private @leaf(%a: tensor<3x$Nx$T>, %b: tensor<3x$Nx$T>) -> (tensor<3x$Nx$T>, tensor<3x$Nx$T>) {
          %0 = arith.addf %a, %b : tensor<3x$Nx$T>
          %c = arith.constant dense<2.0> : tensor<3x$Nx$T>
          %1 = arith.mulf %0, %c : tensor<3x$Nx$T>
          %2 = arith.subf %1, %b : tensor<3x$Nx$T>
          %p = arith.cmpf ogt, %a, %b : tensor<3x$Nx$T>
          %3 = arith.select %p, %2, %a : tensor<3x$Nxi1>, tensor<3x$Nx$T>
          return %2, %3 : tensor<3x$Nx$T>, tensor<3x$Nx$T>
        })",
                         0, n, type);
      test.reference = [](const std::vector<Values> &in) {
        Values first, second;
        for (size_t i = 0; i < in[0].size(); ++i) {
          first.push_back((in[0][i] + in[1][i]) * 2 - in[1][i]);
          second.push_back(in[0][i] > in[1][i] ? first.back() : in[0][i]);
        }
        return std::vector<Values>{first, second};
      };
      check(test);
      test.vectorBytes = 32;
      check(test);
      test.batched = {true, false};
      check(test);
    }
}

TEST(Elementwise, Integers) {
  for (const char *type : {"i64", "i32", "i16", "i8"})
    for (int64_t n : {1, 7, 16, 17, 127}) {
      Check test;
      test.low = -9;
      test.high = 9;
      test.text = shaped(R"(
        func.func private @leaf(%a: tensor<$Nx$T>, %b: tensor<$Nx$T>) -> (tensor<$Nx$T>, tensor<$Nxi1>, tensor<$Nxf32>) {
          %0 = arith.addi %a, %b : tensor<$Nx$T>
          %1 = arith.maxsi %0, %a : tensor<$Nx$T>
          %p = arith.cmpi slt, %1, %b : tensor<$Nx$T>
          %f = arith.sitofp %1 : tensor<$Nx$T> to tensor<$Nxf32>
          return %1, %p, %f : tensor<$Nx$T>, tensor<$Nxi1>, tensor<$Nxf32>
        })",
                         0, n, type);
      test.reference = [](const std::vector<Values> &in) {
        Values sum, less;
        for (size_t i = 0; i < in[0].size(); ++i) {
          sum.push_back(std::max(in[0][i] + in[1][i], in[0][i]));
          less.push_back(sum.back() < in[1][i]);
        }
        return std::vector<Values>{sum, less, sum};
      };
      check(test);
    }
}

TEST(Elementwise, BooleanInputs) {
  Check test;
  test.text = R"(
    func.func private @leaf(%p: tensor<19xi1>, %a: tensor<19xf32>) -> (tensor<19xf32>, tensor<19xi1>) {
      %true = arith.constant dense<true> : tensor<19xi1>
      %q = arith.xori %p, %true : tensor<19xi1>
      %z = arith.constant dense<-1.0e30> : tensor<19xf32>
      %0 = arith.select %q, %a, %z : tensor<19xi1>, tensor<19xf32>
      return %0, %q : tensor<19xf32>, tensor<19xi1>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values chosen, inverse;
    for (size_t i = 0; i < in[0].size(); ++i) {
      inverse.push_back(in[0][i] == 0);
      chosen.push_back(in[0][i] == 0 ? in[1][i] : float(-1e30));
    }
    return std::vector<Values>{chosen, inverse};
  };
  check(test);
}

TEST(Elementwise, GenericBroadcastTransposeIndex) {
  for (const char *type : floats) {
    Check test;
    test.text = shaped(R"(
      func.func private @leaf(%a: tensor<5x$Nx$T>, %r: tensor<$Nx$T>) -> tensor<$Nx5x$T> {
        %e = tensor.empty() : tensor<5x$Nx$T>
        %b = linalg.broadcast ins(%r : tensor<$Nx$T>) outs(%e : tensor<5x$Nx$T>) dimensions = [0]
        %s = linalg.add ins(%a, %b : tensor<5x$Nx$T>, tensor<5x$Nx$T>) outs(%e : tensor<5x$Nx$T>) -> tensor<5x$Nx$T>
        %et = tensor.empty() : tensor<$Nx5x$T>
        %t = linalg.transpose ins(%s : tensor<5x$Nx$T>) outs(%et : tensor<$Nx5x$T>) permutation = [1, 0]
        %i = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                             iterator_types = ["parallel", "parallel"]}
            ins(%t : tensor<$Nx5x$T>) outs(%et : tensor<$Nx5x$T>) {
          ^bb0(%x: $T, %o: $T):
            %ii = linalg.index 0 : index
            %jj = linalg.index 1 : index
            %d = arith.subi %ii, %jj : index
            %c = arith.index_cast %d : index to i32
            %f = arith.sitofp %c : i32 to $T
            %m = arith.mulf %f, %x : $T
            linalg.yield %m : $T
        } -> tensor<$Nx5x$T>
        return %i : tensor<$Nx5x$T>
      })",
                       0, 17, type);
    test.reference = [](const std::vector<Values> &in) {
      Values out(17 * 5);
      for (int i = 0; i < 17; ++i)
        for (int j = 0; j < 5; ++j)
          out[i * 5 + j] = (i - j) * (in[0][j * 17 + i] + in[1][i]);
      return std::vector<Values>{out};
    };
    check(test);
    test.batched = {false, true};
    check(test);
    test.batched = {false, false};
    check(test);
  }
}

TEST(DataMovement, ConcatSlicesPadReshape) {
  for (const char *type : {"f32", "i8", "f16", "i64"}) {
    Check test;
    test.low = -8;
    test.high = 8;
    test.text = withType(R"(
      func.func private @leaf(%a: tensor<4x6x$T>, %b: tensor<4x3x$T>) -> (tensor<4x9x$T>, tensor<36x$T>, tensor<2x5x$T>, tensor<6x8x$T>) {
        %c = tensor.concat dim(1) %a, %b : (tensor<4x6x$T>, tensor<4x3x$T>) -> tensor<4x9x$T>
        %f = tensor.collapse_shape %c [[0, 1]] : tensor<4x9x$T> into tensor<36x$T>
        %s = tensor.extract_slice %a[1, 0] [2, 3] [2, 2] : tensor<4x6x$T> to tensor<2x3x$T>
        %e = tensor.empty() : tensor<2x5x$T>
        %i0 = tensor.insert_slice %s into %e[0, 2] [2, 3] [1, 1] : tensor<2x3x$T> into tensor<2x5x$T>
        %row = tensor.extract_slice %b[3, 0] [1, 2] [1, 1] : tensor<4x3x$T> to tensor<2x$T>
        %col = tensor.extract_slice %a[0, 5] [2, 1] [1, 1] : tensor<4x6x$T> to tensor<2x1x$T>
        %i1 = tensor.insert_slice %row into %i0[0, 0] [1, 2] [1, 1] : tensor<2x$T> into tensor<2x5x$T>
        %i2 = tensor.insert_slice %row into %i1[1, 0] [1, 2] [1, 1] : tensor<2x$T> into tensor<2x5x$T>
        %i3 = tensor.insert_slice %col into %i2[0, 1] [2, 1] [1, 1] : tensor<2x1x$T> into tensor<2x5x$T>
        %k = arith.constant 1 : index
        %z = tensor.extract %a[%k, %k] : tensor<4x6x$T>
        %p = tensor.pad %a low[1, 2] high[1, 0] { ^bb0(%x: index, %y: index): tensor.yield %z : $T } : tensor<4x6x$T> to tensor<6x8x$T>
        return %c, %f, %i3, %p : tensor<4x9x$T>, tensor<36x$T>, tensor<2x5x$T>, tensor<6x8x$T>
      })",
                         type);
    test.reference = [](const std::vector<Values> &in) {
      Values concat(36), inserted(10), padded(48, in[0][7]);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 9; ++j)
          concat[i * 9 + j] = j < 6 ? in[0][i * 6 + j] : in[1][i * 3 + j - 6];
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j)
          inserted[i * 5 + 2 + j] = in[0][(1 + 2 * i) * 6 + 2 * j];
        inserted[i * 5] = in[1][9];
        inserted[i * 5 + 1] = in[0][i * 6 + 5];
      }
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 6; ++j)
          padded[(i + 1) * 8 + j + 2] = in[0][i * 6 + j];
      return std::vector<Values>{concat, concat, inserted, padded};
    };
    check(test);
    test.batched = {true, false};
    check(test);
  }
}

TEST(DataMovement, PartsAreComputedInPlace) {
  Check test;
  test.text = R"(
    func.func private @leaf(%a: tensor<2x17xf32>, %b: tensor<2x4xf32>) -> (tensor<2x21xf32>, tensor<2x17xf32>) {
      %x = arith.addf %a, %a : tensor<2x17xf32>
      %y = arith.mulf %b, %b : tensor<2x4xf32>
      %c = tensor.concat dim(1) %x, %y : (tensor<2x17xf32>, tensor<2x4xf32>) -> tensor<2x21xf32>
      %z = arith.subf %x, %a : tensor<2x17xf32>
      return %c, %z : tensor<2x21xf32>, tensor<2x17xf32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values out;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 17; ++j)
        out.push_back(2 * in[0][i * 17 + j]);
      for (int j = 0; j < 4; ++j)
        out.push_back(in[1][i * 4 + j] * in[1][i * 4 + j]);
    }
    return std::vector<Values>{out, in[0]};
  };
  check(test);
  auto leaf = CompiledLeaf::make(test.text, {});
  ASSERT_TRUE(leaf);
  EXPECT_EQ(leaf->scratch.forRows(10), 0);
}

TEST(DataMovement, DynamicIndices) {
  Check test;
  test.low = 0;
  test.high = 4;
  test.text = R"(
    func.func private @leaf(%table: tensor<6x18xf32>, %at: tensor<2xindex>) -> (tensor<18xf32>, tensor<6x18xf32>, tensor<f32>, tensor<2x18xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %i = tensor.extract %at[%c0] : tensor<2xindex>
      %j0 = tensor.extract %at[%c1] : tensor<2xindex>
      %j = arith.addi %j0, %c1 : index
      %row = tensor.extract_slice %table[%i, 0] [1, 18] [1, 1] : tensor<6x18xf32> to tensor<18xf32>
      %new = tensor.insert_slice %row into %table[%j, 0] [1, 18] [1, 1] : tensor<18xf32> into tensor<6x18xf32>
      %x = tensor.extract %table[%i, %j] : tensor<6x18xf32>
      %s = tensor.from_elements %x : tensor<f32>
      %e = tensor.empty() : tensor<2x18xf32>
      %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%at : tensor<2xindex>) outs(%e : tensor<2x18xf32>) {
        ^bb0(%r: index, %o: f32):
          %c = linalg.index 1 : index
          %v = tensor.extract %table[%r, %c] : tensor<6x18xf32>
          linalg.yield %v : f32
      } -> tensor<2x18xf32>
      return %row, %new, %s, %g : tensor<18xf32>, tensor<6x18xf32>, tensor<f32>, tensor<2x18xf32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    int i = in[1][0], j = in[1][1] + 1;
    Values row(in[0].begin() + i * 18, in[0].begin() + i * 18 + 18), changed = in[0],
                                                                     gathered = row;
    for (int c = 0; c < 18; ++c) {
      changed[j * 18 + c] = row[c];
      gathered.push_back(in[0][(j - 1) * 18 + c]);
    }
    return std::vector<Values>{row, changed, {in[0][i * 18 + j]}, gathered};
  };
  check(test);
  test.batched = {false, true};
  check(test);
  test.batched = {true, false};
  check(test);
  test.listed = true;
  for (std::vector<bool> batched : std::vector<std::vector<bool>>{{true, true}, {false, true}}) {
    test.batched = batched;
    check(test);
  }
}

TEST(DataMovement, ConstantsScalarsAndIdentity) {
  Check test;
  test.text = R"(
    func.func private @leaf(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi32>, tensor<2x2xf32>) {
      %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
      %d = arith.constant dense<[7, 8, 9]> : tensor<3xi32>
      %c0 = arith.constant 0 : index
      %x = tensor.extract %a[%c0, %c0] : tensor<2x3xf32>
      %two = arith.constant 2.0 : f32
      %y = arith.mulf %x, %two : f32
      %s = tensor.splat %y : tensor<2x3xf32>
      %t = arith.addf %c, %s : tensor<2x3xf32>
      %g = tensor.from_elements %x, %y, %two, %x : tensor<2x2xf32>
      return %a, %a, %t, %d, %g : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi32>, tensor<2x2xf32>
    })";
  test.reference = [](const std::vector<Values> &in) {
    Values sum;
    for (int i = 0; i < 6; ++i)
      sum.push_back(i + 1 + 2 * in[0][0]);
    return std::vector<Values>{in[0], in[0], sum, {7, 8, 9}, {in[0][0], 2 * in[0][0], 2, in[0][0]}};
  };
  check(test);
}

TEST(DataMovement, OutputOverInput) {
  // Row r is written where row r + 1 is read.
  mlir::ft::LeafOptions options;
  options.aliasesOutput = {true};
  auto leaf = CompiledLeaf::make(R"(
    func.func private @leaf(%a: tensor<5xf32>) -> tensor<5xf32> {
      %0 = arith.addf %a, %a : tensor<5xf32>
      return %0 : tensor<5xf32>
    })",
                                 options);
  ASSERT_TRUE(leaf);
  Rows in = leaf->allocate(0, 9);
  for (int row = 0; row < 9; ++row)
    for (int i = 0; i < 5; ++i)
      in.set(row, i, row * 10 + i);
  Rows out = in; // the same memory
  in.rows = out.rows = 8;
  out.offset = 5;
  leaf->run(8, {&in, &out});
  for (int row = 0; row < 8; ++row)
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(out.get(row, i), 2 * (row * 10 + i));
}

TEST(DataMovement, RowStrides) {
  auto leaf = CompiledLeaf::make(R"(
    func.func private @leaf(%a: tensor<20xf32>, %b: tensor<20xf32>) -> tensor<20xf32> {
      %0 = arith.subf %a, %b : tensor<20xf32>
      return %0 : tensor<20xf32>
    })",
                                 {});
  ASSERT_TRUE(leaf);
  Rows a = leaf->allocate(0, 6), b = leaf->allocate(1, 1), out = leaf->allocate(2, 6, 4);
  for (int i = 0; i < 120; ++i)
    a.set(0, i, i);
  for (int i = 0; i < 20; ++i)
    b.set(0, i, 100 * i);
  a.offset = 100; // from the last row to the first
  a.rowStride = -20;
  b.rowStride = 0;
  leaf->run(6, {&a, &b, &out});
  for (int row = 0; row < 6; ++row)
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(out.get(row, i), (5 - row) * 20 + i - 100 * i);
  // No rows: nothing is touched.
  leaf->run(0, {&a, &b, &out});
}

} // namespace
