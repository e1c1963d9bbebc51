// RUN: ft-opt %s --verify-roundtrip | FileCheck %s
// RUN: ft-opt %s --mlir-print-op-generic | ft-opt | FileCheck %s
// RUN: ft-opt %s --etdg-verify | FileCheck %s

!x = tensor<1x512xf32>
!w = tensor<512x512xf32>
!xs = !etdg.buffer<[N, L], tensor<1x512xf32>>
!ws = !etdg.buffer<[D], tensor<512x512xf32>>
!ys = !etdg.buffer<[N, D, L], tensor<1x512xf32>>

// The four regions of Listing 1 (FT Fig. 4).
// CHECK-LABEL: etdg.graph @stacked_rnn
// CHECK-SAME: (%[[XS:.*]]: !etdg.buffer<[N, L], tensor<1x512xf32>>, %[[WS:.*]]: !etdg.buffer<[D], tensor<512x512xf32>>)
// CHECK: %[[YS:.*]] = etdg.buffer {name_hint = "ysss"} : !etdg.buffer<[N, D, L], tensor<1x512xf32>>
// CHECK: etdg.nest {
// CHECK: etdg.block @r0 [map, scanl, scanl] (i, j, k) in [0, N) x = 0 x = 0 where D >= 1 and L >= 1
// CHECK-NEXT: reads (%[[X:.*]] = %[[XS]][i, k] : tensor<1x512xf32>, %{{.*}} = %[[WS]][j] : tensor<512x512xf32>, %{{.*}} = splat 0.000000e+00 : f32 : tensor<1x512xf32>)
// CHECK-NEXT: writes (%[[YS]][i, j, k]) {
// CHECK: etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L)
// CHECK-NEXT: reads (%{{.*}} = %[[YS]][i, j - 1, k] : tensor<1x512xf32>, %{{.*}} = %[[WS]][j] : tensor<512x512xf32>, %{{.*}} = %[[YS]][i, j, k - 1] : tensor<1x512xf32>)
// CHECK: etdg.return %[[YS]] : !etdg.buffer<[N, D, L], tensor<1x512xf32>>
etdg.graph @stacked_rnn(%xss: !xs, %ws: !ws) -> !ys {
  %ysss = etdg.buffer {name_hint = "ysss"} : !ys
  etdg.nest {
    etdg.block @r0 [map, scanl, scanl] (i, j, k) in [0, N) x [0, min(1, D)) x [0, min(1, L))
        reads (%x = %xss[i, k] : !x, %w = %ws[j] : !w, %s = splat 0.0 : f32 : !x)
        writes (%ysss[i, j, k]) {
      %y = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
      etdg.yield %y : !x
    } : !xs, !ws, !ys
    etdg.block @r1 [map, scanl, scanl] (i, j, k) in [0, N) x [0, min(1, D)) x [1, L)
        reads (%x = %xss[i, k] : !x, %w = %ws[j] : !w, %s = %ysss[i, j, k - 1] : !x)
        writes (%ysss[i, j, k]) {
      %y = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
      etdg.yield %y : !x
    } : !xs, !ws, !ys
    etdg.block @r2 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [0, min(1, L))
        reads (%x = %ysss[i, j - 1, k] : !x, %w = %ws[j] : !w, %s = splat 0.0 : f32 : !x)
        writes (%ysss[i, j, k]) {
      %y = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
      etdg.yield %y : !x
    } : !ys, !ws
    etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L)
        reads (%x = %ysss[i, j - 1, k] : !x, %w = %ws[j] : !w, %s = %ysss[i, j, k - 1] : !x)
        writes (%ysss[i, j, k]) {
      %y = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
      etdg.yield %y : !x
    } : !ys, !ws
  }
  etdg.return %ysss : !ys
}

// A graph block with a private buffer, a fold with live planes, combine, pieces
// and a read of the last plane.
// CHECK-LABEL: etdg.graph @softmax_sum
// CHECK-SAME: attributes {ft.bounds = #ft.bounds<"N >= 1">}
// CHECK: etdg.assume "K" in [1, 4096] typical [128, 256]
// CHECK: %[[OUT:.*]] = etdg.buffer : !etdg.buffer<[N], tensor<1xf32>>
// CHECK: etdg.block @outer [map] (i) in [0, N) {
// CHECK: %[[S:.*]] = etdg.buffer live [1] : !etdg.buffer<[K], tensor<1xf32>>
// CHECK: etdg.block @sum [reduce] (i | k) in [0, K)
// CHECK-NEXT: reads (%[[X:.*]] = %{{.*}}[i, k] : tensor<1xf32>, %{{.*}} = {k = 0: splat 0.000000e+00 : f32, k >= 1: %[[S]][k - 1]} : tensor<1xf32>)
// CHECK-NEXT: writes (%[[S]][k]) {
// CHECK: } combine (%[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<1xf32>) {
// CHECK: } identity (splat 0.000000e+00 : f32) :
// CHECK: etdg.block @last [] (i |)
// CHECK-NEXT: reads (%{{.*}} = {K >= 1: %[[S]][K - 1], K <= 0: splat 0.000000e+00 : f32} : tensor<1xf32>)
// CHECK-NEXT: writes (%[[OUT]][i]) {
etdg.graph @softmax_sum(%xs: !etdg.buffer<[N, K], tensor<1xf32>>) -> !etdg.buffer<[N], tensor<1xf32>>
    attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  etdg.assume "K" in [1, 4096] typical [128, 256]
  %out = etdg.buffer : !etdg.buffer<[N], tensor<1xf32>>
  etdg.block @outer [map] (i) in [0, N) {
    %s = etdg.buffer live [1] : !etdg.buffer<[K], tensor<1xf32>>
    etdg.block @sum [reduce] (i | k) in [0, K)
        reads (%x = %xs[i, k] : tensor<1xf32>, %t = {k = 0: splat 0.0 : f32, k >= 1: %s[k - 1]} : tensor<1xf32>)
        writes (%s[k]) {
      %e = math.exp %x : tensor<1xf32>
      %y = arith.addf %e, %t : tensor<1xf32>
      etdg.yield %y : tensor<1xf32>
    } combine (%a: tensor<1xf32>, %b: tensor<1xf32>) {
      %y = arith.addf %a, %b : tensor<1xf32>
      etdg.yield %y : tensor<1xf32>
    } identity (splat 0.0 : f32) : !etdg.buffer<[N, K], tensor<1xf32>>, !etdg.buffer<[K], tensor<1xf32>>
    etdg.block @last [] (i |)
        reads (%x = {K >= 1: %s[K - 1], K <= 0: splat 0.0 : f32} : tensor<1xf32>)
        writes (%out[i]) {
      etdg.yield %x : tensor<1xf32>
    } : !etdg.buffer<[K], tensor<1xf32>>, !etdg.buffer<[N], tensor<1xf32>>
  }
  etdg.return %out : !etdg.buffer<[N], tensor<1xf32>>
}

// Index sources, gathers, element dimensions, divisions, constants, schedules.
// CHECK-LABEL: etdg.graph @sources
// CHECK: %[[C:.*]] = etdg.constant dense<{{.*}}> : tensor<2xf32> as !etdg.buffer<[], tensor<2xf32>>
// CHECK: etdg.block @gather [map, map] (i, j) in [0, N) x [0, min(N, 2 * N - i + 1))
// CHECK-NEXT: reads (%{{.*}} = %{{.*}}[%{{.*}}[i], floordiv(j, 2)] : tensor<2xf32>, %{{.*}} = index(i + 1) : tensor<i64>, %{{.*}} = %[[C]][] : tensor<2xf32>,
// CHECK-SAME: %{{.*}} = elem (e0) {e0 = 0: splat 1.000000e+00 : f32, e0 >= 1: %{{.*}}[i, mod(j, 2), e0 - 1]} : tensor<2xf32>)
// CHECK-NEXT: writes (%{{.*}}[i, N - j - 1])
// CHECK-NEXT: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential>, <dimension = 1, tile = 4, kind = parallel, level = core>, <dimension = 1, kind = vector>] placements = [<read = 0, loop = 1, level = l2, stages = 2>]> attributes {note = 1 : i64} {
etdg.graph @sources(%xs: !etdg.buffer<[M, N], tensor<2xf32>>, %idx: !etdg.buffer<[N], tensor<1xi32>>)
    -> !etdg.buffer<[N, N], tensor<2xf32>> attributes {ft.bounds = #ft.bounds<"N >= 2", "M >= N">} {
  %out = etdg.buffer : !etdg.buffer<[N, N], tensor<2xf32>>
  %c = etdg.constant dense<[1.0, 2.0]> : tensor<2xf32> as !etdg.buffer<[], tensor<2xf32>>
  etdg.kernel shared 1 {
    etdg.block @gather [map, map] (i, j) in [0, N) x [0, N) where i + j <= 2 * N
        reads (%x = %xs[%idx[i], floordiv(j, 2)] : tensor<2xf32>, %n = index(i + 1) : tensor<i64>,
               %k = %c[] : tensor<2xf32>,
               %e = elem (a) {a = 0: splat 1.0 : f32, a > 0: %xs[i, mod(j, 2), a - 1]} : tensor<2xf32>)
        writes (%out[i, N - 1 - j])
        schedule <map = affine_map<(d0, d1) -> (d0 + d1, d1)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, tile = 4, kind = parallel, level = core>, <dimension = 1, kind = vector>] placements = [<read = 0, loop = 1, level = l2, stages = 2>]>
        attributes {note = 1 : i64} {
      etdg.yield %x : tensor<2xf32>
    } : !etdg.buffer<[M, N], tensor<2xf32>>, !etdg.buffer<[N], tensor<1xi32>>, !etdg.buffer<[], tensor<2xf32>>, !etdg.buffer<[N, N], tensor<2xf32>>
  }
  etdg.return %out : !etdg.buffer<[N, N], tensor<2xf32>>
}

// Domains: equalities, several bounds, absent bounds, no dimensions.
// CHECK-LABEL: etdg.graph @domains
// CHECK: etdg.block @eq [map, scanl] (i, j) in [0, N) x = 0{{$}}
// CHECK: etdg.block @max [map, scanl] (i, j) in [0, N) x [max(1, i - 3), min(N, i + 1))
// CHECK: etdg.block @rest [map, scanl] (i, j) in [0, N) x [max(1, i + 1), N){{$}}
// CHECK: etdg.block @low [map, scanl] (i, j) in [0, N) x [1, i - 3){{$}}
// CHECK: etdg.block @where [map, map] (i, j) in [0, *) x [0, *) where i >= mod(j, 3) and i + 3 * j + 2 <= 2 * N and 2 * j + 1 <= N
// CHECK: etdg.block @zero [] ()
etdg.graph @domains(%x: !etdg.buffer<[N], tensor<f32>>) -> (!etdg.buffer<[N, N], tensor<f32>>, !etdg.buffer<[], tensor<f32>>) {
  %y = etdg.buffer : !etdg.buffer<[N, N], tensor<f32>>
  %z = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  etdg.nest {
    etdg.block @eq [map, scanl] (i, j) in [0, N) x = 0 reads (%a = %x[i] : tensor<f32>) writes (%y[i, j]) {
      etdg.yield %a : tensor<f32>
    } : !etdg.buffer<[N], tensor<f32>>, !etdg.buffer<[N, N], tensor<f32>>
    etdg.block @max [map, scanl] (i, j) in [0, N) x [max(1, i - 3), min(N, i + 1)) reads (%a = %x[i] : tensor<f32>) writes (%y[i, j]) {
      etdg.yield %a : tensor<f32>
    } : !etdg.buffer<[N], tensor<f32>>, !etdg.buffer<[N, N], tensor<f32>>
    etdg.block @rest [map, scanl] (i, j) in [0, N) x [max(1, i + 1), N) where j >= i - 3 reads (%a = %x[i] : tensor<f32>) writes (%y[i, j]) {
      etdg.yield %a : tensor<f32>
    } : !etdg.buffer<[N], tensor<f32>>, !etdg.buffer<[N, N], tensor<f32>>
    etdg.block @low [map, scanl] (i, j) in [0, N) x [1, *) where j < i - 3 reads (%a = %x[i] : tensor<f32>) writes (%y[i, j]) {
      etdg.yield %a : tensor<f32>
    } : !etdg.buffer<[N], tensor<f32>>, !etdg.buffer<[N, N], tensor<f32>>
  }
  %w = etdg.buffer : !etdg.buffer<[2 * N, N], tensor<f32>>
  etdg.block @where [map, map] (i, j) in [0, *) x [0, *) where i >= mod(j, 3) and i + 3 * j < 2 * N - 1 and 2 * j < N
      reads (%a = splat 1.0 : f32 : tensor<f32>) writes (%w[i, j]) {
    etdg.yield %a : tensor<f32>
  } : !etdg.buffer<[2 * N, N], tensor<f32>>
  etdg.block @zero [] () reads (%a = splat 1.0 : f32 : tensor<f32>) writes (%z[]) {
    etdg.yield %a : tensor<f32>
  } : !etdg.buffer<[], tensor<f32>>
  etdg.return %y, %z : !etdg.buffer<[N, N], tensor<f32>>, !etdg.buffer<[], tensor<f32>>
}

// What an argument's length says holds: L >= 2.
// CHECK-LABEL: etdg.graph @argument_length
etdg.graph @argument_length(%x: !etdg.buffer<[L - 2], tensor<f32>>, %z: !etdg.buffer<[L], tensor<f32>>) -> !etdg.buffer<[], tensor<f32>> {
  %y = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  etdg.block [] () reads (%a = %z[1] : tensor<f32>) writes (%y[]) {
    etdg.yield %a : tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[], tensor<f32>>
  etdg.return %y : !etdg.buffer<[], tensor<f32>>
}

// Parts of divisions are canonical, too.
// CHECK-LABEL: etdg.graph @parts
// CHECK: reads (%{{.*}} = %{{.*}}[floordiv(6 * L - i - 2, 6), mod(6 * L - i - 2, 6)] : tensor<f32>, %{{.*}} = index(
etdg.graph @parts(%x: !etdg.buffer<[L, 6], tensor<f32>>) {
  %y = etdg.buffer : !etdg.buffer<[6 * L], tensor<f32>>
  etdg.block [map] (i) in [0, 6 * L - 1)
      reads (%a = %x[floordiv(6 * L - i - 1 - 1, 6), mod(6 * L - 1 - i - 1, 6)] : tensor<f32>,
             %b = index(mod(i, 4) - 3 * floordiv(i, 4) - L + 3 * ceildiv(2 * L, 3) - 4) : tensor<i64>)
      writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !etdg.buffer<[L, 6], tensor<f32>>, !etdg.buffer<[6 * L], tensor<f32>>
  etdg.return
}
