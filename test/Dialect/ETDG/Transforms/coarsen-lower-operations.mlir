// One leaf for each statement, and back: FT §5.1, operation node lowering.
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-lower-operations,etdg-verify))" | FileCheck %s --check-prefix=LOWER
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-lower-operations,etdg-form-leaves,etdg-verify))" | FileCheck %s --check-prefix=FORM

!x = tensor<4xi32>
!b = !etdg.buffer<[N], tensor<4xi32>>
!s = !etdg.buffer<[N, K], tensor<4xi32>>

// Two statements, the first one's value is yielded and used: it is read back from where it is written.
// LOWER-LABEL: etdg.graph @two
// LOWER:       etdg.block @b [map] (i) in [0, N) {
// LOWER-NEXT:    etdg.block @b_0 [] (i |)
// LOWER-NEXT:        reads (%x = %arg0[i] : tensor<4xi32>)
// LOWER-NEXT:        writes (%[[Y:.*]][i]) {
// LOWER-NEXT:      %[[C:.*]] = arith.constant dense<3>
// LOWER-NEXT:      arith.muli
// LOWER:         etdg.block @b_1 [] (i |)
// LOWER-NEXT:        reads (%x = %[[Y]][i] : tensor<4xi32>)
// LOWER-NEXT:        writes (%{{.*}}[i]) {
// LOWER-NEXT:      %[[C:.*]] = arith.constant dense<3>
// LOWER-NEXT:      arith.addi
// FORM-LABEL:  etdg.graph @two
// FORM:        etdg.block @b [map] (i) in [0, N)
// FORM-NEXT:       reads (%x = %arg0[i] : tensor<4xi32>)
// FORM-NEXT:       writes (%{{.*}}[i], %{{.*}}[i]) {
// FORM:          %[[A:.*]] = arith.muli
// FORM:          %[[B:.*]] = arith.addi %[[A]]
// FORM-NEXT:     etdg.yield %[[A]], %[[B]]
// FORM-NOT:    etdg.block
// FORM:        etdg.return
etdg.graph @two(%x: !b) -> (!b, !b) {
  %y = etdg.buffer {name_hint = "y"} : !b
  %z = etdg.buffer {name_hint = "z"} : !b
  etdg.block @b [map] (i) in [0, N) reads (%a = %x[i] : !x) writes (%y[i], %z[i]) {
    %c = arith.constant dense<3> : !x
    %0 = arith.muli %a, %c : !x
    %1 = arith.addi %0, %c : !x
    etdg.yield %0, %1 : !x, !x
  } : !b, !b, !b
  etdg.return %y, %z : !b, !b
}

// Planes that take each other's place: the state is written when all has been read.
// LOWER-LABEL: etdg.graph @fold
// LOWER:       etdg.block @o [map] (i) in [0, N) {
// LOWER:         %[[S:.*]] = etdg.buffer live [1]
// LOWER:         etdg.block @f [foldl] (i | k) in [0, K) {
// LOWER:           etdg.block @f_0 [] (i, k |)
// LOWER:             writes (%[[M:.*]][])
// LOWER:           etdg.block @f_1 [] (i, k |)
// LOWER:             reads (%{{.*}} = %[[M]][] : tensor<4xi32>, %{{.*}} = {k >= 1: %[[S]][k - 1], k = 0: splat 0 : i32} : tensor<4xi32>)
// LOWER:             writes (%[[P:.*]][])
// LOWER:           etdg.block @f_2 [] (i, k |)
// LOWER-NEXT:          reads (%x = %[[P]][] : tensor<4xi32>)
// LOWER-NEXT:          writes (%[[S]][k]) {
// LOWER-NEXT:        etdg.yield %x
// FORM-LABEL:  etdg.graph @fold
// FORM:          etdg.block @f [foldl] (i | k) in [0, K)
// FORM-NEXT:         reads (%x = %arg0[i, k] : tensor<4xi32>, %s = {k >= 1:
// FORM-NEXT:         writes (%{{.*}}[k]) {
// FORM-NEXT:       arith.muli
// FORM-NEXT:       arith.addi
// FORM-NEXT:       etdg.yield
etdg.graph @fold(%x: !s) -> !b {
  %y = etdg.buffer : !b
  etdg.block @o [map] (i) in [0, N) {
    %m = etdg.buffer live [1] : !etdg.buffer<[K], !x>
    etdg.block @f [foldl] (i | k) in [0, K)
        reads (%a = %x[i, k] : !x, %t = {k >= 1: %m[k - 1], k = 0: splat 0 : i32} : !x)
        writes (%m[k]) {
      %0 = arith.muli %a, %a : !x
      %1 = arith.addi %0, %t : !x
      etdg.yield %1 : !x
    } : !s, !etdg.buffer<[K], !x>
    etdg.block @last [] (i |) reads (%a = {K >= 1: %m[K - 1], K <= 0: splat 0 : i32} : !x) writes (%y[i]) {
      etdg.yield %a : !x
    } : !etdg.buffer<[K], !x>, !b
  }
  etdg.return %y : !b
}
