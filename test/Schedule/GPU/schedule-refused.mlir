// Schedules that no kernel of the target can run are refused where they stand, with the loop at fault, its level and the limit.
//
// RUN: ft-opt %s --etdg-apply-tiles --etdg-cut-reductions --etdg-schedule-for-gpu --split-input-file --verify-diagnostics
// RUN: ft-opt %s "--convert-etdg-to-loops=target=sm_90a" --split-input-file --verify-diagnostics

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level core): it has the levels grid, rows and lifted}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level cluster): it has the levels grid, rows and lifted}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = cluster>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over k: thread blocks share loops inside, and don't wait after its iterations (sync = grid)}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential>, <dimension = 0, kind = parallel, level = grid>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over k: thread blocks can't wait inside of a loop whose iterations they share}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential, sync = grid>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over k: expected sync = grid, found cores}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential, sync = cores>, <dimension = 0, kind = parallel, level = grid>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over k: tiles of sequential loops are not built, found tile = 2}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, tile = 2, kind = sequential>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level grid): tiles are built for rows and columns alone}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = 4, kind = parallel, level = grid>, <dimension = 1, kind = sequential>, <dimension = 0, kind = sequential>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level rows): no loop outside says how many rows are computed at a time}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential>, <dimension = 0, most = 4, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level rows): there is room for most = 4 rows, the loop outside takes 8}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = 8, kind = parallel, level = grid>, <dimension = 1, kind = sequential>, <dimension = 0, most = 4, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level rows): a task has at most 4096 rows, found most = 10000}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 10000, kind = parallel, level = grid>, <dimension = 1, kind = sequential>, <dimension = 0, most = 10000, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level lifted): expected a dimension of a leaf inside a body}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential>, <dimension = 0, kind = parallel, level = lifted>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the schedule's loop over k}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = associative>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: block: threads are a multiple of 32, at most 1024 on for tests: NVIDIA H200, found 100}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 100, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: block: threads are a multiple of 32, at most 1024 on for tests: NVIDIA H200, found 2048}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 2048, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: block: a block has at most 232448 bytes of shared memory on for tests: NVIDIA H200, found 300000}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 300000>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: block: an SM has at most 2048 threads on for tests: NVIDIA H200, found resident = 5 with 512 threads each}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 512, resident = 5, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it does not say which thread blocks run it (block = <threads = ...>)}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] > {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the schedule is for "sm_80", the engine for "sm_90a"}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536> target = "sm_80"> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: nothing of its kernel stands before the nest, expected no 'before', found grid}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] before = grid block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: column c of what the leaves compute does not depend on column c alone, or they don't have the columns; found columns = 64}}
  etdg.block @r [map, map] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 2, tile = ?, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536> columns = 64> {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: a task reads what its loop over k has left in columns of other tasks, expected no columns}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 2, tile = ?, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536> columns = 2> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over the columns (level grid): unit = 3 divides neither the 64 columns nor a tile, or not both}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 2, tile = ?, unit = 3, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536> columns = 64> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over k (level grid): neighbouring loops are dealt as one, these in two ways: cyclic and block}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = parallel, level = grid, mapping = block>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level rows): rows are computed together, expected loops of the body that are the same for all of them}}
  etdg.block @r [map] (i) in [0, N)
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, most = 2, kind = parallel, level = grid>, <dimension = 0, most = 2, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %s = etdg.buffer : !etdg.buffer<[N], !x>
    etdg.block @sum [foldl] (i | k) in [0, i + 1)
        reads (%x = %xs[k] : !x, %b = {k = 0: splat 0.0 : f32, k >= 1: %s[k - 1]} : !x) writes (%s[k]) {
      %y = arith.addf %x, %b : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
    etdg.block @last [] (i |) reads (%x = %s[i] : !x) writes (%ys[i]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// What no kernel obeys is refused, too: units of rows, and rows of which it is not specified how many there are.
// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level grid): tasks have any number of rows, expected unit = 1, found 4}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 8, unit = 4, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = sequential>, <dimension = 0, most = 8, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level rows): a task has any number of rows, expected unit = 1, found 2}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = sequential>, <dimension = 0, most = 8, unit = 2, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over i (level rows): it does not say for how many rows there is room (most = ...)}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = sequential>, <dimension = 0, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule's loop over the columns (level grid): thread blocks share all columns, in units: expected no most, found 2}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>, <dimension = 2, tile = ?, most = 2, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536> columns = 2> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
