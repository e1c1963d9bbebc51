// Kernels and a launch plan from the structured loops of a schedule: tasks that thread blocks count.
//
// RUN: ft-opt %s --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s
// CHECK: gpu.module @steps [#nvvm.target<{{.*}}>] attributes {tile.plan = "{{.*}}\22kernels\22:[\22steps_k0\22]{{.*}}\22cooperative\22:true{{.*}}tile.target = "sm_90a"}
// CHECK: llvm.func @steps_k0(
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>
// A step: the grid's columns and rows as tasks, every `blocks`-th one is this block's.
// CHECK: scf.for %[[k:.*]] =
// CHECK: %[[block:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[blocks:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK: scf.for %[[task:.*]] =
// CHECK: arith.remui %[[task]]
// The state of the step before, or none.
// CHECK: scf.if {{.*}} -> (!llvm.ptr{{.*}}, i64, i64)
// CHECK: barrier0
// CHECK: atom.add.acq_rel.gpu.global.u32

#id2 = affine_map<(d0, d1) -> (d0, d1)>
!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

etdg.graph @steps(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = #id2, loops = [<dimension = 1, kind = sequential, sync = grid>,
        <dimension = 2, tile = ?, unit = 4, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, tile = ?, most = 3, kind = parallel, level = grid, mapping = cyclic>,
        <dimension = 0, most = 3, kind = parallel, level = rows>] block = <threads = 64, shared = 65536> columns = 8 target = "sm_90a"> {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
