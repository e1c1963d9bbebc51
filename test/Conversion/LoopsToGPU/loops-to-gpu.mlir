// Loops that are given or changed make the kernels that they say: nothing is known of them but their text.
//
// RUN: ft-opt %s "--convert-etdg-to-loops=target=sm_90a multiprocessors=7" --cse > %t.mlir
// RUN: ft-opt %t.mlir --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROGRAM < %t.mlir
// PROGRAM: loops.program @steps lengths ["L", "N"] places [] for <target = "sm_90a", machine = "h200", units = 7>
// The module, its launch plan, and a kernel whose blocks wait after each step: as many as there are SMs.
// CHECK: gpu.module @steps [#nvvm.target<{{.*}}>] attributes {tile.plan = "{{.*}}\22kernels\22:[\22steps_k0\22]{{.*}}\22grid\22:[7,1,1]{{.*}}\22cooperative\22:true,\22shrinks\22:true{{.*}}tile.target = "sm_90a"}
// CHECK: llvm.func @steps_k0(
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>
// CHECK: %[[number:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK: %[[blocks:.*]] = arith.extui %[[number]] : i32 to i64
// CHECK: scf.for %{{.*}} = {{.*}} step %[[blocks]]
// CHECK: atom.add.acq_rel.gpu.global.u32
// CHECK-NOT: loops.
//
// Another number of threads and of blocks:
// RUN: sed 's/threads = 64/threads = 128/; s/shared = 65536>>/shared = 65536>, most = 5>/' %t.mlir | ft-opt --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: \22grid\22:[5,1,1],\22block\22:[128,1,1]
// BLOCKS: nvvm.maxntid = array<i32: 128, 1, 1>
//
// Columns in another unit: a task has more of them.
// RUN: sed 's/most 8 unit 4 level/most 8 unit 8 level/' %t.mlir | ft-opt --loops-decide-for-gpu --convert-loops-to-gpu > %t.unit.mlir
// RUN: ft-opt %t.mlir --loops-decide-for-gpu --convert-loops-to-gpu > %t.same.mlir
// RUN: not cmp %t.unit.mlir %t.same.mlir
//
// Dealt in shares: one range for each block, its iterations one after the other; and a grid that may not shrink.
// RUN: sed 's/level <grid, cyclic>/level <grid, block>/' %t.mlir | ft-opt --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=SHARES
// SHARES: llvm.func @steps_k0(
// SHARES: scf.for %{{.*}} = %{{[0-9]+}} to %{{[0-9]+}} step %c1
// RUN: sed 's/level <grid, cyclic>/level <grid, static>/' %t.mlir | ft-opt --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=FIXED
// FIXED: \22cooperative\22:true,\22shrinks\22:false
//
// Without a sync nothing waits, and the launch is an ordinary one.
// RUN: sed '/loops.sync/d' %t.mlir | ft-opt --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=HASTY
// HASTY: \22cooperative\22:false
// HASTY-NOT: atom.add
//
// A machine of one's own choice, and another target:
// RUN: ft-opt %t.mlir --loops-decide-for-gpu "--convert-loops-to-gpu=target=sm_80" | FileCheck %s --check-prefix=AMPERE
// AMPERE: tile.target = "sm_80"
//
// And on to the instructions:
// RUN: ft-opt %t.mlir --loops-decide-for-gpu --convert-loops-to-gpu --tile-lower-kernels | FileCheck %s --check-prefix=TARGET
// TARGET: llvm.func @steps_k0(
// TARGET-NOT: scf.
// TARGET: llvm.return
//
// As phases: `threads` goes by way of the loops, `target` goes on from its kernels.
// RUN: ft-opt %s --ft-compile="from=storage to=threads target=sm_90a" | FileCheck %s --check-prefix=TILE
// TILE: llvm.func @steps_k0(
// TILE: scf.for
// RUN: ft-opt %s --ft-compile="from=storage to=target target=sm_90a" | FileCheck %s --check-prefix=TARGET
// RUN: ft-opt %s --ft-compile="from=storage to=threads target=sm_90a" | ft-opt --ft-compile="from=threads to=target target=sm_90a" \
// RUN:   | FileCheck %s --check-prefix=TARGET

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
