// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows in registers, printed and read again.
//
// RUN: ft-opt %s | ft-opt | FileCheck %s
// RUN: ft-opt %s --mlir-print-op-generic | ft-opt | FileCheck %s

// CHECK-DAG: #[[ONE:row[0-9]*]] = #tile.row<threads = 256, lanes = 32, width = 2, line = 32>
// CHECK-DAG: #[[ROW:row[0-9]*]] = #tile.row<threads = 256, lanes = 32, width = 2, rows = 2, line = 32>
// CHECK-DAG: #[[LANE:row[0-9]*]] = #tile.row<threads = 256, lanes = 32, width = 2, rows = 2>
// CHECK-DAG: #[[ONES:sliced[0-9]*]] = #tile.sliced<of = #[[ONE]]>
// CHECK-DAG: #[[SLICED:sliced[0-9]*]] = #tile.sliced<of = #[[ROW]]>
#one = #tile.row<threads = 256, lanes = 32, width = 2, line = 32>
#row = #tile.row<threads = 256, lanes = 32, width = 2, rows = 2, line = 32>
#lane = #tile.row<threads = 256, lanes = 32, width = 2, rows = 2>
#sliced = #tile.sliced<of = #row>
!lanes = !tile.points<[3], 130, #one>
!points = !tile.points<[3], 130, #row, masked, shifted>
!rows = !tile.rows<16x130xf32, #row>
!partial = !tile.rows<16x64xf32, #lane>
!value = !tile.rows<16xf32, #sliced>

// CHECK-LABEL: llvm.func @rows(
llvm.func @rows(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %i: i64, %n: i64, %c: i1, %v: i64, %zero: f32) {
  // CHECK: %[[L:.*]] = tile.lanes %{{.*}} : !tile.points<[3], 130, #[[ONE]]>
  %l = tile.lanes %t : !lanes
  // CHECK: %[[P:.*]] = tile.points %[[L]] from %{{.*}} to %{{.*}} line %{{.*}} stride %{{.*}} at <f32, offset = 2, digits = [130], step = 1> : !tile.points<[3], 130, #[[ONE]]>, !llvm.ptr<1> -> !tile.points<[3], 130, #[[ROW]], masked, shifted>
  %p = tile.points %l from %i to %n line %in stride %i at <f32, offset = 2, digits = [130], step = 1> : !lanes, !llvm.ptr<1> -> !points
  // CHECK: tile.load_rows %[[P]], %{{.*}} stride %{{.*}} at <f32, offset = 2, digits = [130], step = 1> {width = 2 : i64} : !tile.points<[3], 130, #[[ROW]], masked, shifted>, <1> -> !tile.rows<16x130xf32, #[[ROW]]>
  %x = tile.load_rows %p, %in stride %i at <f32, offset = 2, digits = [130], step = 1> {width = 2 : i64} : !points, !llvm.ptr<1> -> !rows
  // CHECK: tile.load_rows %[[P]], %{{.*}} at <f32, offset = 0, digits = [0], step = 0> {uniform} : !tile.points<[3], 130, #[[ROW]], masked, shifted>, <1> -> !tile.rows<16xf32, #[[SLICED]]>
  %s = tile.load_rows %p, %in at <f32, offset = 0, digits = [0], step = 0> {uniform} : !points, !llvm.ptr<1> -> !value
  // CHECK: tile.load_rows %[[P]], %{{.*}} stride %{{.*}} if %{{.*}} value %{{.*}} : i64 step %{{.*}} : i64 at <i32, offset = 0, digits = [0], step = 1> : {{.*}} {
  // CHECK: %[[R:.*]] = tile.index 0
  // CHECK: tile.yield %[[R]] : i64
  %k = tile.load_rows %p, %in stride %i if %c value %v : i64 step %v : i64 at <i32, offset = 0, digits = [0], step = 1> : !points, !llvm.ptr<1> -> !tile.rows<16x130xi32, #row> {
    %r = tile.index 0
    tile.yield %r : i64
  }
  // CHECK: %[[Y:.*]]:2 = tile.sweep(%[[P]], %{{.*}}, %{{.*}}) : ({{.*}}) -> (!tile.rows<16x130xf32, #[[ROW]]>, !tile.rows<16x64xf32, #[[LANE]]>) {
  %y:2 = tile.sweep (%p, %x, %s) : (!points, !rows, !value) -> (!rows, !partial) {
  ^bb0(%q: !points, %a: !rows, %b: !value):
    // CHECK: %[[E:.*]] = tile.map_rows %{{.*}}(%{{.*}}, %{{.*}}) :
    %e = tile.map_rows %q(%a, %b) : (!points, !rows, !value) -> !rows {
    ^bb0(%f: f32, %g: f32):
      // CHECK: tile.index 2
      %at = tile.index 2
      %h = arith.uitofp %at : i64 to f32
      %d = arith.mulf %f, %h : f32
      tile.yield %d : f32
    }
    // CHECK: tile.accumulate %{{.*}}(%[[E]]) from(%{{.*}}) :
    %t1 = tile.accumulate %q(%e) from (%zero) : (!points, !rows, f32) -> !partial {
    ^bb0(%f: f32, %sum: f32):
      %d = arith.addf %sum, %f : f32
      tile.yield %d : f32
    }
    tile.yield %e, %t1 : !rows, !partial
  }
  // CHECK: %[[W:.*]] = tile.reduce_rows %[[P]], %[[Y]]#1 : {{.*}} -> !tile.rows<16xf32, #[[SLICED]]> {
  %w = tile.reduce_rows %p, %y#1 : !points, !partial -> !value {
  ^bb0(%f: f32, %g: f32):
    %d = arith.addf %f, %g : f32
    tile.yield %d : f32
  }
  // CHECK: tile.store_rows %[[W]], %[[P]], %{{.*}} at <f32, offset = 0, digits = [1], step = 0> :
  tile.store_rows %w, %p, %out at <f32, offset = 0, digits = [1], step = 0> : !value, !points, !llvm.ptr<1>
  // CHECK: tile.spread %{{.*}} : !tile.rows<8xf32, #[[ONES]]> -> !tile.rows<16xf32, #[[SLICED]]>
  %same = tile.map_rows %l() : (!lanes) -> !tile.rows<8xf32, #tile.sliced<of = #one>> {
    tile.yield %zero : f32
  }
  %all = tile.spread %same : !tile.rows<8xf32, #tile.sliced<of = #one>> -> !value
  llvm.return
}

// What a thread block shares goes through shared memory.
#long = #tile.row<threads = 256, lanes = 256>
// CHECK-LABEL: llvm.func @block(
llvm.func @block(%t: i32, %m: !llvm.ptr<3>, %one: i64) {
  %l = tile.lanes %t : !tile.points<[], 1000, #long>
  %x = tile.accumulate %l() from (%one) : (!tile.points<[], 1000, #long>, i64) -> !tile.rows<1x256xi64, #long> {
  ^bb0(%sum: i64):
    tile.yield %sum : i64
  }
  // CHECK: tile.reduce_rows %{{.*}}, %{{.*}} through %{{.*}} {slot = 3 : i64} :
  %s = tile.reduce_rows %l, %x through %m {slot = 3 : i64} : !tile.points<[], 1000, #long>, !tile.rows<1x256xi64, #long> -> !tile.rows<1xi64, #tile.sliced<of = #long>> {
  ^bb0(%f: i64, %g: i64):
    %d = arith.addi %f, %g : i64
    tile.yield %d : i64
  }
  llvm.return
}
