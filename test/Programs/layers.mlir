// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention with groups and slopes, state space duality, memories, norms, checksums, and
// states, zips and gathers in combinations that no other program has. Their values are NumPy's.
//
// REQUIRES: numpy
// RUN: %python %S/Inputs/values.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 11 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!s = tensor<f32>
!i = tensor<i64>
!j = tensor<i32>
!b = tensor<i1>
!v = tensor<4xf32>
!m = tensor<4x4xf32>

// Tuple states of a list, a scalar and a tensor; what is emitted is a list; lag 2 from the right.
func.func @mixed_states(%xs: !ft.list<[L], !v>, %ks: !ft.list<[K], !s>) -> (!ft.list<[L, K], !s>, !ft.list<[L], !v>, !ft.list<[L, K], !s>) {
  %z = arith.constant dense<0.0> : !s
  %zv = arith.constant dense<0.0> : !v
  %half = arith.constant dense<0.5> : !s
  %a, %b, %c, %e = ft.scanr (%x = %xs : !ft.list<[L], !v>) init (%l, %v, %n = %ks, %zv, %half : !ft.list<[K], !s>, !v, !s) lag 2 {
    %l1 = ft.map (%y, %k = %l, %ks : !ft.list<[K], !s>, !ft.list<[K], !s>) {
      %p = arith.mulf %y, %n : !s
      %q = arith.addf %p, %k : !s
      ft.yield %q : !s
    }
    %sum = ft.reduce (%y = %l1 : !ft.list<[K], !s>) init (%t = %z : !s) {
      %u = arith.addf %t, %y : !s
      ft.yield %u : !s
    }
    %t = math.tanh %sum : !s
    %em = tensor.empty() : !v
    %tb = linalg.broadcast ins(%t : !s) outs(%em : !v) dimensions = [0]
    %v1 = arith.mulf %v, %tb : !v
    %v2 = arith.addf %v1, %x : !v
    %rev = ft.reverse %l1 : !ft.list<[K], !s>
    ft.yield %l1, %v2, %t : !ft.list<[K], !s>, !v, !s emit %rev : !ft.list<[K], !s>
  }
  return %a, %b, %e : !ft.list<[L, K], !s>, !ft.list<[L], !v>, !ft.list<[L, K], !s>
}

// Zips of zips, taken apart in other places; the same list twice.
func.func @zips(%xs: !ft.list<[N, L], !v>, %ys: !ft.list<[N, L], !s>) -> !ft.list<[L], !v> attributes {ft.bounds = #ft.bounds<"N >= 2">} {
  %z = arith.constant dense<1.0> : !v
  %zz = ft.zip %xs, %ys, %xs : !ft.list<[N, L], !v>, !ft.list<[N, L], !s>, !ft.list<[N, L], !v>
  %sl = ft.slice %zz[1 to N] : !ft.list<[N], tuple<!ft.list<[L], !v>, !ft.list<[L], !s>, !ft.list<[L], !v>>>
  %first = ft.at %sl[0] : !ft.list<[N - 1], tuple<!ft.list<[L], !v>, !ft.list<[L], !s>, !ft.list<[L], !v>>>
  %init = ft.get %first[0] : tuple<!ft.list<[L], !v>, !ft.list<[L], !s>, !ft.list<[L], !v>>
  %r = ft.foldl (%t = %sl : !ft.list<[N - 1], tuple<!ft.list<[L], !v>, !ft.list<[L], !s>, !ft.list<[L], !v>>>) init (%acc = %init : !ft.list<[L], !v>) {
    %a = ft.get %t[0] : tuple<!ft.list<[L], !v>, !ft.list<[L], !s>, !ft.list<[L], !v>>
    %b = ft.get %t[1] : tuple<!ft.list<[L], !v>, !ft.list<[L], !s>, !ft.list<[L], !v>>
    %c = ft.get %t[2] : tuple<!ft.list<[L], !v>, !ft.list<[L], !s>, !ft.list<[L], !v>>
    %cr = ft.reverse %c : !ft.list<[L], !v>
    %w = ft.zip %a, %b : !ft.list<[L], !v>, !ft.list<[L], !s>
    %n = ft.map (%p, %q, %o = %w, %cr, %acc : !ft.list<[L], tuple<!v, !s>>, !ft.list<[L], !v>, !ft.list<[L], !v>) {
      %p0 = ft.get %p[0] : tuple<!v, !s>
      %p1 = ft.get %p[1] : tuple<!v, !s>
      %em = tensor.empty() : !v
      %pb = linalg.broadcast ins(%p1 : !s) outs(%em : !v) dimensions = [0]
      %x = arith.mulf %p0, %pb : !v
      %y = arith.addf %x, %q : !v
      %u = arith.addf %y, %o : !v
      %t1 = math.tanh %u : !v
      ft.yield %t1 : !v
    }
    ft.yield %n : !ft.list<[L], !v>
  }
  return %r : !ft.list<[L], !v>
}

// Gathers: by a plane of indices, from the second dimension, by an index from a fold, by iota reversed.
func.func @gathers2(%xs: !ft.list<[K, L], !v>, %idx: !ft.list<[N, M], !i> {ft.gen = #ft.index<0, K>}, %col: !ft.list<[M], !j> {ft.gen = #ft.index<0, L>})
    -> (!ft.list<[N, M, L], !v>, !ft.list<[M, K], !v>, !v, !ft.list<[K, L], !v>) attributes {ft.bounds = #ft.bounds<"K >= 1", "L >= 1">} {
  %a = ft.gather %xs[%idx] : !ft.list<[K, L], !v>, !ft.list<[N, M], !i>
  %t = ft.transpose %xs [1, 0] : !ft.list<[K, L], !v>
  %b = ft.gather %t[%col] : !ft.list<[L, K], !v>, !ft.list<[M], !j>
  %zero = arith.constant dense<0> : !i
  %far = ft.foldl (%row = %idx : !ft.list<[N, M], !i>) init (%p = %zero : !i) {
    %q = ft.foldr (%x = %row : !ft.list<[M], !i>) init (%r = %p : !i) {
      %y = arith.maxsi %r, %x : !i
      ft.yield %y : !i
    }
    ft.yield %q : !i
  }
  %row = ft.gather %xs[%far] : !ft.list<[K, L], !v>, !i
  %last = ft.at %row[L - 1] : !ft.list<[L], !v>
  %n = ft.iota : !ft.list<[K], tensor<index>>
  %r = ft.reverse %n : !ft.list<[K], tensor<index>>
  %c = ft.gather %xs[%r] : !ft.list<[K, L], !v>, !ft.list<[K], tensor<index>>
  return %a, %b, %last, %c : !ft.list<[N, M, L], !v>, !ft.list<[M, K], !v>, !v, !ft.list<[K, L], !v>
}

// Pyramid: halves by windows with steps, three times, then concatenated in another order.
func.func @pyramid(%xs: !ft.list<[L], !v>) -> !ft.list<[ceildiv(L, 2) + ceildiv(ceildiv(L, 2), 2) + 1], !v> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %h = arith.constant dense<0.5> : !v
  %w = ft.window %xs size 2 step 2 boundary clamp : !ft.list<[L], !v>
  %a = ft.map (%p = %w : !ft.list<[ceildiv(L, 2), 2], !v>) {
    %x = ft.at %p[0] : !ft.list<[2], !v>
    %y = ft.at %p[1] : !ft.list<[2], !v>
    %u = arith.addf %x, %y : !v
    %v = arith.mulf %u, %h : !v
    ft.yield %v : !v
  }
  %w2 = ft.window %a size 2 step 2 boundary clamp : !ft.list<[ceildiv(L, 2)], !v>
  %b = ft.map (%p = %w2 : !ft.list<[ceildiv(ceildiv(L, 2), 2), 2], !v>) {
    %x = ft.at %p[0] : !ft.list<[2], !v>
    %y = ft.at %p[1] : !ft.list<[2], !v>
    %u = arith.subf %x, %y : !v
    ft.yield %u : !v
  }
  %s = ft.reduce (%x = %b : !ft.list<[ceildiv(ceildiv(L, 2), 2)], !v>) state (%t) {
    %u = arith.addf %t, %x : !v
    ft.yield %u : !v
  }
  %one = ft.repeat %s times 1 : !v
  %br = ft.reverse %b : !ft.list<[ceildiv(ceildiv(L, 2), 2)], !v>
  %c = ft.concat %br, %one, %a : !ft.list<[ceildiv(ceildiv(L, 2), 2)], !v>, !ft.list<[1], !v>, !ft.list<[ceildiv(L, 2)], !v>
  return %c : !ft.list<[ceildiv(L, 2) + ceildiv(ceildiv(L, 2), 2) + 1], !v>
}

// ALiBi causal attention, grouped queries: G groups of R heads share keys and values.
func.func @gqa_alibi(%q: !ft.list<[G, R, L], !v>, %k: !ft.list<[G, L], !v>, %w: !ft.list<[G, L], !v>, %slopes: !ft.list<[G, R], !s> {ft.gen = #ft.uniform<0.1, 0.5>}) -> !ft.list<[G, R, L], !v> {
  %z = arith.constant dense<0.0> : !v
  %zs = arith.constant dense<0.0> : !s
  %low = arith.constant dense<-1.0e30> : !s
  %half = arith.constant dense<0.5> : !s
  %n = ft.iota : !ft.list<[L], !j>
  %o = ft.map (%qg, %kg, %wg, %sg = %q, %k, %w, %slopes : !ft.list<[G, R, L], !v>, !ft.list<[G, L], !v>, !ft.list<[G, L], !v>, !ft.list<[G, R], !s>) {
    %og = ft.map (%qh, %sl = %qg, %sg : !ft.list<[R, L], !v>, !ft.list<[R], !s>) {
      %oh = ft.map (%qi, %i = %qh, %n : !ft.list<[L], !v>, !ft.list<[L], !j>) {
        %sc = ft.map (%ki, %j = %kg, %n : !ft.list<[L], !v>, !ft.list<[L], !j>) {
          %d = linalg.dot ins(%qi, %ki : !v, !v) outs(%zs : !s) -> !s
          %d2 = arith.mulf %d, %half : !s
          %dist = arith.subi %i, %j : !j
          %df = arith.sitofp %dist : !j to !s
          %pen = arith.mulf %df, %sl : !s
          %v = arith.subf %d2, %pen : !s
          %ok = arith.cmpi sge, %i, %j : !j
          %r = arith.select %ok, %v, %low : !b, !s
          ft.yield %r : !s
        }
        %max = ft.reduce (%e = %sc : !ft.list<[L], !s>) init (%mx = %low : !s) {
          %t = arith.maximumf %mx, %e : !s
          ft.yield %t : !s
        }
        %num, %den = ft.foldl (%e, %vi = %sc, %wg : !ft.list<[L], !s>, !ft.list<[L], !v>) init (%a, %bb = %z, %zs : !v, !s) {
          %d = arith.subf %e, %max : !s
          %p = math.exp %d : !s
          %em = tensor.empty() : !v
          %pb = linalg.broadcast ins(%p : !s) outs(%em : !v) dimensions = [0]
          %pv = arith.mulf %pb, %vi : !v
          %a1 = arith.addf %a, %pv : !v
          %b1 = arith.addf %bb, %p : !s
          ft.yield %a1, %b1 : !v, !s
        }
        %em = tensor.empty() : !v
        %db = linalg.broadcast ins(%den : !s) outs(%em : !v) dimensions = [0]
        %y = arith.divf %num, %db : !v
        ft.yield %y : !v
      }
      ft.yield %oh : !ft.list<[L], !v>
    }
    ft.yield %og : !ft.list<[R, L], !v>
  }
  return %o : !ft.list<[G, R, L], !v>
}

// Mamba-2 (SSD): chunks of four, inside quadratic, between by a scan of states. lengths: L % 4 == 0
func.func @ssd(%xs: !ft.list<[L], !v>, %as: !ft.list<[L], !s> {ft.gen = #ft.uniform<0.5, 0.95>}, %bs: !ft.list<[L], !v>, %cs: !ft.list<[L], !v>) -> !ft.list<[floordiv(L, 4), 4], !v> {
  %zm = arith.constant dense<0.0> : !m
  %zv = arith.constant dense<0.0> : !v
  %zs = arith.constant dense<0.0> : !s
  %one = arith.constant dense<1.0> : !s
  %x4 = ft.split %xs by 4 : !ft.list<[L], !v>
  %a4 = ft.split %as by 4 : !ft.list<[L], !s>
  %b4 = ft.split %bs by 4 : !ft.list<[L], !v>
  %c4 = ft.split %cs by 4 : !ft.list<[L], !v>
  %own, %decay, %inner, %into = ft.map (%x, %a, %b, %c = %x4, %a4, %b4, %c4 : !ft.list<[floordiv(L, 4), 4], !v>, !ft.list<[floordiv(L, 4), 4], !s>, !ft.list<[floordiv(L, 4), 4], !v>, !ft.list<[floordiv(L, 4), 4], !v>) {
    %cum = ft.scanl (%ai = %a : !ft.list<[4], !s>) init (%p = %one : !s) {
      %t = arith.mulf %p, %ai : !s
      ft.yield %t : !s
    }
    %st, %out = ft.scanl (%xi, %ai, %bi, %ci = %x, %a, %b, %c : !ft.list<[4], !v>, !ft.list<[4], !s>, !ft.list<[4], !v>, !ft.list<[4], !v>) init (%h = %zm : !m) {
      %em = tensor.empty() : !m
      %ab = linalg.broadcast ins(%ai : !s) outs(%em : !m) dimensions = [0, 1]
      %ha = arith.mulf %h, %ab : !m
      %h1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%bi, %xi : !v, !v) outs(%ha : !m) {
      ^bb0(%p: f32, %q: f32, %r: f32):
        %t = arith.mulf %p, %q : f32
        %u = arith.addf %t, %r : f32
        linalg.yield %u : f32
      } -> !m
      %y = linalg.vecmat ins(%ci, %h1 : !v, !m) outs(%zv : !v) -> !v
      ft.yield %h1 : !m emit %y : !v
    }
    %hl = ft.at %st[-1] : !ft.list<[4], !m>
    %dl = ft.at %cum[-1] : !ft.list<[4], !s>
    ft.yield %hl, %dl, %out, %cum : !m, !s, !ft.list<[4], !v>, !ft.list<[4], !s>
  }
  %states = ft.scanl (%h, %d = %own, %decay : !ft.list<[floordiv(L, 4)], !m>, !ft.list<[floordiv(L, 4)], !s>) init (%s = %zm : !m) {
    %em = tensor.empty() : !m
    %db = linalg.broadcast ins(%d : !s) outs(%em : !m) dimensions = [0, 1]
    %sd = arith.mulf %s, %db : !m
    %n = arith.addf %sd, %h : !m
    ft.yield %n : !m
  }
  %before = ft.shift %states by 1 fill %zm : !ft.list<[floordiv(L, 4)], !m>, !m
  %y = ft.map (%h, %o, %d, %c = %before, %inner, %into, %c4 : !ft.list<[floordiv(L, 4)], !m>, !ft.list<[floordiv(L, 4), 4], !v>, !ft.list<[floordiv(L, 4), 4], !s>, !ft.list<[floordiv(L, 4), 4], !v>) {
    %r = ft.map (%oi, %di, %ci = %o, %d, %c : !ft.list<[4], !v>, !ft.list<[4], !s>, !ft.list<[4], !v>) {
      %ch = linalg.vecmat ins(%ci, %h : !v, !m) outs(%zv : !v) -> !v
      %em = tensor.empty() : !v
      %db = linalg.broadcast ins(%di : !s) outs(%em : !v) dimensions = [0]
      %t = arith.mulf %ch, %db : !v
      %u = arith.addf %t, %oi : !v
      ft.yield %u : !v
    }
    ft.yield %r : !ft.list<[4], !v>
  }
  return %y : !ft.list<[floordiv(L, 4), 4], !v>
}

// Bytes: a checksum bit by bit (i8, i32), saturating i16 sums, shifts and rotations.
func.func @crc(%data: !ft.list<[N, L], tensor<i8>>, %w: !ft.list<[L], tensor<3xi16>>) -> (!ft.list<[N], !j>, !ft.list<[L], tensor<3xi16>>) {
  %ones = arith.constant dense<-1> : !j
  %poly = arith.constant dense<-306674912> : !j
  %one = arith.constant dense<1> : !j
  %zero = arith.constant dense<0> : !j
  %bits = ft.iota : !ft.list<[8], !j>
  %r = ft.map (%row = %data : !ft.list<[N, L], tensor<i8>>) {
    %c = ft.foldl (%x = %row : !ft.list<[L], tensor<i8>>) init (%crc = %ones : !j) {
      %e = arith.extui %x : tensor<i8> to !j
      %s = arith.xori %crc, %e : !j
      %t = ft.foldl (%k = %bits : !ft.list<[8], !j>) init (%v = %s : !j) {
        %odd = arith.andi %v, %one : !j
        %is = arith.cmpi ne, %odd, %zero : !j
        %h = arith.shrui %v, %one : !j
        %p = arith.xori %h, %poly : !j
        %o = arith.select %is, %p, %h : !b, !j
        ft.yield %o : !j
      }
      ft.yield %t : !j
    }
    %f = arith.xori %c, %ones : !j
    ft.yield %f : !j
  }
  %z16 = arith.constant dense<0> : tensor<3xi16>
  %top = arith.constant dense<1000> : tensor<3xi16>
  %sums = ft.scan (%x = %w : !ft.list<[L], tensor<3xi16>>) init (%a = %z16 : tensor<3xi16>) {
    %y = arith.addi %a, %x : tensor<3xi16>
    ft.yield %y : tensor<3xi16>
  }
  %cl = ft.map (%x = %sums : !ft.list<[L], tensor<3xi16>>) {
    %y = arith.minsi %x, %top : tensor<3xi16>
    ft.yield %y : tensor<3xi16>
  }
  return %r, %cl : !ft.list<[N], !j>, !ft.list<[L], tensor<3xi16>>
}

// A memory of M places, read and written by content (NTM).
func.func @ntm(%keys: !ft.list<[L], !v>, %values: !ft.list<[L], !v>, %mem: !ft.list<[M], !v>) -> (!ft.list<[L], !v>, !ft.list<[M], !v>) attributes {ft.bounds = #ft.bounds<"M >= 1", "L >= 1">} {
  %zs = arith.constant dense<0.0> : !s
  %zv = arith.constant dense<0.0> : !v
  %all, %reads = ft.scanl (%k, %v = %keys, %values : !ft.list<[L], !v>, !ft.list<[L], !v>) init (%now = %mem : !ft.list<[M], !v>) {
    %e = ft.map (%c = %now : !ft.list<[M], !v>) {
      %d = linalg.dot ins(%k, %c : !v, !v) outs(%zs : !s) -> !s
      %t = math.tanh %d : !s
      %x = math.exp %t : !s
      ft.yield %x : !s
    }
    %sum = ft.reduce (%x = %e : !ft.list<[M], !s>) init (%a = %zs : !s) {
      %y = arith.addf %a, %x : !s
      ft.yield %y : !s
    }
    %w = ft.map (%x = %e : !ft.list<[M], !s>) {
      %y = arith.divf %x, %sum : !s
      ft.yield %y : !s
    }
    %r = ft.reduce (%x, %c = %w, %now : !ft.list<[M], !s>, !ft.list<[M], !v>) init (%a = %zv : !v) {
      %em = tensor.empty() : !v
      %xb = linalg.broadcast ins(%x : !s) outs(%em : !v) dimensions = [0]
      %p = arith.mulf %xb, %c : !v
      %y = arith.addf %a, %p : !v
      ft.yield %y : !v
    } combine (%p, %q) {
      %y = arith.addf %p, %q : !v
      ft.yield %y : !v
    } identity (%zv : !v)
    %next = ft.map (%c, %x = %now, %w : !ft.list<[M], !v>, !ft.list<[M], !s>) {
      %em = tensor.empty() : !v
      %xb = linalg.broadcast ins(%x : !s) outs(%em : !v) dimensions = [0]
      %d = arith.subf %v, %c : !v
      %p = arith.mulf %xb, %d : !v
      %y = arith.addf %c, %p : !v
      ft.yield %y : !v
    }
    ft.yield %next : !ft.list<[M], !v> emit %r : !v
  }
  %final = ft.at %all[-1] : !ft.list<[L, M], !v>
  return %reads, %final : !ft.list<[L], !v>, !ft.list<[M], !v>
}

// Batch norm over two programmable dimensions, group norm inside a tensor.
func.func @norms(%xss: !ft.list<[N, L], tensor<4x6xf32>>, %count: !s) -> (!ft.list<[N, L], tensor<4x6xf32>>, !ft.list<[N, L], tensor<4x6xf32>>) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %z2 = arith.constant dense<0.0> : tensor<2xf32>
  %eps = arith.constant dense<1.0e-3> : tensor<4x6xf32>
  %c12 = arith.constant dense<12.0> : tensor<2xf32>
  %e2 = arith.constant dense<1.0e-3> : tensor<2xf32>
  %em = tensor.empty() : tensor<4x6xf32>
  %nb = linalg.broadcast ins(%count : !s) outs(%em : tensor<4x6xf32>) dimensions = [0, 1]
  %s, %q = ft.foldl (%xs = %xss : !ft.list<[N, L], tensor<4x6xf32>>) init (%s0, %q0 = %z, %z : tensor<4x6xf32>, tensor<4x6xf32>) {
    %s1, %q1 = ft.foldl (%x = %xs : !ft.list<[L], tensor<4x6xf32>>) init (%a, %b = %s0, %q0 : tensor<4x6xf32>, tensor<4x6xf32>) {
      %a1 = arith.addf %a, %x : tensor<4x6xf32>
      %xx = arith.mulf %x, %x : tensor<4x6xf32>
      %b1 = arith.addf %b, %xx : tensor<4x6xf32>
      ft.yield %a1, %b1 : tensor<4x6xf32>, tensor<4x6xf32>
    }
    ft.yield %s1, %q1 : tensor<4x6xf32>, tensor<4x6xf32>
  }
  %mean = arith.divf %s, %nb : tensor<4x6xf32>
  %sq = arith.divf %q, %nb : tensor<4x6xf32>
  %mm = arith.mulf %mean, %mean : tensor<4x6xf32>
  %var = arith.subf %sq, %mm : tensor<4x6xf32>
  %ve = arith.addf %var, %eps : tensor<4x6xf32>
  %rs = math.rsqrt %ve : tensor<4x6xf32>
  %y, %g = ft.map (%xs = %xss : !ft.list<[N, L], tensor<4x6xf32>>) {
    %yy, %gg = ft.map (%x = %xs : !ft.list<[L], tensor<4x6xf32>>) {
      %d = arith.subf %x, %mean : tensor<4x6xf32>
      %o = arith.mulf %d, %rs : tensor<4x6xf32>
      %x3 = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>
      %sum = linalg.reduce { arith.addf } ins(%x3 : tensor<2x2x6xf32>) outs(%z2 : tensor<2xf32>) dimensions = [1, 2]
      %mu = arith.divf %sum, %c12 : tensor<2xf32>
      %v = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a)>, affine_map<(a, b, c) -> (a)>], iterator_types = ["parallel", "reduction", "reduction"]}
          ins(%x3, %mu : tensor<2x2x6xf32>, tensor<2xf32>) outs(%z2 : tensor<2xf32>) {
      ^bb0(%p: f32, %w: f32, %acc: f32):
        %dd = arith.subf %p, %w : f32
        %d2 = arith.mulf %dd, %dd : f32
        %r = arith.addf %acc, %d2 : f32
        linalg.yield %r : f32
      } -> tensor<2xf32>
      %vv = arith.divf %v, %c12 : tensor<2xf32>
      %v2 = arith.addf %vv, %e2 : tensor<2xf32>
      %rg = math.rsqrt %v2 : tensor<2xf32>
      %e3 = tensor.empty() : tensor<2x2x6xf32>
      %h = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a)>, affine_map<(a, b, c) -> (a)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%x3, %mu, %rg : tensor<2x2x6xf32>, tensor<2xf32>, tensor<2xf32>) outs(%e3 : tensor<2x2x6xf32>) {
      ^bb0(%p: f32, %w: f32, %u: f32, %old: f32):
        %dd = arith.subf %p, %w : f32
        %r = arith.mulf %dd, %u : f32
        linalg.yield %r : f32
      } -> tensor<2x2x6xf32>
      %gn = tensor.collapse_shape %h [[0, 1], [2]] : tensor<2x2x6xf32> into tensor<4x6xf32>
      ft.yield %o, %gn : tensor<4x6xf32>, tensor<4x6xf32>
    }
    ft.yield %yy, %gg : !ft.list<[L], tensor<4x6xf32>>, !ft.list<[L], tensor<4x6xf32>>
  }
  return %y, %g : !ft.list<[N, L], tensor<4x6xf32>>, !ft.list<[N, L], tensor<4x6xf32>>
}

// An inner scan starts from the outer element; outer results are chosen by parity; a fold of folds ends it.
func.func @restarts(%xs: !ft.list<[N], !v>, %ys: !ft.list<[L], !v>) -> (!ft.list<[N, L], !v>, !v, !ft.list<[L], !v>) {
  %z = arith.constant dense<0.0> : !v
  %h = arith.constant dense<0.5> : !v
  %n = ft.iota : !ft.list<[N], !i>
  %one = arith.constant dense<1> : !i
  %r = ft.map (%x, %i = %xs, %n : !ft.list<[N], !v>, !ft.list<[N], !i>) {
    %a = ft.scanl (%y = %ys : !ft.list<[L], !v>) init (%s = %x : !v) {
      %sh = arith.mulf %s, %h : !v
      %t = arith.addf %sh, %y : !v
      ft.yield %t : !v
    }
    %b = ft.scanr (%y = %a : !ft.list<[L], !v>) init (%s = %x : !v) {
      %t = arith.maximumf %s, %y : !v
      ft.yield %t : !v
    }
    %odd = arith.andi %i, %one : !i
    %is = arith.trunci %odd : !i to !b
    %em = tensor.empty() : tensor<4xi1>
    %isb = linalg.broadcast ins(%is : !b) outs(%em : tensor<4xi1>) dimensions = [0]
    %c = ft.map (%p, %q = %a, %b : !ft.list<[L], !v>, !ft.list<[L], !v>) {
      %t = arith.select %isb, %p, %q : tensor<4xi1>, !v
      ft.yield %t : !v
    }
    ft.yield %c : !ft.list<[L], !v>
  }
  %all = ft.foldr (%row = %r : !ft.list<[N, L], !v>) init (%s = %z : !v) {
    %t = ft.foldl (%x = %row : !ft.list<[L], !v>) init (%u = %s : !v) {
      %k = arith.mulf %u, %h : !v
      %w = arith.addf %k, %x : !v
      ft.yield %w : !v
    }
    ft.yield %t : !v
  }
  return %r, %all, %ys : !ft.list<[N, L], !v>, !v, !ft.list<[L], !v>
}

// Shifts both ways, slices from the end, strides from the middle, of a scan's result and of each other.
func.func @accesses(%xs: !ft.list<[L], !v>) -> (!ft.list<[L], !v>, !ft.list<[ceildiv(L - 5, 2)], !v>, !v) attributes {ft.bounds = #ft.bounds<"L >= 6">} {
  %z = arith.constant dense<0.0> : !v
  %c = ft.scanl (%x = %xs : !ft.list<[L], !v>) init (%s = %z : !v) {
    %t = arith.addf %s, %x : !v
    ft.yield %t : !v
  }
  %sl = ft.slice %c[2 to -3] : !ft.list<[L], !v>
  %st = ft.stride %sl from 0 step 2 : !ft.list<[L - 5], !v>
  %a = ft.shift %c by 2 fill %z : !ft.list<[L], !v>, !v
  %b = ft.shift %a by -3 fill %z : !ft.list<[L], !v>, !v
  %r = ft.reverse %b : !ft.list<[L], !v>
  %d = ft.map (%p, %q, %u = %a, %r, %xs : !ft.list<[L], !v>, !ft.list<[L], !v>, !ft.list<[L], !v>) {
    %x = arith.subf %p, %q : !v
    %y = arith.mulf %x, %u : !v
    ft.yield %y : !v
  }
  %m = ft.at %d[-6] : !ft.list<[L], !v>
  return %d, %st, %m : !ft.list<[L], !v>, !ft.list<[ceildiv(L - 5, 2)], !v>, !v
}
