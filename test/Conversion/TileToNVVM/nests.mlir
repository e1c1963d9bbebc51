// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests: which points a thread has, what it loads and in which order, how threads join what they have of a sum.
//
// RUN: ft-opt %s --convert-tile-to-nvvm --canonicalize | FileCheck %s
// RUN: ft-opt %s --convert-tile-to-nvvm | FileCheck %s --check-prefix=NONE
// NONE-NOT: tile.

// CHECK-DAG: #[[COUNT:.*]] = #llvm.loop_unroll<count = 3 : i32>
// CHECK-DAG: #[[THREE:.*]] = #llvm.loop_annotation<unroll = #[[COUNT]]>

// Four adjacent elements are one access: 12 · 64 elements are 192 tiles, for 128 threads.
// CHECK-LABEL: llvm.func @each(
// CHECK-SAME: %[[T:.*]]: i32, %{{.*}}: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>
llvm.func @each(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %s: i64) {
  // CHECK: scf.for %[[TILE:.*]] = %[[T]] to %c192_i32 step %c128_i32
  // CHECK: %[[AT:.*]] = arith.remui %[[TILE]], %c16_i32 : i32
  // CHECK: %[[ROW:.*]] = arith.divui %[[TILE]], %c16_i32 : i32
  // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c4_i64 : i64
  // CHECK: %[[X:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK: %[[X1:.*]] = llvm.extractelement %[[X]][%c1_i32 : i32]
  // CHECK: %[[K1:.*]] = arith.addi %[[COLUMN]], %c1_i64 : i64
  // CHECK: %[[I1:.*]] = arith.sitofp %[[K1]]
  // CHECK: %[[Y1:.*]] = arith.mulf %[[X1]], %[[I1]]
  // CHECK: llvm.store
  // CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST:.*]], %c12_i64 : i64
  // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[OUT]][%[[NEXT]]]
  // CHECK: llvm.store %[[Y1]], %[[PLACE]] {alignment = 4 : i64}
  // CHECK-COUNT-2: llvm.store
  // CHECK-NOT: llvm.store
  %a = tile.memory %in : !llvm.ptr<1> -> !tile.memory<f32>
  %b = tile.memory %out : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [12, 64] reduced [false, false] layout <threads = 128, vector = 1, width = 4> {
    %x = tile.read %a at <offset = 8, strides = [64, 1]> {width = 4 : i64} : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      %k = tile.index 3
      %i = arith.sitofp %k : i64 to f32
      %w = arith.mulf %u, %i : f32
      tile.yield %w : f32
    }
    tile.write %y, %b at <offset = 0, strides = [1, 12]> : f32, !tile.memory<f32>
  }
  llvm.return
}

// A tile of two rows: the last row is repeated where one is missing, and written once. What rows share is read once.
// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME: %[[T:.*]]: i32, %{{.*}}: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>
llvm.func @rows(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i64, %s: i64) {
  // CHECK: scf.for %[[TILE:.*]] = %[[T]] to
  // CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c2_i64 : i64
  // CHECK: %[[LAST:.*]] = arith.addi %[[N:.*]], %c-1_i64 : i64
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c1_i64 : i64
  // CHECK: %[[VALID:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]] : i64
  // CHECK: %[[OTHER:.*]] = arith.minsi %[[NEXT]], %[[LAST]] : i64
  // CHECK: llvm.load
  // CHECK-NOT: llvm.load
  // CHECK: llvm.store
  // CHECK: scf.if %[[VALID]] {
  // CHECK: arith.muli %[[OTHER]], %{{.*}} : i64
  // CHECK: llvm.store
  %a = tile.memory %in : !llvm.ptr<1> -> !tile.memory<f32>
  %b = tile.memory %out : !llvm.ptr<1> rows %s -> !tile.memory<f32>
  tile.nest %t rows(%n) loops [] reduced [] layout <threads = 32, tile = 2, rows = true> {
    %x = tile.read %a at <offset = 0, strides = []> : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      %w = arith.negf %u : f32
      tile.yield %w : f32
    }
    tile.write %y, %b at <offset = 0, strides = []> : f32, !tile.memory<f32>
  }
  llvm.return
}

// The loads of two tiles come before the first store.
// CHECK-LABEL: llvm.func @together(
// CHECK-SAME: %[[T:.*]]: i32, %{{.*}}: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>
llvm.func @together(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
  // CHECK: scf.for %[[TILE:.*]] = %[[T]] to %c968_i32 step %c64_i32
  // CHECK: %[[X:.*]] = llvm.load
  // CHECK: arith.addi %[[TILE]], %c32_i32 : i32
  // CHECK: %[[Y:.*]] = llvm.load
  // CHECK: llvm.store %[[X]]
  // CHECK: llvm.store %[[Y]]
  // CHECK: scf.for %{{.*}} to %c1000_i32 step %c32_i32
  // CHECK: llvm.load
  // CHECK: llvm.store
  %a = tile.memory %in : !llvm.ptr<1> -> !tile.memory<i32>
  %b = tile.memory %out : !llvm.ptr<1> -> !tile.memory<i32>
  tile.nest %t loops [1000] reduced [false] layout <threads = 32, together = 2> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<i32> -> i32
    %y = tile.map_points(%x) : (i32) -> i32 {
    ^bb0(%u: i32):
      tile.yield %u : i32
    }
    tile.write %y, %b at <offset = 0, strides = [1]> : i32, !tile.memory<i32>
  }
  llvm.return
}

// Beyond a border the first element is loaded, and not looked at. Halves are added in f32.
// CHECK-LABEL: llvm.func @border(
// CHECK-SAME: %[[T:.*]]: i32, %{{.*}}: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>
llvm.func @border(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
  // CHECK: scf.for %[[K:.*]] = %c0_i32 to %c3_i32 step %c1_i32 iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c32_i64 : i64
  // CHECK: %[[AT:.*]] = arith.select %[[INSIDE]], %{{.*}}, %c0_i64 : i64
  // CHECK: %[[X:.*]] = llvm.load
  // CHECK: %[[Y:.*]] = arith.select %[[INSIDE]], %[[X]], %{{.*}} : f16
  // CHECK: arith.extf %[[Y]] : f16 to f32
  // CHECK: arith.addf %[[SUM]]
  // CHECK: } {loop_annotation = #[[THREE]]}
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %a = tile.memory %in : !llvm.ptr<1> -> !tile.memory<f16>
  %b = tile.memory %out : !llvm.ptr<1> -> !tile.memory<f16>
  %zero = arith.constant 0.0 : f16
  tile.nest %t loops [32, 3] reduced [false, true] layout <threads = 32, unroll = [1, 3]> {
    %x = tile.read %a at <offset = -1, strides = [1, 1], borders = [<steps = [1, 1], size = 32>], begins = [-1], outside = 0.0 : f16> : !tile.memory<f16> -> f16
    %y = tile.reduce_points(%x) from(%zero) : (f16, f16) -> f16 {
    ^bb0(%u: f16, %v: f32):
      %e = arith.extf %u : f16 to f32
      %w = arith.addf %v, %e : f32
      tile.yield %w : f32
    }
    tile.write %y, %b at <offset = 0, strides = [1, 0]> : f16, !tile.memory<f16>
  }
  llvm.return
}

// A warp shares a sum: shuffles, and its first lane writes.
// CHECK-LABEL: llvm.func @warp(
// CHECK-SAME: %[[T:.*]]: i32, %{{.*}}: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>
llvm.func @warp(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
  // CHECK: %[[WARP:.*]] = arith.shrui %[[T]], %c5_i32 : i32
  // CHECK: %[[LANE:.*]] = arith.andi %[[T]], %c31_i32 : i32
  // CHECK: scf.for %{{.*}} = %[[WARP]] to %c5_i32 step %c2_i32
  // CHECK: scf.for %[[ROUND:.*]] = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%{{.*}} = %c0_i32, %{{.*}} = %c0_i32)
  // CHECK: llvm.load %{{.*}} -> vector<2xi32>
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.load
  // CHECK: %[[LEADS:.*]] = arith.cmpi eq, %[[LANE]], %c0_i32 : i32
  // CHECK: scf.if %[[LEADS]] {
  // CHECK: llvm.store
  %a = tile.memory %in : !llvm.ptr<1> -> !tile.memory<i32>
  %b = tile.memory %out : !llvm.ptr<1> -> !tile.memory<i32>
  tile.nest %t loops [5, 128] reduced [false, true] layout <threads = 64, vector = 1, width = 2, lanes = 32> {
    %x = tile.read %a at <offset = 0, strides = [128, 1]> {width = 2 : i64} : !tile.memory<i32> -> i32
    %z = tile.read %b at <offset = 0, strides = [1, 0]> : !tile.memory<i32> -> i32
    %y = tile.reduce_points(%x) from(%z) neutral [0 : i32] : (i32, i32) -> i32 {
    ^bb0(%u: i32, %v: i32):
      %w = arith.addi %u, %v : i32
      tile.yield %w : i32
    } combine {
    ^bb0(%u: i32, %v: i32):
      %w = arith.addi %u, %v : i32
      tile.yield %w : i32
    }
    tile.write %y, %b at <offset = 0, strides = [1, 0]> : i32, !tile.memory<i32>
  }
  llvm.return
}

// A block of two warps shares one sum after the other: what warps leave is free again when all have read it.
// CHECK-LABEL: llvm.func @block(
// CHECK-SAME: %[[T:.*]]: i32, %{{.*}}: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>
llvm.func @block(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %shared: !llvm.ptr<3>) {
  // CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step %c1_i32
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  // CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: nvvm.barrier0
  // CHECK: arith.cmpi eq, %[[T]], %c0_i32 : i32
  %a = tile.memory %in : !llvm.ptr<1> -> !tile.memory<i32>
  %b = tile.memory %out : !llvm.ptr<1> -> !tile.memory<i32>
  %zero = arith.constant 0 : i32
  tile.nest %t scratch %shared loops [5, 64] reduced [false, true] layout <threads = 64, vector = 1, lanes = 64, reuse = true> {
    %x = tile.read %a at <offset = 0, strides = [64, 1]> : !tile.memory<i32> -> i32
    %y = tile.reduce_points(%x) from(%zero) neutral [0 : i32] : (i32, i32) -> i32 {
    ^bb0(%u: i32, %v: i32):
      %w = arith.addi %u, %v : i32
      tile.yield %w : i32
    } combine {
    ^bb0(%u: i32, %v: i32):
      %w = arith.addi %u, %v : i32
      tile.yield %w : i32
    }
    tile.write %y, %b at <offset = 0, strides = [1, 0]> : i32, !tile.memory<i32>
  }
  llvm.return
}

// Idle threads take slices of a sum, two terms at a time, and give what they have to others in rounds.
// CHECK-LABEL: llvm.func @slices(
// CHECK-SAME: %[[T:.*]]: i32, %{{.*}}: !llvm.ptr<1>, %[[OUT:.*]]: !llvm.ptr<1>
llvm.func @slices(%t: i32, %in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %shared: !llvm.ptr<3>) {
  // CHECK: %[[SLICE:.*]] = arith.divui %[[T]], %c8_i32 : i32
  // CHECK: %[[TILE:.*]] = arith.remui %[[T]], %c8_i32 : i32
  // CHECK: %[[SUM:.*]] = scf.if %{{.*}} -> (i32) {
  // CHECK: scf.for
  // CHECK-COUNT-2: llvm.load
  // CHECK: else
  // CHECK: scf.for {{.*}} iter_args(%[[LEFT:.*]] = %c4_i32, %{{.*}} = %[[SUM]]) -> (i32, i32)
  // CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK: arith.muli %{{.*}}, %c8_i32 : i32
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<1>
  %a = tile.memory %in : !llvm.ptr<1> -> !tile.memory<i32>
  %b = tile.memory %out : !llvm.ptr<1> -> !tile.memory<i32>
  %zero = arith.constant 0 : i32
  tile.nest %t partials %shared loops [8, 128] reduced [false, true] layout <threads = 64, slices = 4, granule = 2> {
    %x = tile.read %a at <offset = 0, strides = [128, 1]> : !tile.memory<i32> -> i32
    %y = tile.reduce_points(%x) from(%zero) neutral [0 : i32] : (i32, i32) -> i32 {
    ^bb0(%u: i32, %v: i32):
      %w = arith.addi %u, %v : i32
      tile.yield %w : i32
    } combine {
    ^bb0(%u: i32, %v: i32):
      %w = arith.addi %u, %v : i32
      tile.yield %w : i32
    }
    tile.write %y, %b at <offset = 0, strides = [1, 0]> : i32, !tile.memory<i32>
  }
  llvm.return
}

// What threads copy while they go on is in no one's registers: 16 bytes at a time, or each element by itself where it lies apart.
// CHECK-LABEL: llvm.func @copies(
llvm.func @copies(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
  // CHECK: scf.for
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
  // CHECK-NOT: nvvm.cp.async
  // CHECK: scf.for
  // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
  // CHECK-NOT: llvm.{{load|store}}
  // CHECK: llvm.return
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  %b = tile.memory %s : !llvm.ptr<3> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> async {
    %x = tile.read %a at <offset = 0, strides = [1]> {width = 4 : i64} : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      tile.yield %u : f32
    }
    tile.write %y, %b at <offset = 0, strides = [1]> {width = 4 : i64} : f32, !tile.memory<f32>
  }
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4, together = 2> async {
    %x = tile.read %a at <offset = 0, strides = [3]> : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      tile.yield %u : f32
    }
    tile.write %y, %b at <offset = 0, strides = [1]> {width = 4 : i64} : f32, !tile.memory<f32>
  }
  llvm.return
}
