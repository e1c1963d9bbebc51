// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over a triangle on a GPU: iterations are joined, as many as the price says, and those after stay; each thread block has one of the
// elements that decide how many there are, since those of two would be different loops.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu.*" -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: grep choose-iterations %t.remarks | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: Passed{{.*}}{{[248]}} iterations at a time
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json %ft_bin/ft-run %s 1 9 | FileCheck %s --check-prefix=RAN
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json --interpret-tile %ft_bin/ft-run %s 9 | FileCheck %s --check-prefix=RAN
// RAN: 2 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!a = tensor<63x20xf32>
!b = tensor<20x47xf32>
!c = tensor<63x47xf32>
// CHECK-LABEL: etdg.graph @convolution
// Products that are apart would be summed by one thread block for each element: they stay in their sum.
// CHECK-NOT: etdg.variants
// CHECK: loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block
// CHECK: etdg.block @sum{{(_joined)?}} [reduce] (i | j) in [0,
etdg.graph @convolution(%as: !etdg.buffer<[L], !a>, %bs: !etdg.buffer<[L], !b>) -> !etdg.buffer<[L], !c> attributes {ft.lengths = {L = 64 : i64}} {
  %cs = etdg.buffer : !etdg.buffer<[L], !c>
  etdg.block @r [map] (i) in [0, L) {
    %s = etdg.buffer : !etdg.buffer<[L], !c>
    etdg.block @sum [reduce] (i | j) in [0, i + 1)
        reads (%a = %as[i - j] : !a, %b = %bs[j] : !b, %c = {j = 0: splat 0.0 : f32, j >= 1: %s[j - 1]} : !c) writes (%s[j]) {
      %p = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
      etdg.yield %p : !c
    } combine (%x: !c, %y: !c) {
      %z = arith.addf %x, %y : !c
      etdg.yield %z : !c
    } identity (splat 0.0 : f32) : !etdg.buffer<[L], !a>, !etdg.buffer<[L], !b>, !etdg.buffer<[L], !c>
    etdg.block @last [] (i |) reads (%c = %s[i] : !c) writes (%cs[i]) {
      %n = arith.negf %c : !c
      etdg.yield %n : !c
    } : !etdg.buffer<[L], !c>, !etdg.buffer<[L], !c>
  }
  etdg.return %cs : !etdg.buffer<[L], !c>
}

// Numbers that several iterations bring at once are another for each element of the list: rows of one tile can't share them.
// CHECK-LABEL: etdg.graph @numbers
// CHECK: etdg.block @sum_joined [reduce]
// CHECK: elem (e0) index(
etdg.graph @numbers(%as: !etdg.buffer<[L, L], !a>, %bs: !etdg.buffer<[L], !b>) -> !etdg.buffer<[L], !c> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {L = 64 : i64}} {
  %cs = etdg.buffer : !etdg.buffer<[L], !c>
  etdg.block @r [map] (i) in [0, L) {
    %s = etdg.buffer : !etdg.buffer<[L], !c>
    etdg.block @sum [reduce] (i | j) in [0, L)
        reads (%a = %as[i, j] : !a, %b = %bs[j] : !b, %n = index(i + j) : tensor<i64>, %c = {j = 0: splat 0.0 : f32, j >= 1: %s[j - 1]} : !c) writes (%s[j]) {
      %zero = arith.constant dense<0.0> : !c
      %p = linalg.matmul ins(%a, %b : !a, !b) outs(%zero : !c) -> !c
      %f = arith.sitofp %n : tensor<i64> to tensor<f32>
      %e = tensor.empty() : !c
      %w = linalg.broadcast ins(%f : tensor<f32>) outs(%e : !c) dimensions = [0, 1]
      %t = arith.mulf %p, %w : !c
      %y = arith.addf %t, %c : !c
      etdg.yield %y : !c
    } combine (%x: !c, %y: !c) {
      %z = arith.addf %x, %y : !c
      etdg.yield %z : !c
    } identity (splat 0.0 : f32) : !etdg.buffer<[L, L], !a>, !etdg.buffer<[L], !b>, !etdg.buffer<[L], !c>
    etdg.block @last [] (i |) reads (%c = %s[L - 1] : !c) writes (%cs[i]) {
      %n = arith.negf %c : !c
      etdg.yield %n : !c
    } : !etdg.buffer<[L], !c>, !etdg.buffer<[L], !c>
  }
  etdg.return %cs : !etdg.buffer<[L], !c>
}
