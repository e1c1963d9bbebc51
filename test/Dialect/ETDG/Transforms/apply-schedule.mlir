// RUN: ft-opt %s --etdg-apply-schedule --etdg-verify -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ft-run %t.mlir --entry=stacked --engine=interpret --order=declared --compare=interpret --dim N=2 --dim D=5 --dim L=3
// RUN: ft-run %t.mlir --entry=skewed --engine=interpret --order=declared --compare=interpret --dim A=5 --dim C=3
// RUN: ft-run %t.mlir --entry=skewed --engine=interpret --order=declared --compare=interpret --dim A=3 --dim C=1

// The regions of a stacked scan (FT Fig. 4) in one wavefront: ranges and maps of
// Table 5, as corrected.
// CHECK-LABEL: @stacked
// CHECK: etdg.nest schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]>
// CHECK: @r0 [scanl, map, map] (t, j, i) in = 0 x = 0 x [0, N) where D >= 1 and L >= 1
// CHECK: @r1 [scanl, map, map] (t, j, i) in [1, L) x = 0 x [0, N)
// CHECK: @r2 [scanl, map, map] (t, j, i) in [1, D) x = t x [0, N)
// CHECK: @r3 [scanl, map, map] (t, j, i) in [2, D + L - 1) x [max(1, t - L + 1), min(D, t)) x [0, N)
// CHECK-NEXT: reads (%{{.*}} = %[[B:.*]][i, j - 1, t - j] : {{.*}}, %{{.*}} = %{{.*}}[j] : {{.*}}, %{{.*}} = %[[B]][i, j, t - j - 1] :
// CHECK-NEXT: writes (%[[B]][i, j, t - j])
etdg.graph @stacked(%xss: !etdg.buffer<[N, L], tensor<1xi32>>, %ws: !etdg.buffer<[D], tensor<1xi32>>) -> !etdg.buffer<[N, D, L], tensor<1xi32>> {
  %b = etdg.buffer : !etdg.buffer<[N, D, L], tensor<1xi32>>
  etdg.nest schedule <map = affine_map<(i, j, k) -> (j + k, j, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]> {
    etdg.block @r0 [map, scanl, scanl] (i, j, k) in [0, N) x = 0 x = 0 where D >= 1 and L >= 1
        reads (%x = %xss[i, k] : tensor<1xi32>, %w = %ws[j] : tensor<1xi32>, %s = splat 0 : i32 : tensor<1xi32>)
        writes (%b[i, j, k]) {
      %m = arith.muli %x, %w : tensor<1xi32>
      %y = arith.addi %m, %s : tensor<1xi32>
      etdg.yield %y : tensor<1xi32>
    } : !etdg.buffer<[N, L], tensor<1xi32>>, !etdg.buffer<[D], tensor<1xi32>>, !etdg.buffer<[N, D, L], tensor<1xi32>>
    etdg.block @r1 [map, scanl, scanl] (i, j, k) in [0, N) x = 0 x [1, L) where D >= 1 and L >= 1
        reads (%x = %xss[i, k] : tensor<1xi32>, %w = %ws[j] : tensor<1xi32>, %s = %b[i, j, k - 1] : tensor<1xi32>)
        writes (%b[i, j, k]) {
      %m = arith.muli %x, %w : tensor<1xi32>
      %y = arith.addi %m, %s : tensor<1xi32>
      etdg.yield %y : tensor<1xi32>
    } : !etdg.buffer<[N, L], tensor<1xi32>>, !etdg.buffer<[D], tensor<1xi32>>, !etdg.buffer<[N, D, L], tensor<1xi32>>
    etdg.block @r2 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x = 0 where D >= 1 and L >= 1
        reads (%x = %b[i, j - 1, k] : tensor<1xi32>, %w = %ws[j] : tensor<1xi32>, %s = splat 0 : i32 : tensor<1xi32>)
        writes (%b[i, j, k]) {
      %m = arith.muli %x, %w : tensor<1xi32>
      %y = arith.addi %m, %s : tensor<1xi32>
      etdg.yield %y : tensor<1xi32>
    } : !etdg.buffer<[N, D, L], tensor<1xi32>>, !etdg.buffer<[D], tensor<1xi32>>
    etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L) where D >= 1 and L >= 1
        reads (%x = %b[i, j - 1, k] : tensor<1xi32>, %w = %ws[j] : tensor<1xi32>, %s = %b[i, j, k - 1] : tensor<1xi32>)
        writes (%b[i, j, k]) {
      %m = arith.muli %x, %w : tensor<1xi32>
      %y = arith.addi %m, %s : tensor<1xi32>
      etdg.yield %y : tensor<1xi32>
    } : !etdg.buffer<[N, D, L], tensor<1xi32>>, !etdg.buffer<[D], tensor<1xi32>>
  }
  etdg.return %b : !etdg.buffer<[N, D, L], tensor<1xi32>>
}

// A distance (1, -1) asks for t = 2 a + c; c = t - 2 a. Loops in another order than the
// rows, a constant offset, and a dimension whose bounds have a coefficient of 2.
// CHECK-LABEL: @skewed
// CHECK: @r [scanl, map] (t, a) in [3, 2 * A + C + 1) x [0, A) where 2 * a + C + 2 >= t and t >= 2 * a + 3
etdg.graph @skewed(%x: !etdg.buffer<[A, C], tensor<1xi32>>) -> !etdg.buffer<[A, C], tensor<1xi32>> {
  %b = etdg.buffer : !etdg.buffer<[A, C], tensor<1xi32>>
  etdg.block @r [scanl, scanl] (a, c) in [0, A) x [0, C)
      reads (%o = {a >= 1 and c + 2 <= C: %b[a - 1, c + 1], a = 0: splat 0 : i32, a >= 1 and c + 1 >= C: splat 1 : i32} : tensor<1xi32>,
             %p = {c >= 1: %b[a, c - 1], c = 0: %x[a, c]} : tensor<1xi32>)
      writes (%b[a, c])
      schedule <map = affine_map<(a, c) -> (a, 2 * a + c + 3)>, loops = [<dimension = 1, kind = sequential>, <dimension = 0, kind = parallel>]> {
    %s = arith.addi %o, %p : tensor<1xi32>
    etdg.yield %s : tensor<1xi32>
  } : !etdg.buffer<[A, C], tensor<1xi32>>, !etdg.buffer<[A, C], tensor<1xi32>>
  etdg.return %b : !etdg.buffer<[A, C], tensor<1xi32>>
}

// Bounds that contradict each other at all allowed lengths imply any other: each loop keeps its own.
// CHECK-LABEL: @contradiction
// CHECK: @b [scanl, scanl, scanl] (i, t, k) in [5, N) x [i, i + M) x [0, K) where N <= 3
etdg.graph @contradiction(%xs: !etdg.buffer<[N, M, K], tensor<1xf32>>) -> !etdg.buffer<[N, M, K], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, M, K], tensor<1xf32>>
  etdg.block @a [map, map, map] (i, j, k) in [0, N) x [0, M) x [0, K) reads (%x = %xs[i, j, k] : tensor<1xf32>) writes (%ys[i, j, k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[N, M, K], tensor<1xf32>>, !etdg.buffer<[N, M, K], tensor<1xf32>>
  etdg.block @b [map, map, map] (i, j, k) in [5, N) x [0, M) x [0, K) where 3 >= N reads (%x = %xs[i, j, k] : tensor<1xf32>) writes (%ys[i, j, k])
      schedule <map = affine_map<(i, j, k) -> (i, i + j, k)>> {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[N, M, K], tensor<1xf32>>, !etdg.buffer<[N, M, K], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[N, M, K], tensor<1xf32>>
}
