// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recurrences whose weights thread blocks keep over all steps, where their sizes are constant and shared memory
// holds them: a layer, layers that are a wavefront, two weights of which one is added to from outside, and exact integers.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 5 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!x = tensor<1x97xf32>
!w = tensor<97x97xf32>
!i = tensor<1x80xi64>
!v = tensor<80x80xi64>
!l = tensor<2x68xf32>
!u = tensor<68x68xf32>

// One layer of a prime width: a last tile of columns is short.
func.func @layer(%xs: !ft.list<[11], !x>, %w: !w {ft.gen = #ft.normal<0.1>}, %h0: !x) -> !ft.list<[11], !x> {
  %ys = ft.scanl (%x = %xs : !ft.list<[11], !x>) init (%h = %h0 : !x) -> !ft.list<[11], !x> {
    %y = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
    %t = math.tanh %y : !x
    ft.yield %t : !x
  }
  return %ys : !ft.list<[11], !x>
}

// Layers: each step has other ones, the first and last steps not all.
func.func @layers(%xs: !ft.list<[13], !x>, %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.1>}) -> !ft.list<[3, 13], !x> {
  %z = arith.constant dense<0.0> : !x
  %out = ft.scanl (%w = %ws : !ft.list<[3], !w>) init (%inputs = %xs : !ft.list<[13], !x>) -> !ft.list<[3, 13], !x> {
    %ys = ft.scanl (%x = %inputs : !ft.list<[13], !x>) init (%h = %z : !x) -> !ft.list<[13], !x> {
      %y = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %y : !x
      ft.yield %t : !x
    }
    ft.yield %ys : !ft.list<[13], !x>
  }
  return %out : !ft.list<[3, 13], !x>
}

// Two products in a step and a gate; the state has two rows.
func.func @gated(%xs: !ft.list<[10], !l>, %w: !u {ft.gen = #ft.normal<0.1>}, %u: !u {ft.gen = #ft.normal<0.1>}) -> !l {
  %z = arith.constant dense<0.0> : !l
  %one = arith.constant dense<1.0> : !l
  %end = ft.foldl (%x = %xs : !ft.list<[10], !l>) init (%h = %z : !l) -> !l {
    %a = linalg.matmul ins(%x, %w : !l, !u) outs(%z : !l) -> !l
    %b = linalg.matmul ins(%h, %u : !l, !u) outs(%a : !l) -> !l
    %n = arith.negf %b : !l
    %e = math.exp %n : !l
    %d = arith.addf %e, %one : !l
    %g = arith.divf %one, %d : !l
    %m = arith.mulf %g, %b : !l
    ft.yield %m : !l
  }
  return %end : !l
}

// Integers: exact in any order.
func.func @counted(%xs: !ft.list<[9], !i>, %w: !v, %h0: !i) -> !ft.list<[9], !i> {
  %ys = ft.scanl (%x = %xs : !ft.list<[9], !i>) init (%h = %h0 : !i) -> !ft.list<[9], !i> {
    %y = linalg.matmul ins(%h, %w : !i, !v) outs(%x : !i) -> !i
    %mask = arith.constant dense<15> : !i
    %t = arith.andi %y, %mask : !i
    ft.yield %t : !i
  }
  return %ys : !ft.list<[9], !i>
}

// What is read in a step is of the step: other weights each time stay where they are.
func.func @changing(%xs: !ft.list<[9], !x>, %ws: !ft.list<[9], !w> {ft.gen = #ft.normal<0.1>}, %h0: !x) -> !x {
  %end = ft.foldl (%x, %w = %xs, %ws : !ft.list<[9], !x>, !ft.list<[9], !w>) init (%h = %h0 : !x) -> !x {
    %y = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
    %t = math.tanh %y : !x
    ft.yield %t : !x
  }
  return %end : !x
}
