// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic programming and what is like it: CTC, hidden Markov models, edit distance,
// local alignment with affine gaps, a Kalman filter, shortest paths, experts, segments,
// stencils over time, beams, sorting, the game of life. Their values are NumPy's.
//
// REQUIRES: numpy
// RUN: %python %S/Inputs/values.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 14 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!s = tensor<f32>
!i = tensor<i64>
!j = tensor<i32>
!b = tensor<i1>
!v = tensor<4xf32>
!m2 = tensor<2x2xf32>
!v2 = tensor<2xf32>

// CTC: log-probability of a labelling; S extended labels, T frames of V classes.
func.func @ctc(%logp: !ft.list<[T, V], !s>, %labels: !ft.list<[S], !i> {ft.gen = #ft.index<0, V>}) -> (!ft.list<[T, S], !s>, !s)
    attributes {ft.bounds = #ft.bounds<"V >= 1", "S >= 2">} {
  %low = arith.constant dense<-1.0e30> : !s
  %zero = arith.constant dense<0.0> : !s
  %i0 = arith.constant dense<0> : !i
  %n = ft.iota : !ft.list<[S], !i>
  %two = ft.shift %labels by 2 fill %i0 : !ft.list<[S], !i>, !i
  %skip = ft.map (%l, %l2 = %labels, %two : !ft.list<[S], !i>, !ft.list<[S], !i>) {
    %blank = arith.cmpi ne, %l, %i0 : !i
    %new = arith.cmpi ne, %l, %l2 : !i
    %both = arith.andi %blank, %new : !b
    ft.yield %both : !b
  }
  %start = ft.map (%k = %n : !ft.list<[S], !i>) {
    %first = arith.cmpi eq, %k, %i0 : !i
    %r = arith.select %first, %zero, %low : !b, !s
    ft.yield %r : !s
  }
  %all = ft.scanl (%p = %logp : !ft.list<[T, V], !s>) init (%a = %start : !ft.list<[S], !s>) {
    %e = ft.gather %p[%labels] : !ft.list<[V], !s>, !ft.list<[S], !i>
    %a1 = ft.shift %a by 1 fill %low : !ft.list<[S], !s>, !s
    %a2 = ft.shift %a by 2 fill %low : !ft.list<[S], !s>, !s
    %next = ft.map (%x, %y, %z, %k, %q = %a, %a1, %a2, %skip, %e : !ft.list<[S], !s>, !ft.list<[S], !s>, !ft.list<[S], !s>, !ft.list<[S], !b>, !ft.list<[S], !s>) {
      %zz = arith.select %k, %z, %low : !b, !s
      %xy = arith.maximumf %x, %y : !s
      %m = arith.maximumf %xy, %zz : !s
      %dx = arith.subf %x, %m : !s
      %dy = arith.subf %y, %m : !s
      %dz = arith.subf %zz, %m : !s
      %ex = math.exp %dx : !s
      %ey = math.exp %dy : !s
      %ez = math.exp %dz : !s
      %s1 = arith.addf %ex, %ey : !s
      %s2 = arith.addf %s1, %ez : !s
      %lg = math.log %s2 : !s
      %r0 = arith.addf %m, %lg : !s
      %r = arith.addf %r0, %q : !s
      ft.yield %r : !s
    }
    ft.yield %next : !ft.list<[S], !s>
  }
  %last = ft.foldl (%row = %all : !ft.list<[T, S], !s>) init (%acc = %zero : !s) {
    %x = ft.at %row[-1] : !ft.list<[S], !s>
    %y = ft.at %row[-2] : !ft.list<[S], !s>
    %m = arith.maximumf %x, %y : !s
    ft.yield %m : !s
  }
  return %all, %last : !ft.list<[T, S], !s>, !s
}

// Hidden Markov model: normalised forward and backward passes, and their products.
func.func @hmm(%obs: !ft.list<[T, K], !s> {ft.gen = #ft.uniform<0.1, 1.0>}, %a: !ft.list<[K, K], !s> {ft.gen = #ft.uniform<0.1, 1.0>}) -> (!ft.list<[T, K], !s>, !ft.list<[T], !s>) {
  %z = arith.constant dense<0.0> : !s
  %one = arith.constant dense<1.0> : !s
  %eps = arith.constant dense<1.0e-6> : !s
  %ones = ft.repeat %one times K : !s
  %at = ft.transpose %a [1, 0] : !ft.list<[K, K], !s>
  %fw, %norm = ft.scanl (%o = %obs : !ft.list<[T, K], !s>) init (%p = %ones : !ft.list<[K], !s>) {
    %u = ft.map (%col, %e = %at, %o : !ft.list<[K, K], !s>, !ft.list<[K], !s>) {
      %d = ft.foldl (%x, %y = %col, %p : !ft.list<[K], !s>, !ft.list<[K], !s>) init (%acc = %z : !s) {
        %q = arith.mulf %x, %y : !s
        %t = arith.addf %acc, %q : !s
        ft.yield %t : !s
      }
      %r = arith.mulf %d, %e : !s
      ft.yield %r : !s
    }
    %sum = ft.reduce (%x = %u : !ft.list<[K], !s>) init (%acc = %eps : !s) {
      %t = arith.addf %acc, %x : !s
      ft.yield %t : !s
    } combine (%x, %y) {
      %t = arith.addf %x, %y : !s
      ft.yield %t : !s
    } identity (%z : !s)
    %nn = ft.map (%x = %u : !ft.list<[K], !s>) {
      %t = arith.divf %x, %sum : !s
      ft.yield %t : !s
    }
    ft.yield %nn : !ft.list<[K], !s> emit %sum : !s
  }
  %bw = ft.scanr (%o, %c = %obs, %norm : !ft.list<[T, K], !s>, !ft.list<[T], !s>) init (%p = %ones : !ft.list<[K], !s>) {
    %u = ft.map (%row = %a : !ft.list<[K, K], !s>) {
      %d = ft.foldr (%x, %y, %e = %row, %p, %o : !ft.list<[K], !s>, !ft.list<[K], !s>, !ft.list<[K], !s>) init (%acc = %z : !s) {
        %q = arith.mulf %x, %y : !s
        %qe = arith.mulf %q, %e : !s
        %t = arith.addf %acc, %qe : !s
        ft.yield %t : !s
      }
      %r = arith.divf %d, %c : !s
      ft.yield %r : !s
    }
    ft.yield %u : !ft.list<[K], !s>
  }
  %post = ft.map (%f, %b = %fw, %bw : !ft.list<[T, K], !s>, !ft.list<[T, K], !s>) {
    %r = ft.map (%x, %y = %f, %b : !ft.list<[K], !s>, !ft.list<[K], !s>) {
      %t = arith.mulf %x, %y : !s
      ft.yield %t : !s
    }
    ft.yield %r : !ft.list<[K], !s>
  }
  return %post, %norm : !ft.list<[T, K], !s>, !ft.list<[T], !s>
}

// Edit distance in 32-bit integers; the row's own start is the number of the row.
func.func @edit_distance(%as: !ft.list<[M], !j> {ft.gen = #ft.index<0, 4>}, %bs: !ft.list<[N], !j> {ft.gen = #ft.index<0, 4>}) -> (!ft.list<[M, N], !j>, !j) {
  %one = arith.constant dense<1> : !j
  %zero = arith.constant dense<0> : !j
  %n = ft.iota : !ft.list<[N], !j>
  %m = ft.iota : !ft.list<[M], !j>
  %first = ft.map (%k = %n : !ft.list<[N], !j>) {
    %k1 = arith.addi %k, %one : !j
    ft.yield %k1 : !j
  }
  %rows = ft.scanl (%a, %i = %as, %m : !ft.list<[M], !j>, !ft.list<[M], !j>) init (%up = %first : !ft.list<[N], !j>) {
    %diag = ft.shift %up by 1 fill %i : !ft.list<[N], !j>, !j
    %i1 = arith.addi %i, %one : !j
    %row = ft.scanl (%b, %u, %d = %bs, %up, %diag : !ft.list<[N], !j>, !ft.list<[N], !j>, !ft.list<[N], !j>) init (%left = %i1 : !j) {
      %ne = arith.cmpi ne, %a, %b : !j
      %cost = arith.extui %ne : !b to !j
      %sub = arith.addi %d, %cost : !j
      %ins = arith.addi %left, %one : !j
      %del = arith.addi %u, %one : !j
      %x = arith.minsi %ins, %del : !j
      %y = arith.minsi %x, %sub : !j
      ft.yield %y : !j
    }
    ft.yield %row : !ft.list<[N], !j>
  }
  %d = ft.foldl (%row = %rows : !ft.list<[M, N], !j>) init (%acc = %zero : !j) {
    %max = ft.reduce (%x = %row : !ft.list<[N], !j>) init (%mm = %acc : !j) {
      %y = arith.maxsi %mm, %x : !j
      ft.yield %y : !j
    } combine (%p, %q) {
      %y = arith.maxsi %p, %q : !j
      ft.yield %y : !j
    } identity (%zero : !j)
    ft.yield %max : !j
  }
  return %rows, %d : !ft.list<[M, N], !j>, !j
}

// Smith-Waterman with affine gaps: three tables, the best score and where it is.
func.func @smith_waterman(%as: !ft.list<[M], !j> {ft.gen = #ft.index<0, 3>}, %bs: !ft.list<[N], !j> {ft.gen = #ft.index<0, 3>}) -> (!ft.list<[M, N], !s>, !s, !i, !i) {
  %z = arith.constant dense<0.0> : !s
  %low = arith.constant dense<-1.0e30> : !s
  %match = arith.constant dense<2.0> : !s
  %miss = arith.constant dense<-1.0> : !s
  %open = arith.constant dense<1.5> : !s
  %ext = arith.constant dense<0.25> : !s
  %none = arith.constant dense<-1> : !i
  %zr = ft.repeat %z times N : !s
  %lr = ft.repeat %low times N : !s
  %hs, %es = ft.scanl (%a = %as : !ft.list<[M], !j>) init (%h, %e = %zr, %lr : !ft.list<[N], !s>, !ft.list<[N], !s>) {
    %diag = ft.shift %h by 1 fill %z : !ft.list<[N], !s>, !s
    %h1, %f1, %e1 = ft.scanl (%b, %u, %d, %eu = %bs, %h, %diag, %e : !ft.list<[N], !j>, !ft.list<[N], !s>, !ft.list<[N], !s>, !ft.list<[N], !s>) init (%left, %f = %z, %low : !s, !s) {
      %ho = arith.subf %u, %open : !s
      %ee = arith.subf %eu, %ext : !s
      %en = arith.maximumf %ho, %ee : !s
      %lo = arith.subf %left, %open : !s
      %fe = arith.subf %f, %ext : !s
      %fn = arith.maximumf %lo, %fe : !s
      %eq = arith.cmpi eq, %a, %b : !j
      %sc = arith.select %eq, %match, %miss : !b, !s
      %ds = arith.addf %d, %sc : !s
      %x = arith.maximumf %ds, %en : !s
      %y = arith.maximumf %x, %fn : !s
      %hn = arith.maximumf %y, %z : !s
      ft.yield %hn, %fn : !s, !s emit %en : !s
    }
    ft.yield %h1, %e1 : !ft.list<[N], !s>, !ft.list<[N], !s>
  }
  %m = ft.iota : !ft.list<[M], !i>
  %n = ft.iota : !ft.list<[N], !i>
  %best, %bi, %bj = ft.foldl (%row, %i = %hs, %m : !ft.list<[M, N], !s>, !ft.list<[M], !i>) init (%x0, %i0, %j0 = %z, %none, %none : !s, !i, !i) {
    %x1, %i1, %j1 = ft.foldl (%h, %j = %row, %n : !ft.list<[N], !s>, !ft.list<[N], !i>) init (%x, %p, %q = %x0, %i0, %j0 : !s, !i, !i) {
      %more = arith.cmpf ogt, %h, %x : !s
      %xx = arith.select %more, %h, %x : !b, !s
      %pp = arith.select %more, %i, %p : !b, !i
      %qq = arith.select %more, %j, %q : !b, !i
      ft.yield %xx, %pp, %qq : !s, !i, !i
    }
    ft.yield %x1, %i1, %j1 : !s, !i, !i
  }
  return %hs, %best, %bi, %bj : !ft.list<[M, N], !s>, !s, !i, !i
}

// A Kalman filter with two-dimensional states and scalar measurements.
func.func @kalman(%zs: !ft.list<[L], !s>) -> (!ft.list<[L], !v2>, !ft.list<[L], !m2>) {
  %f = arith.constant dense<[[1.0, 0.1], [0.0, 1.0]]> : !m2
  %q = arith.constant dense<[[0.01, 0.0], [0.0, 0.02]]> : !m2
  %hrow = arith.constant dense<[1.0, 0.0]> : !v2
  %rr = arith.constant dense<0.5> : !s
  %p0 = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : !m2
  %x0 = arith.constant dense<0.0> : !v2
  %zm = arith.constant dense<0.0> : !m2
  %zv = arith.constant dense<0.0> : !v2
  %zsc = arith.constant dense<0.0> : !s
  %xs, %ps = ft.scanl (%m = %zs : !ft.list<[L], !s>) init (%x, %p = %x0, %p0 : !v2, !m2) {
    %xp = linalg.matvec ins(%f, %x : !m2, !v2) outs(%zv : !v2) -> !v2
    %fp = linalg.matmul ins(%f, %p : !m2, !m2) outs(%zm : !m2) -> !m2
    %pp = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%fp, %f : !m2, !m2) outs(%q : !m2) -> !m2
    %ph = linalg.matvec ins(%pp, %hrow : !m2, !v2) outs(%zv : !v2) -> !v2
    %s0 = linalg.dot ins(%ph, %hrow : !v2, !v2) outs(%rr : !s) -> !s
    %e = tensor.empty() : !v2
    %sb = linalg.broadcast ins(%s0 : !s) outs(%e : !v2) dimensions = [0]
    %k = arith.divf %ph, %sb : !v2
    %hx = linalg.dot ins(%xp, %hrow : !v2, !v2) outs(%zsc : !s) -> !s
    %y = arith.subf %m, %hx : !s
    %yb = linalg.broadcast ins(%y : !s) outs(%e : !v2) dimensions = [0]
    %ky = arith.mulf %k, %yb : !v2
    %x1 = arith.addf %xp, %ky : !v2
    %kh = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%k, %ph : !v2, !v2) outs(%pp : !m2) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %ab = arith.mulf %a, %b : f32
      %r = arith.subf %c, %ab : f32
      linalg.yield %r : f32
    } -> !m2
    ft.yield %x1, %kh : !v2, !m2
  }
  return %xs, %ps : !ft.list<[L], !v2>, !ft.list<[L], !m2>
}

// All pairs' shortest paths (Floyd and Warshall): a fold over pivots whose state is the matrix.
func.func @floyd_warshall(%d: !ft.list<[V, V], !s> {ft.gen = #ft.uniform<0.1, 3.0>}) -> !ft.list<[V, V], !s> {
  %n = ft.iota : !ft.list<[V], !i>
  %r = ft.foldl (%k = %n : !ft.list<[V], !i>) init (%now = %d : !ft.list<[V, V], !s>) {
    %pivot = ft.gather %now[%k] : !ft.list<[V, V], !s>, !i
    %t = ft.transpose %now [1, 0] : !ft.list<[V, V], !s>
    %column = ft.gather %t[%k] : !ft.list<[V, V], !s>, !i
    %next = ft.map (%row, %c = %now, %column : !ft.list<[V, V], !s>, !ft.list<[V], !s>) {
      %u = ft.map (%x, %p = %row, %pivot : !ft.list<[V], !s>, !ft.list<[V], !s>) {
        %s = arith.addf %c, %p : !s
        %m = arith.minimumf %x, %s : !s
        ft.yield %m : !s
      }
      ft.yield %u : !ft.list<[V], !s>
    }
    ft.yield %next : !ft.list<[V, V], !s>
  }
  return %r : !ft.list<[V, V], !s>
}

// Top-1 mixture of experts: softmax gate, argmax over experts, gathered weights.
func.func @moe(%xs: !ft.list<[N], !v>, %gates: !ft.list<[E], !v>, %ws: !ft.list<[E], tensor<4x4xf32>>) -> (!ft.list<[N], !v>, !ft.list<[N], !i>)
    attributes {ft.bounds = #ft.bounds<"E >= 1">} {
  %zs = arith.constant dense<0.0> : !s
  %zv = arith.constant dense<0.0> : !v
  %low = arith.constant dense<-1.0e30> : !s
  %i0 = arith.constant dense<0> : !i
  %e = ft.iota : !ft.list<[E], !i>
  %y, %who = ft.map (%x = %xs : !ft.list<[N], !v>) {
    %l = ft.map (%g = %gates : !ft.list<[E], !v>) {
      %d = linalg.dot ins(%x, %g : !v, !v) outs(%zs : !s) -> !s
      ft.yield %d : !s
    }
    %b, %w, %sum = ft.foldl (%d, %k = %l, %e : !ft.list<[E], !s>, !ft.list<[E], !i>) init (%best, %at, %acc = %low, %i0, %zs : !s, !i, !s) {
      %more = arith.cmpf ogt, %d, %best : !s
      %nb = arith.select %more, %d, %best : !b, !s
      %na = arith.select %more, %k, %at : !b, !i
      %x0 = arith.subf %best, %nb : !s
      %x1 = math.exp %x0 : !s
      %y0 = arith.subf %d, %nb : !s
      %y1 = math.exp %y0 : !s
      %a0 = arith.mulf %acc, %x1 : !s
      %a1 = arith.addf %a0, %y1 : !s
      ft.yield %nb, %na, %a1 : !s, !i, !s
    }
    %we = ft.gather %ws[%w] : !ft.list<[E], tensor<4x4xf32>>, !i
    %o = linalg.vecmat ins(%x, %we : !v, tensor<4x4xf32>) outs(%zv : !v) -> !v
    %em = tensor.empty() : !v
    %sb = linalg.broadcast ins(%sum : !s) outs(%em : !v) dimensions = [0]
    %on = arith.divf %o, %sb : !v
    ft.yield %on, %w : !v, !i
  }
  return %y, %who : !ft.list<[N], !v>, !ft.list<[N], !i>
}

// Segmented prefix sums: a scan that may be cut, of (flag, sum) pairs.
func.func @segmented(%xs: !ft.list<[L], !v>, %heads: !ft.list<[L], !i> {ft.gen = #ft.index<0, 3>}) -> (!ft.list<[L], !v>, !ft.list<[L], !b>) {
  %z = arith.constant dense<0.0> : !v
  %no = arith.constant dense<false> : !b
  %i0 = arith.constant dense<0> : !i
  %flags = ft.map (%h = %heads : !ft.list<[L], !i>) {
    %f = arith.cmpi eq, %h, %i0 : !i
    ft.yield %f : !b
  }
  %f, %s = ft.scan (%g, %x = %flags, %xs : !ft.list<[L], !b>, !ft.list<[L], !v>) init (%fa, %xa = %no, %z : !b, !v) {
    %e = tensor.empty() : tensor<4xi1>
    %gb = linalg.broadcast ins(%g : !b) outs(%e : tensor<4xi1>) dimensions = [0]
    %sum = arith.addf %xa, %x : !v
    %r = arith.select %gb, %x, %sum : tensor<4xi1>, !v
    %o = arith.ori %fa, %g : !b
    ft.yield %o, %r : !b, !v
  } 
  return %s, %f : !ft.list<[L], !v>, !ft.list<[L], !b>
}

// The cosine transform of a list, angles from positions; its length is counted by a fold.
func.func @dct(%xs: !ft.list<[L], !s>) -> !ft.list<[L], !s> {
  %z = arith.constant dense<0.0> : !s
  %one = arith.constant dense<1.0> : !s
  %half = arith.constant dense<0.5> : !s
  %pi = arith.constant dense<3.14159265> : !s
  %n = ft.iota : !ft.list<[L], !j>
  %len = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) {
    %b = arith.addf %a, %one : !s
    ft.yield %b : !s
  } combine (%x, %y) {
    %b = arith.addf %x, %y : !s
    ft.yield %b : !s
  } identity (%z : !s)
  %y = ft.map (%k = %n : !ft.list<[L], !j>) {
    %kf = arith.sitofp %k : !j to !s
    %s = ft.foldl (%x, %t = %xs, %n : !ft.list<[L], !s>, !ft.list<[L], !j>) init (%acc = %z : !s) {
      %tf = arith.sitofp %t : !j to !s
      %th = arith.addf %tf, %half : !s
      %a = arith.mulf %th, %kf : !s
      %b = arith.mulf %a, %pi : !s
      %c = arith.divf %b, %len : !s
      %cos = math.cos %c : !s
      %p = arith.mulf %x, %cos : !s
      %q = arith.addf %acc, %p : !s
      ft.yield %q : !s
    }
    ft.yield %s : !s
  }
  return %y : !ft.list<[L], !s>
}

// Jacobi iteration on a plane, five points, edges clamped, over T steps with all of them kept.
func.func @jacobi(%a: !ft.list<[X, Y], !s>, %ts: !ft.list<[T], !s> {ft.gen = #ft.uniform<0.0, 0.2>}) -> !ft.list<[T, X, Y], !s>
    attributes {ft.bounds = #ft.bounds<"X >= 1", "Y >= 1">} {
  %four = arith.constant dense<4.0> : !s
  %r = ft.scanl (%k = %ts : !ft.list<[T], !s>) init (%now = %a : !ft.list<[X, Y], !s>) {
    %w = ft.window %now size 3 boundary clamp : !ft.list<[X, Y], !s>
    %next = ft.map (%three = %w : !ft.list<[X, 3, Y], !s>) {
      %n = ft.at %three[0] : !ft.list<[3, Y], !s>
      %c = ft.at %three[1] : !ft.list<[3, Y], !s>
      %s = ft.at %three[2] : !ft.list<[3, Y], !s>
      %cw = ft.window %c size 3 boundary clamp : !ft.list<[Y], !s>
      %row = ft.map (%u, %d, %m = %n, %s, %cw : !ft.list<[Y], !s>, !ft.list<[Y], !s>, !ft.list<[Y, 3], !s>) {
        %l = ft.at %m[0] : !ft.list<[3], !s>
        %x = ft.at %m[1] : !ft.list<[3], !s>
        %r = ft.at %m[2] : !ft.list<[3], !s>
        %ud = arith.addf %u, %d : !s
        %lr = arith.addf %l, %r : !s
        %sum = arith.addf %ud, %lr : !s
        %fx = arith.mulf %four, %x : !s
        %lap = arith.subf %sum, %fx : !s
        %dl = arith.mulf %lap, %k : !s
        %y = arith.addf %x, %dl : !s
        ft.yield %y : !s
      }
      ft.yield %row : !ft.list<[Y], !s>
    }
    ft.yield %next : !ft.list<[X, Y], !s>
  }
  return %r : !ft.list<[T, X, Y], !s>
}

// Cumulative arg-max by pairs that join: a scan with combine; strictly first maximum wins.
func.func @cum_argmax(%xs: !ft.list<[N, L], !s>) -> (!ft.list<[N, L], !s>, !ft.list<[N, L], !j>) {
  %low = arith.constant dense<-1.0e30> : !s
  %big = arith.constant dense<2147483647> : !j
  %n = ft.iota : !ft.list<[L], !j>
  %m, %k = ft.map (%row = %xs : !ft.list<[N, L], !s>) {
    %a, %b = ft.scan (%x, %i = %row, %n : !ft.list<[L], !s>, !ft.list<[L], !j>) init (%p, %q = %low, %big : !s, !j) {
      %more = arith.cmpf ogt, %x, %p : !s
      %r = arith.select %more, %x, %p : !b, !s
      %s = arith.select %more, %i, %q : !b, !j
      ft.yield %r, %s : !s, !j
    }
    ft.yield %a, %b : !ft.list<[L], !s>, !ft.list<[L], !j>
  }
  return %m, %k : !ft.list<[N, L], !s>, !ft.list<[N, L], !j>
}

// One beam step: the R best continuations of K beams over V words, one after another, each used once.
func.func @beam(%scores: !ft.list<[K], !s>, %logp: !ft.list<[K, V], !s>, %rounds: !ft.list<[R], !i>) -> (!ft.list<[R], !s>, !ft.list<[R], !i>, !ft.list<[R], !i>) {
  %low = arith.constant dense<-1.0e30> : !s
  %none = arith.constant dense<-1> : !i
  %ks = ft.iota : !ft.list<[K], !i>
  %vs = ft.iota : !ft.list<[V], !i>
  %total = ft.map (%s, %row = %scores, %logp : !ft.list<[K], !s>, !ft.list<[K, V], !s>) {
    %r = ft.map (%x = %row : !ft.list<[V], !s>) {
      %y = arith.addf %x, %s : !s
      ft.yield %y : !s
    }
    ft.yield %r : !ft.list<[V], !s>
  }
  %left, %x, %i, %j = ft.scanl (%r = %rounds : !ft.list<[R], !i>) init (%now = %total : !ft.list<[K, V], !s>) {
    %best, %bi, %bj = ft.foldl (%row, %k = %now, %ks : !ft.list<[K, V], !s>, !ft.list<[K], !i>) init (%a, %b, %c = %low, %none, %none : !s, !i, !i) {
      %a1, %b1, %c1 = ft.foldl (%y, %v = %row, %vs : !ft.list<[V], !s>, !ft.list<[V], !i>) init (%p, %q, %t = %a, %b, %c : !s, !i, !i) {
        %more = arith.cmpf ogt, %y, %p : !s
        %u0 = arith.select %more, %y, %p : !b, !s
        %u1 = arith.select %more, %k, %q : !b, !i
        %u2 = arith.select %more, %v, %t : !b, !i
        ft.yield %u0, %u1, %u2 : !s, !i, !i
      }
      ft.yield %a1, %b1, %c1 : !s, !i, !i
    }
    %next = ft.map (%row, %k = %now, %ks : !ft.list<[K, V], !s>, !ft.list<[K], !i>) {
      %hit = arith.cmpi eq, %k, %bi : !i
      %nr = ft.map (%y, %v = %row, %vs : !ft.list<[V], !s>, !ft.list<[V], !i>) {
        %same = arith.cmpi eq, %v, %bj : !i
        %both = arith.andi %hit, %same : !b
        %z = arith.select %both, %low, %y : !b, !s
        ft.yield %z : !s
      }
      ft.yield %nr : !ft.list<[V], !s>
    }
    ft.yield %next : !ft.list<[K, V], !s> emit %best, %bi, %bj : !s, !i, !i
  }
  return %x, %i, %j : !ft.list<[R], !s>, !ft.list<[R], !i>, !ft.list<[R], !i>
}

// Odd-even transposition sort: L rounds; neighbours by shifts.
func.func @sort(%xs: !ft.list<[L], !s>) -> !ft.list<[L], !s> {
  %inf = arith.constant dense<1.0e30> : !s
  %ninf = arith.constant dense<-1.0e30> : !s
  %n = ft.iota : !ft.list<[L], !i>
  %two = arith.constant dense<2> : !i
  %zero = arith.constant dense<0> : !i
  %r = ft.foldl (%t = %n : !ft.list<[L], !i>) init (%now = %xs : !ft.list<[L], !s>) {
    %prev = ft.shift %now by 1 fill %ninf : !ft.list<[L], !s>, !s
    %next = ft.shift %now by -1 fill %inf : !ft.list<[L], !s>, !s
    %y = ft.map (%x, %p, %q, %i = %now, %prev, %next, %n : !ft.list<[L], !s>, !ft.list<[L], !s>, !ft.list<[L], !s>, !ft.list<[L], !i>) {
      %ti = arith.addi %t, %i : !i
      %m = arith.remui %ti, %two : !i
      %low = arith.cmpi eq, %m, %zero : !i
      %a = arith.minimumf %x, %q : !s
      %b = arith.maximumf %x, %p : !s
      %v = arith.select %low, %a, %b : !b, !s
      ft.yield %v : !s
    }
    ft.yield %y : !ft.list<[L], !s>
  }
  return %r : !ft.list<[L], !s>
}

// The game of life on a torus, R generations, cells i8.
func.func @life(%a: !ft.list<[X, Y], tensor<i8>> {ft.gen = #ft.index<0, 2>}, %rounds: !ft.list<[R], !i>) -> !ft.list<[X, Y], tensor<i8>>
    attributes {ft.bounds = #ft.bounds<"X >= 1", "Y >= 1">} {
  %z = arith.constant dense<0> : tensor<i8>
  %two = arith.constant dense<2> : tensor<i8>
  %three = arith.constant dense<3> : tensor<i8>
  %r = ft.foldl (%k = %rounds : !ft.list<[R], !i>) init (%now = %a : !ft.list<[X, Y], tensor<i8>>) {
    %w = ft.window %now size 3 boundary wrap : !ft.list<[X, Y], tensor<i8>>
    %next = ft.map (%rows, %mid = %w, %now : !ft.list<[X, 3, Y], tensor<i8>>, !ft.list<[X, Y], tensor<i8>>) {
      %t = ft.transpose %rows [1, 0] : !ft.list<[3, Y], tensor<i8>>
      %tw = ft.window %t size 3 boundary wrap : !ft.list<[Y, 3], tensor<i8>>
      %nr = ft.map (%nine, %c = %tw, %mid : !ft.list<[Y, 3, 3], tensor<i8>>, !ft.list<[Y], tensor<i8>>) {
        %flat = ft.flatten %nine : !ft.list<[3, 3], tensor<i8>>
        %s = ft.reduce (%x = %flat : !ft.list<[9], tensor<i8>>) init (%acc = %z : tensor<i8>) {
          %y = arith.addi %acc, %x : tensor<i8>
          ft.yield %y : tensor<i8>
        }
        %n = arith.subi %s, %c : tensor<i8>
        %is3 = arith.cmpi eq, %n, %three : tensor<i8>
        %is2 = arith.cmpi eq, %n, %two : tensor<i8>
        %live = arith.cmpi ne, %c, %z : tensor<i8>
        %stay = arith.andi %is2, %live : !b
        %on = arith.ori %is3, %stay : !b
        %o = arith.extui %on : !b to tensor<i8>
        ft.yield %o : tensor<i8>
      }
      ft.yield %nr : !ft.list<[Y], tensor<i8>>
    }
    ft.yield %next : !ft.list<[X, Y], tensor<i8>>
  }
  return %r : !ft.list<[X, Y], tensor<i8>>
}
