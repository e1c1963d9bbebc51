// (T11) What a placement stages, nothing writes between then and the read.
//
// RUN: ft-opt %s --etdg-validate=reproducer=none --split-input-file --verify-diagnostics

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

// Before the loop over t, and before the first loop: arguments are there, and what an operation in front has written.
etdg.graph @good(%xs: !etdg.buffer<[L], !x>, %ws: !etdg.buffer<[], !w>) -> !etdg.buffer<[L], !x> {
  %vs = etdg.buffer : !etdg.buffer<[], !w>
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.block @a [] () reads (%w = %ws[] : !w) writes (%vs[]) {
    %0 = arith.addf %w, %w : !w
    etdg.yield %0 : !w
  } : !etdg.buffer<[], !w>, !etdg.buffer<[], !w>
  etdg.block @b [scanl] (t) in [0, L)
      reads (%x = %xs[t] : !x, %w = %vs[] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>]
          placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<1x6xf32>

// The state of the step before is there when its own step begins, not before the first.
etdg.graph @state(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-note @+2 {{it is written here, write 0 of block @b}}
  // expected-error @+1 {{(T11) block @b: read 1, piece 1 is staged before a buffer of type !etdg.buffer<[N, L], tensor<1x6xf32>> holds what it reads; for example at}}
  etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N)
      reads (%x = %xs[i, t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t])
      schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]
          placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x6xf32>

// Before loop 1 it has been written.
etdg.graph @step(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N)
      reads (%x = %xs[i, t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t])
      schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]
          placements = [<read = 1, loop = 1, level = shared, stages = 1>]> {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x6xf32>

// A nest that shares its loop with the reader writes what was to be staged before it.
etdg.graph @shared(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %vs = etdg.buffer : !etdg.buffer<[L], !x>
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.kernel shared 1 {
    // expected-note @+1 {{it is written here, write 0 of block @a}}
    etdg.block @a [map] (t) in [0, L) reads (%x = %xs[t] : !x) writes (%vs[t])
        schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>]> {
      %0 = arith.addf %x, %x : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
    // expected-error @+1 {{(T11) block @b: read 1 is staged before a buffer of type !etdg.buffer<[L], tensor<1x6xf32>> holds what it reads; for example at}}
    etdg.block @b [scanl] (t) in [0, L)
        reads (%x = %xs[t] : !x, %v = %vs[t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
        schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>]
            placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
      %0 = arith.addf %v, %s : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  }
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<1x6xf32>

etdg.graph @none(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{(T11) block @b: a placement is of read 3, the block has 1}}
  etdg.block @b [map] (t) in [0, L) reads (%x = %xs[t] : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 3, loop = 0, level = shared, stages = 1>]> {
    etdg.yield %x : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<1x6xf32>

// Two iterations ahead the state of three before is there.
etdg.graph @ahead(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.block @b [scanl] (t) in [0, L)
      reads (%x = %xs[t] : !x, %s = {t < 3: splat 0.0 : f32, t >= 3: %ys[t - 3]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 1, loop = 1, level = shared, stages = 3>]> {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<1x6xf32>

// Three iterations ahead it is written in between.
etdg.graph @between(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-note @+2 {{it is written here, write 0 of block @b}}
  // expected-error @+1 {{(T11) block @b: read 1, piece 1 is staged before a buffer of type !etdg.buffer<[L], tensor<1x6xf32>> holds what it reads; for example at L = 4, t = 3, t' = 0}}
  etdg.block @b [scanl] (t) in [0, L)
      reads (%x = %xs[t] : !x, %s = {t < 3: splat 0.0 : f32, t >= 3: %ys[t - 3]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 1, loop = 1, level = shared, stages = 4>]> {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<1x6xf32>

etdg.graph @none_ahead(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{(T11) block @b: a placement of read 0 is ahead of no loop that its nest runs alone}}
  etdg.block @b [map] (t) in [0, L) reads (%x = %xs[t] : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 0, loop = 0, level = shared, stages = 2>]> {
    etdg.yield %x : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}
