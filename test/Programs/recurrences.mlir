// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recurrences that no example has: nests of scans and folds in every direction,
// imperfect nests, several states, emitted values, lags.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 7 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!x = tensor<1x5xf32>
!w = tensor<5x5xf32>
!s = tensor<f32>

// A scan from the right over the results of one from the left (a bidirectional layer).
func.func @both_directions(%xss: !ft.list<[N, L], !x>, %w: !w {ft.gen = #ft.normal<0.4>})
    -> (!ft.list<[N, L], !x>, !ft.list<[N, L], !x>) {
  %z = arith.constant dense<0.0> : !x
  %f, %b = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x>, !ft.list<[N, L], !x> {
    %fs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !x) -> !ft.list<[L], !x> {
      %y = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %y : !x
      ft.yield %t : !x
    }
    %bs = ft.scanr (%x = %fs : !ft.list<[L], !x>) init (%h = %z : !x) -> !ft.list<[L], !x> {
      %y = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %y : !x
      ft.yield %t : !x
    }
    ft.yield %fs, %bs : !ft.list<[L], !x>, !ft.list<[L], !x>
  }
  return %f, %b : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>
}

// A fold inside a scan inside a map: attention-like memory over the rows of a table.
func.func @fold_in_scan_in_map(%xss: !ft.list<[N, L], !x>, %ms: !ft.list<[K], !x>)
    -> !ft.list<[N, L], !x> {
  %z = arith.constant dense<0.0> : !x
  %c = arith.constant dense<0.25> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %ys = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !x) -> !ft.list<[L], !x> {
      %a = ft.foldl (%m = %ms : !ft.list<[K], !x>) init (%acc = %x : !x) -> !x {
        %p = arith.mulf %m, %h : !x
        %q = arith.mulf %p, %c : !x
        %t = math.tanh %q : !x
        %u = arith.addf %acc, %t : !x
        ft.yield %u : !x
      }
      %y = math.tanh %a : !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}

// A map, then a scan, inside a scan: the layer below is transformed as a whole first.
func.func @map_then_scan_in_scan(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.4>})
    -> !ft.list<[D, L], !x> {
  %z = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %ps = ft.map (%x = %below : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%x, %w : !x, !w) outs(%z : !x) -> !x
      ft.yield %p : !x
    }
    %ys = ft.scanl (%p = %ps : !ft.list<[L], !x>) init (%h = %z : !x) -> !ft.list<[L], !x> {
      %a = arith.addf %p, %h : !x
      %y = math.tanh %a : !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// The state of the outer scan is read reversed and shifted: neither distance is constant
// in the order as written.
func.func @reversed_state(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.4>})
    -> !ft.list<[D, L], !x> {
  %z = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %rev = ft.reverse %below : !ft.list<[L], !x>
    %late = ft.shift %rev by 2 fill %z : !ft.list<[L], !x>, !x
    %ys = ft.scanl (%a, %b = %rev, %late : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%h = %z : !x) -> !ft.list<[L], !x> {
      %ab = arith.addf %a, %b : !x
      %y = linalg.matmul ins(%h, %w : !x, !w) outs(%ab : !x) -> !x
      %t = math.tanh %y : !x
      ft.yield %t : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// Each layer sees a window of the layer below (a recurrent convolution).
func.func @windowed_state(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.3>})
    -> !ft.list<[D, L], !x> {
  %z = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %win = ft.window %below size 3 boundary zero : !ft.list<[L], !x>
    %ys = ft.map (%three = %win : !ft.list<[L, 3], !x>) -> !ft.list<[L], !x> {
      %sum = ft.reduce (%x = %three : !ft.list<[3], !x>) init (%a = %z : !x) -> !x {
        %t = arith.addf %a, %x : !x
        ft.yield %t : !x
      }
      %y = linalg.matmul ins(%sum, %w : !x, !w) outs(%z : !x) -> !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// Windows of a scan's own result, and the scan of the windows' sums.
func.func @windows_of_a_scan(%xs: !ft.list<[L], !x>) -> !ft.list<[L - 2], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  %z = arith.constant dense<0.0> : !x
  %half = arith.constant dense<0.5> : !x
  %ys = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !x) -> !ft.list<[L], !x> {
    %d = arith.mulf %h, %half : !x
    %y = arith.addf %d, %x : !x
    ft.yield %y : !x
  }
  %win = ft.window %ys size 3 : !ft.list<[L], !x>
  %r = ft.scanr (%three = %win : !ft.list<[L - 2, 3], !x>) init (%h = %z : !x) -> !ft.list<[L - 2], !x> {
    %first = ft.at %three[0] : !ft.list<[3], !x>
    %last = ft.at %three[-1] : !ft.list<[3], !x>
    %d = arith.subf %last, %first : !x
    %k = arith.mulf %h, %half : !x
    %y = arith.addf %k, %d : !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[L - 2], !x>
}

// Two states, one of them a list; a third value emitted; lag 3.
func.func @states_emit_lag(%xs: !ft.list<[L], !x>, %w: !w {ft.gen = #ft.normal<0.4>})
    -> (!ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !s>) {
  %z = arith.constant dense<0.0> : !x
  %zs = arith.constant dense<0.0> : !s
  %h, %c, %n = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h0, %c0 = %z, %z : !x, !x) lag 3
      -> !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !s> {
    %g = linalg.matmul ins(%h0, %w : !x, !w) outs(%x : !x) -> !x
    %t = math.tanh %g : !x
    %c1 = arith.addf %c0, %t : !x
    %h1 = math.tanh %c1 : !x
    %sq = arith.mulf %h1, %h1 : !x
    %norm = linalg.reduce { arith.addf } ins(%sq : !x) outs(%zs : !s) dimensions = [0, 1]
    ft.yield %h1, %c1 : !x, !x emit %norm : !s
  }
  return %h, %c, %n : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !s>
}
