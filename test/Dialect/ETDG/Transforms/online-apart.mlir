// Every step a map of its own over the blocks of queries: coarsening puts them into one
// body, and the online form makes one reduction of them. The phase does both.
//
// RUN: ft-opt %s --ft-compile="to=coarsen" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=coarsen" -o %t.mlir
// RUN: ft-run %s --engine=interpret --seed=4 --dim Q=2 --dim K=7 --out=%t.a.npy
// RUN: ft-run %t.mlir --engine=interpret --order=declared --seed=4 --dim Q=2 --dim K=7 --out=%t.b.npy
// RUN: %python -c "import numpy as n; n.testing.assert_allclose(n.load('%t.a.npy'), n.load('%t.b.npy'), rtol=2e-5, atol=1e-6)"
// REQUIRES: numpy
//
// CHECK-LABEL: etdg.graph @apart
// CHECK: etdg.block @{{.*}} [map] (i) in [0, Q) {
// CHECK-NOT: tensor<3x4xf32>>
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, K)
// CHECK: combine
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK: arith.divf
// CHECK-NOT: etdg.block

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
!q = tensor<3x8xf32>
!k = tensor<4x8xf32>
!v = tensor<4x5xf32>
!p = tensor<3x4xf32>
!r = tensor<3xf32>
!o = tensor<3x5xf32>
func.func @apart(%qs: !ft.list<[Q], !q> {ft.gen = #ft.normal<1.0>},
                 %ks: !ft.list<[K], !k> {ft.gen = #ft.normal<1.0>},
                 %vs: !ft.list<[K], !v> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[Q], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {Q = 3 : i64, K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !o
  %zp = arith.constant dense<0.0> : !p
  %sss = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q, K], !p> {
    %ss = ft.map (%k = %ks : !ft.list<[K], !k>) -> !ft.list<[K], !p> {
      %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
      ft.yield %st : !p
    }
    ft.yield %ss : !ft.list<[K], !p>
  }
  %ms = ft.map (%ss = %sss : !ft.list<[Q, K], !p>) -> !ft.list<[Q], !r> {
    %m = ft.reduce (%s = %ss : !ft.list<[K], !p>) init (%mo = %low : !r) -> !r {
      %m1 = linalg.reduce { arith.maximumf } ins(%s : !p) outs(%mo : !r) dimensions = [1]
      ft.yield %m1 : !r
    } combine (%a, %b) {
      %x = arith.maximumf %a, %b : !r
      ft.yield %x : !r
    } identity (%low : !r)
    ft.yield %m : !r
  }
  %pss = ft.map (%ss, %m = %sss, %ms : !ft.list<[Q, K], !p>, !ft.list<[Q], !r>) -> !ft.list<[Q, K], !p> {
    %ps = ft.map (%s = %ss : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m : !r) outs(%pe : !p) dimensions = [1]
      %d = arith.subf %s, %mb : !p
      %p = math.exp %d : !p
      ft.yield %p : !p
    }
    ft.yield %ps : !ft.list<[K], !p>
  }
  %ls = ft.map (%ps = %pss : !ft.list<[Q, K], !p>) -> !ft.list<[Q], !r> {
    %l = ft.reduce (%p = %ps : !ft.list<[K], !p>) init (%a = %zr : !r) -> !r {
      %m1 = linalg.reduce { arith.addf } ins(%p : !p) outs(%a : !r) dimensions = [1]
      ft.yield %m1 : !r
    } combine (%a, %b) {
      %x = arith.addf %a, %b : !r
      ft.yield %x : !r
    } identity (%zr : !r)
    ft.yield %l : !r
  }
  %os = ft.map (%ps, %l = %pss, %ls : !ft.list<[Q, K], !p>, !ft.list<[Q], !r>) -> !ft.list<[Q], !o> {
    %o = ft.reduce (%w, %v = %ps, %vs : !ft.list<[K], !p>, !ft.list<[K], !v>) init (%a = %zo : !o) -> !o {
      %m1 = linalg.matmul ins(%w, %v : !p, !v) outs(%a : !o) -> !o
      ft.yield %m1 : !o
    } combine (%a, %b) {
      %x = arith.addf %a, %b : !o
      ft.yield %x : !o
    } identity (%zo : !o)
    %e = tensor.empty() : !o
    %lb = linalg.broadcast ins(%l : !r) outs(%e : !o) dimensions = [1]
    %w = arith.divf %o, %lb : !o
    ft.yield %w : !o
  }
  return %os : !ft.list<[Q], !o>
}
