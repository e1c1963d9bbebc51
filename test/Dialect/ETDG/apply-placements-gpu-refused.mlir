// Placements that a GPU can't serve: registers hold what layouts say, shared memory has copies of a size that is known.
//
// RUN: ft-opt %s --etdg-apply-placements=target=sm_90a --split-input-file --verify-diagnostics

// Layouts of leaves say what registers hold.
etdg.graph @registers(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the GPU engine can't run the schedule's placement of read 0 (level register): what registers hold the layouts of leaves say}}
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

// Nobody knows how large a row is.
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
