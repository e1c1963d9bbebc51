// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short forms and the last element or another value: text and back, and what the short forms stand for.
//
// RUN: ft-opt %s | ft-opt | FileCheck %s
// RUN: ft-opt %s --ft-expand | FileCheck %s --check-prefix=EXPANDED

!x = tensor<4x8xf32>
!h = tensor<4x8xf16>

// CHECK-LABEL: func.func @forms
// EXPANDED-LABEL: func.func @forms
// EXPANDED-NOT: ft.{{lowest|scale|broadcast|sigmoid|silu|softmax|layer_norm}}
func.func @forms(%xs: !ft.list<[L], !x>, %s: tensor<f32>, %g: tensor<8xf32>, %c: tensor<4x1xf32>) -> !ft.list<[L], !x> {
  %r = ft.map (%x = %xs : !ft.list<[L], !x>) {
    // CHECK: ft.lowest : tensor<4x8xf32>
    // EXPANDED: arith.constant dense<-3.40282347E+38> : tensor<4x8xf32>
    %lo = ft.lowest : !x
    // CHECK: ft.scale %{{.*}} by %{{.*}} : tensor<4x8xf32>, tensor<f32>
    // EXPANDED: linalg.broadcast ins(%{{.*}} : tensor<f32>)
    // EXPANDED: arith.mulf
    %a = ft.scale %x by %s : !x, tensor<f32>
    // CHECK: ft.broadcast %{{.*}} : tensor<8xf32> to tensor<4x8xf32>
    // EXPANDED: linalg.broadcast ins(%{{.*}} : tensor<8xf32>) {{.*}} dimensions = [0]
    %b = ft.broadcast %g : tensor<8xf32> to !x
    // CHECK: ft.broadcast %{{.*}} : tensor<4x1xf32> to tensor<4x8xf32>
    // EXPANDED: tensor.collapse_shape
    // EXPANDED: linalg.broadcast ins(%{{.*}} : tensor<4xf32>) {{.*}} dimensions = [1]
    %d = ft.broadcast %c : tensor<4x1xf32> to !x
    // CHECK: ft.sigmoid %{{.*}} : tensor<4x8xf32>
    %e = ft.sigmoid %a : !x
    // CHECK: ft.silu %{{.*}} : tensor<4x8xf32>
    %f = ft.silu %b : !x
    // CHECK: ft.softmax %{{.*}} dim 1 : tensor<4x8xf32>
    // EXPANDED: linalg.reduce {{.*}} dimensions = [1]
    %h = ft.softmax %d dim 1 : !x
    // CHECK: ft.layer_norm %{{.*}} scale %{{.*}} shift %{{.*}} epsilon 1.000000e-05 : tensor<4x8xf32>, tensor<8xf32>
    // EXPANDED: math.rsqrt
    %i = ft.layer_norm %x scale %g shift %g epsilon 1.0e-5 : !x, tensor<8xf32>
    %j = arith.addf %e, %f : !x
    %k = arith.addf %h, %i : !x
    %l = arith.maximumf %lo, %j : !x
    %m = arith.addf %k, %l : !x
    ft.yield %m : !x
  }
  return %r : !ft.list<[L], !x>
}

// Narrow floats are computed in f32 and rounded once.
// EXPANDED-LABEL: func.func @narrow
// EXPANDED: arith.extf %{{.*}} : tensor<4x8xf16> to tensor<4x8xf32>
// EXPANDED: arith.truncf %{{.*}} : tensor<4x8xf32> to tensor<4x8xf16>
// EXPANDED-NOT: truncf
func.func @narrow(%x: !h) -> !h {
  %y = ft.softmax %x dim 0 : !h
  return %y : !h
}

// CHECK-LABEL: func.func @integers
// EXPANDED-LABEL: func.func @integers
// EXPANDED: arith.constant dense<-128> : tensor<2xi8>
// EXPANDED: arith.muli
func.func @integers(%s: tensor<i8>) -> tensor<2xi8> {
  %lo = ft.lowest : tensor<2xi8>
  %y = ft.scale %lo by %s : tensor<2xi8>, tensor<i8>
  return %y : tensor<2xi8>
}

// CHECK-LABEL: func.func @last
func.func @last(%xs: !ft.list<[L], !x>, %h0: !x) -> !x {
  // CHECK: ft.last %{{.*}} or %{{.*}} : !ft.list<[L], tensor<4x8xf32>>, tensor<4x8xf32>
  %l = ft.last %xs or %h0 : !ft.list<[L], !x>, !x
  return %l : !x
}
