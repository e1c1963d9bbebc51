// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-scf-to-etdg,etdg.graph(etdg-verify))' -o /dev/null
// RUN: ft-run %s --entry=sum --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=reversed --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=reversed --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=triangle --engine=interpret --order=random --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=triangle --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

// What is carried and written at once is one buffer; the first iteration is a region.
// CHECK-LABEL: etdg.graph @prefix
// CHECK-SAME: !etdg.buffer<[L], tensor<4xi32>>) -> !etdg.buffer<[L], tensor<4xi32>>
// CHECK-COUNT-1: etdg.buffer :
// CHECK-NOT: etdg.buffer :
// CHECK: [scanl] (i) in = 0 where L >= 1
// CHECK: [scanl] (i) in [1, L)
// CHECK-NEXT: reads (%{{.*}} = %[[Y:.*]][i - 1] : tensor<4xi32>, %{{.*}} = %{{.*}}[i] : tensor<4xi32>)
// CHECK-NEXT: writes (%[[Y]][i])
func.func @prefix(%xs: tensor<?x4xi32> {etdg.dims = ["L"]}) -> tensor<?x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %xs, %c0 : tensor<?x4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %empty = tensor.empty(%L) : tensor<?x4xi32>
  %r:2 = scf.for %t = %c0 to %L step %c1 iter_args(%ys = %empty, %s = %zero) -> (tensor<?x4xi32>, tensor<4xi32>) {
    %x = tensor.extract_slice %xs[%t, 0] [1, 4] [1, 1] : tensor<?x4xi32> to tensor<4xi32>
    %s1 = arith.addi %s, %x : tensor<4xi32>
    %ys1 = tensor.insert_slice %s1 into %ys[%t, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<?x4xi32>
    scf.yield %ys1, %s1 : tensor<?x4xi32>, tensor<4xi32>
  }
  return %r#0 : tensor<?x4xi32>
}

// A small state that only the next iteration reads: a fold of one plane.
// CHECK-LABEL: etdg.graph @sum
// CHECK: etdg.buffer live [1] : !etdg.buffer<[7]
// CHECK: [foldl] (i) in [0, 7)
// CHECK: {i = 0: splat 0 : i32, i >= 1: %{{.*}}[i - 1]}
// CHECK: reads (%{{.*}} = %{{.*}}[6]
func.func @sum(%xs: tensor<7x4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = arith.constant 7 : index
  %zero = arith.constant dense<0> : tensor<4xi32>
  %r = scf.for %t = %c0 to %L step %c1 iter_args(%s = %zero) -> (tensor<4xi32>) {
    %x = tensor.extract_slice %xs[%t, 0] [1, 4] [1, 1] : tensor<7x4xi32> to tensor<4xi32>
    %s1 = arith.addi %s, %x : tensor<4xi32>
    scf.yield %s1 : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// Reversed and lagged: a distance of 2, and the cell that row 7 is lagged to.
// CHECK-LABEL: etdg.graph @reversed
// CHECK: [scanl] (i) in [2, 9)
// CHECK-NEXT: reads (%{{.*}} = %{{.*}}[8 - i] : tensor<4xi32>, %{{.*}} = %[[Y:.*]][10 - i] : tensor<4xi32>)
// CHECK-NEXT: writes (%[[Y]][8 - i])
func.func @reversed(%xs: tensor<9x4xi32>) -> tensor<9x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %t = %c0 to %c9 step %c1 iter_args(%ys = %xs) -> (tensor<9x4xi32>) {
    %i = arith.subi %c8, %t : index
    %x = tensor.extract_slice %ys[%i, 0] [1, 4] [1, 1] : tensor<9x4xi32> to tensor<4xi32>
    %j = arith.addi %i, %c2 : index
    %k = arith.minsi %j, %c8 : index
    %y = tensor.extract_slice %ys[%k, 0] [1, 4] [1, 1] : tensor<9x4xi32> to tensor<4xi32>
    %s1 = arith.addi %x, %y : tensor<4xi32>
    %ys1 = tensor.insert_slice %s1 into %ys[%i, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<9x4xi32>
    scf.yield %ys1 : tensor<9x4xi32>
  }
  return %r : tensor<9x4xi32>
}

// Accumulation into cells, triangular: a cell is written i + 1 times, so that it is
// kept by iterations; the outer loop carries nothing.
// CHECK-LABEL: etdg.graph @triangle
// CHECK: etdg.buffer live [all, 1] : !etdg.buffer<[5, 5], tensor<6xi32>>
// CHECK: [map, foldl] (i, j) in [0, 5) x [0, i + 1)
// CHECK-NEXT: {j = 0: %{{.*}}[i], j >= 1: %[[P:.*]][i, j - 1]}
// CHECK: [map] (i) in [0, 5)
// CHECK-NEXT: reads (%{{.*}} = %[[P]][i, i]
func.func @triangle(%a: tensor<5x6xi32>, %c: tensor<5x6xi32>) -> tensor<5x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%o = %c) -> (tensor<5x6xi32>) {
    %i1 = arith.addi %i, %c1 : index
    %q = scf.for %j = %c0 to %i1 step %c1 iter_args(%p = %o) -> (tensor<5x6xi32>) {
      %x = tensor.extract_slice %a[%j, 0] [1, 6] [1, 1] : tensor<5x6xi32> to tensor<6xi32>
      %y = tensor.extract_slice %p[%i, 0] [1, 6] [1, 1] : tensor<5x6xi32> to tensor<6xi32>
      %s = arith.addi %x, %y : tensor<6xi32>
      %u = tensor.insert_slice %s into %p[%i, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<5x6xi32>
      scf.yield %u : tensor<5x6xi32>
    }
    scf.yield %q : tensor<5x6xi32>
  }
  return %r : tensor<5x6xi32>
}
