// An associative loop that something wrote, in a schedule that leaves the rest open: for cores, for a GPU's thread blocks (their
// loops on the CPU, and their kernels emulated), at lengths below, at and above those of a share. What a sum is rounded to doesn't
// depend on the number of threads.
//
// RUN: ft-opt %s --ft-compile="to=storage machine=%S/../../machines/cpu.json" | FileCheck %s --check-prefix=SHARES
// SHARES: etdg.block @r_shares [map, fold] (share, k) in [0, *)
// SHARES: schedule {{.*}}<dimension = 0, kind = parallel, level = core, mapping = {{block|dynamic}}>, <dimension = 1, kind = sequential>] target = "cpu"
// SHARES-SAME: tile = 100, domain = 
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" | FileCheck %s --check-prefix=GRID
// GRID: etdg.block @r_shares [map, fold] (share, k) in [0, *)
// GRID: schedule {{.*}}<dimension = 0, {{.*}}kind = parallel, level = grid
//
// What is specified for the thread blocks that take the shares is obeyed, too.
// RUN: sed 's/kind = associative>\(.*\)\]> {/kind = associative, level = grid, mapping = cyclic>\1] block = <threads = 64, shared = 98304> target = "sm_90a"> {/' %s > %t.mlir
// RUN: ft-opt %t.mlir --ft-compile="to=storage target=sm_90a" | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: etdg.block @r_shares
// BLOCKS: loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = sequential>] block = <threads = 64,
// RUN: %ft_bin/ft-run %t.mlir --engine=emulate --compare=interpret --dim L=305 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^equal$}}
//
// RUN: %python %S/Inputs/cut-by-hand.py %ft_bin/ft-run %s %t | FileCheck %s
// CHECK: 0 failures

etdg.graph @f(%xs: !etdg.buffer<[L], tensor<3xf32>>, %w: !etdg.buffer<[], tensor<3xf32>>) -> !etdg.buffer<[], tensor<3xf32>> {
  %p = etdg.buffer : !etdg.buffer<[], tensor<3xf32>>
  %st = etdg.buffer live [1] : !etdg.buffer<[L], tensor<3xf32>>
  etdg.block @r [fold] (k) in [0, L)
      reads (%x = %xs[k] : tensor<3xf32>, %s = {k = 0: %w[], k >= 1: %st[k - 1]} : tensor<3xf32>) writes (%st[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 100, kind = associative>, <dimension = 0, kind = sequential>]> {
    %q = arith.mulf %x, %x : tensor<3xf32>
    %y = arith.addf %s, %q : tensor<3xf32>
    etdg.yield %y : tensor<3xf32>
  } combine (%a: tensor<3xf32>, %b: tensor<3xf32>) {
    %y = arith.addf %a, %b : tensor<3xf32>
    etdg.yield %y : tensor<3xf32>
  } identity (splat 0.0 : f32) : !etdg.buffer<[L], tensor<3xf32>>, !etdg.buffer<[], tensor<3xf32>>, !etdg.buffer<[L], tensor<3xf32>>
  etdg.block @last [] () reads (%s = {L = 0: %w[], L >= 1: %st[L - 1]} : tensor<3xf32>) writes (%p[]) {
    etdg.yield %s : tensor<3xf32>
  } : !etdg.buffer<[], tensor<3xf32>>, !etdg.buffer<[L], tensor<3xf32>>, !etdg.buffer<[], tensor<3xf32>>
  etdg.return %p : !etdg.buffer<[], tensor<3xf32>>
}
