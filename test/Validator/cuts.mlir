// T12: what is wrong with shares of a reduction, or with their join.
//
// RUN: %python %S/Inputs/cuts.py ft-opt %s | FileCheck %s
// CHECK: 13 changes, 0 failures
//
// A share is left out, an iteration, or one is in another share.
// \(share, k\) in \[0, \*\) => (share, k) in [1, *): (T12) block @r_shares: of the shares of 4 iterations, an iteration of the whole is in no share
// min\(L, 4 \* share \+ 4\) => min(L, 4 * share + 3): (T12) block @r_shares: of the shares of 4 iterations, an iteration of the whole is in no share
// min\(L, 4 \* share \+ 4\) => min(L, 4 * share + 5): (T12) block @r_shares: of the shares of 4 iterations, a share has an iteration that the whole does not have there
// @r_join \[foldl\] \(share\) in \[0, => @r_join [foldl] (share) in [1,: (T12) block @r_shares: of the shares of 4 iterations, the join leaves a share out
//
// It begins from something else than the identity, or goes on from another share's state.
// and k = 4 \* share: splat 0 : i64 => and k = 4 * share: splat 1 : i64: (T12) block @r_shares: of the shares of 4 iterations, a share begins from something else than 'identity'
// and k >= 1: (%buf_\d+)\[share, k - 1\] => and k >= 1: \1[share, k - 2]: (T12) block @r_shares: of the shares of 4 iterations, a share goes on from another state than that of its iteration before
// \{k >= 4 \* share \+ 1 and k >= 1: (%buf_\d+)\[share, k - 1\], share >= 0 and k = 4 \* share: => {k >= 4 * share + 2 and k >= 1: \1[share, k - 1], k <= 4 * share + 1:: (T12) block @r_shares: of the shares of 4 iterations, a share begins anew after its first iteration
//
// The join takes them in another order, another state of them, or does something else.
// (writes \(%buf_\d+\[share\]\) \{\n *%\S+ = arith.addi) (%\S+), (%\S+) : => \1 \3, \2 :: (T12) block @r_shares: of the shares of 4 iterations, the join: it computes something else than 'combine'
// \[share, 4 \* share \+ 3\] => [share, 4 * share + 2]: (T12) block @r_shares: of the shares of 4 iterations, the join: it joins a state that is not a share's last one
// \[share, L - 1\] => [0, L - 1]: (T12) block @r_shares: of the shares of 4 iterations, the join: it joins another share than its own
// share >= 1: (%buf_\d+)\[share - 1\], share <= 0: splat 5 : i64\} : tensor<i64>, (%\S+) = (%buf_\d+)\[share, 4 => share >= 2: \1[share - 2], share <= 1: splat 5 : i64} : tensor<i64>, \2 = \3[share, 4: (T12) block @r_shares: of the shares of 4 iterations, the join: a share is joined after another one than the share before
// share >= 1: (%buf_\d+)\[share - 1\], share <= 0: splat 5 : i64\} : tensor<i64>, (%\S+) = (%buf_\d+)\[share, 4 => share >= 2: \1[share - 1], share <= 1: splat 5 : i64} : tensor<i64>, \2 = \3[share, 4: (T12) block @r_shares: of the shares of 4 iterations, the join: it begins anew after the first share
// (writes \(%buf_\d+\[share\]\) \{\n *%\S+ = arith.)addi => \1subi: (T12) block @r_shares: of the shares of 4 iterations, the join: it computes something else than 'combine'

etdg.graph @f(%xs: !etdg.buffer<[L], tensor<i64>>) -> !etdg.buffer<[], tensor<i64>> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %p = etdg.buffer : !etdg.buffer<[], tensor<i64>>
  %st = etdg.buffer : !etdg.buffer<[L], tensor<i64>>
  etdg.block @r [reduce] (k) in [0, L)
      reads (%x = %xs[k] : tensor<i64>, %s = {k = 0: splat 5 : i64, k >= 1: %st[k - 1]} : tensor<i64>) writes (%st[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
    %y = arith.addi %s, %x : tensor<i64>
    etdg.yield %y : tensor<i64>
  } combine (%a: tensor<i64>, %b: tensor<i64>) {
    %y = arith.addi %a, %b : tensor<i64>
    etdg.yield %y : tensor<i64>
  } identity (splat 0 : i64) : !etdg.buffer<[L], tensor<i64>>, !etdg.buffer<[L], tensor<i64>>
  etdg.block @last [] () reads (%s = %st[L - 1] : tensor<i64>) writes (%p[]) {
    etdg.yield %s : tensor<i64>
  } : !etdg.buffer<[L], tensor<i64>>, !etdg.buffer<[], tensor<i64>>
  etdg.return %p : !etdg.buffer<[], tensor<i64>>
}
