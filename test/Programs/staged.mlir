// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ft-opt %s --etdg-validate --etdg-apply-placements --etdg-verify --etdg-validate -o /dev/null
// RUN: sed 's/level = l2/level = shared/' %s > %t.mlir
// RUN: ft-opt %t.mlir --etdg-validate --etdg-apply-placements=target=sm_90a --etdg-verify --etdg-validate -o /dev/null
//
// Placements of reads at loops that one unit runs: test/Engine/Emulator/staged.mlir runs them on both targets.

!x = tensor<1x6xi32>
!w = tensor<6x6xi32>
!c = tensor<1x4xi32>

// An element two steps ahead, and weights once a row.
etdg.graph @row(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %m = %w[] : !w, %s = {t = 0: splat 1 : i32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l2, stages = 3>, <read = 1, loop = 1, level = l2, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %m : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// All that the loop over j reads, one iteration of k ahead; what does not change with k is there before it; an element for each j.
etdg.graph @tile(%as: !etdg.buffer<[N, K], !c>, %bs: !etdg.buffer<[K, 3], !c>, %cs: !etdg.buffer<[N, 3], !c>) -> !etdg.buffer<[N, K, 3], !c> {
  %ys = etdg.buffer : !etdg.buffer<[N, K, 3], !c>
  etdg.block @p [map, scanl, map] (i, k, j) in [0, N) x [0, K) x [0, 3)
      reads (%a = %as[i, k] : !c, %b = %bs[k, -j + 2] : !c, %c = %cs[i, j] : !c, %s = {k = 0: splat 3 : i32, k >= 1: %ys[i, k - 1, -j + 2]} : !c) writes (%ys[i, k, j])
      schedule <map = affine_map<(i, k, j) -> (i, k, j)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>]
          placements = [<read = 1, loop = 2, level = l2, stages = 2>, <read = 2, loop = 1, level = l2, stages = 1>, <read = 0, loop = 3, level = l2, stages = 2>]> {
    %0 = arith.muli %a, %b : !c
    %1 = arith.addi %0, %s : !c
    %2 = arith.subi %1, %c : !c
    etdg.yield %2 : !c
  } : !etdg.buffer<[N, K], !c>, !etdg.buffer<[K, 3], !c>, !etdg.buffer<[N, 3], !c>, !etdg.buffer<[N, K, 3], !c>
  etdg.return %ys : !etdg.buffer<[N, K, 3], !c>
}

// The state of four steps before is there two iterations ahead, in pieces, and elements from where an index says.
etdg.graph @lag(%xs: !etdg.buffer<[N], !c>, %at: !etdg.buffer<[N, L], tensor<i64>> {ft.gen = #ft.index<0, N>}) -> !etdg.buffer<[N, L], !c>
    attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !c>
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[%at[i, t]] : !c, %s = {t < 4: splat 2 : i32, t >= 4: %ys[i, t - 4]} : !c) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l2, stages = 2>, <read = 1, loop = 2, level = l2, stages = 3>]> {
    %0 = arith.muli %s, %s : !c
    %1 = arith.addi %0, %x : !c
    etdg.yield %1 : !c
  } : !etdg.buffer<[N], !c>, !etdg.buffer<[N, L], tensor<i64>>, !etdg.buffer<[N, L], !c>
  etdg.return %ys : !etdg.buffer<[N, L], !c>
}

// Two regions of a nest, of which each has copies of its own, and a range that depends on the loop outside.
etdg.graph @regions(%xs: !etdg.buffer<[N, L], !c>, %zs: !etdg.buffer<[L], !c>) -> !etdg.buffer<[N, L], !c> attributes {ft.bounds = #ft.bounds<"N >= 2">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !c>
  etdg.nest schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]
      placements = [<read = 0, loop = 2, level = l2, stages = 2>]> {
    etdg.block @first [scanl, map] (t, i) in [0, L) x = 0
        reads (%x = %zs[t] : !c, %s = {t = 0: splat 5 : i32, t >= 1: %ys[N - 1, t - 1]} : !c) writes (%ys[i, t]) {
      %0 = arith.subi %s, %x : !c
      etdg.yield %0 : !c
    } : !etdg.buffer<[L], !c>, !etdg.buffer<[N, L], !c>
    etdg.block @rest [scanl, map] (t, i) in [0, L) x [1, N)
        reads (%x = %xs[i - 1, t] : !c, %s = {t = 0: splat 7 : i32, t >= 1: %ys[i - 1, t - 1]} : !c) writes (%ys[i, t]) {
      %0 = arith.addi %s, %x : !c
      etdg.yield %0 : !c
    } : !etdg.buffer<[N, L], !c>, !etdg.buffer<[N, L], !c>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !c>
}

// Alone in its graph one unit runs all, and has the memory for it; what begins at L begins its memory there.
etdg.graph @alone(%xs: !etdg.buffer<[2 * L], !c>, %zs: !etdg.buffer<[L], !c>) -> !etdg.buffer<[L], !c> {
  %ys = etdg.buffer : !etdg.buffer<[L], !c>
  etdg.block @b [scanl] (t) in [L, 2 * L) 
      reads (%x = %xs[t] : !c, %z = %zs[-L + t] : !c, %s = {t = L: splat 5 : i32, t >= L + 1: %ys[-L + t - 1]} : !c) writes (%ys[-L + t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 0, loop = 1, level = l2, stages = 4>]> {
    %0 = arith.subi %x, %s : !c
    %1 = arith.muli %0, %z : !c
    etdg.yield %1 : !c
  } : !etdg.buffer<[2 * L], !c>, !etdg.buffer<[L], !c>, !etdg.buffer<[L], !c>
  etdg.return %ys : !etdg.buffer<[L], !c>
}

// A tile of k ahead of its points, which stand inside of j; and of another read what the tile has, when it begins.
etdg.graph @points(%as: !etdg.buffer<[N, K], !c>, %bs: !etdg.buffer<[K, 3], !c>) -> !etdg.buffer<[N, K, 3], !c> {
  %ys = etdg.buffer : !etdg.buffer<[N, K, 3], !c>
  etdg.block @p [map, map, map] (i, k, j) in [0, N) x [0, K) x [0, 3) reads (%a = %as[i, k] : !c, %b = %bs[k, -j + 2] : !c) writes (%ys[i, k, j])
      schedule <map = affine_map<(i, k, j) -> (i, k, j)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, tile = 4, kind = sequential>,
          <dimension = 2, kind = sequential>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l2, stages = 2>, <read = 1, loop = 2, level = l2, stages = 1>]> {
    %0 = arith.muli %a, %b : !c
    etdg.yield %0 : !c
  } : !etdg.buffer<[N, K], !c>, !etdg.buffer<[K, 3], !c>, !etdg.buffer<[N, K, 3], !c>
  etdg.return %ys : !etdg.buffer<[N, K, 3], !c>
}

// A range that begins below 0, where memory does not.
etdg.graph @before(%xs: !etdg.buffer<[N, L], !c>) -> !etdg.buffer<[N, L], !c> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !c>
  etdg.block @b [map, scanl] (i, t) in [0, N) x [-2, L - 2)
      reads (%x = %xs[i, t + 2] : !c, %s = {t = -2: splat 5 : i32, t >= -1: %ys[i, t + 1]} : !c) writes (%ys[i, t + 2])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l2, stages = 2>]> {
    %0 = arith.subi %x, %s : !c
    etdg.yield %0 : !c
  } : !etdg.buffer<[N, L], !c>, !etdg.buffer<[N, L], !c>
  etdg.return %ys : !etdg.buffer<[N, L], !c>
}
