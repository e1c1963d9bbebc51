// Domains of what is computed once: projections and unions, and what they refuse.
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-hoist-invariants,etdg-verify,etdg-validate))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// A triangle: what depends on j is needed for all of [0, N).
// REMARK: [Passed] hoist
// CHECK-LABEL: etdg.graph @triangle
// CHECK:         etdg.block @b_once [map] (j) in [0, N)
// CHECK-NEXT:      reads (%{{.*}} = %arg0[j] :
// CHECK-NEXT:      writes (%[[H:.*]][j])
// CHECK:         etdg.block @b [map, map] (i, j) in [0, N) x [0, i + 1)
// CHECK-NEXT:      reads (%{{.*}} = %arg0[i] : tensor<16x64xf32>, %{{.*}} = %[[H]][j] : tensor<16x64xf32>)
etdg.graph @triangle(%x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N], !x> {
  %t = etdg.buffer : !etdg.buffer<[N, N], !x>
  %y = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @b [map, map] (i, j) in [0, N) x [0, i + 1) reads (%v = %x[j] : !x, %m = %w[] : !w, %u = %x[i] : !x) writes (%t[i, j]) {
    %z = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
    %1 = arith.addf %0, %u : !x
    etdg.yield %1 : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, N], !x>
  etdg.block @c [map] (i) in [0, N) reads (%v = %t[i, i] : !x) writes (%y[i]) {
    %0 = arith.addf %v, %v : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, N], !x>, !etdg.buffer<[N], !x>
  etdg.return %y : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// Two regions need it at points with a gap between them: two blocks write one buffer.
// REMARK: [Passed] hoist | Category:coarsen | Reason="linalg.matmul is computed once, not along 'i'", blocks=2
// CHECK-LABEL: etdg.graph @gap
// CHECK:         %[[H:.*]] = etdg.buffer : !etdg.buffer<[N], tensor<16x64xf32>>
// CHECK:         etdg.block @a_once [map] (j) in [0, 5)
// CHECK:           writes (%[[H]][j])
// CHECK:         etdg.block @a_once [map] (j) in [7, N)
// CHECK:           writes (%[[H]][j])
// CHECK:         etdg.nest
etdg.graph @gap(%x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[40, N], !x> attributes {ft.bounds = #ft.bounds<"N >= 8">} {
  %t = etdg.buffer : !etdg.buffer<[40, N], !x>
  etdg.nest {
    etdg.block @a [map, map] (i, j) in [0, 40) x [0, 5) reads (%v = %x[j] : !x, %m = %w[] : !w) writes (%t[i, j]) {
      %z = arith.constant dense<0.0> : !x
      %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[40, N], !x>
    etdg.block @b [map, map] (i, j) in [0, 40) x [5, 7) reads (%v = %x[j] : !x) writes (%t[i, j]) {
      etdg.yield %v : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[40, N], !x>
    etdg.block @c [map, map] (i, j) in [0, 40) x [7, N) reads (%v = %x[j] : !x, %m = %w[] : !w) writes (%t[i, j]) {
      %z = arith.constant dense<0.0> : !x
      %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[40, N], !x>
  }
  etdg.return %t : !etdg.buffer<[40, N], !x>
}

// -----

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// Every third j has no i: inequalities without i would have it, too.
// REMARK: [Missed] hoist | Category:coarsen | Reason="linalg.matmul stays in block @a (domain): the iterations of block @a without 'i' are no set that inequalities give exactly", rule=domain
// CHECK-LABEL: etdg.graph @holes
// CHECK-NOT:     _once
// CHECK:         etdg.block @a [map, map]
etdg.graph @holes(%x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, N], !x> {
  %t = etdg.buffer : !etdg.buffer<[N, N], !x>
  %u = etdg.buffer : !etdg.buffer<[N, N], !x>
  etdg.block @a [map, map] (i, j) in [0, N) x [0, N) where 3 * i - 2 * j >= 0 and 2 * j + 1 - 3 * i >= 0 reads (%v = %x[j] : !x, %m = %w[] : !w) writes (%t[i, j]) {
    %z = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, N], !x>
  etdg.block @b [map, map] (i, j) in [0, N) x [0, N) reads (%v = %x[j] : !x) writes (%u[i, j]) {
    etdg.yield %v : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N, N], !x>
  etdg.return %u : !etdg.buffer<[N, N], !x>
}
