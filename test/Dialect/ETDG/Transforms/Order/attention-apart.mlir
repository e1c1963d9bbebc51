// softmax(q kᵀ) v whose steps are separate maps over the queries: merging brings the
// steps together, the online form makes them one reduction without a score buffer
// (flash attention), its division a child outside the reduced dimension.
//
// RUN: ft-opt %s --ft-compile="to=coarsen" --remarks-filter=online -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: ft-run %s --engine=cpu --compare=truth --dim Q=3 --dim K=17
// RUN: ft-run %s --engine=cpu --compare=truth --dim Q=1 --dim K=1
// RUN: ft-run %s --engine=interpret --order=declared --to=tile --compare=truth --dim Q=2 --dim K=7
//
// REMARK: [Passed] merged | Category:online:etdg-online | Reason="5 blocks over 'j' became one with 3 states"
// CHECK-LABEL: etdg.graph @apart
// CHECK-NOT: tensor<3x4xf32>>
// CHECK: etdg.block {{.*}} [map] (i) in [0, Q)
// CHECK: etdg.block {{.*}} [reduce] (i | j) in [0, K)
// CHECK: } combine
// CHECK: etdg.block {{.*}} [] (i |)
// CHECK: arith.divf
// CHECK-NOT: etdg.block

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#none = affine_map<(r, c) -> ()>
#both = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

!q = tensor<3x8xf32>
!k = tensor<4x8xf32>
!v = tensor<4x5xf32>
!p = tensor<3x4xf32>
!r = tensor<3xf32>
!o = tensor<3x5xf32>
!i = tensor<i64>
!see = tensor<3x4xi1>


func.func @apart(%qs: !ft.list<[Q], !q> {ft.gen = #ft.normal<1.0>}, %ks: !ft.list<[K], !k> {ft.gen = #ft.normal<1.0>},
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
  %ps = ft.map (%ss = %sss : !ft.list<[Q, K], !p>) -> !ft.list<[Q, K], !p> {
    %m = ft.reduce (%s = %ss : !ft.list<[K], !p>) init (%a = %low : !r) -> !r {
      %n = linalg.reduce { arith.maximumf } ins(%s : !p) outs(%a : !r) dimensions = [1]
      ft.yield %n : !r
    } combine (%x, %y) {
      %n = arith.maximumf %x, %y : !r
      ft.yield %n : !r
    } identity (%low : !r)
    %es = ft.map (%s = %ss : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
      %e0 = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m : !r) outs(%e0 : !p) dimensions = [1]
      %d = arith.subf %s, %mb : !p
      %e = math.exp %d : !p
      ft.yield %e : !p
    }
    %sum = ft.reduce (%e = %es : !ft.list<[K], !p>) init (%a = %zr : !r) -> !r {
      %n = linalg.reduce { arith.addf } ins(%e : !p) outs(%a : !r) dimensions = [1]
      ft.yield %n : !r
    } combine (%x, %y) {
      %n = arith.addf %x, %y : !r
      ft.yield %n : !r
    } identity (%zr : !r)
    %ws = ft.map (%e = %es : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
      %e0 = tensor.empty() : !p
      %mb = linalg.broadcast ins(%sum : !r) outs(%e0 : !p) dimensions = [1]
      %d = arith.divf %e, %mb : !p
      ft.yield %d : !p
    }
    ft.yield %ws : !ft.list<[K], !p>
  }
  %os = ft.map (%ws = %ps : !ft.list<[Q, K], !p>) -> !ft.list<[Q], !o> {
    %o = ft.reduce (%w, %v = %ws, %vs : !ft.list<[K], !p>, !ft.list<[K], !v>) init (%a = %zo : !o) -> !o {
      %n = linalg.matmul ins(%w, %v : !p, !v) outs(%a : !o) -> !o
      ft.yield %n : !o
    } combine (%x, %y) {
      %n = arith.addf %x, %y : !o
      ft.yield %n : !o
    } identity (%zo : !o)
    ft.yield %o : !o
  }
  return %os : !ft.list<[Q], !o>
}
