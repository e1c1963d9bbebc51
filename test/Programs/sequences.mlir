// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Networks from the literature that no example has: bidirectional and convolutional
// LSTM, attention between two RNNs, trees, skips and clocks, minGRU, sLSTM, mLSTM, S4,
// the delta rule, WaveNet. Their values are NumPy's.
//
// REQUIRES: numpy
// RUN: %python %S/Inputs/values.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 13 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!x = tensor<1x6xf32>
!w = tensor<6x6xf32>
!g = tensor<1x24xf32>
!wg = tensor<6x24xf32>
!s = tensor<f32>
!i = tensor<i64>
!b = tensor<i1>
!c = tensor<3xf32>

// A bidirectional LSTM, both directions' last cells beside the outputs.
func.func private @lstm_cell(%h: !x, %c: !x, %x: !x, %u: !wg, %w: !wg) -> (!x, !x) {
  %z = arith.constant dense<0.0> : !g
  %one = arith.constant dense<1.0> : !x
  %a = linalg.matmul ins(%x, %u : !x, !wg) outs(%z : !g) -> !g
  %g = linalg.matmul ins(%h, %w : !x, !wg) outs(%a : !g) -> !g
  %gi = tensor.extract_slice %g[0, 0] [1, 6] [1, 1] : !g to !x
  %gf = tensor.extract_slice %g[0, 6] [1, 6] [1, 1] : !g to !x
  %go = tensor.extract_slice %g[0, 12] [1, 6] [1, 1] : !g to !x
  %gc = tensor.extract_slice %g[0, 18] [1, 6] [1, 1] : !g to !x
  %ni = arith.negf %gi : !x
  %ei = math.exp %ni : !x
  %di = arith.addf %ei, %one : !x
  %i = arith.divf %one, %di : !x
  %nf = arith.negf %gf : !x
  %ef = math.exp %nf : !x
  %df = arith.addf %ef, %one : !x
  %f = arith.divf %one, %df : !x
  %no = arith.negf %go : !x
  %eo = math.exp %no : !x
  %do = arith.addf %eo, %one : !x
  %o = arith.divf %one, %do : !x
  %n = math.tanh %gc : !x
  %fc = arith.mulf %f, %c : !x
  %in = arith.mulf %i, %n : !x
  %c1 = arith.addf %fc, %in : !x
  %tc = math.tanh %c1 : !x
  %h1 = arith.mulf %o, %tc : !x
  return %h1, %c1 : !x, !x
}
func.func @bilstm(%xss: !ft.list<[N, L], !x>, %us: !ft.list<[2], !wg> {ft.gen = #ft.normal<0.4>}, %ws: !ft.list<[2], !wg> {ft.gen = #ft.normal<0.4>})
    -> (!ft.list<[N, 2, L], !x>, !ft.list<[N], !x>) attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %z = arith.constant dense<0.0> : !x
  %uf = ft.at %us[0] : !ft.list<[2], !wg>
  %ub = ft.at %us[1] : !ft.list<[2], !wg>
  %wf = ft.at %ws[0] : !ft.list<[2], !wg>
  %wb = ft.at %ws[1] : !ft.list<[2], !wg>
  %r, %l = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %f, %fc = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h, %c = %z, %z : !x, !x) {
      %h1, %c1 = func.call @lstm_cell(%h, %c, %x, %uf, %wf) : (!x, !x, !x, !wg, !wg) -> (!x, !x)
      ft.yield %h1, %c1 : !x, !x
    }
    %b, %bc = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%h, %c = %z, %z : !x, !x) {
      %h1, %c1 = func.call @lstm_cell(%h, %c, %x, %ub, %wb) : (!x, !x, !x, !wg, !wg) -> (!x, !x)
      ft.yield %h1, %c1 : !x, !x
    }
    %fr = ft.repeat %f times 1 : !ft.list<[L], !x>
    %br = ft.repeat %b times 1 : !ft.list<[L], !x>
    %both = ft.concat %fr, %br : !ft.list<[1, L], !x>, !ft.list<[1, L], !x>
    %cl = ft.at %fc[-1] : !ft.list<[L], !x>
    %cf = ft.at %bc[0] : !ft.list<[L], !x>
    %cs = arith.addf %cl, %cf : !x
    ft.yield %both, %cs : !ft.list<[2, L], !x>, !x
  }
  return %r, %l : !ft.list<[N, 2, L], !x>, !ft.list<[N], !x>
}

// An encoder RNN and a decoder that attends to it additively (Bahdanau), softmax in three steps.
func.func @additive_attention_rnn(%xs: !ft.list<[S], !x>, %ys: !ft.list<[T], !x>, %we: !w {ft.gen = #ft.normal<0.4>}, %wd: !w {ft.gen = #ft.normal<0.4>}, %v: !x)
    -> (!ft.list<[T], !x>, !ft.list<[T, S], !s>) attributes {ft.bounds = #ft.bounds<"S >= 1">} {
  %z = arith.constant dense<0.0> : !x
  %zs = arith.constant dense<0.0> : !s
  %low = arith.constant dense<-1.0e30> : !s
  %enc = ft.scanl (%x = %xs : !ft.list<[S], !x>) init (%h = %z : !x) {
    %a = linalg.matmul ins(%h, %we : !x, !w) outs(%x : !x) -> !x
    %t = math.tanh %a : !x
    ft.yield %t : !x
  }
  %dec, %att = ft.scanl (%y = %ys : !ft.list<[T], !x>) init (%h = %z : !x) {
    %q = linalg.matmul ins(%h, %wd : !x, !w) outs(%z : !x) -> !x
    %score = ft.map (%e = %enc : !ft.list<[S], !x>) {
      %a = arith.addf %e, %q : !x
      %t = math.tanh %a : !x
      %m = arith.mulf %t, %v : !x
      %d = linalg.reduce { arith.addf } ins(%m : !x) outs(%zs : !s) dimensions = [0, 1]
      ft.yield %d : !s
    }
    %max = ft.reduce (%e = %score : !ft.list<[S], !s>) init (%m = %low : !s) {
      %n = arith.maximumf %m, %e : !s
      ft.yield %n : !s
    }
    %ex = ft.map (%e = %score : !ft.list<[S], !s>) {
      %d = arith.subf %e, %max : !s
      %p = math.exp %d : !s
      ft.yield %p : !s
    }
    %sum = ft.reduce (%e = %ex : !ft.list<[S], !s>) init (%m = %zs : !s) {
      %n = arith.addf %m, %e : !s
      ft.yield %n : !s
    }
    %alpha = ft.map (%e = %ex : !ft.list<[S], !s>) {
      %p = arith.divf %e, %sum : !s
      ft.yield %p : !s
    }
    %ctx = ft.foldl (%a, %e = %alpha, %enc : !ft.list<[S], !s>, !ft.list<[S], !x>) init (%acc = %z : !x) {
      %em = tensor.empty() : !x
      %ab = linalg.broadcast ins(%a : !s) outs(%em : !x) dimensions = [0, 1]
      %p = arith.mulf %ab, %e : !x
      %n = arith.addf %acc, %p : !x
      ft.yield %n : !x
    }
    %in = arith.addf %y, %ctx : !x
    %a = linalg.matmul ins(%h, %wd : !x, !w) outs(%in : !x) -> !x
    %t = math.tanh %a : !x
    ft.yield %t : !x emit %alpha : !ft.list<[S], !s>
  }
  return %dec, %att : !ft.list<[T], !x>, !ft.list<[T, S], !s>
}

// ConvLSTM on a line of P places: gates by windows over input and state.
func.func @conv_lstm(%xss: !ft.list<[T, P], !c>, %ku: !ft.list<[3], tensor<3x9xf32>> {ft.gen = #ft.normal<0.3>}, %kw: !ft.list<[3], tensor<3x9xf32>> {ft.gen = #ft.normal<0.3>})
    -> !ft.list<[T, P], !c> {
  %z = arith.constant dense<0.0> : !c
  %z9 = arith.constant dense<0.0> : tensor<9xf32>
  %zp = ft.repeat %z times P : !c
  %hs, %cs = ft.scanl (%xs = %xss : !ft.list<[T, P], !c>) init (%h, %c = %zp, %zp : !ft.list<[P], !c>, !ft.list<[P], !c>) {
    %xw = ft.window %xs size 3 boundary zero : !ft.list<[P], !c>
    %hw = ft.window %h size 3 boundary zero : !ft.list<[P], !c>
    %h1, %c1 = ft.map (%x3, %h3, %cp = %xw, %hw, %c : !ft.list<[P, 3], !c>, !ft.list<[P, 3], !c>, !ft.list<[P], !c>) {
      %g = ft.foldl (%x, %hh, %u, %w = %x3, %h3, %ku, %kw : !ft.list<[3], !c>, !ft.list<[3], !c>, !ft.list<[3], tensor<3x9xf32>>, !ft.list<[3], tensor<3x9xf32>>)
          init (%acc = %z9 : tensor<9xf32>) {
        %a = linalg.vecmat ins(%x, %u : !c, tensor<3x9xf32>) outs(%acc : tensor<9xf32>) -> tensor<9xf32>
        %b = linalg.vecmat ins(%hh, %w : !c, tensor<3x9xf32>) outs(%a : tensor<9xf32>) -> tensor<9xf32>
        ft.yield %b : tensor<9xf32>
      }
      %gf = tensor.extract_slice %g[0] [3] [1] : tensor<9xf32> to !c
      %gi = tensor.extract_slice %g[3] [3] [1] : tensor<9xf32> to !c
      %go = tensor.extract_slice %g[6] [3] [1] : tensor<9xf32> to !c
      %f = math.tanh %gf : !c
      %i = math.tanh %gi : !c
      %o = math.tanh %go : !c
      %fc = arith.mulf %f, %cp : !c
      %c2 = arith.addf %fc, %i : !c
      %tc = math.tanh %c2 : !c
      %h2 = arith.mulf %o, %tc : !c
      ft.yield %h2, %c2 : !c, !c
    }
    ft.yield %h1, %c1 : !ft.list<[P], !c>, !ft.list<[P], !c>
  }
  return %hs : !ft.list<[T, P], !c>
}

// A tree RNN: nodes in an order where children come first; the state is the list of all nodes' values.
func.func @tree_rnn(%leaf: !ft.list<[M], !x>, %left: !ft.list<[M], !i> {ft.gen = #ft.index<0, M>}, %right: !ft.list<[M], !i> {ft.gen = #ft.index<0, M>},
    %wl: !w {ft.gen = #ft.normal<0.3>}, %wr: !w {ft.gen = #ft.normal<0.3>}) -> !ft.list<[M], !x> {
  %z = arith.constant dense<0.0> : !x
  %none = ft.repeat %z times M : !x
  %n = ft.iota : !ft.list<[M], !i>
  %r = ft.foldl (%x, %l, %rr, %me = %leaf, %left, %right, %n : !ft.list<[M], !x>, !ft.list<[M], !i>, !ft.list<[M], !i>, !ft.list<[M], !i>)
      init (%now = %none : !ft.list<[M], !x>) {
    %hl = ft.gather %now[%l] : !ft.list<[M], !x>, !i
    %hr = ft.gather %now[%rr] : !ft.list<[M], !x>, !i
    %a = linalg.matmul ins(%hl, %wl : !x, !w) outs(%x : !x) -> !x
    %b = linalg.matmul ins(%hr, %wr : !x, !w) outs(%a : !x) -> !x
    %h = math.tanh %b : !x
    %next = ft.map (%old, %k = %now, %n : !ft.list<[M], !x>, !ft.list<[M], !i>) {
      %eq = arith.cmpi eq, %k, %me : !i
      %em = tensor.empty() : tensor<1x6xi1>
      %eqb = linalg.broadcast ins(%eq : !b) outs(%em : tensor<1x6xi1>) dimensions = [0, 1]
      %v = arith.select %eqb, %h, %old : tensor<1x6xi1>, !x
      ft.yield %v : !x
    }
    ft.yield %next : !ft.list<[M], !x>
  }
  return %r : !ft.list<[M], !x>
}

// A complete binary tree of eight leaves, level by level.
func.func @binary_tree(%leaves: !ft.list<[N, 8], !x>, %wl: !w {ft.gen = #ft.normal<0.3>}, %wr: !w {ft.gen = #ft.normal<0.3>}) -> !ft.list<[N], !x> {
  %z = arith.constant dense<0.0> : !x
  %r = ft.map (%l8 = %leaves : !ft.list<[N, 8], !x>) {
    %a = ft.stride %l8 from 0 step 2 : !ft.list<[8], !x>
    %b = ft.stride %l8 from 1 step 2 : !ft.list<[8], !x>
    %l4 = ft.map (%p, %q = %a, %b : !ft.list<[4], !x>, !ft.list<[4], !x>) {
      %u = linalg.matmul ins(%p, %wl : !x, !w) outs(%z : !x) -> !x
      %v = linalg.matmul ins(%q, %wr : !x, !w) outs(%u : !x) -> !x
      %t = math.tanh %v : !x
      ft.yield %t : !x
    }
    %c = ft.stride %l4 from 0 step 2 : !ft.list<[4], !x>
    %d = ft.stride %l4 from 1 step 2 : !ft.list<[4], !x>
    %l2 = ft.map (%p, %q = %c, %d : !ft.list<[2], !x>, !ft.list<[2], !x>) {
      %u = linalg.matmul ins(%p, %wl : !x, !w) outs(%z : !x) -> !x
      %v = linalg.matmul ins(%q, %wr : !x, !w) outs(%u : !x) -> !x
      %t = math.tanh %v : !x
      ft.yield %t : !x
    }
    %e = ft.at %l2[0] : !ft.list<[2], !x>
    %f = ft.at %l2[-1] : !ft.list<[2], !x>
    %u = linalg.matmul ins(%e, %wl : !x, !w) outs(%z : !x) -> !x
    %v = linalg.matmul ins(%f, %wr : !x, !w) outs(%u : !x) -> !x
    %t = math.tanh %v : !x
    ft.yield %t : !x
  }
  return %r : !ft.list<[N], !x>
}

// Skip connections over three steps, and the state before the skip carried as well.
func.func @skip_rnn(%xss: !ft.list<[N, L], !x>, %w: !w {ft.gen = #ft.normal<0.4>}) -> (!ft.list<[N, L], !x>, !ft.list<[N, L], !x>) {
  %z = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %a, %b = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %first = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !x) {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %m : !x
      ft.yield %t : !x
    }
    %p, %q = ft.scanl (%x, %f = %xs, %first : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%h, %k = %z, %one : !x, !x) lag 3 {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %m : !x
      %tf = arith.addf %t, %f : !x
      %kt = arith.mulf %k, %t : !x
      ft.yield %tf, %kt : !x, !x
    }
    ft.yield %p, %q : !ft.list<[L], !x>, !ft.list<[L], !x>
  }
  return %a, %b : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>
}

// Clockwork RNN: module g runs when the time is a multiple of its period.
func.func @clockwork(%xs: !ft.list<[L], !x>, %periods: !ft.list<[G], !i> {ft.gen = #ft.index<1, 5>}, %ws: !ft.list<[G], !w> {ft.gen = #ft.normal<0.3>}) -> !ft.list<[L, G], !x> {
  %z = arith.constant dense<0.0> : !x
  %zero = arith.constant dense<0> : !i
  %zg = ft.repeat %z times G : !x
  %n = ft.iota : !ft.list<[L], !i>
  %r = ft.scanl (%x, %t = %xs, %n : !ft.list<[L], !x>, !ft.list<[L], !i>) init (%hs = %zg : !ft.list<[G], !x>) {
    %sum = ft.foldr (%h = %hs : !ft.list<[G], !x>) init (%a = %z : !x) {
      %u = arith.addf %a, %h : !x
      ft.yield %u : !x
    }
    %next = ft.map (%h, %p, %w = %hs, %periods, %ws : !ft.list<[G], !x>, !ft.list<[G], !i>, !ft.list<[G], !w>) {
      %in = linalg.matmul ins(%sum, %w : !x, !w) outs(%x : !x) -> !x
      %new = math.tanh %in : !x
      %rem = arith.remsi %t, %p : !i
      %tick = arith.cmpi eq, %rem, %zero : !i
      %em = tensor.empty() : tensor<1x6xi1>
      %tb = linalg.broadcast ins(%tick : !b) outs(%em : tensor<1x6xi1>) dimensions = [0, 1]
      %v = arith.select %tb, %new, %h : tensor<1x6xi1>, !x
      ft.yield %v : !x
    }
    ft.yield %next : !ft.list<[G], !x>
  }
  return %r : !ft.list<[L, G], !x>
}

// minGRU, h = (1 - z) h + z n, as a scan that may be cut: states (1 - z, z n) join by combine.
func.func @min_gru(%xss: !ft.list<[N, L], !x>, %wz: !w {ft.gen = #ft.normal<0.4>}, %wn: !w {ft.gen = #ft.normal<0.4>}) -> !ft.list<[N, L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %ga, %gb = ft.map (%x = %xs : !ft.list<[L], !x>) {
      %a = linalg.matmul ins(%x, %wz : !x, !w) outs(%zero : !x) -> !x
      %na = arith.negf %a : !x
      %e = math.exp %na : !x
      %d = arith.addf %one, %e : !x
      %z = arith.divf %one, %d : !x
      %n = linalg.matmul ins(%x, %wn : !x, !w) outs(%zero : !x) -> !x
      %k = arith.subf %one, %z : !x
      %zn = arith.mulf %z, %n : !x
      ft.yield %k, %zn : !x, !x
    }
    %k, %h = ft.scan (%a, %b = %ga, %gb : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%ka, %kb = %one, %zero : !x, !x) {
      %p = arith.mulf %ka, %a : !x
      %q0 = arith.mulf %kb, %a : !x
      %q = arith.addf %q0, %b : !x
      ft.yield %p, %q : !x, !x
    } combine (%a1, %b1, %a2, %b2) {
      %p = arith.mulf %a1, %a2 : !x
      %q0 = arith.mulf %b1, %a2 : !x
      %q = arith.addf %q0, %b2 : !x
      ft.yield %p, %q : !x, !x
    } identity (%one, %zero : !x, !x)
    ft.yield %h : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}

// sLSTM (xLSTM): exponential gates with a stabiliser m, normaliser n.
func.func @slstm(%xs: !ft.list<[L], !x>, %wi: !w {ft.gen = #ft.normal<0.4>}, %wf: !w {ft.gen = #ft.normal<0.4>}, %wz: !w {ft.gen = #ft.normal<0.4>}) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %c, %n, %m, %h = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%c0, %n0, %m0, %h0 = %zero, %one, %zero, %zero : !x, !x, !x, !x) {
    %i = linalg.matmul ins(%h0, %wi : !x, !w) outs(%x : !x) -> !x
    %f = linalg.matmul ins(%h0, %wf : !x, !w) outs(%x : !x) -> !x
    %z0 = linalg.matmul ins(%h0, %wz : !x, !w) outs(%x : !x) -> !x
    %z = math.tanh %z0 : !x
    %fm = arith.addf %f, %m0 : !x
    %m1 = arith.maximumf %fm, %i : !x
    %im = arith.subf %i, %m1 : !x
    %ie = math.exp %im : !x
    %fmm = arith.subf %fm, %m1 : !x
    %fe = math.exp %fmm : !x
    %ca = arith.mulf %fe, %c0 : !x
    %cb = arith.mulf %ie, %z : !x
    %c1 = arith.addf %ca, %cb : !x
    %na = arith.mulf %fe, %n0 : !x
    %n1 = arith.addf %na, %ie : !x
    %h1 = arith.divf %c1, %n1 : !x
    ft.yield %c1, %n1, %m1, %h1 : !x, !x, !x, !x
  }
  return %h, %m : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// mLSTM: a matrix memory written by outer products.
func.func @mlstm(%qs: !ft.list<[L], !x>, %ks: !ft.list<[L], !x>, %vs: !ft.list<[L], !x>, %is: !ft.list<[L], !s>, %fs: !ft.list<[L], !s>) -> !ft.list<[L], !x> {
  %zw = arith.constant dense<0.0> : !w
  %zx = arith.constant dense<0.0> : !x
  %zs = arith.constant dense<0.0> : !s
  %one = arith.constant dense<1.0> : !s
  %cs, %ns, %ms, %h = ft.scanl (%q, %k, %v, %i, %f = %qs, %ks, %vs, %is, %fs : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !s>, !ft.list<[L], !s>)
      init (%c0, %n0, %m0 = %zw, %zx, %zs : !w, !x, !s) {
    %fm = arith.addf %f, %m0 : !s
    %m1 = arith.maximumf %fm, %i : !s
    %a = arith.subf %i, %m1 : !s
    %ie = math.exp %a : !s
    %b = arith.subf %fm, %m1 : !s
    %fe = math.exp %b : !s
    %ew = tensor.empty() : !w
    %ex = tensor.empty() : !x
    %iw = linalg.broadcast ins(%ie : !s) outs(%ew : !w) dimensions = [0, 1]
    %fw = linalg.broadcast ins(%fe : !s) outs(%ew : !w) dimensions = [0, 1]
    %ix = linalg.broadcast ins(%ie : !s) outs(%ex : !x) dimensions = [0, 1]
    %fx = linalg.broadcast ins(%fe : !s) outs(%ex : !x) dimensions = [0, 1]
    %kv = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%k, %v : !x, !x) outs(%zw : !w) -> !w
    %ikv = arith.mulf %iw, %kv : !w
    %fc = arith.mulf %fw, %c0 : !w
    %c1 = arith.addf %fc, %ikv : !w
    %fn = arith.mulf %fx, %n0 : !x
    %ik = arith.mulf %ix, %k : !x
    %n1 = arith.addf %fn, %ik : !x
    %num = linalg.matmul ins(%q, %c1 : !x, !w) outs(%zx : !x) -> !x
    %nq = arith.mulf %n1, %q : !x
    %den0 = linalg.reduce { arith.addf } ins(%nq : !x) outs(%zs : !s) dimensions = [0, 1]
    %abs = math.absf %den0 : !s
    %den = arith.maximumf %abs, %one : !s
    %db = linalg.broadcast ins(%den : !s) outs(%ex : !x) dimensions = [0, 1]
    %o = arith.divf %num, %db : !x
    ft.yield %c1, %n1, %m1 : !w, !x, !s emit %o : !x
  }
  return %h : !ft.list<[L], !x>
}

// S4 with a diagonal complex state of M modes; real and imaginary parts are a tuple state of lists.
func.func @s4d(%us: !ft.list<[L], !c>, %are: !ft.list<[M], !s> {ft.gen = #ft.uniform<0.2, 0.7>}, %aim: !ft.list<[M], !s> {ft.gen = #ft.uniform<0.2, 0.6>}, %cre: !ft.list<[M], !s>, %cim: !ft.list<[M], !s>) -> !ft.list<[L], !c> {
  %z = arith.constant dense<0.0> : !c
  %zm = ft.repeat %z times M : !c
  %sr, %si, %y = ft.scanl (%u = %us : !ft.list<[L], !c>) init (%xr, %xi = %zm, %zm : !ft.list<[M], !c>, !ft.list<[M], !c>) {
    %nr, %ni, %o = ft.map (%r, %i, %a, %b, %p, %q = %xr, %xi, %are, %aim, %cre, %cim
        : !ft.list<[M], !c>, !ft.list<[M], !c>, !ft.list<[M], !s>, !ft.list<[M], !s>, !ft.list<[M], !s>, !ft.list<[M], !s>) {
      %e = tensor.empty() : !c
      %ab = linalg.broadcast ins(%a : !s) outs(%e : !c) dimensions = [0]
      %bb = linalg.broadcast ins(%b : !s) outs(%e : !c) dimensions = [0]
      %pb = linalg.broadcast ins(%p : !s) outs(%e : !c) dimensions = [0]
      %qb = linalg.broadcast ins(%q : !s) outs(%e : !c) dimensions = [0]
      %ar = arith.mulf %ab, %r : !c
      %bi = arith.mulf %bb, %i : !c
      %ai = arith.mulf %ab, %i : !c
      %br = arith.mulf %bb, %r : !c
      %r0 = arith.subf %ar, %bi : !c
      %r1 = arith.addf %r0, %u : !c
      %i1 = arith.addf %ai, %br : !c
      %pr = arith.mulf %pb, %r1 : !c
      %qi = arith.mulf %qb, %i1 : !c
      %oo = arith.subf %pr, %qi : !c
      ft.yield %r1, %i1, %oo : !c, !c, !c
    }
    %sum = ft.reduce (%v = %o : !ft.list<[M], !c>) init (%acc = %z : !c) {
      %n = arith.addf %acc, %v : !c
      ft.yield %n : !c
    }
    ft.yield %nr, %ni : !ft.list<[M], !c>, !ft.list<[M], !c> emit %sum : !c
  }
  return %y : !ft.list<[L], !c>
}

// Gated delta rule: S = g S (1 - b k k') + b v k'.
func.func @delta_net(%qs: !ft.list<[H, L], !c>, %ks: !ft.list<[H, L], !c> {ft.gen = #ft.normal<0.5>}, %vs: !ft.list<[H, L], !c>, %bs: !ft.list<[H, L], !s> {ft.gen = #ft.uniform<0.0, 0.9>}) -> !ft.list<[L, H], !c> {
  %zm = arith.constant dense<0.0> : tensor<3x3xf32>
  %zc = arith.constant dense<0.0> : !c
  %r = ft.map (%q1, %k1, %v1, %b1 = %qs, %ks, %vs, %bs : !ft.list<[H, L], !c>, !ft.list<[H, L], !c>, !ft.list<[H, L], !c>, !ft.list<[H, L], !s>) {
    %m, %o = ft.scanl (%q, %k, %v, %b = %q1, %k1, %v1, %b1 : !ft.list<[L], !c>, !ft.list<[L], !c>, !ft.list<[L], !c>, !ft.list<[L], !s>) init (%s = %zm : tensor<3x3xf32>) {
      %sk = linalg.matvec ins(%s, %k : tensor<3x3xf32>, !c) outs(%zc : !c) -> !c
      %e = arith.subf %v, %sk : !c
      %em = tensor.empty() : !c
      %bb = linalg.broadcast ins(%b : !s) outs(%em : !c) dimensions = [0]
      %be = arith.mulf %bb, %e : !c
      %s1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%be, %k : !c, !c) outs(%s : tensor<3x3xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %p, %z : f32
        linalg.yield %t : f32
      } -> tensor<3x3xf32>
      %y = linalg.matvec ins(%s1, %q : tensor<3x3xf32>, !c) outs(%zc : !c) -> !c
      ft.yield %s1 : tensor<3x3xf32> emit %y : !c
    }
    ft.yield %o : !ft.list<[L], !c>
  }
  %t = ft.transpose %r [1, 0] : !ft.list<[H, L], !c>
  return %t : !ft.list<[L, H], !c>
}

// WaveNet: causal convolutions dilated by 1, 2, 4, residual, each gated.
func.func @wavenet(%xs: !ft.list<[L], !x>, %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.3>}, %us: !ft.list<[3], !w> {ft.gen = #ft.normal<0.3>}) -> !ft.list<[L], !x> {
  %z = arith.constant dense<0.0> : !x
  %w0 = ft.at %ws[0] : !ft.list<[3], !w>
  %w1 = ft.at %ws[1] : !ft.list<[3], !w>
  %w2 = ft.at %ws[2] : !ft.list<[3], !w>
  %u0 = ft.at %us[0] : !ft.list<[3], !w>
  %u1 = ft.at %us[1] : !ft.list<[3], !w>
  %u2 = ft.at %us[2] : !ft.list<[3], !w>
  %p0 = ft.shift %xs by 1 fill %z : !ft.list<[L], !x>, !x
  %y0 = ft.map (%x, %p = %xs, %p0 : !ft.list<[L], !x>, !ft.list<[L], !x>) {
    %a = linalg.matmul ins(%x, %w0 : !x, !w) outs(%z : !x) -> !x
    %b = linalg.matmul ins(%p, %u0 : !x, !w) outs(%a : !x) -> !x
    %t = math.tanh %b : !x
    %r = arith.addf %t, %x : !x
    ft.yield %r : !x
  }
  %p1 = ft.shift %y0 by 2 fill %z : !ft.list<[L], !x>, !x
  %y1 = ft.map (%x, %p = %y0, %p1 : !ft.list<[L], !x>, !ft.list<[L], !x>) {
    %a = linalg.matmul ins(%x, %w1 : !x, !w) outs(%z : !x) -> !x
    %b = linalg.matmul ins(%p, %u1 : !x, !w) outs(%a : !x) -> !x
    %t = math.tanh %b : !x
    %r = arith.addf %t, %x : !x
    ft.yield %r : !x
  }
  %p2 = ft.shift %y1 by 4 fill %z : !ft.list<[L], !x>, !x
  %y2 = ft.map (%x, %p = %y1, %p2 : !ft.list<[L], !x>, !ft.list<[L], !x>) {
    %a = linalg.matmul ins(%x, %w2 : !x, !w) outs(%z : !x) -> !x
    %b = linalg.matmul ins(%p, %u2 : !x, !w) outs(%a : !x) -> !x
    %t = math.tanh %b : !x
    %r = arith.addf %t, %x : !x
    ft.yield %r : !x
  }
  return %y2 : !ft.list<[L], !x>
}
