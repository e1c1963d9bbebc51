// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether products that do not wait run ahead of the steps of a GPU is chosen by price: each form is scheduled on a copy, and
// what the schedules say of its kernels is priced.
//
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu.*" 2>%t | FileCheck %s --check-prefix=AHEAD
// RUN: FileCheck %s --input-file=%t
//
// Where the cache is small and memory is slow, what lies between the parts costs more than it saves.
// RUN: sed 's/"bytes": 62914560/"bytes": 1048576/; s/"read_bytes_per_second": 4.06e12/"read_bytes_per_second": 4.06e9/' %S/../../machines/h200.json > %t.slow.json
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%t.slow.json" --remarks-filter="gpu.*" 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: choose-division {{.*}}Remark="whole: 256 steps
// WHOLE-NOT: _ahead
//
// A rank is obeyed: the two orders, then the division.
// RUN: ft-opt %s --ft-compile="to=coarsen" -o %t.coarse.mlir
// RUN: ft-opt %t.coarse.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-choose-division-for-gpu{candidate=2}))" | FileCheck %s --check-prefix=AHEAD
// RUN: ft-opt %t.coarse.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-choose-division-for-gpu{candidate=1}))" | FileCheck %s --check-prefix=SECOND
// SECOND: etdg.nest schedule <map = #map{{[0-9]*}}, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]>
// SECOND-NOT: _ahead
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_80 verify-each" -o /dev/null

// AHEAD-LABEL: etdg.graph @gru
// AHEAD: etdg.block @r5_ahead [map, map] (i, j) in [0, N) x [0, L)
// AHEAD: etdg.block @r4_ahead [map, map, map] (i, j, k) in [0, N) x [0, L) x [0, 2)
// AHEAD: etdg.nest
// AHEAD-LABEL: etdg.graph @fed
// AHEAD-NOT: _ahead

// CHECK: [[@LINE+23]]:{{.*}}choose-division {{.*}}Remark="products ahead: 256 steps and 256 barriers of the grid; 12.6 MB between them (whole 2.5{{[0-9]}}e-03, products ahead 1.{{[56][0-9]}}e-03 s)"
// Both products of the second program need the state: it has no division, and no form of one is priced.
// CHECK-NOT: choose-division

!x = tensor<1x256xf32>
!w = tensor<256x256xf32>

func.func @gru(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %us: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %bs: !ft.list<[3], !x> {ft.gen = #ft.normal<0.1>},
    %bh: !x {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !x>
    attributes {ft.typical = {N = [16, 16], L = [256, 256]}, ft.lengths = {N = 16 : i64, L = 256 : i64}} {
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

func.func @fed(%n: !ft.list<[L], tensor<1xf32>>, %w: !w, %u: !w, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%s = %n : !ft.list<[L], tensor<1xf32>>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %zero = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%h, %w : !x, !w) outs(%zero : !x) -> !x
    %1 = math.tanh %0 : !x
    %2 = linalg.matmul ins(%h, %u : !x, !w) outs(%1 : !x) -> !x
    ft.yield %2 : !x
  }
  return %hs : !ft.list<[L], !x>
}
