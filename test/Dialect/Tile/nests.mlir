// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests, point by point, printed and read again.
//
// RUN: ft-opt %s | ft-opt | FileCheck %s
// RUN: ft-opt %s --mlir-print-op-generic | ft-opt | FileCheck %s

// CHECK-LABEL: llvm.func @memory(
llvm.func @memory(%p: !llvm.ptr<1>, %s: i64, %c: i1, %v: i64) {
  // CHECK: tile.memory %{{.*}} : !llvm.ptr<1> -> !tile.memory<f32>
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  // CHECK: tile.memory %{{.*}} : !llvm.ptr<1> rows %{{.*}} lifts %{{.*}} -> !tile.memory<i1>
  %b = tile.memory %p : !llvm.ptr<1> rows %s lifts %s -> !tile.memory<i1>
  // CHECK: tile.memory if %{{.*}} value %{{.*}} : i64 step %{{.*}} : i64 lift_step %{{.*}} : i64 -> !tile.memory<i32>
  %d = tile.memory if %c value %v : i64 step %v : i64 lift_step %v : i64 -> !tile.memory<i32>
  llvm.return
}

// CHECK-LABEL: llvm.func @elements(
llvm.func @elements(%t: i32, %p: !llvm.ptr<1>, %n: i64, %f: i64) {
  %a = tile.memory %p : !llvm.ptr<1> rows %n -> !tile.memory<f32>
  // CHECK: tile.nest %{{.*}} rows(%{{.*}}) columns(%{{.*}}, %{{.*}}) of 0 loops [64, 12] reduced [false, false] lifts 4
  // CHECK-SAME: layout <threads = 128, vector = 0, width = 4, tile = 2, rows = true, together = 2> {
  tile.nest %t rows(%n) columns(%f, %n) of 0 loops [64, 12] reduced [false, false] lifts 4
      layout <threads = 128, vector = 0, width = 4, tile = 2, rows = true, together = 2> {
    // CHECK: %[[X:.*]] = tile.read %{{.*}} at <offset = 3, strides = [1, 64]> {width = 4 : i64} : !tile.memory<f32> -> f32
    %x = tile.read %a at <offset = 3, strides = [1, 64]> {width = 4 : i64} : !tile.memory<f32> -> f32
    // CHECK: %[[Y:.*]] = tile.read %{{.*}} at <offset = -1, strides = [1, 64], borders = [<steps = [1, 0], size = 56>], begins = [-1], outside = 5.000000e-01 : f32> : !tile.memory<f32> -> f32
    %y = tile.read %a at <offset = -1, strides = [1, 64], borders = [<steps = [1, 0], size = 56>], begins = [-1], outside = 5.000000e-01 : f32> : !tile.memory<f32> -> f32
    // CHECK: %[[Z:.*]] = tile.map_points(%[[X]], %[[Y]]) : (f32, f32) -> f32 {
    %z = tile.map_points(%x, %y) : (f32, f32) -> f32 {
    ^bb0(%u: f32, %v: f32):
      // CHECK: tile.index 3
      %k = tile.index 3
      %i = arith.sitofp %k : i64 to f32
      %s = arith.addf %u, %v : f32
      %w = arith.mulf %s, %i : f32
      tile.yield %w : f32
    }
    // CHECK: tile.write %[[Z]], %{{.*}} at <offset = 0, strides = [1, 64]> : f32, !tile.memory<f32> {
    // CHECK: %[[L:.*]] = tile.index 1
    // CHECK: tile.yield %[[L]] : i64
    tile.write %z, %a at <offset = 0, strides = [1, 64]> : f32, !tile.memory<f32> {
      %l = tile.index 1
      tile.yield %l : i64
    }
  }
  llvm.return
}

// CHECK-LABEL: llvm.func @sums(
llvm.func @sums(%t: i32, %p: !llvm.ptr<1>, %shared: !llvm.ptr<3>) {
  %h = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f16>
  // CHECK: tile.nest %{{.*}} scratch %{{.*}} loops [3, 200] reduced [false, true] layout <threads = 256, vector = 1, width = 2, lanes = 256, reuse = true, unroll = [0, 4]> {
  tile.nest %t scratch %shared loops [3, 200] reduced [false, true] layout <threads = 256, vector = 1, width = 2, lanes = 256, reuse = true, unroll = [0, 4]> {
    %x = tile.read %h at <offset = 0, strides = [200, 1]> {width = 2 : i64} : !tile.memory<f16> -> f16
    %i = tile.read %h at <offset = 600, strides = [1, 0]> : !tile.memory<f16> -> f16
    // CHECK: tile.reduce_points(%{{.*}}) from(%{{.*}}) neutral [0.000000e+00 : f32] : (f16, f16) -> f16 {
    // CHECK: } combine {
    %s = tile.reduce_points(%x) from(%i) neutral [0.0 : f32] : (f16, f16) -> f16 {
    ^bb0(%u: f16, %a: f32):
      %e = arith.extf %u : f16 to f32
      %b = arith.addf %a, %e : f32
      tile.yield %b : f32
    } combine {
    ^bb0(%u: f32, %v: f32):
      %b = arith.addf %u, %v : f32
      tile.yield %b : f32
    }
    tile.write %s, %h at <offset = 600, strides = [1, 0]> : f16, !tile.memory<f16>
  }
  // CHECK: tile.nest %{{.*}} partials %{{.*}} loops [8, 640] reduced [false, true] layout <threads = 64, slices = 8, granule = 4> {
  tile.nest %t partials %shared loops [8, 640] reduced [false, true] layout <threads = 64, slices = 8, granule = 4> {
  }
  llvm.return
}

// CHECK-LABEL: llvm.func @copies(
// CHECK-SAME: #tile.nest<loops = [64], rows, async, tiles = <threads = 32, vector = 0, width = 4>, accesses = [4, 4]>
llvm.func @copies(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>)
    attributes {l = #tile.nest<loops = [64], rows, async, tiles = <threads = 32, vector = 0, width = 4>, accesses = [4, 4]>} {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  %b = tile.memory %s : !llvm.ptr<3> -> !tile.memory<f32>
  // CHECK: tile.nest %{{.*}} loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> async {
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> async {
    %x = tile.read %a at <offset = 0, strides = [1]> {width = 4 : i64} : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      tile.yield %u : f32
    }
    tile.write %y, %b at <offset = 0, strides = [1]> {width = 4 : i64} : f32, !tile.memory<f32>
  }
  llvm.return
}
