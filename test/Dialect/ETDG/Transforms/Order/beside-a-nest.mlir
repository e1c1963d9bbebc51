// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands beside the nest in the body of a scan (last states, folds of rows, values computed for
// each row) must not cost the wavefront. Integers: the same bit for bit.
//
// RUN: %python %S/Inputs/nests.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 11 programs, 22 runs, 0 failures

!x = tensor<1xi32>
!s = tensor<i32>

// The last state of each layer is emitted beside the sequence, PyTorch's h_n: it is copied when all
// layers are there.
// steps: D + L - 1; 1
func.func @last_state(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 12 : i64}} {
  %z = arith.constant dense<3> : !x
  %hss, %ls = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %z : !x) {
      %a = arith.muli %h, %w : !x
      %b = arith.subi %x, %a : !x
      ft.yield %b : !x
    }
    %last = ft.at %hs[-1] : !ft.list<[L], !x>
    ft.yield %hs : !ft.list<[L], !x> emit %last : !x
  }
  return %hss, %ls : !ft.list<[D, L], !x>, !ft.list<[D], !x>
}

// Two states of a cell, for each sequence of a batch: the nests have the batch's dimension, as they
// have without last states.
// steps: D + L - 1; 1
func.func @batch(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !x>)
    -> (!ft.list<[N, D, L], !x>, !ft.list<[N, D], !x>, !ft.list<[N, D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 3 : i64, D = 4 : i64, L = 9 : i64}} {
  %z = arith.constant dense<1> : !x
  %r:3 = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %hss, %hn, %cn = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
      %hs, %cs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h, %c = %z, %z : !x, !x) {
        %a = arith.muli %h, %w : !x
        %c1 = arith.addi %a, %c : !x
        %h1 = arith.subi %x, %c1 : !x
        ft.yield %h1, %c1 : !x, !x
      }
      %hl = ft.at %hs[-1] : !ft.list<[L], !x>
      %cl = ft.at %cs[-1] : !ft.list<[L], !x>
      ft.yield %hs : !ft.list<[L], !x> emit %hl, %cl : !x, !x
    }
    ft.yield %hss, %hn, %cn : !ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>
  }
  return %r#0, %r#1, %r#2 : !ft.list<[N, D, L], !x>, !ft.list<[N, D], !x>, !ft.list<[N, D], !x>
}

// Nothing returns the sequences.
// steps: D + L - 1; 1
func.func @only_last(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 4 : i64, L = 9 : i64}} {
  %z = arith.constant dense<2> : !x
  %hss, %ls = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %z : !x) {
      %a = arith.muli %x, %w : !x
      %b = arith.subi %a, %h : !x
      ft.yield %b : !x
    }
    %last = ft.at %hs[-1] : !ft.list<[L], !x>
    ft.yield %hs : !ft.list<[L], !x> emit %last : !x
  }
  return %ls : !ft.list<[D], !x>
}

// The last state of a layer is the first of the next one: that needs the whole row, and the
// order stays.
// steps: D; L; L
func.func @chained(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 4 : i64, L = 9 : i64}} {
  %z = arith.constant dense<2> : !x
  %hss, %ls = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below, %h0 = %xs, %z : !ft.list<[L], !x>, !x) {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %h0 : !x) {
      %a = arith.muli %x, %w : !x
      %b = arith.subi %a, %h : !x
      ft.yield %b : !x
    }
    %last = ft.at %hs[-1] : !ft.list<[L], !x>
    ft.yield %hs, %last : !ft.list<[L], !x>, !x
  }
  return %hss, %ls : !ft.list<[D, L], !x>, !ft.list<[D], !x>
}

// From the right; the first element, a sum, and a map by the sum.
// steps: D + L - 1; L; 1; 1
func.func @several(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>)
    -> (!ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>, !ft.list<[D, L], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 4 : i64, L = 9 : i64}} {
  %z = arith.constant dense<5> : !x
  %hss, %ls, %ss, %ms = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs = ft.scanr (%x = %below : !ft.list<[L], !x>) init (%h = %z : !x) {
      %a = arith.muli %x, %w : !x
      %b = arith.subi %a, %h : !x
      ft.yield %b : !x
    }
    %first = ft.at %hs[0] : !ft.list<[L], !x>
    %s = ft.foldl (%x = %hs : !ft.list<[L], !x>) init (%q = %z : !x) {
      %p = arith.muli %q, %z : !x
      %o = arith.addi %p, %x : !x
      ft.yield %o : !x
    }
    %m = ft.map (%x = %hs : !ft.list<[L], !x>) {
      %o = arith.subi %x, %s : !x
      ft.yield %o : !x
    }
    ft.yield %hs : !ft.list<[L], !x> emit %first, %s, %m : !x, !x, !ft.list<[L], !x>
  }
  return %hss, %ls, %ss, %ms : !ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>, !ft.list<[D, L], !x>
}

// Layers of grids: the last cell of each row, and the last row.
// steps: D + S + T - 2; 1; 1
func.func @grids(%as: !ft.list<[S], !x>, %bs: !ft.list<[T], !x>, %ws: !ft.list<[D], !x>)
    -> (!ft.list<[D, S, T], !x>, !ft.list<[D, S], !x>, !ft.list<[D, T], !x>)
    attributes {ft.bounds = #ft.bounds<"S >= 1", "T >= 1">, ft.lengths = {D = 3 : i64, S = 4 : i64, T = 9 : i64}} {
  %first = ft.repeat %bs times S : !ft.list<[T], !x>
  %g, %l, %r = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%plane = %first : !ft.list<[S, T], !x>) {
    %rows, %lasts = ft.scanl (%a, %pr = %as, %plane : !ft.list<[S], !x>, !ft.list<[S, T], !x>) init (%up = %bs : !ft.list<[T], !x>) {
      %row = ft.scanl (%u, %p = %up, %pr : !ft.list<[T], !x>, !ft.list<[T], !x>) init (%left = %a : !x) {
        %q = arith.subi %u, %left : !x
        %t = arith.muli %q, %w : !x
        %v = arith.addi %t, %p : !x
        ft.yield %v : !x
      }
      %e = ft.at %row[-1] : !ft.list<[T], !x>
      ft.yield %row : !ft.list<[T], !x> emit %e : !x
    }
    %lr = ft.at %rows[-1] : !ft.list<[S, T], !x>
    ft.yield %rows : !ft.list<[S, T], !x> emit %lasts, %lr : !ft.list<[S], !x>, !ft.list<[T], !x>
  }
  return %g, %l, %r : !ft.list<[D, S, T], !x>, !ft.list<[D, S], !x>, !ft.list<[D, T], !x>
}

// A fold of each row takes the grid's steps, one after it; its result is copied.
// steps: 1; S + T
func.func @row_fold(%as: !ft.list<[S], !x>, %bs: !ft.list<[T], !x>) -> (!ft.list<[S, T], !x>, !ft.list<[S], !x>)
    attributes {ft.lengths = {S = 8 : i64, T = 12 : i64}} {
  %z = arith.constant dense<7> : !x
  %r, %e = ft.scanl (%a = %as : !ft.list<[S], !x>) init (%up = %bs : !ft.list<[T], !x>) {
    %row = ft.scanl (%u = %up : !ft.list<[T], !x>) init (%left = %a : !x) {
      %p = arith.muli %u, %z : !x
      %t = arith.subi %p, %left : !x
      ft.yield %t : !x
    }
    %s = ft.foldl (%t = %row : !ft.list<[T], !x>) init (%q = %z : !x) {
      %p = arith.muli %q, %z : !x
      %o = arith.addi %p, %t : !x
      ft.yield %o : !x
    }
    ft.yield %row : !ft.list<[T], !x> emit %s : !x
  }
  return %r, %e : !ft.list<[S, T], !x>, !ft.list<[S], !x>
}

// The row's start is carried from row to row: a step before the row's first cell.
// steps: S + max(1, T)
func.func @row_carry(%as: !ft.list<[S], !x>, %bs: !ft.list<[T], !x>, %e0: !x) -> !ft.list<[S, T], !x>
    attributes {ft.lengths = {S = 8 : i64, T = 12 : i64}} {
  %r, %e = ft.scanl (%a = %as : !ft.list<[S], !x>) init (%up, %edge = %bs, %e0 : !ft.list<[T], !x>, !x) {
    %start = arith.addi %edge, %a : !x
    %row = ft.scanl (%u = %up : !ft.list<[T], !x>) init (%left = %start : !x) {
      %p = arith.muli %u, %a : !x
      %t = arith.subi %p, %left : !x
      ft.yield %t : !x
    }
    ft.yield %row, %start : !ft.list<[T], !x>, !x
  }
  return %r : !ft.list<[S, T], !x>
}

// The same for each member of a batch, the first row repeating a value that is computed.
// steps: S + T
func.func @computed_init(%ass: !ft.list<[N, S], !s>, %bs: !ft.list<[T], !s>, %c: !s) -> !ft.list<[N, S, T], !s>
    attributes {ft.bounds = #ft.bounds<"T >= 1">, ft.lengths = {N = 2 : i64, S = 9 : i64, T = 11 : i64}} {
  %n = arith.muli %c, %c : !s
  %top = ft.repeat %n times T : !s
  %g = ft.map (%as = %ass : !ft.list<[N, S], !s>) {
    %r, %ee = ft.scanl (%a = %as : !ft.list<[S], !s>) init (%up, %e = %top, %c : !ft.list<[T], !s>, !s) {
      %start = arith.addi %a, %e : !s
      %row = ft.scanl (%u, %b = %up, %bs : !ft.list<[T], !s>, !ft.list<[T], !s>) init (%left = %start : !s) {
        %p = arith.maxsi %u, %left : !s
        %t = arith.subi %p, %b : !s
        ft.yield %t : !s
      }
      ft.yield %row, %start : !ft.list<[T], !s>, !s
    }
    ft.yield %r : !ft.list<[S, T], !s>
  }
  return %g : !ft.list<[N, S, T], !s>
}

// Edit distances of all pairs: a value computed for each row, in a fold in a map in a map.
// steps: S + T
func.func @pairs(%as: !ft.list<[N, S], !s>, %bs: !ft.list<[M, T], !s>) -> !ft.list<[N, M], !s>
    attributes {ft.bounds = #ft.bounds<"T >= 1">, ft.lengths = {N = 3 : i64, M = 4 : i64, S = 6 : i64, T = 7 : i64}} {
  %one = arith.constant dense<1> : !s
  %it = ft.iota : !ft.list<[T], !s>
  %is = ft.iota : !ft.list<[S], !s>
  %r = ft.map (%a = %as : !ft.list<[N, S], !s>) {
    %q = ft.map (%b = %bs : !ft.list<[M, T], !s>) {
      %last = ft.foldl (%x, %i = %a, %is : !ft.list<[S], !s>, !ft.list<[S], !s>) init (%up = %it : !ft.list<[T], !s>) {
        %dg = ft.shift %up by 1 fill %i : !ft.list<[T], !s>, !s
        %i1 = arith.addi %i, %one : !s
        %row = ft.scanl (%y, %u, %d = %b, %up, %dg : !ft.list<[T], !s>, !ft.list<[T], !s>, !ft.list<[T], !s>) init (%left = %i1 : !s) {
          %ne = arith.cmpi ne, %x, %y : !s
          %c = arith.extui %ne : tensor<i1> to !s
          %s = arith.addi %d, %c : !s
          %del = arith.addi %u, %one : !s
          %ins = arith.addi %left, %one : !s
          %m0 = arith.minsi %s, %del : !s
          %m = arith.minsi %m0, %ins : !s
          ft.yield %m : !s
        }
        ft.yield %row : !ft.list<[T], !s>
      }
      %corner = ft.at %last[-1] : !ft.list<[T], !s>
      ft.yield %corner : !s
    }
    ft.yield %q : !ft.list<[M], !s>
  }
  return %r : !ft.list<[N, M], !s>
}

// A state that is computed after the rows and needs none of them: it runs one row ahead.
// steps: S + max(1, T) - 1
func.func @backwards(%as: !ft.list<[S], !x>, %bs: !ft.list<[T], !x>, %c: !x) -> (!ft.list<[S, T], !x>, !ft.list<[S], !x>)
    attributes {ft.lengths = {S = 8 : i64, T = 12 : i64}} {
  %z = arith.constant dense<7> : !x
  %r, %e = ft.scanl (%a = %as : !ft.list<[S], !x>) init (%up, %k = %bs, %c : !ft.list<[T], !x>, !x) {
    %row = ft.scanl (%u = %up : !ft.list<[T], !x>) init (%left = %z : !x) {
      %p = arith.muli %u, %k : !x
      %t = arith.subi %p, %left : !x
      ft.yield %t : !x
    }
    %n = arith.xori %k, %a : !x
    %o = arith.muli %n, %z : !x
    ft.yield %row, %o : !ft.list<[T], !x>, !x
  }
  return %r, %e : !ft.list<[S, T], !x>, !ft.list<[S], !x>
}
