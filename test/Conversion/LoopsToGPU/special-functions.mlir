// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions of f32 by the special function unit: which divisions may be products with a reciprocal is said in the loops; the rest is a rewrite
// of kernels, in the bodies of what they do with tiles.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/logistic.mlir --ft-compile="to=tile target=sm_90a" -o %t/tile.mlir && FileCheck %s --check-prefix=SAID --input-file=%t/tile.mlir
// RUN: ft-opt %t/tile.mlir --loops-choose-divisions | diff - %t/tile.mlir
// A constant of at most 1 by 1 and what is not negative; not a variable, nor by what may be near 0.
// SAID-LABEL: func.func @logistic_k0
// SAID: arith.divf %{{.*}}, %{{.*}} fastmath<arcp> : tensor<64xf32>
// SAID: arith.divf %{{.*}}, %{{.*}} : tensor<64xf32>
// SAID: arith.divf %{{.*}}, %{{.*}} : tensor<64xf32>
// What is specified is what is made.
// RUN: ft-opt %t/tile.mlir --convert-loops-to-gpu | ft-opt --pass-pipeline="builtin.module(gpu.module(tile-use-special-functions))" | FileCheck %s --check-prefix=MADE
// MADE: tile.map_points
// MADE: llvm.inline_asm {{.*}}"rcp.approx.ftz.f32 $0, $1;"
// MADE: arith.divf
// MADE: arith.divf
// RUN: sed 's/ fastmath<arcp>//' %t/tile.mlir | ft-opt --convert-loops-to-gpu | ft-opt --pass-pipeline="builtin.module(gpu.module(tile-use-special-functions))" | FileCheck %s --check-prefix=UNSAID
// UNSAID-NOT: rcp.approx

// RUN: ft-opt %t/functions.mlir --tile-use-special-functions | FileCheck %s
// CHECK-LABEL: llvm.func @exp
// CHECK: arith.minimumf
// CHECK: llvm.inline_asm {{.*}}"ex2.approx.ftz.f32 $0, $1;"
// CHECK: arith.shli
// CHECK-NOT: math.exp
// CHECK-LABEL: llvm.func @exp_of_half
// CHECK-NEXT: math.exp %{{.*}} fastmath<afn>
// CHECK-NEXT: llvm.return
// CHECK-LABEL: llvm.func @tanh
// CHECK: rcp.approx.ftz.f32
// CHECK: math.copysign
// CHECK-LABEL: llvm.func @logarithms
// CHECK: "lg2.approx.f32 $0, $1;"
// CHECK: arith.mulf
// CHECK: "lg2.approx.f32 $0, $1;"
// CHECK-NEXT: "rsqrt.approx.f32 $0, $1;"
// Other types and plain divisions are not its business.
// CHECK-LABEL: llvm.func @others
// CHECK-NEXT: math.exp %{{.*}} : f64
// CHECK-NEXT: arith.divf %{{.*}} : f32

//--- logistic.mlir
func.func @logistic(%xs: !ft.list<[N], tensor<64xf32>>) -> !ft.list<[N], tensor<64xf32>> {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<64xf32>>) -> !ft.list<[N], tensor<64xf32>> {
    %one = arith.constant dense<1.0> : tensor<64xf32>
    %small = arith.constant dense<0.5> : tensor<64xf32>
    %n = arith.negf %x : tensor<64xf32>
    %e = math.exp %n : tensor<64xf32>
    %s = arith.addf %one, %e : tensor<64xf32>
    %q = arith.divf %one, %s : tensor<64xf32>
    %r = arith.divf %x, %s : tensor<64xf32>
    %t = arith.addf %small, %e : tensor<64xf32>
    %u = arith.divf %one, %t : tensor<64xf32>
    %v = arith.addf %q, %r : tensor<64xf32>
    %y = arith.addf %v, %u : tensor<64xf32>
    ft.yield %y : tensor<64xf32>
  }
  return %ys : !ft.list<[N], tensor<64xf32>>
}
//--- functions.mlir
llvm.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  llvm.return %y : f32
}
llvm.func @exp_of_half(%x: f32) -> f32 {
  %y = math.exp %x fastmath<afn> : f32
  llvm.return %y : f32
}
llvm.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  llvm.return %y : f32
}
llvm.func @logarithms(%x: f32) -> f32 {
  %y = math.log %x : f32
  %z = math.log2 %y : f32
  %u = math.rsqrt %z : f32
  llvm.return %u : f32
}
llvm.func @others(%x: f64, %y: f32, %z: f32) -> f32 {
  %e = math.exp %x : f64
  %q = arith.divf %y, %z : f32
  llvm.return %q : f32
}
