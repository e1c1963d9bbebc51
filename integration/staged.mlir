// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads that hand-written schedules stage in shared memory, some iterations ahead, of elements that a GPU copies without going through registers
// (`loops-choose-copies`): 16 bytes at a time, 8, 4; and of some that it can't copy so.

!x = tensor<1x32xf32>
!w = tensor<32x32xf32>
!h = tensor<1x36xf16>
!o = tensor<1x7xf32>
!s = tensor<1x3xf16>
!t = tensor<1x8xf32>

// An element two steps ahead, and weights once a row.
etdg.graph @row(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x>
    attributes {ft.lengths = {N = 5, L = 9}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %m = %w[] : !w, %s = {t = 0: splat 1.0 : f32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = shared, stages = 3>, <read = 1, loop = 1, level = shared, stages = 1>]> {
    %half = arith.constant dense<0.5> : !x
    %0 = arith.mulf %s, %half : !x
    %1 = linalg.matmul ins(%x, %m : !x, !w) outs(%0 : !x) -> !x
    etdg.yield %1 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// Tiles of the terms of a product, one ahead; rows of both operands.
etdg.graph @terms(%as: !etdg.buffer<[N, K], !t>, %bs: !etdg.buffer<[K, 3], !t>) -> !etdg.buffer<[N, K, 3], !t>
    attributes {ft.lengths = {N = 3, K = 22}} {
  %ys = etdg.buffer : !etdg.buffer<[N, K, 3], !t>
  etdg.block @p [map, scanl, map] (i, k, j) in [0, N) x [0, K) x [0, 3)
      reads (%a = %as[i, k] : !t, %b = %bs[k, -j + 2] : !t, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1, j]} : !t) writes (%ys[i, k, j])
      schedule <map = affine_map<(i, k, j) -> (i, k, j)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, tile = 4, kind = sequential>,
          <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>]
          block = <threads = 64, shared = 98304> placements = [<read = 0, loop = 2, level = shared, stages = 2>, <read = 1, loop = 2, level = shared, stages = 3>]> {
    %0 = arith.mulf %a, %b : !t
    %1 = arith.addf %0, %s : !t
    etdg.yield %1 : !t
  } : !etdg.buffer<[N, K], !t>, !etdg.buffer<[K, 3], !t>, !etdg.buffer<[N, K, 3], !t>
  etdg.return %ys : !etdg.buffer<[N, K, 3], !t>
}

// Halves, of which four are one copy; numbers of which each is one; halves that no copy has.
etdg.graph @widths(%hs: !etdg.buffer<[N, L], !h>, %os: !etdg.buffer<[N, L], !o>, %ss: !etdg.buffer<[N, L], !s>)
    -> (!etdg.buffer<[N, L], !h>, !etdg.buffer<[N, L], !o>, !etdg.buffer<[N, L], !s>) attributes {ft.lengths = {N = 4, L = 8}} {
  %hr = etdg.buffer : !etdg.buffer<[N, L], !h>
  %or = etdg.buffer : !etdg.buffer<[N, L], !o>
  %sr = etdg.buffer : !etdg.buffer<[N, L], !s>
  etdg.block @b [map, map] (i, t) in [0, N) x [0, L)
      reads (%h = %hs[i, t] : !h, %o = %os[i, L - t - 1] : !o, %s = %ss[i, t] : !s) writes (%hr[i, t], %or[i, t], %sr[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = shared, stages = 4>, <read = 1, loop = 2, level = shared, stages = 2>,
                        <read = 2, loop = 2, level = shared, stages = 2>]> {
    %0 = arith.addf %h, %h : !h
    %1 = arith.mulf %o, %o : !o
    %2 = arith.addf %s, %s : !s
    etdg.yield %0, %1, %2 : !h, !o, !s
  } : !etdg.buffer<[N, L], !h>, !etdg.buffer<[N, L], !o>, !etdg.buffer<[N, L], !s>, !etdg.buffer<[N, L], !h>, !etdg.buffer<[N, L], !o>, !etdg.buffer<[N, L], !s>
  etdg.return %hr, %or, %sr : !etdg.buffer<[N, L], !h>, !etdg.buffer<[N, L], !o>, !etdg.buffer<[N, L], !s>
}

// What reads a copy keeps its rows in registers, and nothing waits after it.
etdg.graph @softmax(%xs: !etdg.buffer<[N, L], tensor<8x256xf32>>) -> !etdg.buffer<[N, L], tensor<8x256xf32>>
    attributes {ft.lengths = {N = 3, L = 7}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], tensor<8x256xf32>>
  etdg.block @b [map, map] (i, t) in [0, N) x [0, L) reads (%x = %xs[i, t] : tensor<8x256xf32>) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = shared, stages = 2>]> {
    %low = arith.constant dense<-1.0e30> : tensor<8xf32>
    %most = linalg.reduce { arith.maximumf } ins(%x : tensor<8x256xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
    %to = tensor.empty() : tensor<8x256xf32>
    %m = linalg.broadcast ins(%most : tensor<8xf32>) outs(%to : tensor<8x256xf32>) dimensions = [1]
    %d = arith.subf %x, %m : tensor<8x256xf32>
    %e = math.exp %d : tensor<8x256xf32>
    etdg.yield %e : tensor<8x256xf32>
  } : !etdg.buffer<[N, L], tensor<8x256xf32>>, !etdg.buffer<[N, L], tensor<8x256xf32>>
  etdg.return %ys : !etdg.buffer<[N, L], tensor<8x256xf32>>
}
