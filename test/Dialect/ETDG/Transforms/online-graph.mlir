// Blocks with map dimensions of their own around the reduced one, as merging leaves them.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-verify,etdg-online,etdg-verify))' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ft-run %s --engine=interpret --seed=4 --dim N=3 --dim K=7 --out=%t.a.npy --out=%t.a1.npy
// RUN: ft-run %t.mlir --engine=interpret --order=declared --seed=4 --dim N=3 --dim K=7 --out=%t.b.npy --out=%t.b1.npy
// RUN: %python -c "import numpy as n; [n.testing.assert_allclose(n.load('%t.a'+i+'.npy'), n.load('%t.b'+i+'.npy'), rtol=1e-5) for i in ('', '1')]"
// REQUIRES: numpy

!x = !etdg.buffer<[N, K], tensor<4xf32>>
!n = !etdg.buffer<[N], tensor<4xf32>>
!k = !etdg.buffer<[K], tensor<4xf32>>

// The weighted sum has two readers, one of them at other rows (a row and the first): the
// division gets a block of its own. What stood between and needs the sum moves after.
// CHECK-LABEL: etdg.graph @rows
// CHECK: etdg.block @bystander
// CHECK: etdg.block @sums [map, reduce] (i, j) in [0, N) x [0, K)
// CHECK: writes (%{{.*}}[i, j], %{{.*}}[i, j], %{{.*}}[i, j])
// CHECK: combine
// CHECK: etdg.block @online [map] (i) in [0, N)
// CHECK-SAME: where K >= 1
// CHECK: divf
// CHECK: etdg.block @total
// CHECK: etdg.block @first [map] (i) in [0, N)
// CHECK: {K >= 1: %{{.*}}[0], K = 0: splat 0.000000e+00 : f32}
// CHECK-NOT: etdg.block @maximum
etdg.graph @rows(%x: !x {ft.gen = #ft.normal<1>}, %v: !k {ft.gen = #ft.normal<1>}) -> (!n, !n) attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %m = etdg.buffer : !x
  %l = etdg.buffer : !x
  %o = etdg.buffer : !x
  %y = etdg.buffer : !n
  %z = etdg.buffer : !n
  %q = etdg.buffer : !n
  etdg.block @maximum [map, reduce] (i, j) in [0, N) x [0, K)
      reads (%e = %x[i, j] : tensor<4xf32>, %s = {j >= 1: %m[i, j - 1], j = 0: splat -1.0e30 : f32} : tensor<4xf32>)
      writes (%m[i, j]) {
    %1 = arith.maximumf %e, %s : tensor<4xf32>
    etdg.yield %1 : tensor<4xf32>
  } : !x, !x
  etdg.block @sum [map, reduce] (a, b) in [0, N) x [0, K)
      reads (%e = %x[a, b] : tensor<4xf32>, %t = %m[a, K - 1] : tensor<4xf32>, %s = {b >= 1: %l[a, b - 1], b = 0: splat 0.0 : f32} : tensor<4xf32>)
      writes (%l[a, b]) {
    %1 = arith.subf %e, %t : tensor<4xf32>
    %2 = math.exp %1 : tensor<4xf32>
    %3 = arith.addf %2, %s : tensor<4xf32>
    etdg.yield %3 : tensor<4xf32>
  } : !x, !x, !x
  etdg.block @total [map] (i) in [0, N)
      reads (%e = {K >= 1: %l[i, K - 1], K = 0: splat 0.0 : f32} : tensor<4xf32>) writes (%q[i]) {
    %1 = arith.addf %e, %e : tensor<4xf32>
    etdg.yield %1 : tensor<4xf32>
  } : !x, !n
  etdg.block @bystander [map] (i) in [0, N)
      reads (%e = splat 1.0 : f32 : tensor<4xf32>) writes (%z[i]) {
    etdg.yield %e : tensor<4xf32>
  } : !n
  etdg.block @sums [map, reduce] (i, j) in [0, N) x [0, K)
      reads (%e = %x[i, j] : tensor<4xf32>, %u = %v[j] : tensor<4xf32>, %t = %m[i, K - 1] : tensor<4xf32>, %d = %l[i, K - 1] : tensor<4xf32>,
             %s = {j >= 1: %o[i, j - 1], j = 0: splat 0.0 : f32} : tensor<4xf32>)
      writes (%o[i, j]) {
    %1 = arith.subf %e, %t : tensor<4xf32>
    %2 = math.exp %1 : tensor<4xf32>
    %3 = arith.divf %2, %d : tensor<4xf32>
    %4 = arith.mulf %3, %u : tensor<4xf32>
    %5 = arith.addf %s, %4 : tensor<4xf32>
    etdg.yield %5 : tensor<4xf32>
  } : !x, !k, !x, !x, !x
  etdg.block @first [map] (i) in [0, N)
      reads (%e = {K >= 1: %o[i, K - 1], K = 0: splat 0.0 : f32} : tensor<4xf32>,
             %f = {K >= 1: %o[0, K - 1], K = 0: splat 0.0 : f32} : tensor<4xf32>, %g = %q[i] : tensor<4xf32>, %h = %z[i] : tensor<4xf32>) writes (%y[i]) {
    %1 = arith.addf %e, %f : tensor<4xf32>
    %2 = arith.addf %g, %h : tensor<4xf32>
    %3 = arith.addf %1, %2 : tensor<4xf32>
    etdg.yield %3 : tensor<4xf32>
  } : !x, !n, !n, !n
  etdg.return %y, %z : !n, !n
}
