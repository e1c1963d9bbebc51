// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More of what leaves a nest beside its sequence, and the steps that it takes, by hand. Integers: the same bit
// for bit.
//
// RUN: %python %S/Inputs/nests.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 10 programs, 20 runs, 0 failures{{$}}

!x = tensor<1xi32>

// Two states of each layer leave beside the sequence, in a batch.
// steps: D + L - 1; 1
func.func @two_from_the_end(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[N, D, L], !x>, !ft.list<[N, D], !x>, !ft.list<[N, D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 2">, ft.lengths = {N = 2 : i64, D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %r, %s, %t = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %hss, %ls, %ms = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
      %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %c0 : !x) {
        %m1 = arith.muli %x, %c3 : !x
        %m2 = arith.addi %m1, %w : !x
        %v = arith.xori %m2, %h : !x
        ft.yield %v : !x
      }
      %last = ft.at %hs[-1] : !ft.list<[L], !x>
      %before = ft.at %hs[-2] : !ft.list<[L], !x>
      ft.yield %hs : !ft.list<[L], !x> emit %last, %before : !x, !x
    }
    ft.yield %hss, %ls, %ms : !ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>
  }
  return %r, %s, %t : !ft.list<[N, D, L], !x>, !ft.list<[N, D], !x>, !ft.list<[N, D], !x>
}

// The first and the last one, of layers that run backwards in time.
// steps: D + L - 1; 1
func.func @ends_of_backward_layers(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %hss, %ls, %fs = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs = ft.scanr (%x = %below : !ft.list<[L], !x>) init (%h = %c0 : !x) {
      %m1 = arith.muli %x, %c3 : !x
      %m2 = arith.addi %m1, %w : !x
      %v = arith.xori %m2, %h : !x
      ft.yield %v : !x
    }
    %last = ft.at %hs[0] : !ft.list<[L], !x>
    %first = ft.at %hs[-1] : !ft.list<[L], !x>
    ft.yield %hs : !ft.list<[L], !x> emit %last, %first : !x, !x
  }
  return %hss, %ls, %fs : !ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>
}

// Both states of each layer, as of an LSTM.
// steps: D + L - 1; 1
func.func @both_last_states(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %hss, %ls, %fs = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs, %cs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h, %k = %c0, %w : !x, !x) {
      %m1 = arith.muli %x, %c3 : !x
      %m2 = arith.addi %m1, %w : !x
      %v = arith.xori %m2, %h : !x
      %n = arith.addi %v, %k : !x
      %o = arith.muli %n, %c3 : !x
      ft.yield %o, %n : !x, !x
    }
    %last = ft.at %hs[-1] : !ft.list<[L], !x>
    %cell = ft.at %cs[-1] : !ft.list<[L], !x>
    ft.yield %hs : !ft.list<[L], !x> emit %last, %cell : !x, !x
  }
  return %hss, %ls, %fs : !ft.list<[D, L], !x>, !ft.list<[D], !x>, !ft.list<[D], !x>
}

// A sum and, from the right, another fold of each row beside a grid.
// steps: S + T - 1; T; 1
func.func @two_folds_of_each_row(%as: !ft.list<[S], !x>, %bs: !ft.list<[T], !x>) -> (!ft.list<[S, T], !x>, !ft.list<[S], !x>, !ft.list<[S], !x>)
    attributes {ft.lengths = {S = 4 : i64, T = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %r, %e, %f = ft.scanl (%a = %as : !ft.list<[S], !x>) init (%up = %bs : !ft.list<[T], !x>) {
    %row = ft.scanl (%u = %up : !ft.list<[T], !x>) init (%left = %a : !x) {
      %m1 = arith.muli %u, %c3 : !x
      %m2 = arith.addi %m1, %a : !x
      %v = arith.xori %m2, %left : !x
      ft.yield %v : !x
    }
    %s = ft.foldl (%t = %row : !ft.list<[T], !x>) init (%q = %c0 : !x) {
      %o = arith.addi %q, %t : !x
      ft.yield %o : !x
    }
    %z = ft.foldr (%t = %row : !ft.list<[T], !x>) init (%q = %c3 : !x) {
      %m = arith.muli %q, %c3 : !x
      %o = arith.xori %m, %t : !x
      ft.yield %o : !x
    }
    ft.yield %row : !ft.list<[T], !x> emit %s, %z : !x, !x
  }
  return %r, %e, %f : !ft.list<[S, T], !x>, !ft.list<[S], !x>, !ft.list<[S], !x>
}

// A grid in maps of maps whose rows start from a value that is carried; what is above the first row is computed.
// steps: S + max(1, T)
func.func @carried_start_in_maps(%as: !ft.list<[N, S], !x>, %bs: !ft.list<[M, T], !x>, %g: !x) -> !ft.list<[N, M, S, T], !x>
    attributes {ft.lengths = {N = 2 : i64, M = 2 : i64, S = 4 : i64, T = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %n = arith.muli %g, %c3 : !x
  %top = ft.repeat %n times T : !x
  %r = ft.map (%a = %as : !ft.list<[N, S], !x>) {
    %q = ft.map (%b = %bs : !ft.list<[M, T], !x>) {
      %rows, %edges = ft.scanl (%p = %a : !ft.list<[S], !x>) init (%up, %edge = %top, %g : !ft.list<[T], !x>, !x) {
        %next = arith.addi %edge, %g : !x
        %dg = ft.shift %up by 1 fill %edge : !ft.list<[T], !x>, !x
        %row = ft.scanl (%u, %d, %y = %up, %dg, %b : !ft.list<[T], !x>, !ft.list<[T], !x>, !ft.list<[T], !x>) init (%left = %next : !x) {
          %m1 = arith.muli %u, %c3 : !x
          %m2 = arith.addi %m1, %d : !x
          %v = arith.xori %m2, %left : !x
          %o = arith.maxsi %v, %y : !x
          %o2 = arith.addi %o, %p : !x
          ft.yield %o2 : !x
        }
        ft.yield %row, %next : !ft.list<[T], !x>, !x
      }
      ft.yield %rows : !ft.list<[S, T], !x>
    }
    ft.yield %q : !ft.list<[M, S, T], !x>
  }
  return %r : !ft.list<[N, M, S, T], !x>
}

// Two values for each row, of which one is a product of the other; only the corner is kept, by a fold.
// steps: S + T
func.func @corner_of_computed_rows(%as: !ft.list<[N, S], !x>, %bs: !ft.list<[T], !x>) -> !ft.list<[N], !x>
    attributes {ft.bounds = #ft.bounds<"T >= 1">, ft.lengths = {N = 2 : i64, S = 4 : i64, T = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %r = ft.map (%a = %as : !ft.list<[N, S], !x>) {
    %last = ft.foldl (%p = %a : !ft.list<[S], !x>) init (%up = %bs : !ft.list<[T], !x>) {
      %p2 = arith.muli %p, %p : !x
      %p3 = arith.addi %p2, %c3 : !x
      %dg = ft.shift %up by 1 fill %p2 : !ft.list<[T], !x>, !x
      %row = ft.scanl (%u, %d = %up, %dg : !ft.list<[T], !x>, !ft.list<[T], !x>) init (%left = %p3 : !x) {
        %m1 = arith.muli %u, %c3 : !x
        %m2 = arith.addi %m1, %d : !x
        %v = arith.xori %m2, %left : !x
        %o = arith.minsi %v, %p2 : !x
        ft.yield %o : !x
      }
      ft.yield %row : !ft.list<[T], !x>
    }
    %corner = ft.at %last[-1] : !ft.list<[T], !x>
    ft.yield %corner : !x
  }
  return %r : !ft.list<[N], !x>
}

// The next row starts from the fold of the one before: no wavefront.
// steps: S; T + 1; T + 1
func.func @row_needs_whole_row(%as: !ft.list<[S], !x>, %bs: !ft.list<[T], !x>) -> (!ft.list<[S, T], !x>, !ft.list<[S], !x>)
    attributes {ft.lengths = {S = 4 : i64, T = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %r, %e = ft.scanl (%a = %as : !ft.list<[S], !x>) init (%up, %sum = %bs, %c3 : !ft.list<[T], !x>, !x) {
    %row = ft.scanl (%u = %up : !ft.list<[T], !x>) init (%left = %sum : !x) {
      %m1 = arith.muli %u, %c3 : !x
      %m2 = arith.addi %m1, %a : !x
      %v = arith.xori %m2, %left : !x
      ft.yield %v : !x
    }
    %s = ft.foldl (%t = %row : !ft.list<[T], !x>) init (%q = %c0 : !x) {
      %o = arith.addi %q, %t : !x
      ft.yield %o : !x
    }
    ft.yield %row, %s : !ft.list<[T], !x>, !x
  }
  return %r, %e : !ft.list<[S, T], !x>, !ft.list<[S], !x>
}

// What is emitted is the last state of a third list, which a map computes from the scan.
// steps: D + L - 1; 1; 1
func.func @last_of_a_map_of_the_scan(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %hss, %ls = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %c0 : !x) {
      %m1 = arith.muli %x, %c3 : !x
      %m2 = arith.addi %m1, %w : !x
      %v = arith.xori %m2, %h : !x
      ft.yield %v : !x
    }
    %ms = ft.map (%h = %hs : !ft.list<[L], !x>) {
      %m = arith.muli %h, %h : !x
      ft.yield %m : !x
    }
    %last = ft.at %ms[-1] : !ft.list<[L], !x>
    ft.yield %hs : !ft.list<[L], !x> emit %last : !x
  }
  return %hss, %ls : !ft.list<[D, L], !x>, !ft.list<[D], !x>
}

// No wavefront: each layer reads its last state once more: the sequence above is what the layer gives, less that state.
// steps: D; L; L
func.func @last_state_taken_off(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %hss = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %c0 : !x) {
      %m1 = arith.muli %x, %c3 : !x
      %m2 = arith.addi %m1, %w : !x
      %v = arith.xori %m2, %h : !x
      ft.yield %v : !x
    }
    %last = ft.at %hs[-1] : !ft.list<[L], !x>
    %ms = ft.map (%h = %hs : !ft.list<[L], !x>) {
      %m = arith.subi %h, %last : !x
      ft.yield %m : !x
    }
    ft.yield %ms : !ft.list<[L], !x>
  }
  return %hss : !ft.list<[D, L], !x>
}

// Residual layers with the last state of the sum: what is added runs a step after the scan.
// steps: 2 * D + L - 1; 1
func.func @residual_last(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c3 = arith.constant dense<3> : !x
  %hss, %ls = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %c0 : !x) {
      %m1 = arith.muli %x, %c3 : !x
      %m2 = arith.addi %m1, %w : !x
      %v = arith.xori %m2, %h : !x
      ft.yield %v : !x
    }
    %ms = ft.map (%h, %b = %hs, %below : !ft.list<[L], !x>, !ft.list<[L], !x>) {
      %m = arith.addi %h, %b : !x
      ft.yield %m : !x
    }
    %last = ft.at %ms[-1] : !ft.list<[L], !x>
    ft.yield %ms : !ft.list<[L], !x> emit %last : !x
  }
  return %hss, %ls : !ft.list<[D, L], !x>, !ft.list<[D], !x>
}
