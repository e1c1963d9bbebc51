// Parallel loops that nests of a kernel share, where no unit can run an iteration of all of them: what was expected, and where.
//
// RUN: ft-opt %s --etdg-apply-tiles --split-input-file --verify-diagnostics

!x = tensor<1x4xi32>

etdg.graph @other(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %as = etdg.buffer : !etdg.buffer<[N], !x>
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.kernel shared 1 {
    // expected-note @+1 {{the first nest is here}}
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%as[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
    // expected-error @+1 {{the nests of a kernel share loop 0, which is parallel: one unit runs an iteration of all of them, expected the same loop in each}}
    etdg.block @b [map] (i) in [0, N) reads (%x = %as[i] : !x) writes (%ys[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = block>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<1x4xi32>

etdg.graph @ordered(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.kernel shared 1 {
    // expected-error @+1 {{one unit runs an iteration of all of them, found a dimension that is run in order}}
    etdg.block @b [scanl] (i) in [0, N) reads (%x = %xs[i] : !x, %s = {i = 0: splat 0 : i32, i >= 1: %ys[i - 1]} : !x) writes (%ys[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>]> {
      %0 = arith.addi %x, %s : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<1x4xi32>

etdg.graph @inside(%xs: !etdg.buffer<[N, M], !x>) -> !etdg.buffer<[N, M], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, M], !x>
  etdg.kernel shared 1 {
    // expected-error @+1 {{the nests of a kernel share parallel loops: one unit runs what is inside, expected a loop without a level, found}}
    etdg.block @b [map, map] (i, j) in [0, N) x [0, M) reads (%x = %xs[i, j] : !x) writes (%ys[i, j])
        schedule <map = affine_map<(i, j) -> (i, j)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>,
            <dimension = 1, kind = parallel, level = grid, mapping = cyclic>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[N, M], !x>, !etdg.buffer<[N, M], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, M], !x>
}

// -----

!x = tensor<1x4xi32>

etdg.graph @mixed(%xs: !etdg.buffer<[N, M], !x>) -> !etdg.buffer<[N, M], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, M], !x>
  etdg.kernel shared 2 {
    // expected-error @+1 {{expected all loops that they share to be parallel, of one level, over their first dimensions in order, found}}
    etdg.block @b [map, map] (i, j) in [0, N) x [0, M) reads (%x = %xs[i, j] : !x) writes (%ys[i, j])
        schedule <map = affine_map<(i, j) -> (i, j)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = sequential>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[N, M], !x>, !etdg.buffer<[N, M], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, M], !x>
}
