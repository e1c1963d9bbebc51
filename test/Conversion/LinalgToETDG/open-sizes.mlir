// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of open sizes: what is open becomes a length, and each operation runs over its rows.
//
// RUN: ft-opt %s --convert-linalg-to-etdg --etdg-verify | FileCheck %s
// RUN: ft-opt %s --ft-compile=to=storage | FileCheck %s --check-prefix=MERGED
// RUN: %python %S/../../Programs/Inputs/whole-tensors.py %ft_bin/ft-run %s N=0,1,7,127 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 4 programs, {{[1-9][0-9]*}} runs, 0 failures

#ij = affine_map<(i, n) -> (i, n)>
#i = affine_map<(i, n) -> (i)>

// CHECK-LABEL: etdg.graph @layer(
// CHECK-SAME: !etdg.buffer<[N], tensor<16xf32>>, %{{.*}}: !etdg.buffer<[], tensor<16x24xf32>>, %{{.*}}: !etdg.buffer<[], tensor<24xf32>>) -> (!etdg.buffer<[N], tensor<24xf32>>, !etdg.buffer<[N], tensor<f32>>)
// CHECK: etdg.block @r1 [map] (i) in [0, N) // [.. | map, reduce]
// MERGED-LABEL: etdg.graph @layer(
// MERGED: etdg.block [[BLOCK:@[a-z0-9_]*]] [map] (i) in [0, N)
// MERGED-NOT: etdg.block
// MERGED: etdg.return
func.func @layer(%x: tensor<?x16xf32> {etdg.dims = ["N"]}, %w: tensor<16x24xf32>, %b: tensor<24xf32>) -> (tensor<?x24xf32>, tensor<?xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x24xf32>) outs(%f : tensor<?x24xf32>) -> tensor<?x24xf32>
  %bb = linalg.broadcast ins(%b : tensor<24xf32>) outs(%e : tensor<?x24xf32>) dimensions = [0]
  %s = arith.addf %p, %bb : tensor<?x24xf32>
  %y = math.tanh %s : tensor<?x24xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.reduce { arith.addf } ins(%y : tensor<?x24xf32>) outs(%f1 : tensor<?xf32>) dimensions = [1]
  return %y, %t : tensor<?x24xf32>, tensor<?xf32>
}

// CHECK-LABEL: etdg.graph @heads(
// CHECK-SAME: !etdg.buffer<[3, N], tensor<8xf32>>
func.func @heads(%x: tensor<3x?x8xf32> {etdg.dims = ["", "N"]}, %w: tensor<3x8x8xf32>) -> (tensor<3x?x8xf32>, tensor<3x?x2x4xf32>) {
  %z = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<3x?x8xf32>
  %e = tensor.empty(%n) : tensor<3x?x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  %p = linalg.batch_matmul ins(%x, %w : tensor<3x?x8xf32>, tensor<3x8x8xf32>) outs(%f : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  %s = linalg.softmax dimension(2) ins(%p : tensor<3x?x8xf32>) outs(%e : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  %h = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [3, %n, 2, 4] : tensor<3x?x8xf32> into tensor<3x?x2x4xf32>
  %y = math.exp %h : tensor<3x?x2x4xf32>
  return %s, %y : tensor<3x?x8xf32>, tensor<3x?x2x4xf32>
}

// An argument returned, a value twice, a table of constants, integers.
// CHECK-LABEL: etdg.graph @rows(
func.func @rows(%x: tensor<2x?xi32> {etdg.dims = ["", "N"]}, %y: tensor<?x3xi32> {etdg.dims = ["N"]}) -> (tensor<2x?xi32>, tensor<?x3xi32>, tensor<?x3xi32>, tensor<2xi32>) {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x3xi32>
  %e = tensor.empty(%n) : tensor<?x3xi32>
  %b = linalg.broadcast ins(%c : tensor<3xi32>) outs(%e : tensor<?x3xi32>) dimensions = [0]
  %s = arith.muli %b, %y : tensor<?x3xi32>
  %t = arith.constant dense<[4, 5]> : tensor<2xi32>
  return %x, %s, %s, %t : tensor<2x?xi32>, tensor<?x3xi32>, tensor<?x3xi32>, tensor<2xi32>
}

// CHECK-LABEL: etdg.graph @unnamed(
// CHECK-SAME: !etdg.buffer<[n0_0], tensor<4xi32>>
func.func @unnamed(%x: tensor<?x4xi32>) -> tensor<?x4xi32> attributes {ft.lengths = {n0_0 = 3 : i64}} {
  %y = arith.addi %x, %x : tensor<?x4xi32>
  return %y : tensor<?x4xi32>
}
