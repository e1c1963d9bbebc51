// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle serves calls of all lengths: where one order of a nest, or its products ahead, takes clearly less time at some of them and another
// form at others, both are in it, and the call's lengths choose. Code for a call of known lengths has one.
//
// RUN: ft-opt %s --ft-compile="to=reorder machine=%S/../../machines/cpu.json verify-each" --remarks-filter="cpu" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t
// SAID: choose-forms {{.*}}where L >= {{[0-9]+}} and N < {{[0-9]+}}, else
// CHECK-LABEL: etdg.graph @gru
// CHECK: etdg.variants when <
// CHECK: } else {
// CHECK: etdg.return
//
// Each is proved, planned for lengths at which it runs, and stored.
// RUN: ft-opt %s --ft-compile="to=storage machine=%S/../../machines/cpu.json verify-each" | FileCheck %s --check-prefix=STORED
// STORED-LABEL: etdg.graph @gru
// STORED: etdg.variants when <
// STORED: target = "cpu"
// STORED: } else {
// STORED: target = "cpu"
// STORED: etdg.return
//
// RUN: ft-opt %s --ft-compile="to=coarsen" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-choose-schedule{machine=%S/../../machines/cpu.json lengths=N=8,L=64}))" | FileCheck %s --check-prefix=KNOWN
// KNOWN-LABEL: etdg.graph @gru
// KNOWN-NOT: etdg.variants
//
// RUN: ft-translate --mlir-to-bundle --target=cpu --machine=%S/../../machines/cpu.json %s -o %t.ftb
// RUN: %ft_bin/ft-run %s --engine=interpret --seed=1 --dim N=1 --dim L=3 --out=%t.a.npy
// RUN: ft-run-bundle %t.ftb --engine=cpu --seed=1 --dim N=1 --dim L=3 --expect=%t.a.npy
// RUN: %ft_bin/ft-run %s --engine=interpret --seed=1 --dim N=40 --dim L=12 --out=%t.a.npy
// RUN: ft-run-bundle %t.ftb --engine=cpu --seed=1 --dim N=40 --dim L=12 --expect=%t.a.npy
// RUN: %ft_bin/ft-run %s --engine=interpret --seed=1 --dim N=2 --dim L=70 --out=%t.a.npy
// RUN: ft-run-bundle %t.ftb --engine=cpu --seed=1 --dim N=2 --dim L=70 --expect=%t.a.npy

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @gru(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %us: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %bs: !ft.list<[3], !x> {ft.gen = #ft.normal<0.1>},
    %bh: !x {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 8 : i64, L = 64 : i64}} {
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
      %gs = ft.map (%w, %u, %b = %w2, %u2, %b2
            : !ft.list<[2], !w>, !ft.list<[2], !w>, !ft.list<[2], !x>) -> !ft.list<[2], !x> {
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
