// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions of kernels are polynomials, divisions that round up truncate; what a GPU has an instruction for stays, and what has no
// rule is refused.
//
// RUN: ft-opt %s --tile-expand-math --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @known
// CHECK-NOT: math.tanh
// CHECK-NOT: arith.ceildivsi
// CHECK: math.fma
// CHECK: arith.divsi
// CHECK: math.sqrt
func.func @known(%x: f32, %n: i64, %m: i64) -> (f32, i64) {
  %y = math.tanh %x : f32
  %d = arith.ceildivsi %n, %m : i64
  %z = math.sqrt %y : f32
  return %z, %d : f32, i64
}

// -----

func.func @unknown(%x: f80) -> f80 {
  // expected-error@+1 {{has no rule on the GPU for 'f80'}}
  %y = math.tanh %x : f80
  return %y : f80
}
