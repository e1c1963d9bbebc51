// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that are shorter than a warp, of few points: as many lanes share a point as its sum has accesses. What is computed beside the sum is
// written by the lane that has it; where points are no multiple of the groups of a warp, the last groups write nothing.
//
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json %ft_bin/ft-run %s 1 3 | FileCheck %s --check-prefix=RAN
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json --interpret-tile %ft_bin/ft-run %s 3 | FileCheck %s --check-prefix=RAN
// RAN: 4 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!h = tensor<64x8xf32>
!x = tensor<64xf32>
#both = affine_map<(n, o) -> (n, o)>
#row = affine_map<(n, o) -> (n)>

// A state of 8 numbers for each of 64, and what it comes to: two lanes, four adjacent numbers each.
// CHECK-LABEL: func.func @states_k0
// CHECK: #etdg.tiling<vector = 1, width = 4, lanes = 2>
// CHECK: tiles = <threads = 256, vector = 1, width = 4, lanes = 2>
func.func @states(%xss: !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 3 : i64, L = 3 : i64}} {
  %begin = arith.constant dense<0.25> : !h
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs, %ys = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %begin : !h) -> !ft.list<[L], !h>, !ft.list<[L], !x> {
      %e = tensor.empty() : !h
      %h1 = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%h, %x : !h, !x) outs(%e : !h) {
      ^bb0(%old: f32, %in: f32, %none: f32):
        %half = arith.constant 0.5 : f32
        %kept = arith.mulf %old, %half : f32
        %new = arith.addf %kept, %in : f32
        linalg.yield %new : f32
      } -> !h
      %y = linalg.reduce { arith.addf } ins(%h1 : !h) outs(%x : !x) dimensions = [1]
      ft.yield %h1 : !h emit %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}

// Points that are no multiple of the groups of a block, nor of a warp: 32 of them, for 64 groups of four lanes.
// CHECK-LABEL: func.func @few_k0
// CHECK: #etdg.tiling<vector = 1, width = 4, lanes = 4>
func.func @few(%xss: !ft.list<[N, L], tensor<32x16xi32>>) -> !ft.list<[N, L], tensor<32xi32>> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 3 : i64, L = 3 : i64}} {
  %begin = arith.constant dense<1> : tensor<32x16xi32>
  %zero = arith.constant dense<0> : tensor<32xi32>
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], tensor<32x16xi32>>) -> !ft.list<[N, L], tensor<32xi32>> {
    %hs, %ys = ft.scanl (%x = %xs : !ft.list<[L], tensor<32x16xi32>>) init (%h = %begin : tensor<32x16xi32>) -> !ft.list<[L], tensor<32x16xi32>>, !ft.list<[L], tensor<32xi32>> {
      %h1 = arith.addi %h, %x : tensor<32x16xi32>
      %y = linalg.reduce { arith.maxsi } ins(%h1 : tensor<32x16xi32>) outs(%zero : tensor<32xi32>) dimensions = [1]
      ft.yield %h1 : tensor<32x16xi32> emit %y : tensor<32xi32>
    }
    ft.yield %ys : !ft.list<[L], tensor<32xi32>>
  }
  return %yss : !ft.list<[N, L], tensor<32xi32>>
}

// Accesses of two elements; two sums of one nest.
// CHECK-LABEL: func.func @doubles_k0
// CHECK: #etdg.tiling<vector = 1, width = 2, lanes = 8>
func.func @doubles(%xss: !ft.list<[N, L], tensor<16x16xf64>>) -> (!ft.list<[N, L], tensor<16xf64>>, !ft.list<[N, L], tensor<16xf64>>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 3 : i64, L = 3 : i64}} {
  %begin = arith.constant dense<1.0> : tensor<16x16xf64>
  %zero = arith.constant dense<0.0> : tensor<16xf64>
  %yss, %zss = ft.map (%xs = %xss : !ft.list<[N, L], tensor<16x16xf64>>) -> !ft.list<[N, L], tensor<16xf64>>, !ft.list<[N, L], tensor<16xf64>> {
    %hs, %ys, %zs = ft.scanl (%x = %xs : !ft.list<[L], tensor<16x16xf64>>) init (%h = %begin : tensor<16x16xf64>)
        -> !ft.list<[L], tensor<16x16xf64>>, !ft.list<[L], tensor<16xf64>>, !ft.list<[L], tensor<16xf64>> {
      %h1 = arith.addf %h, %x : tensor<16x16xf64>
      %y = linalg.reduce { arith.addf } ins(%h1 : tensor<16x16xf64>) outs(%zero : tensor<16xf64>) dimensions = [1]
      %z = linalg.reduce { arith.maximumf } ins(%h1 : tensor<16x16xf64>) outs(%zero : tensor<16xf64>) dimensions = [1]
      ft.yield %h1 : tensor<16x16xf64> emit %y, %z : tensor<16xf64>, tensor<16xf64>
    }
    ft.yield %ys, %zs : !ft.list<[L], tensor<16xf64>>, !ft.list<[L], tensor<16xf64>>
  }
  return %yss, %zss : !ft.list<[N, L], tensor<16xf64>>, !ft.list<[N, L], tensor<16xf64>>
}

// Halves, whose sums are f32.
// CHECK-LABEL: func.func @halves_k0
// CHECK: lanes = {{[48]}}>
func.func @halves(%xss: !ft.list<[N, L], tensor<37x16xf16>>) -> !ft.list<[N, L], tensor<37xf16>> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 3 : i64, L = 3 : i64}} {
  %begin = arith.constant dense<1.0> : tensor<37x16xf16>
  %zero = arith.constant dense<0.0> : tensor<37xf16>
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], tensor<37x16xf16>>) -> !ft.list<[N, L], tensor<37xf16>> {
    %hs, %ys = ft.scanl (%x = %xs : !ft.list<[L], tensor<37x16xf16>>) init (%h = %begin : tensor<37x16xf16>) -> !ft.list<[L], tensor<37x16xf16>>, !ft.list<[L], tensor<37xf16>> {
      %h1 = arith.addf %h, %x : tensor<37x16xf16>
      %y = linalg.reduce { arith.addf } ins(%h1 : tensor<37x16xf16>) outs(%zero : tensor<37xf16>) dimensions = [1]
      ft.yield %h1 : tensor<37x16xf16> emit %y : tensor<37xf16>
    }
    ft.yield %ys : !ft.list<[L], tensor<37xf16>>
  }
  return %yss : !ft.list<[N, L], tensor<37xf16>>
}
