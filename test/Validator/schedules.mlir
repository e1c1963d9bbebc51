// What the validator accepts and refuses in an order, one thing each.
// RUN: ft-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(etdg.graph(etdg-validate{reproducer=none}))"

// The wavefront of a stacked scan: t = j + k outermost.
etdg.graph @wavefront(%xs: !etdg.buffer<[L], tensor<1xf32>>, %ws: !etdg.buffer<[D], tensor<1xf32>>) -> !etdg.buffer<[D, L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[D, L], tensor<1xf32>>
  etdg.nest schedule <map = affine_map<(j, k) -> (j + k, j)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]> {
    etdg.block @r [scanl, scanl] (j, k) in [0, D) x [0, L)
        reads (%x = {j = 0: %xs[k], j >= 1: %ys[j - 1, k]} : tensor<1xf32>, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[j, k - 1]} : tensor<1xf32>)
        writes (%ys[j, k]) {
      %y = arith.addf %x, %s : tensor<1xf32>
      etdg.yield %y : tensor<1xf32>
    } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[D, L], tensor<1xf32>>
  }
  etdg.return %ys : !etdg.buffer<[D, L], tensor<1xf32>>
}

// -----

// t = j - k: the second layer's scan runs backwards.
etdg.graph @sign(%xs: !etdg.buffer<[L], tensor<1xf32>>, %ws: !etdg.buffer<[D], tensor<1xf32>>) -> !etdg.buffer<[D, L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[D, L], tensor<1xf32>>
  etdg.nest schedule <map = affine_map<(j, k) -> (j - k, j)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]> {
    // expected-note @+2 {{it is written here, write 0 of block @r}}
    // expected-error @+1 {{(T2) block @r: read 1, piece 1 reads an element of a buffer of type !etdg.buffer<[D, L], tensor<1xf32>> in the loop 'j - k' before it is written; for example at D = 1, L = 2, j = 0, k = 1, j' = 0, k' = 0}}
    etdg.block @r [scanl, scanl] (j, k) in [0, D) x [0, L)
        reads (%x = {j = 0: %xs[k], j >= 1: %ys[j - 1, k]} : tensor<1xf32>, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[j, k - 1]} : tensor<1xf32>)
        writes (%ys[j, k]) {
      %y = arith.addf %x, %s : tensor<1xf32>
      etdg.yield %y : tensor<1xf32>
    } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[D, L], tensor<1xf32>>
  }
  etdg.return %ys : !etdg.buffer<[D, L], tensor<1xf32>>
}

// -----

// A dependence dropped: the scan's own dimension is parallel.
etdg.graph @race(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  // expected-note @+2 {{it is written here, write 0 of block @r}}
  // expected-error @+1 {{internal error: (T2) block @r: read 1, piece 1 reads an element of a buffer of type !etdg.buffer<[L], tensor<1xf32>> while another iteration of the parallel loop 'k' writes it; for example at L = 2, k = 1, k' = 0}}
  etdg.block @r [scanl] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[k - 1]} : tensor<1xf32>)
      writes (%ys[k]) schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, kind = parallel>]> {
    %y = arith.addf %x, %s : tensor<1xf32>
    etdg.yield %y : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

etdg.graph @determinant(%xs: !etdg.buffer<[D, L], tensor<1xf32>>) -> !etdg.buffer<[D, L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[D, L], tensor<1xf32>>
  // expected-error @+1 {{(T1) block @r: the schedule's map has determinant -2, not 1 or -1: it is no bijection of integer points}}
  etdg.block @r [map, map] (j, k) in [0, D) x [0, L)
      reads (%x = %xs[j, k] : tensor<1xf32>)
      writes (%ys[j, k]) schedule <map = affine_map<(j, k) -> (j + k, j - k)>> {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[D, L], tensor<1xf32>>, !etdg.buffer<[D, L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[D, L], tensor<1xf32>>
}

// -----

etdg.graph @quotient(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  // expected-error @+1 {{(T1) block @r: the schedule's map is not linear in row 0}}
  etdg.block @r [map] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>)
      writes (%ys[k]) schedule <map = affine_map<(k) -> (k floordiv 2)>> {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

// Two layers in one kernel: the second may run one step after the first, and in
// the same step after it, but not ahead of it.
etdg.graph @kernel(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  %zs = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  %us = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  etdg.kernel shared 1 {
    // expected-note @+1 {{it is written here, write 0 of block @a}}
    etdg.block @a [scanl] (k) in [0, L)
        reads (%s = {k = 0: %xs[k], k >= 1: %ys[k - 1]} : tensor<1xf32>)
        writes (%ys[k]) schedule <map = affine_map<(k) -> (k)>> {
      etdg.yield %s : tensor<1xf32>
    } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
    etdg.block @b [scanl] (k) in [0, L)
        reads (%s = %ys[k] : tensor<1xf32>)
        writes (%zs[k]) schedule <map = affine_map<(k) -> (k)>> {
      etdg.yield %s : tensor<1xf32>
    } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
    // expected-error @+1 {{(T2) block @c: read 0 reads an element of a buffer of type !etdg.buffer<[L], tensor<1xf32>> in the loop 'k' before it is written; for example at L = 1, k = 0, k' = 0}}
    etdg.block @c [scanl] (k) in [0, L)
        reads (%s = %ys[k] : tensor<1xf32>)
        writes (%us[k]) schedule <map = affine_map<(k) -> (k - 1)>> {
      etdg.yield %s : tensor<1xf32>
    } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  }
  etdg.return %zs : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

// Tiles of 4 in order, points of a tile at once: legal for a distance of 4 only
// where it leaves the tile, which it always does.
etdg.graph @tiles(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> (!etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>) {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  %zs = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @four [scanl] (k) in [0, L)
      reads (%s = {k <= 3: %xs[k], k >= 4: %ys[k - 4]} : tensor<1xf32>)
      writes (%ys[k]) schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = sequential>, <dimension = 0, kind = parallel>]> {
    etdg.yield %s : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  // expected-note @+2 {{it is written here}}
  // expected-error @+1 {{(T2) block @three: read 0, piece 1 reads an element of a buffer of type !etdg.buffer<[L], tensor<1xf32>> while another iteration of the parallel loop 'k' writes it; for example at L = 4, k = 3, k' = 0}}
  etdg.block @three [scanl] (k) in [0, L)
      reads (%s = {k <= 2: %xs[k], k >= 3: %zs[k - 3]} : tensor<1xf32>)
      writes (%zs[k]) schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = sequential>, <dimension = 0, kind = parallel>]> {
    etdg.yield %s : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys, %zs : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
}

// -----

// Wrong at L = D + 3 alone: the last block reads ahead on one plane of the lengths.
etdg.graph @rare(%xs: !etdg.buffer<[L], tensor<1xf32>>, %ws: !etdg.buffer<[D], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  // expected-note @+2 {{it is written here}}
  // expected-error @+1 {{read 1, piece 2 reads an element of a buffer of type !etdg.buffer<[L], tensor<1xf32>> while another iteration of the parallel loop 'k' writes it; for example at D = 0, L = 3, k = 1, k' = 0}}
  etdg.block @r [scanl] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>, %s = {k = 0: splat 0.0 : f32, k >= 1 and L <= D + 2: splat 0.0 : f32, k >= 1 and L = D + 3: %ys[k - 1], k >= 1 and L >= D + 4: splat 0.0 : f32} : tensor<1xf32>)
      writes (%ys[k]) schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, kind = parallel>]> {
    %y = arith.addf %x, %s : tensor<1xf32>
    etdg.yield %y : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

// Two planes are enough for a wavefront of three steps in order, one is not; a
// scan whose layers are parallel keeps all it reads.
etdg.graph @planes(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[], tensor<1xf32>> {
  %one = etdg.buffer live [1] : !etdg.buffer<[L], tensor<1xf32>>
  %two = etdg.buffer live [1] : !etdg.buffer<[L], tensor<1xf32>>
  %last = etdg.buffer : !etdg.buffer<[], tensor<1xf32>>
  etdg.block @fold [foldl] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>, %s = {k = 0: splat 0.0 : f32, k >= 1: %one[k - 1]} : tensor<1xf32>)
      writes (%one[k]) {
    %y = arith.addf %x, %s : tensor<1xf32>
    etdg.yield %y : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  // expected-note @+2 {{it is overwritten here, write 0 of block @lag}}
  // expected-error @+1 {{(T8) block @lag: read 1, piece 1 needs a plane of a buffer of type !etdg.buffer<[L], tensor<1xf32>> that another may have taken: more planes must be `live`; for example at L = 3, k = 2, k' = 1}}
  etdg.block @lag [foldl] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>, %s = {k <= 1: splat 0.0 : f32, k >= 2: %two[k - 2]} : tensor<1xf32>)
      writes (%two[k]) {
    %y = arith.addf %x, %s : tensor<1xf32>
    etdg.yield %y : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @last [] ()
      reads (%s = {L = 0: splat 0.0 : f32, L >= 1: %one[L - 1]} : tensor<1xf32>)
      writes (%last[]) {
    etdg.yield %s : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[], tensor<1xf32>>
  etdg.return %last : !etdg.buffer<[], tensor<1xf32>>
}

// -----

// From the right: the planes that follow have smaller indices.
etdg.graph @planes_from_the_right(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[], tensor<1xf32>> {
  %two = etdg.buffer live [1] : !etdg.buffer<[L], tensor<1xf32>>
  %last = etdg.buffer : !etdg.buffer<[], tensor<1xf32>>
  // expected-note @+2 {{it is overwritten here, write 0 of block @lag}}
  // expected-error @+1 {{(T8) block @lag: read 1, piece 1 needs a plane of a buffer of type !etdg.buffer<[L], tensor<1xf32>> that another may have taken: more planes must be `live`; for example at L = 3, k = 2, k' = 1}}
  etdg.block @lag [foldl] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>, %s = {k <= 1: splat 0.0 : f32, k >= 2: %two[L - k + 1]} : tensor<1xf32>)
      writes (%two[L - k - 1]) {
    %y = arith.addf %x, %s : tensor<1xf32>
    etdg.yield %y : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @last [] ()
      reads (%s = {L = 0: splat 0.0 : f32, L >= 1: %two[0]} : tensor<1xf32>)
      writes (%last[]) {
    etdg.yield %s : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[], tensor<1xf32>>
  etdg.return %last : !etdg.buffer<[], tensor<1xf32>>
}

// -----

// One slot: in place where the same iteration reads and writes the same index, and
// for a buffer that is read for the last time before; not while it is needed.
etdg.graph @slots(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %a = etdg.buffer {etdg.slot = 0 : i64} : !etdg.buffer<[L], tensor<1xf32>>
  %b = etdg.buffer {etdg.slot = 0 : i64} : !etdg.buffer<[L], tensor<1xf32>>
  %c = etdg.buffer {etdg.slot = 0 : i64} : !etdg.buffer<[L], tensor<1xf32>>
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @a [map] (k) in [0, L) reads (%x = %xs[k] : tensor<1xf32>) writes (%a[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @b [map] (k) in [0, L) reads (%x = %a[k] : tensor<1xf32>) writes (%b[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  // expected-note @+2 {{it is overwritten here, write 0 of block @c}}
  // expected-error @+1 {{(T10) block @c: read 0 needs an element of a buffer of type !etdg.buffer<[L], tensor<1xf32>> whose slot a buffer of type !etdg.buffer<[L], tensor<1xf32>> may have taken; for example at L = 2, k = 1, k' = 0}}
  etdg.block @c [map] (k) in [0, L) reads (%x = %b[L - k - 1] : tensor<1xf32>) writes (%c[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @y [map] (k) in [0, L) reads (%x = %c[k] : tensor<1xf32>) writes (%ys[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

// Partial results need to be joined.
etdg.graph @associative(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  // expected-error @+1 {{(T1) block @r: loop 0 of the schedule is associative, and the block has no 'combine' along it}}
  etdg.block @r [scan] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[k - 1]} : tensor<1xf32>)
      writes (%ys[k]) schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, kind = associative>]> {
    %y = arith.addf %x, %s : tensor<1xf32>
    etdg.yield %y : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}
