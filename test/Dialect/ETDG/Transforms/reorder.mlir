// RUN: ft-opt %s --split-input-file --pass-pipeline='builtin.module(etdg.graph(etdg-verify,etdg-reorder,etdg-verify))' --remarks-filter='reorder.*' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// FT Fig. 5 and 6: the regions with the column dimension, the product a child
// over t1. Every column needs the whole row of the layer below: (0, 1, 0, *).
// Dimensions (t5, t4, t3, t2); T as Fig. 6 prints it.
!y = !etdg.buffer<[N, D, L, 512], tensor<f32>>
!w = !etdg.buffer<[D, 512, 512], tensor<f32>>
!p = !etdg.buffer<[512], tensor<f32>>
// REMARK: remark: [Passed] transform
// REMARK-SAME: "t4 + t3 sequential, t4 parallel, t5 parallel, t2 parallel"
// REMARK-SAME: T="{{\[\[}}0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]"
// REMARK-SAME: distances="(0, 1, 0, {{[^)]*}}), (0, 0, 1, 0)"
// REMARK-SAME: steps-after="D + L - 1", steps-before="D * L"
// CHECK: #[[T:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d1 + d2, d1, d0, d3)>
// CHECK: etdg.graph @fig6
// CHECK: etdg.nest schedule <map = #[[T]], loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>, <dimension = 3, kind = parallel>]>
etdg.graph @fig6(%n: !etdg.buffer<[N, L], tensor<f32>>, %ws: !w) -> !y {
  %y = etdg.buffer : !y
  etdg.nest {
    etdg.block @edge [map, scanl, scanl, map] (t5, t4, t3, t2) in [0, N) x = 0 x [0, L) x [0, 512) where D >= 1
        reads (%a = splat 0.0 : f32 : tensor<f32>) writes (%y[t5, t4, t3, t2]) {
      etdg.yield %a : tensor<f32>
    } : !y
    etdg.block @region3 [map, scanl, scanl, map] (t5, t4, t3, t2) in [0, N) x [1, D) x [0, L) x [0, 512) {
      %p = etdg.buffer : !p
      etdg.block @product [reduce] (t5, t4, t3, t2 | t1) in [0, 512)
          reads (%x = %y[t5, t4 - 1, t3, t1] : tensor<f32>, %w = %ws[t4, t1, t2] : tensor<f32>,
                 %s = {t1 = 0: splat 0.0 : f32, t1 >= 1: %p[t1 - 1]} : tensor<f32>)
          writes (%p[t1]) {
        %0 = arith.mulf %x, %w : tensor<f32>
        %1 = arith.addf %s, %0 : tensor<f32>
        etdg.yield %1 : tensor<f32>
      } : !y, !w, !p
      etdg.block @state [] (t5, t4, t3, t2 |)
          reads (%x = %p[511] : tensor<f32>,
                 %s = {t3 = 0: splat 0.0 : f32, t3 >= 1: %y[t5, t4, t3 - 1, t2]} : tensor<f32>)
          writes (%y[t5, t4, t3, t2]) {
        %0 = arith.addf %x, %s : tensor<f32>
        etdg.yield %0 : tensor<f32>
      } : !p, !y
    }
  }
  etdg.return %y : !y
}
