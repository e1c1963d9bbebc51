// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of which several iterations are computed at a time: sums of products, whose terms are joined, and online reductions, whose rows are.
// Sizes that are no multiple of a tile, halves; less iterations than are joined, multiples of them, and others.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu.*" -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: grep choose-iterations %t.remarks | FileCheck %s --check-prefix=CHOSEN
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json %ft_bin/ft-run %s 1 9 | FileCheck %s --check-prefix=RAN
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%S/../../machines/h200.json --interpret-tile %ft_bin/ft-run %s 9 | FileCheck %s --check-prefix=MEANING
// RUN: %ft_bin/ft-run %s --entry=sums --machine=%S/../../machines/a100.json --engine=emulate --target=sm_80 --dim=L=127 --dim=N=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// CHOSEN: Passed{{.*}}{{[248]}} iterations at a time
// CHOSEN: Passed{{.*}}{{[248]}} iterations at a time
// CHOSEN: Passed{{.*}}{{[248]}} iterations at a time
// RAN: 3 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// MEANING: 3 of them on tiles
// MEANING: 3 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// EQUAL: {{^}}equal

!a = tensor<63x20xf32>
!b = tensor<20x47xf32>
!c = tensor<63x47xf32>
// CHECK-LABEL: etdg.graph @sums
// CHECK: _joined [reduce]
// CHECK: #tile.product<
func.func @sums(%as: !ft.list<[N, L], !a>, %bs: !ft.list<[L], !b>) -> !ft.list<[N], !c>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 64 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !c
  %cs = ft.map (%row = %as : !ft.list<[N, L], !a>) -> !ft.list<[N], !c> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !a>, !ft.list<[L], !b>) init (%acc = %zero : !c) -> !c {
      %s = linalg.matmul ins(%a, %b : !a, !b) outs(%acc : !c) -> !c
      ft.yield %s : !c
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !c
      ft.yield %pq : !c
    }
    %c = math.tanh %sum : !c
    ft.yield %c : !c
  }
  return %cs : !ft.list<[N], !c>
}

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
!q = tensor<24x36xf32>
!k = tensor<20x36xf32>
!p = tensor<24x20xf32>
!r = tensor<24xf32>
// CHECK-LABEL: etdg.graph @online
// CHECK: _joined [reduce]
// CHECK: #tile.product<
func.func @online(%qs: !ft.list<[Q], !q>, %ks: !ft.list<[K], !k>, %vs: !ft.list<[K], !k>) -> !ft.list<[Q], !q>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {Q = 64 : i64, K = 64 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !q
  %zp = arith.constant dense<0.0> : !p
  %os = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q], !q> {
    %mf, %sf, %of = ft.reduce (%k, %v = %ks, %vs : !ft.list<[K], !k>, !ft.list<[K], !k>) init (%m, %s, %o = %low, %zr, %zo : !r, !r, !q) -> !r, !r, !q {
      %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
      %m1 = linalg.reduce { arith.maximumf } ins(%st : !p) outs(%m : !r) dimensions = [1]
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m1 : !r) outs(%pe : !p) dimensions = [1]
      %sm = arith.subf %st, %mb : !p
      %p = math.exp %sm : !p
      %md = arith.subf %m, %m1 : !r
      %c = math.exp %md : !r
      %sc = arith.mulf %s, %c : !r
      %s1 = linalg.reduce { arith.addf } ins(%p : !p) outs(%sc : !r) dimensions = [1]
      %oe = tensor.empty() : !q
      %cb = linalg.broadcast ins(%c : !r) outs(%oe : !q) dimensions = [1]
      %oc = arith.mulf %o, %cb : !q
      %o1 = linalg.matmul ins(%p, %v : !p, !k) outs(%oc : !q) -> !q
      ft.yield %m1, %s1, %o1 : !r, !r, !q
    } combine (%ma, %sa, %oa, %mb, %sb, %ob) {
      %m = arith.maximumf %ma, %mb : !r
      %da = arith.subf %ma, %m : !r
      %db = arith.subf %mb, %m : !r
      %ca = math.exp %da : !r
      %cb = math.exp %db : !r
      %xa = arith.mulf %sa, %ca : !r
      %xb = arith.mulf %sb, %cb : !r
      %s = arith.addf %xa, %xb : !r
      %oe = tensor.empty() : !q
      %wa = linalg.broadcast ins(%ca : !r) outs(%oe : !q) dimensions = [1]
      %wb = linalg.broadcast ins(%cb : !r) outs(%oe : !q) dimensions = [1]
      %ya = arith.mulf %oa, %wa : !q
      %yb = arith.mulf %ob, %wb : !q
      %o = arith.addf %ya, %yb : !q
      ft.yield %m, %s, %o : !r, !r, !q
    } identity (%low, %zr, %zo : !r, !r, !q)
    %se = tensor.empty() : !q
    %sb = linalg.broadcast ins(%sf : !r) outs(%se : !q) dimensions = [1]
    %y = arith.divf %of, %sb : !q
    ft.yield %y : !q
  }
  return %os : !ft.list<[Q], !q>
}

!x = tensor<40x24xf16>
!y = tensor<24x40xf16>
!z = tensor<40x40xf16>
// Halves; the sum of a product of its own.
// CHECK-LABEL: etdg.graph @halves
// CHECK: _joined [reduce]
// CHECK: #tile.product<{{[^>]*}}mma
func.func @halves(%as: !ft.list<[N, L], !x>, %bs: !ft.list<[L], !y>) -> !ft.list<[N], !z>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 64 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !z
  %cs = ft.map (%row = %as : !ft.list<[N, L], !x>) -> !ft.list<[N], !z> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !x>, !ft.list<[L], !y>) init (%acc = %zero : !z) -> !z {
      %s = linalg.matmul ins(%a, %b : !x, !y) outs(%zero : !z) -> !z
      %t = arith.addf %acc, %s : !z
      ft.yield %t : !z
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !z
      ft.yield %pq : !z
    }
    %c = math.tanh %sum : !z
    ft.yield %c : !z
  }
  return %cs : !ft.list<[N], !z>
}
