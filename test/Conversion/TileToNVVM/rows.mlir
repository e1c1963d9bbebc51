// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows in registers: which elements a lane has, what it loads, in which order it computes, how lanes join what they have.
//
// RUN: ft-opt %s --convert-tile-to-nvvm --canonicalize | FileCheck %s
// RUN: ft-opt %s --convert-tile-to-nvvm | FileCheck %s --check-prefix=NONE
// NONE-NOT: tile.

// Rows of 24 elements, 8 lanes with accesses of 2: the second access of lanes 4 to 7 is outside, and reads the last two again.
#row = #tile.row<threads = 64, lanes = 8, width = 2>
!lanes = !tile.points<[3], 24, #row>
!points = !tile.points<[3], 24, #row, masked>
!rows = !tile.rows<8x24xf32, #row>
!partial = !tile.rows<8x16xf32, #row>
!value = !tile.rows<8xf32, #tile.sliced<of = #row>>
// CHECK-LABEL: llvm.func @short(
// CHECK-SAME: %[[T:.*]]: i32, %[[IN:.*]]: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>, %[[FIRST:.*]]: i64, %[[N:.*]]: i64, %[[STRIDE:.*]]: i64
llvm.func @short(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %i: i64, %n: i64, %stride: i64) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 11 : i64
  // CHECK-DAG: %[[ACCESSES:.*]] = arith.constant 12 : i64
  // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i64
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[IN8:.*]] = arith.andi %[[T]], %{{.*}} : i32
  // CHECK: %[[LANE:.*]] = arith.extui %[[IN8]] : i32 to i64
  // CHECK: %[[BY8:.*]] = arith.divui %[[T]], %{{.*}} : i32
  // CHECK: %[[GROUP:.*]] = arith.extui %[[BY8]] : i32 to i64
  // CHECK: %[[E0:.*]] = arith.muli %[[LANE]], %[[TWO]] : i64
  // CHECK: %[[A1:.*]] = arith.addi %[[LANE]], %[[EIGHT]] : i64
  // CHECK: %[[HOLDS:.*]] = arith.cmpi slt, %[[A1]], %[[ACCESSES]] : i64
  // CHECK: %[[INSIDE:.*]] = arith.minsi %[[A1]], %[[LAST]] : i64
  // CHECK: %[[E1:.*]] = arith.muli %[[INSIDE]], %[[TWO]] : i64
  %l = tile.lanes %t : !lanes
  // Row r of the leaf has three points; of rows after the last one the last is computed.
  // CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[GROUP]] : i64
  // CHECK: %[[VALID:.*]] = arith.cmpi slt, %[[ROW]], %[[N]] : i64
  // CHECK: %[[END:.*]] = arith.addi %[[N]], %{{.*}} : i64
  // CHECK: %[[AT:.*]] = arith.minsi %[[ROW]], %[[END]] : i64
  // CHECK: %[[R:.*]] = arith.divui %[[AT]], %{{.*}} : i64
  // CHECK: %[[D:.*]] = arith.remui %[[AT]], %{{.*}} : i64
  %p = tile.points %l from %i to %n : !lanes -> !points
  // All loads, each of two elements.
  // CHECK: %[[O0:.*]] = arith.addi %{{.*}}, %[[E0]] : i64
  // CHECK: %[[S0:.*]] = arith.muli %[[R]], %[[STRIDE]] : i64
  // CHECK: %[[X0:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
  // CHECK: arith.addi %{{.*}}, %[[E1]] : i64
  // CHECK: %[[X1:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
  %x = tile.load_rows %p, %in stride %stride at <f32, offset = 0, digits = [24], step = 1> {width = 2 : i64} : !points, !llvm.ptr<1> -> !rows
  // The first access of both members, then the second, which sums leave out where it is outside.
  // CHECK-COUNT-2: math.exp
  // CHECK-COUNT-2: arith.addf %{{.*}}, %[[ZERO]] : f32
  // CHECK-NOT: arith.select
  // CHECK-COUNT-2: math.exp
  // CHECK: %[[SUM:.*]] = arith.addf
  // CHECK: arith.select %[[HOLDS]], %[[SUM]], %{{.*}} : f32
  // CHECK: arith.select %[[HOLDS]]
  %y:2 = tile.sweep (%p, %x) : (!points, !rows) -> (!rows, !partial) {
  ^bb0(%q: !points, %a: !rows):
    %e = tile.map_rows %q(%a) : (!points, !rows) -> !rows {
    ^bb0(%f: f32):
      %g = math.exp %f : f32
      tile.yield %g : f32
    }
    %s = tile.accumulate %q(%e) from (%zero) : (!points, !rows, f32) -> !partial {
    ^bb0(%f: f32, %sum: f32):
      %g = arith.addf %f, %sum : f32
      tile.yield %g : f32
    }
    tile.yield %e, %s : !rows, !partial
  }
  // The lane's two, then those of 8 lanes; no memory, no barrier.
  // CHECK: arith.addf
  // CHECK-COUNT-3: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  // CHECK-NOT: nvvm.barrier
  %w = tile.reduce_rows %p, %y#1 : !points, !partial -> !value {
  ^bb0(%f: f32, %g: f32):
    %d = arith.addf %f, %g : f32
    tile.yield %d : f32
  }
  // CHECK: scf.if %[[VALID]] {
  // CHECK: llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<1>
  // CHECK: scf.if %[[HOLDS]] {
  // CHECK: llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<1>
  tile.store_rows %y#0, %p, %out stride %stride at <f32, offset = 0, digits = [24], step = 1> {width = 2 : i64} : !rows, !points, !llvm.ptr<1>
  // A value for each row is stored by its first lane.
  // CHECK: %[[LEADS:.*]] = arith.cmpi eq, %[[LANE]], %{{.*}} : i64
  // CHECK: %[[ONE:.*]] = arith.andi %[[LEADS]], %[[VALID]] : i1
  // CHECK: scf.if %[[ONE]] {
  // CHECK: arith.addi %[[D]], %{{.*}} : i64
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
  tile.store_rows %w, %p, %out stride %stride at <f32, offset = 5, digits = [1], step = 0> : !value, !points, !llvm.ptr<1>
  llvm.return
}

// 64 lanes, from the line of memory on in which the row begins: 96 elements take two accesses, and 31 lanes more; the third one
// has room for them. Two warps leave what they have in shared memory, from the third reduction's places on.
#long = #tile.row<threads = 64, lanes = 64, line = 32>
!long = !tile.points<[], 96, #long, shifted>
// CHECK-LABEL: llvm.func @long(
// CHECK-SAME: %[[T:.*]]: i32, %[[IN:.*]]: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64, %[[M:.*]]: !llvm.ptr<3>
llvm.func @long(%t: i32, %in: !llvm.ptr<1>, %i: i64, %n: i64, %m: !llvm.ptr<3>, %valid: i1) -> i64 {
  %one = arith.constant 1 : i64
  %l = tile.lanes %t : !tile.points<[], 96, #long>
  // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<1> to i64
  // CHECK: %[[LINE:.*]] = arith.divui %[[ADDRESS]], %{{.*}} : i64
  // CHECK: %[[SHIFT:.*]] = arith.andi %[[LINE]], %{{.*}} : i64
  // CHECK: %[[A:.*]] = arith.subi %{{.*}}, %[[SHIFT]] : i64
  // CHECK: arith.cmpi sge, %[[A]], %{{.*}} : i64
  // CHECK: arith.maxsi %[[A]], %{{.*}} : i64
  // CHECK: arith.subi %{{.*}}, %[[SHIFT]] : i64
  // CHECK: arith.cmpi slt
  // CHECK-NOT: arith.subi
  %p = tile.points %l from %i to %n line %in stride %n at <i64, offset = 0, digits = [], step = 1> : !tile.points<[], 96, #long>, !llvm.ptr<1> -> !long
  // Where rows begin is data, computed for each access; a value for all elements where the condition holds.
  // CHECK: scf.if %{{.*}} -> (i64) {
  // CHECK: llvm.load
  %x = tile.load_rows %p, %in if %valid value %one : i64 at <i64, offset = 0, digits = [], step = 1> : !long, !llvm.ptr<1> -> !tile.rows<1x96xi64, #long> {
    %r = tile.index 0
    %b = arith.muli %r, %r : i64
    tile.yield %b : i64
  }
  %s = tile.accumulate %p(%x) from (%one) : (!long, !tile.rows<1x96xi64, #long>, i64) -> !tile.rows<1x64xi64, #tile.row<threads = 64, lanes = 64>> {
  ^bb0(%f: i64, %sum: i64):
    %g = arith.addi %f, %sum : i64
    tile.yield %g : i64
  }
  // CHECK-COUNT-10: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  // CHECK: %[[LANE:.*]] = arith.andi %[[T]], %{{.*}} : i32
  // CHECK: %[[BASE:.*]] = llvm.getelementptr %[[M]][6] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %{{.*}} : i32
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: %[[WARP:.*]] = arith.shrui %[[T]], %{{.*}} : i32
  // CHECK: llvm.store
  // CHECK: nvvm.barrier
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i64
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  %w = tile.reduce_rows %p, %s through %m {slot = 3 : i64} : !long, !tile.rows<1x64xi64, #tile.row<threads = 64, lanes = 64>> -> !tile.rows<1xi64, #tile.sliced<of = #long>> {
  ^bb0(%f: i64, %g: i64):
    %d = arith.addi %f, %g : i64
    tile.yield %d : i64
  }
  tile.store_rows %w, %p, %in at <i64, offset = 0, digits = [], step = 0> : !tile.rows<1xi64, #tile.sliced<of = #long>>, !long, !llvm.ptr<1>
  llvm.return %one : i64
}
