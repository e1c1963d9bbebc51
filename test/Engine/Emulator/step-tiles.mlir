// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products in the steps of a recurrence, in tiles of the batch's rows by the columns of all gates: wavefronts of layers and of grids, cells whose gates
// are a list or statements of their own, states that are constants in the first iteration, sums that go on from one product to the next.
//
// A machine on which operands come slowly to threads that don't share them wants tiles even for such small products. (Barriers cost nothing there.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"grid": 9.363e-7/"grid": 1.0e-12/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --multiprocessors=40 --machine=%t.json %ft_bin/ft-run %s 5 | FileCheck %s
// CHECK: {{^}}[[#PROGRAMS:]] programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// The same by the definitions of operations on tiles.
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%t.json --interpret-tile %ft_bin/ft-run %s:lstm,gru 3 | FileCheck %s
//
// Of f32, by fused multiply-adds.
// RUN: sed 's/f16/f32/g' %s > %t.f32.mlir
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%t.json %ft_bin/ft-run %t.f32.mlir:lstm,peephole 3 | FileCheck %s
//
// A step is one leaf in one region, with the gates side by side and what comes after in registers. The first product's sums go on in the second.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json candidate=0" | FileCheck %s --check-prefix=STEP
// STEP-LABEL: etdg.graph @lstm
// STEP: sync = grid
// STEP-NEXT: etdg.block @r0 [scanl, map, map] (t, j, i) in [0, D + L - 1) x [max(0, t - L + 1), min(t + 1, D)) x [0, N)
// STEP-NEXT: reads ({{.*}} = {j = t: splat 0.000000e+00 : f16, t >= j + 1: %{{.*}}[i, j, t - j - 1]}
// STEP-NEXT: etdg.layouts = [#tile.product<block = [32, 64], thread = [4, 2], step = 32, stages = 2, mma, fused = 2>, #tile.product<block = [32, 64], thread = [4, 2], step = 32, stages = 2, mma, joined>, #etdg.tiling<>]
// STEP-LABEL: etdg.graph @peephole
// STEP-LABEL: etdg.graph @gru
// STEP: sync = grid
// STEP: fused = 2>, #tile.product<{{.*}}, joined>, #etdg.tiling<>]
// STEP-LABEL: etdg.graph @grid

!x = tensor<1x64xf16>
!w = tensor<64x64xf16>
!y = tensor<1x40xf16>
!v = tensor<40x40xf16>

func.func @lstm(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}, %wss: !ft.list<[D, 4], !w> {ft.gen = #ft.normal<0.125>},
    %uss: !ft.list<[D, 4], !w> {ft.gen = #ft.normal<0.125>}, %bss: !ft.list<[D, 4], !x> {ft.gen = #ft.normal<0.1>})
    -> (!ft.list<[N, D, L], !x>, !ft.list<[N, D, L], !x>) attributes {ft.lengths = {N = 64 : i64, D = 3 : i64, L = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %hsss, %csss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, D, L], !x>, !ft.list<[N, D, L], !x> {
    %hss, %css = ft.scanl (%ws, %us, %bs = %wss, %uss, %bss : !ft.list<[D, 4], !w>, !ft.list<[D, 4], !w>, !ft.list<[D, 4], !x>)
        init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x>, !ft.list<[D, L], !x> {
      %hs, %cs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h, %c = %zero, %zero : !x, !x) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
        %gs = ft.map (%w, %u, %b = %ws, %us, %bs : !ft.list<[4], !w>, !ft.list<[4], !w>, !ft.list<[4], !x>) -> !ft.list<[4], !x> {
          %xw = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
          %g = linalg.matmul ins(%h, %u : !x, !w) outs(%xw : !x) -> !x
          ft.yield %g : !x
        }
        %three = ft.slice %gs[0 to 3] : !ft.list<[4], !x>
        %sg = ft.map (%g = %three : !ft.list<[3], !x>) -> !ft.list<[3], !x> {
          %n = arith.negf %g : !x
          %e = math.exp %n : !x
          %d = arith.addf %one, %e : !x
          %s = arith.divf %one, %d : !x
          ft.yield %s : !x
        }
        %i = ft.at %sg[0] : !ft.list<[3], !x>
        %f = ft.at %sg[1] : !ft.list<[3], !x>
        %o = ft.at %sg[2] : !ft.list<[3], !x>
        %g3 = ft.at %gs[3] : !ft.list<[4], !x>
        %cand = math.tanh %g3 : !x
        %keep = arith.mulf %f, %c : !x
        %add = arith.mulf %i, %cand : !x
        %c1 = arith.addf %keep, %add : !x
        %t = math.tanh %c1 : !x
        %h1 = arith.mulf %o, %t : !x
        ft.yield %h1, %c1 : !x, !x
      }
      ft.yield %hs : !ft.list<[L], !x> emit %cs : !ft.list<[L], !x>
    }
    ft.yield %hss, %css : !ft.list<[D, L], !x>, !ft.list<[D, L], !x>
  }
  return %hsss, %csss : !ft.list<[N, D, L], !x>, !ft.list<[N, D, L], !x>
}

// Gates look at the cell's state through a diagonal; 40 columns are no multiple of a tile.
func.func @peephole(
    %xss: !ft.list<[N, L], !y> {ft.gen = #ft.normal<1.0>}, %ws: !ft.list<[4], !v> {ft.gen = #ft.normal<0.15>},
    %us: !ft.list<[4], !v> {ft.gen = #ft.normal<0.15>}, %ps: !ft.list<[4], !y> {ft.gen = #ft.normal<0.3>})
    -> (!ft.list<[N, L], !y>, !ft.list<[N, L], !y>) attributes {ft.lengths = {N = 64 : i64, L = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !y
  %none = arith.constant dense<0.0> : !y
  %hss, %css = ft.map (%xs = %xss : !ft.list<[N, L], !y>) -> !ft.list<[N, L], !y>, !ft.list<[N, L], !y> {
    %hs, %cs = ft.scanl (%x = %xs : !ft.list<[L], !y>) init (%h, %c = %zero, %zero : !y, !y) -> !ft.list<[L], !y>, !ft.list<[L], !y> {
      %gs = ft.map (%w, %u, %p = %ws, %us, %ps : !ft.list<[4], !v>, !ft.list<[4], !v>, !ft.list<[4], !y>) -> !ft.list<[4], !y> {
        %pc = arith.mulf %p, %c : !y
        %xw = linalg.matmul ins(%x, %w : !y, !v) outs(%none : !y) -> !y
        %g = linalg.matmul ins(%h, %u : !y, !v) outs(%xw : !y) -> !y
        %s = arith.addf %g, %pc : !y
        %t = math.tanh %s : !y
        ft.yield %t : !y
      }
      %i = ft.at %gs[0] : !ft.list<[4], !y>
      %f = ft.at %gs[1] : !ft.list<[4], !y>
      %o = ft.at %gs[2] : !ft.list<[4], !y>
      %a = ft.at %gs[3] : !ft.list<[4], !y>
      %keep = arith.mulf %f, %c : !y
      %add = arith.mulf %i, %a : !y
      %c1 = arith.addf %keep, %add : !y
      %t = math.tanh %c1 : !y
      %h1 = arith.mulf %o, %t : !y
      ft.yield %h1, %c1 : !y, !y
    }
    ft.yield %hs, %cs : !ft.list<[L], !y>, !ft.list<[L], !y>
  }
  return %hss, %css : !ft.list<[N, L], !y>, !ft.list<[N, L], !y>
}

// A product with the state that the reset gate is applied after.
func.func @gru(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}, %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %us: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>}, %bs: !ft.list<[3], !x> {ft.gen = #ft.normal<0.1>}, %bh: !x {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !x> attributes {ft.lengths = {N = 64 : i64, L = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %wn = ft.at %ws[2] : !ft.list<[3], !w>
  %un = ft.at %us[2] : !ft.list<[3], !w>
  %bn = ft.at %bs[2] : !ft.list<[3], !x>
  %w2 = ft.slice %ws[0 to 2] : !ft.list<[3], !w>
  %u2 = ft.slice %us[0 to 2] : !ft.list<[3], !w>
  %b2 = ft.slice %bs[0 to 2] : !ft.list<[3], !x>
  %hss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %gs = ft.map (%w, %u, %b = %w2, %u2, %b2 : !ft.list<[2], !w>, !ft.list<[2], !w>, !ft.list<[2], !x>) -> !ft.list<[2], !x> {
        %xw = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
        %g = linalg.matmul ins(%h, %u : !x, !w) outs(%xw : !x) -> !x
        %m = arith.negf %g : !x
        %e = math.exp %m : !x
        %d = arith.addf %one, %e : !x
        %s = arith.divf %one, %d : !x
        ft.yield %s : !x
      }
      %r = ft.at %gs[0] : !ft.list<[2], !x>
      %z = ft.at %gs[1] : !ft.list<[2], !x>
      %hu = linalg.matmul ins(%h, %un : !x, !w) outs(%bh : !x) -> !x
      %rhu = arith.mulf %r, %hu : !x
      %xw = linalg.matmul ins(%x, %wn : !x, !w) outs(%bn : !x) -> !x
      %a = arith.addf %xw, %rhu : !x
      %n = math.tanh %a : !x
      %nz = arith.subf %one, %z : !x
      %new = arith.mulf %nz, %n : !x
      %old = arith.mulf %z, %h : !x
      %h1 = arith.addf %new, %old : !x
      ft.yield %h1 : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %hss : !ft.list<[N, L], !x>
}

// Cells of a grid, each with two results of one sum.
func.func @grid(
    %src: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}, %trg: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %w: !w {ft.gen = #ft.normal<0.125>}, %ux: !w {ft.gen = #ft.normal<0.088>}, %uy: !w {ft.gen = #ft.normal<0.088>}, %b: !x {ft.gen = #ft.normal<0.1>})
    -> (!ft.list<[N, L, L], !x>, !ft.list<[N, L, L], !x>) attributes {ft.lengths = {N = 64 : i64, L = 6 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %hx, %hy = ft.map (%ss, %ts = %src, %trg : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>) -> !ft.list<[N, L, L], !x>, !ft.list<[N, L, L], !x> {
    %border = ft.repeat %zero times L : !x
    %hx1, %hy1 = ft.scanl (%s = %ss : !ft.list<[L], !x>) init (%above = %border : !ft.list<[L], !x>) -> !ft.list<[L, L], !x>, !ft.list<[L, L], !x> {
      %hyr, %hxr = ft.scanl (%t, %up = %ts, %above : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%left = %zero : !x) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
        %s0 = linalg.matmul ins(%up, %ux : !x, !w) outs(%b : !x) -> !x
        %s1 = linalg.matmul ins(%left, %uy : !x, !w) outs(%s0 : !x) -> !x
        %gx = linalg.matmul ins(%s, %w : !x, !w) outs(%s1 : !x) -> !x
        %gy = linalg.matmul ins(%t, %w : !x, !w) outs(%s1 : !x) -> !x
        %nx = math.tanh %gx : !x
        %ny = math.tanh %gy : !x
        ft.yield %ny : !x emit %nx : !x
      }
      ft.yield %hxr : !ft.list<[L], !x> emit %hyr : !ft.list<[L], !x>
    }
    ft.yield %hx1, %hy1 : !ft.list<[L, L], !x>, !ft.list<[L, L], !x>
  }
  return %hx, %hy : !ft.list<[N, L, L], !x>, !ft.list<[N, L, L], !x>
}
