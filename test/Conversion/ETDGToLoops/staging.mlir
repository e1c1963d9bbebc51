// A placement has each thread block copy the columns of a read that it needs in every step, before the nest's first loop:
// memory with a part for each of them, loops that are mapped static, and views of the parts in the steps.
//
// RUN: ft-opt %s --convert-etdg-to-loops=target=sm_90a | FileCheck %s
// RUN: ft-opt %s --etdg-validate --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu --convert-loops-to-gpu -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=KERNEL
// RUN: ft-opt %s --etdg-apply-placements=target=sm_90a | FileCheck %s --check-prefix=KEPT
// RUN: ft-opt %S/../../Programs/resident.mlir --ft-compile="to=schedule target=sm_90a" | FileCheck %s --check-prefix=CHOSEN
// RUN: ft-opt %S/../../Programs/resident.mlir --ft-compile="to=schedule target=sm_90a" --remarks-filter="gpu" 2>&1 | FileCheck %s --check-prefix=REMARK

// Layers have their weights: what changes with each step stays where it is, and one thread block takes @layer, whose weights are few.
// CHOSEN-LABEL: etdg.graph @layer(
// CHOSEN-NOT: placements
// CHOSEN-LABEL: etdg.graph @layers(
// CHOSEN: level = grid, mapping = static>, <dimension = 2, tile = 4, kind = parallel, level = grid, mapping = static>]
// CHOSEN-SAME: shared = 232448
// CHOSEN-SAME: placements = [<read = 1, loop = 0, level = shared, stages = 1>]
// CHOSEN-LABEL: etdg.graph @gated(
// CHOSEN: placements = [<read = 1, loop = 0, level = shared, stages = 1>, <read = 3, loop = 0, level = shared, stages = 1>]
// CHOSEN-LABEL: etdg.graph @changing(
// CHOSEN-NOT: placements

// What thread blocks keep over all loops stays said in the schedule.
// KEPT-NOT: etdg.kernel
// KEPT: placements = [<read = 1, loop = 0, level = shared, stages = 1>]

// REMARK: weights stay in shared memory over all steps, 1552 bytes of a thread block

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

// CHECK-LABEL: func.func @rnn_k0(
// Two layers by two tiles of four columns are four parts of 6 x 4 elements.
// CHECK: %[[SIZE:.*]] = arith.constant 96 : index
// CHECK: %[[PARTS:.*]] = loops.alloc %[[SIZE]] parts 4 in <shared> : memref<?xf32>
// CHECK: scf.forall (%[[J:.*]]) in (2) {
// CHECK: loops.chunks (%[[FIRST:.*]], %{{.*}}) = %{{.*}} to %{{.*}} most 4 unit 4 level <grid, static>
// CHECK: arith.divui %[[FIRST]]
// CHECK: scf.forall (%[[ROW:.*]]) in (6)
// CHECK: scf.forall (%[[COLUMN:.*]]) in (4)
// The last tile is short: its last column comes again.
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[COLUMN]]
// CHECK: arith.minsi %[[AT]]
// CHECK: memref.load
// CHECK: memref.store %{{.*}}, %[[PARTS]]
// CHECK: mapping = [#loops.level<thread>]
// CHECK: mapping = [#loops.level<grid, static>]
// CHECK: loops.sync grid
// CHECK: scf.for
// Every step deals both layers, whichever of them it has.
// CHECK: scf.forall (%[[LAYER:.*]]) in (2)
// CHECK: loops.chunks (%[[COLUMN0:.*]], %{{.*}}) = %{{.*}} level <grid, static>
// CHECK: %[[IS:.*]] = arith.cmpi sge, %[[LAYER]]
// CHECK: scf.if
// CHECK: %[[OFFSET:.*]] = arith.subi %{{.*}}, %[[COLUMN0]]
// CHECK: loops.view %[[PARTS]][%[[OFFSET]]] strides [1] {{.*}} memref<?x6x6xf32, strided<[?, 4, 1], offset: ?>>

// The block's own part is at the begin of its shared memory: the view counts from where the first block's would be.
// KERNEL: llvm.func @rnn_k0
// KERNEL: nvvm.read.ptx.sreg.ctaid.x

etdg.graph @rnn(%xs: !etdg.buffer<[L], !x>, %ws: !etdg.buffer<[2], !w>) -> !etdg.buffer<[2, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[2, L], !x>
  etdg.nest schedule <map = affine_map<(t, j) -> (t, j)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
      <dimension = 1, kind = parallel, level = grid, mapping = static>, <dimension = 2, tile = 4, unit = 2, kind = parallel, level = grid, mapping = static>]
      block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
    etdg.block @first [scanl, map] (t, j) in [0, L) x = 0
        reads (%x = %xs[t] : !x, %w = %ws[j] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[j, t - 1]} : !x) writes (%ys[j, t]) {
      %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[2], !w>, !etdg.buffer<[2, L], !x>
    etdg.block @rest [scanl, map] (t, j) in [1, L + 1) x = 1
        reads (%x = %ys[j - 1, t - 1] : !x, %w = %ws[j] : !w, %s = {t - 1 = 0: splat 0.0 : f32, t - 2 >= 0: %ys[j, t - 2]} : !x) writes (%ys[j, t - 1]) {
      %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[2, L], !x>, !etdg.buffer<[2], !w>
  }
  etdg.return %ys : !etdg.buffer<[2, L], !x>
}
