// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element that an argument keeps is read as one of its new version: the version goes through another buffer whole, as
// what stays where it is is not there.
//
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-bind-in-place,etdg-verify))" | FileCheck %s

!row = tensor<4xf32>
!rows = !etdg.buffer<[9], !row>

// Rows 0 to 3 are new, and made of rows 5 to 8, which are not.
// CHECK-LABEL: etdg.graph @again
// CHECK-SAME: etdg.in_place = array<i64: 0, 0>
// CHECK: %[[RESULT:.*]] = etdg.buffer : !etdg.buffer<[9], tensor<4xf32>>
// CHECK: %[[OWN:.*]] = etdg.buffer : !etdg.buffer<[9], tensor<4xf32>>
// CHECK: etdg.block @kept
// CHECK-NEXT: reads (%{{.*}} = %arg0[i]
// CHECK-NEXT: writes (%[[OWN]][i])
// CHECK: etdg.block @made
// CHECK-NEXT: reads (%{{.*}} = %arg0[3 - i] : tensor<4xf32>, %{{.*}} = %[[OWN]][i + 5] : tensor<4xf32>)
// CHECK-NEXT: writes (%[[OWN]][i])
// CHECK: etdg.block [map] (i0) in [0, 9)
// CHECK-NEXT: reads (%{{.*}} = %[[OWN]][i0] : tensor<4xf32>)
// CHECK-NEXT: writes (%[[RESULT]][i0])
etdg.graph @again(%old: !rows) -> !rows attributes {tssa.writeback = array<i64: 0, 0>} {
  %new = etdg.buffer : !rows
  etdg.block @kept [map] (i) in [4, 9) reads (%x = %old[i] : !row) writes (%new[i]) {
    etdg.yield %x : !row
  } : !rows, !rows
  etdg.block @made [map] (i) in [0, 4) reads (%x = %old[3 - i] : !row, %y = %new[i + 5] : !row) writes (%new[i]) {
    %z = arith.addf %x, %y : !row
    etdg.yield %z : !row
  } : !rows, !rows
  etdg.return %new : !rows
}
