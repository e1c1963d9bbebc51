// Vertical merges in other coordinates: the consumer's dimensions in another order than the
// producer's, backwards, some steps later, or over other ranges.
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-merge,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: %python %S/Inputs/moved.py %ft_bin %t.runs %s 1,1 1,2 2,3 7,5 8,7 127,3 | FileCheck %s --check-prefix=RUNS

// RUNS: transposed: equal at 6 sizes, PTX
// RUNS-NEXT: reversed: equal at 6 sizes, PTX
// RUNS-NEXT: lagged: equal at 6 sizes, PTX
// RUNS-NEXT: ahead: equal at 6 sizes, PTX
// RUNS-NEXT: gates: equal at 6 sizes, PTX
// RUNS-NEXT: interior: equal at 5 sizes, PTX
// RUNS-NEXT: columns: equal at 5 sizes, PTX
// RUNS-NEXT: back: equal at 6 sizes, PTX
// RUNS-NEXT: both: equal at 6 sizes, PTX
// RUNS-NEXT: trimmed: equal at 5 sizes, PTX

!x = tensor<4xi32>
!c = !etdg.buffer<[N, L], !x>
!d = !etdg.buffer<[L, N], !x>

// A transposed reader takes the producer's order; its own result is written transposed.
// CHECK-LABEL: etdg.graph @transposed
// CHECK:         etdg.block @a [map, map] (i, j) in [0, N) x [0, L) {
// CHECK-NEXT:      %[[T:.*]] = etdg.buffer {{.*}}: !etdg.buffer<[], tensor<4xi32>>
// CHECK:           etdg.block @b [] (i, j |)
// CHECK-NEXT:          reads (%x = %[[T]][] : tensor<4xi32>)
// CHECK-NEXT:          writes (%{{.*}}[j, i])
// REMARK: [Passed] merge | Category:coarsen:vertical | Reason="merged block 'b' into 'a', where i of the first is j of the second and j of the first is i of the second", aligned=2, bytes="16 * L * N", bytes left=16
etdg.graph @transposed(%x: !c) -> !d {
  %t = etdg.buffer {name_hint = "t"} : !c
  %y = etdg.buffer : !d
  etdg.block @a [map, map] (i, j) in [0, N) x [0, L) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (i, j) in [0, L) x [0, N) reads (%v = %t[j, i] : !x) writes (%y[i, j]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !d
  etdg.return %y : !d
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// Backwards.
// CHECK-LABEL: etdg.graph @reversed
// CHECK:         etdg.block @a [map] (i) in [0, N) {
// CHECK:           etdg.block @b [] (i |)
// CHECK-NEXT:          reads (%x = %{{.*}}[] : tensor<4xi32>)
// CHECK-NEXT:          writes (%{{.*}}[N - i - 1])
// REMARK: Reason="merged block 'b' into 'a', where i of the first is N - i - 1 of the second", aligned=1, bytes="16 * N", bytes left=16
etdg.graph @reversed(%x: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%v = %t[N - i - 1] : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// The element before: the producer runs one iteration later than it did, where the consumer
// runs. Its last element, which nothing reads, is not computed.
// CHECK-LABEL: etdg.graph @lagged
// CHECK:         etdg.block @a [map] (i) in [0, N) {
// CHECK:           etdg.block @a_0 [] (i |) where i >= 1
// CHECK-NEXT:          reads (%x = %arg0[i - 1] : tensor<4xi32>)
// CHECK:           etdg.block @b [] (i |)
// CHECK-NEXT:          reads (%x = {i >= 1: %{{.*}}[], i = 0: splat 0 : i32} : tensor<4xi32>)
// CHECK-NEXT:          writes (%{{.*}}[i])
// REMARK: Reason="merged block 'b' into 'a', where i + 1 of the first is i of the second, each at iterations of its own", aligned=1, bytes="16 * N", bytes left=16
etdg.graph @lagged(%x: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%v = {i >= 1: %t[i - 1], i = 0: splat 0 : i32} : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// Two ahead.
// CHECK-LABEL: etdg.graph @ahead
// CHECK:         etdg.block @a [map] (i) in [2, N + 2) {
// CHECK:           etdg.block @a_0 [] (i |) where i + 1 <= N
// CHECK:           etdg.block @b [] (i |)
// CHECK-NEXT:          reads (%x = {i + 1 <= N: %{{.*}}[], i >= N: splat 0 : i32} : tensor<4xi32>)
// CHECK-NEXT:          writes (%{{.*}}[i - 2])
// REMARK: Reason="merged block 'b' into 'a', where i of the first is i + 2 of the second, each at iterations of its own"
etdg.graph @ahead(%x: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%v = {i + 3 <= N: %t[i + 2], i + 2 >= N: splat 0 : i32} : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!g = !etdg.buffer<[N, 4], !x>

// Four gates, three of them through one function and the last through another. No block alone
// makes the gates private; together they do.
// CHECK-LABEL: etdg.graph @gates
// CHECK:         etdg.block @gates [map, map] (i, g) in [0, N) x [0, 4) {
// CHECK-NEXT:      etdg.buffer {name_hint = "t"} : !etdg.buffer<[], tensor<4xi32>>
// CHECK:           etdg.block @gates_0 [] (i, g |)
// CHECK:           etdg.block @three [] (i, g |) where g <= 2
// CHECK:           etdg.block @last [] (i, g |) where g = 3
// REMARK: Reason="merged block 'three' into 'gates', each at iterations of its own", aligned=2
// REMARK: Reason="merged block 'last' into 'gates', each at iterations of its own", aligned=2, bytes="64 * N", bytes left=16
etdg.graph @gates(%x: !g) -> !g {
  %t = etdg.buffer {name_hint = "t"} : !g
  %y = etdg.buffer : !g
  etdg.block @gates [map, map] (i, g) in [0, N) x [0, 4) reads (%v = %x[i, g] : !x) writes (%t[i, g]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !g, !g
  etdg.block @three [map, map] (i, g) in [0, N) x [0, 3) reads (%v = %t[i, g] : !x) writes (%y[i, g]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !g, !g
  etdg.block @last [map, map] (i, g) in [0, N) x = 3 reads (%v = %t[i, g] : !x) writes (%y[i, g]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !g, !g
  etdg.return %y : !g
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, L], !x>

// A stencil's interior and its two edges.
// CHECK-LABEL: etdg.graph @interior
// CHECK:         etdg.block @a [map, map] (i, j) in [0, N) x [0, L) {
// CHECK:           etdg.block @a_0 [] (i, j |)
// CHECK:           etdg.block @b [] (i, j |) where j >= 1 and j + 2 <= L
// CHECK:           etdg.block @low [] (i, j |) where j = 0
// CHECK:           etdg.block @high [] (i, j |) where j + 1 = L
etdg.graph @interior(%x: !c) -> !c attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %t = etdg.buffer {name_hint = "t"} : !c
  %y = etdg.buffer : !c
  etdg.block @a [map, map] (i, j) in [0, N) x [0, L) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (i, j) in [0, N) x [1, L - 1) reads (%v = %t[i, j] : !x, %w = %x[i, j + 1] : !x) writes (%y[i, j]) {
    %0 = arith.muli %v, %w : !x
    etdg.yield %0 : !x
  } : !c, !c, !c
  etdg.block @low [map, map] (i, j) in [0, N) x = 0 reads (%v = %t[i, j] : !x) writes (%y[i, j]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @high [map, map] (i, j) in [0, N) x = L - 1 reads (%v = %t[i, j] : !x) writes (%y[i, j]) {
    %0 = arith.subi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.return %y : !c
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!d = !etdg.buffer<[L, N], !x>

// A fold over rows of N: columns first, each with a fold of its own and one plane.
// CHECK-LABEL: etdg.graph @columns
// CHECK:         etdg.block @a [map] (i) in [0, N) {
// CHECK-NEXT:      %[[S:.*]] = etdg.buffer live [1] {name_hint = "s"} : !etdg.buffer<[L], tensor<4xi32>>
// CHECK-NEXT:      etdg.block @a_0 [foldl] (i | k) in [0, L)
// CHECK-NEXT:          reads (%x = %arg0[k, i] : tensor<4xi32>, %s_0 = {k >= 1: %[[S]][k - 1], k <= 0: splat 0 : i32}
// CHECK:           etdg.block @b [] (i |)
// CHECK-NEXT:          reads (%x = %[[S]][L - 1] : tensor<4xi32>)
// REMARK: Reason="merged block 'b' into 'a', where i of the first is i of the second", aligned=1, bytes="16 * N", bytes left=16
etdg.graph @columns(%x: !d) -> !b attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %s = etdg.buffer live [1, -1] {name_hint = "s"} : !d
  %y = etdg.buffer : !b
  etdg.block @a [foldl, map] (k, i) in [0, L) x [0, N) reads (%v = %x[k, i] : !x, %p = {k >= 1: %s[k - 1, i], k <= 0: splat 0 : i32} : !x) writes (%s[k, i]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !d, !d
  etdg.block @b [map] (i) in [0, N) reads (%v = %s[L - 1, i] : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !d, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, L], !x>

// Rows are turned round and back: all three are one block, in the first one's coordinates.
// CHECK-LABEL: etdg.graph @back
// CHECK:         etdg.block @a [map, map] (i, j) in [0, N) x [0, L) {
// CHECK-COUNT-2:   etdg.buffer {{.*}}!etdg.buffer<[], tensor<4xi32>>
// CHECK:           etdg.block @a_0 [] (i, j |)
// CHECK:           etdg.block @rev [] (i, j |)
// CHECK:           etdg.block @b [] (i, j |)
// CHECK:               writes (%{{.*}}[i, j])
// CHECK-NOT:     etdg.block
etdg.graph @back(%x: !c) -> !c {
  %t = etdg.buffer : !c
  %r = etdg.buffer : !c
  %y = etdg.buffer : !c
  etdg.block @a [map, map] (i, j) in [0, N) x [0, L) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @rev [map, map] (i, j) in [0, N) x [0, L) reads (%v = %t[N - i - 1, j] : !x) writes (%r[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (i, j) in [0, N) x [0, L) reads (%v = %t[i, j] : !x, %u = %r[N - i - 1, j] : !x) writes (%y[i, j]) {
    %0 = arith.addi %v, %u : !x
    etdg.yield %0 : !x
  } : !c, !c, !c
  etdg.return %y : !c
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// The element before, which is returned, too: both have iterations of their own. With N = 0
// there are none.
// CHECK-LABEL: etdg.graph @both
// CHECK:         etdg.block @a [map] (i) in [0, N + 1) where N >= 1 {
// CHECK:           etdg.block @a_0 [] (i |) where i >= 1
// CHECK:           etdg.block @b [] (i |) where i + 1 <= N
etdg.graph @both(%x: !b) -> (!b, !b) {
  %t = etdg.buffer {name_hint = "t"} : !b
  %u = etdg.buffer {name_hint = "u"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i], %u[i]) {
    %0 = arith.addi %v, %v : !x
    %1 = arith.muli %v, %v : !x
    etdg.yield %0, %1 : !x, !x
  } : !b, !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%v = {i >= 1: %t[i - 1], i = 0: splat 0 : i32} : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %u, %y : !b, !b
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, L], !x>
!d = !etdg.buffer<[L, N], !x>

// Only the interior is read: no other element is computed.
// REMARK: Reason="merged block 'b' into 'a', where i of the first is j of the second and j of the first is i of the second, at the iterations of the second"
// CHECK-LABEL: etdg.graph @trimmed
// CHECK:         etdg.block @a [map, map] (i, j) in [0, N) x [1, L - 1) {
// CHECK:           etdg.block @a_0 [] (i, j |)
// CHECK-NEXT:          reads
// CHECK:           etdg.block @b [] (i, j |)
// CHECK-NEXT:          reads
// CHECK:         etdg.block @edges [map]
etdg.graph @trimmed(%x: !c, %z: !d) -> !d attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %t = etdg.buffer {name_hint = "t"} : !c
  %y = etdg.buffer : !d
  etdg.block @a [map, map] (i, j) in [0, N) x [0, L) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (i, j) in [1, L - 1) x [0, N) reads (%v = %t[j, i] : !x) writes (%y[i, j]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !d
  etdg.block @edges [map] (j) in [0, N) reads (%v = %z[0, j] : !x, %w = %z[L - 1, j] : !x) writes (%y[0, j], %y[L - 1, j]) {
    etdg.yield %v, %w : !x, !x
  } : !d, !d
  etdg.return %y : !d
}
