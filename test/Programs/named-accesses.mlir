// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lengths as sizes and dilations of windows, as lags and as offsets of shifts; layers with a length of
// their own. Integers: the same bit for bit on the CPU and in declared order after the last phase, here,
// and as NumPy has it (named-accesses.py).
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=cpu | FileCheck %s
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=emulate | FileCheck %s
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=interpret --order=declared --to=tile --seed=3 | FileCheck %s
// CHECK: 17 programs, 110 runs, 0 failures{{$}}
// RUN: %python %S/Inputs/named-accesses.py %ft_bin/ft-run %s %t | FileCheck %s --check-prefix=NUMPY
// REQUIRES: numpy
// NUMPY: 17 programs, 51 runs, 0 wrong{{$}}

!x = tensor<2xi32>

// The size of the window is that of the weights.
func.func @size(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[L - K + 1], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1", "L >= K">, ft.lengths = {L = 9 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %v = ft.window %xs size K : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L - K + 1, K], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%t = %zero : !x) {
      %p = arith.muli %a, %b : !x
      %n = arith.subi %p, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[L - K + 1], !x>
}

// Steps of 2, every third element, and K - 1 zeros in front: as many windows as steps.
func.func @size_causal(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[ceildiv(L, 2)], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {L = 9 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %pad = ft.repeat %zero times 3 * K - 3 : !x
  %p = ft.concat %pad, %xs : !ft.list<[3 * K - 3], !x>, !ft.list<[L], !x>
  %v = ft.window %p size K step 2 dilation 3 : !ft.list<[L + 3 * K - 3], !x>
  %c = ft.cast %v : !ft.list<[floordiv(L - 1, 2) + 1, K], !x> to !ft.list<[ceildiv(L, 2), K], !x>
  %r = ft.map (%w = %c : !ft.list<[ceildiv(L, 2), K], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%t = %zero : !x) {
      %q = arith.muli %a, %b : !x
      %n = arith.subi %q, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[ceildiv(L, 2)], !x>
}

// Centred windows of named sizes: what is outside is zero, the end, the list reflected or from its other end.
func.func @size_zero(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[L], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {L = 9 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %v = ft.window %xs size K boundary zero : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L, K], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%t = %zero : !x) {
      %p = arith.muli %a, %b : !x
      %n = arith.subi %p, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[L], !x>
}
func.func @size_clamp(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[L], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1", "L >= 1">, ft.lengths = {L = 9 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %v = ft.window %xs size K dilation 2 boundary clamp : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L, K], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%t = %zero : !x) {
      %p = arith.muli %a, %b : !x
      %n = arith.subi %p, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[L], !x>
}
// also: L=9 K=4; L=8 K=7; L=127 K=5
func.func @size_mirror(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[L], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1", "L >= K + 1">, ft.lengths = {L = 9 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %v = ft.window %xs size K boundary mirror : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L, K], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%t = %zero : !x) {
      %p = arith.muli %a, %b : !x
      %n = arith.subi %p, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[L], !x>
}
func.func @size_wrap(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[L], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1", "L >= K">, ft.lengths = {L = 9 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %v = ft.window %xs size K boundary wrap : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L, K], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%t = %zero : !x) {
      %p = arith.muli %a, %b : !x
      %n = arith.subi %p, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[L], !x>
}

// Three places that are D apart.
// also: L=2 D=1; L=14 D=7; L=127 D=31
func.func @dilation(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>, %ws: !ft.list<[3], !x>) -> !ft.list<[L - 2 * D], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1", "L >= 2 * D">, ft.lengths = {L = 9 : i64, D = 3 : i64}} {
  %zero = arith.constant dense<0> : !x
  %v = ft.window %xs size 3 dilation D : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L - 2 * D, 3], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[3], !x>, !ft.list<[3], !x>) init (%t = %zero : !x) {
      %p = arith.muli %a, %b : !x
      %n = arith.subi %p, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[L - 2 * D], !x>
}
func.func @dilation_zero(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>, %ws: !ft.list<[4], !x>) -> !ft.list<[ceildiv(L, 3)], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1">, ft.lengths = {L = 9 : i64, D = 3 : i64}} {
  %zero = arith.constant dense<0> : !x
  %v = ft.window %xs size 4 step 3 dilation D + 1 boundary zero : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[ceildiv(L, 3), 4], !x>) {
    %s = ft.foldl (%a, %b = %w, %ws : !ft.list<[4], !x>, !ft.list<[4], !x>) init (%t = %zero : !x) {
      %p = arith.muli %a, %b : !x
      %n = arith.subi %p, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[ceildiv(L, 3)], !x>
}

// The state comes from D steps before, from the left, the right, and where the order is free.
func.func @lag(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>) -> !ft.list<[L], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1">, ft.lengths = {L = 9 : i64, D = 3 : i64}} {
  %one = arith.constant dense<1> : !x
  %r = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %one : !x) lag D {
    %y = arith.subi %x, %s : !x
    %z = arith.muli %y, %y : !x
    ft.yield %z : !x
  }
  return %r : !ft.list<[L], !x>
}
func.func @lag_right(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>)
    attributes {ft.bounds = #ft.bounds<"D >= 1">, ft.lengths = {L = 9 : i64, D = 3 : i64}} {
  %one = arith.constant dense<1> : !x
  %r, %e = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%s = %one : !x) lag D + 1 {
    %y = arith.subi %x, %s : !x
    %z = arith.muli %y, %y : !x
    ft.yield %z : !x emit %y : !x
  }
  return %r, %e : !ft.list<[L], !x>, !ft.list<[L], !x>
}
func.func @lag_sum(%xss: !ft.list<[N, L], !x>, %ds: !ft.list<[D], !x>) -> !ft.list<[N, L], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1">, ft.lengths = {N = 2 : i64, L = 9 : i64, D = 3 : i64}} {
  %zero = arith.constant dense<0> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %p = ft.scan (%x = %xs : !ft.list<[L], !x>) init (%s = %zero : !x) lag D {
      %y = arith.addi %s, %x : !x
      ft.yield %y : !x
    }
    ft.yield %p : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}

// Up by D, down by D, and by a difference of which nothing knows the sign.
func.func @shifts(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>, %es: !ft.list<[E], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>)
    attributes {ft.lengths = {L = 9 : i64, D = 3 : i64, E = 4 : i64}} {
  %five = arith.constant dense<5> : !x
  %a = ft.shift %xs by D fill %five : !ft.list<[L], !x>, !x
  %b = ft.shift %xs by -D fill %five : !ft.list<[L], !x>, !x
  %c = ft.shift %xs by D - E fill %five : !ft.list<[L], !x>, !x
  %r, %s, %t = ft.map (%x, %u, %v, %w = %xs, %a, %b, %c : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>) {
    %p = arith.subi %x, %u : !x
    %q = arith.subi %x, %v : !x
    %o = arith.subi %x, %w : !x
    ft.yield %p, %q, %o : !x, !x, !x
  }
  return %r, %s, %t : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>
}

// Layers of a dilated network: each adds what is d steps before; what each layer makes is a list.
func.func @layers(%in: !ft.list<[L], !x>, %ws: !ft.list<[4], !x>) -> (!ft.list<[L], !x>, !ft.list<[4, L], !x>)
    attributes {ft.lengths = {L = 9 : i64}} {
  %zero = arith.constant dense<0> : !x
  %out, %all = ft.foldl (%w = %ws : !ft.list<[4], !x>) init (%xs = %in : !ft.list<[L], !x>) for d in [1, 2, 4, 8] {
    %past = ft.shift %xs by d fill %zero : !ft.list<[L], !x>, !x
    %ys = ft.map (%x, %p = %xs, %past : !ft.list<[L], !x>, !ft.list<[L], !x>) {
      %a = arith.muli %p, %w : !x
      %b = arith.subi %x, %a : !x
      ft.yield %b : !x
    }
    ft.yield %ys : !ft.list<[L], !x> emit %past : !ft.list<[L], !x>
  }
  return %out, %all : !ft.list<[L], !x>, !ft.list<[4, L], !x>
}

// Windows by layer, of other sizes and dilations, from the last layer to the first.
func.func @layers_right(%in: !ft.list<[L], !x>, %ws: !ft.list<[3], !x>) -> !ft.list<[3, L], !x>
    attributes {ft.lengths = {L = 9 : i64}} {
  %zero = arith.constant dense<0> : !x
  %all = ft.scanr (%w = %ws : !ft.list<[3], !x>) init (%xs = %in : !ft.list<[L], !x>) for d in [0, 1, 3] {
    %pad = ft.repeat %w times 2 * d + 2 : !x
    %p = ft.concat %pad, %xs : !ft.list<[2 * d + 2], !x>, !ft.list<[L], !x>
    %v = ft.window %p size 3 dilation d + 1 : !ft.list<[L + 2 * d + 2], !x>
    %ys = ft.map (%t = %v : !ft.list<[L, 3], !x>) {
      %s = ft.foldl (%a = %t : !ft.list<[3], !x>) init (%u = %zero : !x) {
        %n = arith.subi %a, %u : !x
        ft.yield %n : !x
      }
      ft.yield %s : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %all : !ft.list<[3, L], !x>
}

// A dilated recurrent network: the lag is that of the layer.
func.func @layers_lag(%in: !ft.list<[N, L], !x>, %ws: !ft.list<[3], !x>) -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 2 : i64, L = 9 : i64}} {
  %zero = arith.constant dense<0> : !x
  %out = ft.foldl (%w = %ws : !ft.list<[3], !x>) init (%xss = %in : !ft.list<[N, L], !x>) for d in [1, 2, 4] {
    %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
      %ys = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) lag d {
        %a = arith.muli %h, %w : !x
        %b = arith.subi %x, %a : !x
        ft.yield %b : !x
      }
      ft.yield %ys : !ft.list<[L], !x>
    }
    ft.yield %yss : !ft.list<[N, L], !x>
  }
  return %out : !ft.list<[N, L], !x>
}

// Layers in layers, the inner ones with a length of the outer; no initial state: the first element is it.
func.func @layers_nested(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 9 : i64}} {
  %zero = arith.constant dense<0> : !x
  %two = ft.repeat %xs times 2 : !ft.list<[L], !x>
  %r = ft.foldl (%a = %two : !ft.list<[2, L], !x>) state (%s) for d in [7, 2] {
    %three = ft.repeat %zero times 3 : !x
    %q = ft.foldl (%z = %three : !ft.list<[3], !x>) init (%t = %s : !ft.list<[L], !x>) for e in [0, 1, 2] {
      %past = ft.shift %a by d - e fill %z : !ft.list<[L], !x>, !x
      %ys = ft.map (%x, %p = %t, %past : !ft.list<[L], !x>, !ft.list<[L], !x>) {
        %b = arith.muli %x, %x : !x
        %c = arith.subi %b, %p : !x
        ft.yield %c : !x
      }
      ft.yield %ys : !ft.list<[L], !x>
    }
    ft.yield %q : !ft.list<[L], !x>
  }
  return %r : !ft.list<[L], !x>
}

// No states: sums of as many elements as the layer says.
func.func @layers_map(%xs: !ft.list<[L], !x>, %ws: !ft.list<[3], !x>) -> !ft.list<[3], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 5">, ft.lengths = {L = 9 : i64}} {
  %zero = arith.constant dense<0> : !x
  %r = ft.map (%w = %ws : !ft.list<[3], !x>) for d in [5, 0, 2] {
    %at = ft.slice %xs[0 to d] : !ft.list<[L], !x>
    %s = ft.foldl (%x = %at : !ft.list<[d], !x>) init (%t = %w : !x) {
      %y = arith.subi %x, %t : !x
      ft.yield %y : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[3], !x>
}
