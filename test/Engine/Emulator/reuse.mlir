// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What GPU kernels use again: the places of partial sums, point after point; the last tile of rows,
// which has fewer than the others; steps of the grid inside of steps that nests share; planes. Each form here
// has a barrier or a bound that no other program of the tests misses.
//
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3,5 %ft_bin/ft-run %s 1 7 | FileCheck %s
// CHECK: {{^}}7 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

// Rows too long for a warp, three of them for each thread block: the warps' partial sums of one row
// are read before the next row's are written.
func.func @long_rows(%xs: !ft.list<[N], tensor<3x1600xi32>>) -> !ft.list<[N], tensor<3xi32>> {
  %z = arith.constant dense<0> : tensor<3xi32>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<3x1600xi32>>) {
    %s = linalg.reduce { arith.addi } ins(%x : tensor<3x1600xi32>) outs(%z : tensor<3xi32>) dimensions = [1]
    ft.yield %s : tensor<3xi32>
  }
  return %ys : !ft.list<[N], tensor<3xi32>>
}

// The same inside a loop, where rows stay in memory: a sum of the whole block for each of three points.
func.func @block_sums(%xs: !ft.list<[N, L], tensor<3x200xi32>>) -> !ft.list<[N, L], tensor<3x200xi32>> {
  %z = arith.constant dense<1> : tensor<3x200xi32>
  %o = arith.constant dense<0> : tensor<3xi32>
  %ys = ft.map (%row = %xs : !ft.list<[N, L], tensor<3x200xi32>>) {
    %hs = ft.scanl (%x = %row : !ft.list<[L], tensor<3x200xi32>>) init (%h = %z : tensor<3x200xi32>) {
      %s = linalg.reduce { arith.addi } ins(%h : tensor<3x200xi32>) outs(%o : tensor<3xi32>) dimensions = [1]
      %w = linalg.broadcast ins(%s : tensor<3xi32>) outs(%z : tensor<3x200xi32>) dimensions = [1]
      %y = arith.addi %w, %x : tensor<3x200xi32>
      ft.yield %y : tensor<3x200xi32>
    }
    ft.yield %hs : !ft.list<[L], tensor<3x200xi32>>
  }
  return %ys : !ft.list<[N, L], tensor<3x200xi32>>
}

// Rows share weights, columns cannot be shared: a step's rows go in tiles, the last of which is smaller.
func.func @row_tiles(%xs: !ft.list<[N, L], tensor<1x40xi32>>, %w: tensor<40x40xi32>) -> !ft.list<[N, L], tensor<1x40xi32>> {
  %z = arith.constant dense<1> : tensor<1x40xi32>
  %o = arith.constant dense<0> : tensor<1xi32>
  %ys = ft.map (%row = %xs : !ft.list<[N, L], tensor<1x40xi32>>) {
    %hs = ft.scanl (%x = %row : !ft.list<[L], tensor<1x40xi32>>) init (%h = %z : tensor<1x40xi32>) {
      %p = linalg.matmul ins(%h, %w : tensor<1x40xi32>, tensor<40x40xi32>) outs(%x : tensor<1x40xi32>) -> tensor<1x40xi32>
      %s = linalg.reduce { arith.addi } ins(%p : tensor<1x40xi32>) outs(%o : tensor<1xi32>) dimensions = [1]
      %b = linalg.broadcast ins(%s : tensor<1xi32>) outs(%z : tensor<1x40xi32>) dimensions = [1]
      %y = arith.subi %p, %b : tensor<1x40xi32>
      ft.yield %y : tensor<1x40xi32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x40xi32>>
  }
  return %ys : !ft.list<[N, L], tensor<1x40xi32>>
}

// Columns shared by blocks, sums in slices, in each of several steps: all at once.
func.func @sliced_columns(%xs: !ft.list<[N, L], tensor<1x160xi32>>, %w: tensor<160x160xi32>) -> !ft.list<[N, L], tensor<1x160xi32>> {
  %z = arith.constant dense<1> : tensor<1x160xi32>
  %ys = ft.map (%row = %xs : !ft.list<[N, L], tensor<1x160xi32>>) {
    %hs = ft.scanl (%x = %row : !ft.list<[L], tensor<1x160xi32>>) init (%h = %z : tensor<1x160xi32>) {
      %y = linalg.matmul ins(%h, %w : tensor<1x160xi32>, tensor<160x160xi32>) outs(%x : tensor<1x160xi32>) -> tensor<1x160xi32>
      ft.yield %y : tensor<1x160xi32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x160xi32>>
  }
  return %ys : !ft.list<[N, L], tensor<1x160xi32>>
}

#two = #etdg.schedule<map = affine_map<(t, u, i) -> (t, u, i)>,
  loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 2, kind = parallel>]>
#one = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>,
  loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]>
#step = #etdg.schedule<map = affine_map<(k) -> (k)>, loops = [<dimension = 0, kind = sequential>]>
!x = tensor<1x4xi32>

// Two nests share the loop over t; the first has steps of its own inside, each of which reads what other
// thread blocks wrote in the one before.
etdg.graph @inner_steps(%xs: !etdg.buffer<[T, N], !x>, %us: !etdg.buffer<[U], !x>)
    -> (!etdg.buffer<[T, U, N], !x>, !etdg.buffer<[T, N], !x>) attributes {ft.bounds = #ft.bounds<"U >= 1">} {
  %as = etdg.buffer : !etdg.buffer<[T, U, N], !x>
  %bs = etdg.buffer : !etdg.buffer<[T, N], !x>
  etdg.kernel shared 1 {
    etdg.nest schedule #two {
      etdg.block @a [scanl, scanl, map] (t, u, i) in [0, T) x [0, U) x [0, N)
          reads (%x = %xs[t, i] : !x, %a = {u = 0: splat 3 : i32, u >= 1: %as[t, u - 1, N - 1 - i]} : !x,
                 %b = {t = 0: splat 5 : i32, t >= 1: %bs[t - 1, N - 1 - i]} : !x) writes (%as[t, u, i]) {
        %y = arith.addi %x, %a : !x
        %z = arith.muli %y, %b : !x
        etdg.yield %z : !x
      } : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, U, N], !x>, !etdg.buffer<[T, N], !x>
    }
    etdg.nest schedule #one {
      etdg.block @b [scanl, map] (t, i) in [0, T) x [0, N)
          reads (%x = %as[t, U - 1, N - 1 - i] : !x) writes (%bs[t, i]) {
        %y = arith.addi %x, %x : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[T, U, N], !x>, !etdg.buffer<[T, N], !x>
    }
  }
  etdg.return %as, %bs : !etdg.buffer<[T, U, N], !x>, !etdg.buffer<[T, N], !x>
}

// Inside of what a thread block runs, a nest that begins later than the one that it shares its loop with:
// the elements before were written by others.
etdg.graph @later(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @row [map] (i) in [0, N) {
    %as = etdg.buffer : !etdg.buffer<[L], !x>
    etdg.block @first [map] (i | k) in [0, 2) reads (%x = %xs[i, k] : !x) writes (%ys[i, k]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
    etdg.kernel shared 1 {
      etdg.block @a [scanl] (i | k) in [0, L)
          reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 1 : i32, k >= 1: %as[k - 1]} : !x) writes (%as[k])
          schedule #step {
        %y = arith.addi %x, %s : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L], !x>
      etdg.block @b [scanl] (i | k) in [2, L)
          reads (%x = %as[k - 1] : !x, %s = %ys[i, k - 1] : !x) writes (%ys[i, k])
          schedule #step {
        %y = arith.subi %x, %s : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[L], !x>, !etdg.buffer<[N, L], !x>
    }
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// A sum inside of what a thread block runs takes each element of a sequence a step after it, so that
// of the sequence two planes are kept, and the second nest cannot wait until the first is done.
func.func @a_step_behind(%xs: !ft.list<[N, L], !x>, %ys: !ft.list<[L], !x>) -> !ft.list<[N, L], !x> {
  %one = arith.constant dense<1> : !x
  %r = ft.map (%row = %xs : !ft.list<[N, L], !x>) {
    %hs = ft.scanl (%x = %row : !ft.list<[L], !x>) init (%h = %one : !x) {
      %a = ft.scanl (%y = %ys : !ft.list<[L], !x>) init (%s = %h : !x) {
        %b = arith.addi %s, %y : !x
        ft.yield %b : !x
      }
      %both = ft.concat %a, %row : !ft.list<[L], !x>, !ft.list<[L], !x>
      %sum = ft.reduce (%z = %both : !ft.list<[2 * L], !x>) init (%t = %x : !x) {
        %b = arith.addi %t, %z : !x
        ft.yield %b : !x
      }
      ft.yield %sum : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}
