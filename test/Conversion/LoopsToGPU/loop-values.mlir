// Loops of a schedule whose memory is a value, whose iterations a leaf computes at once, and which the threads of a block share.
//
// RUN: ft-opt %s --etdg-schedule-for-gpu=target=sm_90a --convert-etdg-to-loops=target=sm_90a --cse -o %t.mlir
// RUN: FileCheck %s --check-prefix=LOOPS --input-file=%t.mlir
// RUN: ft-opt %t.mlir --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=state --engine=emulate --dim N=5 --dim L=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=numbers --engine=emulate --dim N=1000 --multiprocessors=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
!x = tensor<8xf32>
!n = tensor<1xi64>

// A state begins with a value: whether it is it, and which, is chosen beside the pointer, once for all threads.
// LOOPS-LABEL: func.func @state_k0(
// LOOPS: scf.if %{{.*}} -> (memref<?xf32>, index, index) {
// LOOPS: %[[splat:.*]] = loops.splat %{{.*}} elements 8 rows 1 : f32 -> memref<?xf32>
// LOOPS-NEXT: scf.yield %[[splat]],
// CHECK-LABEL: llvm.func @state_k0(
// CHECK: scf.for %[[k:.*]] = %{{.*}} to %arg1
// CHECK: %[[first:.*]] = arith.cmpi eq, %[[k]],
// CHECK: %[[s:.*]]:5 = scf.if %[[first]] -> (!llvm.ptr<1>, i1, f32, i64, i64) {
// CHECK: %[[yes:.*]] = arith.constant true
// CHECK: %[[half:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: scf.yield %{{.*}}, %[[yes]], %[[half]],
// CHECK: %[[no:.*]] = arith.constant false
// CHECK: scf.yield %arg3, %[[no]],
// CHECK: %[[m:.*]] = tile.memory %{{.*}} : !llvm.ptr<1> rows %[[s]]#4 if %[[s]]#1 value %[[s]]#2 : f32 -> !tile.memory<f32>
// CHECK: tile.nest
// CHECK: tile.read %[[m]] at
etdg.graph @state(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.5 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k]) {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// Rows that count are the first one's number and a step: no memory.
// LOOPS-LABEL: func.func @numbers_k0(
// LOOPS: loops.splat %{{.*}} step %{{.*}} elements 1 rows {{[0-9]+}} : index -> memref<?xi64>
// CHECK-LABEL: llvm.func @numbers_k0(
// CHECK: %[[two:.*]] = arith.constant 2 : i64
// CHECK: arith.muli %{{.*}}, %[[two]] : i64
// Two rows at a time, whose loads come before the stores.
// CHECK: %[[m:.*]] = tile.memory if %{{.*}} value %{{.*}} : i64 step %{{.*}} : i64 -> !tile.memory<i64>
// CHECK: tile.nest %{{.*}} rows(%{{.*}}) loops [] reduced [] layout <threads = {{[0-9]+}}, together = 2> {
// CHECK: %[[x:.*]] = tile.read
// CHECK: %[[number:.*]] = tile.read %[[m]] at <offset = 0, strides = []> : !tile.memory<i64> -> i64
// CHECK: tile.map_points(%[[x]], %[[number]]) : (i64, i64) -> i64 {
// CHECK: tile.write
etdg.graph @numbers(%xs: !etdg.buffer<[N], !n>) -> !etdg.buffer<[N], !n> {
  %ys = etdg.buffer : !etdg.buffer<[N], !n>
  etdg.block @r [map] (i) in [0, N) reads (%x = %xs[i] : !n, %p = index(2 * i + 3) : !n) writes (%ys[i]) {
    %y = arith.addi %x, %p : !n
    etdg.yield %y : !n
  } : !etdg.buffer<[N], !n>, !etdg.buffer<[N], !n>
  etdg.return %ys : !etdg.buffer<[N], !n>
}
