// T12: what is wrong with the shares of a scan that go on from the join of those before.
//
// RUN: %python %S/Inputs/cuts.py ft-opt %s | FileCheck %s
// CHECK: 6 changes, 0 failures
//
// From another share's join, from the state that the scan begins with, from its own begin on, or without waiting for the share before.
// k >= 1 and k = 4 \* share: (%\S+)\[share - 1\] => k >= 1 and k = 4 * share: \1[share]: (T12) block @r_resumed: of the shares of 4 iterations, a share goes on from the join of another one than the share before
// k >= 1 and k = 4 \* share: (%\S+)\[share - 1\] => k >= 1 and k = 4 * share and share >= 2: \1[share - 1], k >= 1 and k = 4 * share and share <= 1: splat 5 : i64: (T12) block @r_resumed: of the shares of 4 iterations, a share begins anew after the first one
// k = 0: splat 5 : i64, k >= 4 \* share \+ 1 and k >= 1: (%\S+)\[k - 1\], => k = 0: splat 5 : i64, k >= 4 * share and k >= 1: \1[k - 1],: (T12) block @r_resumed: of the shares of 4 iterations, a share goes on from a state of another one, for which it does not wait
// k = 0: splat 5 : i64, k >= 4 \* share \+ 1 and k >= 1: (%\S+)\[k - 1\], => k = 0: splat 5 : i64, k >= 4 * share + 1 and k >= 1: \1[k - 2],: (T12) block @r_resumed: of the shares of 4 iterations, a share goes on from another state than that of its iteration before
//
// It computes something else, or other iterations.
// (writes \(%ys\S*\[k\]\)[^{]*\{[^{]*\{\n *%\S+ = arith.|writes \(%buf_?\d*\[k\]\)(?:.|\n)*?arith\.)addi => \1subi: (T12) block @r_resumed: of the shares of 4 iterations, it computes something else than the shares that are joined
// (@r_resumed .* )min\(L, 4 \* share \+ 4\) => \1min(L, 4 * share + 3): (T12) block @r_resumed: of the shares of 4 iterations, an iteration of the whole is in no share

etdg.graph @f(%xs: !etdg.buffer<[L], tensor<i64>>) -> !etdg.buffer<[L], tensor<i64>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<i64>>
  etdg.block @r [scan] (k) in [0, L)
      reads (%x = %xs[k] : tensor<i64>, %s = {k = 0: splat 5 : i64, k >= 1: %ys[k - 1]} : tensor<i64>) writes (%ys[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
    %y = arith.addi %s, %x : tensor<i64>
    etdg.yield %y : tensor<i64>
  } combine (%a: tensor<i64>, %b: tensor<i64>) {
    %y = arith.addi %a, %b : tensor<i64>
    etdg.yield %y : tensor<i64>
  } identity (splat 0 : i64) : !etdg.buffer<[L], tensor<i64>>, !etdg.buffer<[L], tensor<i64>>
  etdg.return %ys : !etdg.buffer<[L], tensor<i64>>
}
