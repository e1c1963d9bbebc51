// (T13) What one core or thread block writes another reads only where units wait in between.
//
// RUN: ft-opt %s --etdg-validate=reproducer=none --split-input-file --verify-diagnostics

!x = tensor<1x4xf32>

// A step needs others' points of the one before: the cores wait after it.
etdg.graph @step(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.block @r [scanl, map] (k, i) in [0, L) x [0, N)
      reads (%x = %xs[k, i] : !x, %s = {k = 0: splat 0.5 : f32, k >= 1: %ys[k - 1, N - i - 1]} : !x) writes (%ys[k, i])
      schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// -----

!x = tensor<1x4xf32>

etdg.graph @hasty(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  // expected-note @+2 {{it is written here, write 0 of block @r}}
  // expected-error @+1 {{(T13) block @r: read 1, piece 1 reads an element of a buffer of type !etdg.buffer<[L, N], tensor<1x4xf32>> that another core writes, and units do not wait in between: expected sync = cores on the loop 'k', or on one inside; for example at}}
  etdg.block @r [scanl, map] (k, i) in [0, L) x [0, N)
      reads (%x = %xs[k, i] : !x, %s = {k = 0: splat 0.5 : f32, k >= 1: %ys[k - 1, N - i - 1]} : !x) writes (%ys[k, i])
      schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel, level = core, mapping = block>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// -----

!x = tensor<1x4xf32>

// Thread blocks that wait for others than those of the grid.
etdg.graph @narrow(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  // expected-note @+2 {{it is written here, write 0 of block @r}}
  // expected-error @+1 {{that another thread block writes, and units do not wait in between: expected sync = grid on the loop 'k', or on one inside; for example at}}
  etdg.block @r [scanl, map] (k, i) in [0, L) x [0, N)
      reads (%x = %xs[k, i] : !x, %s = {k = 0: splat 0.5 : f32, k >= 1: %ys[k - 1, N - i - 1]} : !x) writes (%ys[k, i])
      schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential, sync = block>, <dimension = 1, kind = parallel, level = grid>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// -----

!x = tensor<1x4xf32>

// A unit needs nothing for what it computed itself: the same points are its own in each step, or all steps of a point are.
etdg.graph @own(%xs: !etdg.buffer<[L, N], !x>) -> (!etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>) {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  %zs = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.block @fixed [scanl, map] (k, i) in [0, L) x [0, N)
      reads (%x = %xs[k, i] : !x, %s = {k = 0: splat 0.5 : f32, k >= 1: %ys[k - 1, i]} : !x) writes (%ys[k, i])
      schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel, level = grid, mapping = static>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.block @outside [scanl, map] (k, i) in [0, L) x [0, N)
      reads (%x = %xs[k, i] : !x, %s = {k = 0: splat 0.5 : f32, k >= 1: %zs[k - 1, i]} : !x) writes (%zs[k, i])
      schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 1, kind = parallel, level = core, mapping = dynamic>, <dimension = 0, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys, %zs : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
}

// -----

!x = tensor<1x4xf32>

// Nests of one launch: the second has to say that it waits.
etdg.graph @before(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %as = etdg.buffer : !etdg.buffer<[N], !x>
  %bs = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.kernel shared 0 {
    // expected-note @+1 {{it is written here, write 0 of block @a}}
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%as[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid>]> {
      %y = math.exp %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
    // expected-error @+1 {{(T13) block @b: read 0 reads an element of a buffer of type !etdg.buffer<[N], tensor<1x4xf32>> that another thread block writes, and units do not wait in between: expected before = grid on this nest, or on one between the two; for example at}}
    etdg.block @b [map] (i) in [0, N) reads (%x = %as[i] : !x) writes (%bs[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid>]> {
      %y = math.exp %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %bs : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<1x4xf32>

// The same memory: a plane is read by one unit and written again by another, with too few waits in between.
etdg.graph @planes(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %as = etdg.buffer live [2, -1] : !etdg.buffer<[L, N], !x>
  %bs = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.kernel shared 1 {
    // expected-note @+1 {{it is overwritten here, write 0 of block @a}}
    etdg.block @a [map, map] (k, i) in [0, L) x [0, N) reads (%x = %xs[k, i] : !x) writes (%as[k, i])
        schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel, level = core>]> {
      %y = math.exp %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
    // expected-error @+1 {{(T8) block @b: read 0 needs a plane of a buffer of type !etdg.buffer<[L, N], tensor<1x4xf32>> that another may have taken}}
    etdg.block @b [map, map] (k, i) in [0, L) x [0, N) reads (%x = %as[k, N - i - 1] : !x) writes (%bs[k, i])
        schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel, level = core>] before = kernel> {
      %y = math.exp %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  }
  etdg.return %bs : !etdg.buffer<[L, N], !x>
}
