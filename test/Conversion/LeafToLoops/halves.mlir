// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 and bf16 are computed in f32: elementwise operations round each result, reductions only what is stored.
//
// RUN: ft-opt %s --ft-choose-leaf="vector-bytes=32 vector-registers=16" --ft-generate-leaf | FileCheck %s

// CHECK-LABEL: func.func private @sum(
// CHECK-NOT: arith.truncf
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK-NOT: arith.truncf
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK-NOT: arith.truncf
// CHECK: return
func.func private @sum(%a: tensor<500xf16>) -> tensor<f16> attributes {ft.leaf, ft.leaf_sums = f32} {
  %init = arith.constant dense<0.0> : tensor<f16>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<500xf16>) outs(%init : tensor<f16>) dimensions = [0]
  return %0 : tensor<f16>
}

// CHECK-LABEL: func.func private @twice(
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<8xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : vector<8xf32> to vector<8xbf16>
// CHECK: %[[LEFT:.*]] = arith.extf %[[ROUNDED]] : vector<8xbf16> to vector<8xf32>
// CHECK: %[[RIGHT:.*]] = arith.extf %[[ROUNDED]] : vector<8xbf16> to vector<8xf32>
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[LEFT]], %[[RIGHT]] : vector<8xf32>
// CHECK: arith.truncf %[[PRODUCT]] : vector<8xf32> to vector<8xbf16>
func.func private @twice(%a: tensor<64xbf16>) -> tensor<64xbf16> attributes {ft.leaf} {
  %0 = arith.addf %a, %a : tensor<64xbf16>
  %1 = arith.mulf %0, %0 : tensor<64xbf16>
  return %1 : tensor<64xbf16>
}
