// Nests that the search fuses: coarsening joins them, then the search is asked again for what they became; what coarsening leaves
// apart walks its dimensions by itself, each nest in tiles of its own.

// RUN: split-file %s %t
// RUN: ft-opt %t/joined.mlir --ft-compile="to=schedule target=cpu dataflow" -o %t/joined.s.mlir 2> %t/joined.remarks
// RUN: FileCheck %s --check-prefix=JOINED --input-file=%t/joined.remarks
// RUN: FileCheck %s --check-prefix=ONE --input-file=%t/joined.s.mlir
// JOINED: remark: dataflow: fused with t1 of other nests: coarsening joins them before they are scheduled
// JOINED: remark: dataflow: fused with t0 of other nests: coarsening joins them before they are scheduled
// JOINED-NOT: fused with
// JOINED: remark: dataflow: walks i in tiles of 25
// JOINED-NOT: walks
// One nest, of whose four tasks each of two cores has two: 49 rows would fit, and leave one of three tasks to one core alone.
// ONE-COUNT-1: etdg.block @
// ONE: most = 25, kind = parallel, level = rows
// RUN: ft-opt %t/joined.mlir --ft-compile="to=schedule target=cpu dataflow=false" | FileCheck %s --check-prefix=ALONE
// ALONE-NOT: most = 25
// RUN: ft-run %t/joined.s.mlir --engine=cpu --compare=interpret --dim N=7 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-opt %t/joined.mlir --ft-compile="to=schedule target=sm_90a dataflow" 2>/dev/null | ft-run - --engine=emulate --target=sm_90a --compare=interpret --dim N=7 \
// RUN:   | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal

// RUN: ft-opt %t/apart.mlir --ft-compile="to=schedule target=cpu dataflow" -o %t/apart.s.mlir 2> %t/apart.remarks
// RUN: FileCheck %s --check-prefix=APART --input-file=%t/apart.remarks
// APART: remark: dataflow: fused with {{.*}} of other nests: coarsening joins them before they are scheduled
// APART: remark: dataflow: fused with {{.*}} of other nests: coarsening left them apart, each walks its dimensions by itself
// APART: remark: dataflow: walks
// RUN: ft-run %t/apart.s.mlir --engine=cpu --compare=interpret --dim N=7 | FileCheck %s --check-prefix=EQUAL

//--- joined.mlir
!x = tensor<16x64xf32>
!w = tensor<64x64xf32>
func.func @joined(%xs: !ft.list<[N], !x>, %w1: !w, %w2: !w) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 100 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = linalg.matmul ins(%x, %w1 : !x, !w) outs(%z : !x) -> !x
    ft.yield %y : !x
  }
  %os = ft.map (%y = %ys : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %o = linalg.matmul ins(%y, %w2 : !x, !w) outs(%z : !x) -> !x
    ft.yield %o : !x
  }
  return %os : !ft.list<[N], !x>
}

//--- apart.mlir
// Each result needs all rows of what the first nest makes.
!x = tensor<16x64xf32>
!w = tensor<64x64xf32>
!g = tensor<16x16xf32>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @apart(%xs: !ft.list<[N], !x>, %vs: !ft.list<[M], !x>, %w: !w) -> !ft.list<[M], !g> attributes {ft.lengths = {N = 100 : i64, M = 30 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %zg = arith.constant dense<0.0> : !g
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = linalg.matmul ins(%x, %w : !x, !w) outs(%z : !x) -> !x
    ft.yield %y : !x
  }
  %os = ft.map (%v = %vs : !ft.list<[M], !x>) -> !ft.list<[M], !g> {
    %o = ft.reduce (%y = %ys : !ft.list<[N], !x>) init (%a = %zg : !g) -> !g {
      %s = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%v, %y : !x, !x) outs(%a : !g) -> !g
      ft.yield %s : !g
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !g
      ft.yield %c : !g
    } identity (%zg : !g)
    ft.yield %o : !g
  }
  return %os : !ft.list<[M], !g>
}
