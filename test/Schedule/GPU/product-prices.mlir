// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of products are chosen by their price against the kernel without them, and what is left out says why.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" --remarks-filter="gpu.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
//
// An SM to which operands come more slowly takes tiles for the same program.
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/' %S/../../machines/h200.json > %t.json
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=SLOW
// SLOW-LABEL: etdg.graph @few
// SLOW: #tile.product<

// Rows that the call counts are enough for all SMs.
// CHECK-LABEL: etdg.graph @many
// CHECK: #tile.product<
func.func @many(%xs: !ft.list<[N], tensor<1x64xf32>>, %w: tensor<64x64xf32>) -> !ft.list<[N], tensor<1x64xf32>> {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x64xf32>>) -> !ft.list<[N], tensor<1x64xf32>> {
    %z = arith.constant dense<0.0> : tensor<1x64xf32>
    %y = linalg.matmul ins(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>) outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>
    ft.yield %y : tensor<1x64xf32>
  }
  return %ys : !ft.list<[N], tensor<1x64xf32>>
}

// Four tiles for 132 SMs.
// CHECK-LABEL: etdg.graph @few
// CHECK-NOT: #tile.product
// REMARK: [[@LINE+2]]:{{.*}}gpu-products{{.*}}products of matrices are not computed in tiles: {{.*}}they would take {{.*}} us, without {{.*}} us
func.func @few(%a: tensor<128x512xf32>, %b: tensor<512x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x512xf32>, tensor<512x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// CHECK-LABEL: etdg.graph @large
// CHECK: #tile.product<
func.func @large(%a: tensor<1024x512xf32>, %b: tensor<512x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1024x512xf32>, tensor<512x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// CHECK-LABEL: etdg.graph @short
// CHECK-NOT: #tile.product
// REMARK: products of matrices are not computed in tiles: {{.*}}sums have 4 terms, 8 are worth it
func.func @short(%a: tensor<1024x4xf32>, %b: tensor<4x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1024x4xf32>, tensor<4x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
