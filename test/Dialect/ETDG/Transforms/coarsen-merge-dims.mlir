// Depth-wise coarsening, FT §5.1: two dimensions that all accesses use alike are one.
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-merge-dims,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-split-dim{block=split dim=k size=4},etdg-verify))" | FileCheck %s --check-prefix=SPLIT
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-split-dim{block=split dim=k size=4},etdg-merge-dims,etdg-verify))" | FileCheck %s --check-prefix=BACK

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!c = !etdg.buffer<[N, M], !x>
!f = !etdg.buffer<[4 * N], !x>

// The sum 4i + j everywhere, or neither: one dimension of 4N iterations.
// CHECK-LABEL: etdg.graph @sum
// CHECK:         etdg.block @b [map] (i) in [0, 4 * N)
// CHECK-NEXT:        reads (%x = %arg0[i] : tensor<4xi32>, %x_0 = %arg1[] : tensor<4xi32>)
// CHECK-NEXT:        writes (%{{.*}}[4 * N - i - 1]) {
// REMARK: [Passed] merge-dims | Category:coarsen | Reason="dimensions 'i' and 'j' of block @b are one"
etdg.graph @sum(%x: !f, %s: !etdg.buffer<[], !x>, %n: !b) -> !f {
  %y = etdg.buffer : !f
  etdg.block @b [map, map] (i, j) in [0, N) x [0, 4) reads (%a = %x[4 * i + j] : !x, %k = %s[] : !x)
      writes (%y[4 * N - 4 * i - j - 1]) {
    %0 = arith.addi %a, %k : !x
    etdg.yield %0 : !x
  } : !f, !etdg.buffer<[], !x>, !f
  etdg.return %y : !f
}

// The pair itself indexes a buffer between two blocks: its product is a length of its own.
// CHECK-LABEL: etdg.graph @pair
// CHECK:         %[[T:.*]] = etdg.buffer {name_hint = "t"} : !etdg.buffer<[M * N], tensor<4xi32>>
// CHECK:         etdg.block @p [map] (i) in [0, M * N)
// CHECK:             writes (%[[T]][i]) {
// CHECK:         etdg.block @u [foldl] (i) in [0, M * N)
// CHECK-NEXT:        reads (%x = %[[T]][i] : tensor<4xi32>
etdg.graph @pair(%z: !c, %s: !etdg.buffer<[], !x>) -> !etdg.buffer<[], !x> {
  %t = etdg.buffer {name_hint = "t"} : !c
  %m = etdg.buffer : !c
  %y = etdg.buffer : !etdg.buffer<[], !x>
  etdg.block @p [map, map] (i, j) in [0, N) x [0, M) reads (%a = %s[] : !x) writes (%t[i, j]) {
    %0 = arith.addi %a, %a : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[], !x>, !c
  etdg.block @u [foldl, foldl] (i, j) in [0, N) x [0, M) reads (%a = %t[i, j] : !x) writes (%m[i, j]) {
    etdg.yield %a : !x
  } : !c, !c
  etdg.block @l [] () reads (%a = %s[] : !x) writes (%y[]) {
    etdg.yield %a : !x
  } : !etdg.buffer<[], !x>, !etdg.buffer<[], !x>
  etdg.return %y : !etdg.buffer<[], !x>
}

// Refused: the caller's dimensions; one that is read by itself.
// CHECK-LABEL: etdg.graph @refused
// CHECK:         etdg.block @own [map, map]
// CHECK:         etdg.block @one [map, map]
// REMARK: [Missed] merge-dims | Category:coarsen | Reason="dimensions 'i' and 'j' of block @own stay two: an index or condition of block @own has them neither as one sum nor not at all"
// REMARK: [Missed] merge-dims | Category:coarsen | Reason="dimensions 'i' and 'j' of block @one stay two: an index or condition of block @one has them neither as one sum nor not at all"
etdg.graph @refused(%x: !c, %r: !b) -> (!c, !f) {
  %y = etdg.buffer : !c
  %z = etdg.buffer : !f
  etdg.block @own [map, map] (i, j) in [0, N) x [0, M) reads (%a = %x[i, j] : !x) writes (%y[i, j]) {
    etdg.yield %a : !x
  } : !c, !c
  etdg.block @one [map, map] (i, j) in [0, N) x [0, 4) reads (%a = %r[i] : !x) writes (%z[4 * i + j]) {
    etdg.yield %a : !x
  } : !b, !f
  etdg.return %y, %z : !c, !f
}

// A fold split in chunks of 4, and back. ⌊(M - 1) / 4⌋ is the last chunk.
// SPLIT-LABEL: etdg.graph @chunks
// SPLIT:         etdg.block @split [foldl, foldl] (i | k, k0) in [0, floordiv(M - 1, 4) + 1) x [0, min(4, M - 4 * k))
// SPLIT-NEXT:        reads (%x = %arg0[i, 4 * k + k0] : tensor<4xi32>, %s = {4 * k + k0 >= 1: %[[S:.*]][4 * k + k0 - 1], 4 * k + k0 = 0: splat 0 : i32} : tensor<4xi32>)
// SPLIT-NEXT:        writes (%[[S]][4 * k + k0]) {
// BACK-LABEL:  etdg.graph @chunks
// BACK:          etdg.block @split [foldl] (i | k) in [0, M)
// BACK-NEXT:         reads (%x = %arg0[i, k] : tensor<4xi32>, %s = {k >= 1: %[[S:.*]][k - 1], k = 0: splat 0 : i32} : tensor<4xi32>)
// BACK-NEXT:         writes (%[[S]][k]) {
etdg.graph @chunks(%x: !c) -> !b {
  %y = etdg.buffer : !b
  etdg.block @o [map] (i) in [0, N) {
    %s = etdg.buffer live [1] : !etdg.buffer<[M], !x>
    etdg.block @split [foldl] (i | k) in [0, M)
        reads (%a = %x[i, k] : !x, %p = {k >= 1: %s[k - 1], k = 0: splat 0 : i32} : !x) writes (%s[k]) {
      %0 = arith.addi %a, %p : !x
      etdg.yield %0 : !x
    } : !c, !etdg.buffer<[M], !x>
    etdg.block @l [] (i |) reads (%a = {M >= 1: %s[M - 1], M <= 0: splat 0 : i32} : !x) writes (%y[i]) {
      etdg.yield %a : !x
    } : !etdg.buffer<[M], !x>, !b
  }
  etdg.return %y : !b
}
