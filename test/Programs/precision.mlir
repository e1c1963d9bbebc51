// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of several widths in one program: how closely engines must agree follows from those that
// a result went through, not from its own alone.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 3 programs, {{[1-9][0-9]+}} runs, 0 failures{{$}}

!h = tensor<1x16xf16>
!w = tensor<16x16xf16>
!x = tensor<1x16xf32>

// Layers of f16 weights around a state that is kept in f32 and rounded before each product.
func.func @layers(%xs: !ft.list<[L], !h>, %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.25>}, %us: !ft.list<[D], !w> {ft.gen = #ft.normal<0.25>})
    -> (!ft.list<[D, L], !h>, !ft.list<[D, L], !x>) {
  %z = arith.constant dense<0.0> : !x
  %r, %s = ft.scanl (%w, %u = %ws, %us : !ft.list<[D], !w>, !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !h>) {
    %hs, %os = ft.scanl (%x = %below : !ft.list<[L], !h>) init (%h = %z : !x) {
      %narrow = arith.truncf %h : !x to !h
      %p = linalg.matmul ins(%x, %w : !h, !w) outs(%z : !x) -> !x
      %q = linalg.matmul ins(%narrow, %u : !h, !w) outs(%p : !x) -> !x
      %t = math.tanh %q : !x
      %o = arith.truncf %t : !x to !h
      ft.yield %t : !x emit %o : !h
    }
    ft.yield %os : !ft.list<[L], !h> emit %hs : !ft.list<[L], !x>
  }
  return %r, %s : !ft.list<[D, L], !h>, !ft.list<[D, L], !x>
}

// Sums in f64 of what was rounded to bf16.
func.func @totals(%xs: !ft.list<[N], !x>) -> (tensor<1x16xf64>, tensor<1x16xf64>) {
  %z = arith.constant dense<0.0> : tensor<1x16xf64>
  %a, %b = ft.foldl (%x = %xs : !ft.list<[N], !x>) init (%s, %t = %z, %z : tensor<1x16xf64>, tensor<1x16xf64>) {
    %e = math.exp %x : !x
    %n = arith.truncf %e : !x to tensor<1x16xbf16>
    %w = arith.extf %n : tensor<1x16xbf16> to tensor<1x16xf64>
    %u = arith.addf %s, %w : tensor<1x16xf64>
    %d = arith.extf %x : !x to tensor<1x16xf64>
    %v = arith.addf %t, %d : tensor<1x16xf64>
    ft.yield %u, %v : tensor<1x16xf64>, tensor<1x16xf64>
  }
  return %a, %b : tensor<1x16xf64>, tensor<1x16xf64>
}

// Attention's weights in f16, its sums in f32.
func.func @weighted(%qs: !ft.list<[N], !h>, %ks: !ft.list<[L], !h>) -> !ft.list<[N], !x> {
  %z = arith.constant dense<0.0> : !x
  %ys = ft.map (%q = %qs : !ft.list<[N], !h>) {
    %y = ft.foldl (%k = %ks : !ft.list<[L], !h>) init (%s = %z : !x) {
      %p = arith.mulf %q, %k : !h
      %e = math.tanh %p : !h
      %w = arith.extf %e : !h to !x
      %t = arith.addf %s, %w : !x
      ft.yield %t : !x
    }
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
