// Placements that a GPU can't serve: registers hold what layouts say, shared memory has copies of a size that is known.
//
// RUN: ft-opt %s --etdg-apply-placements=target=sm_90a --split-input-file --verify-diagnostics

// Layouts of leaves say what registers hold.
etdg.graph @registers(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the GPU engine can't run the schedule's placement of read 0 (level register): a stage is an address that a loop counts, registers have none: what they hold between loop nests of a leaf its layouts say}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = register, stages = 2>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

// Nothing knows how large a row is.
etdg.graph @size(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the GPU engine can't run the schedule's placement of read 0 at the loop over t (level shared): expected copies of a size that is known, found '!etdg.buffer<[L], tensor<1x6xf32>>'}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 1, level = shared, stages = 1>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

!x = tensor<1x6xf32>

// All thread blocks take the steps outside of the copy together: without a wait after them one would copy what another one still reads.
etdg.graph @steps(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's placement of read 0 at the loop over i (level l2): all units take the loops outside together, expected sync = grid after the innermost of them}}
  etdg.block @b [map, map] (t, i) in [0, L) x [0, N) reads (%x = %xs[t, i] : !x) writes (%ys[t, i])
      schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential>,
          <dimension = 1, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 64, shared = 98304>
          placements = [<read = 0, loop = 1, level = l2, stages = 1>]> {
    etdg.yield %x : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// -----

!x = tensor<1x6xf32>

// The copy shares the loops outside with the nest, which are those over their first dimensions.
etdg.graph @order(%xs: !etdg.buffer<[N, L, M], !x>) -> !etdg.buffer<[N, L, M], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L, M], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's placement of read 0 at the loop over i (level l2): all units take the loops outside together, expected those over the first dimensions in their order}}
  etdg.block @b [map, map, map] (t, k, i) in [0, N) x [0, L) x [0, M) reads (%x = %xs[t, k, i] : !x) writes (%ys[t, k, i])
      schedule <map = affine_map<(t, k, i) -> (t, k, i)>, loops = [<dimension = 1, kind = sequential, sync = grid>, <dimension = 0, kind = sequential, sync = grid>,
          <dimension = 2, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 64, shared = 98304>
          placements = [<read = 0, loop = 2, level = l2, stages = 1>]> {
    etdg.yield %x : !x
  } : !etdg.buffer<[N, L, M], !x>, !etdg.buffer<[N, L, M], !x>
  etdg.return %ys : !etdg.buffer<[N, L, M], !x>
}
