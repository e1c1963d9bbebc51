// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mixed precision in more programs: states, sums, norms, scores and quantised products whose types differ from
// those of what they are made of.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 6 programs, {{[1-9][0-9]+}} runs, 0 failures{{$}}

!h = tensor<2x8xf16>
!b = tensor<2x8xbf16>
!f = tensor<2x8xf32>
!d = tensor<2x8xf64>
!w = tensor<8x8xf16>
!wb = tensor<8x8xbf16>

// A bf16 state that is summed in f32; the result is f64.
func.func @bf16_state(%xs: !ft.list<[L], !b>, %w: !wb {ft.gen = #ft.normal<0.3>}) -> (!ft.list<[L], !d>, !b) attributes {ft.lengths = {L = 7 : i64}} {
  %z = arith.constant dense<0.0> : !b
  %zf = arith.constant dense<0.0> : !f
  %r, %last = ft.scanl (%x = %xs : !ft.list<[L], !b>) init (%s, %o = %zf, %z : !f, !b) {
    %p = linalg.matmul ins(%x, %w : !b, !wb) outs(%s : !f) -> !f
    %t = math.tanh %p : !f
    %n = arith.truncf %t : !f to !b
    ft.yield %t, %n : !f, !b
  }
  %ds = ft.map (%f = %r : !ft.list<[L], !f>) {
    %d = arith.extf %f : !f to !d
    ft.yield %d : !d
  }
  %z2 = arith.constant dense<0.0> : !b
  %sum = ft.foldl (%b = %last : !ft.list<[L], !b>) init (%q = %z2 : !b) {
    %a = arith.addf %q, %b : !b
    ft.yield %a : !b
  }
  return %ds, %sum : !ft.list<[L], !d>, !b
}

// A norm in f64 of f16 elements, back in f16; integers decide what is kept.
func.func @norm_in_f64(%xss: !ft.list<[N, L], !h>, %keep: !ft.list<[N, L], tensor<i8>> {ft.gen = #ft.uniform<0, 1>}) -> (!ft.list<[N, L], !h>, !ft.list<[N], tensor<i64>>) attributes {ft.lengths = {N = 3 : i64, L = 7 : i64}} {
  %z = arith.constant dense<1.0> : !d
  %c0 = arith.constant dense<0> : tensor<i64>
  %r, %n = ft.map (%xs, %ks = %xss, %keep : !ft.list<[N, L], !h>, !ft.list<[N, L], tensor<i8>>) {
    %sum = ft.foldl (%x = %xs : !ft.list<[L], !h>) init (%s = %z : !d) {
      %d = arith.extf %x : !h to !d
      %q = arith.mulf %d, %d : !d
      %a = arith.addf %s, %q : !d
      ft.yield %a : !d
    }
    %ys = ft.map (%x = %xs : !ft.list<[L], !h>) {
      %d = arith.extf %x : !h to !d
      %root = math.sqrt %sum : !d
      %q = arith.divf %d, %root : !d
      %y = arith.truncf %q : !d to !h
      ft.yield %y : !h
    }
    %count = ft.foldl (%k = %ks : !ft.list<[L], tensor<i8>>) init (%s = %c0 : tensor<i64>) {
      %e = arith.extsi %k : tensor<i8> to tensor<i64>
      %a = arith.addi %s, %e : tensor<i64>
      ft.yield %a : tensor<i64>
    }
    ft.yield %ys, %count : !ft.list<[L], !h>, tensor<i64>
  }
  return %r, %n : !ft.list<[N, L], !h>, !ft.list<[N], tensor<i64>>
}

// Attention with f16 scores that are summed in f32 and f16 values.
func.func @half_attention(%qs: !ft.list<[Q], !h>, %ks: !ft.list<[K], !h>, %vs: !ft.list<[K], !h>) -> !ft.list<[Q], !h> attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {Q = 3 : i64, K = 7 : i64}} {
  %low = arith.constant dense<-1.0e30> : tensor<2x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %zo = arith.constant dense<0.0> : !f
  %o = ft.map (%q = %qs : !ft.list<[Q], !h>) {
    %ss = ft.map (%k = %ks : !ft.list<[K], !h>) {
      %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%q, %k : !h, !h) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
      ft.yield %s : tensor<2x2xf32>
    }
    %m = ft.reduce (%s = %ss : !ft.list<[K], tensor<2x2xf32>>) init (%a = %low : tensor<2x2xf32>) {
      %x = arith.maximumf %a, %s : tensor<2x2xf32>
      ft.yield %x : tensor<2x2xf32>
    }
    %l = ft.reduce (%s = %ss : !ft.list<[K], tensor<2x2xf32>>) init (%a = %z : tensor<2x2xf32>) {
      %d = arith.subf %s, %m : tensor<2x2xf32>
      %e = math.exp %d : tensor<2x2xf32>
      %x = arith.addf %a, %e : tensor<2x2xf32>
      ft.yield %x : tensor<2x2xf32>
    }
    %r = ft.foldl (%s, %v = %ss, %vs : !ft.list<[K], tensor<2x2xf32>>, !ft.list<[K], !h>) init (%a = %zo : !f) {
      %d = arith.subf %s, %m : tensor<2x2xf32>
      %e = math.exp %d : tensor<2x2xf32>
      %p = arith.divf %e, %l : tensor<2x2xf32>
      %h = arith.truncf %p : tensor<2x2xf32> to tensor<2x2xf16>
      %x = linalg.matmul ins(%h, %v : tensor<2x2xf16>, !h) outs(%a : !f) -> !f
      ft.yield %x : !f
    }
    %t = arith.truncf %r : !f to !h
    ft.yield %t : !h
  }
  return %o : !ft.list<[Q], !h>
}

// Three types in one chain: bf16 weights, f16 inputs, f32 states, through layers.
func.func @layers_of_types(%xs: !ft.list<[L], !h>, %ws: !ft.list<[D], !wb> {ft.gen = #ft.normal<0.3>}) -> (!ft.list<[D, L], !h>, !ft.list<[D], !f>) attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 2 : i64, L = 5 : i64}} {
  %z = arith.constant dense<0.0> : !f
  %r, %ls = ft.scanl (%w = %ws : !ft.list<[D], !wb>) init (%below = %xs : !ft.list<[L], !h>) {
    %hs, %os = ft.scanl (%x = %below : !ft.list<[L], !h>) init (%h = %z : !f) {
      %xf = arith.extf %x : !h to !f
      %xb = arith.truncf %xf : !f to !b
      %p = linalg.matmul ins(%xb, %w : !b, !wb) outs(%h : !f) -> !f
      %t = math.tanh %p : !f
      %o = arith.truncf %t : !f to !h
      ft.yield %t : !f emit %o : !h
    }
    %last = ft.at %hs[-1] : !ft.list<[L], !f>
    ft.yield %os : !ft.list<[L], !h> emit %last : !f
  }
  return %r, %ls : !ft.list<[D, L], !h>, !ft.list<[D], !f>
}

// Integers in the middle: a float is rounded to i32 and comes back.
func.func @quantised(%xs: !ft.list<[L], !f>, %ws: tensor<8x8xi8> {ft.gen = #ft.uniform<-9, 9>}) -> !ft.list<[L], tensor<2x8xf32>> attributes {ft.lengths = {L = 5 : i64}} {
  %scale = arith.constant dense<16.0> : !f
  %back = arith.constant dense<0.0625> : !f
  %zi = arith.constant dense<0> : tensor<2x8xi32>
  %r = ft.map (%x = %xs : !ft.list<[L], !f>) {
    %c = math.tanh %x : !f
    %s = arith.mulf %c, %scale : !f
    %f = math.roundeven %s : !f
    %i = arith.fptosi %f : !f to tensor<2x8xi8>
    %p = linalg.matmul ins(%i, %ws : tensor<2x8xi8>, tensor<8x8xi8>) outs(%zi : tensor<2x8xi32>) -> tensor<2x8xi32>
    %y = arith.sitofp %p : tensor<2x8xi32> to !f
    %q = arith.mulf %y, %back : !f
    ft.yield %q : !f
  }
  return %r : !ft.list<[L], tensor<2x8xf32>>
}

// A fold that alternates: f16 rounding in every second type along the way.
func.func @rounded_each_step(%xs: !ft.list<[L], !d>) -> !d attributes {ft.lengths = {L = 9 : i64}} {
  %z = arith.constant dense<0.0> : !d
  %r = ft.foldl (%x = %xs : !ft.list<[L], !d>) init (%s = %z : !d) {
    %a = arith.addf %s, %x : !d
    %h = arith.truncf %a : !d to !h
    %f = arith.extf %h : !h to !d
    %k = arith.constant dense<0.75> : !d
    %m = arith.mulf %f, %k : !d
    ft.yield %m : !d
  }
  return %r : !d
}
