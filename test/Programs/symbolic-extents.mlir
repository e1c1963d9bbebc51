// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of symbolic sizes, elements without elements, pads of windows down to length 0, and functions of the
// whole table in states and outside of all loops.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 4 programs, {{[1-9][0-9]+}} runs, 0 failures{{$}}

!s = tensor<f32>
!e = tensor<3x0xf32>
!v = tensor<5xf32>

// lengths: L % max(C, 1) == 0
func.func @chunks_of_chunks(%xs: !ft.list<[L], !v>, %p: !ft.list<[C], !v>) -> (!ft.list<[floordiv(L, C)], !v>, !ft.list<[C], !v>)
    attributes {ft.bounds = #ft.bounds<"C >= 1">, ft.lengths = {L = 12 : i64, C = 4 : i64}} {
  %z = arith.constant dense<0.0> : !v
  %b = ft.split %xs by C : !ft.list<[L], !v>
  %sums = ft.map (%row = %b : !ft.list<[floordiv(L, C), C], !v>) {
    %s = ft.foldl (%x, %q = %row, %p : !ft.list<[C], !v>, !ft.list<[C], !v>) init (%a = %z : !v) {
      %m = arith.mulf %x, %q : !v
      %t = arith.addf %a, %m : !v
      ft.yield %t : !v
    }
    ft.yield %s : !v
  }
  %t = ft.foldl (%row = %b : !ft.list<[floordiv(L, C), C], !v>) init (%a = %p : !ft.list<[C], !v>) {
    %n = ft.map (%x, %y = %row, %a : !ft.list<[C], !v>, !ft.list<[C], !v>) {
      %m = arith.maximumf %x, %y : !v
      ft.yield %m : !v
    }
    ft.yield %n : !ft.list<[C], !v>
  }
  return %sums, %t : !ft.list<[floordiv(L, C)], !v>, !ft.list<[C], !v>
}

// Extents of 0 beside others, through a scan, a fold and a product.
func.func @nothing_inside(%xs: !ft.list<[N], !e>, %ys: !ft.list<[N], tensor<0x4xf32>>, %a: !ft.list<[N], tensor<3x4xf32>>) -> (!ft.list<[N], !e>, !ft.list<[N], tensor<3x4xf32>>, tensor<f32>)
    attributes {ft.lengths = {N = 5 : i64}} {
  %z = arith.constant dense<1.0> : !s
  %zz = arith.constant dense<0.0> : !e
  %b0 = arith.constant dense<2.0> : tensor<3x4xf32>
  %r, %m = ft.scanl (%x, %y, %b = %xs, %ys, %a : !ft.list<[N], !e>, !ft.list<[N], tensor<0x4xf32>>, !ft.list<[N], tensor<3x4xf32>>) init (%s, %t = %zz, %b0 : !e, tensor<3x4xf32>) {
    %q = arith.addf %s, %x : !e
    %p = linalg.matmul ins(%q, %y : !e, tensor<0x4xf32>) outs(%b : tensor<3x4xf32>) -> tensor<3x4xf32>
    %u = arith.addf %p, %t : tensor<3x4xf32>
    ft.yield %q, %u : !e, tensor<3x4xf32>
  }
  %f = ft.foldl (%x = %r : !ft.list<[N], !e>) init (%s = %z : !s) {
    %n = linalg.reduce ins(%x : !e) outs(%s : !s) dimensions = [0, 1] (%i: f32, %o: f32) {
      %g = arith.addf %i, %o : f32
      linalg.yield %g : f32
    }
    %h = arith.addf %n, %s : !s
    ft.yield %h : !s
  }
  return %r, %m, %f : !ft.list<[N], !e>, !ft.list<[N], tensor<3x4xf32>>, tensor<f32>
}

// Causal and centred pads of windows in one program, lengths that go to 0.
func.func @pads(%xs: !ft.list<[L], !v>) -> (!ft.list<[L], !v>, !ft.list<[L], !v>) attributes {ft.lengths = {L = 5 : i64}} {
  %z = arith.constant dense<0.0> : !v
  %before = ft.repeat %z times 4 : !v
  %padded = ft.concat %before, %xs : !ft.list<[4], !v>, !ft.list<[L], !v>
  %w = ft.window %padded size 3 dilation 2 : !ft.list<[L + 4], !v>
  %r = ft.map (%p = %w : !ft.list<[L, 3], !v>) {
    %s = ft.foldl (%x = %p : !ft.list<[3], !v>) init (%a = %z : !v) {
      %t = math.tanh %x : !v
      %y = arith.addf %a, %t : !v
      ft.yield %y : !v
    }
    ft.yield %s : !v
  }
  %one = ft.repeat %z times 1 : !v
  %left = ft.concat %one, %xs : !ft.list<[1], !v>, !ft.list<[L], !v>
  %both = ft.concat %left, %one : !ft.list<[L + 1], !v>, !ft.list<[1], !v>
  %w2 = ft.window %both size 3 : !ft.list<[L + 2], !v>
  %c = ft.map (%p = %w2 : !ft.list<[L, 3], !v>) {
    %s = ft.reduce (%x = %p : !ft.list<[3], !v>) init (%a = %z : !v) {
      %y = arith.maximumf %a, %x : !v
      ft.yield %y : !v
    }
    ft.yield %s : !v
  }
  return %r, %c : !ft.list<[L], !v>, !ft.list<[L], !v>
}

// Math of the table in a carried state and outside of every loop.
func.func @odd_math(%xs: !ft.list<[L], !v>, %k: !v) -> (!ft.list<[L], !v>, !v) attributes {ft.lengths = {L = 5 : i64}} {
  %h = arith.constant dense<0.5> : !v
  %k1 = math.cbrt %k : !v
  %k2 = math.asinh %k1 : !v
  %r = ft.scanl (%x = %xs : !ft.list<[L], !v>) init (%s = %k2 : !v) {
    %a = math.atan2 %x, %s : !v
    %b = math.erfc %a : !v
    %c = math.sinh %b : !v
    %d = math.round %x : !v
    %e = math.clampf %c to [%d, %k] : !v
    %n = arith.minnumf %c, %e : !v
    %t = math.tanh %n : !v
    %q = math.atanh %h : !v
    %y = arith.mulf %t, %q : !v
    ft.yield %y : !v
  }
  return %r, %k2 : !ft.list<[L], !v>, !v
}
