// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of lists whose length is a name, and lists that may be empty.
// Integers: the same bit for bit on the CPU and in declared order after the last phase.
//
// RUN: %python %S/Inputs/every-length.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 5 programs, 50 runs, 0 failures{{$}}

!x = tensor<4xi32>

// A list of N * M, beside one of N lists of M.
func.func @split_elementwise(%xs: !ft.list<[N * M], !x>, %ys: !ft.list<[N, M], !x>) -> !ft.list<[N, M], !x>
    attributes {ft.bounds = #ft.bounds<"M >= 1">, ft.lengths = {N = 3 : i64, M = 4 : i64}} {
  %b = ft.split %xs by M : !ft.list<[N * M], !x>
  %o = ft.map (%p, %q = %b, %ys : !ft.list<[N, M], !x>, !ft.list<[N, M], !x>) {
    %r = ft.map (%x, %y = %p, %q : !ft.list<[M], !x>, !ft.list<[M], !x>) {
      %a = arith.subi %x, %y : !x
      ft.yield %a : !x
    }
    ft.yield %r : !ft.list<[M], !x>
  }
  return %o : !ft.list<[N, M], !x>
}

// Sums of chunks, started from a list of the chunk's length.
// multiple: L of C
func.func @split_chunks(%xs: !ft.list<[L], !x>, %p: !ft.list<[C], !x>) -> !ft.list<[floordiv(L, C), C], !x>
    attributes {ft.bounds = #ft.bounds<"C >= 1">, ft.lengths = {L = 12 : i64, C = 4 : i64}} {
  %b = ft.split %xs by C : !ft.list<[L], !x>
  %o = ft.scanl (%q = %b : !ft.list<[floordiv(L, C), C], !x>) init (%s = %p : !ft.list<[C], !x>) {
    %r = ft.map (%x, %y = %q, %s : !ft.list<[C], !x>, !ft.list<[C], !x>) {
      %a = arith.subi %x, %y : !x
      ft.yield %a : !x
    }
    ft.yield %r : !ft.list<[C], !x>
  }
  return %o : !ft.list<[floordiv(L, C), C], !x>
}

// The same of each row of a batch.
// multiple: L of C
func.func @split_rows(%xss: !ft.list<[B, L], !x>, %p: !ft.list<[C], !x>) -> !ft.list<[B, floordiv(L, C)], !x>
    attributes {ft.bounds = #ft.bounds<"C >= 1">, ft.lengths = {B = 2 : i64, L = 12 : i64, C = 4 : i64}} {
  %z = arith.constant dense<1> : !x
  %o = ft.map (%xs = %xss : !ft.list<[B, L], !x>) {
    %b = ft.split %xs by C : !ft.list<[L], !x>
    %r = ft.map (%q = %b : !ft.list<[floordiv(L, C), C], !x>) {
      %f = ft.foldl (%x, %y = %q, %p : !ft.list<[C], !x>, !ft.list<[C], !x>) init (%s = %z : !x) {
        %a = arith.muli %s, %y : !x
        %c = arith.addi %a, %x : !x
        ft.yield %c : !x
      }
      ft.yield %f : !x
    }
    ft.yield %r : !ft.list<[floordiv(L, C)], !x>
  }
  return %o : !ft.list<[B, floordiv(L, C)], !x>
}

// Causal padding: as many windows as elements, none of none.
func.func @causal(%xs: !ft.list<[L], !x>, %ws: !ft.list<[3], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 5 : i64}} {
  %z = arith.constant dense<0> : !x
  %pad = ft.repeat %z times 2 : !x
  %padded = ft.concat %pad, %xs : !ft.list<[2], !x>, !ft.list<[L], !x>
  %wins = ft.window %padded size 3 : !ft.list<[L + 2], !x>
  %o = ft.map (%win = %wins : !ft.list<[L, 3], !x>) {
    %f = ft.foldl (%x, %w = %win, %ws : !ft.list<[3], !x>, !ft.list<[3], !x>) init (%s = %z : !x) {
      %a = arith.muli %x, %w : !x
      %c = arith.addi %s, %a : !x
      ft.yield %c : !x
    }
    ft.yield %f : !x
  }
  return %o : !ft.list<[L], !x>
}

// The last state, or the first where nothing was scanned.
func.func @last(%xss: !ft.list<[N, L], !x>, %h0: !x) -> (!ft.list<[N], !x>, !x) attributes {ft.lengths = {N = 2 : i64, L = 3 : i64}} {
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %s = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) {
      %a = arith.muli %h, %h0 : !x
      %y = arith.subi %x, %a : !x
      ft.yield %y : !x
    }
    %l = ft.last %s or %h0 : !ft.list<[L], !x>, !x
    ft.yield %l : !x
  }
  %q = ft.last %r or %h0 : !ft.list<[N], !x>, !x
  return %r, %q : !ft.list<[N], !x>, !x
}
