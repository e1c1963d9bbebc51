// What is wrong with variants and their guards.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{(W1) there are at least two variants, each but the last with a guard; found 1 and 0 guards}}
  etdg.variants {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{(W2) a variant holds at least one nest, block or kernel}}
  etdg.variants when <[N] below 4> {
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.variants when <[N] below 4> {
    // expected-error @+1 {{(W2) a variant holds nests, blocks and kernels}}
    %zs = etdg.buffer : !etdg.buffer<[N, L], !x>
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  // expected-note @+1 {{the buffer is here}}
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // (What nothing else uses is one variant's own.)
  %zs = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{(W3) variants write the same buffers; variant 1 takes one that the first does not}}
  etdg.variants when <[N] below 4> {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %zs[i, k - 1]} : !x) writes (%zs[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{a guard's limit is positive (no product is less than 0), found 0}}
  etdg.variants when <[N] below 0> {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{expected 'below' or 'from'}}
  etdg.variants when <[N] above 3> {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{a guard's limit is positive (no product is less than 0), found 0}}
  etdg.variants when <[N] below 4 and [L] from 0> {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{expected '['}}
  etdg.variants when <[N] below 4 and> {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<4xi32>

// expected-note @+1 {{the graph is here}}
etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  // expected-error @+1 {{(G3) 'Q' is no length of an argument; the arguments bind 'N'}}
  etdg.variants when <[N - 1, Q] below 4> {
    etdg.block @few [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  } else {
    etdg.block @many [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}
