// When a map's dimension may become one that sums: only where the sum may be cut, the dimensions outside
// have the same iterations in both blocks, and so have those inside.
// RUN: ft-opt %s --split-input-file --pass-pipeline="builtin.module(etdg.graph(etdg-merge,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

!x = tensor<4xi32>
!m = !etdg.buffer<[N, K], !x>
!v = !etdg.buffer<[N], !x>

// In order: the map's iterations would wait for one another.
// REMARK: Reason="block @a_0 and block @f stay two (width): dimension 'k' of block @a_0 is map, 'k' of block @f is foldl", rule=width
// CHECK-LABEL: etdg.graph @ordered
// CHECK: etdg.block @a [map] (i) in [0, N) {
// CHECK: etdg.block @a_0 [map] (i | k) in [0, K)
// CHECK: etdg.block @f [foldl] (i | k) in [0, K)
etdg.graph @ordered(%x: !m) -> !m {
  %t = etdg.buffer {name_hint = "t"} : !m
  %s = etdg.buffer {name_hint = "s"} : !m
  etdg.block @a [map, map] (i, k) in [0, N) x [0, K) reads (%v = %x[i, k] : !x) writes (%t[i, k]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !m, !m
  etdg.block @f [map, foldl] (i, k) in [0, N) x [0, K)
      reads (%v = %t[i, k] : !x, %p = {k >= 1: %s[i, k - 1], k <= 0: splat 0 : i32} : !x) writes (%s[i, k]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !m, !m
  etdg.return %s : !m
}

// -----

!x = tensor<4xi32>
!m = !etdg.buffer<[N, K], !x>

// The sum starts at row 1: the rows are made one first, at the iterations of the sum, and only where
// they are the same does the map inside become one that sums.
// REMARK: Reason="merged block 'r' into 'a', at the iterations of the second", aligned=1
// REMARK: Reason="merged block 'r' into 'a_0'", aligned=1
// CHECK-LABEL: etdg.graph @rows
// CHECK: etdg.block @a [map] (i) in [1, N) {
// CHECK: etdg.block @a_0 [reduce] (i | k) in [0, K) {
etdg.graph @rows(%x: !m) -> !m attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %t = etdg.buffer {name_hint = "t"} : !m
  %s = etdg.buffer {name_hint = "s"} : !m
  etdg.block @a [map, map] (i, k) in [0, N) x [0, K) reads (%v = %x[i, k] : !x) writes (%t[i, k]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !m, !m
  etdg.block @z [map] (k) in [0, K) writes (%s[0, k]) {
    %0 = arith.constant dense<0> : !x
    etdg.yield %0 : !x
  } : !m
  etdg.block @r [map, reduce] (i, k) in [1, N) x [0, K)
      reads (%v = %t[i, k] : !x, %p = {k >= 1: %s[i, k - 1], k <= 0: splat 0 : i32} : !x) writes (%s[i, k]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !m, !m
  etdg.return %s : !m
}

// -----

!x = tensor<4xi32>
!c = !etdg.buffer<[N, K, J], !x>

// Inside of the sum there are other iterations: they are aligned there, one by one, not with it.
// REMARK: Reason="merged block 'r' into 'a'", aligned=2
// CHECK-LABEL: etdg.graph @inside
// CHECK: etdg.block @a [map, reduce] (i, k) in [0, N) x [0, K) {
// CHECK: etdg.block @a_0 [map] (i, k | j) in [1, J) {
etdg.graph @inside(%x: !c) -> !c attributes {ft.bounds = #ft.bounds<"J >= 1">} {
  %t = etdg.buffer {name_hint = "t"} : !c
  %s = etdg.buffer {name_hint = "s"} : !c
  etdg.block @a [map, map, map] (i, k, j) in [0, N) x [0, K) x [0, J) reads (%v = %x[i, k, j] : !x) writes (%t[i, k, j]) {
    %0 = arith.muli %v, %v : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.block @z [map, map] (i, k) in [0, N) x [0, K) writes (%s[i, k, 0]) {
    %0 = arith.constant dense<0> : !x
    etdg.yield %0 : !x
  } : !c
  etdg.block @r [map, reduce, map] (i, k, j) in [0, N) x [0, K) x [1, J)
      reads (%v = %t[i, k, j] : !x, %p = {k >= 1: %s[i, k - 1, j], k <= 0: splat 0 : i32} : !x) writes (%s[i, k, j]) {
    %0 = arith.addi %v, %p : !x
    etdg.yield %0 : !x
  } : !c, !c
  etdg.return %s : !c
}
