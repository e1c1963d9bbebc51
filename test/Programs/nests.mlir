// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imperfect and deep nests: folds that start scans, grids from both corners, lists
// carried through three scans.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 7 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!x = tensor<1x5xf32>
!w = tensor<5x5xf32>
!s = tensor<f32>

// A fold whose state is a whole list, rewritten at each step (power iteration on a ring).
func.func @fold_of_lists(%xs: !ft.list<[L], !x>, %fs: !ft.list<[K], !x> {ft.gen = #ft.normal<0.3>})
    -> !ft.list<[L], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %r = ft.foldl (%f = %fs : !ft.list<[K], !x>) init (%now = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %win = ft.window %now size 3 boundary wrap : !ft.list<[L], !x>
    %next = ft.map (%three = %win : !ft.list<[L, 3], !x>) -> !ft.list<[L], !x> {
      %a = ft.at %three[0] : !ft.list<[3], !x>
      %b = ft.at %three[1] : !ft.list<[3], !x>
      %c = ft.at %three[2] : !ft.list<[3], !x>
      %ac = arith.addf %a, %c : !x
      %fac = arith.mulf %f, %ac : !x
      %y = arith.addf %b, %fac : !x
      %t = math.tanh %y : !x
      ft.yield %t : !x
    }
    ft.yield %next : !ft.list<[L], !x>
  }
  return %r : !ft.list<[L], !x>
}

// foldr of a scanl of a foldl; the middle one starts where the first one ended.
func.func @fold_starts_scan(%as: !ft.list<[K], !x>, %xs: !ft.list<[L], !x>) -> !x {
  %z = arith.constant dense<0.0> : !x
  %half = arith.constant dense<0.5> : !x
  %s0 = ft.foldl (%a = %as : !ft.list<[K], !x>) init (%s = %z : !x) -> !x {
    %d = arith.mulf %s, %half : !x
    %y = arith.addf %d, %a : !x
    ft.yield %y : !x
  }
  %ys = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %s0 : !x) -> !ft.list<[L], !x> {
    %d = arith.mulf %h, %half : !x
    %y = arith.addf %d, %x : !x
    ft.yield %y : !x
  }
  %r = ft.foldr (%y = %ys : !ft.list<[L], !x>) init (%s = %z : !x) -> !x {
    %d = arith.mulf %s, %half : !x
    %u = arith.subf %y, %d : !x
    ft.yield %u : !x
  }
  return %r : !x
}

// A scan without `init`: the first element is the state.
func.func @scan_of_itself(%xs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>, !x)
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %half = arith.constant dense<0.5> : !x
  %l = ft.scanl (%x = %xs : !ft.list<[L], !x>) state (%s) {
    %d = arith.mulf %s, %half : !x
    %y = arith.addf %d, %x : !x
    ft.yield %y : !x
  }
  %r = ft.scanr (%x = %l : !ft.list<[L], !x>) state (%s) {
    %y = arith.maximumf %s, %x : !x
    ft.yield %y : !x
  }
  %m = ft.reduce (%x = %r : !ft.list<[L], !x>) state (%s) {
    %y = arith.minimumf %s, %x : !x
    ft.yield %y : !x
  }
  return %l, %r, %m : !ft.list<[L], !x>, !ft.list<[L], !x>, !x
}

// A grid whose two dimensions both carry, one of them from the right, with the
// diagonal neighbour as a third input (dynamic programming).
func.func @alignment(%as: !ft.list<[S], !s>, %bs: !ft.list<[T], !s>) -> !ft.list<[S, T], !s> {
  %z = arith.constant dense<0.0> : !s
  %gap = arith.constant dense<0.3> : !s
  %zs = ft.repeat %z times T : !s
  %r = ft.scanl (%a = %as : !ft.list<[S], !s>) init (%up = %zs : !ft.list<[T], !s>) -> !ft.list<[S, T], !s> {
    %diagonal = ft.shift %up by 1 fill %z : !ft.list<[T], !s>, !s
    %row = ft.scanl (%b, %u, %d = %bs, %up, %diagonal : !ft.list<[T], !s>, !ft.list<[T], !s>, !ft.list<[T], !s>)
        init (%left = %z : !s) -> !ft.list<[T], !s> {
      %m = arith.mulf %a, %b : !s
      %x = arith.addf %d, %m : !s
      %ug = arith.subf %u, %gap : !s
      %lg = arith.subf %left, %gap : !s
      %best = arith.maximumf %ug, %lg : !s
      %y = arith.maximumf %x, %best : !s
      ft.yield %y : !s
    }
    ft.yield %row : !ft.list<[T], !s>
  }
  return %r : !ft.list<[S, T], !s>
}

// The same from the other corner.
func.func @alignment_from_the_end(%as: !ft.list<[S], !s>, %bs: !ft.list<[T], !s>) -> !ft.list<[S, T], !s> {
  %z = arith.constant dense<0.0> : !s
  %zs = ft.repeat %z times T : !s
  %r = ft.scanr (%a = %as : !ft.list<[S], !s>) init (%down = %zs : !ft.list<[T], !s>) -> !ft.list<[S, T], !s> {
    %diagonal = ft.shift %down by -1 fill %z : !ft.list<[T], !s>, !s
    %row = ft.scanr (%b, %u, %d = %bs, %down, %diagonal : !ft.list<[T], !s>, !ft.list<[T], !s>, !ft.list<[T], !s>)
        init (%right = %z : !s) -> !ft.list<[T], !s> {
      %m = arith.mulf %a, %b : !s
      %x = arith.addf %d, %m : !s
      %best = arith.maximumf %u, %right : !s
      %y = arith.maximumf %x, %best : !s
      ft.yield %y : !s
    }
    ft.yield %row : !ft.list<[T], !s>
  }
  return %r : !ft.list<[S, T], !s>
}

// Three scans deep, each layer's length another, with a fold of every row emitted.
func.func @three_deep(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.1>})
    -> (!ft.list<[N, D, L], !x>, !ft.list<[N, D], !x>) {
  %z = arith.constant dense<0.0> : !x
  %third = arith.constant dense<0.33> : !x
  %zero = ft.repeat %z times L : !x
  %zeros = ft.repeat %zero times D : !ft.list<[L], !x>
  %y, %e = ft.scanl (%xs = %xss : !ft.list<[N, L], !x>) init (%before = %zeros : !ft.list<[D, L], !x>)
      -> !ft.list<[N, D, L], !x>, !ft.list<[N, D], !x> {
    %hs, %last = ft.scanl (%w, %olds = %ws, %before : !ft.list<[D], !w>, !ft.list<[D, L], !x>)
        init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x>, !ft.list<[D], !x> {
      %row = ft.scanl (%x, %old = %below, %olds : !ft.list<[L], !x>, !ft.list<[L], !x>)
          init (%h = %z : !x) -> !ft.list<[L], !x> {
        %sum = arith.addf %x, %old : !x
        %xo = arith.mulf %sum, %third : !x
        %g = linalg.matmul ins(%h, %w : !x, !w) outs(%xo : !x) -> !x
        %t = math.tanh %g : !x
        ft.yield %t : !x
      }
      %sum = ft.foldr (%v = %row : !ft.list<[L], !x>) init (%s = %z : !x) -> !x {
        %t = arith.addf %s, %v : !x
        ft.yield %t : !x
      }
      ft.yield %row : !ft.list<[L], !x> emit %sum : !x
    }
    ft.yield %hs : !ft.list<[D, L], !x> emit %last : !ft.list<[D], !x>
  }
  return %y, %e : !ft.list<[N, D, L], !x>, !ft.list<[N, D], !x>
}

// A scan of a map of a scan: the inner one restarts from what the outer one carries.
func.func @restarting(%xsss: !ft.list<[B, K, L], !x>) -> (!ft.list<[B, K, L], !x>, !ft.list<[B, K], !x>) {
  %z = arith.constant dense<0.0> : !x
  %half = arith.constant dense<0.5> : !x
  %a, %b = ft.map (%xss = %xsss : !ft.list<[B, K, L], !x>) -> !ft.list<[B, K, L], !x>, !ft.list<[B, K], !x> {
    %c, %d = ft.scanl (%xs = %xss : !ft.list<[K, L], !x>) init (%carry = %z : !x)
        -> !ft.list<[K], !x>, !ft.list<[K, L], !x> {
      %ys = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %carry : !x) -> !ft.list<[L], !x> {
        %k = arith.mulf %h, %half : !x
        %y = arith.addf %k, %x : !x
        ft.yield %y : !x
      }
      %next = ft.foldl (%y = %ys : !ft.list<[L], !x>) init (%s = %carry : !x) -> !x {
        %m = arith.maximumf %s, %y : !x
        ft.yield %m : !x
      }
      ft.yield %next : !x emit %ys : !ft.list<[L], !x>
    }
    ft.yield %d, %c : !ft.list<[K, L], !x>, !ft.list<[K], !x>
  }
  return %a, %b : !ft.list<[B, K, L], !x>, !ft.list<[B, K], !x>
}
