// What repeats and stays, and which rule says so.
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-hoist-invariants,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-hoist-invariants{narrow=true},etdg-verify))" | FileCheck %s --check-prefix=NARROW
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-hoist-invariants{machine=%S/Inputs/slow-launch.json},etdg-verify))" | FileCheck %s --check-prefix=MACHINE

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// It repeats where i + j is the same: no dimension says so.
// REMARK: [Missed] hoist | Category:coarsen | Reason="linalg.matmul stays in block @b (skew): it repeats along {{\[\[}}1, -1]], which is no dimension", rule=skew
// CHECK-LABEL: etdg.graph @skew
// CHECK-NEXT:    %{{.*}} = etdg.buffer
// CHECK-NEXT:    etdg.block @b
etdg.graph @skew(%x: !etdg.buffer<[80], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[40, 40], !x> {
  %y = etdg.buffer : !etdg.buffer<[40, 40], !x>
  etdg.block @b [map, map] (i, j) in [0, 40) x [0, 40) reads (%v = %x[i + j] : !x, %m = %w[] : !w) writes (%y[i, j]) {
    %z = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[80], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[40, 40], !x>
  etdg.return %y : !etdg.buffer<[40, 40], !x>
}

// -----

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// The first element of the row below: the same nest makes it.
// REMARK: Reason="linalg.matmul stays in block @b (dependence): what it needs is made by iterations of the same blocks", rule=dependence
// CHECK-LABEL: etdg.graph @state
// CHECK-NEXT:    %{{.*}} = etdg.buffer
// CHECK-NEXT:    etdg.nest
etdg.graph @state(%d: !etdg.buffer<[D], tensor<1xi64>>, %x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[D, N], !x> {
  %y = etdg.buffer : !etdg.buffer<[D, N], !x>
  etdg.nest {
    etdg.block @a [scanl, map] (i, j) in = 0 x [0, N) where D >= 1 reads (%v = %x[j] : !x) writes (%y[i, j]) {
      etdg.yield %v : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[D, N], !x>
    etdg.block @b [scanl, map] (i, j) in [1, D) x [0, N) reads (%v = %y[i - 1, 0] : !x, %m = %w[] : !w) writes (%y[i, j]) {
      %z = arith.constant dense<0.0> : !x
      %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[D, N], !x>, !etdg.buffer<[], !w>
  }
  etdg.return %y : !etdg.buffer<[D, N], !x>
}

// -----

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// The same nest writes the buffer, but other elements: that is no dependence.
// CHECK-LABEL: etdg.graph @beside
// CHECK:         etdg.block @a
// CHECK:         etdg.block @b_once [map] (i) in [0, N)
// CHECK-NEXT:      reads (%{{.*}} = %{{.*}}[0, i]
// CHECK:         etdg.block @b [map, map]
etdg.graph @beside(%x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[31, N], !x> {
  %y = etdg.buffer : !etdg.buffer<[31, N], !x>
  etdg.block @a [map] (j) in [0, N) reads (%v = %x[j] : !x) writes (%y[0, j]) {
    etdg.yield %v : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[31, N], !x>
  etdg.block @b [map, map] (i, j) in [0, N) x [1, 31) reads (%v = %y[0, i] : !x, %m = %w[] : !w) writes (%y[j, i]) {
    %z = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[31, N], !x>, !etdg.buffer<[], !w>
  etdg.return %y : !etdg.buffer<[31, N], !x>
}

// -----

!x = tensor<16x64xbf16>
!s = tensor<16xbf16>

// In bf16 the sum would be rounded before it is added.
// REMARK: Reason="linalg.reduce stays in block @b (narrow): a sum taken apart would be rounded twice (narrow allows it)", rule=narrow
// CHECK-LABEL: etdg.graph @narrow
// CHECK-NEXT:    %{{.*}} = etdg.buffer
// CHECK-NEXT:    etdg.block @b
// NARROW-LABEL: etdg.graph @narrow
// NARROW:         etdg.block @b_once [map] (i) in [0, N) where M >= 1
// NARROW:         arith.addf %{{.*}} : tensor<16xbf16>
etdg.graph @narrow(%x: !etdg.buffer<[N], !x>, %s: !etdg.buffer<[M], !s>) -> !etdg.buffer<[N, M], !s> attributes {ft.lengths = {N = 400 : i64, M = 400 : i64}} {
  %y = etdg.buffer : !etdg.buffer<[N, M], !s>
  etdg.block @b [map, map] (i, j) in [0, N) x [0, M) reads (%v = %x[i] : !x, %a = %s[j] : !s) writes (%y[i, j]) {
    %0 = linalg.reduce { arith.addf } ins(%v : !x) outs(%a : !s) dimensions = [1]
    etdg.yield %0 : !s
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[M], !s>, !etdg.buffer<[N, M], !s>
  etdg.return %y : !etdg.buffer<[N, M], !s>
}

// -----

!x = tensor<16x64xbf16>
!w = tensor<64x64xbf16>

// As a whole it is rounded once, before and after.
// CHECK-LABEL: etdg.graph @whole
// CHECK:         etdg.block @b_once
etdg.graph @whole(%x: !etdg.buffer<[N], !x>, %s: !etdg.buffer<[M], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, M], !x> {
  %y = etdg.buffer : !etdg.buffer<[N, M], !x>
  etdg.block @b [map, map] (i, j) in [0, N) x [0, M) reads (%v = %x[i] : !x, %a = %s[j] : !x, %m = %w[] : !w) writes (%y[i, j]) {
    %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%v : !x) -> !x
    %1 = arith.addf %0, %a : !x
    etdg.yield %1 : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[M], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, M], !x>
  etdg.return %y : !etdg.buffer<[N, M], !x>
}

// -----

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

// Too little at typical lengths; and on a machine whose launches cost a second, everything is.
// REMARK: Reason="linalg.matmul stays in block @b (cost): it would take {{.*}} s in place of {{.*}} s at typical lengths", rule=cost
// CHECK-LABEL: etdg.graph @little
// CHECK-NEXT:    %{{.*}} = etdg.buffer
// CHECK-NEXT:    etdg.block @b
etdg.graph @little(%length: !etdg.buffer<[M], tensor<1xi64>>, %x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, M], !x> attributes {ft.lengths = {N = 2 : i64, M = 2 : i64}} {
  %y = etdg.buffer : !etdg.buffer<[N, M], !x>
  etdg.block @b [map, map] (i, j) in [0, N) x [0, M) reads (%v = %x[i] : !x, %m = %w[] : !w) writes (%y[i, j]) {
    %z = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, M], !x>
  etdg.return %y : !etdg.buffer<[N, M], !x>
}

// -----

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// Eight cheap operations are less than a list; a product with a constant, and constants alone, are for folding.
// CHECK-LABEL: etdg.graph @cheap
// CHECK-NEXT:    %{{.*}} = etdg.buffer
// CHECK-NEXT:    etdg.block @b
etdg.graph @cheap(%length: !etdg.buffer<[M], tensor<1xi64>>, %x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, M], !x> attributes {ft.lengths = {N = 100 : i64, M = 100 : i64}} {
  %y = etdg.buffer : !etdg.buffer<[N, M], !x>
  etdg.block @b [map, map] (i, j) in [0, N) x [0, M) reads (%v = %x[i] : !x, %k = splat 0.0 : f32 : !x, %m = %w[] : !w) writes (%y[i, j]) {
    %c = arith.constant dense<2.0> : !x
    %0 = arith.mulf %v, %c : !x
    %1 = linalg.matmul ins(%k, %m : !x, !w) outs(%0 : !x) -> !x
    %2 = math.exp %c : !x
    %3 = arith.addf %1, %2 : !x
    etdg.yield %3 : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, M], !x>
  etdg.return %y : !etdg.buffer<[N, M], !x>
}

// -----

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// MACHINE-LABEL: etdg.graph @slow
// MACHINE-NEXT:    %{{.*}} = etdg.buffer
// MACHINE-NEXT:    etdg.block @b
// CHECK-LABEL: etdg.graph @slow
// CHECK:         etdg.block @b_once
etdg.graph @slow(%length: !etdg.buffer<[M], tensor<1xi64>>, %x: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, M], !x> attributes {ft.lengths = {N = 100 : i64, M = 100 : i64}} {
  %y = etdg.buffer : !etdg.buffer<[N, M], !x>
  etdg.block @b [map, map] (i, j) in [0, N) x [0, M) reads (%v = %x[i] : !x, %m = %w[] : !w) writes (%y[i, j]) {
    %z = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%v, %m : !x, !w) outs(%z : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, M], !x>
  etdg.return %y : !etdg.buffer<[N, M], !x>
}
