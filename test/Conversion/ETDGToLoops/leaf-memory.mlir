// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves say in which type they add up halves, where they do, and which of their outputs may lie where they read.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/sums.mlir --ft-compile="to=storage target=cpu rounding=exact machine=%S/../../machines/cpu.json" | ft-opt --convert-etdg-to-loops | FileCheck %s
// RUN: ft-opt %t/sums.mlir --ft-compile="to=storage target=sm_90a rounding=exact" | ft-opt --convert-etdg-to-loops=target=sm_90a | FileCheck %s
// CHECK-LABEL: func.func @halves_k0(
// CHECK: loops.leaf {{.*}} sums f32 overlaps []
// A reduction that says f32 itself has nothing to say: its types do.
// CHECK-LABEL: func.func @singles_k0(
// CHECK-NOT: sums
// CHECK: loops.leaf {{.*}} overlaps []
// CHECK-NOT: sums
// CHECK: return
// What is rounded in between is rounded by its type, in memory and in registers: nothing else says so.
// CHECK-LABEL: func.func @points_k0(
// CHECK-NOT: sums
// CHECK: loops.leaf {{.*}} overlaps []
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : tensor<64xf16>
// CHECK: arith.mulf %[[SUM]], %[[SUM]] : tensor<64xf16>

// With excess precision the body's types say it.
// RUN: ft-opt %t/sums.mlir --ft-compile="to=storage target=cpu machine=%S/../../machines/cpu.json" | ft-opt --convert-etdg-to-loops | FileCheck %s --check-prefix=EXCESS
// EXCESS-LABEL: func.func @points_k0(
// EXCESS: loops.leaf {{.*}} overlaps []
// EXCESS: %[[WIDE:.*]] = arith.extf {{.*}} : tensor<64xf16> to tensor<64xf32>
// EXCESS: arith.addf %[[WIDE]], %[[WIDE]] : tensor<64xf32>
// EXCESS: arith.truncf {{.*}} : tensor<64xf32> to tensor<64xf16>

// A result that a call may give the memory of an argument: the copy of what nothing writes is a leaf in place, all others are apart.
// RUN: ft-opt %S/../../Schedule/Apply/bind-in-place.mlir --ft-compile="to=storage target=cpu" | ft-opt --convert-etdg-to-loops | FileCheck %s --check-prefix=BOUND
// RUN: ft-opt %S/../../Schedule/Apply/bind-in-place.mlir --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a | FileCheck %s --check-prefix=BOUND
// BOUND: loops.program @cache {{.*}}in_place = array<i64: 1, 1>
// BOUND: memref.extract_aligned_pointer_as_index
// BOUND: loops.leaf {{.*}} overlaps [#loops.overlap<output = 0, input = 0, in_place>]

//--- sums.mlir
!x = tensor<40x64xf16>
!c = tensor<64xf16>
!y = tensor<40x64xf32>
!d = tensor<64xf32>
func.func @halves(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !c> {
  %z = arith.constant dense<0.0> : !c
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !c> {
    %s = linalg.reduce { arith.addf } ins(%x : !x) outs(%z : !c) dimensions = [0]
    ft.yield %s : !c
  }
  return %ys : !ft.list<[N], !c>
}
func.func @singles(%xs: !ft.list<[N], !y>) -> !ft.list<[N], !d> {
  %z = arith.constant dense<0.0> : !d
  %ys = ft.map (%x = %xs : !ft.list<[N], !y>) -> !ft.list<[N], !d> {
    %s = linalg.reduce { arith.addf } ins(%x : !y) outs(%z : !d) dimensions = [0]
    ft.yield %s : !d
  }
  return %ys : !ft.list<[N], !d>
}
func.func @points(%xs: !ft.list<[N], !c>) -> !ft.list<[N], !c> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !c>) -> !ft.list<[N], !c> {
    %a = arith.addf %x, %x : !c
    %b = arith.mulf %a, %a : !c
    ft.yield %b : !c
  }
  return %ys : !ft.list<[N], !c>
}
