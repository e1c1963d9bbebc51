// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells and layers from practice that no example has: indexed embeddings, a decoder
// that feeds itself, banded attention, beams, state spaces, pooling, cumulative norms.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 10 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!x = tensor<2x6xf32>
!w = tensor<6x6xf32>
!v = tensor<7xf32>
!s = tensor<f32>
!i = tensor<i64>

// Embeddings by tokens [N, L], then an RNN over each; tokens repeat.
func.func @embedding_rnn(%tokens: !ft.list<[N, L], !i> {ft.gen = #ft.index<0, V>}, %table: !ft.list<[V], !x>,
    %w: !w {ft.gen = #ft.normal<0.3>}) -> (!ft.list<[N, L], !x>, !ft.list<[N], !x>)
    attributes {ft.bounds = #ft.bounds<"V >= 1">} {
  %z = arith.constant dense<0.0> : !x
  %e = ft.gather %table[%tokens] : !ft.list<[V], !x>, !ft.list<[N, L], !i>
  %h, %last = ft.map (%xs = %e : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x>, !ft.list<[N], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%p = %z : !x) -> !ft.list<[L], !x> {
      %y = linalg.matmul ins(%p, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %y : !x
      ft.yield %t : !x
    }
    %sum = ft.foldl (%a = %hs : !ft.list<[L], !x>) init (%p = %z : !x) -> !x {
      %t = arith.maximumf %p, %a : !x
      ft.yield %t : !x
    }
    ft.yield %hs, %sum : !ft.list<[L], !x>, !x
  }
  return %h, %last : !ft.list<[N, L], !x>, !ft.list<[N], !x>
}

// A decoder whose next input is its own output, over an encoder's list at each step.
func.func @attend_and_decode(%enc: !ft.list<[S], !v>, %start: !v, %steps: !ft.list<[T], !s>) -> !ft.list<[T], !v> {
  %z = arith.constant dense<0.0> : !v
  %zs = arith.constant dense<0.0> : !s
  %quarter = arith.constant dense<0.25> : !s
  %y = ft.scanl (%u = %steps : !ft.list<[T], !s>) init (%q = %start : !v) -> !ft.list<[T], !v> {
    %c, %n = ft.foldl (%k = %enc : !ft.list<[S], !v>) init (%acc, %norm = %z, %zs : !v, !s) -> !v, !s {
      %p = arith.mulf %q, %k : !v
      %d = linalg.reduce { arith.addf } ins(%p : !v) outs(%zs : !s) dimensions = [0]
      %ds = arith.mulf %d, %quarter : !s
      %t = math.tanh %ds : !s
      %e = math.exp %t : !s
      %em = tensor.empty() : !v
      %eb = linalg.broadcast ins(%e : !s) outs(%em : !v) dimensions = [0]
      %ke = arith.mulf %eb, %k : !v
      %a1 = arith.addf %acc, %ke : !v
      %n1 = arith.addf %norm, %e : !s
      ft.yield %a1, %n1 : !v, !s
    }
    %one = arith.constant dense<1.0> : !s
    %safe = arith.addf %n, %one : !s
    %em = tensor.empty() : !v
    %nb = linalg.broadcast ins(%safe : !s) outs(%em : !v) dimensions = [0]
    %m = arith.divf %c, %nb : !v
    %ub = linalg.broadcast ins(%u : !s) outs(%em : !v) dimensions = [0]
    %mu = arith.addf %m, %ub : !v
    %o = math.tanh %mu : !v
    ft.yield %o : !v
  }
  return %y : !ft.list<[T], !v>
}

// Banded attention: each position sees a clamped window of five keys and values.
func.func @banded(%qs: !ft.list<[N, L], !v>, %ks: !ft.list<[N, L], !v>, %vs: !ft.list<[N, L], !v>) -> !ft.list<[N, L], !v>
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %z = arith.constant dense<0.0> : !v
  %zs = arith.constant dense<0.0> : !s
  %low = arith.constant dense<-1.0e30> : !s
  %r = ft.map (%q1, %k1, %v1 = %qs, %ks, %vs : !ft.list<[N, L], !v>, !ft.list<[N, L], !v>, !ft.list<[N, L], !v>) -> !ft.list<[N, L], !v> {
    %kw = ft.window %k1 size 5 boundary clamp : !ft.list<[L], !v>
    %vw = ft.window %v1 size 5 boundary clamp : !ft.list<[L], !v>
    %o = ft.map (%q, %k5, %v5 = %q1, %kw, %vw : !ft.list<[L], !v>, !ft.list<[L, 5], !v>, !ft.list<[L, 5], !v>) -> !ft.list<[L], !v> {
      %scores = ft.map (%k = %k5 : !ft.list<[5], !v>) -> !ft.list<[5], !s> {
        %p = arith.mulf %q, %k : !v
        %d = linalg.reduce { arith.addf } ins(%p : !v) outs(%zs : !s) dimensions = [0]
        ft.yield %d : !s
      }
      %max = ft.reduce (%d = %scores : !ft.list<[5], !s>) init (%m = %low : !s) -> !s {
        %n = arith.maximumf %m, %d : !s
        ft.yield %n : !s
      }
      %num, %den = ft.foldl (%d, %v = %scores, %v5 : !ft.list<[5], !s>, !ft.list<[5], !v>) init (%a, %b = %z, %zs : !v, !s) -> !v, !s {
        %c = arith.subf %d, %max : !s
        %e = math.exp %c : !s
        %em = tensor.empty() : !v
        %eb = linalg.broadcast ins(%e : !s) outs(%em : !v) dimensions = [0]
        %ev = arith.mulf %eb, %v : !v
        %a1 = arith.addf %a, %ev : !v
        %b1 = arith.addf %b, %e : !s
        ft.yield %a1, %b1 : !v, !s
      }
      %em = tensor.empty() : !v
      %db = linalg.broadcast ins(%den : !s) outs(%em : !v) dimensions = [0]
      %y = arith.divf %num, %db : !v
      ft.yield %y : !v
    }
    ft.yield %o : !ft.list<[L], !v>
  }
  return %r : !ft.list<[N, L], !v>
}

// Viterbi: the best predecessor of each of K states, its number, and the path's end.
func.func @viterbi(%obs: !ft.list<[T, K], !s>, %trans: !ft.list<[K, K], !s>, %first: !ft.list<[K], !s>)
    -> (!ft.list<[T, K], !s>, !ft.list<[T, K], !i>) {
  %low = arith.constant dense<-1.0e30> : !s
  %none = arith.constant dense<-1> : !i
  %numbers = ft.iota : !ft.list<[K], !i>
  %scores, %back = ft.scanl (%o = %obs : !ft.list<[T, K], !s>) init (%before = %first : !ft.list<[K], !s>)
      -> !ft.list<[T, K], !s>, !ft.list<[T, K], !i> {
    %now, %from = ft.map (%e, %in = %o, %trans : !ft.list<[K], !s>, !ft.list<[K, K], !s>) -> !ft.list<[K], !s>, !ft.list<[K], !i> {
      %best, %who = ft.foldl (%p, %t, %j = %before, %in, %numbers : !ft.list<[K], !s>, !ft.list<[K], !s>, !ft.list<[K], !i>)
          init (%b, %w = %low, %none : !s, !i) -> !s, !i {
        %c = arith.addf %p, %t : !s
        %more = arith.cmpf ogt, %c, %b : !s
        %b1 = arith.select %more, %c, %b : tensor<i1>, !s
        %w1 = arith.select %more, %j, %w : tensor<i1>, !i
        ft.yield %b1, %w1 : !s, !i
      }
      %s = arith.addf %best, %e : !s
      ft.yield %s, %who : !s, !i
    }
    ft.yield %now : !ft.list<[K], !s> emit %from : !ft.list<[K], !i>
  }
  return %scores, %back : !ft.list<[T, K], !s>, !ft.list<[T, K], !i>
}

// Average pooling with windows that step as far as they reach, then up again by gather.
func.func @pool_and_expand(%xs: !ft.list<[L], !v>) -> (!ft.list<[floordiv(L - 3, 3) + 1], !v>, !ft.list<[L - 2], !v>)
    attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  %z = arith.constant dense<0.0> : !v
  %third = arith.constant dense<0.33> : !v
  %w = ft.window %xs size 3 step 3 : !ft.list<[L], !v>
  %p = ft.map (%three = %w : !ft.list<[floordiv(L - 3, 3) + 1, 3], !v>) -> !ft.list<[floordiv(L - 3, 3) + 1], !v> {
    %s = ft.foldr (%x = %three : !ft.list<[3], !v>) init (%a = %z : !v) -> !v {
      %t = arith.addf %a, %x : !v
      ft.yield %t : !v
    }
    %m = arith.mulf %s, %third : !v
    ft.yield %m : !v
  }
  %n = ft.iota : !ft.list<[L - 2], !i>
  %which = ft.map (%i = %n : !ft.list<[L - 2], !i>) -> !ft.list<[L - 2], !i> {
    %three = arith.constant dense<3> : !i
    %q = arith.divsi %i, %three : !i
    ft.yield %q : !i
  }
  %up = ft.gather %p[%which] : !ft.list<[floordiv(L - 3, 3) + 1], !v>, !ft.list<[L - 2], !i>
  return %p, %up : !ft.list<[floordiv(L - 3, 3) + 1], !v>, !ft.list<[L - 2], !v>
}

// A scan from the right with lag 2 inside a fold whose state is the list, reversed.
func.func @lagged_from_the_right(%xs: !ft.list<[L], !v>, %gates: !ft.list<[D], !v> {ft.gen = #ft.uniform<0.1, 0.6>}) -> !ft.list<[L], !v> {
  %z = arith.constant dense<0.0> : !v
  %r = ft.foldr (%g = %gates : !ft.list<[D], !v>) init (%now = %xs : !ft.list<[L], !v>) -> !ft.list<[L], !v> {
    %rev = ft.reverse %now : !ft.list<[L], !v>
    %ys = ft.scanr (%x = %rev : !ft.list<[L], !v>) init (%s = %z : !v) lag 2 -> !ft.list<[L], !v> {
      %d = arith.mulf %s, %g : !v
      %y = arith.addf %d, %x : !v
      %t = math.tanh %y : !v
      ft.yield %t : !v
    }
    ft.yield %ys : !ft.list<[L], !v>
  }
  return %r : !ft.list<[L], !v>
}

// A prefix and a suffix of symbolic lengths, each scanned from its own end, joined.
func.func @prefix_and_suffix(%xs: !ft.list<[L], !v>, %ks: !ft.list<[K], !s>) -> !ft.list<[L], !v>
    attributes {ft.bounds = #ft.bounds<"K <= L">} {
  %z = arith.constant dense<0.0> : !v
  %a = ft.slice %xs[0 to K] : !ft.list<[L], !v>
  %b = ft.slice %xs[K to L] : !ft.list<[L], !v>
  %p = ft.scanl (%x, %k = %a, %ks : !ft.list<[K], !v>, !ft.list<[K], !s>) init (%s = %z : !v) -> !ft.list<[K], !v> {
    %em = tensor.empty() : !v
    %kb = linalg.broadcast ins(%k : !s) outs(%em : !v) dimensions = [0]
    %xk = arith.mulf %x, %kb : !v
    %y = arith.addf %s, %xk : !v
    ft.yield %y : !v
  }
  %q = ft.scanr (%x = %b : !ft.list<[L - K], !v>) init (%s = %z : !v) -> !ft.list<[L - K], !v> {
    %y = arith.addf %s, %x : !v
    ft.yield %y : !v
  }
  %r = ft.concat %p, %q : !ft.list<[K], !v>, !ft.list<[L - K], !v>
  return %r : !ft.list<[L], !v>
}

// Two layers of different kinds over a batch: a convolution feeds a gated scan, whose
// states of all positions are normalised by their running maximum.
func.func @conv_then_scan(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.2>}) -> !ft.list<[N, L], !x> {
  %z = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %win = ft.window %xs size 3 boundary zero : !ft.list<[L], !x>
    %cs = ft.map (%three = %win : !ft.list<[L, 3], !x>) -> !ft.list<[L], !x> {
      %c = ft.reduce (%x, %w = %three, %ws : !ft.list<[3], !x>, !ft.list<[3], !w>) init (%acc = %z : !x) -> !x {
        %y = linalg.matmul ins(%x, %w : !x, !w) outs(%acc : !x) -> !x
        ft.yield %y : !x
      } combine (%p, %q) {
        %y = arith.addf %p, %q : !x
        ft.yield %y : !x
      } identity (%z : !x)
      ft.yield %c : !x
    }
    %h, %m, %y = ft.scanl (%c = %cs : !ft.list<[L], !x>) init (%s, %top = %z, %one : !x, !x)
        -> !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x> {
      %t = math.tanh %c : !x
      %k = arith.mulf %s, %t : !x
      %s1 = arith.addf %k, %t : !x
      %abs = math.absf %s1 : !x
      %top1 = arith.maximumf %top, %abs : !x
      %o = arith.divf %s1, %top1 : !x
      ft.yield %s1, %top1 : !x, !x emit %o : !x
    }
    ft.yield %y : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}

// A matrix product by lists: every length symbolic, the middle one reduced.
func.func @product(%as: !ft.list<[M, K], !s>, %bs: !ft.list<[K, N], !s>) -> !ft.list<[M, N], !s> {
  %z = arith.constant dense<0.0> : !s
  %bt = ft.transpose %bs [1, 0] : !ft.list<[K, N], !s>
  %r = ft.map (%a = %as : !ft.list<[M, K], !s>) -> !ft.list<[M, N], !s> {
    %row = ft.map (%b = %bt : !ft.list<[N, K], !s>) -> !ft.list<[N], !s> {
      %d = ft.reduce (%p, %q = %a, %b : !ft.list<[K], !s>, !ft.list<[K], !s>) init (%acc = %z : !s) -> !s {
        %m = arith.mulf %p, %q : !s
        %t = arith.addf %acc, %m : !s
        ft.yield %t : !s
      } combine (%p, %q) {
        %t = arith.addf %p, %q : !s
        ft.yield %t : !s
      } identity (%z : !s)
      ft.yield %d : !s
    }
    ft.yield %row : !ft.list<[N], !s>
  }
  return %r : !ft.list<[M, N], !s>
}

// Three directions at once: each cell of a cube from its three neighbours.
func.func @cube(%x: !ft.list<[A, B, C], !s>) -> !ft.list<[A, B, C], !s> {
  %z = arith.constant dense<0.0> : !s
  %third = arith.constant dense<0.3> : !s
  %zc = ft.repeat %z times C : !s
  %zbc = ft.repeat %zc times B : !ft.list<[C], !s>
  %r = ft.scanl (%plane = %x : !ft.list<[A, B, C], !s>) init (%below = %zbc : !ft.list<[B, C], !s>) -> !ft.list<[A, B, C], !s> {
    %p = ft.scanl (%row, %under = %plane, %below : !ft.list<[B, C], !s>, !ft.list<[B, C], !s>) init (%behind = %zc : !ft.list<[C], !s>)
        -> !ft.list<[B, C], !s> {
      %q = ft.scanl (%e, %u, %b = %row, %under, %behind : !ft.list<[C], !s>, !ft.list<[C], !s>, !ft.list<[C], !s>) init (%left = %z : !s)
          -> !ft.list<[C], !s> {
        %ub = arith.addf %u, %b : !s
        %ubl = arith.addf %ub, %left : !s
        %k = arith.mulf %ubl, %third : !s
        %y = arith.addf %k, %e : !s
        %t = math.tanh %y : !s
        ft.yield %t : !s
      }
      ft.yield %q : !ft.list<[C], !s>
    }
    ft.yield %p : !ft.list<[B, C], !s>
  }
  return %r : !ft.list<[A, B, C], !s>
}
