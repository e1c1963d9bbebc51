// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on whole tensors that only move elements are reads: none of them has a block or memory of its own where its
// readers can read what it reads.
// RUN: ft-opt %s --ft-compile=to=coarsen | FileCheck %s
// RUN: ft-opt %s --ft-compile=to=coarsen --remarks-filter="coarsen.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=joined | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=halves | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=padded | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=put | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=permuted | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=heads | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=again | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=around | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=filled | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=by_data | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --compare=interpret --entry=chain | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=joined | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=halves | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=padded | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=put | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=permuted | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=heads | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=again | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --entry=around | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^equal}}

// Rows of two tensors: a piece for each.
// CHECK-LABEL: etdg.graph @joined
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 64)
// CHECK-NEXT: reads (%{{.*}} = {i <= 32: %arg0[i], i >= 33: %arg1[i - 33]} : tensor<7xi32>)
// CHECK-NOT: etdg.block
func.func @joined(%x: tensor<33x7xi32>, %y: tensor<31x7xi32>) -> tensor<64x7xi32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<33x7xi32>, tensor<31x7xi32>) -> tensor<64x7xi32>
  %e = arith.muli %r, %r : tensor<64x7xi32>
  return %e : tensor<64x7xi32>
}

// Columns of three: the pieces test the element's dimension. (Softmax reduces each row, so it is put together before.)
// CHECK-LABEL: etdg.graph @halves
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 7)
// CHECK: elem (e0) {e0 <= 4: %arg0[i, e0], e0 = 5: %arg1[i, e0 - 5], e0 >= 6: %arg2[i, e0 - 6]} : tensor<19xf16>
// CHECK-NOT: tensor.concat
func.func @halves(%x: tensor<7x5xf16>, %y: tensor<7x1xf16>, %z: tensor<7x13xf16>) -> tensor<7x19xf16> {
  %r = tensor.concat dim(1) %x, %y, %z : (tensor<7x5xf16>, tensor<7x1xf16>, tensor<7x13xf16>) -> tensor<7x19xf16>
  %e = tensor.empty() : tensor<7x19xf16>
  %s = linalg.softmax dimension(1) ins(%r : tensor<7x19xf16>) outs(%e : tensor<7x19xf16>) -> tensor<7x19xf16>
  return %s : tensor<7x19xf16>
}

// A border is a piece as well, on each side of each dimension that has one.
// CHECK-LABEL: etdg.graph @padded
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 16)
// CHECK-NEXT: elem (e0) {i >= 1 and i <= 13 and e0 >= 2: %arg0[i - 1, e0 - 2], i = 0: splat 3 : i32, i >= 14: splat 3 : i32, i >= 1 and i <= 13 and e0 <= 1: splat 3 : i32}
// CHECK-NOT: etdg.block
func.func @padded(%x: tensor<13x5xi32>) -> tensor<16x7xi32> {
  %c = arith.constant 3 : i32
  %p = tensor.pad %x low[1, 2] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : i32
  } : tensor<13x5xi32> to tensor<16x7xi32>
  %r = arith.muli %p, %p : tensor<16x7xi32>
  return %r : tensor<16x7xi32>
}

// CHECK-LABEL: etdg.graph @put
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 11)
// CHECK-NEXT: elem (e0) {i >= 3 and i <= 7 and e0 >= 2 and e0 <= 5: %arg0[i - 3, e0 - 2], i <= 2: %arg1[i, e0]
// CHECK-NOT: etdg.block
func.func @put(%x: tensor<5x4xi32>, %y: tensor<11x7xi32>) -> tensor<11x7xi32> {
  %r = tensor.insert_slice %x into %y[3, 2] [5, 4] [1, 1] : tensor<5x4xi32> into tensor<11x7xi32>
  %s = arith.addi %r, %y : tensor<11x7xi32>
  return %s : tensor<11x7xi32>
}

// CHECK-LABEL: etdg.graph @permuted
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in [0, 5) x [0, 3)
// CHECK-NEXT: reads (%{{.*}} = elem (e0) %arg0[j, e0, i] : tensor<7xi32>
// CHECK-NOT: etdg.block
func.func @permuted(%x: tensor<3x7x5xi32>, %y: tensor<5x3x7xi32>) -> tensor<5x3x7xi32> {
  %e = tensor.empty() : tensor<5x3x7xi32>
  %t = linalg.transpose ins(%x : tensor<3x7x5xi32>) outs(%e : tensor<5x3x7xi32>) permutation = [2, 0, 1]
  %s = arith.subi %t, %y : tensor<5x3x7xi32>
  return %s : tensor<5x3x7xi32>
}

// Heads that are split: the products read their parts of the rows in place, with gaps between.
// CHECK-LABEL: etdg.graph @heads
// CHECK: reads (%{{.*}} = elem (e0) %[[Q:.*]][{{.*}}, 8 * {{.*}} + e0] : tensor<8xf32>, %{{.*}} = elem (e0, e1) %[[K:.*]][e1, 8 * {{.*}} + e0] : tensor<8x7xf32>
// CHECK-NOT: linalg.transpose
func.func @heads(%q: tensor<7x24xf32>, %k: tensor<7x24xf32>) -> tensor<3x7x7xf32> {
  %a = arith.addf %q, %q : tensor<7x24xf32>
  %b = arith.addf %k, %q : tensor<7x24xf32>
  %q3 = tensor.expand_shape %a [[0], [1, 2]] output_shape [7, 3, 8] : tensor<7x24xf32> into tensor<7x3x8xf32>
  %k3 = tensor.expand_shape %b [[0], [1, 2]] output_shape [7, 3, 8] : tensor<7x24xf32> into tensor<7x3x8xf32>
  %eq = tensor.empty() : tensor<3x7x8xf32>
  %ek = tensor.empty() : tensor<3x8x7xf32>
  %qt = linalg.transpose ins(%q3 : tensor<7x3x8xf32>) outs(%eq : tensor<3x7x8xf32>) permutation = [1, 0, 2]
  %kt = linalg.transpose ins(%k3 : tensor<7x3x8xf32>) outs(%ek : tensor<3x8x7xf32>) permutation = [1, 2, 0]
  %z = arith.constant dense<0.0> : tensor<3x7x7xf32>
  %s = linalg.batch_matmul ins(%qt, %kt : tensor<3x7x8xf32>, tensor<3x8x7xf32>) outs(%z : tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  return %s : tensor<3x7x7xf32>
}

// A product reads its operand again for each row: what would be put together out of scalars each time keeps its memory.
// REMARK-DAG: it is put together out of scalars, and {{.*}} reads it again and again
// CHECK-LABEL: etdg.graph @again
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 6)
// CHECK-NEXT: reads (%{{.*}} = elem (e0) {e0 <= 2: %arg1[i, e0], e0 >= 3: %arg2[i, e0 - 3]}
// CHECK: linalg.generic
func.func @again(%x: tensor<5x6xf32>, %v: tensor<6x3xf32>, %w: tensor<6x1xf32>) -> tensor<5x4xf32> {
  %p = tensor.concat dim(1) %v, %w : (tensor<6x3xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %z = arith.constant dense<0.0> : tensor<5x4xf32>
  %y = linalg.matmul ins(%x, %p : tensor<5x6xf32>, tensor<6x4xf32>) outs(%z : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// A box with one number around it is padded by its reader, which reads it in place.
// CHECK-LABEL: etdg.graph @around
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 5)
// CHECK-NEXT: reads (%{{.*}} = %arg0[i] : tensor<6xf32>, %[[W:.*]] = elem (e0, e1) %arg1[e0, e1] : tensor<5x3xf32>)
// CHECK: %[[P:.*]] = tensor.pad %[[W]] low[1, 0] high[0, 1]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[P]] :
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @around(%x: tensor<5x6xf32>, %w: tensor<5x3xf32>) -> tensor<5x4xf32> {
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %w low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<5x3xf32> to tensor<6x4xf32>
  %z = arith.constant dense<0.0> : tensor<5x4xf32>
  %y = linalg.matmul ins(%x, %p : tensor<5x6xf32>, tensor<6x4xf32>) outs(%z : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// What is put into a tensor of one number is padded with it.
// CHECK-LABEL: etdg.graph @filled
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 5)
// CHECK-NEXT: reads (%{{.*}} = %arg0[i] : tensor<6xf32>, %[[W:.*]] = elem (e0, e1) %arg1[e0, e1] : tensor<5x3xf32>)
// CHECK: tensor.pad %[[W]] low[1, 0] high[0, 1]
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @filled(%x: tensor<5x6xf32>, %w: tensor<5x3xf32>) -> tensor<5x4xf32> {
  %c = arith.constant 2.0 : f32
  %d = tensor.empty() : tensor<6x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%d : tensor<6x4xf32>) -> tensor<6x4xf32>
  %p = tensor.insert_slice %w into %f[1, 0] [5, 3] [1, 1] : tensor<5x3xf32> into tensor<6x4xf32>
  %z = arith.constant dense<0.0> : tensor<5x4xf32>
  %y = linalg.matmul ins(%x, %p : tensor<5x6xf32>, tensor<6x4xf32>) outs(%z : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// A border that is data is put around a copy.
// REMARK-DAG: what is padded is copied to a buffer of type {{.*}}: its border is no constant
// CHECK-LABEL: etdg.graph @by_data
// CHECK: tensor.pad
// CHECK: etdg.block
// CHECK: linalg.generic
func.func @by_data(%x: tensor<5x6xf32>, %w: tensor<5x3xf32>, %v: tensor<f32>) -> tensor<5x4xf32> {
  %c = tensor.extract %v[] : tensor<f32>
  %p = tensor.pad %w low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<5x3xf32> to tensor<6x4xf32>
  %z = arith.constant dense<0.0> : tensor<5x4xf32>
  %y = linalg.matmul ins(%x, %p : tensor<5x6xf32>, tensor<6x4xf32>) outs(%z : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Parts that take each other's place: what the last one leaves of those before.
// CHECK-LABEL: etdg.graph @chain
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 9)
// CHECK-NEXT: reads (%{{.*}} = {i >= 2 and i <= 4: %arg1[i - 2], {{.*}}%arg0[
// CHECK-NOT: etdg.block
func.func @chain(%x: tensor<4x3xi32>, %y: tensor<3x3xi32>, %z: tensor<9x3xi32>) -> tensor<9x3xi32> {
  %0 = tensor.insert_slice %x into %z[1, 0] [4, 3] [1, 1] : tensor<4x3xi32> into tensor<9x3xi32>
  %1 = tensor.insert_slice %y into %0[2, 0] [3, 3] [1, 1] : tensor<3x3xi32> into tensor<9x3xi32>
  %2 = arith.addi %1, %z : tensor<9x3xi32>
  return %2 : tensor<9x3xi32>
}

// A tensor of very many parts stays one operation.
// CHECK-LABEL: etdg.graph @many
// CHECK: tensor.concat
func.func @many(%x: tensor<1x3xi32>) -> tensor<17x3xi32> {
  %0 = tensor.concat dim(0) %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x
      : (tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<17x3xi32>
  return %0 : tensor<17x3xi32>
}
