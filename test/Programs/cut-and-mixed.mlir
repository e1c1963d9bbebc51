// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of a named size in rows that a name cuts out of a list, last states of rows that may be empty, and types that
// are mixed on the way to a result: elements of 7 and 13, which no vector divides.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=cpu | FileCheck %s
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=emulate | FileCheck %s
// CHECK: 4 programs, 27 runs, 0 failures{{$}}

!x = tensor<7xi32>
!h = tensor<1x13xf16>
!hb = tensor<1x13xbf16>
!f = tensor<1x13xf32>
!d = tensor<1x13xf64>
!w = tensor<13x13xf16>
!wb = tensor<13x13xbf16>

// Rows of M, a window of K in each, weighted and summed from the last on.
func.func @rows_windows(%xs: !ft.list<[N * M], !x>, %ns: !ft.list<[N], !x>, %ms: !ft.list<[M], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[N, M - K + 1], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1", "M >= K">, ft.lengths = {N = 3 : i64, M = 5 : i64, K = 2 : i64}} {
  %zero = arith.constant dense<0> : !x
  %b = ft.split %xs by M : !ft.list<[N * M], !x>
  %o = ft.map (%row = %b : !ft.list<[N, M], !x>) {
    %v = ft.window %row size K : !ft.list<[M], !x>
    %r = ft.map (%win = %v : !ft.list<[M - K + 1, K], !x>) {
      %s = ft.foldr (%a, %c = %win, %ws : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%t = %zero : !x) {
        %p = arith.muli %a, %c : !x
        %n = arith.subi %p, %t : !x
        ft.yield %n : !x
      }
      ft.yield %s : !x
    }
    ft.yield %r : !ft.list<[M - K + 1], !x>
  }
  return %o : !ft.list<[N, M - K + 1], !x>
}

// Each row's last state, or what it started from, and a scan of these.
func.func @lasts(%xss: !ft.list<[N, L], !x>, %h0: !ft.list<[N], !x>) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 3 : i64, L = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %r = ft.map (%xs, %i = %xss, %h0 : !ft.list<[N, L], !x>, !ft.list<[N], !x>) {
    %s = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %i : !x) {
      %a = arith.muli %h, %x : !x
      %y = arith.subi %a, %h : !x
      ft.yield %y : !x
    }
    %l = ft.last %s or %i : !ft.list<[L], !x>, !x
    ft.yield %l : !x
  }
  %q = ft.scanl (%x = %r : !ft.list<[N], !x>) init (%h = %zero : !x) {
    %y = arith.subi %x, %h : !x
    ft.yield %y : !x
  }
  return %q : !ft.list<[N], !x>
}

// Tokens and weights of bf16, states of f32, and their sum in f64.
func.func @bf16_rnn(%xs: !ft.list<[N, L], !hb> {ft.gen = #ft.normal<1.0>}, %w: !wb {ft.gen = #ft.normal<0.25>}) -> (!ft.list<[N, L], !hb>, !ft.list<[N], !d>)
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %z = arith.constant dense<0.0> : !f
  %zd = arith.constant dense<0.0> : !d
  %r, %e = ft.map (%row = %xs : !ft.list<[N, L], !hb>) {
    %hs, %os = ft.scanl (%x = %row : !ft.list<[L], !hb>) init (%h = %z : !f) {
      %x32 = arith.extf %x : !hb to !f
      %hb = arith.truncf %h : !f to !hb
      %q = linalg.matmul ins(%hb, %w : !hb, !wb) outs(%x32 : !f) -> !f
      %t = math.tanh %q : !f
      %o = arith.truncf %t : !f to !hb
      ft.yield %t : !f emit %o : !hb
    }
    %sum = ft.foldl (%h = %hs : !ft.list<[L], !f>) init (%s = %zd : !d) {
      %hd = arith.extf %h : !f to !d
      %n = arith.addf %s, %hd : !d
      ft.yield %n : !d
    }
    ft.yield %os, %sum : !ft.list<[L], !hb>, !d
  }
  return %r, %e : !ft.list<[N, L], !hb>, !ft.list<[N], !d>
}

// Products of f16 that are summed in f32, given on in both.
func.func @f16_layers(%xs: !ft.list<[L], !h> {ft.gen = #ft.normal<1.0>}, %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.25>}) -> (!ft.list<[D, L], !h>, !ft.list<[D], !f>)
    attributes {ft.lengths = {L = 5 : i64, D = 3 : i64}} {
  %z = arith.constant dense<0.0> : !f
  %a, %b = ft.scanl (%w = %ws : !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !h>) {
    %os = ft.map (%x = %below : !ft.list<[L], !h>) {
      %p = linalg.matmul ins(%x, %w : !h, !w) outs(%z : !f) -> !f
      %t = math.tanh %p : !f
      %o = arith.truncf %t : !f to !h
      ft.yield %o : !h
    }
    %s = ft.foldl (%o = %os : !ft.list<[L], !h>) init (%acc = %z : !f) {
      %e = arith.extf %o : !h to !f
      %n = arith.addf %acc, %e : !f
      ft.yield %n : !f
    }
    ft.yield %os : !ft.list<[L], !h> emit %s : !f
  }
  return %a, %b : !ft.list<[D, L], !h>, !ft.list<[D], !f>
}
