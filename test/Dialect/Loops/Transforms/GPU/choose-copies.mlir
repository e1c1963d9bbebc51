// Which copies to shared memory the threads of a block do not wait for stands in the loops, and where they do: in front of who reads them, for
// the groups that older iterations have begun.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/row.mlir --ft-compile="to=storage target=sm_90a" --convert-etdg-to-loops=target=sm_90a -o %t/loops.mlir
// RUN: FileCheck %s --check-prefix=AHEAD --input-file=%t/loops.mlir
// RUN: ft-opt %t/loops.mlir --loops-decide-for-gpu -o %t/decided.mlir --remarks-filter="gpu" 2> %t/remarks
// RUN: FileCheck %s --input-file=%t/decided.mlir && FileCheck %s --check-prefix=REMARK --input-file=%t/remarks
// RUN: ft-opt %t/decided.mlir --loops-choose-copies --loops-place-syncs | diff - %t/decided.mlir
// RUN: ft-opt %t/decided.mlir --convert-loops-to-gpu -o %t/kernels.mlir && FileCheck %s --check-prefix=KERNEL --input-file=%t/kernels.mlir
// RUN: ft-opt %t/kernels.mlir --tile-lower-kernels | FileCheck %s --check-prefix=LOWER
// A core in the place of each thread block copies where the copy stands.
// RUN: ft-opt %t/decided.mlir --loops-grid-to-cores | FileCheck %s --check-prefix=CORES
// CORES-NOT: loops.{{staged|commit|wait|sync}}
// CORES: return
//
// The weights are there before the first step, an element two steps after it was asked for. A state that the kernel writes is copied where the copy stands.
// AHEAD-LABEL: func.func @row_k0
// AHEAD: scf.for
// AHEAD: loops.leaf
// AHEAD: loops.staged %{{.*}} ahead 2 : memref<?xf32>
//
// CHECK-LABEL: func.func @row_k0
// CHECK: loops.leaf {{.*}} nests [#tile.nest<loops = [1024], async, tiles = <threads = 256, vector = 0, width = 4>, accesses = [4, 4]>]
// CHECK: {loops.syncs = array<i1: false>}
// CHECK: loops.commit
// CHECK-NEXT: loops.wait 0
// CHECK-NEXT: loops.sync block
// CHECK-NEXT: scf.for
// CHECK: loops.leaf {{.*}} nests [#tile.nest<loops = [32], async,
// CHECK: loops.staged %{{.*}} ahead 2 : memref<?xf32>
// CHECK: loops.commit
// CHECK-NEXT: loops.wait 2
// CHECK-NEXT: loops.sync block
// CHECK: scf.if
// CHECK: loops.leaf
// CHECK-LABEL: func.func @state_k1
// CHECK: loops.leaf {{.*}} nests [#tile.nest<loops = [32], rows, tiles =
// CHECK: {loops.syncs = array<i1: true>}
// CHECK: loops.staged %{{.*}} ahead 1 : memref<?xf32>
// CHECK-NOT: loops.{{commit|wait}}
// REMARK-DAG: Reason="threads go on while what they copy to shared memory is on its way
// REMARK-DAG: Reason="threads wait for what they copy to shared memory: the kernel may write what it copies
//
// KERNEL-LABEL: llvm.func @row_k0
// KERNEL: tile.nest {{.*}} loops [1024] reduced [false] layout <threads = 256, vector = 0, width = 4> async {
// KERNEL: tile.commit
// KERNEL-NEXT: tile.wait 0
// KERNEL: nvvm.barrier
// KERNEL: tile.nest {{.*}} async {
// KERNEL: tile.commit
// KERNEL-NEXT: tile.wait 2
// LOWER-LABEL: llvm.func @row_k0
// LOWER: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg
// LOWER: nvvm.cp.async.commit.group
// LOWER: nvvm.cp.async.wait.group 0
// LOWER: nvvm.cp.async.shared.global
// LOWER: nvvm.cp.async.wait.group 2
//
// What is read may not be on its way:
// RUN: sed 's/loops.wait 2/loops.wait 3/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: the GPU engine can't run the loops: what is read may still be on its way to shared memory; expected a wait until at most 2 groups are on their way, found 3
// LATE: note: it is copied here
// RUN: sed '/loops.wait 2/d' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected a loops.wait between the two, in the body that holds both, found none
// RUN: sed '/loops.wait 2/{n;d}' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: expected a loops.sync after the wait, where the threads of a block see what others have copied, found none
// RUN: sed '/loops.commit/d' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: expected a loops.commit between the copy and the wait, found none
// RUN: sed '/loops.staged/d' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=UNSAID
// UNSAID: expected a wait until at most 0 groups are on their way, found 2
//
// Nor does a copy go on whose memory something writes meanwhile, or that is more than one.
// RUN: sed '/func @state_k1/,/return/s/\(rows, \)\(tiles = <[^>]*>, accesses = \[[12], [12]\]>\)/\1async, \2/; /ahead 1 :/aloops.commit\nloops.wait 1\nloops.sync block' %t/decided.mlir \
// RUN:   | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: error: the GPU engine can't run the leaf's nests: threads can't go on while it copies (async): the kernel may write what it copies

//--- row.mlir
!x = tensor<1x32xf32>
!w = tensor<32x32xf32>
etdg.graph @row(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %m = %w[] : !w, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = shared, stages = 3>, <read = 1, loop = 1, level = shared, stages = 1>]> {
    %0 = linalg.matmul ins(%x, %m : !x, !w) outs(%s : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
etdg.graph @state(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @first [map, map] (i, t) in [0, N) x [0, 2) reads (%x = %xs[i, t] : !x) writes (%ys[i, t]) {
    etdg.yield %x : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.block @rest [map, scanl] (i, t) in [0, N) x [2, L) reads (%x = %xs[i, t] : !x, %s = %ys[i, t - 2] : !x) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 1, loop = 2, level = shared, stages = 2>]> {
    %0 = arith.subf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
