// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of views: computed and chased indices, rearranged results, stencils,
// lists turned about three dimensions.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 10 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!v = tensor<7xf32>
!s = tensor<f32>
!i = tensor<i64>

// Results that are rearranged before they are returned: reversed, transposed, joined.
func.func @rearranged_results(%xss: !ft.list<[N, L], !v>) -> (!ft.list<[L, N], !v>, !ft.list<[2 * L], !v>)
    attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %y = ft.map (%xs = %xss : !ft.list<[N, L], !v>) -> !ft.list<[N, L], !v> {
    %z = arith.constant dense<0.0> : !v
    %ys = ft.scanl (%x = %xs : !ft.list<[L], !v>) init (%s = %z : !v) -> !ft.list<[L], !v> {
      %n = arith.addf %s, %x : !v
      ft.yield %n : !v
    }
    %r = ft.reverse %ys : !ft.list<[L], !v>
    ft.yield %r : !ft.list<[L], !v>
  }
  %t = ft.transpose %y [1, 0] : !ft.list<[N, L], !v>
  %first = ft.at %xss[0] : !ft.list<[N, L], !v>
  %e = ft.map (%x = %first : !ft.list<[L], !v>) -> !ft.list<[L], !v> {
    %n = math.exp %x : !v
    ft.yield %n : !v
  }
  %rev = ft.reverse %e : !ft.list<[L], !v>
  %q = ft.map (%x = %first : !ft.list<[L], !v>) -> !ft.list<[L], !v> {
    %n = arith.negf %x : !v
    ft.yield %n : !v
  }
  %c = ft.concat %rev, %q : !ft.list<[L], !v>, !ft.list<[L], !v>
  return %t, %c : !ft.list<[L, N], !v>, !ft.list<[2 * L], !v>
}

// Arguments, constants, views and one value twice among the results.
func.func @copies(%xs: !ft.list<[L], !v>) -> (!ft.list<[L], !v>, !ft.list<[L], !v>, !ft.list<[3], !v>, !v, !ft.list<[L], !v>, !ft.list<[L], !v>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : !v
  %three = ft.repeat %c times 3 : !v
  %r = ft.reverse %xs : !ft.list<[L], !v>
  %last = ft.at %xs[-1] : !ft.list<[L], !v>
  %y = ft.map (%x = %xs : !ft.list<[L], !v>) -> !ft.list<[L], !v> {
    %n = math.exp %x : !v
    ft.yield %n : !v
  }
  return %xs, %r, %three, %last, %y, %y : !ft.list<[L], !v>, !ft.list<[L], !v>, !ft.list<[3], !v>, !v, !ft.list<[L], !v>, !ft.list<[L], !v>
}

// A step that reads both ends of what it was given: last plane of one fold as the
// fill of a shift in another.
func.func @fill_is_computed(%xs: !ft.list<[L], !v>) -> !ft.list<[L], !v> {
  %z = arith.constant dense<0.0> : !v
  %max = ft.reduce (%x = %xs : !ft.list<[L], !v>) init (%m = %z : !v) -> !v {
    %n = arith.maximumf %m, %x : !v
    ft.yield %n : !v
  }
  %later = ft.shift %xs by 3 fill %max : !ft.list<[L], !v>, !v
  %sooner = ft.shift %xs by -2 fill %max : !ft.list<[L], !v>, !v
  %y = ft.map (%a, %b = %later, %sooner : !ft.list<[L], !v>, !ft.list<[L], !v>) -> !ft.list<[L], !v> {
    %n = arith.subf %a, %b : !v
    ft.yield %n : !v
  }
  return %y : !ft.list<[L], !v>
}

// Repeat of a list, of a computed row, and an outer product of lists.
func.func @outer_product(%as: !ft.list<[M], !v>, %bs: !ft.list<[N], !v>) -> !ft.list<[M, N], !v> {
  %rb = ft.repeat %bs times M : !ft.list<[N], !v>
  %y = ft.map (%a, %row = %as, %rb : !ft.list<[M], !v>, !ft.list<[M, N], !v>) -> !ft.list<[M, N], !v> {
    %ra = ft.repeat %a times N : !v
    %r = ft.map (%p, %q = %ra, %row : !ft.list<[N], !v>, !ft.list<[N], !v>) -> !ft.list<[N], !v> {
      %n = arith.mulf %p, %q : !v
      ft.yield %n : !v
    }
    ft.yield %r : !ft.list<[N], !v>
  }
  return %y : !ft.list<[M, N], !v>
}

// Blocks of four: a scan of the blocks, a fold in each, the blocks joined again.
// lengths: L % 4 == 0
func.func @blocked_scan(%xs: !ft.list<[L], !v>) -> !ft.list<[floordiv(L, 4), 4], !v> {
  %z = arith.constant dense<0.0> : !v
  %b = ft.split %xs by 4 : !ft.list<[L], !v>
  %carry, %y = ft.scanl (%four = %b : !ft.list<[floordiv(L, 4), 4], !v>) init (%s = %z : !v)
      -> !ft.list<[floordiv(L, 4)], !v>, !ft.list<[floordiv(L, 4), 4], !v> {
    %in = ft.scanl (%x = %four : !ft.list<[4], !v>) init (%t = %s : !v) -> !ft.list<[4], !v> {
      %n = arith.addf %t, %x : !v
      ft.yield %n : !v
    }
    %sum = ft.foldl (%x = %four : !ft.list<[4], !v>) init (%t = %s : !v) -> !v {
      %n = arith.addf %t, %x : !v
      ft.yield %n : !v
    }
    ft.yield %sum : !v emit %in : !ft.list<[4], !v>
  }
  return %y : !ft.list<[floordiv(L, 4), 4], !v>
}

// Triangles: each row sums the prefix that a mask by positions leaves.
func.func @prefix_by_mask(%xs: !ft.list<[L], !s>) -> !ft.list<[L], !s> {
  %z = arith.constant dense<0.0> : !s
  %n = ft.iota : !ft.list<[L], !i>
  %y = ft.map (%i = %n : !ft.list<[L], !i>) -> !ft.list<[L], !s> {
    %t = ft.foldl (%x, %j = %xs, %n : !ft.list<[L], !s>, !ft.list<[L], !i>) init (%s = %z : !s) -> !s {
      %in = arith.cmpi sle, %j, %i : !i
      %v = arith.select %in, %x, %z : tensor<i1>, !s
      %u = arith.addf %s, %v : !s
      ft.yield %u : !s
    }
    ft.yield %t : !s
  }
  return %y : !ft.list<[L], !s>
}

// Lists of lists of lists, turned about all three dimensions.
func.func @turned(%x: !ft.list<[A, B, C], !s>) -> !ft.list<[C, A, B], !s> {
  %t = ft.transpose %x [2, 0, 1] : !ft.list<[A, B, C], !s>
  %r = ft.map (%ab = %t : !ft.list<[C, A, B], !s>) -> !ft.list<[C, A, B], !s> {
    %u = ft.reverse %ab : !ft.list<[A, B], !s>
    %q = ft.map (%b = %u : !ft.list<[A, B], !s>) -> !ft.list<[A, B], !s> {
      %z = arith.constant dense<0.0> : !s
      %s = ft.scanr (%e = %b : !ft.list<[B], !s>) init (%a = %z : !s) -> !ft.list<[B], !s> {
        %n = arith.addf %a, %e : !s
        ft.yield %n : !s
      }
      ft.yield %s : !ft.list<[B], !s>
    }
    ft.yield %q : !ft.list<[A, B], !s>
  }
  return %r : !ft.list<[C, A, B], !s>
}

// Neighbours in two dimensions (a stencil), with other boundaries in each.
func.func @stencil(%x: !ft.list<[A, B], !s>) -> !ft.list<[A, B], !s> attributes {ft.bounds = #ft.bounds<"A >= 1">} {
  %rows = ft.window %x size 3 boundary clamp : !ft.list<[A, B], !s>
  %y = ft.map (%three = %rows : !ft.list<[A, 3, B], !s>) -> !ft.list<[A, B], !s> {
    %t = ft.transpose %three [1, 0] : !ft.list<[3, B], !s>
    %cols = ft.window %t size 3 boundary zero : !ft.list<[B, 3], !s>
    %row = ft.map (%nine = %cols : !ft.list<[B, 3, 3], !s>) -> !ft.list<[B], !s> {
      %z = arith.constant dense<0.0> : !s
      %flat = ft.flatten %nine : !ft.list<[3, 3], !s>
      %s = ft.reduce (%e = %flat : !ft.list<[9], !s>) init (%a = %z : !s) -> !s {
        %n = arith.addf %a, %e : !s
        ft.yield %n : !s
      }
      ft.yield %s : !s
    }
    ft.yield %row : !ft.list<[B], !s>
  }
  return %y : !ft.list<[A, B], !s>
}

// Lengths that are equal by assertion.
func.func @asserted(%xs: !ft.list<[L], !v>, %ys: !ft.list<[M], !v>) -> !ft.list<[L], !v>
    attributes {ft.bounds = #ft.bounds<"L == M">} {
  %c = ft.cast %ys : !ft.list<[M], !v> to !ft.list<[L], !v>
  %y = ft.map (%a, %b = %xs, %c : !ft.list<[L], !v>, !ft.list<[L], !v>) -> !ft.list<[L], !v> {
    %n = arith.subf %a, %b : !v
    ft.yield %n : !v
  }
  return %y : !ft.list<[L], !v>
}

// Two symbolic lengths that every access joins: a scan over the seams, and the result
// split again.
func.func @joined_pair(%xss: !ft.list<[N, M], !v>) -> (!ft.list<[N, M], !v>, !ft.list<[M * N], !v>)
    attributes {ft.bounds = #ft.bounds<"M >= 1">} {
  %z = arith.constant dense<0.0> : !v
  %half = arith.constant dense<0.5> : !v
  %xs = ft.flatten %xss : !ft.list<[N, M], !v>
  %a = ft.scanl (%x = %xs : !ft.list<[M * N], !v>) init (%s = %z : !v) -> !ft.list<[M * N], !v> {
    %d = arith.mulf %s, %half : !v
    %n = arith.addf %d, %x : !v
    ft.yield %n : !v
  }
  %w = ft.window %xs size 3 boundary zero : !ft.list<[M * N], !v>
  %b = ft.map (%three = %w : !ft.list<[M * N, 3], !v>) -> !ft.list<[M * N], !v> {
    %first = ft.at %three[0] : !ft.list<[3], !v>
    %last = ft.at %three[2] : !ft.list<[3], !v>
    %d = arith.subf %last, %first : !v
    ft.yield %d : !v
  }
  %r = ft.split %a by M : !ft.list<[M * N], !v>
  return %r, %b : !ft.list<[N, M], !v>, !ft.list<[M * N], !v>
}
