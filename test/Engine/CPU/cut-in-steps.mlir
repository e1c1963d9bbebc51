// A reduction in shares inside of a kernel whose nests run in step: the cores share it at each step, wait, join it, and wait before what reads it.
// With the order left open the same in a GPU's kernel, emulated.
//
// RUN: ft-opt %s --ft-compile="to=storage machine=%S/../../machines/cpu.json" | FileCheck %s --check-prefix=STEPS
// STEPS: etdg.kernel shared 1
// STEPS: etdg.block @sum_shares [foldl, map, reduce] (t, share, k)
// STEPS: loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>, <dimension = 2, kind = sequential>]
// STEPS: etdg.nest schedule <{{.*}}before = cores
// STEPS: etdg.block @sum_join [foldl, foldl] (t, share)
// STEPS: etdg.block @sum_last [foldl, foldl] (t, share)
// STEPS: etdg.block @step
// STEPS: before = cores
//
// RUN: env FT_NUM_THREADS=3 %ft_bin/ft-run %s --compare=interpret --dim T=5 --dim L=1 | FileCheck %s
// RUN: env FT_NUM_THREADS=2 %ft_bin/ft-run %s --compare=interpret --dim T=5 --dim L=13 | FileCheck %s
// RUN: env FT_NUM_THREADS=3 %ft_bin/ft-run %s --compare=interpret --dim T=5 --dim L=12 --order=random --seed=3 | FileCheck %s
// RUN: sed 's/, sync = cores//; s/, level = core, mapping = block//' %s > %t.mlir
// RUN: %ft_bin/ft-run %t.mlir --engine=emulate --compare=interpret --dim T=3 --dim L=13 | FileCheck %s
// CHECK: {{^equal$}}

etdg.graph @steps(%xs: !etdg.buffer<[T, L], tensor<3xi64>>, %w: !etdg.buffer<[], tensor<3xi64>>) -> !etdg.buffer<[T], tensor<3xi64>> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %h = etdg.buffer : !etdg.buffer<[T], tensor<3xi64>>
  %st = etdg.buffer live [1, 1] : !etdg.buffer<[T, L], tensor<3xi64>>
  etdg.kernel shared 1 {
    etdg.block @sum [foldl, reduce] (t, k) in [0, T) x [0, L)
        reads (%x = %xs[t, k] : tensor<3xi64>, %s = {t = 0 and k = 0: %w[], t >= 1 and k = 0: %h[t - 1], k >= 1: %st[t, k - 1]} : tensor<3xi64>) writes (%st[t, k])
        schedule <map = affine_map<(t, k) -> (t, k)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, tile = 4, kind = associative, level = core, mapping = block>, <dimension = 1, kind = sequential>]> {
      %y = arith.xori %s, %x : tensor<3xi64>
      etdg.yield %y : tensor<3xi64>
    } combine (%a: tensor<3xi64>, %b: tensor<3xi64>) {
      %y = arith.xori %a, %b : tensor<3xi64>
      etdg.yield %y : tensor<3xi64>
    } identity (splat 0 : i64) : !etdg.buffer<[T, L], tensor<3xi64>>, !etdg.buffer<[], tensor<3xi64>>, !etdg.buffer<[T], tensor<3xi64>>, !etdg.buffer<[T, L], tensor<3xi64>>
    etdg.block @step [foldl] (t) in [0, T) reads (%s = %st[t, L - 1] : tensor<3xi64>) writes (%h[t]) {
      %y = arith.addi %s, %s : tensor<3xi64>
      etdg.yield %y : tensor<3xi64>
    } : !etdg.buffer<[T, L], tensor<3xi64>>, !etdg.buffer<[T], tensor<3xi64>>
  }
  etdg.return %h : !etdg.buffer<[T], tensor<3xi64>>
}
