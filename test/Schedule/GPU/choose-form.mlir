// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One bundle serves all lengths: where products that run ahead cost more than they save at few steps, and save more at many, both
// forms are kept as variants, and a guard over the lengths chooses. Where the program says what is typical, the one that is better there.
//
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%S/../../machines/h200.json verify-each" --remarks-filter="gpu.*" 2>%t | FileCheck %s --check-prefix=BOTH
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t
// SAID: choose-division {{.*}}Remark="products ahead where L >= {{[0-9]+}}, else whole: {{.*}}(whole {{[0-9.e-]+}}, products ahead {{[0-9.e-]+}} s)"
//
// BOTH-LABEL: etdg.graph @gru
// BOTH: etdg.buffer
// BOTH: etdg.buffer
// BOTH: etdg.buffer
// BOTH: etdg.variants when <[L] from {{[0-9]+}}> {
// BOTH: etdg.block @r5_ahead [map, map] (i, j) in [0, N) x [0, L)
// BOTH: etdg.block @r4_ahead
// BOTH: etdg.nest
// BOTH: } else {
// BOTH-NOT: _ahead
// BOTH: etdg.return
//
// A form that is a kernel for few rows and one for many is two variants, beside the one of tiles.
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a machine=%S/../../machines/h200.json verify-each" | FileCheck %s --check-prefix=FLAT
// FLAT-LABEL: etdg.graph @gru
// FLAT: etdg.variants when <[L] from {{[0-9]+}}> {
// FLAT: @r5_ahead
// FLAT: sync = grid
// FLAT: #tile.product<
// FLAT: } else when <[N] below 132> {
// FLAT-NOT: _ahead
// FLAT: sync = grid
// FLAT: } else {
// FLAT-NOT: sync = grid
// FLAT: etdg.return
//
// RUN: sed 's/ft.lengths = /ft.typical = {L = [64, 1024]}, ft.lengths = /' %s | ft-opt --ft-compile="to=reorder target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=LONG
// LONG-LABEL: etdg.graph @gru
// LONG-NOT: etdg.variants
// LONG: @r5_ahead
// LONG-NOT: etdg.variants
// LONG: etdg.return
// RUN: sed 's/ft.lengths = /ft.typical = {L = [1, 4]}, ft.lengths = /' %s | ft-opt --ft-compile="to=reorder target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=SHORT
// SHORT-LABEL: etdg.graph @gru
// SHORT-NOT: etdg.variants
// SHORT-NOT: _ahead
// SHORT: etdg.return
//
// Each variant, at lengths on either side of the guards.
// RUN: %ft_bin/ft-run %s --engine=emulate --dim N=3 --dim L=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --engine=emulate --dim N=133 --dim L=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --engine=emulate --dim N=3 --dim L=61 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --engine=emulate --dim N=2 --dim L=0 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --schedule-for=sm_90a --order=random --seed=3 --dim N=3 --dim L=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --schedule-for=sm_90a --order=random --seed=4 --dim N=3 --dim L=61 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<1x128xf32>
!w = tensor<128x128xf32>

func.func @gru(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.0625>},
    %us: !ft.list<[3], !w> {ft.gen = #ft.normal<0.0625>},
    %bs: !ft.list<[3], !x> {ft.gen = #ft.normal<0.1>},
    %bh: !x {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 4 : i64, L = 32 : i64}} {
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
