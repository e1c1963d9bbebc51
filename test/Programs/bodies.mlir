// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies, element types, tuples, calls and operators that may be cut, in programs
// that no example has.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 8 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}


!i = tensor<i32>
!l = tensor<i64>
!li = tensor<3x4xi32>
!h = tensor<2x9xf16>
!b = tensor<4x4xbf16>
!d = tensor<3x3xf64>
!s = tensor<f32>
!t = tensor<i1>

// Integers wrap; the fold's order matters.
func.func @hash(%xs: !ft.list<[N, L], !i>) -> (!ft.list<[N], !i>, !i) {
  %seed = arith.constant dense<-2128831035> : !i
  %prime = arith.constant dense<16777619> : !i
  %hs = ft.map (%row = %xs : !ft.list<[N, L], !i>) -> !ft.list<[N], !i> {
    %h = ft.foldl (%x = %row : !ft.list<[L], !i>) init (%s = %seed : !i) -> !i {
      %m = arith.muli %s, %prime : !i
      %n = arith.xori %m, %x : !i
      ft.yield %n : !i
    }
    ft.yield %h : !i
  }
  %all = ft.foldr (%h = %hs : !ft.list<[N], !i>) init (%s = %seed : !i) -> !i {
    %m = arith.muli %s, %prime : !i
    %n = arith.addi %m, %h : !i
    ft.yield %n : !i
  }
  return %hs, %all : !ft.list<[N], !i>, !i
}

// Products and sums of small integer matrices; division and remainder.
func.func @integer_matrices(%xs: !ft.list<[L], !li>, %ys: !ft.list<[L], !li>) -> (!ft.list<[L], tensor<3x3xi32>>, !ft.list<[L], !li>) {
  %z = arith.constant dense<0> : tensor<3x3xi32>
  %five = arith.constant dense<5> : !li
  %p, %q = ft.map (%x, %y = %xs, %ys : !ft.list<[L], !li>, !ft.list<[L], !li>) -> !ft.list<[L], tensor<3x3xi32>>, !ft.list<[L], !li> {
    %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %y : !li, !li) outs(%z : tensor<3x3xi32>) -> tensor<3x3xi32>
    %e = arith.divsi %x, %five : !li
    %f = arith.remsi %y, %five : !li
    %g = arith.subi %e, %f : !li
    ft.yield %r, %g : tensor<3x3xi32>, !li
  }
  return %p, %q : !ft.list<[L], tensor<3x3xi32>>, !ft.list<[L], !li>
}

// 64-bit counters that leave 32 bits.
func.func @fibonacci(%xs: !ft.list<[L], !l>) -> !ft.list<[L], !l> {
  %one = arith.constant dense<1> : !l
  %a, %b = ft.scanl (%x = %xs : !ft.list<[L], !l>) init (%p, %q = %one, %one : !l, !l) -> !ft.list<[L], !l>, !ft.list<[L], !l> {
    %n = arith.addi %p, %q : !l
    %m = arith.addi %n, %x : !l
    ft.yield %q, %m : !l, !l
  }
  return %b : !ft.list<[L], !l>
}

// Truth values: which prefixes hold.
func.func @all_so_far(%xs: !ft.list<[L], !s>) -> (!ft.list<[L], !t>, !t) {
  %yes = arith.constant dense<true> : !t
  %low = arith.constant dense<-0.5> : !s
  %ok = ft.scanl (%x = %xs : !ft.list<[L], !s>) init (%s = %yes : !t) -> !ft.list<[L], !t> {
    %c = arith.cmpf ogt, %x, %low : !s
    %n = arith.andi %s, %c : !t
    ft.yield %n : !t
  }
  %no = arith.constant dense<false> : !t
  %any = ft.reduce (%x = %ok : !ft.list<[L], !t>) init (%s = %no : !t) -> !t {
    %n = arith.ori %s, %x : !t
    ft.yield %n : !t
  }
  return %ok, %any : !ft.list<[L], !t>, !t
}

// f16: products accumulate wider, states round at each step.
func.func @half_states(%xs: !ft.list<[L], !h>, %w: tensor<9x9xf16> {ft.gen = #ft.normal<0.2>}) -> !ft.list<[L], !h> {
  %z = arith.constant dense<0.0> : !h
  %y = ft.scanl (%x = %xs : !ft.list<[L], !h>) init (%s = %z : !h) -> !ft.list<[L], !h> {
    %m = linalg.matmul ins(%s, %w : !h, tensor<9x9xf16>) outs(%x : !h) -> !h
    %n = math.tanh %m : !h
    ft.yield %n : !h
  }
  return %y : !ft.list<[L], !h>
}

// bf16 with a transposed operand and a row sum.
func.func @bfloat(%xs: !ft.list<[L], !b>) -> (!ft.list<[L], !b>, !ft.list<[L], tensor<4xbf16>>) {
  %z = arith.constant dense<0.0> : !b
  %zr = arith.constant dense<0.0> : tensor<4xbf16>
  %y, %r = ft.map (%x = %xs : !ft.list<[L], !b>) -> !ft.list<[L], !b>, !ft.list<[L], tensor<4xbf16>> {
    %e = tensor.empty() : !b
    %t = linalg.transpose ins(%x : !b) outs(%e : !b) permutation = [1, 0]
    %p = linalg.matmul ins(%x, %t : !b, !b) outs(%z : !b) -> !b
    %s = linalg.reduce { arith.addf } ins(%p : !b) outs(%zr : tensor<4xbf16>) dimensions = [1]
    ft.yield %p, %s : !b, tensor<4xbf16>
  }
  return %y, %r : !ft.list<[L], !b>, !ft.list<[L], tensor<4xbf16>>
}

// f64: products of matrices in order, scan and reduce; associative, so both may be cut.
func.func @matrix_products(%xs: !ft.list<[L], !d> {ft.gen = #ft.normal<0.5>}) -> (!ft.list<[L], !d>, !d) {
  %one = arith.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : !d
  %z = arith.constant dense<0.0> : !d
  %s = ft.scan (%x = %xs : !ft.list<[L], !d>) init (%a = %one : !d) -> !ft.list<[L], !d> {
    %p = linalg.matmul ins(%a, %x : !d, !d) outs(%z : !d) -> !d
    ft.yield %p : !d
  }
  %r = ft.reduce (%x = %xs : !ft.list<[L], !d>) init (%a = %one : !d) -> !d {
    %p = linalg.matmul ins(%a, %x : !d, !d) outs(%z : !d) -> !d
    ft.yield %p : !d
  }
  return %s, %r : !ft.list<[L], !d>, !d
}

// Mean and variance in one pass (Welford), joined by Chan's formula.
func.func @welford(%xss: !ft.list<[N, L], !s>) -> (!ft.list<[N], !s>, !ft.list<[N], !s>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %z = arith.constant dense<0.0> : !s
  %one = arith.constant dense<1.0> : !s
  %mean, %var = ft.map (%xs = %xss : !ft.list<[N, L], !s>) -> !ft.list<[N], !s>, !ft.list<[N], !s> {
    %n, %m, %q = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%n0, %m0, %q0 = %z, %z, %z : !s, !s, !s) -> !s, !s, !s {
      %n1 = arith.addf %n0, %one : !s
      %d = arith.subf %x, %m0 : !s
      %dn = arith.divf %d, %n1 : !s
      %m1 = arith.addf %m0, %dn : !s
      %d2 = arith.subf %x, %m1 : !s
      %dd = arith.mulf %d, %d2 : !s
      %q1 = arith.addf %q0, %dd : !s
      ft.yield %n1, %m1, %q1 : !s, !s, !s
    } combine (%na, %ma, %qa, %nb, %mb, %qb) {
      %nab = arith.addf %na, %nb : !s
      %safe = arith.maximumf %nab, %one : !s
      %d = arith.subf %mb, %ma : !s
      %f = arith.divf %nb, %safe : !s
      %df = arith.mulf %d, %f : !s
      %m1 = arith.addf %ma, %df : !s
      %dd = arith.mulf %d, %df : !s
      %ddn = arith.mulf %dd, %na : !s
      %q1 = arith.addf %qa, %qb : !s
      %q2 = arith.addf %q1, %ddn : !s
      ft.yield %nab, %m1, %q2 : !s, !s, !s
    } identity (%z, %z, %z : !s, !s, !s)
    %v = arith.divf %q, %n : !s
    ft.yield %m, %v : !s, !s
  }
  return %mean, %var : !ft.list<[N], !s>, !ft.list<[N], !s>
}
