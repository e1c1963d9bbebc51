// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scan in shares: these come to states, which are joined, and go on once more from what those before them came to, since each state is a result. And a
// reduction of which iterations are joined, and these are in shares: those that are left after go on with the state of the last share.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-cut-reductions,etdg-verify,etdg-validate))' | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-join-iterations{iterations=3}))' -o %t.mlir
// RUN: ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-validate,etdg-cut-reductions,etdg-verify,etdg-validate))' | FileCheck %s --check-prefix=JOINED
//
// Integers are the same, whatever the lengths are: of no share, one that is short, several.
// RUN: %python %S/Inputs/cuts.py %ft_bin/ft-run %s %t.mlir | FileCheck %s --check-prefix=EQUAL
// EQUAL: 42 runs, 0 failures

!i = tensor<2xi64>

// CHECK-LABEL: etdg.graph @sums
// CHECK: %[[PARTS:.*]] = etdg.buffer live [all, all, 1] : !etdg.buffer<[N, ceildiv(L, 5), L], tensor<2xi64>>
// CHECK: %[[ALL:.*]] = etdg.buffer : !etdg.buffer<[N, ceildiv(L, 5)], tensor<2xi64>>
// CHECK: etdg.block @r_shares [map, map, scan] (i, share, k) in [0, N) x [0, *) x [max(0, 5 * share), min(L, 5 * share + 5))
// CHECK: etdg.nest {
// CHECK: etdg.block @r_join [map, foldl] (i, share)
// CHECK: writes (%[[ALL]][i, share])
// CHECK: etdg.block @r_last [map, foldl] (i, share)
// CHECK: writes (%[[ALL]][i, share])
// CHECK: etdg.block @r_resumed [map, map, scanl] (i, share, k) in [0, N) x [0, *) x [max(0, 5 * share), min(L, 5 * share + 5))
// CHECK-NEXT: reads (%{{.*}} = %arg0[i, k] : tensor<2xi64>, %{{.*}} = {k = 0: %arg1[i], k >= 5 * share + 1 and k >= 1: %[[YS:.*]][i, k - 1], k >= 1 and k = 5 * share: %[[ALL]][i, share - 1]} : tensor<2xi64>)
// CHECK-NEXT: writes (%[[YS]][i, k])
// CHECK: resumed
etdg.graph @sums(%xs: !etdg.buffer<[N, L], !i>, %ws: !etdg.buffer<[N], !i>) -> !etdg.buffer<[N, L], !i> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !i>
  etdg.block @r [map, scan] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !i, %s = {k = 0: %ws[i], k >= 1: %ys[i, k - 1]} : !i) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, tile = 5, kind = associative>, <dimension = 1, kind = sequential>]> {
    %y = arith.addi %s, %x : !i
    etdg.yield %y : !i
  } combine (%a: !i, %b: !i) {
    %y = arith.addi %a, %b : !i
    etdg.yield %y : !i
  } identity (splat 0 : i64) : !etdg.buffer<[N, L], !i>, !etdg.buffer<[N], !i>, !etdg.buffer<[N, L], !i>
  etdg.return %ys : !etdg.buffer<[N, L], !i>
}

// Three iterations are one, and four of these a share.
// JOINED-LABEL: etdg.graph @total
// JOINED: etdg.block @r_joined_shares [map, map, reduce] (i, share, k) in [0, N) x [0, *) x [max(0, 4 * share), min(floordiv(L, 3), 4 * share + 4))
// JOINED: etdg.cut =
// JOINED: etdg.block @r_joined_join [map, foldl] (i, share)
// JOINED: etdg.block @r_joined_last [map, foldl] (i, share)
// JOINED: writes (%[[ST:.*]][i, floordiv(L, 3) - 1])
// JOINED: etdg.nest schedule <{{.*}}loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]>
// JOINED: etdg.block @r [map, reduce] (i, k) in [0, N) x [floordiv(L, 3), L - 2 * floordiv(L, 3))
// JOINED: writes (%[[ST]][i, k])
etdg.graph @total(%xs: !etdg.buffer<[N, L], !i>, %ws: !etdg.buffer<[N], !i>) -> !etdg.buffer<[N], !i> {
  %st = etdg.buffer : !etdg.buffer<[N, L], !i>
  %ys = etdg.buffer : !etdg.buffer<[N], !i>
  etdg.block @r [map, reduce] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !i, %s = {k = 0: %ws[i], k >= 1: %st[i, k - 1]} : !i) writes (%st[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, tile = 4, kind = associative>, <dimension = 1, kind = sequential>]> {
    %y = arith.addi %s, %x : !i
    etdg.yield %y : !i
  } combine (%a: !i, %b: !i) {
    %y = arith.addi %a, %b : !i
    etdg.yield %y : !i
  } identity (splat 0 : i64) : !etdg.buffer<[N, L], !i>, !etdg.buffer<[N], !i>, !etdg.buffer<[N, L], !i>
  etdg.block @last [map] (i) in [0, N) reads (%s = {L = 0: %ws[i], L >= 1: %st[i, L - 1]} : !i) writes (%ys[i]) {
    etdg.yield %s : !i
  } : !etdg.buffer<[N], !i>, !etdg.buffer<[N, L], !i>, !etdg.buffer<[N], !i>
  etdg.return %ys : !etdg.buffer<[N], !i>
}
