// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor that is put together from every second element of others is one statement: nothing reads elements that nothing has written.
//
// RUN: ft-opt %s --convert-linalg-to-etdg | FileCheck %s
// RUN: ft-run %s --entry=interleaved --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=looked_at --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal{{$}}

// CHECK-LABEL: etdg.graph @interleaved
// CHECK-COUNT-3: etdg.block
// CHECK-NOT: etdg.block
// CHECK: tensor.empty
// CHECK-NEXT: tensor.insert_slice
// CHECK-NEXT: tensor.insert_slice
// CHECK-NEXT: etdg.yield
func.func @interleaved(%x: tensor<5x4xi32>) -> tensor<5x8xi32> {
  %a = arith.addi %x, %x : tensor<5x4xi32>
  %b = arith.muli %x, %x : tensor<5x4xi32>
  %e = tensor.empty() : tensor<5x8xi32>
  %0 = tensor.insert_slice %a into %e[0, 0] [5, 4] [1, 2] : tensor<5x4xi32> into tensor<5x8xi32>
  %1 = tensor.insert_slice %b into %0[0, 1] [5, 4] [1, 2] : tensor<5x4xi32> into tensor<5x8xi32>
  return %1 : tensor<5x8xi32>
}

// What another one looks at is a statement by itself.
// CHECK-LABEL: etdg.graph @looked_at
// CHECK: tensor.insert_slice
// CHECK-NEXT: etdg.yield
// CHECK: tensor.insert_slice
// CHECK-NEXT: etdg.yield
func.func @looked_at(%x: tensor<5x4xi32>, %y: tensor<5x8xi32>) -> (tensor<5x8xi32>, tensor<5x4xi32>) {
  %a = arith.addi %x, %x : tensor<5x4xi32>
  %0 = tensor.insert_slice %a into %y[0, 0] [5, 4] [1, 2] : tensor<5x4xi32> into tensor<5x8xi32>
  %r = tensor.extract_slice %0[0, 1] [5, 4] [1, 2] : tensor<5x8xi32> to tensor<5x4xi32>
  %b = arith.muli %r, %a : tensor<5x4xi32>
  %1 = tensor.insert_slice %b into %0[0, 1] [5, 4] [1, 2] : tensor<5x4xi32> into tensor<5x8xi32>
  return %1, %r : tensor<5x8xi32>, tensor<5x4xi32>
}
