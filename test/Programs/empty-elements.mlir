// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of extent 0: they take part in everything that others do, and sums over them are empty.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=interpret --order=random | FileCheck %s
// CHECK: {{^}}13 programs, {{[1-9][0-9]+}} runs, 0 failures
// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s --check-prefix=PTX
// PTX-COUNT-13: .visible .entry

!x = tensor<0xf32>
!m = tensor<4x0xf32>
!n = tensor<0x3xf32>
!y = tensor<4x3xf32>
!z = tensor<2x0x3xf32>

// Elementwise, with a value that all share.
func.func @elementwise(%v: !ft.list<[N], !x>, %w: !x) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 3 : i64}} {
  %r = ft.map (%x = %v : !ft.list<[N], !x>) {
    %y = arith.addf %x, %w : !x
    %e = math.exp %y : !x
    ft.yield %e : !x
  }
  return %r : !ft.list<[N], !x>
}

// A sum of no products, into what was there.
func.func @product(%a: !ft.list<[N], !m>, %b: !n, %c: !ft.list<[N], !y>) -> !ft.list<[N], !y>
    attributes {ft.lengths = {N = 3 : i64}} {
  %r = ft.map (%x, %k = %a, %c : !ft.list<[N], !m>, !ft.list<[N], !y>) {
    %y = linalg.matmul ins(%x, %b : !m, !n) outs(%k : !y) -> !y
    %t = math.tanh %y : !y
    ft.yield %t : !y
  }
  return %r : !ft.list<[N], !y>
}

// A sum of no products is nothing but zeros.
func.func @product_from_zero(%a: !ft.list<[N], !m>, %b: !n) -> !ft.list<[N], !y>
    attributes {ft.lengths = {N = 3 : i64}} {
  %zero = arith.constant dense<0.0> : !y
  %r = ft.map (%x = %a : !ft.list<[N], !m>) {
    %y = linalg.matmul ins(%x, %b : !m, !n) outs(%zero : !y) -> !y
    ft.yield %y : !y
  }
  return %r : !ft.list<[N], !y>
}

// A product without columns.
func.func @no_columns(%a: !ft.list<[N], tensor<4x5xf32>>, %b: tensor<5x0xf32>) -> !ft.list<[N], !m>
    attributes {ft.lengths = {N = 3 : i64}} {
  %zero = arith.constant dense<0.0> : !m
  %r = ft.map (%x = %a : !ft.list<[N], tensor<4x5xf32>>) {
    %y = linalg.matmul ins(%x, %b : tensor<4x5xf32>, tensor<5x0xf32>) outs(%zero : !m) -> !m
    ft.yield %y : !m
  }
  return %r : !ft.list<[N], !m>
}

// States without elements: a scan and a fold of them.
func.func @states(%v: !ft.list<[N], !z>, %s: !z) -> (!ft.list<[N], !z>, !z)
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.scanl (%x = %v : !ft.list<[N], !z>) init (%h = %s : !z) {
    %y = arith.addf %x, %h : !z
    ft.yield %y : !z
  }
  %f = ft.foldl (%x = %v : !ft.list<[N], !z>) init (%h = %s : !z) {
    %y = arith.addf %x, %h : !z
    ft.yield %y : !z
  }
  return %r, %f : !ft.list<[N], !z>, !z
}

// A reduction of no elements leaves what it starts from.
func.func @reduction(%v: !ft.list<[N], !z>, %s: tensor<2x3xf32>) -> !ft.list<[N], tensor<2x3xf32>>
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.map (%x = %v : !ft.list<[N], !z>) {
    %y = linalg.reduce {arith.addf} ins(%x : !z) outs(%s : tensor<2x3xf32>) dimensions = [1]
    ft.yield %y : tensor<2x3xf32>
  }
  return %r : !ft.list<[N], tensor<2x3xf32>>
}

// The greatest of no elements.
func.func @softmax(%v: !ft.list<[N], !m>) -> !ft.list<[N], !m>
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.map (%x = %v : !ft.list<[N], !m>) {
    %e = tensor.empty() : !m
    %y = linalg.softmax dimension(1) ins(%x : !m) outs(%e : !m) -> !m
    ft.yield %y : !m
  }
  return %r : !ft.list<[N], !m>
}

// A piece without elements beside one that has some.
func.func @piece(%v: !ft.list<[N], !x>, %w: !ft.list<[N], tensor<4xf32>>) -> !ft.list<[N], tensor<4xf32>>
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.map (%x, %y = %v, %w : !ft.list<[N], !x>, !ft.list<[N], tensor<4xf32>>) {
    %z = tensor.concat dim(0) %x, %y : (!x, tensor<4xf32>) -> tensor<4xf32>
    %u = arith.addf %z, %y : tensor<4xf32>
    ft.yield %u : tensor<4xf32>
  }
  return %r : !ft.list<[N], tensor<4xf32>>
}

// A slice of nothing.
func.func @slice(%w: !ft.list<[N], tensor<4xf32>>) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.map (%y = %w : !ft.list<[N], tensor<4xf32>>) {
    %z = tensor.extract_slice %y[1] [0] [1] : tensor<4xf32> to !x
    ft.yield %z : !x
  }
  return %r : !ft.list<[N], !x>
}

// Turned, nothing is nothing.
func.func @turned(%w: !ft.list<[N], !m>) -> !ft.list<[N], tensor<0x4xf32>>
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.map (%y = %w : !ft.list<[N], !m>) {
    %e = tensor.empty() : tensor<0x4xf32>
    %z = linalg.transpose ins(%y : !m) outs(%e : tensor<0x4xf32>) permutation = [1, 0]
    ft.yield %z : tensor<0x4xf32>
  }
  return %r : !ft.list<[N], tensor<0x4xf32>>
}

// A state that may be cut.
func.func @joined(%v: !ft.list<[N], !m>, %s: !m) -> !m
    attributes {ft.lengths = {N = 5 : i64}} {
  %f = ft.reduce (%x = %v : !ft.list<[N], !m>) init (%h = %s : !m) {
    %y = arith.addf %x, %h : !m
    ft.yield %y : !m
  }
  return %f : !m
}

// Only rearranged.
func.func @reversed(%v: !ft.list<[N], !m>) -> !ft.list<[N], !m>
    attributes {ft.lengths = {N = 5 : i64}} {
  %f = ft.reverse %v : !ft.list<[N], !m>
  return %f : !ft.list<[N], !m>
}

// Rows without elements, by index.
func.func @gathered(%v: !ft.list<[N], !m>, %i: !ft.list<[K], tensor<i32>> {ft.gen = #ft.index<0, N>}) -> !ft.list<[K], !m>
    attributes {ft.bounds = #ft.bounds<"N >= 1">, ft.lengths = {K = 4 : i64, N = 5 : i64}} {
  %f = ft.gather %v[%i] : !ft.list<[N], !m>, !ft.list<[K], tensor<i32>>
  %g = ft.map (%x = %f : !ft.list<[K], !m>) {
    %y = arith.mulf %x, %x : !m
    ft.yield %y : !m
  }
  return %g : !ft.list<[K], !m>
}
