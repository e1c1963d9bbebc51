// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where nothing can be dealt to thread blocks, a remark says that one of them runs all of it.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu" -o /dev/null 2>&1 | FileCheck %s
// CHECK: one-block.mlir:[[#@LINE+8]]:{{.*}} remark: [Missed] one-block | Category:gpu | Remark="one thread block runs all of it: no points do not wait, and what a point computes has no columns that could be shared"
// CHECK-NOT: one-block

!s = tensor<f32>
func.func @ordered(%xs: !ft.list<[L], !s>) -> !ft.list<[L], !s> attributes {ft.lengths = {L = 1048576 : i64}} {
  %z = arith.constant dense<0.5> : !s
  %r = ft.scanl (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) {
    %p = arith.mulf %a, %x : !s
    %n = math.tanh %p : !s
    ft.yield %n : !s
  }
  return %r : !ft.list<[L], !s>
}

func.func @dealt(%xs: !ft.list<[L], !s>) -> !ft.list<[L], !s> attributes {ft.lengths = {L = 1048576 : i64}} {
  %r = ft.map (%x = %xs : !ft.list<[L], !s>) {
    %n = math.tanh %x : !s
    ft.yield %n : !s
  }
  return %r : !ft.list<[L], !s>
}
