// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along rows: a thread's own elements, then a butterfly among the threads that share the row, by shuffles alone.
//
// RUN: ft-opt %s --convert-tile-to-nvvm | FileCheck %s
// RUN: ft-opt %s --convert-tile-to-nvvm | FileCheck %s --check-prefix=NONE
// NONE-NOT: tile.
// NONE-NOT: nvvm.barrier

// Two rows and four columns of a thread, 8 threads a row: 3 own steps and 3 rounds for each row.
#own = #tile.blocked<vector = [1, 2], threads = [4, 8]>
!t = !tile.registers<8x32xf32, #own>
// CHECK-LABEL: llvm.func @whole(
llvm.func @whole(%x: f32) {
  %lowest = arith.constant 0xFF800000 : f32
  %a = tile.splat %x : f32 -> !t
  %c = tile.map(%a) : (!t) -> !t {
  ^bb0(%e: f32):
    %n = arith.negf %e : f32
    tile.yield %n : f32
  }
  // CHECK-NOT: arith.select
  // CHECK-COUNT-3: arith.maximumf
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[ONE]], %{{.*}} : f32 -> f32
  // CHECK: arith.maximumf
  // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[TWO]], %{{.*}} : f32 -> f32
  // CHECK: arith.maximumf
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[FOUR]], %{{.*}} : f32 -> f32
  // CHECK: %[[FIRST:.*]] = arith.maximumf
  // CHECK-COUNT-3: arith.maximumf
  // CHECK-COUNT-3: nvvm.shfl.sync bfly
  // CHECK: %[[SECOND:.*]] = arith.maximumf
  %m = tile.reduce %c neutral %lowest columns 32 : !t {
  ^bb0(%p: f32, %q: f32):
    %b = arith.maximumf %p, %q : f32
    tile.yield %b : f32
  }
  // What a row has one value of is computed once for each row of a thread.
  // CHECK: math.exp %[[FIRST]]
  // CHECK: math.exp %[[SECOND]]
  // CHECK-NOT: math.exp
  %y = tile.map(%m) : (!t) -> !t {
  ^bb0(%e: f32):
    %n = math.exp %e : f32
    tile.yield %n : f32
  }
  llvm.return
}

// Columns beyond the 19th count as the neutral value; 64 bits go as two words.
!d = !tile.registers<8x32xf64, #own>
// CHECK-LABEL: llvm.func @part(
// CHECK-SAME: %[[X:.*]]: f64
llvm.func @part(%x: f64) {
  %zero = arith.constant 0.0 : f64
  %a = tile.splat %x : f64 -> !d
  // CHECK: arith.constant 19 : i64
  // CHECK: %[[IN:.*]] = arith.cmpi slt
  // CHECK: arith.select %{{.*}}, %[[X]], %{{.*}} : f64
  // CHECK-COUNT-6: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
  %m = tile.reduce %a neutral %zero columns 19 : !d {
  ^bb0(%p: f64, %q: f64):
    %b = arith.addf %p, %q : f64
    tile.yield %b : f64
  }
  llvm.return
}
