// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products in the steps of several nests that share a wavefront: each nest's step is one leaf with tiles, in which all layers of a step are dealt as one,
// without barriers in between.
//
// A machine on which operands come slowly to threads that don't share them wants tiles even for such small products. (Barriers cost nothing there.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"grid": 9.363e-7/"grid": 1.0e-12/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%t.json %ft_bin/ft-run %s 7 | FileCheck %s
// RUN: %python %S/Inputs/emulate.py --multiprocessors=40 --machine=%t.json %ft_bin/ft-run %s:layers 3 | FileCheck %s
// CHECK: {{^}}[[#PROGRAMS:]] programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// Layers of a step touch what the step before has left: nothing waits between them.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=STEP
// STEP-LABEL: etdg.graph @layers
// STEP: etdg.kernel shared 1
// STEP-NEXT: etdg.nest schedule <{{.*}}sync = grid
// STEP: etdg.layouts = [#tile.product<{{[^>]*}}, mma, fused = 2>, #tile.product<{{[^>]*}}, mma, joined>, #etdg.tiling<>]
// STEP: etdg.nest schedule
// STEP-NOT: before = grid
// STEP: etdg.layouts = [#tile.product<{{[^>]*}}, mma, fused = 2>, #tile.product<{{[^>]*}}, mma, joined>, #etdg.tiling<>]
//
// A block goes on where the loops before have ended: 1 task on block 0, the next one on block 1.
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=DEALT
// DEALT-LABEL: llvm.func @layers
// DEALT: %[[COUNT:.*]] = nvvm.read.ptx.sreg.nctaid.x : i32
// DEALT: %[[BLOCKS:.*]] = arith.extui %[[COUNT]] : i32 to i64
// DEALT: %[[BEFORE:.*]] = arith.remui %{{.*}}, %[[BLOCKS]] : i64
// DEALT: arith.subi %{{.*}}, %[[BEFORE]] : i64

!x = tensor<1x40xf16>
!w = tensor<40x40xf16>

func.func @layers(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}, %ws: !ft.list<[2], !w> {ft.gen = #ft.normal<0.125>},
    %us: !ft.list<[2], !w> {ft.gen = #ft.normal<0.125>}, %bs: !ft.list<[2], !x> {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !x> attributes {ft.lengths = {N = 64 : i64, L = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %w0 = ft.at %ws[0] : !ft.list<[2], !w>
  %u0 = ft.at %us[0] : !ft.list<[2], !w>
  %b0 = ft.at %bs[0] : !ft.list<[2], !x>
  %h0 = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) lag 1 -> !ft.list<[L], !x> {
      %xw = linalg.matmul ins(%x, %w0 : !x, !w) outs(%b0 : !x) -> !x
      %g = linalg.matmul ins(%h, %u0 : !x, !w) outs(%xw : !x) -> !x
      %hn = math.tanh %g : !x
      ft.yield %hn : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  %w1 = ft.at %ws[1] : !ft.list<[2], !w>
  %u1 = ft.at %us[1] : !ft.list<[2], !w>
  %b1 = ft.at %bs[1] : !ft.list<[2], !x>
  %h1 = ft.map (%xs = %h0 : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) lag 2 -> !ft.list<[L], !x> {
      %xw = linalg.matmul ins(%x, %w1 : !x, !w) outs(%b1 : !x) -> !x
      %g = linalg.matmul ins(%h, %u1 : !x, !w) outs(%xw : !x) -> !x
      %e = math.exp %g : !x
      %hn = math.tanh %e : !x
      ft.yield %hn : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %h1 : !ft.list<[N, L], !x>
}
