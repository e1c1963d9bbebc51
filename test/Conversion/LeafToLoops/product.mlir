// Rows become rows of the product: the weights are read once for all of them.
//
// RUN: ft-opt %s --ft-choose-leaf="vector-bytes=64 vector-registers=32" --ft-generate-leaf | FileCheck %s
// RUN: ft-opt %s --ft-choose-leaf="vector-bytes=32 vector-registers=16" --ft-generate-leaf | FileCheck %s --check-prefix=AVX2
// RUN: ft-opt %s --ft-choose-leaf --ft-generate-leaf --ft-leaf-to-llvm | FileCheck %s --check-prefix=LLVM

// Equal products share one function.
// CHECK-LABEL: func.func private @ft_product_
// CHECK-SAME: (%[[ROWS:.*]]: index,
// CHECK-SAME: passthrough = ["noinline"]
// Columns around rows around k, with 6 x 4 accumulators.
// CHECK: scf.for
// CHECK: scf.for {{.*}} to {{.*}} step %c6
// CHECK: %{{.*}}:24 = scf.for {{.*}} -> (vector<16xf32>, {{.*}}) {
// CHECK-COUNT-4: vector.load {{.*}} vector<16xf32>
// CHECK-COUNT-24: math.fma
// What is left of the rows: 4, 2, 1.
// CHECK: %{{.*}}:16 = scf.for
// CHECK: %{{.*}}:8 = scf.for
// CHECK: %{{.*}}:4 = scf.for
// CHECK-NOT: scf.for

// CHECK-LABEL: func.func private @leaf(
// CHECK-SAME: %[[ROWS:.*]]: index, %{{.*}}: memref<?x1x256xf32, strided<[?, 256, 1], offset: ?>>,
// CHECK-SAME: %{{.*}}: memref<?xi8>) attributes {ft.scratch_fixed = 0 : i64, ft.scratch_per_row = 1024 : i64}
// CHECK: call @[[PRODUCT:ft_product_[0-9a-f]+]](%[[ROWS]],
// CHECK: call @[[PRODUCT]](%[[ROWS]],
// CHECK-NOT: scf.for

// AVX2: %{{.*}}:12 = scf.for {{.*}} -> (vector<8xf32>,

// LLVM-LABEL: llvm.func internal @ft_product_
// LLVM: llvm.intr.fma({{.*}}) : (vector<{{[0-9]+}}xf32>
// LLVM-NOT: unrealized_conversion_cast
func.func private @leaf(%x: tensor<1x256xf32>, %w: tensor<256x256xf32>) -> tensor<1x256xf32>
    attributes {ft.leaf, ft.leaf_batched = array<i1: true, false>} {
  %zero = arith.constant dense<0.0> : tensor<1x256xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<1x256xf32>, tensor<256x256xf32>)
      outs(%zero : tensor<1x256xf32>) -> tensor<1x256xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<1x256xf32>, tensor<256x256xf32>)
      outs(%zero : tensor<1x256xf32>) -> tensor<1x256xf32>
  return %1 : tensor<1x256xf32>
}

// Without the attribute a function stays.
// CHECK-LABEL: func.func @other(
// CHECK: linalg.exp
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
