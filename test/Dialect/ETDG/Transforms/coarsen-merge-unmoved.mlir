// Pairs that no coordinates bring together, or at too high a cost.
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-merge,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

!x = tensor<4xi32>
!c = !etdg.buffer<[N, N], !x>

// A matrix and its transpose: each element needs two, of which one is in another row.
// REMARK: [Missed] merge | Category:coarsen:vertical | Reason="block @a and block @b stay two (dependence)
// CHECK-LABEL: etdg.graph @symmetric
// CHECK:         etdg.block @a [map, map]
// CHECK:         etdg.block @b [map, map]
etdg.graph @symmetric(%x: !c) -> !c {
  %t = etdg.buffer {name_hint = "t"} : !c
  %y = etdg.buffer : !c
  etdg.block @a [map, map] (i, j) in [0, N) x [0, N) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (i, j) in [0, N) x [0, N) reads (%u = %t[i, j] : !x, %v = %t[j, i] : !x) writes (%y[i, j]) {
    %0 = arith.addi %u, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.return %y : !c
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!d = !etdg.buffer<[L, N], !x>

// Each step needs the column before it: columns can't go first.
// REMARK: Reason="block @a and block @b stay two (width): dimension 'k' of block @a is foldl, 'i' of block @b is map"
// CHECK-LABEL: etdg.graph @skewed
// CHECK:         etdg.block @a [foldl, map] (k, i)
// CHECK:         etdg.block @b [map] (i)
etdg.graph @skewed(%x: !d) -> !b attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %s = etdg.buffer {name_hint = "s"} : !d
  %y = etdg.buffer : !b
  etdg.block @a [foldl, map] (k, i) in [0, L) x [0, N)
      reads (%v = %x[k, i] : !x, %p = {k >= 1 and i >= 1: %s[k - 1, i - 1], k >= 1 and i <= 0: splat 1 : i32, k <= 0: splat 0 : i32} : !x) writes (%s[k, i]) {
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
!d = !etdg.buffer<[L, N], !x>

// A scan over what a map computed transposed: its rows are the map's columns, and the scan
// would end up inside.
// REMARK: Reason="block @a and block @s stay two (width)
// CHECK-LABEL: etdg.graph @scanned
// CHECK:         etdg.block @a [map, map]
// CHECK:         etdg.block @s [map, scanl]
etdg.graph @scanned(%x: !c) -> !d {
  %t = etdg.buffer {name_hint = "t"} : !c
  %h = etdg.buffer : !d
  etdg.block @a [map, map] (i, j) in [0, N) x [0, L) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @s [map, scanl] (i, j) in [0, L) x [0, N)
      reads (%v = %t[j, i] : !x, %p = {j >= 1: %h[i, j - 1], j <= 0: splat 0 : i32} : !x) writes (%h[i, j]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !c, !d
  etdg.return %h : !d
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// Of two elements shifted by one, all of them needed, a third of all iterations would be idle.
// REMARK: Reason="block @a and block @b stay two (cost): of about 3 iterations no block would run in more than 2"
// CHECK-LABEL: etdg.graph @short
// CHECK:         etdg.block @a [map] (i) in [0, N)
// CHECK:         etdg.block @b [map] (i) in [0, N)
etdg.graph @short(%x: !b) -> (!b, !b) attributes {ft.lengths = {N = 2 : i64}} {
  %t = etdg.buffer {name_hint = "t"} : !b
  %u = etdg.buffer {name_hint = "u"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i], %u[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0, %v : !x, !x
  } : !b, !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%v = {i >= 1: %t[i - 1], i = 0: splat 0 : i32} : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %u, %y : !b, !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!m = !etdg.buffer<[M], !x>

// Which of the two is longer is not known: max(M, N) is no domain.
// REMARK: Reason="block @a and block @b stay two (domain): dimension 'i' of block @a has other iterations than 'i' of block @b: i >= 0 and i + 1 <= N; i >= 0 and i + 1 <= M"
// CHECK-LABEL: etdg.graph @lengths
etdg.graph @lengths(%x: !b, %z: !m) -> !m {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !m
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, M) reads (%v = {i + 1 <= N: %t[i], i >= N: %z[i]} : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !m, !m
  etdg.return %y : !m
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, K], !x>

// A reduction that leaves out the first element is a chain of its own length.
// Along the rows the two do merge.
// REMARK: Reason="block @a_0 and block @r stay two (domain): dimension 'k' of block @a_0 has other iterations than 'k' of block @r
// CHECK-LABEL: etdg.graph @reduced
// CHECK:         etdg.block @a_0 [map] (i | k) in [0, K)
// CHECK:         etdg.block @r [reduce] (i | k) in [1, K)
etdg.graph @reduced(%x: !c) -> !c attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %t = etdg.buffer {name_hint = "t"} : !c
  %s = etdg.buffer : !c
  etdg.block @a [map, map] (i, k) in [0, N) x [0, K) reads (%v = %x[i, k] : !x) writes (%t[i, k]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @r [map, reduce] (i, k) in [0, N) x [1, K)
      reads (%v = %t[i, k] : !x, %p = {k >= 2: %s[i, k - 1], k <= 1: splat 0 : i32} : !x) writes (%s[i, k]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @z [map] (i) in [0, N) writes (%s[i, 0]) {
    %0 = arith.constant dense<0> : !x
    etdg.yield %0 : !x
  } : !c
  etdg.return %s : !c
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// The shifted reader alone would go along; but another one needs two elements at once, so
// that the buffer stays. The readers join each other.
// REMARK: Reason="block @a and block @b stay two (dependence): block @w reads
// CHECK-LABEL: etdg.graph @others
// CHECK:         etdg.block @a [map] (i) in [0, N)
// CHECK-NEXT:      reads
// CHECK:         etdg.block @b [map] (i) in [0, N) {
// CHECK:           etdg.block @w [] (i |)
etdg.graph @others(%x: !b) -> (!b, !b) {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  %z = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%v = {i >= 1: %t[i - 1], i = 0: splat 0 : i32} : !x) writes (%y[i]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @w [map] (i) in [0, N) reads (%u = %t[i] : !x, %v = %t[N - i - 1] : !x) writes (%z[i]) {
    %0 = arith.subi %v, %u : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y, %z : !b, !b
}
