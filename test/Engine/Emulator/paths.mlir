// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that make GPU kernels take each of their forms: sums of a warp and of a block, sums in
// slices, columns shared by thread blocks, tiles of rows, rows kept in registers, private memory,
// constants, gathers, several nests in a leaf. Integers: equal bit for bit.
//
// RUN: %python %S/Inputs/emulate.py %ft_bin/ft-run %s 1 3 | FileCheck %s
// CHECK: 14 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

// RUN: ft-run %s --entry=columns --engine=emulate --variant=steps --json | FileCheck %s --check-prefix=FIGURES
// FIGURES: "gpu_threads":{{[1-9]}}
// FIGURES: "launches":1

!i = tensor<1x4xi32>
!row = tensor<1x300xi32>
!x = tensor<1x80xf32>

// The sum of a row: few points, a long sum, adjacent.
func.func @sum(%xs: !ft.list<[N], !row>) -> !ft.list<[N], tensor<1xi32>> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !row>) {
    %z = arith.constant dense<0> : tensor<1xi32>
    %s = linalg.reduce ins(%x : !row) outs(%z : tensor<1xi32>) dimensions = [1]
      (%a: i32, %b: i32) {
        %c = arith.addi %a, %b : i32
        linalg.yield %c : i32
      }
    ft.yield %s : tensor<1xi32>
  }
  return %ys : !ft.list<[N], tensor<1xi32>>
}

// Two sums and a greatest element in one leaf, and what depends on them: sums of a warp side by side.
func.func @moments(%xs: !ft.list<[N], tensor<2x70xf32>>) -> (!ft.list<[N], tensor<2x70xf32>>, !ft.list<[N], tensor<2xf32>>) {
  %ys, %ms = ft.map (%x = %xs : !ft.list<[N], tensor<2x70xf32>>) {
    %z = arith.constant dense<0.0> : tensor<2xf32>
    %l = arith.constant dense<-1.0e30> : tensor<2xf32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<2x70xf32>) outs(%z : tensor<2xf32>) dimensions = [1]
    %m = linalg.reduce { arith.maximumf } ins(%x : tensor<2x70xf32>) outs(%l : tensor<2xf32>) dimensions = [1]
    %e = tensor.empty() : tensor<2x70xf32>
    %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %s, %m : tensor<2x70xf32>, tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2x70xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %p = arith.subf %a, %c : f32
      %q = arith.addf %p, %b : f32
      linalg.yield %q : f32
    } -> tensor<2x70xf32>
    ft.yield %y, %m : tensor<2x70xf32>, tensor<2xf32>
  }
  return %ys, %ms : !ft.list<[N], tensor<2x70xf32>>, !ft.list<[N], tensor<2xf32>>
}

// A long sum for each of a few results: threads without a result of their own take slices.
func.func @slices(%xs: !ft.list<[N], tensor<1x257xi32>>, %w: tensor<257x24xi32>) -> !ft.list<[N], tensor<1x24xi32>> {
  %z = arith.constant dense<0> : tensor<1x24xi32>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x257xi32>>) {
    %y = linalg.matmul ins(%x, %w : tensor<1x257xi32>, tensor<257x24xi32>) outs(%z : tensor<1x24xi32>) -> tensor<1x24xi32>
    ft.yield %y : tensor<1x24xi32>
  }
  return %ys : !ft.list<[N], tensor<1x24xi32>>
}

// The same with a state, in a loop: slices of a step after slices of the one before.
func.func @slices_in_steps(%xs: !ft.list<[N, L], tensor<1x160xf32>>, %w: tensor<160x160xf32> {ft.gen = #ft.normal<0.08>}) -> !ft.list<[N, L], tensor<1x160xf32>> {
  %z = arith.constant dense<0.0> : tensor<1x160xf32>
  %ys = ft.map (%row = %xs : !ft.list<[N, L], tensor<1x160xf32>>) {
    %hs = ft.scanl (%x = %row : !ft.list<[L], tensor<1x160xf32>>) init (%h = %z : tensor<1x160xf32>) {
      %y = linalg.matmul ins(%h, %w : tensor<1x160xf32>, tensor<160x160xf32>) outs(%x : tensor<1x160xf32>) -> tensor<1x160xf32>
      ft.yield %y : tensor<1x160xf32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x160xf32>>
  }
  return %ys : !ft.list<[N, L], tensor<1x160xf32>>
}

// Few points in a step, many columns: blocks share them, and the last share is a smaller one.
func.func @columns(%xs: !ft.list<[N, L], !x>, %ws: !ft.list<[D], tensor<80x80xf32>> {ft.gen = #ft.normal<0.1>}) -> !ft.list<[N, D, L], !x>
    attributes {ft.lengths = {N = 1 : i64, D = 2 : i64, L = 4 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %r = ft.map (%row = %xs : !ft.list<[N, L], !x>) {
    %ls = ft.scanl (%w = %ws : !ft.list<[D], tensor<80x80xf32>>) init (%below = %row : !ft.list<[L], !x>) {
      %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %z : !x) {
        %p = linalg.matmul ins(%x, %w : !x, tensor<80x80xf32>) outs(%h : !x) -> !x
        %t = math.tanh %p : !x
        ft.yield %t : !x
      }
      ft.yield %hs : !ft.list<[L], !x>
    }
    ft.yield %ls : !ft.list<[D, L], !x>
  }
  return %r : !ft.list<[N, D, L], !x>
}

// Two nests of the grid, of which the second reads in reverse what the first wrote.
func.func @two_kernels(%xs: !ft.list<[N, L], !i>) -> !ft.list<[N, L], !i> {
  %a = ft.map (%row = %xs : !ft.list<[N, L], !i>) {
    %b = ft.map (%x = %row : !ft.list<[L], !i>) {
      %y = arith.addi %x, %x : !i
      ft.yield %y : !i
    }
    ft.yield %b : !ft.list<[L], !i>
  }
  %r = ft.reverse %a : !ft.list<[N, L], !i>
  %c = ft.map (%p, %q = %a, %r : !ft.list<[N, L], !i>, !ft.list<[N, L], !i>) {
    %b = ft.map (%x, %y = %p, %q : !ft.list<[L], !i>, !ft.list<[L], !i>) {
      %s = arith.subi %x, %y : !i
      ft.yield %s : !i
    }
    ft.yield %b : !ft.list<[L], !i>
  }
  return %c : !ft.list<[N, L], !i>
}

// A chain of statements in one leaf, each of which needs other threads' results of the one before.
func.func @transposed(%xs: !ft.list<[N], tensor<9x11xi32>>) -> !ft.list<[N], tensor<9x9xi32>> {
  %z = arith.constant dense<0> : tensor<9x9xi32>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<9x11xi32>>) {
    %e = tensor.empty() : tensor<11x9xi32>
    %t = linalg.transpose ins(%x : tensor<9x11xi32>) outs(%e : tensor<11x9xi32>) permutation = [1, 0]
    %p = linalg.matmul ins(%x, %t : tensor<9x11xi32>, tensor<11x9xi32>) outs(%z : tensor<9x9xi32>) -> tensor<9x9xi32>
    %q = linalg.matmul ins(%p, %p : tensor<9x9xi32>, tensor<9x9xi32>) outs(%p : tensor<9x9xi32>) -> tensor<9x9xi32>
    ft.yield %q : tensor<9x9xi32>
  }
  return %ys : !ft.list<[N], tensor<9x9xi32>>
}

// Folds inside a map inside a map: private memory of a block.
func.func @private(%xs: !ft.list<[N, L], !i>) -> !ft.list<[N], !i> {
  %z = arith.constant dense<1> : !i
  %ys = ft.map (%row = %xs : !ft.list<[N, L], !i>) {
    %double = ft.map (%x = %row : !ft.list<[L], !i>) {
      %y = arith.muli %x, %x : !i
      ft.yield %y : !i
    }
    %back = ft.reverse %double : !ft.list<[L], !i>
    %s = ft.foldl (%x, %y = %row, %back : !ft.list<[L], !i>, !ft.list<[L], !i>) init (%a = %z : !i) {
      %p = arith.muli %a, %x : !i
      %q = arith.addi %p, %y : !i
      ft.yield %q : !i
    }
    ft.yield %s : !i
  }
  return %ys : !ft.list<[N], !i>
}

// A constant, and an index that is data.
func.func @picked(%xs: !ft.list<[N], tensor<1x5xf16>>, %at: !ft.list<[L], tensor<i64>> {ft.gen = #ft.index<0, N>}) -> !ft.list<[L], tensor<1x5xf16>>
    attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %c = arith.constant dense<[[1.0, -2.0, 0.5, 4.0, 8.0]]> : tensor<1x5xf16>
  %g = ft.gather %xs[%at] : !ft.list<[N], tensor<1x5xf16>>, !ft.list<[L], tensor<i64>>
  %ys = ft.map (%x = %g : !ft.list<[L], tensor<1x5xf16>>) {
    %y = arith.mulf %x, %c : tensor<1x5xf16>
    ft.yield %y : tensor<1x5xf16>
  }
  return %ys : !ft.list<[L], tensor<1x5xf16>>
}

// Truth values, bytes of memory.
func.func @compared(%xs: !ft.list<[N], tensor<37xi32>>) -> !ft.list<[N], tensor<37xi1>> {
  %z = arith.constant dense<0> : tensor<37xi32>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<37xi32>>) {
    %y = arith.cmpi slt, %x, %z : tensor<37xi32>
    ft.yield %y : tensor<37xi1>
  }
  return %ys : !ft.list<[N], tensor<37xi1>>
}

// Sums of 64 bits: a shuffle of two halves.
func.func @wide(%xs: !ft.list<[N], tensor<1x130xf64>>) -> !ft.list<[N], tensor<1xf64>> {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x130xf64>>) {
    %z = arith.constant dense<0.0> : tensor<1xf64>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<1x130xf64>) outs(%z : tensor<1xf64>) dimensions = [1]
    ft.yield %s : tensor<1xf64>
  }
  return %ys : !ft.list<[N], tensor<1xf64>>
}

// Many rows of a small product: tiles of rows over shared weights.
func.func @rows(%xs: !ft.list<[N, L], tensor<1x48xf16>>, %w: tensor<48x40xf16>) -> !ft.list<[N, L], tensor<1x40xf16>> {
  %z = arith.constant dense<0.0> : tensor<1x40xf16>
  %ys = ft.map (%row = %xs : !ft.list<[N, L], tensor<1x48xf16>>) {
    %r = ft.map (%x = %row : !ft.list<[L], tensor<1x48xf16>>) {
      %y = linalg.matmul ins(%x, %w : tensor<1x48xf16>, tensor<48x40xf16>) outs(%z : tensor<1x40xf16>) -> tensor<1x40xf16>
      ft.yield %y : tensor<1x40xf16>
    }
    ft.yield %r : !ft.list<[L], tensor<1x40xf16>>
  }
  return %ys : !ft.list<[N, L], tensor<1x40xf16>>
}

// A wavefront: layers over a sequence, both directions carried.
func.func @wavefront(%xs: !ft.list<[L], !i>, %ws: !ft.list<[D], !i>) -> !ft.list<[D, L], !i> {
  %z = arith.constant dense<3> : !i
  %r = ft.scanl (%w = %ws : !ft.list<[D], !i>) init (%below = %xs : !ft.list<[L], !i>) {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !i>) init (%h = %z : !i) {
      %a = arith.muli %h, %w : !i
      %b = arith.addi %a, %x : !i
      ft.yield %b : !i
    }
    ft.yield %hs : !ft.list<[L], !i>
  }
  return %r : !ft.list<[D, L], !i>
}

// A row of a state is summed by the whole block, in a loop.
func.func @norms(%xs: !ft.list<[N, L], tensor<1x300xf32>>) -> !ft.list<[N, L], tensor<1x300xf32>> {
  %z = arith.constant dense<0.0> : tensor<1x300xf32>
  %o = arith.constant dense<0.0> : tensor<1xf32>
  %ys = ft.map (%row = %xs : !ft.list<[N, L], tensor<1x300xf32>>) {
    %hs = ft.scanl (%x = %row : !ft.list<[L], tensor<1x300xf32>>) init (%h = %z : tensor<1x300xf32>) {
      %p = arith.mulf %h, %x : tensor<1x300xf32>
      %s = linalg.reduce { arith.addf } ins(%p : tensor<1x300xf32>) outs(%o : tensor<1xf32>) dimensions = [1]
      %t = math.tanh %s : tensor<1xf32>
      %w = linalg.broadcast ins(%t : tensor<1xf32>) outs(%z : tensor<1x300xf32>) dimensions = [1]
      %y = arith.addf %w, %x : tensor<1x300xf32>
      ft.yield %y : tensor<1x300xf32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x300xf32>>
  }
  return %ys : !ft.list<[N, L], tensor<1x300xf32>>
}
