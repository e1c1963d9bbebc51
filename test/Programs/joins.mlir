// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of lengths: pairs that every access joins, inside maps and scans, three in a
// row, with a constant and with nothing in them.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=interpret --order=declared --to=tile | FileCheck %s
// CHECK: 5 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!s = tensor<f32>
!v = tensor<4xf32>

// Heads and their parts as one dimension inside a batch.
func.func @inside(%x: !ft.list<[B, H, P], !v>, %w: !ft.list<[B, H, P, K], !v>) -> (!ft.list<[B, H * P], !v>, !ft.list<[B, H, P], !v>) attributes {ft.bounds = #ft.bounds<"P >= 1">} {
  %a, %b = ft.map (%y, %wy = %x, %w : !ft.list<[B, H, P], !v>, !ft.list<[B, H, P, K], !v>) {
    %f = ft.flatten %y : !ft.list<[H, P], !v>
    %g = ft.flatten %wy : !ft.list<[H, P, K], !v>
    %r = ft.map (%e, %k = %f, %g : !ft.list<[H * P], !v>, !ft.list<[H * P, K], !v>) {
      %s = ft.foldl (%q = %k : !ft.list<[K], !v>) init (%acc = %e : !v) {
        %t = arith.addf %acc, %q : !v
        ft.yield %t : !v
      }
      ft.yield %s : !v
    }
    %c = ft.split %r by P : !ft.list<[H * P], !v>
    ft.yield %r, %c : !ft.list<[H * P], !v>, !ft.list<[H, P], !v>
  }
  return %a, %b : !ft.list<[B, H * P], !v>, !ft.list<[B, H, P], !v>
}

// A scan over time whose state is a flattened plane; the rows come reversed, transposed and shifted in time.
func.func @plane_over_time(%x: !ft.list<[T, X, Y], !s>, %z0: !ft.list<[X, Y], !s>) -> (!ft.list<[T, X, Y], !s>, !ft.list<[X, Y, T], !s>) attributes {ft.bounds = #ft.bounds<"Y >= 1">} {
  %r = ft.reverse %x : !ft.list<[T, X, Y], !s>
  %sh = ft.shift %r by 1 fill %z0 : !ft.list<[T, X, Y], !s>, !ft.list<[X, Y], !s>
  %y = ft.scanl (%p = %sh : !ft.list<[T, X, Y], !s>) init (%st = %z0 : !ft.list<[X, Y], !s>) {
    %a = ft.flatten %p : !ft.list<[X, Y], !s>
    %b = ft.flatten %st : !ft.list<[X, Y], !s>
    %prev = ft.reverse %b : !ft.list<[X * Y], !s>
    %n = ft.map (%u, %v = %a, %prev : !ft.list<[X * Y], !s>, !ft.list<[X * Y], !s>) {
      %h = arith.constant dense<0.5> : !s
      %vh = arith.mulf %v, %h : !s
      %t = arith.addf %u, %vh : !s
      ft.yield %t : !s
    }
    %c = ft.split %n by Y : !ft.list<[X * Y], !s>
    ft.yield %c : !ft.list<[X, Y], !s>
  }
  %t = ft.transpose %y [1, 2, 0] : !ft.list<[T, X, Y], !s>
  return %y, %t : !ft.list<[T, X, Y], !s>, !ft.list<[X, Y, T], !s>
}

// Three lengths in one.
func.func @three(%x: !ft.list<[B, H, P, Q], !v>) -> !ft.list<[B, H * P * Q], !v> attributes {ft.bounds = #ft.bounds<"H >= 1", "P >= 1", "Q >= 1", "H * P * Q >= 1">} {
  %a = ft.map (%y = %x : !ft.list<[B, H, P, Q], !v>) {
    %f = ft.flatten %y : !ft.list<[H, P, Q], !v>
    %g = ft.flatten %f : !ft.list<[H * P, Q], !v>
    %r = ft.scanl (%e = %g : !ft.list<[H * P * Q], !v>) state (%s) {
      %t = arith.addf %s, %e : !v
      ft.yield %t : !v
    }
    ft.yield %r : !ft.list<[H * P * Q], !v>
  }
  return %a : !ft.list<[B, H * P * Q], !v>
}

// Flatten of a list with an empty inner one.
func.func @empty_inner(%x: !ft.list<[N, 0], !v>) -> (!ft.list<[0], !v>, !v) {
  %z = arith.constant dense<1.0> : !v
  %f = ft.flatten %x : !ft.list<[N, 0], !v>
  %r = ft.map (%e = %f : !ft.list<[0], !v>) {
    %t = math.exp %e : !v
    ft.yield %t : !v
  }
  %s = ft.foldl (%e = %f : !ft.list<[0], !v>) init (%a = %z : !v) {
    %t = arith.addf %e, %a : !v
    ft.yield %t : !v
  }
  return %r, %s : !ft.list<[0], !v>, !v
}

// Constant outer, symbolic inner.
func.func @constant_outer(%x: !ft.list<[3, M], !v>) -> !ft.list<[3 * M], !v> {
  %f = ft.flatten %x : !ft.list<[3, M], !v>
  %r = ft.map (%e = %f : !ft.list<[3 * M], !v>) {
    %t = math.exp %e : !v
    ft.yield %t : !v
  }
  return %r : !ft.list<[3 * M], !v>
}
