// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells with masks, norms and windows, chunks beside a scan of states, scans of complex numbers, rounds of a payload reduction, butterflies,
// automata, lists shifted by lengths, a scan inside of a reduction inside of a scan.
//
// RUN: %python %S/Inputs/whole-tensors.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 10 programs, 40 runs, 0 failures

!s = tensor<f32>
!i = tensor<i64>
!j = tensor<i32>
!b = tensor<i1>
!t1x24xf32 = tensor<1x24xf32>
!t24x24xf32 = tensor<24x24xf32>
!t1x40xf32 = tensor<1x40xf32>
!t1x16xf32 = tensor<1x16xf32>
!t16x16xf32 = tensor<16x16xf32>
!t2x5xf32 = tensor<2x5xf32>
!t2xf32 = tensor<2xf32>

// QRNN: gates from windows of two steps (before and now), fo-pooling, then a reversed layer on top.
func.func @qrnn(%xs: !ft.list<[N, L], !t1x24xf32>, %w0: !t24x24xf32 {ft.gen = #ft.normal<0.2>}, %w1: !t24x24xf32 {ft.gen = #ft.normal<0.2>}, %f0: !t24x24xf32 {ft.gen = #ft.normal<0.2>}, %f1: !t24x24xf32 {ft.gen = #ft.normal<0.2>}) -> (!ft.list<[N, L], !t1x24xf32>, !ft.list<[N], !t1x24xf32>)
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %z = arith.constant dense<0.0> : !t1x24xf32
  %one = arith.constant dense<1.0> : !t1x24xf32
  %y, %e = ft.map (%s = %xs : !ft.list<[N, L], !t1x24xf32>) {
    %prev = ft.shift %s by 1 fill %z : !ft.list<[L], !t1x24xf32>, !t1x24xf32
    %zz, %ff = ft.map (%x, %q = %s, %prev : !ft.list<[L], !t1x24xf32>, !ft.list<[L], !t1x24xf32>) {
      %a = linalg.matmul ins(%q, %w0 : !t1x24xf32, !t24x24xf32) outs(%z : !t1x24xf32) -> !t1x24xf32
      %b = linalg.matmul ins(%x, %w1 : !t1x24xf32, !t24x24xf32) outs(%a : !t1x24xf32) -> !t1x24xf32
      %t = math.tanh %b : !t1x24xf32
      %c = linalg.matmul ins(%q, %f0 : !t1x24xf32, !t24x24xf32) outs(%z : !t1x24xf32) -> !t1x24xf32
      %d = linalg.matmul ins(%x, %f1 : !t1x24xf32, !t24x24xf32) outs(%c : !t1x24xf32) -> !t1x24xf32
      %f = ft.sigmoid %d : !t1x24xf32
      ft.yield %t, %f : !t1x24xf32, !t1x24xf32
    }
    %h = ft.scanl (%t, %f = %zz, %ff : !ft.list<[L], !t1x24xf32>, !ft.list<[L], !t1x24xf32>) init (%c = %z : !t1x24xf32) {
      %nf = arith.subf %one, %f : !t1x24xf32
      %a = arith.mulf %f, %c : !t1x24xf32
      %b = arith.mulf %nf, %t : !t1x24xf32
      %cn = arith.addf %a, %b : !t1x24xf32
      ft.yield %cn : !t1x24xf32
    }
    %k = ft.scanr (%t, %f = %h, %ff : !ft.list<[L], !t1x24xf32>, !ft.list<[L], !t1x24xf32>) init (%c = %z : !t1x24xf32) {
      %nf = arith.subf %one, %f : !t1x24xf32
      %a = arith.mulf %f, %c : !t1x24xf32
      %b = arith.mulf %nf, %t : !t1x24xf32
      %cn = arith.addf %a, %b : !t1x24xf32
      ft.yield %cn : !t1x24xf32
    }
    %first = ft.foldr (%t, %g = %k, %h : !ft.list<[L], !t1x24xf32>, !ft.list<[L], !t1x24xf32>) init (%c = %one : !t1x24xf32) {
      %a = arith.mulf %t, %g : !t1x24xf32
      %b = arith.subf %a, %c : !t1x24xf32
      ft.yield %b : !t1x24xf32
    }
    ft.yield %k, %first : !ft.list<[L], !t1x24xf32>, !t1x24xf32
  }
  return %y, %e : !ft.list<[N, L], !t1x24xf32>, !ft.list<[N], !t1x24xf32>
}

// Projected recurrent cell with layer norm inside: 24 -> 40 -> 24, a step of which has two products one after another.
func.func @projected(%xs: !ft.list<[L, N], !t1x24xf32>, %w: tensor<24x40xf32> {ft.gen = #ft.normal<0.2>}, %u: tensor<24x40xf32> {ft.gen = #ft.normal<0.2>}, %r: tensor<40x24xf32> {ft.gen = #ft.normal<0.2>}, %g: tensor<40xf32>, %b: tensor<40xf32>) -> !ft.list<[L, N], !t1x24xf32>
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %z = arith.constant dense<0.0> : !t1x40xf32
  %zx = arith.constant dense<0.0> : !t1x24xf32
  %zs = ft.repeat %zx times N : !t1x24xf32
  %y = ft.scanl (%row = %xs : !ft.list<[L, N], !t1x24xf32>) init (%hs = %zs : !ft.list<[N], !t1x24xf32>) {
    %n = ft.map (%x, %h = %row, %hs : !ft.list<[N], !t1x24xf32>, !ft.list<[N], !t1x24xf32>) {
      %a = linalg.matmul ins(%x, %w : !t1x24xf32, tensor<24x40xf32>) outs(%z : !t1x40xf32) -> !t1x40xf32
      %c = linalg.matmul ins(%h, %u : !t1x24xf32, tensor<24x40xf32>) outs(%a : !t1x40xf32) -> !t1x40xf32
      %d = ft.layer_norm %c scale %g shift %b epsilon 1.0e-05 : !t1x40xf32, tensor<40xf32>
      %t = math.tanh %d : !t1x40xf32
      %o = linalg.matmul ins(%t, %r : !t1x40xf32, tensor<40x24xf32>) outs(%h : !t1x24xf32) -> !t1x24xf32
      ft.yield %o : !t1x24xf32
    }
    ft.yield %n : !ft.list<[N], !t1x24xf32>
  }
  return %y : !ft.list<[L, N], !t1x24xf32>
}

// Multiplicative LSTM-like cell, whose hidden state is masked by data (zoneout), and a state that counts.
func.func @zoneout(%xs: !ft.list<[N, L], !t1x24xf32>, %keep: !ft.list<[L, N], tensor<i1>>, %wm: !t24x24xf32 {ft.gen = #ft.normal<0.2>}, %um: !t24x24xf32 {ft.gen = #ft.normal<0.2>}, %wh: !t24x24xf32 {ft.gen = #ft.normal<0.2>}) -> (!ft.list<[N, L], !t1x24xf32>, !ft.list<[N, L], tensor<i32>>)
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %z = arith.constant dense<0.0> : !t1x24xf32
  %zi = arith.constant dense<0> : tensor<i32>
  %kt = ft.transpose %keep [1, 0] : !ft.list<[L, N], tensor<i1>>
  %y, %n = ft.map (%s, %k = %xs, %kt : !ft.list<[N, L], !t1x24xf32>, !ft.list<[N, L], tensor<i1>>) {
    %hs, %is = ft.scanl (%x, %b = %s, %k : !ft.list<[L], !t1x24xf32>, !ft.list<[L], tensor<i1>>) init (%h, %c = %z, %zi : !t1x24xf32, tensor<i32>) {
      %a = linalg.matmul ins(%x, %wm : !t1x24xf32, !t24x24xf32) outs(%z : !t1x24xf32) -> !t1x24xf32
      %d = linalg.matmul ins(%h, %um : !t1x24xf32, !t24x24xf32) outs(%z : !t1x24xf32) -> !t1x24xf32
      %m = arith.mulf %a, %d : !t1x24xf32
      %e = linalg.matmul ins(%m, %wh : !t1x24xf32, !t24x24xf32) outs(%x : !t1x24xf32) -> !t1x24xf32
      %t = math.tanh %e : !t1x24xf32
      %be = tensor.empty() : tensor<1x24xi1>
      %bb = linalg.broadcast ins(%b : tensor<i1>) outs(%be : tensor<1x24xi1>) dimensions = [0, 1]
      %o = arith.select %bb, %h, %t : tensor<1x24xi1>, !t1x24xf32
      %bi = arith.extui %b : tensor<i1> to tensor<i32>
      %cn = arith.addi %c, %bi : tensor<i32>
      ft.yield %o, %cn : !t1x24xf32, tensor<i32>
    }
    ft.yield %hs, %is : !ft.list<[L], !t1x24xf32>, !ft.list<[L], tensor<i32>>
  }
  return %y, %n : !ft.list<[N, L], !t1x24xf32>, !ft.list<[N, L], tensor<i32>>
}

// Linear attention in chunks of C: inside a masked square, between a scan of states, joined. lengths: L % C == 0
func.func @chunked(%q: !ft.list<[L], !t1x16xf32>, %k: !ft.list<[L], !t1x16xf32>, %w: !ft.list<[L], !t1x16xf32>, %dummy: !ft.list<[C], !s>) -> !ft.list<[floordiv(L, C), C], !t1x16xf32>
    attributes {ft.bounds = #ft.bounds<"C >= 1">, ft.lengths = {L = 12 : i64, C = 4 : i64}} {
  %zm = arith.constant dense<0.0> : !t16x16xf32
  %z = arith.constant dense<0.0> : !t1x16xf32
  %zs = arith.constant dense<0.0> : !s
  %q4 = ft.split %q by C : !ft.list<[L], !t1x16xf32>
  %k4 = ft.split %k by C : !ft.list<[L], !t1x16xf32>
  %v4 = ft.split %w by C : !ft.list<[L], !t1x16xf32>
  %n = ft.iota : !ft.list<[C], !i>
  %kv = ft.map (%a, %b = %k4, %v4 : !ft.list<[floordiv(L, C), C], !t1x16xf32>, !ft.list<[floordiv(L, C), C], !t1x16xf32>) {
    %s = ft.foldl (%x, %y = %a, %b : !ft.list<[C], !t1x16xf32>, !ft.list<[C], !t1x16xf32>) init (%m = %zm : !t16x16xf32) {
      %o = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !t1x16xf32, !t1x16xf32) outs(%m : !t16x16xf32) {
      ^bb0(%e: f32, %f: f32, %g: f32):
        %h = arith.mulf %e, %f : f32
        %t = arith.addf %h, %g : f32
        linalg.yield %t : f32
      } -> !t16x16xf32
      ft.yield %o : !t16x16xf32
    }
    ft.yield %s : !t16x16xf32
  }
  %st = ft.scan (%x = %kv : !ft.list<[floordiv(L, C)], !t16x16xf32>) init (%a = %zm : !t16x16xf32) {
    %b = arith.addf %a, %x : !t16x16xf32
    ft.yield %b : !t16x16xf32
  }
  %before = ft.shift %st by 1 fill %zm : !ft.list<[floordiv(L, C)], !t16x16xf32>, !t16x16xf32
  %y = ft.map (%a, %b, %c, %s = %q4, %k4, %v4, %before : !ft.list<[floordiv(L, C), C], !t1x16xf32>, !ft.list<[floordiv(L, C), C], !t1x16xf32>, !ft.list<[floordiv(L, C), C], !t1x16xf32>, !ft.list<[floordiv(L, C)], !t16x16xf32>) {
    %o = ft.map (%x, %i = %a, %n : !ft.list<[C], !t1x16xf32>, !ft.list<[C], !i>) {
      %inter = linalg.matmul ins(%x, %s : !t1x16xf32, !t16x16xf32) outs(%z : !t1x16xf32) -> !t1x16xf32
      %intra = ft.foldl (%kk, %vv, %j = %b, %c, %n : !ft.list<[C], !t1x16xf32>, !ft.list<[C], !t1x16xf32>, !ft.list<[C], !i>) init (%acc = %inter : !t1x16xf32) {
        %p = arith.mulf %x, %kk : !t1x16xf32
        %d = linalg.reduce { arith.addf } ins(%p : !t1x16xf32) outs(%zs : !s) dimensions = [0, 1]
        %ok = arith.cmpi sle, %j, %i : !i
        %dm = arith.select %ok, %d, %zs : tensor<i1>, !s
        %t = ft.scale %vv by %dm : !t1x16xf32, !s
        %u = arith.addf %acc, %t : !t1x16xf32
        ft.yield %u : !t1x16xf32
      }
      ft.yield %intra : !t1x16xf32
    }
    ft.yield %o : !ft.list<[C], !t1x16xf32>
  }
  return %y : !ft.list<[floordiv(L, C), C], !t1x16xf32>
}

// Diagonal state space with complex states as a scan that may be re-associated: (decay, value) pairs of complex numbers.
func.func @complex_ssm(%xs: !ft.list<[N, L], !t2x5xf32>, %as: !ft.list<[N, L], !t2x5xf32> {ft.gen = #ft.uniform<-0.6, 0.6>}) -> (!ft.list<[N, L], !t2x5xf32>, !ft.list<[N], !t2x5xf32>)
    attributes {ft.lengths = {N = 2 : i64, L = 9 : i64}} {
  %one = arith.constant dense<[[1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0]]> : !t2x5xf32
  %z = arith.constant dense<0.0> : !t2x5xf32
  %y, %t = ft.map (%x, %a = %xs, %as : !ft.list<[N, L], !t2x5xf32>, !ft.list<[N, L], !t2x5xf32>) {
    %d, %h = ft.scan (%u, %v = %a, %x : !ft.list<[L], !t2x5xf32>, !ft.list<[L], !t2x5xf32>) init (%p, %s = %one, %z : !t2x5xf32, !t2x5xf32) {
      %pn = func.call @cmul(%p, %u) : (!t2x5xf32, !t2x5xf32) -> !t2x5xf32
      %s1 = func.call @cmul(%s, %u) : (!t2x5xf32, !t2x5xf32) -> !t2x5xf32
      %sn = arith.addf %s1, %v : !t2x5xf32
      ft.yield %pn, %sn : !t2x5xf32, !t2x5xf32
    } combine (%p0, %s0, %p1, %s1) {
      %pn = func.call @cmul(%p0, %p1) : (!t2x5xf32, !t2x5xf32) -> !t2x5xf32
      %t = func.call @cmul(%s0, %p1) : (!t2x5xf32, !t2x5xf32) -> !t2x5xf32
      %sn = arith.addf %t, %s1 : !t2x5xf32
      ft.yield %pn, %sn : !t2x5xf32, !t2x5xf32
    } identity (%one, %z : !t2x5xf32, !t2x5xf32)
    %r = ft.last %d or %z : !ft.list<[L], !t2x5xf32>, !t2x5xf32
    ft.yield %h, %r : !ft.list<[L], !t2x5xf32>, !t2x5xf32
  }
  return %y, %t : !ft.list<[N, L], !t2x5xf32>, !ft.list<[N], !t2x5xf32>
}

func.func private @cmul(%a: !t2x5xf32, %b: !t2x5xf32) -> !t2x5xf32 {
  %ar = tensor.extract_slice %a[0, 0] [1, 5] [1, 1] : !t2x5xf32 to tensor<1x5xf32>
  %ai = tensor.extract_slice %a[1, 0] [1, 5] [1, 1] : !t2x5xf32 to tensor<1x5xf32>
  %br = tensor.extract_slice %b[0, 0] [1, 5] [1, 1] : !t2x5xf32 to tensor<1x5xf32>
  %bi = tensor.extract_slice %b[1, 0] [1, 5] [1, 1] : !t2x5xf32 to tensor<1x5xf32>
  %0 = arith.mulf %ar, %br : tensor<1x5xf32>
  %1 = arith.mulf %ai, %bi : tensor<1x5xf32>
  %2 = arith.subf %0, %1 : tensor<1x5xf32>
  %3 = arith.mulf %ar, %bi : tensor<1x5xf32>
  %4 = arith.mulf %ai, %br : tensor<1x5xf32>
  %5 = arith.addf %3, %4 : tensor<1x5xf32>
  %e = tensor.empty() : !t2x5xf32
  %6 = tensor.insert_slice %2 into %e[0, 0] [1, 5] [1, 1] : tensor<1x5xf32> into !t2x5xf32
  %7 = tensor.insert_slice %5 into %6[1, 0] [1, 5] [1, 1] : tensor<1x5xf32> into !t2x5xf32
  return %7 : !t2x5xf32
}

// Top three of a row with their places, as three rounds of a payload reduction that skips what was taken.
func.func @top3(%xs: !ft.list<[N, L], tensor<f16>>) -> (!ft.list<[N, 3], tensor<f16>>, !ft.list<[N, 3], !j>)
    attributes {ft.lengths = {N = 3 : i64, L = 8 : i64}} {
  %low = ft.lowest : tensor<f16>
  %none = arith.constant dense<2147483647> : !j
  %n = ft.iota : !ft.list<[L], !j>
  %rounds = ft.iota : !ft.list<[3], !j>
  %v, %k = ft.map (%row = %xs : !ft.list<[N, L], tensor<f16>>) {
    %masked, %a, %b = ft.scanl (%r = %rounds : !ft.list<[3], !j>) init (%now = %row : !ft.list<[L], tensor<f16>>) {
      %best, %at = ft.reduce (%x, %i = %now, %n : !ft.list<[L], tensor<f16>>, !ft.list<[L], !j>) init (%o, %k = %low, %none : tensor<f16>, !j) {
        %gt = arith.cmpf ogt, %x, %o : tensor<f16>
        %eq = arith.cmpf oeq, %x, %o : tensor<f16>
        %lt = arith.cmpi slt, %i, %k : !j
        %tie = arith.andi %eq, %lt : tensor<i1>
        %take = arith.ori %gt, %tie : tensor<i1>
        %on = arith.select %take, %x, %o : tensor<i1>, tensor<f16>
        %kn = arith.select %take, %i, %k : tensor<i1>, !j
        ft.yield %on, %kn : tensor<f16>, !j
      } combine (%o, %k, %x, %i) {
        %gt = arith.cmpf ogt, %x, %o : tensor<f16>
        %eq = arith.cmpf oeq, %x, %o : tensor<f16>
        %lt = arith.cmpi slt, %i, %k : !j
        %tie = arith.andi %eq, %lt : tensor<i1>
        %take = arith.ori %gt, %tie : tensor<i1>
        %on = arith.select %take, %x, %o : tensor<i1>, tensor<f16>
        %kn = arith.select %take, %i, %k : tensor<i1>, !j
        ft.yield %on, %kn : tensor<f16>, !j
      } identity (%low, %none : tensor<f16>, !j)
      %next = ft.map (%x, %i = %now, %n : !ft.list<[L], tensor<f16>>, !ft.list<[L], !j>) {
        %eq = arith.cmpi eq, %i, %at : !j
        %y = arith.select %eq, %low, %x : tensor<i1>, tensor<f16>
        ft.yield %y : tensor<f16>
      }
      ft.yield %next : !ft.list<[L], tensor<f16>> emit %best, %at : tensor<f16>, !j
    }
    ft.yield %a, %b : !ft.list<[3], tensor<f16>>, !ft.list<[3], !j>
  }
  return %v, %k : !ft.list<[N, 3], tensor<f16>>, !ft.list<[N, 3], !j>
}

// Radix-2 butterflies of eight complex numbers, three stages by strides, twiddles computed from indices.
func.func @fft8(%xs: !ft.list<[N, 8], !t2xf32>) -> !ft.list<[N, 8], !t2xf32> attributes {ft.lengths = {N = 3 : i64}} {
  %y = ft.map (%x = %xs : !ft.list<[N, 8], !t2xf32>) {
    %e = ft.stride %x from 0 step 2 : !ft.list<[8], !t2xf32>
    %o = ft.stride %x from 1 step 2 : !ft.list<[8], !t2xf32>
    %ee = ft.stride %e from 0 step 2 : !ft.list<[4], !t2xf32>
    %eo = ft.stride %e from 1 step 2 : !ft.list<[4], !t2xf32>
    %oe = ft.stride %o from 0 step 2 : !ft.list<[4], !t2xf32>
    %oo = ft.stride %o from 1 step 2 : !ft.list<[4], !t2xf32>
    %p = func.call @bf2(%ee) : (!ft.list<[2], !t2xf32>) -> !ft.list<[2], !t2xf32>
    %q = func.call @bf2(%eo) : (!ft.list<[2], !t2xf32>) -> !ft.list<[2], !t2xf32>
    %r = func.call @bf2(%oe) : (!ft.list<[2], !t2xf32>) -> !ft.list<[2], !t2xf32>
    %s = func.call @bf2(%oo) : (!ft.list<[2], !t2xf32>) -> !ft.list<[2], !t2xf32>
    %n2 = ft.iota : !ft.list<[2], !i>
    %n4 = ft.iota : !ft.list<[4], !i>
    %a0, %a1 = ft.map (%u, %v, %k = %p, %q, %n2 : !ft.list<[2], !t2xf32>, !ft.list<[2], !t2xf32>, !ft.list<[2], !i>) {
      %w = arith.constant dense<-1.57079632679> : !s
      %g, %h = func.call @bf(%u, %v, %k, %w) : (!t2xf32, !t2xf32, !i, !s) -> (!t2xf32, !t2xf32)
      ft.yield %g, %h : !t2xf32, !t2xf32
    }
    %b0, %b1 = ft.map (%u, %v, %k = %r, %s, %n2 : !ft.list<[2], !t2xf32>, !ft.list<[2], !t2xf32>, !ft.list<[2], !i>) {
      %w = arith.constant dense<-1.57079632679> : !s
      %g, %h = func.call @bf(%u, %v, %k, %w) : (!t2xf32, !t2xf32, !i, !s) -> (!t2xf32, !t2xf32)
      ft.yield %g, %h : !t2xf32, !t2xf32
    }
    %a = ft.concat %a0, %a1 : !ft.list<[2], !t2xf32>, !ft.list<[2], !t2xf32>
    %b = ft.concat %b0, %b1 : !ft.list<[2], !t2xf32>, !ft.list<[2], !t2xf32>
    %c0, %c1 = ft.map (%u, %v, %k = %a, %b, %n4 : !ft.list<[4], !t2xf32>, !ft.list<[4], !t2xf32>, !ft.list<[4], !i>) {
      %w = arith.constant dense<-0.78539816339> : !s
      %g, %h = func.call @bf(%u, %v, %k, %w) : (!t2xf32, !t2xf32, !i, !s) -> (!t2xf32, !t2xf32)
      ft.yield %g, %h : !t2xf32, !t2xf32
    }
    %c = ft.concat %c0, %c1 : !ft.list<[4], !t2xf32>, !ft.list<[4], !t2xf32>
    ft.yield %c : !ft.list<[8], !t2xf32>
  }
  return %y : !ft.list<[N, 8], !t2xf32>
}

func.func private @bf2(%x: !ft.list<[2], !t2xf32>) -> !ft.list<[2], !t2xf32> {
  %a = ft.at %x[0] : !ft.list<[2], !t2xf32>
  %b = ft.at %x[1] : !ft.list<[2], !t2xf32>
  %s = arith.addf %a, %b : !t2xf32
  %d = arith.subf %a, %b : !t2xf32
  %l = ft.repeat %s times 1 : !t2xf32
  %r = ft.repeat %d times 1 : !t2xf32
  %y = ft.concat %l, %r : !ft.list<[1], !t2xf32>, !ft.list<[1], !t2xf32>
  return %y : !ft.list<[2], !t2xf32>
}

func.func private @bf(%u: !t2xf32, %v: !t2xf32, %k: !i, %w: !s) -> (!t2xf32, !t2xf32) {
  %kf = arith.sitofp %k : !i to !s
  %t = arith.mulf %kf, %w : !s
  %co = math.cos %t : !s
  %si = math.sin %t : !s
  %vr = tensor.extract_slice %v[0] [1] [1] : !t2xf32 to !s
  %vi = tensor.extract_slice %v[1] [1] [1] : !t2xf32 to !s
  %0 = arith.mulf %vr, %co : !s
  %1 = arith.mulf %vi, %si : !s
  %2 = arith.subf %0, %1 : !s
  %3 = arith.mulf %vr, %si : !s
  %4 = arith.mulf %vi, %co : !s
  %5 = arith.addf %3, %4 : !s
  %e = tensor.empty() : !t2xf32
  %6 = tensor.insert_slice %2 into %e[0] [1] [1] : !s into !t2xf32
  %7 = tensor.insert_slice %5 into %6[1] [1] [1] : !s into !t2xf32
  %a = arith.addf %u, %7 : !t2xf32
  %b = arith.subf %u, %7 : !t2xf32
  return %a, %b : !t2xf32, !t2xf32
}

// A cellular automaton (a rule as a table) on a ring, steps as a scan of lists of i8, and the parity of all rows.
func.func @automaton(%x: !ft.list<[W], tensor<i8>> {ft.gen = #ft.index<0, 2>}, %t: !ft.list<[T], !j>, %rule: !ft.list<[8], tensor<i8>> {ft.gen = #ft.index<0, 2>}) -> (!ft.list<[T, W], tensor<i8>>, !ft.list<[W], !b>)
    attributes {ft.bounds = #ft.bounds<"W >= 2">, ft.lengths = {W = 11 : i64, T = 5 : i64}} {
  %f = arith.constant dense<false> : !b
  %c1 = arith.constant dense<1> : tensor<i8>
  %ys = ft.scanl (%k = %t : !ft.list<[T], !j>) init (%now = %x : !ft.list<[W], tensor<i8>>) {
    %w = ft.window %now size 3 boundary wrap : !ft.list<[W], tensor<i8>>
    %ix = ft.map (%n = %w : !ft.list<[W, 3], tensor<i8>>) {
      %z = arith.constant dense<0> : tensor<i8>
      %v = ft.foldl (%a = %n : !ft.list<[3], tensor<i8>>) init (%s = %z : tensor<i8>) {
        %d = arith.addi %s, %s : tensor<i8>
        %e = arith.ori %d, %a : tensor<i8>
        ft.yield %e : tensor<i8>
      }
      ft.yield %v : tensor<i8>
    }
    %next = ft.gather %rule[%ix] : !ft.list<[8], tensor<i8>>, !ft.list<[W], tensor<i8>>
    ft.yield %next : !ft.list<[W], tensor<i8>>
  }
  %tr = ft.transpose %ys [1, 0] : !ft.list<[T, W], tensor<i8>>
  %p = ft.map (%col = %tr : !ft.list<[W, T], tensor<i8>>) {
    %q = ft.reduce (%a = %col : !ft.list<[T], tensor<i8>>) init (%s = %f : !b) {
      %e = arith.cmpi eq, %a, %c1 : tensor<i8>
      %o = arith.xori %e, %s : !b
      ft.yield %o : !b
    } combine (%u, %v) {
      %o = arith.xori %u, %v : !b
      ft.yield %o : !b
    } identity (%f : !b)
    ft.yield %q : !b
  }
  return %ys, %p : !ft.list<[T, W], tensor<i8>>, !ft.list<[W], !b>
}

// Zips of shifted lists by lengths, slices whose ends are lengths, a concatenation of both as a scan's state list.
func.func @shifted(%xs: !ft.list<[L], tensor<3xf64>>, %ks: !ft.list<[K], tensor<3xf64>>) -> (!ft.list<[L], tensor<3xf64>>, !ft.list<[K, L], tensor<3xf64>>, !ft.list<[L + K], tensor<3xf64>>)
    attributes {ft.bounds = #ft.bounds<"L >= K", "L >= 2">, ft.lengths = {L = 9 : i64, K = 3 : i64}} {
  %z = arith.constant dense<0.5> : tensor<3xf64>
  %a = ft.shift %xs by K fill %z : !ft.list<[L], tensor<3xf64>>, tensor<3xf64>
  %b = ft.shift %xs by -2 fill %z : !ft.list<[L], tensor<3xf64>>, tensor<3xf64>
  %r = ft.reverse %b : !ft.list<[L], tensor<3xf64>>
  %zp = ft.zip %a, %r, %xs : !ft.list<[L], tensor<3xf64>>, !ft.list<[L], tensor<3xf64>>, !ft.list<[L], tensor<3xf64>>
  %y = ft.map (%t = %zp : !ft.list<[L], tuple<tensor<3xf64>, tensor<3xf64>, tensor<3xf64>>>) {
    %p = ft.get %t[0] : tuple<tensor<3xf64>, tensor<3xf64>, tensor<3xf64>>
    %q = ft.get %t[1] : tuple<tensor<3xf64>, tensor<3xf64>, tensor<3xf64>>
    %s = ft.get %t[2] : tuple<tensor<3xf64>, tensor<3xf64>, tensor<3xf64>>
    %m = arith.mulf %p, %q : tensor<3xf64>
    %n = arith.subf %m, %s : tensor<3xf64>
    ft.yield %n : tensor<3xf64>
  }
  %sc = ft.scanl (%k = %ks : !ft.list<[K], tensor<3xf64>>) init (%now = %y : !ft.list<[L], tensor<3xf64>>) {
    %head = ft.slice %now[0 to L - 1] : !ft.list<[L], tensor<3xf64>>
    %one = ft.repeat %k times 1 : tensor<3xf64>
    %n = ft.concat %one, %head : !ft.list<[1], tensor<3xf64>>, !ft.list<[L - 1], tensor<3xf64>>
    %w = ft.map (%u, %v = %n, %now : !ft.list<[L], tensor<3xf64>>, !ft.list<[L], tensor<3xf64>>) {
      %m = arith.addf %u, %v : tensor<3xf64>
      %c = math.cos %m : tensor<3xf64>
      ft.yield %c : tensor<3xf64>
    }
    ft.yield %w : !ft.list<[L], tensor<3xf64>>
  }
  %tail = ft.slice %xs[L - K to L] : !ft.list<[L], tensor<3xf64>>
  %cc = ft.concat %tail, %y : !ft.list<[K], tensor<3xf64>>, !ft.list<[L], tensor<3xf64>>
  %run = ft.scanr (%x = %cc : !ft.list<[L + K], tensor<3xf64>>) init (%s = %z : tensor<3xf64>) lag 2 {
    %m = arith.mulf %s, %z : tensor<3xf64>
    %n = arith.addf %m, %x : tensor<3xf64>
    ft.yield %n : tensor<3xf64>
  }
  return %y, %sc, %run : !ft.list<[L], tensor<3xf64>>, !ft.list<[K, L], tensor<3xf64>>, !ft.list<[L + K], tensor<3xf64>>
}

// A scan inside of a reduction inside of a scan; permuted lists of three dimensions.
func.func @scan_reduce_scan(%xs: !ft.list<[A, B, C], !s>) -> (!ft.list<[A, C], !s>, !ft.list<[C, A, B], !s>)
    attributes {ft.lengths = {A = 3 : i64, B = 4 : i64, C = 5 : i64}} {
  %z = arith.constant dense<0.0> : !s
  %half = arith.constant dense<0.5> : !s
  %zs = ft.repeat %z times C : !s
  %y = ft.scanl (%m = %xs : !ft.list<[A, B, C], !s>) init (%st = %zs : !ft.list<[C], !s>) {
    %r = ft.reduce (%row = %m : !ft.list<[B, C], !s>) init (%acc = %st : !ft.list<[C], !s>) {
      %p = ft.scanl (%x = %row : !ft.list<[C], !s>) init (%s = %z : !s) {
        %a = arith.mulf %s, %half : !s
        %b = arith.addf %a, %x : !s
        ft.yield %b : !s
      }
      %q = ft.map (%u, %v = %p, %acc : !ft.list<[C], !s>, !ft.list<[C], !s>) {
        %b = arith.addf %u, %v : !s
        ft.yield %b : !s
      }
      ft.yield %q : !ft.list<[C], !s>
    } combine (%g0, %g1) {
      %q = ft.map (%u, %v = %g0, %g1 : !ft.list<[C], !s>, !ft.list<[C], !s>) {
        %b = arith.addf %u, %v : !s
        ft.yield %b : !s
      }
      ft.yield %q : !ft.list<[C], !s>
    } identity (%zs : !ft.list<[C], !s>)
    %n = ft.map (%u = %r : !ft.list<[C], !s>) {
      %t = math.tanh %u : !s
      ft.yield %t : !s
    }
    ft.yield %n : !ft.list<[C], !s>
  }
  %t = ft.transpose %xs [2, 0, 1] : !ft.list<[A, B, C], !s>
  %w = ft.map (%pl = %t : !ft.list<[C, A, B], !s>) {
    %row0 = ft.repeat %half times B : !s
    %v = ft.scanr (%row = %pl : !ft.list<[A, B], !s>) init (%st = %row0 : !ft.list<[B], !s>) {
      %k = ft.reverse %row : !ft.list<[B], !s>
      %n = ft.map (%u, %v = %k, %st : !ft.list<[B], !s>, !ft.list<[B], !s>) {
        %d = arith.subf %u, %v : !s
        ft.yield %d : !s
      }
      ft.yield %n : !ft.list<[B], !s>
    }
    ft.yield %v : !ft.list<[A, B], !s>
  }
  return %y, %w : !ft.list<[A, C], !s>, !ft.list<[C, A, B], !s>
}

