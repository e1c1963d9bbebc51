// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products that stay in registers from the first iteration of a loop to the last: sizes that are no multiple of a tile; a body that computes something else of each sum; states that are results; halves that are rounded once, and halves that are rounded at each step;
// one iteration, several, and a state that the product reads as an operand, too.
//
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a machine=%S/../../machines/h200.json" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json %ft_bin/ft-run %s 1 5 | FileCheck %s --check-prefix=RAN
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json --interpret-tile %ft_bin/ft-run %s 3 | FileCheck %s --check-prefix=MEANING
// RUN: %ft_bin/ft-run %s --entry=damped --machine=%S/../../machines/a100.json --engine=emulate --target=sm_80 --dim=K=127 --dim=M=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=once --machine=%S/../../machines/h200.json --engine=emulate --target=sm_90a --dim=K=13 --dim=M=1 --dim=N=1 --seed=3 --compare=truth | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=steps --machine=%S/../../machines/h200.json --engine=emulate --target=sm_90a --dim=K=13 --dim=M=1 --seed=3 --compare=truth | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=once --schedule-for=sm_90a --order=random --seed=2 --dim=K=5 --dim=M=1 --dim=N=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RAN: 6 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// MEANING: 6 of them on tiles
// MEANING: 6 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// EQUAL: {{^}}equal

!a = tensor<40x24xf32>
!b = tensor<24x56xf32>
!c = tensor<40x56xf32>
// Sums of several tiles go through memory, unless a user says otherwise (kept-tiles.mlir).
// CHECK-LABEL: func.func @blocks_k0
// CHECK-NOT: loops.kept
// CHECK: return
func.func @blocks(%as: !ft.list<[M, K], !a>, %bs: !ft.list<[N, K], !b> {ft.gen = #ft.normal<0.2>}) -> !ft.list<[M, N], !c>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {M = 3 : i64, N = 2 : i64, K = 7 : i64}} {
  %zero = arith.constant dense<0.0> : !c
  %cs = ft.map (%a = %as : !ft.list<[M, K], !a>) -> !ft.list<[M, N], !c> {
    %row = ft.map (%b = %bs : !ft.list<[N, K], !b>) -> !ft.list<[N], !c> {
      %c = ft.reduce (%x, %y = %a, %b : !ft.list<[K], !a>, !ft.list<[K], !b>) init (%acc = %zero : !c) -> !c {
        %sum = linalg.matmul ins(%x, %y : !a, !b) outs(%acc : !c) -> !c
        ft.yield %sum : !c
      } combine (%p, %q) {
        %pq = arith.addf %p, %q : !c
        ft.yield %pq : !c
      }
      ft.yield %c : !c
    }
    ft.yield %row : !ft.list<[N], !c>
  }
  return %cs : !ft.list<[M, N], !c>
}

!d = tensor<61x24xf32>
!e = tensor<24x64xf32>
!o = tensor<61x64xf32>
// Each sum is scaled before the next product is added to it; the first one begins with memory of the call.
// CHECK-LABEL: func.func @damped_k0
// CHECK: loops.kept = [#loops.kept<output = 0, input = {{[0-9]}}, last>]
func.func @damped(%as: !ft.list<[M, K], !d>, %bs: !ft.list<[K], !e> {ft.gen = #ft.normal<0.2>}, %c0: !o) -> !ft.list<[M], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {M = 3 : i64, K = 7 : i64}} {
  %zero = arith.constant dense<0.0> : !o
  %most = arith.constant dense<0.75> : !o
  %cs = ft.map (%a = %as : !ft.list<[M, K], !d>) -> !ft.list<[M], !o> {
    %c = ft.foldl (%x, %y = %a, %bs : !ft.list<[K], !d>, !ft.list<[K], !e>) init (%acc = %c0 : !o) -> !o {
      %p = linalg.matmul ins(%x, %y : !d, !e) outs(%acc : !o) -> !o
      %r = arith.mulf %p, %most : !o
      %sum = arith.maximumf %r, %zero : !o
      ft.yield %sum : !o
    }
    ft.yield %c : !o
  }
  return %cs : !ft.list<[M], !o>
}

// All states are results; the first one has a leaf of its own, so that none is all that an iteration does.
// CHECK-LABEL: func.func @running_k0
// CHECK-NOT: loops.kept
// CHECK: return
func.func @running(%as: !ft.list<[M, K], !a>, %bs: !ft.list<[K], !b> {ft.gen = #ft.normal<0.2>}, %c0: !c) -> !ft.list<[M, K], !c>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {M = 3 : i64, K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !c
  %most = arith.constant dense<0.75> : !c
  %cs = ft.map (%a = %as : !ft.list<[M, K], !a>) -> !ft.list<[M, K], !c> {
    %c = ft.scanl (%x, %y = %a, %bs : !ft.list<[K], !a>, !ft.list<[K], !b>) init (%acc = %c0 : !c) -> !ft.list<[K], !c> {
      %d = arith.mulf %acc, %most : !c
      %t = math.tanh %d : !c
      %p = linalg.matmul ins(%x, %y : !a, !b) outs(%zero : !c) -> !c
      %sum = arith.addf %p, %t : !c
      ft.yield %sum : !c
    }
    ft.yield %c : !ft.list<[K], !c>
  }
  return %cs : !ft.list<[M, K], !c>
}

!f = tensor<64x48xf16>
!g = tensor<48x32xf16>
!h = tensor<64x32xf16>
// CHECK-LABEL: func.func @once_k0
// CHECK: loops.kept = [#loops.kept<output = 0, input = 2, last in f32>]
// CHECK: {loops.rounds_last}
// The iterations after the last two that are one go on with them.
// CHECK: loops.kept = [#loops.kept<output = 0, input = 2, last in f32>]
// CHECK: {loops.rounds_last}
func.func @once(%as: !ft.list<[M, K], !f>, %bs: !ft.list<[N, K], !g> {ft.gen = #ft.normal<0.2>}) -> !ft.list<[M, N], !h>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {M = 2 : i64, N = 2 : i64, K = 7 : i64}} {
  %zero = arith.constant dense<0.0> : !h
  %cs = ft.map (%a = %as : !ft.list<[M, K], !f>) -> !ft.list<[M, N], !h> {
    %row = ft.map (%b = %bs : !ft.list<[N, K], !g>) -> !ft.list<[N], !h> {
      %c = ft.reduce (%x, %y = %a, %b : !ft.list<[K], !f>, !ft.list<[K], !g>) init (%acc = %zero : !h) -> !h {
        %sum = linalg.matmul ins(%x, %y : !f, !g) outs(%acc : !h) -> !h
        ft.yield %sum : !h
      } combine (%p, %q) {
        %pq = arith.addf %p, %q : !h
        ft.yield %pq : !h
      }
      ft.yield %c : !h
    }
    ft.yield %row : !ft.list<[N], !h>
  }
  return %cs : !ft.list<[M, N], !h>
}

// The program's order is that of the states, which are halves.
// CHECK-LABEL: func.func @steps_k0
// CHECK: loops.kept = [#loops.kept<output = 0, input = {{[0-9]}}, last>]
// CHECK-NOT: loops.rounds_last
func.func @steps(%as: !ft.list<[M, K], !f>, %bs: !ft.list<[K], !g> {ft.gen = #ft.normal<0.2>}) -> !ft.list<[M], !h>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {M = 2 : i64, K = 7 : i64}} {
  %zero = arith.constant dense<0.0> : !h
  %most = arith.constant dense<0.75> : !h
  %cs = ft.map (%a = %as : !ft.list<[M, K], !f>) -> !ft.list<[M], !h> {
    %c = ft.foldl (%x, %y = %a, %bs : !ft.list<[K], !f>, !ft.list<[K], !g>) init (%acc = %zero : !h) -> !h {
      %p = linalg.matmul ins(%x, %y : !f, !g) outs(%zero : !h) -> !h
      %d = arith.mulf %acc, %most : !h
      %sum = arith.addf %d, %p : !h
      ft.yield %sum : !h
    }
    ft.yield %c : !h
  }
  return %cs : !ft.list<[M], !h>
}

// Each product reads the state whole: it has to be in memory.
!s = tensor<48x48xf32>
// CHECK-LABEL: func.func @powers_k0
// CHECK-NOT: loops.kept
// CHECK: return
func.func @powers(%as: !ft.list<[M, K], !s> {ft.gen = #ft.normal<0.1>}, %c0: !s) -> !ft.list<[M], !s>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {M = 2 : i64, K = 5 : i64}} {
  %cs = ft.map (%a = %as : !ft.list<[M, K], !s>) -> !ft.list<[M], !s> {
    %c = ft.foldl (%x = %a : !ft.list<[K], !s>) init (%acc = %c0 : !s) -> !s {
      %sum = linalg.matmul ins(%acc, %x : !s, !s) outs(%acc : !s) -> !s
      ft.yield %sum : !s
    }
    ft.yield %c : !s
  }
  return %cs : !ft.list<[M], !s>
}
