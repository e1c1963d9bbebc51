// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products inside of steps that follow each other in an order that the program says: where those of one point fill a tile, each step computes
// them in tiles, and rounds its state. Sizes that are no multiple of a tile, halves, several products in a step, states that are results.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json %ft_bin/ft-run %s 1 5 | FileCheck %s --check-prefix=RAN
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json --interpret-tile %ft_bin/ft-run %s:chain,odd,halves 3 | FileCheck %s --check-prefix=MEANING
// RUN: %ft_bin/ft-run %s --entry=odd --machine=%S/../../machines/a100.json --engine=emulate --target=sm_80 --dim=L=127 --dim=N=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=halves --machine=%S/../../machines/h200.json --engine=emulate --target=sm_90a --dim=L=7 --dim=N=2 --seed=3 --compare=truth | FileCheck %s --check-prefix=EQUAL
// RAN: 4 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// MEANING: 3 of them on tiles
// MEANING: 3 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// EQUAL: {{^}}equal

!a = tensor<48x48xf32>
// CHECK-LABEL: etdg.graph @chain
// CHECK: [foldl]
// CHECK: kind = sequential
// CHECK-SAME: #tile.product<
func.func @chain(%as: !ft.list<[N, L], !a> {ft.gen = #ft.normal<0.1>}) -> !ft.list<[N], !a>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 3 : i64, L = 7 : i64}} {
  %zero = arith.constant dense<0.0> : !a
  %one = arith.constant dense<1.0> : !a
  %cs = ft.map (%row = %as : !ft.list<[N, L], !a>) -> !ft.list<[N], !a> {
    %c = ft.foldl (%a = %row : !ft.list<[L], !a>) init (%acc = %one : !a) -> !a {
      %s = linalg.matmul ins(%acc, %a : !a, !a) outs(%zero : !a) -> !a
      %t = math.tanh %s : !a
      ft.yield %t : !a
    }
    ft.yield %c : !a
  }
  return %cs : !ft.list<[N], !a>
}

!s = tensor<61x47xf32>
!w = tensor<47x47xf32>
// All states are results; what a step brings is where its sums begin. The first step, whose state is one for all, is no product for tiles.
// CHECK-LABEL: etdg.graph @odd
// CHECK: scanl]
// CHECK: #tile.product<
func.func @odd(%xs: !ft.list<[N, L], !s>, %h0: !s, %w: !w {ft.gen = #ft.normal<0.1>}) -> !ft.list<[N, L], !s>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 2 : i64, L = 5 : i64}} {
  %ys = ft.map (%row = %xs : !ft.list<[N, L], !s>) -> !ft.list<[N, L], !s> {
    %y = ft.scanl (%x = %row : !ft.list<[L], !s>) init (%h = %h0 : !s) -> !ft.list<[L], !s> {
      %sum = linalg.matmul ins(%h, %w : !s, !w) outs(%x : !s) -> !s
      %t = math.tanh %sum : !s
      ft.yield %t : !s
    }
    ft.yield %y : !ft.list<[L], !s>
  }
  return %ys : !ft.list<[N, L], !s>
}

!g = tensor<48x48xf16>
// Each step rounds its state to a half.
// CHECK-LABEL: etdg.graph @halves
// CHECK: #tile.product<{{[^>]*}}mma
func.func @halves(%as: !ft.list<[N, L], !g> {ft.gen = #ft.normal<0.1>}) -> !ft.list<[N], !g>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 2 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !g
  %one = arith.constant dense<1.0> : !g
  %cs = ft.map (%row = %as : !ft.list<[N, L], !g>) -> !ft.list<[N], !g> {
    %c = ft.foldl (%a = %row : !ft.list<[L], !g>) init (%acc = %one : !g) -> !g {
      %s = linalg.matmul ins(%acc, %a : !g, !g) outs(%zero : !g) -> !g
      %t = math.tanh %s : !g
      ft.yield %t : !g
    }
    ft.yield %c : !g
  }
  return %cs : !ft.list<[N], !g>
}

!f = tensor<8x48xf32>
// Few rows of a point do not fill a tile: the step stays as it was, though those of several points would.
// CHECK-LABEL: etdg.graph @narrow
// CHECK-NOT: #tile.product
func.func @narrow(%xs: !ft.list<[N, L], !f>, %h0: !ft.list<[N], !f>, %w: !a {ft.gen = #ft.normal<0.1>}) -> !ft.list<[N], !f>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 2 : i64, L = 5 : i64}} {
  %cs = ft.map (%row, %begin = %xs, %h0 : !ft.list<[N, L], !f>, !ft.list<[N], !f>) -> !ft.list<[N], !f> {
    %c = ft.foldl (%x = %row : !ft.list<[L], !f>) init (%h = %begin : !f) -> !f {
      %s = linalg.matmul ins(%h, %w : !f, !a) outs(%x : !f) -> !f
      ft.yield %s : !f
    }
    ft.yield %c : !f
  }
  return %cs : !ft.list<[N], !f>
}
