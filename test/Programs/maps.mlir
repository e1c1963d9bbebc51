// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg bodies with maps that no example has: results over different loops, places that
// several iterations or none write, divisions, diagonals, windows, rank four.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 14 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

!a = tensor<4x6xf32>
!r = tensor<4xf32>
!c = tensor<6xf32>

// Two results: one over all, one reduced along the rows.
func.func @two_results(%xs: !ft.list<[L], !a>) -> (!ft.list<[L], !a>, !ft.list<[L], !r>) {
  %z = arith.constant dense<0.0> : !r
  %y, %s = ft.map (%x = %xs : !ft.list<[L], !a>) {
    %e = tensor.empty() : !a
    %g:2 = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : !a) outs(%e, %z : !a, !r) {
    ^bb0(%v: f32, %old: f32, %acc: f32):
      %p = math.exp %v : f32
      %q = arith.addf %acc, %p : f32
      linalg.yield %p, %q : f32, f32
    } -> (!a, !r)
    ft.yield %g#0, %g#1 : !a, !r
  }
  return %y, %s : !ft.list<[L], !a>, !ft.list<[L], !r>
}

// Three results: all, row sums and column maxima; the first adds to what it found.
func.func @three_results(%xs: !ft.list<[L], !a>) -> (!ft.list<[L], !a>, !ft.list<[L], !r>, !ft.list<[L], !c>) {
  %z = arith.constant dense<0.0> : !r
  %low = arith.constant dense<-10.0> : !c
  %y, %s, %t = ft.map (%x = %xs : !ft.list<[L], !a>) {
    %g:3 = linalg.generic {indexing_maps = [#mn, #mn, #m, #n], iterator_types = ["reduction", "reduction"]}
        ins(%x : !a) outs(%x, %z, %low : !a, !r, !c) {
    ^bb0(%v: f32, %old: f32, %acc: f32, %top: f32):
      %i = linalg.index 1 : index
      %ii = arith.index_cast %i : index to i32
      %fi = arith.sitofp %ii : i32 to f32
      %p = arith.mulf %v, %fi : f32
      %p1 = arith.addf %p, %old : f32
      %q = arith.addf %acc, %p : f32
      %w = arith.addf %old, %v : f32
      %u = arith.maximumf %top, %w : f32
      linalg.yield %p1, %q, %u : f32, f32, f32
    } -> (!a, !r, !c)
    ft.yield %g#0, %g#1, %g#2 : !a, !r, !c
  }
  return %y, %s, %t : !ft.list<[L], !a>, !ft.list<[L], !r>, !ft.list<[L], !c>
}

// A reduction dimension that the only output has: each element once.
func.func @not_reduced(%xs: !ft.list<[L], !a>) -> !ft.list<[L], !a> {
  %y = ft.map (%x = %xs : !ft.list<[L], !a>) {
    %g = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "reduction"]}
        ins(%x : !a) outs(%x : !a) {
    ^bb0(%v: f32, %old: f32):
      %p1 = arith.mulf %v, %old : f32
      linalg.yield %p1 : f32
    } -> !a
    ft.yield %g : !a
  }
  return %y : !ft.list<[L], !a>
}

// Full convolution: the output by a sum of two reduction dimensions.
func.func @full_conv(%xs: !ft.list<[L], !r>, %k: !c) -> !ft.list<[L], tensor<9xf32>> {
  %z = arith.constant dense<0.0> : tensor<9xf32>
  %y = ft.map (%x = %xs : !ft.list<[L], !r>) {
    %g = linalg.generic {indexing_maps = [#m, #n, affine_map<(m, n) -> (m + n)>], iterator_types = ["reduction", "reduction"]}
        ins(%x, %k : !r, !c) outs(%z : tensor<9xf32>) {
    ^bb0(%v: f32, %w: f32, %old: f32):
      %p = arith.mulf %v, %w : f32
      %p1 = arith.addf %p, %old : f32
      linalg.yield %p1 : f32
    } -> tensor<9xf32>
    ft.yield %g : tensor<9xf32>
  }
  return %y : !ft.list<[L], tensor<9xf32>>
}

// Valid convolution by one map, two dimensions, channels.
func.func @conv2d(%xs: !ft.list<[L], tensor<7x8x3xf32>>, %k: tensor<3x2x3x5xf32>) -> !ft.list<[L], tensor<5x7x5xf32>> {
  %z = arith.constant dense<0.0> : tensor<5x7x5xf32>
  %y = ft.map (%x = %xs : !ft.list<[L], tensor<7x8x3xf32>>) {
    %g = linalg.generic {indexing_maps = [affine_map<(h, w, f, a, b, c) -> (h + a, w + b, c)>, affine_map<(h, w, f, a, b, c) -> (a, b, c, f)>, affine_map<(h, w, f, a, b, c) -> (h, w, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %k : tensor<7x8x3xf32>, tensor<3x2x3x5xf32>) outs(%z : tensor<5x7x5xf32>) {
    ^bb0(%v: f32, %w: f32, %old: f32):
      %p = arith.mulf %v, %w : f32
      %p1 = arith.addf %p, %old : f32
      linalg.yield %p1 : f32
    } -> tensor<5x7x5xf32>
    ft.yield %g : tensor<5x7x5xf32>
  }
  return %y : !ft.list<[L], tensor<5x7x5xf32>>
}

func.func @max_pool(%xs: !ft.list<[L], tensor<1x8x6x2xf32>>) -> !ft.list<[L], tensor<1x4x3x2xf32>> {
  %z = arith.constant dense<-1.0e30> : tensor<1x4x3x2xf32>
  %win = tensor.empty() : tensor<2x2xf32>
  %y = ft.map (%x = %xs : !ft.list<[L], tensor<1x8x6x2xf32>>) {
    %g = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
        ins(%x, %win : tensor<1x8x6x2xf32>, tensor<2x2xf32>) outs(%z : tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32>
    ft.yield %g : tensor<1x4x3x2xf32>
  }
  return %y : !ft.list<[L], tensor<1x4x3x2xf32>>
}

// Diagonals, reversals and constants in maps.
func.func @odd_maps(%xs: !ft.list<[L], tensor<5x5xf32>>) -> (!ft.list<[L], tensor<5xf32>>, !ft.list<[L], tensor<5x5xf32>>, !ft.list<[L], tensor<5xf32>>) {
  %y, %w, %u = ft.map (%x = %xs : !ft.list<[L], tensor<5x5xf32>>) {
    %e = tensor.empty() : tensor<5xf32>
    %e2 = tensor.empty() : tensor<5x5xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (4 - i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x, %x : tensor<5x5xf32>, tensor<5x5xf32>) outs(%e : tensor<5xf32>) {
    ^bb0(%v: f32, %w: f32, %old: f32):
      %p = arith.subf %v, %w : f32
      linalg.yield %p : f32
    } -> tensor<5xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (2, j)>, affine_map<(i, j) -> (4 - j, i)>], iterator_types = ["parallel", "parallel"]}
        ins(%x, %x : tensor<5x5xf32>, tensor<5x5xf32>) outs(%e2 : tensor<5x5xf32>) {
    ^bb0(%v: f32, %w: f32, %old: f32):
      %p = arith.mulf %v, %w : f32
      linalg.yield %p : f32
    } -> tensor<5x5xf32>
    %h = linalg.generic {indexing_maps = [affine_map<(i) -> (i, 3)>, affine_map<(i) -> (4 - i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<5x5xf32>) outs(%e : tensor<5xf32>) {
    ^bb0(%v: f32, %old: f32):
      linalg.yield %v : f32
    } -> tensor<5xf32>
    ft.yield %d, %f, %h : tensor<5xf32>, tensor<5x5xf32>, tensor<5xf32>
  }
  return %y, %w, %u : !ft.list<[L], tensor<5xf32>>, !ft.list<[L], tensor<5x5xf32>>, !ft.list<[L], tensor<5xf32>>
}

// Maps that divide: repeat each, take blocks.
func.func @divided_maps(%xs: !ft.list<[L], tensor<6xf32>>) -> (!ft.list<[L], tensor<12xf32>>, !ft.list<[L], tensor<6xf32>>) {
  %y, %w = ft.map (%x = %xs : !ft.list<[L], tensor<6xf32>>) {
    %e = tensor.empty() : tensor<12xf32>
    %e6 = tensor.empty() : tensor<6xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<6xf32>) outs(%e : tensor<12xf32>) {
    ^bb0(%v: f32, %old: f32):
      %p = arith.negf %v : f32
      linalg.yield %p : f32
    } -> tensor<12xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 3)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x, %x : tensor<6xf32>, tensor<6xf32>) outs(%e6 : tensor<6xf32>) {
    ^bb0(%v: f32, %w: f32, %old: f32):
      %p = arith.mulf %v, %w : f32
      linalg.yield %p : f32
    } -> tensor<6xf32>
    ft.yield %d, %f : tensor<12xf32>, tensor<6xf32>
  }
  return %y, %w : !ft.list<[L], tensor<12xf32>>, !ft.list<[L], tensor<6xf32>>
}

// Rank four, batched, contracted over two, a softmax in the leaf.
func.func @rank4(%xs: !ft.list<[L], tensor<2x3x4x5xf32>>, %w: tensor<2x4x5x3xf32>) -> (!ft.list<[L], tensor<2x3x3xf32>>, !ft.list<[L], tensor<2x4xf32>>) {
  %z = arith.constant dense<0.0> : tensor<2x3x3xf32>
  %z2 = arith.constant dense<0.0> : tensor<2x4xf32>
  %y, %s = ft.map (%x = %xs : !ft.list<[L], tensor<2x3x4x5xf32>>) {
    %g = linalg.generic {indexing_maps = [affine_map<(b, i, j, p, q) -> (b, i, p, q)>, affine_map<(b, i, j, p, q) -> (b, p, q, j)>, affine_map<(b, i, j, p, q) -> (b, i, j)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>) outs(%z : tensor<2x3x3xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %r = arith.addf %c, %p : f32
      linalg.yield %r : f32
    } -> tensor<2x3x3xf32>
    %e = tensor.empty() : tensor<2x3x3xf32>
    %sm = linalg.softmax dimension(2) ins(%g : tensor<2x3x3xf32>) outs(%e : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %t = linalg.reduce { arith.addf } ins(%x : tensor<2x3x4x5xf32>) outs(%z2 : tensor<2x4xf32>) dimensions = [1, 3]
    ft.yield %sm, %t : tensor<2x3x3xf32>, tensor<2x4xf32>
  }
  return %y, %s : !ft.list<[L], tensor<2x3x3xf32>>, !ft.list<[L], tensor<2x4xf32>>
}

// pad, generate, insert_slice, extract, gather by a tensor's index inside a leaf.
func.func @tensor_ops(%xs: !ft.list<[L], tensor<4x6xf32>>) -> (!ft.list<[L], tensor<6x8xf32>>, !ft.list<[L], tensor<4x6xf32>>, !ft.list<[L], tensor<3x8xf32>>) {
  %r, %q, %u = ft.map (%x = %xs : !ft.list<[L], tensor<4x6xf32>>) {
    %c = arith.constant 0.5 : f32
    %p = tensor.pad %x low[1, 2] high[1, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %c : f32
    } : tensor<4x6xf32> to tensor<6x8xf32>
    %s = tensor.extract_slice %x[1, 0] [2, 3] [1, 2] : tensor<4x6xf32> to tensor<2x3xf32>
    %n = arith.negf %s : tensor<2x3xf32>
    %t = tensor.insert_slice %n into %x[2, 1] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
    %g = tensor.generate {
    ^bb0(%i: index, %j: index):
      %k = arith.addi %i, %j : index
      %ki = arith.index_cast %k : index to i32
      %kf = arith.sitofp %ki : i32 to f32
      tensor.yield %kf : f32
    } : tensor<4x6xf32>
    %h = arith.addf %t, %g : tensor<4x6xf32>
    %e = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
    %em = tensor.empty() : tensor<3x4x2xf32>
    %tr = linalg.transpose ins(%e : tensor<4x2x3xf32>) outs(%em : tensor<3x4x2xf32>) permutation = [2, 0, 1]
    %cs = tensor.collapse_shape %tr [[0], [1, 2]] : tensor<3x4x2xf32> into tensor<3x8xf32>
    ft.yield %p, %h, %cs : tensor<6x8xf32>, tensor<4x6xf32>, tensor<3x8xf32>
  }
  return %r, %q, %u : !ft.list<[L], tensor<6x8xf32>>, !ft.list<[L], tensor<4x6xf32>>, !ft.list<[L], tensor<3x8xf32>>
}

// An argmax in a leaf: two results reduced together.
func.func @argmax(%xs: !ft.list<[L], !a>) -> (!ft.list<[L], !r>, !ft.list<[L], tensor<4xi32>>) {
  %low = arith.constant dense<-1.0e30> : !r
  %zi = arith.constant dense<0> : tensor<4xi32>
  %y, %k = ft.map (%x = %xs : !ft.list<[L], !a>) {
    %g:2 = linalg.generic {indexing_maps = [#mn, #m, #m], iterator_types = ["parallel", "reduction"]}
        ins(%x : !a) outs(%low, %zi : !r, tensor<4xi32>) {
    ^bb0(%v: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i32
      %more = arith.cmpf ogt, %v, %best : f32
      %b = arith.select %more, %v, %best : f32
      %w = arith.select %more, %ji, %at : i32
      linalg.yield %b, %w : f32, i32
    } -> (!r, tensor<4xi32>)
    ft.yield %g#0, %g#1 : !r, tensor<4xi32>
  }
  return %y, %k : !ft.list<[L], !r>, !ft.list<[L], tensor<4xi32>>
}

// Pairs summed: the output along a map that divides.
func.func @upsampled_grad(%xs: !ft.list<[L], tensor<12xf32>>) -> !ft.list<[L], tensor<6xf32>> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %y = ft.map (%x = %xs : !ft.list<[L], tensor<12xf32>>) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i floordiv 2)>], iterator_types = ["reduction"]}
        ins(%x : tensor<12xf32>) outs(%z : tensor<6xf32>) {
    ^bb0(%v: f32, %old: f32):
      %p = arith.addf %v, %old : f32
      linalg.yield %p : f32
    } -> tensor<6xf32>
    ft.yield %g : tensor<6xf32>
  }
  return %y : !ft.list<[L], tensor<6xf32>>
}

// Loops that are declared parallel, and that the result does not have: the last one, and a sum.
func.func @last(%xs: !ft.list<[L], tensor<4x6xf32>>) -> (!ft.list<[L], tensor<4xf32>>, !ft.list<[L], tensor<4xf32>>) {
  %y:2 = ft.map (%x = %xs : !ft.list<[L], tensor<4x6xf32>>) {
    %e = arith.constant dense<1.0> : tensor<4xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x6xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%v: f32, %old: f32):
      linalg.yield %v : f32
    } -> tensor<4xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x6xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%v: f32, %old: f32):
      %s = arith.addf %old, %v : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    ft.yield %d, %f : tensor<4xf32>, tensor<4xf32>
  }
  return %y#0, %y#1 : !ft.list<[L], tensor<4xf32>>, !ft.list<[L], tensor<4xf32>>
}

// Places that no iteration writes keep what they had; one map adds up diagonals.
func.func @holes(%xs: !ft.list<[L], tensor<5xf32>>) -> (!ft.list<[L], tensor<10xf32>>, !ft.list<[L], tensor<5x3xf32>>, !ft.list<[L], tensor<9xf32>>) {
  %y:3 = ft.map (%x = %xs : !ft.list<[L], tensor<5xf32>>) {
    %e = arith.constant dense<1.0> : tensor<10xf32>
    %e2 = arith.constant dense<1.0> : tensor<5x3xf32>
    %e3 = arith.constant dense<1.0> : tensor<9xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (2 * m)>], iterator_types = ["parallel"]}
        ins(%x : tensor<5xf32>) outs(%e : tensor<10xf32>) {
    ^bb0(%v: f32, %old: f32):
      linalg.yield %v : f32
    } -> tensor<10xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m, 1)>], iterator_types = ["parallel"]}
        ins(%x : tensor<5xf32>) outs(%e2 : tensor<5x3xf32>) {
    ^bb0(%v: f32, %old: f32):
      %s = arith.addf %old, %v : f32
      linalg.yield %s : f32
    } -> tensor<5x3xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m + n)>], iterator_types = ["parallel", "parallel"]}
        ins(%x, %x : tensor<5xf32>, tensor<5xf32>) outs(%e3 : tensor<9xf32>) {
    ^bb0(%v: f32, %w: f32, %old: f32):
      %p = arith.mulf %v, %w : f32
      %s = arith.addf %old, %p : f32
      linalg.yield %s : f32
    } -> tensor<9xf32>
    ft.yield %d, %f, %g : tensor<10xf32>, tensor<5x3xf32>, tensor<9xf32>
  }
  return %y#0, %y#1, %y#2 : !ft.list<[L], tensor<10xf32>>, !ft.list<[L], tensor<5x3xf32>>, !ft.list<[L], tensor<9xf32>>
}
