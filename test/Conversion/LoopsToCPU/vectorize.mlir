// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One leaf, linalg on strided memrefs, becomes loops over vectors in a function that is no kernel, as its layouts say.
//
// RUN: ft-opt %s --loops-vectorize-leaves | FileCheck %s
// RUN: ft-opt %s --loops-vectorize-leaves --ft-leaf-to-llvm | FileCheck %s --check-prefix=LLVM
// LLVM: llvm.func @product(
// LLVM-NOT: memref.

// CHECK-LABEL: func.func @product(
// CHECK: %[[SCRATCH:.*]] = memref.alloc
// CHECK: call @leaf0(%{{.*}}, %[[SCRATCH]])
// CHECK-NOT: loops.leaf
// CHECK: memref.dealloc %[[SCRATCH]]
// CHECK-LABEL: func.func private @leaf0(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %{{.*}}: memref<?x32xf32, strided<[?, 1], offset: ?>>, %{{.*}}: memref<?x32x8xf32, strided<[?, 8, 1], offset: ?>>
// CHECK: scf.for {{.*}} step %c3
// CHECK: scf.for {{.*}} step %c1{{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: vector.load {{.*}} : memref<?xf32>, vector<8xf32>
// CHECK-COUNT-3: math.fma {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} : memref<?xf32>, vector<8xf32>
// Rows that are left, one by one; then what is added, in vectors of four.
// CHECK: scf.for {{.*}} step %c1
// CHECK: math.fma {{.*}} : vector<8xf32>
// CHECK: math.tanh {{.*}} : vector<4xf32>

// RUN: sed 's/layouts .* scratch \[[^]]*\]//' %s > %t.open.mlir
// RUN: not ft-opt %t.open.mlir --loops-vectorize-leaves 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: open.mlir:[[#]]:[[#]]: error: it is not specified how the leaf's loop nests are computed (loops-choose-tiles writes layouts)
// RUN: not ft-opt %S/Inputs/listed.mlir --loops-decide-for-cpu --loops-vectorize-leaves 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: listed.mlir:[[#]]:[[#]]: error: its rows are a list, which is a kernel's: expected rows of views (loops-lower-leaves lowers lists)

func.func @product(%n: index, %x: memref<?x32xf32, strided<[?, 1], offset: ?>>, %w: memref<?x32x8xf32, strided<[?, 8, 1], offset: ?>>,
                   %y: memref<?x8xf32, strided<[?, 1], offset: ?>>) {
  loops.leaf rows(%n) most 64 ins(%x, %w : memref<?x32xf32, strided<[?, 1], offset: ?>>, memref<?x32x8xf32, strided<[?, 8, 1], offset: ?>>)
    varies [true, false] outs(%y : memref<?x8xf32, strided<[?, 1], offset: ?>>) overlaps []
    layouts [#loops.product<rows = 3, columns = 8, vector = 8>, #loops.lanes<loop = 0, vector = 4, beside = 1>] scratch [#loops.scratch<value = 0, rows, offset = 0, bytes = 64>] {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32x8xf32>):
    %c = arith.constant dense<0.0> : tensor<8xf32>
    %p = linalg.vecmat ins(%a, %b : tensor<32xf32>, tensor<32x8xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
    %t = math.tanh %p : tensor<8xf32>
    loops.yield %t : tensor<8xf32>
  } {loops.row_loops = [array<i64: 0>, array<i64: 1>]}
  return
}
