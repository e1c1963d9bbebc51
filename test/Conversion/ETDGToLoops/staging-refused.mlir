// Placements that thread blocks can't serve are refused where they stand, with what was expected.
//
// RUN: ft-opt %s --convert-etdg-to-loops=target=sm_90a --split-input-file --verify-diagnostics
// RUN: ft-opt %S/staging.mlir --convert-etdg-to-loops=target=sm_90a -o %t.mlir
// RUN: sed 's/parts 4 in/parts 5 in/' %t.mlir | not ft-opt 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: sed 's/level <grid, static>/level <grid, cyclic>/' %t.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=DEALT
// RUN: sed 's/most = 132>/most = 3>/' %t.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: sed 's/shared = 98304/shared = 200/' %t.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not ft-opt %S/staging.mlir --convert-etdg-to-loops="target=sm_90a multiprocessors=3" 2>&1 | FileCheck %s --check-prefix=UNITS

// PARTS: error: 'loops.alloc' op expected shared memory of a size that its parts divide, found 5 parts (loops_alloc4)
// DEALT: error: the GPU engine can't run the loops: expected loops of the grid that are mapped static around what touches a part of memory that each thread block has, found cyclic
// DEALT: note: the memory is here
// MOST: error: the GPU engine can't run the loops: each thread block has one part, expected at most 3, found 4
// BYTES: error: the GPU engine can't run the loops: expected shared memory of at most {{[0-9]+}} bytes
// UNITS: error: the GPU engine can't run the schedule: it can't stage read 1: each thread block keeps one tile of one point, expected at most 3, found 4

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[3], !w>) -> !etdg.buffer<[9], !x> {
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 1: a thread block keeps it in shared memory over all loops: expected loop = 0, level = shared, stages = 1}}
  etdg.block @r [scanl] (t) in [0, 9)
      reads (%x = %xs[t] : !x, %w = %ws[1] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, tile = 2, unit = 2, kind = parallel, level = grid, mapping = static>]
          block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 1, level = shared, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[9], !x>, !etdg.buffer<[3], !w>, !etdg.buffer<[9], !x>
  etdg.return %ys : !etdg.buffer<[9], !x>
}

// -----

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[3], !w>) -> !etdg.buffer<[9], !x> {
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 1: a thread block keeps it in shared memory over all loops}}
  etdg.block @r [scanl] (t) in [0, 9)
      reads (%x = %xs[t] : !x, %w = %ws[1] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, tile = 2, unit = 2, kind = parallel, level = grid, mapping = static>]
          block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 0, level = shared, stages = 2>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[9], !x>, !etdg.buffer<[3], !w>, !etdg.buffer<[9], !x>
  etdg.return %ys : !etdg.buffer<[9], !x>
}

// -----

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[3], !w>) -> !etdg.buffer<[9], !x> {
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 1: a thread block keeps it in shared memory over all loops}}
  etdg.block @r [scanl] (t) in [0, 9)
      reads (%x = %xs[t] : !x, %w = %ws[1] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, tile = 2, unit = 2, kind = parallel, level = grid, mapping = static>]
          block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 0, level = register, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[9], !x>, !etdg.buffer<[3], !w>, !etdg.buffer<[9], !x>
  etdg.return %ys : !etdg.buffer<[9], !x>
}

// -----

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[3], !w>) -> !etdg.buffer<[9], !x> {
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 1: what a thread block keeps is for the same points in every step: expected no rows, and columns mapped static by tiles that are a number}}
  etdg.block @r [scanl] (t) in [0, 9)
      reads (%x = %xs[t] : !x, %w = %ws[1] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, tile = 2, unit = 2, kind = parallel, level = grid, mapping = cyclic>]
          block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[9], !x>, !etdg.buffer<[3], !w>, !etdg.buffer<[9], !x>
  etdg.return %ys : !etdg.buffer<[9], !x>
}

// -----

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[3], !w>) -> !etdg.buffer<[9], !x> {
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 1: what a thread block keeps is for the same points in every step}}
  etdg.block @r [scanl] (t) in [0, 9)
      reads (%x = %xs[t] : !x, %w = %ws[1] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, tile = ?, unit = 2, kind = parallel, level = grid, mapping = static>]
          block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[9], !x>, !etdg.buffer<[3], !w>, !etdg.buffer<[9], !x>
  etdg.return %ys : !etdg.buffer<[9], !x>
}

// -----

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[3], !w>) -> !etdg.buffer<[9], !x> {
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 1: expected a read of one place in a buffer, the same in all regions and all steps}}
  etdg.block @r [scanl] (t) in [0, 9)
      reads (%x = %xs[t] : !x, %w = %ws[t] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, tile = 2, unit = 2, kind = parallel, level = grid, mapping = static>]
          block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[9], !x>, !etdg.buffer<[3], !w>, !etdg.buffer<[9], !x>
  etdg.return %ys : !etdg.buffer<[9], !x>
}

// -----

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[3], !w>) -> !etdg.buffer<[9], !x> {
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 2: expected a read of one place in a buffer}}
  etdg.block @r [scanl] (t) in [0, 9)
      reads (%x = %xs[t] : !x, %w = %ws[1] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, tile = 2, unit = 2, kind = parallel, level = grid, mapping = static>]
          block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 2, loop = 0, level = shared, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[9], !x>, !etdg.buffer<[3], !w>, !etdg.buffer<[9], !x>
  etdg.return %ys : !etdg.buffer<[9], !x>
}

// -----

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>

// What another nest of the kernel writes is not there when the copies are made.
etdg.graph @f(%xs: !etdg.buffer<[9], !x>, %ws: !etdg.buffer<[], !w>) -> !etdg.buffer<[9], !x> {
  %vs = etdg.buffer : !etdg.buffer<[], !w>
  %ys = etdg.buffer : !etdg.buffer<[9], !x>
  etdg.kernel shared 0 {
    // expected-note @+1 {{it is written here}}
    etdg.block @v [] () reads (%w = %ws[] : !w) writes (%vs[])
        schedule <map = affine_map<() -> ()> block = <threads = 64, shared = 98304> target = "sm_90a"> {
      %0 = arith.addf %w, %w : !w
      etdg.yield %0 : !w
    } : !etdg.buffer<[], !w>, !etdg.buffer<[], !w>
    // expected-error @+1 {{the GPU engine can't run the schedule: it can't stage read 1: the kernel writes what is read, while it keeps a copy}}
    etdg.block @r [scanl] (t) in [0, 9)
        reads (%x = %xs[t] : !x, %w = %vs[] : !w, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
        schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
            <dimension = 1, tile = 2, unit = 2, kind = parallel, level = grid, mapping = static>] before = grid
            block = <threads = 64, shared = 98304> columns = 6 target = "sm_90a" placements = [<read = 1, loop = 0, level = shared, stages = 1>]> {
      %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%x : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[9], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[9], !x>
  }
  etdg.return %ys : !etdg.buffer<[9], !x>
}
