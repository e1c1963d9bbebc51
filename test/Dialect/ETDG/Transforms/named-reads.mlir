// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A placement names a read by the number that it has where something wrote it: passes that would write the reads of blocks anew leave such a
// graph as it is, and say so; others of the module they change.
//
// RUN: ft-opt %s --ft-compile="to=coarsen" --remarks-filter="coarsen" -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.mlir && FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: ft-opt %s --ft-compile="to=schedule machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=COPIES
//
// REMARK: named-reads.mlir:[[#@LINE+14]]:3: remark: [Missed] named-reads
// REMARK-SAME: Reason="a schedule stages reads by the numbers that they have here: the graph stays as it is", pass=etdg-online
// REMARK: pass=etdg-merge

!x = tensor<1x6xi32>
!w = tensor<6x6xi32>

// The body takes the third read first.
// CHECK-LABEL: etdg.graph @staged
// CHECK: reads (%x = %arg0[i, t] : tensor<1x6xi32>, %x_{{.*}} = %arg1[] : tensor<6x6xi32>, %s = {
// CHECK: linalg.matmul
// CHECK-NEXT: arith.addi
etdg.graph @staged(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %m = %w[] : !w, %s = {t = 0: splat 1 : i32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l2, stages = 3>]> {
    %0 = linalg.matmul ins(%s, %m : !x, !w) outs(%s : !x) -> !x
    %1 = arith.addi %0, %x : !x
    etdg.yield %1 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// COPIES-LABEL: etdg.graph @staged
// COPIES: etdg.kernel shared 1 {
// COPIES-NEXT: etdg.block @b_0 [map] (i | t) in [-2, L - 2)
// COPIES-NEXT: reads (%x = %arg0[i, t + 2] : tensor<1x6xi32>)

// A copy that another graph has is gone.
// CHECK-LABEL: etdg.graph @copied
// CHECK: etdg.block
// CHECK-NEXT: reads (%{{.*}} = %arg0[
// CHECK-NOT: etdg.block
etdg.graph @copied(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %cs = etdg.buffer : !etdg.buffer<[N], !x>
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @c [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%cs[i]) {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.block @y [map] (i) in [0, N) reads (%x = %cs[i] : !x) writes (%ys[i]) {
    %0 = arith.addi %x, %x : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}
