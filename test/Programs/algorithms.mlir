// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Algorithms whose nests no network has: alignments of strings, paths of least cost, gathers of the nearest, counts, products of matrices that are
// scanned, attention around a ring; in whole numbers, f64, f32 and halves.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 12 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!s = tensor<f64>
!i = tensor<i64>
!v7 = tensor<1x7xf32>
!w7 = tensor<7x7xf32>
!b = tensor<1x33xbf16>
!h = tensor<3x5xf16>

// Edit distance of two strings: a grid of minima over integers.
func.func @edit_distance(%a: !ft.list<[N], !i> {ft.gen = #ft.index<0, K>}, %b: !ft.list<[M], !i> {ft.gen = #ft.index<0, K>}, %k: !ft.list<[K], !i>) -> !ft.list<[N, M], !i>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {N = 9 : i64, M = 11 : i64, K = 3 : i64}} {
  %one = arith.constant dense<1> : !i
  %zero = arith.constant dense<0> : !i
  %ns = ft.iota : !ft.list<[N], !i>
  %ms = ft.iota : !ft.list<[M], !i>
  %top = ft.map (%m = %ms : !ft.list<[M], !i>) {
    %u = arith.addi %m, %one : !i
    ft.yield %u : !i
  }
  %r = ft.scanl (%x, %n = %a, %ns : !ft.list<[N], !i>, !ft.list<[N], !i>) init (%above = %top : !ft.list<[M], !i>) {
    %n1 = arith.addi %n, %one : !i
    %corner = ft.shift %above by 1 fill %n : !ft.list<[M], !i>, !i
    %row = ft.scanl (%y, %up, %diag = %b, %above, %corner : !ft.list<[M], !i>, !ft.list<[M], !i>, !ft.list<[M], !i>) init (%left = %n1 : !i) {
      %same = arith.cmpi eq, %x, %y : !i
      %c = arith.select %same, %zero, %one : tensor<i1>, !i
      %d = arith.addi %diag, %c : !i
      %u = arith.addi %up, %one : !i
      %l = arith.addi %left, %one : !i
      %p = arith.minsi %d, %u : !i
      %q = arith.minsi %p, %l : !i
      ft.yield %q : !i
    }
    ft.yield %row : !ft.list<[M], !i>
  }
  return %r : !ft.list<[N, M], !i>
}

// Affine gaps: three states on a grid, f64.
func.func @affine_gaps(%sub: !ft.list<[N, M], !s>) -> (!ft.list<[N, M], !s>, !s)
    attributes {ft.lengths = {N = 6 : i64, M = 13 : i64}} {
  %z = arith.constant dense<0.0> : !s
  %open = arith.constant dense<1.5> : !s
  %ext = arith.constant dense<0.25> : !s
  %zs = ft.repeat %z times M : !s
  %hs, %es = ft.scanl (%row = %sub : !ft.list<[N, M], !s>) init (%hup, %eup = %zs, %zs : !ft.list<[M], !s>, !ft.list<[M], !s>) {
    %diag = ft.shift %hup by 1 fill %z : !ft.list<[M], !s>, !s
    %h, %f, %e = ft.scanl (%s, %hu, %eu, %d = %row, %hup, %eup, %diag : !ft.list<[M], !s>, !ft.list<[M], !s>, !ft.list<[M], !s>, !ft.list<[M], !s>) init (%hl, %fl = %z, %z : !s, !s) {
      %e0 = arith.subf %hu, %open : !s
      %e1 = arith.subf %eu, %ext : !s
      %en = arith.maximumf %e0, %e1 : !s
      %f0 = arith.subf %hl, %open : !s
      %f1 = arith.subf %fl, %ext : !s
      %fn = arith.maximumf %f0, %f1 : !s
      %m = arith.addf %d, %s : !s
      %m1 = arith.maximumf %m, %en : !s
      %m2 = arith.maximumf %m1, %fn : !s
      %m3 = arith.maximumf %m2, %z : !s
      ft.yield %m3, %fn : !s, !s emit %en : !s
    }
    ft.yield %h, %e : !ft.list<[M], !s>, !ft.list<[M], !s>
  }
  %best = ft.foldl (%row = %hs : !ft.list<[N, M], !s>) init (%b = %z : !s) {
    %m = ft.reduce (%x = %row : !ft.list<[M], !s>) init (%a = %b : !s) {
      %n = arith.maximumf %a, %x : !s
      ft.yield %n : !s
    }
    ft.yield %m : !s
  }
  return %hs, %best : !ft.list<[N, M], !s>, !s
}

// A bank of exponential averages in bf16, one decay for each; last states beside sums.
func.func @averages(%xs: !ft.list<[L], !b> {ft.gen = #ft.normal<1.0>}, %decay: !ft.list<[K], !b> {ft.gen = #ft.uniform<0.1, 0.9>}) -> (!ft.list<[K, L], !b>, !ft.list<[K], !b>)
    attributes {ft.lengths = {L = 17 : i64, K = 5 : i64}} {
  %one = arith.constant dense<1.0> : !b
  %z = arith.constant dense<0.0> : !b
  %ys, %last = ft.map (%d = %decay : !ft.list<[K], !b>) {
    %k = arith.subf %one, %d : !b
    %y = ft.scanl (%x = %xs : !ft.list<[L], !b>) init (%a = %z : !b) {
      %p = arith.mulf %a, %d : !b
      %q = arith.mulf %x, %k : !b
      %n = arith.addf %p, %q : !b
      ft.yield %n : !b
    }
    %l = ft.last %y or %d : !ft.list<[L], !b>, !b
    ft.yield %y, %l : !ft.list<[L], !b>, !b
  }
  return %ys, %last : !ft.list<[K, L], !b>, !ft.list<[K], !b>
}

// Greatest dot product and its number over gathered rows.
func.func @nearest(%q: !ft.list<[Q], !v7> {ft.gen = #ft.normal<1.0>}, %table: !ft.list<[T], !v7> {ft.gen = #ft.normal<1.0>}, %cand: !ft.list<[Q, C], !i> {ft.gen = #ft.index<0, T>}) -> (!ft.list<[Q], tensor<f32>>, !ft.list<[Q], !i>)
    attributes {ft.bounds = #ft.bounds<"T >= 1">, ft.lengths = {Q = 5 : i64, T = 9 : i64, C = 4 : i64}} {
  %low = ft.lowest : tensor<f32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %none = arith.constant dense<-1> : !i
  %m, %n = ft.map (%x, %c = %q, %cand : !ft.list<[Q], !v7>, !ft.list<[Q, C], !i>) {
    %rows = ft.gather %table[%c] : !ft.list<[T], !v7>, !ft.list<[C], !i>
    %best, %at = ft.foldl (%r, %id = %rows, %c : !ft.list<[C], !v7>, !ft.list<[C], !i>) init (%b, %k = %low, %none : tensor<f32>, !i) {
      %p = arith.mulf %x, %r : !v7
      %s = linalg.reduce { arith.addf } ins(%p : !v7) outs(%z : tensor<f32>) dimensions = [0, 1]
      %better = arith.cmpf ogt, %s, %b : tensor<f32>
      %nb = arith.select %better, %s, %b : tensor<i1>, tensor<f32>
      %nk = arith.select %better, %id, %k : tensor<i1>, !i
      ft.yield %nb, %nk : tensor<f32>, !i
    }
    ft.yield %best, %at : tensor<f32>, !i
  }
  return %m, %n : !ft.list<[Q], tensor<f32>>, !ft.list<[Q], !i>
}

// A cell whose second product needs the first one whole, for both directions, joined along the features.
func.func @both_ways(%xs: !ft.list<[N, L], !v7> {ft.gen = #ft.normal<1.0>}, %w: !w7 {ft.gen = #ft.normal<0.3>}, %u: !w7 {ft.gen = #ft.normal<0.3>}, %c: !w7 {ft.gen = #ft.normal<0.3>}) -> !ft.list<[N, L], tensor<1x14xf32>>
    attributes {ft.lengths = {N = 3 : i64, L = 8 : i64}} {
  %z = arith.constant dense<0.0> : !v7
  %zz = arith.constant dense<0.0> : tensor<1x14xf32>
  %r = ft.map (%x = %xs : !ft.list<[N, L], !v7>) {
    %f = ft.scanl (%t = %x : !ft.list<[L], !v7>) init (%h = %z : !v7) {
      %a = linalg.matmul ins(%t, %w : !v7, !w7) outs(%z : !v7) -> !v7
      %b = linalg.matmul ins(%h, %u : !v7, !w7) outs(%a : !v7) -> !v7
      %g = ft.sigmoid %b : !v7
      %gh = arith.mulf %g, %h : !v7
      %d = linalg.matmul ins(%gh, %c : !v7, !w7) outs(%t : !v7) -> !v7
      %n = math.tanh %d : !v7
      ft.yield %n : !v7
    }
    %k = ft.scanr (%t = %x : !ft.list<[L], !v7>) init (%h = %z : !v7) {
      %a = linalg.matmul ins(%t, %u : !v7, !w7) outs(%h : !v7) -> !v7
      %g = ft.silu %a : !v7
      %d = linalg.matmul ins(%g, %w : !v7, !w7) outs(%z : !v7) -> !v7
      ft.yield %d : !v7
    }
    %y = ft.map (%p, %q = %f, %k : !ft.list<[L], !v7>, !ft.list<[L], !v7>) {
      %i0 = tensor.insert_slice %p into %zz[0, 0] [1, 7] [1, 1] : !v7 into tensor<1x14xf32>
      %i1 = tensor.insert_slice %q into %i0[0, 7] [1, 7] [1, 1] : !v7 into tensor<1x14xf32>
      ft.yield %i1 : tensor<1x14xf32>
    }
    ft.yield %y : !ft.list<[L], tensor<1x14xf32>>
  }
  return %r : !ft.list<[N, L], tensor<1x14xf32>>
}

// Viterbi: products of maxima and sums, with the places of the maxima, then a walk backwards along them.
#prev = affine_map<(j, i) -> (i)>
#tr = affine_map<(j, i) -> (i, j)>
#to = affine_map<(j, i) -> (j)>
func.func @viterbi(%em: !ft.list<[L], tensor<13xf32>>, %trans: tensor<13x13xf32>) -> (!ft.list<[L], tensor<13xf32>>, !ft.list<[L], !i>)
    attributes {ft.lengths = {L = 10 : i64}} {
  %z = arith.constant dense<0.0> : tensor<13xf32>
  %low = ft.lowest : tensor<13xf32>
  %zi = arith.constant dense<0> : tensor<13xi64>
  %start = arith.constant dense<3> : !i
  %scores, %back = ft.scanl (%e = %em : !ft.list<[L], tensor<13xf32>>) init (%s = %z : tensor<13xf32>) {
    %m, %at = linalg.generic {indexing_maps = [#prev, #tr, #to, #to], iterator_types = ["parallel", "reduction"]} ins(%s, %trans : tensor<13xf32>, tensor<13x13xf32>) outs(%low, %zi : tensor<13xf32>, tensor<13xi64>) {
    ^bb0(%a: f32, %t: f32, %o: f32, %k: i64):
      %c = arith.addf %a, %t : f32
      %i = linalg.index 1 : index
      %ii = arith.index_cast %i : index to i64
      %b = arith.cmpf ogt, %c, %o : f32
      %no = arith.select %b, %c, %o : f32
      %nk = arith.select %b, %ii, %k : i64
      linalg.yield %no, %nk : f32, i64
    } -> (tensor<13xf32>, tensor<13xi64>)
    %n = arith.addf %m, %e : tensor<13xf32>
    ft.yield %n : tensor<13xf32> emit %at : tensor<13xi64>
  }
  %path = ft.scanr (%b = %back : !ft.list<[L], tensor<13xi64>>) init (%k = %start : !i) {
    %kk = tensor.extract %k[] : !i
    %ix = arith.index_cast %kk : i64 to index
    %v = tensor.extract %b[%ix] : tensor<13xi64>
    %vt = tensor.from_elements %v : !i
    ft.yield %vt : !i
  }
  return %scores, %path : !ft.list<[L], tensor<13xf32>>, !ft.list<[L], !i>
}

// Each token goes through the matrix of an expert that its data names.
func.func @experts(%xs: !ft.list<[L], tensor<1x31xf32>>, %ws: !ft.list<[E], tensor<31x17xf32>>, %bias: !ft.list<[E], tensor<1x17xf32>>, %which: !ft.list<[L, 2], !i> {ft.gen = #ft.index<0, E>}) -> !ft.list<[L], tensor<1x17xf32>>
    attributes {ft.bounds = #ft.bounds<"E >= 1">, ft.lengths = {L = 12 : i64, E = 3 : i64}} {
  %z = arith.constant dense<0.0> : tensor<1x17xf32>
  %y = ft.map (%x, %k = %xs, %which : !ft.list<[L], tensor<1x31xf32>>, !ft.list<[L, 2], !i>) {
    %w = ft.gather %ws[%k] : !ft.list<[E], tensor<31x17xf32>>, !ft.list<[2], !i>
    %b = ft.gather %bias[%k] : !ft.list<[E], tensor<1x17xf32>>, !ft.list<[2], !i>
    %s = ft.foldl (%m, %c = %w, %b : !ft.list<[2], tensor<31x17xf32>>, !ft.list<[2], tensor<1x17xf32>>) init (%a = %z : tensor<1x17xf32>) {
      %p = linalg.matmul ins(%x, %m : tensor<1x31xf32>, tensor<31x17xf32>) outs(%c : tensor<1x17xf32>) -> tensor<1x17xf32>
      %r = math.erf %p : tensor<1x17xf32>
      %n = arith.addf %a, %r : tensor<1x17xf32>
      ft.yield %n : tensor<1x17xf32>
    }
    ft.yield %s : tensor<1x17xf32>
  }
  return %y : !ft.list<[L], tensor<1x17xf32>>
}

// A histogram: a state that is written at a place that is data.
func.func @histogram(%xs: !ft.list<[N, L], !i> {ft.gen = #ft.index<0, 11>}) -> (!ft.list<[N], tensor<11xi32>>, tensor<11xi32>)
    attributes {ft.lengths = {N = 4 : i64, L = 29 : i64}} {
  %z = arith.constant dense<0> : tensor<11xi32>
  %c1 = arith.constant 1 : i32
  %hs = ft.map (%row = %xs : !ft.list<[N, L], !i>) {
    %h = ft.foldl (%x = %row : !ft.list<[L], !i>) init (%a = %z : tensor<11xi32>) {
      %v = tensor.extract %x[] : !i
      %k = arith.index_cast %v : i64 to index
      %o = tensor.extract %a[%k] : tensor<11xi32>
      %n = arith.addi %o, %c1 : i32
      %r = tensor.insert %n into %a[%k] : tensor<11xi32>
      ft.yield %r : tensor<11xi32>
    }
    ft.yield %h : tensor<11xi32>
  }
  %all = ft.reduce (%h = %hs : !ft.list<[N], tensor<11xi32>>) init (%a = %z : tensor<11xi32>) {
    %n = arith.addi %a, %h : tensor<11xi32>
    ft.yield %n : tensor<11xi32>
  } combine (%p, %q) {
    %n = arith.addi %p, %q : tensor<11xi32>
    ft.yield %n : tensor<11xi32>
  } identity (%z : tensor<11xi32>)
  return %hs, %all : !ft.list<[N], tensor<11xi32>>, tensor<11xi32>
}

// f16 matrices in a window of a window, with steps; every boundary another one.
func.func @pyramid(%xs: !ft.list<[L], !h> {ft.gen = #ft.normal<1.0>}) -> (!ft.list<[ceildiv(L, 2)], !h>, !ft.list<[ceildiv(L, 2) - 2], !h>)
    attributes {ft.bounds = #ft.bounds<"L >= 5">, ft.lengths = {L = 23 : i64}} {
  %z = arith.constant dense<0.0> : !h
  %w = ft.window %xs size 3 step 2 boundary mirror : !ft.list<[L], !h>
  %a = ft.map (%t = %w : !ft.list<[ceildiv(L, 2), 3], !h>) {
    %s = ft.reduce (%x = %t : !ft.list<[3], !h>) init (%o = %z : !h) {
      %n = arith.addf %o, %x : !h
      ft.yield %n : !h
    }
    ft.yield %s : !h
  }
  %w2 = ft.window %a size 3 : !ft.list<[ceildiv(L, 2)], !h>
  %b = ft.map (%t = %w2 : !ft.list<[ceildiv(L, 2) - 2, 3], !h>) {
    %p = ft.at %t[0] : !ft.list<[3], !h>
    %q = ft.at %t[-1] : !ft.list<[3], !h>
    %m = arith.mulf %p, %q : !h
    %e = math.sqrt %m : !h
    %abs = math.absf %m : !h
    %r = math.sqrt %abs : !h
    ft.yield %r : !h
  }
  return %a, %b : !ft.list<[ceildiv(L, 2)], !h>, !ft.list<[ceildiv(L, 2) - 2], !h>
}

// A rotating state (two numbers each), and a product of it that leaves.
func.func @rotation(%xs: !ft.list<[B, L], tensor<5xf32>>, %cos: tensor<5xf32> {ft.gen = #ft.uniform<-0.9, 0.9>}, %sin: tensor<5xf32> {ft.gen = #ft.uniform<-0.4, 0.4>}, %out: tensor<5x3xf32>) -> !ft.list<[B, L], tensor<3xf32>>
    attributes {ft.lengths = {B = 3 : i64, L = 15 : i64}} {
  %z = arith.constant dense<0.0> : tensor<5xf32>
  %z3 = arith.constant dense<0.0> : tensor<3xf32>
  %y = ft.map (%row = %xs : !ft.list<[B, L], tensor<5xf32>>) {
    %re, %im, %o = ft.scanl (%x = %row : !ft.list<[L], tensor<5xf32>>) init (%a, %b = %z, %z : tensor<5xf32>, tensor<5xf32>) {
      %ac = arith.mulf %a, %cos : tensor<5xf32>
      %bs = arith.mulf %b, %sin : tensor<5xf32>
      %as = arith.mulf %a, %sin : tensor<5xf32>
      %bc = arith.mulf %b, %cos : tensor<5xf32>
      %d = arith.subf %ac, %bs : tensor<5xf32>
      %n = arith.addf %d, %x : tensor<5xf32>
      %m = arith.addf %as, %bc : tensor<5xf32>
      %q = linalg.vecmat ins(%n, %out : tensor<5xf32>, tensor<5x3xf32>) outs(%z3 : tensor<3xf32>) -> tensor<3xf32>
      ft.yield %n, %m : tensor<5xf32>, tensor<5xf32> emit %q : tensor<3xf32>
    }
    ft.yield %o : !ft.list<[L], tensor<3xf32>>
  }
  return %y : !ft.list<[B, L], tensor<3xf32>>
}

// Windows that wrap, as keys of an attention with odd heads.
func.func @ring_attention(%q: !ft.list<[L], tensor<3x11xf32>>, %k: !ft.list<[L], tensor<3x11xf32>>, %v: !ft.list<[L], tensor<3x11xf32>>) -> !ft.list<[L], tensor<3x11xf32>>
    attributes {ft.bounds = #ft.bounds<"L >= 5">, ft.lengths = {L = 9 : i64}} {
  %z = arith.constant dense<0.0> : tensor<3x11xf32>
  %z3 = arith.constant dense<0.0> : tensor<3xf32>
  %low = ft.lowest : tensor<3xf32>
  %kw = ft.window %k size 5 boundary wrap : !ft.list<[L], tensor<3x11xf32>>
  %vw = ft.window %v size 5 boundary wrap : !ft.list<[L], tensor<3x11xf32>>
  %y = ft.map (%qi, %ki, %vi = %q, %kw, %vw : !ft.list<[L], tensor<3x11xf32>>, !ft.list<[L, 5], tensor<3x11xf32>>, !ft.list<[L, 5], tensor<3x11xf32>>) {
    %s = ft.map (%kk = %ki : !ft.list<[5], tensor<3x11xf32>>) {
      %p = arith.mulf %qi, %kk : tensor<3x11xf32>
      %r = linalg.reduce { arith.addf } ins(%p : tensor<3x11xf32>) outs(%z3 : tensor<3xf32>) dimensions = [1]
      ft.yield %r : tensor<3xf32>
    }
    %m = ft.reduce (%x = %s : !ft.list<[5], tensor<3xf32>>) init (%a = %low : tensor<3xf32>) {
      %n = arith.maximumf %a, %x : tensor<3xf32>
      ft.yield %n : tensor<3xf32>
    }
    %e = ft.map (%x = %s : !ft.list<[5], tensor<3xf32>>) {
      %d = arith.subf %x, %m : tensor<3xf32>
      %n = math.exp %d : tensor<3xf32>
      ft.yield %n : tensor<3xf32>
    }
    %t, %o = ft.foldl (%x, %vv = %e, %vi : !ft.list<[5], tensor<3xf32>>, !ft.list<[5], tensor<3x11xf32>>) init (%a, %b = %z3, %z : tensor<3xf32>, tensor<3x11xf32>) {
      %n = arith.addf %a, %x : tensor<3xf32>
      %eb = tensor.empty() : tensor<3x11xf32>
      %xb = linalg.broadcast ins(%x : tensor<3xf32>) outs(%eb : tensor<3x11xf32>) dimensions = [1]
      %c = arith.mulf %xb, %vv : tensor<3x11xf32>
      %w = arith.addf %b, %c : tensor<3x11xf32>
      ft.yield %n, %w : tensor<3xf32>, tensor<3x11xf32>
    }
    %eb = tensor.empty() : tensor<3x11xf32>
    %tb = linalg.broadcast ins(%t : tensor<3xf32>) outs(%eb : tensor<3x11xf32>) dimensions = [1]
    %r = arith.divf %o, %tb : tensor<3x11xf32>
    ft.yield %r : tensor<3x11xf32>
  }
  return %y : !ft.list<[L], tensor<3x11xf32>>
}

// A scan of 2x2 integer matrices, associative, over all, with views of it in reverse.
func.func @matrix_scan(%xs: !ft.list<[L], tensor<2x2xi32>> {ft.gen = #ft.index<0, 3>}) -> (!ft.list<[L], tensor<2x2xi32>>, !ft.list<[L], tensor<2x2xi32>>)
    attributes {ft.lengths = {L = 37 : i64}} {
  %id = arith.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
  %z = arith.constant dense<0> : tensor<2x2xi32>
  %p = ft.scan (%x = %xs : !ft.list<[L], tensor<2x2xi32>>) init (%a = %id : tensor<2x2xi32>) {
    %n = linalg.matmul ins(%a, %x : tensor<2x2xi32>, tensor<2x2xi32>) outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>
    ft.yield %n : tensor<2x2xi32>
  } combine (%a, %b) {
    %n = linalg.matmul ins(%a, %b : tensor<2x2xi32>, tensor<2x2xi32>) outs(%z : tensor<2x2xi32>) -> tensor<2x2xi32>
    ft.yield %n : tensor<2x2xi32>
  } identity (%id : tensor<2x2xi32>)
  %r = ft.reverse %p : !ft.list<[L], tensor<2x2xi32>>
  %y = ft.map (%a, %b = %r, %p : !ft.list<[L], tensor<2x2xi32>>, !ft.list<[L], tensor<2x2xi32>>) {
    %n = arith.xori %a, %b : tensor<2x2xi32>
    ft.yield %n : tensor<2x2xi32>
  }
  return %p, %y : !ft.list<[L], tensor<2x2xi32>>, !ft.list<[L], tensor<2x2xi32>>
}
