// Square roots of constants fold in every float type: programs compute 1/√d so.
//
// RUN: ft-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @roots
// CHECK-DAG: arith.constant dense<8.000000e+00> : tensor<f16>
// CHECK-DAG: arith.constant dense<1.414060e+00> : tensor<3xbf16>
// CHECK-DAG: arith.constant dense<1.41421354> : tensor<f32>
// CHECK-DAG: %[[minus:.*]] = arith.constant dense<-1.000000e+00> : tensor<f16>
// CHECK: math.sqrt %[[minus]]
func.func @roots(%xs: !ft.list<[L], tensor<f16>>) -> (tensor<f16>, tensor<3xbf16>, tensor<f32>, tensor<f16>) {
  %a = arith.constant dense<64.0> : tensor<f16>
  %b = arith.constant dense<2.0> : tensor<3xbf16>
  %c = arith.constant dense<2.0> : tensor<f32>
  %d = arith.constant dense<-1.0> : tensor<f16>
  %ra = math.sqrt %a : tensor<f16>
  %rb = math.sqrt %b : tensor<3xbf16>
  %rc = math.sqrt %c : tensor<f32>
  %rd = math.sqrt %d : tensor<f16>
  return %ra, %rb, %rc, %rd : tensor<f16>, tensor<3xbf16>, tensor<f32>, tensor<f16>
}
