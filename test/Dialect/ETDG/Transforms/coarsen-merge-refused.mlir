// Width-wise coarsening, FT §5.1: what stays two, and which rule says so.
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-merge,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// The element at i needs what the map writes at i and at N - i - 1: no order of one has both.
// REMARK: [Missed] merge | Category:coarsen:vertical | Reason="block @a and block @b stay two (dependence): block @b reads of buffer 't' what block @a writes in a later iteration of 'i', for example at N = 2, i' = 1, i = 0", rule=dependence
// CHECK-LABEL: etdg.graph @reversed
// CHECK:         etdg.block @a
// CHECK:         etdg.block @b
etdg.graph @reversed(%x: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%u = %t[i] : !x, %v = %t[N - i - 1] : !x) writes (%y[i]) {
    %0 = arith.addi %u, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// A window of two: the next element lies ahead.
// REMARK: Reason="block @a and block @b stay two (dependence): block @b reads of buffer 't' what block @a writes in a later iteration of 'i', for example at N = 2, i' = 1, i = 0"
// CHECK-LABEL: etdg.graph @window
etdg.graph @window(%x: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N)
      reads (%u = %t[i] : !x, %v = {i + 2 <= N: %t[i + 1], i + 1 = N: splat 0 : i32} : !x) writes (%y[i]) {
    %0 = arith.addi %u, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// The element before, too: in order it would do, but a map has no order.
// REMARK: Reason="block @a and block @b stay two (dependence): block @b reads of buffer 't' what block @a writes in another iteration of the map dimension 'i', for example at N = 2, i' = 0, i = 1"
// CHECK-LABEL: etdg.graph @lagged
etdg.graph @lagged(%x: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%v = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%u = %t[i] : !x, %v = {i >= 1: %t[i - 1], i = 0: splat 0 : i32} : !x) writes (%y[i]) {
    %0 = arith.addi %u, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<1x4xi32>
!w = tensor<4x4xi32>
!b = !etdg.buffer<[N, L], !x>
!v = !etdg.buffer<[], !w>

// The input products of an LSTM over all steps stay parallel: they join neither the scan,
// nor its rows.
// REMARK: Reason="block @products and block @first stay two (width): dimension 'j' of block @products is map, 'k' of block @first is scanl"
// CHECK-LABEL: etdg.graph @lstm
// CHECK:         etdg.block @products [map, map] (i, j) in [0, N) x [0, L)
// CHECK:         etdg.nest
etdg.graph @lstm(%x: !b, %w: !v, %u: !v) -> !b {
  %p = etdg.buffer {name_hint = "p"} : !b
  %h = etdg.buffer {name_hint = "h"} : !b
  etdg.block @products [map, map] (i, j) in [0, N) x [0, L) reads (%a = %x[i, j] : !x, %m = %w[] : !w) writes (%p[i, j]) {
    %z = arith.constant dense<0> : !x
    %0 = linalg.matmul ins(%a, %m : !x, !w) outs(%z : !x) -> !x
    etdg.yield %0 : !x
  } : !b, !v, !b
  etdg.nest {
    etdg.block @first [map, scanl] (i, k) in [0, N) x = 0 where L >= 1 reads (%a = %p[i, k] : !x) writes (%h[i, k]) {
      etdg.yield %a : !x
    } : !b, !b
    etdg.block @rest [map, scanl] (i, k) in [0, N) x [1, L)
        reads (%a = %p[i, k] : !x, %s = %h[i, k - 1] : !x, %m = %u[] : !w) writes (%h[i, k]) {
      %0 = linalg.matmul ins(%s, %m : !x, !w) outs(%a : !x) -> !x
      etdg.yield %0 : !x
    } : !b, !b, !v
  }
  etdg.return %h : !b
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!c = !etdg.buffer<[N, L], !x>

// A map and a scan in one block: the map would run in order ...
// REMARK: Reason="block @a and block @s stay two (width): dimension 'j' of block @a is map, 'j' of block @s is scanl"
// ... and a scan and its map.
// REMARK: Reason="block @s and block @m stay two (width): dimension 'j' of block @s is scanl, 'j' of block @m is map"
// CHECK-LABEL: etdg.graph @scan
// CHECK:         etdg.block @a [map]
// CHECK:         etdg.block @s [scanl]
// CHECK:         etdg.block @m [map]
etdg.graph @scan(%x: !b) -> !b {
  %t = etdg.buffer : !b
  %h = etdg.buffer : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (j) in [0, N) reads (%v = %x[j] : !x) writes (%t[j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @s [scanl] (j) in [0, N) reads (%v = %t[j] : !x, %p = {j >= 1: %h[j - 1], j <= 0: splat 0 : i32} : !x) writes (%h[j]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @m [map] (j) in [0, N) reads (%v = %h[j] : !x) writes (%y[j]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, L], !x>

// Two layers: as two scans they overlap in L + 1 steps.
// REMARK: Reason="block @one and block @two stay two (pipeline): both carry a state along 'j' of block @one (scanl): as two they can overlap, merged they are one chain"
// CHECK-LABEL: etdg.graph @layers
etdg.graph @layers(%x: !c) -> !c {
  %h = etdg.buffer : !c
  %y = etdg.buffer : !c
  etdg.block @one [map, scanl] (i, j) in [0, N) x [0, L)
      reads (%v = %x[i, j] : !x, %p = {j >= 1: %h[i, j - 1], j <= 0: splat 0 : i32} : !x) writes (%h[i, j]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @two [map, scanl] (i, j) in [0, N) x [0, L)
      reads (%v = %h[i, j] : !x, %p = {j >= 1: %y[i, j - 1], j <= 0: splat 0 : i32} : !x) writes (%y[i, j]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.return %y : !c
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>

// A reduction over all that is parallel: nothing else would be.
// REMARK: Reason="block @a and block @r stay two (width): no other map dimension would be left"
// CHECK-LABEL: etdg.graph @alone
etdg.graph @alone(%x: !b) -> !b {
  %t = etdg.buffer : !b
  %s = etdg.buffer : !b
  etdg.block @a [map] (j) in [0, N) reads (%v = %x[j] : !x) writes (%t[j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @r [reduce] (j) in [0, N) reads (%v = %t[j] : !x, %p = {j >= 1: %s[j - 1], j <= 0: splat 0 : i32} : !x) writes (%s[j]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %s : !b
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, L], !x>
!d = !etdg.buffer<[N, M], !x>

// The intermediate is returned: with the rows aligned nothing is saved.
// REMARK: Reason="block @a and block @b stay two (cost): no intermediate would become smaller with the first 1 dimensions aligned"
// CHECK-LABEL: etdg.graph @returned
etdg.graph @returned(%x: !c, %z: !d) -> (!c, !d) attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %t = etdg.buffer : !c
  %y = etdg.buffer : !d
  etdg.block @a [map, map] (i, j) in [0, N) x [0, L) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (i, k) in [0, N) x [0, M) reads (%v = %t[i, L - 1] : !x, %u = %z[i, k] : !x) writes (%y[i, k]) {
    %0 = arith.addi %v, %u : !x
    etdg.yield %0 : !x
  } : !c, !d, !d
  etdg.return %t, %y : !c, !d
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, L], !x>

// What stands between needs the first, and is needed by the second.
// REMARK: Reason="block @a and block @b stay two (order): blocks between them read what the first writes, and the second reads what blocks between them write"
// CHECK-LABEL: etdg.graph @between
etdg.graph @between(%x: !c) -> !c {
  %t = etdg.buffer : !c
  %r = etdg.buffer : !c
  %y = etdg.buffer : !c
  etdg.block @a [map, map] (i, j) in [0, N) x [0, L) reads (%v = %x[i, j] : !x) writes (%t[i, j]) {
    %0 = arith.addi %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @rev [map, map] (i, j) in [0, N) x [0, L) reads (%v = %t[N - i - 1, j] : !x, %u = %t[i, j] : !x) writes (%r[i, j]) {
    %0 = arith.addi %v, %u : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @b [map, map] (i, j) in [0, N) x [0, L) reads (%v = %t[i, j] : !x, %u = %r[N - i - 1, j] : !x, %w = %r[i, j] : !x) writes (%y[i, j]) {
    %0 = arith.addi %v, %u : !x
    %1 = arith.addi %0, %w : !x
    etdg.yield %1 : !x
  } : !c, !c, !c
  etdg.return %y : !c
}

// -----

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!s = !etdg.buffer<[N, K], !x>

// One of two reductions says how partial states are combined.
// REMARK: [Missed] merge | Category:coarsen:horizontal | Reason="block @sum and block @max stay two (combine): one combines partial states, the other does not"
// CHECK-LABEL: etdg.graph @combine
etdg.graph @combine(%x: !s) -> (!s, !s) {
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
  } : !s, !s
  etdg.return %s, %m : !s, !s
}
