// Schedules that the CPU engine can't run are refused where they stand, with the loop at fault.
//
// RUN: ft-opt %s --etdg-apply-tiles --etdg-cut-reductions --etdg-schedule-for-cpu --split-input-file --verify-diagnostics

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over i (level grid): it has the levels core, rows and listed_rows}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over k: the cores share loops inside, and don't wait after its iterations (sync = cores)}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential>, <dimension = 0, kind = parallel, level = core>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over i (level core): tiles are built for rows alone}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = 4, kind = parallel, level = core>, <dimension = 0, kind = sequential>, <dimension = 1, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over k: it is over tiles of 2, and no loop further in over their points}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core>, <dimension = 1, tile = 2, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over k: expected sync = cores, found grid}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential, sync = grid>, <dimension = 0, kind = parallel, level = core>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over k: rows of a leaf stand inside of all other loops}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = rows>, <dimension = 1, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over k: cores can't wait inside of a loop whose iterations they share}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core>, <dimension = 1, kind = sequential, sync = cores>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over i (level core): expected mapping = dynamic or block, found static}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = static>, <dimension = 1, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{iterations are mapped dynamically where they are a box and no core waits; expected mapping = block}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential, sync = cores>, <dimension = 0, kind = parallel, level = core, mapping = dynamic>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: the block has no 'combine'}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core>, <dimension = 1, kind = associative>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{a call has at most 65536 rows, found most = 65537}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 65537, kind = parallel, level = core>, <dimension = 1, kind = sequential>, <dimension = 0, most = 65537, kind = parallel, level = rows>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the schedule has 3 weights for 1 regions}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>, <dimension = 1, kind = sequential>] weights = [16, 2, 3]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the schedule is for "sm_90a", the engine for "cpu"}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core>, <dimension = 1, kind = sequential>] target = "sm_90a"> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule: it has 2 columns and no loop over them}}
  etdg.block @r [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core>] columns = 2> {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over i (level core): cores cut rows where they like, expected unit = 1, found 4}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 8, unit = 4, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, kind = sequential>, <dimension = 0, most = 8, kind = parallel, level = rows>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over i (level rows): a call has any number of rows that are no list, expected unit = 1, found 2}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, kind = sequential>, <dimension = 0, most = 8, unit = 2, kind = parallel, level = rows>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's loop over i (level rows): it does not say for how many rows there is room (most = ...)}}
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, kind = sequential>, <dimension = 0, kind = parallel, level = rows>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
