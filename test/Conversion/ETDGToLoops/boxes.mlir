// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of scalars that follow each other in memory are no copies: rows of a tensor that is also read
// whole, a tensor whose rows are a list, parts of a row.
//
// RUN: ft-translate --mlir-to-llvmir --target=x86-64-v3 %s | FileCheck %s
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s --check-prefix=PTX
// RUN: %python %S/../../Programs/Inputs/whole-tensors.py %ft_bin/ft-run %s | FileCheck %s --check-prefix=EQUAL
// EQUAL: 4 programs, {{[1-9][0-9]*}} runs, 0 failures

// CHECK-LABEL: define internal {{.*}}square_k0(
// CHECK-NOT: alloc
// CHECK: ret void
// PTX-LABEL: .entry square_k0(
// PTX-NOT: st.shared
// PTX: ret;
func.func @square(%x: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %z = arith.constant dense<0.0> : tensor<12x12xf32>
  %y = linalg.matmul ins(%x, %x : tensor<12x12xf32>, tensor<12x12xf32>) outs(%z : tensor<12x12xf32>) -> tensor<12x12xf32>
  return %y : tensor<12x12xf32>
}

// CHECK-LABEL: define internal {{.*}}whole_k1(
// CHECK-NOT: alloc
// CHECK: ret void
// PTX-LABEL: .entry whole_k0(
// PTX-NOT: st.shared
// PTX: ret;
func.func @whole(%a: tensor<12x12xf32>, %x: tensor<12x8xf32>, %w: tensor<8x8xf32>) -> tensor<12x8xf32> {
  %z = arith.constant dense<0.0> : tensor<12x8xf32>
  %k = linalg.matmul ins(%x, %w : tensor<12x8xf32>, tensor<8x8xf32>) outs(%z : tensor<12x8xf32>) -> tensor<12x8xf32>
  %s = linalg.matmul ins(%a, %k : tensor<12x12xf32>, tensor<12x8xf32>) outs(%z : tensor<12x8xf32>) -> tensor<12x8xf32>
  return %s : tensor<12x8xf32>
}

// CHECK-LABEL: define internal {{.*}}part_k0(
// CHECK-NOT: alloc
// CHECK: ret void
func.func @part(%x: tensor<12x8xi32>) -> tensor<12x2x4xi32> {
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [12, 2, 4] : tensor<12x8xi32> into tensor<12x2x4xi32>
  %y = arith.addi %h, %h : tensor<12x2x4xi32>
  return %y : tensor<12x2x4xi32>
}

// Parts with gaps are read where they are: a head's keys and values, columns of a weight.
// CHECK-LABEL: define internal {{.*}}gaps_k0(
// CHECK-NOT: alloc
// CHECK: ret void
func.func @gaps(%x: tensor<12x8xf32>, %w: tensor<8x9xf32>) -> tensor<12x4xf32> {
  %z = arith.constant dense<0.0> : tensor<12x4xf32>
  %part = tensor.extract_slice %w[0, 3] [8, 4] [1, 1] : tensor<8x9xf32> to tensor<8x4xf32>
  %y = linalg.matmul ins(%x, %part : tensor<12x8xf32>, tensor<8x4xf32>) outs(%z : tensor<12x4xf32>) -> tensor<12x4xf32>
  return %y : tensor<12x4xf32>
}
