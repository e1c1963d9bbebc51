// Placements that no copy in the graph can serve are refused where they stand, with read, loop, memory and what was expected.
//
// RUN: ft-opt %s --etdg-apply-placements=machine=%S/../../machines/cpu.json --split-input-file --verify-diagnostics

// Ahead of the first loop is nothing.
etdg.graph @first(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 0 at the loop over i (level l2): it is made ahead of no loop, expected stages = 1 where loop = 0, found stages = 2}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 0, level = l2, stages = 2>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

// Of iterations that cores share none is before another.
etdg.graph @dealt(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 0 at the loop over t (level l2): units share the iterations of the loop that it would be ahead of, expected one that is run in order}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 1, level = l2, stages = 2>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

// A core has no memory that it shares with itself alone.
etdg.graph @memory(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 0 (level shared): the machine has no such memory, expected one of l1, l2, l3, l3, in part, device}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = shared, stages = 2>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

// What cores share lies where all of them see it.
etdg.graph @cores(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 0 at the loop over i (level l2): units share what is copied, expected a memory that they share}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 0, level = l2, stages = 1>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

// There is no such read.
etdg.graph @read(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 5 (level l2): the block has 2 reads}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 5, loop = 2, level = l2, stages = 2>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

// A schedule is applied first.
etdg.graph @map(%xs: !etdg.buffer<[N, L], tensor<1x6xf32>>) -> !etdg.buffer<[N, L], tensor<1x6xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x6xf32>>
  // expected-error @+1 {{the schedule is not applied (run etdg-apply-schedule)}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x6xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x6xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, i + t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l2, stages = 2>]> {
    %0 = arith.subf %s, %x : tensor<1x6xf32>
    etdg.yield %0 : tensor<1x6xf32>
  } : !etdg.buffer<[N, L], tensor<1x6xf32>>, !etdg.buffer<[N, L], tensor<1x6xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x6xf32>>
}

// -----

// More than the memory has.
etdg.graph @room(%xs: !etdg.buffer<[N, L], tensor<1x5120xf32>>) -> !etdg.buffer<[N, L], tensor<1x5120xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<1x5120xf32>>
  // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 0 (level l1): it takes 61440 bytes, expected at most 32768}}
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : tensor<1x5120xf32>, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : tensor<1x5120xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l1, stages = 2>]> {
    %0 = arith.subf %s, %x : tensor<1x5120xf32>
    etdg.yield %0 : tensor<1x5120xf32>
  } : !etdg.buffer<[N, L], tensor<1x5120xf32>>, !etdg.buffer<[N, L], tensor<1x5120xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<1x5120xf32>>
}

// -----

!x = tensor<1x6xf32>

// Nests of a kernel share the loop in front of which the copy would stand.
etdg.graph @shared(%xs: !etdg.buffer<[L], !x>) -> (!etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>) {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  %zs = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.kernel shared 1 {
    etdg.block @a [map] (t) in [0, L) reads (%x = %xs[t] : !x) writes (%ys[t])
        schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
    // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 0 (level l2): it stands outside of what the nest runs alone in its kernel, which shares 1 loops}}
    etdg.block @b [map] (t) in [0, L) reads (%x = %xs[t] : !x) writes (%zs[t])
        schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 0, loop = 1, level = l2, stages = 2>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  }
  etdg.return %ys, %zs : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
}
