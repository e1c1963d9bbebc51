// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions in shares that are joined by `combine`: of any length, with several states, beside rows, inside of
// other blocks, beside other nests. Seeds draw which of them are cut, and into shares of which length.
//
// RUN: %python %S/Inputs/cut-reductions.py ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 10 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!s = tensor<f32>
!i = tensor<i64>
!v = tensor<5xf32>
!m = tensor<2x2xi32>

// A dot product of rows.
func.func @dot(%xs: !ft.list<[L], !v>, %ys: !ft.list<[L], !v>) -> !v {
  %z = arith.constant dense<0.0> : !v
  %r = ft.fold (%x, %y = %xs, %ys : !ft.list<[L], !v>, !ft.list<[L], !v>) init (%s = %z : !v) -> !v {
    %p = arith.mulf %x, %y : !v
    %t = arith.addf %s, %p : !v
    ft.yield %t : !v
  } combine (%a, %b) {
    %t = arith.addf %a, %b : !v
    ft.yield %t : !v
  } identity (%z : !v)
  return %r : !v
}

// Integers that don't commute: products of matrices, from an initial state that is no identity.
func.func @products(%xs: !ft.list<[L], !m>, %w: !m) -> !m {
  %one = arith.constant dense<[[1, 0], [0, 1]]> : !m
  %z = arith.constant dense<0> : !m
  %r = ft.reduce (%x = %xs : !ft.list<[L], !m>) init (%s = %w : !m) -> !m {
    %p = linalg.matmul ins(%s, %x : !m, !m) outs(%z : !m) -> !m
    ft.yield %p : !m
  } combine (%a, %b) {
    %p = linalg.matmul ins(%a, %b : !m, !m) outs(%z : !m) -> !m
    ft.yield %p : !m
  } identity (%one : !m)
  return %r : !m
}

// Three states: how many, the greatest, and where it stands first.
func.func @greatest(%xs: !ft.list<[L], !i>) -> (!i, !i, !i) {
  %z = arith.constant dense<0> : !i
  %one = arith.constant dense<1> : !i
  %low = arith.constant dense<-9223372036854775808> : !i
  %n, %m, %at = ft.reduce (%x = %xs : !ft.list<[L], !i>) init (%n0, %m0, %a0 = %z, %low, %z : !i, !i, !i) -> !i, !i, !i {
    %n1 = arith.addi %n0, %one : !i
    %is = arith.cmpi sgt, %x, %m0 : !i
    %m1 = arith.select %is, %x, %m0 : tensor<i1>, !i
    %a1 = arith.select %is, %n0, %a0 : tensor<i1>, !i
    ft.yield %n1, %m1, %a1 : !i, !i, !i
  } combine (%na, %ma, %aa, %nb, %mb, %ab) {
    %n1 = arith.addi %na, %nb : !i
    %is = arith.cmpi sgt, %mb, %ma : !i
    %m1 = arith.select %is, %mb, %ma : tensor<i1>, !i
    %there = arith.addi %na, %ab : !i
    %a1 = arith.select %is, %there, %aa : tensor<i1>, !i
    ft.yield %n1, %m1, %a1 : !i, !i, !i
  } identity (%z, %low, %z : !i, !i, !i)
  return %n, %m, %at : !i, !i, !i
}

// The logarithm of a sum of exponentials, by rows; each begins from a value of its own.
func.func @logsumexp(%xss: !ft.list<[N, L], !s>, %ws: !ft.list<[N], !s>) -> !ft.list<[N], !s> {
  %one = arith.constant dense<1.0> : !s
  %z = arith.constant dense<0.0> : !s
  %low = arith.constant dense<-1.0e30> : !s
  %r = ft.map (%xs, %w = %xss, %ws : !ft.list<[N, L], !s>, !ft.list<[N], !s>) -> !ft.list<[N], !s> {
    %m, %q = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%m0, %q0 = %w, %one : !s, !s) -> !s, !s {
      %m1 = arith.maximumf %m0, %x : !s
      %d0 = arith.subf %m0, %m1 : !s
      %e0 = math.exp %d0 : !s
      %d1 = arith.subf %x, %m1 : !s
      %e1 = math.exp %d1 : !s
      %p = arith.mulf %q0, %e0 : !s
      %q1 = arith.addf %p, %e1 : !s
      ft.yield %m1, %q1 : !s, !s
    } combine (%ma, %qa, %mb, %qb) {
      %m1 = arith.maximumf %ma, %mb : !s
      %da = arith.subf %ma, %m1 : !s
      %ea = math.exp %da : !s
      %db = arith.subf %mb, %m1 : !s
      %eb = math.exp %db : !s
      %pa = arith.mulf %qa, %ea : !s
      %pb = arith.mulf %qb, %eb : !s
      %q1 = arith.addf %pa, %pb : !s
      ft.yield %m1, %q1 : !s, !s
    } identity (%low, %z : !s, !s)
    %l = math.log %q : !s
    %t = arith.addf %m, %l : !s
    ft.yield %t : !s
  }
  return %r : !ft.list<[N], !s>
}

// Windows of constant length.
func.func @windows(%xs: !ft.list<[L], !i>) -> !ft.list<[L - 5], !i>
    attributes {ft.bounds = #ft.bounds<"L >= 6">} {
  %z = arith.constant dense<7> : !i
  %no = arith.constant dense<0> : !i
  %ws = ft.window %xs size 6 : !ft.list<[L], !i>
  %r = ft.map (%w = %ws : !ft.list<[L - 5, 6], !i>) -> !ft.list<[L - 5], !i> {
    %t = ft.fold (%x = %w : !ft.list<[6], !i>) init (%s = %z : !i) -> !i {
      %n = arith.addi %s, %x : !i
      ft.yield %n : !i
    } combine (%a, %b) {
      %n = arith.addi %a, %b : !i
      ft.yield %n : !i
    } identity (%no : !i)
    ft.yield %t : !i
  }
  return %r : !ft.list<[L - 5], !i>
}

// A reduction at each step of a loop in order.
func.func @steps(%xss: !ft.list<[T, L], !i>) -> !ft.list<[T], !i> {
  %z = arith.constant dense<0> : !i
  %r = ft.scanl (%xs = %xss : !ft.list<[T, L], !i>) init (%s = %z : !i) -> !ft.list<[T], !i> {
    %t = ft.reduce (%x = %xs : !ft.list<[L], !i>) init (%a = %s : !i) -> !i {
      %p = arith.xori %a, %x : !i
      ft.yield %p : !i
    } combine (%a, %b) {
      %p = arith.xori %a, %b : !i
      ft.yield %p : !i
    } identity (%z : !i)
    %u = arith.addi %t, %t : !i
    ft.yield %u : !i
  }
  return %r : !ft.list<[T], !i>
}

// One reduction begins from what another one has come to.
func.func @chain(%xs: !ft.list<[L], !i>, %ys: !ft.list<[K], !i>) -> (!i, !i) {
  %z = arith.constant dense<0> : !i
  %r = ft.reduce (%x = %xs : !ft.list<[L], !i>) init (%s = %z : !i) -> !i {
    %n = arith.addi %s, %x : !i
    ft.yield %n : !i
  } combine (%a, %b) {
    %n = arith.addi %a, %b : !i
    ft.yield %n : !i
  } identity (%z : !i)
  %q = ft.reduce (%y = %ys : !ft.list<[K], !i>) init (%s = %r : !i) -> !i {
    %n = arith.xori %s, %y : !i
    ft.yield %n : !i
  } combine (%a, %b) {
    %n = arith.xori %a, %b : !i
    ft.yield %n : !i
  } identity (%z : !i)
  return %r, %q : !i, !i
}

// Beside a map of the same elements, in whose place the sum of the second half of the list follows.
func.func @halves(%xs: !ft.list<[L], !i>) -> (!ft.list<[L], !i>, !i)
    attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  %z = arith.constant dense<0> : !i
  %ys = ft.map (%x = %xs : !ft.list<[L], !i>) -> !ft.list<[L], !i> {
    %y = arith.muli %x, %x : !i
    ft.yield %y : !i
  }
  %tail = ft.slice %ys[3 to L] : !ft.list<[L], !i>
  %t = ft.fold (%y = %tail : !ft.list<[L - 3], !i>) init (%s = %z : !i) -> !i {
    %n = arith.subi %s, %y : !i
    ft.yield %n : !i
  } combine (%a, %b) {
    %n = arith.addi %a, %b : !i
    ft.yield %n : !i
  } identity (%z : !i)
  return %ys, %t : !ft.list<[L], !i>, !i
}

// Without `combine`: a sum of squares and a greatest element, in one reduction, from what the caller says.
func.func @derived(%xs: !ft.list<[L], !i>, %ys: !ft.list<[L], !i>, %a: !i, %b: !i) -> (!i, !i) {
  %r, %q = ft.reduce (%x, %y = %xs, %ys : !ft.list<[L], !i>, !ft.list<[L], !i>) init (%s, %t = %a, %b : !i, !i) -> !i, !i {
    %n = arith.addi %s, %x : !i
    %m = arith.maxsi %y, %t : !i
    ft.yield %n, %m : !i, !i
  }
  return %r, %q : !i, !i
}

// The first element is the first state.
func.func @from_the_first(%xs: !ft.list<[L], !m>) -> !m attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %r = ft.fold (%x = %xs : !ft.list<[L], !m>) state (%s) -> !m {
    %n = arith.andi %s, %x : !m
    ft.yield %n : !m
  }
  return %r : !m
}
