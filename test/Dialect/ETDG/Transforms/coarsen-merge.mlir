// Width-wise coarsening, FT §5.1: what merges.
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-merge,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

!x = tensor<8x8xi32>
!a = !etdg.buffer<[M], !x>
!b = !etdg.buffer<[N], !x>
!c = !etdg.buffer<[N, P], !x>
!mn = !etdg.buffer<[M, N], !x>
!mp = !etdg.buffer<[M, P], !x>
!mpn = !etdg.buffer<[M, P, N], !x>

// Back-to-back GEMM: P = A B, then P C, over the same rows. One block; P is private to a row.
// CHECK-LABEL: etdg.graph @b2b
// CHECK:         etdg.block @ab [map] (i) in [0, M) {
// CHECK-NEXT:      %[[P:.*]] = etdg.buffer {name_hint = "p"} : !etdg.buffer<[N], tensor<8x8xi32>>
// CHECK-NEXT:      etdg.block @ab_0 [map] (i | j) in [0, N)
// CHECK-NEXT:          reads (%x = %arg0[i] : tensor<8x8xi32>, %x_0 = %arg1[j] : tensor<8x8xi32>)
// CHECK-NEXT:          writes (%[[P]][j]) {
// CHECK:           etdg.block @pc [map, foldl] (i | k, n) in [0, P) x [0, N)
// CHECK-NEXT:          reads (%x = %[[P]][n] : tensor<8x8xi32>, %x_0 = %arg2[n, k] : tensor<8x8xi32>,
// REMARK: [Passed] merge | Category:coarsen:vertical | Reason="merged block 'pc' into 'ab'", aligned=1, bytes="256 * M * N", bytes left="256 * N"
// REMARK: [Missed] merge | Category:coarsen:vertical | Reason="block @ab_0 and block @pc stay two (domain): dimension 'j' of block @ab_0 has other iterations than 'k' of block @pc: j >= 0 and j + 1 <= N; k >= 0 and k + 1 <= P"
etdg.graph @b2b(%a: !a, %b: !b, %c: !c) -> !mpn {
  %p = etdg.buffer {name_hint = "p"} : !mn
  %q = etdg.buffer {name_hint = "q"} : !mpn
  etdg.block @ab [map, map] (i, j) in [0, M) x [0, N) reads (%x = %a[i] : !x, %y = %b[j] : !x) writes (%p[i, j]) {
    %z = arith.constant dense<0> : !x
    %0 = linalg.matmul ins(%x, %y : !x, !x) outs(%z : !x) -> !x
    etdg.yield %0 : !x
  } : !a, !b, !mn
  etdg.block @pc [map, map, foldl] (r, k, n) in [0, M) x [0, P) x [0, N)
      reads (%x = %p[r, n] : !x, %y = %c[n, k] : !x, %s = {n >= 1: %q[r, k, n - 1], n <= 0: splat 0 : i32} : !x)
      writes (%q[r, k, n]) {
    %0 = linalg.matmul ins(%x, %y : !x, !x) outs(%s : !x) -> !x
    etdg.yield %0 : !x
  } : !mn, !c, !mpn
  etdg.return %q : !mpn
}

// -----

!x = tensor<1x4xi32>
!w = tensor<4x4xi32>
!b = !etdg.buffer<[N, L], !x>
!v = !etdg.buffer<[], !w>

// The gates of an LSTM, written one by one, over all steps: one block, all steps still parallel.
// The cell that needs two of them joins in; each gate then lives in one iteration.
// CHECK-LABEL: etdg.graph @gates
// CHECK:         etdg.block @gi [map, map] (i, j) in [0, N) x [0, L) {
// CHECK-COUNT-3:   etdg.buffer {{.*}}!etdg.buffer<[], tensor<1x4xi32>>
// CHECK:           etdg.block @gi_0 [] (i, j |)
// CHECK:           etdg.block @gf [] (i, j |)
// CHECK:           etdg.block @go [] (i, j |)
// CHECK:           etdg.block @cell [] (i, j |)
// CHECK-NOT:     etdg.block
// REMARK: [Passed] merge | Category:coarsen:horizontal | Reason="merged block 'gf' into 'gi'", aligned=2
// REMARK: [Passed] merge | Category:coarsen:horizontal | Reason="merged block 'go' into 'gi'", aligned=2
// REMARK: [Passed] merge | Category:coarsen:vertical | Reason="merged block 'cell' into 'gi'", aligned=2, bytes="48 * L * N", bytes left=48
etdg.graph @gates(%x: !b, %wi: !v, %wf: !v, %wo: !v) -> !b {
  %i = etdg.buffer {name_hint = "i"} : !b
  %f = etdg.buffer {name_hint = "f"} : !b
  %o = etdg.buffer {name_hint = "o"} : !b
  %h = etdg.buffer {name_hint = "h"} : !b
  etdg.block @gi [map, map] (i, j) in [0, N) x [0, L) reads (%a = %x[i, j] : !x, %w = %wi[] : !w) writes (%i[i, j]) {
    %0 = linalg.matmul ins(%a, %w : !x, !w) outs(%a : !x) -> !x
    etdg.yield %0 : !x
  } : !b, !v, !b
  etdg.block @gf [map, map] (a, b) in [0, N) x [0, L) reads (%a = %x[a, b] : !x, %w = %wf[] : !w) writes (%f[a, b]) {
    %0 = linalg.matmul ins(%a, %w : !x, !w) outs(%a : !x) -> !x
    etdg.yield %0 : !x
  } : !b, !v, !b
  etdg.block @go [map, map] (i, j) in [0, N) x [0, L) reads (%a = %x[i, j] : !x, %w = %wo[] : !w) writes (%o[i, j]) {
    %0 = linalg.matmul ins(%a, %w : !x, !w) outs(%a : !x) -> !x
    etdg.yield %0 : !x
  } : !b, !v, !b
  etdg.block @cell [map, map] (i, j) in [0, N) x [0, L)
      reads (%a = %i[i, j] : !x, %b = %f[i, j] : !x, %c = %o[i, j] : !x) writes (%h[i, j]) {
    %0 = arith.muli %a, %b : !x
    %1 = arith.addi %0, %c : !x
    etdg.yield %1 : !x
  } : !b, !b, !b, !b
  etdg.return %h : !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!c = !etdg.buffer<[N, K], !x>
!d = !etdg.buffer<[N, K, K], !x>

// The sum over k and the division by it: rows together, k not. The planes keep
// their one place, private to a row.
// CHECK-LABEL: etdg.graph @softmax
// CHECK:         etdg.block @sum [map] (i) in [0, N) {
// CHECK-NEXT:      %[[S:.*]] = etdg.buffer live [1] {name_hint = "s"} : !etdg.buffer<[K], tensor<4xi32>>
// CHECK-NEXT:      etdg.block @sum_0 [reduce] (i | k) in [0, K)
// CHECK:           etdg.block @div [map] (i | k) in [0, K)
// CHECK-NEXT:          reads (%x = %arg0[i, k] : tensor<4xi32>, %x_0 = %[[S]][K - 1] : tensor<4xi32>)
// REMARK: [Missed] merge | Category:coarsen:vertical | Reason="block @sum_0 and block @div stay two (width): dimension 'k' of block @sum_0 is reduce, 'k' of block @div is map", rule=width
etdg.graph @softmax(%x: !c) -> !c attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %s = etdg.buffer live [-1, 1] {name_hint = "s"} : !c
  %y = etdg.buffer : !c
  etdg.block @sum [map, reduce] (i, k) in [0, N) x [0, K)
      reads (%a = %x[i, k] : !x, %p = {k >= 1: %s[i, k - 1], k <= 0: splat 0 : i32} : !x) writes (%s[i, k]) {
    %0 = arith.addi %a, %p : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @div [map, map] (i, k) in [0, N) x [0, K) reads (%a = %x[i, k] : !x, %t = %s[i, K - 1] : !x) writes (%y[i, k]) {
    %0 = arith.divsi %a, %t : !x
    etdg.yield %0 : !x
  } : !c, !c, !c
  etdg.return %y : !c
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, K], !x>
!b = !etdg.buffer<[N], !x>

// A map and the reduction that is its only reader: the element is handed over in its
// iteration; the reduction may be cut, and the rows are still parallel.
// CHECK-LABEL: etdg.graph @handed
// CHECK:         etdg.block @f [map, reduce] (i, j) in [0, N) x [0, K) {
// CHECK-NEXT:      %[[T:.*]] = etdg.buffer {name_hint = "t"} : !etdg.buffer<[], tensor<4xi32>>
// REMARK: [Passed] merge | Category:coarsen:vertical | Reason="merged block 'g' into 'f'", aligned=2, bytes="16 * K * N", bytes left=16
etdg.graph @handed(%x: !c) -> !c {
  %t = etdg.buffer {name_hint = "t"} : !c
  %s = etdg.buffer : !c
  etdg.block @f [map, map] (i, j) in [0, N) x [0, K) reads (%a = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.muli %a, %a : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @g [map, reduce] (i, k) in [0, N) x [0, K)
      reads (%a = %t[i, k] : !x, %p = {k >= 1: %s[i, k - 1], k <= 0: splat 0 : i32} : !x) writes (%s[i, k]) {
    %0 = arith.addi %a, %p : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.return %s : !c
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!s = !etdg.buffer<[N, K], !x>

// Independent reductions of one domain: their regions combine both states.
// CHECK-LABEL: etdg.graph @both
// CHECK:         etdg.block @sum [map, reduce] (i, k) in [0, N) x [0, K) {
// CHECK:           etdg.block @sum_0 [] (i, k |)
// CHECK:           etdg.block @max [] (i, k |)
// CHECK:         } combine (%[[A:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi32>, %[[C:.*]]: tensor<4xi32>, %[[D:.*]]: tensor<4xi32>) {
// CHECK-NEXT:      %[[E:.*]] = arith.addi %[[A]], %[[C]]
// CHECK-NEXT:      %[[F:.*]] = arith.maxsi %[[B]], %[[D]]
// CHECK-NEXT:      etdg.yield %[[E]], %[[F]]
// CHECK-NEXT:    } identity (splat 0 : i32, splat -9 : i32)
etdg.graph @both(%x: !s) -> (!s, !s) {
  %s = etdg.buffer : !s
  %m = etdg.buffer : !s
  etdg.block @sum [map, reduce] (i, k) in [0, N) x [0, K)
      reads (%a = %x[i, k] : !x, %p = {k >= 1: %s[i, k - 1], k <= 0: splat 0 : i32} : !x) writes (%s[i, k]) {
    %0 = arith.addi %a, %p : !x
    etdg.yield %0 : !x
  } combine (%p: !x, %q: !x) {
    %0 = arith.addi %p, %q : !x
    etdg.yield %0 : !x
  } identity (splat 0 : i32) : !s, !s
  etdg.block @max [map, reduce] (i, k) in [0, N) x [0, K)
      reads (%a = %x[i, k] : !x, %p = {k >= 1: %m[i, k - 1], k <= 0: splat -9 : i32} : !x) writes (%m[i, k]) {
    %0 = arith.maxsi %a, %p : !x
    etdg.yield %0 : !x
  } combine (%p: !x, %q: !x) {
    %0 = arith.maxsi %p, %q : !x
    etdg.yield %0 : !x
  } identity (splat -9 : i32) : !s, !s
  etdg.return %s, %m : !s, !s
}
