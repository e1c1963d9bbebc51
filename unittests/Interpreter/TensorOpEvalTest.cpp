//===- TensorOpEvalTest.cpp - The tensor dialect by hand ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every supported tensor operation and the errors of those that can fail.
//
//===----------------------------------------------------------------------===//
#include "EvalFixture.h"

using namespace mlir;
using namespace mlir::ft::interp;

namespace {

class TensorOps : public EvalTest {
protected:
  /// %m is [[1, 2, 3], [4, 5, 6]], %c0 … %c3 are indices; shows %r.
  std::string with(StringRef lines, StringRef resultType) {
    return show(("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
                 "%c2 = arith.constant 2 : index\n%c3 = arith.constant 3 : index\n"
                 "%m = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n" +
                 lines + "\n\"test.show\"(%r) : (" + resultType + ") -> ()")
                    .str());
  }
};

TEST_F(TensorOps, EmptySplatFromElements) {
  EXPECT_EQ(with("%r = tensor.empty() : tensor<2xi32>", "tensor<2xi32>"), "[0, 0]");
  EXPECT_EQ(with("%s = arith.constant 2.5 : f32\n%r = tensor.splat %s : tensor<1x2xf32>",
                 "tensor<1x2xf32>"),
            "[[2.5, 2.5]]");
  EXPECT_EQ(with("%r = tensor.from_elements %c1, %c3 : tensor<2xindex>", "tensor<2xindex>"),
            "[1, 3]");
  EXPECT_EQ(with("%n = arith.constant -1 : index\n%r = tensor.empty(%n) : tensor<?xi32>",
                 "tensor<?xi32>"),
            "error: 7: cannot allocate a tensor of sizes -1");
}

TEST_F(TensorOps, ExtractInsert) {
  EXPECT_EQ(with("%r = tensor.extract %m[%c1, %c2] : tensor<2x3xi32>", "i32"), "6");
  EXPECT_EQ(with("%r = tensor.extract %m[%c2, %c2] : tensor<2x3xi32>", "i32"),
            "error: 6: index 2 of dimension 0 is out of range: its size is 2");
  EXPECT_EQ(with("%s = arith.constant 9 : i32\n"
                 "%r = tensor.insert %s into %m[%c0, %c1] : tensor<2x3xi32>",
                 "tensor<2x3xi32>"),
            "[[1, 9, 3], [4, 5, 6]]");
}

TEST_F(TensorOps, Slices) {
  EXPECT_EQ(with("%r = tensor.extract_slice %m[0, 1] [2, 2] [1, 1] "
                 ": tensor<2x3xi32> to tensor<2x2xi32>",
                 "tensor<2x2xi32>"),
            "[[2, 3], [5, 6]]");
  EXPECT_EQ(with("%r = tensor.extract_slice %m[%c1, 0] [1, 2] [1, 2] "
                 ": tensor<2x3xi32> to tensor<2xi32>",
                 "tensor<2xi32>"),
            "[4, 6]");
  EXPECT_EQ(with("%r = tensor.extract_slice %m[%c2, 0] [1, 2] [1, 2] "
                 ": tensor<2x3xi32> to tensor<2xi32>",
                 "tensor<2xi32>"),
            "error: 6: the slice of 1 elements from 2 by 1 in dimension 0 is out of range: its "
            "size is 2");
  EXPECT_EQ(with("%s = arith.constant dense<[7, 8]> : tensor<2xi32>\n"
                 "%r = tensor.insert_slice %s into %m[0, %c2] [2, 1] [1, 1] "
                 ": tensor<2xi32> into tensor<2x3xi32>",
                 "tensor<2x3xi32>"),
            "[[1, 2, 7], [4, 5, 8]]");
}

TEST_F(TensorOps, Shapes) {
  EXPECT_EQ(with("%r = tensor.collapse_shape %m [[0, 1]] : tensor<2x3xi32> into tensor<6xi32>",
                 "tensor<6xi32>"),
            "[1, 2, 3, 4, 5, 6]");
  EXPECT_EQ(with("%r = tensor.expand_shape %m [[0], [1, 2]] output_shape [2, 3, 1] "
                 ": tensor<2x3xi32> into tensor<2x3x1xi32>",
                 "tensor<2x3x1xi32>"),
            "[[[1], [2], [3]], [[4], [5], [6]]]");
  EXPECT_EQ(with("%s = arith.constant dense<[3, 2]> : tensor<2xi64>\n"
                 "%r = tensor.reshape %m(%s) : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<3x2xi32>",
                 "tensor<3x2xi32>"),
            "[[1, 2], [3, 4], [5, 6]]");
  EXPECT_EQ(with("%s = arith.constant dense<[2, 2]> : tensor<2xi64>\n"
                 "%r = tensor.reshape %m(%s) : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<?x?xi32>",
                 "tensor<?x?xi32>"),
            "error: 7: cannot reshape 6 elements to sizes 2x2");
  EXPECT_EQ(with("%r = tensor.cast %m : tensor<2x3xi32> to tensor<?x3xi32>", "tensor<?x3xi32>"),
            "[[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(with("%d = tensor.cast %m : tensor<2x3xi32> to tensor<?x3xi32>\n"
                 "%r = tensor.cast %d : tensor<?x3xi32> to tensor<4x3xi32>",
                 "tensor<4x3xi32>"),
            "error: 7: casts a tensor of sizes 2x3 to 'tensor<4x3xi32>'");
  EXPECT_EQ(with("%r = tensor.dim %m, %c1 : tensor<2x3xi32>", "index"), "3");
}

TEST_F(TensorOps, ConcatPadGenerate) {
  EXPECT_EQ(with("%r = tensor.concat dim(1) %m, %m : (tensor<2x3xi32>, tensor<2x3xi32>) "
                 "-> tensor<2x6xi32>",
                 "tensor<2x6xi32>"),
            "[[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]");
  EXPECT_EQ(with("%z = arith.constant 0 : i32\n%r = tensor.pad %m low[1, 0] high[0, 1] {\n"
                 "^bb0(%i: index, %j: index):\n tensor.yield %z : i32\n"
                 "} : tensor<2x3xi32> to tensor<3x4xi32>",
                 "tensor<3x4xi32>"),
            "[[0, 0, 0, 0], [1, 2, 3, 0], [4, 5, 6, 0]]");
  EXPECT_EQ(with("%r = tensor.generate {\n^bb0(%i: index, %j: index):\n"
                 "%s = arith.addi %i, %j : index\n tensor.yield %s : index\n"
                 "} : tensor<2x2xindex>",
                 "tensor<2x2xindex>"),
            "[[0, 1], [1, 2]]");
}

} // namespace
