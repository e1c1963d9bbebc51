// Copies and rearrangements become maps of their readers: access map fusion, FT §5.1.
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-fuse-accesses,etdg-verify))" --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

!x = tensor<4xi32>
!b = !etdg.buffer<[N], !x>
!c = !etdg.buffer<[N, M], !x>
!f = !etdg.buffer<[2 * N], !x>

// A reversed copy, read reversed: the identity. N - 1 - (N - 1 - i) = i.
// CHECK-LABEL: etdg.graph @reverse
// CHECK-NEXT:    %[[Y:.*]] = etdg.buffer {name_hint = "y"}
// CHECK-NEXT:    etdg.block @use [map] (i) in [0, N)
// CHECK-NEXT:        reads (%x = %arg0[i] : tensor<4xi32>)
// CHECK-NEXT:        writes (%[[Y]][i]) {
// REMARK: fuse-access | Category:coarsen | Reason="buffer 'r' is read where it was copied from", bytes="16 * N", readers=1
etdg.graph @reverse(%x: !b) -> !b {
  %r = etdg.buffer {name_hint = "r"} : !b
  %y = etdg.buffer {name_hint = "y"} : !b
  etdg.block @rev [map] (i) in [0, N) reads (%a = %x[N - i - 1] : !x) writes (%r[i]) {
    etdg.yield %a : !x
  } : !b, !b
  etdg.block @use [map] (i) in [0, N) reads (%a = %r[N - i - 1] : !x) writes (%y[i]) {
    %0 = arith.addi %a, %a : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.return %y : !b
}

// A concatenation of a list, one fill and a list: three pieces.
// CHECK-LABEL: etdg.graph @concat
// CHECK:         etdg.block @use [map] (i) in [0, M + N + 1)
// CHECK-NEXT:        reads (%x = {i + 1 <= N: %arg0[i], i = N: splat 7 : i32, i >= N + 1: %arg1[i - N - 1]} : tensor<4xi32>)
// CHECK-NOT:     etdg.block
!m = !etdg.buffer<[M], !x>
!nm = !etdg.buffer<[N + M + 1], !x>
etdg.graph @concat(%x: !b, %z: !m) -> !nm {
  %r = etdg.buffer {name_hint = "r"} : !nm
  %y = etdg.buffer : !nm
  etdg.block @first [map] (i) in [0, N) reads (%a = %x[i] : !x) writes (%r[i]) {
    etdg.yield %a : !x
  } : !b, !nm
  etdg.block @fill [] () writes (%r[N]) {
    %seven = arith.constant dense<7> : !x
    etdg.yield %seven : !x
  } : !nm
  etdg.block @last [map] (i) in [0, M) reads (%a = %z[i] : !x) writes (%r[N + 1 + i]) {
    etdg.yield %a : !x
  } : !m, !nm
  etdg.block @use [map] (i) in [0, N + M + 1) reads (%a = %r[i] : !x) writes (%y[i]) {
    %0 = arith.addi %a, %a : !x
    etdg.yield %0 : !x
  } : !nm, !nm
  etdg.return %y : !nm
}

// A transposition of a window with zeros at the border, and a copy of a copy; the
// window is private to its user's parent, and read in a fold.
// CHECK-LABEL: etdg.graph @window
// CHECK:         etdg.block @o [map] (i) in [0, N) {
// CHECK-NEXT:      %[[S:.*]] = etdg.buffer live [1]
// CHECK-NEXT:      etdg.block @f [foldl] (i | k) in [0, 3)
// CHECK-NEXT:          reads (%x = {i + k >= 1 and i + k <= N: %arg0[i + k - 1], i + k <= 0: splat 0 : i32, i + k >= N + 1: splat 0 : i32} : tensor<4xi32>,
etdg.graph @window(%x: !b) -> !b {
  %w = etdg.buffer {name_hint = "w"} : !etdg.buffer<[N, 3], !x>
  %t = etdg.buffer {name_hint = "t"} : !etdg.buffer<[3, N], !x>
  %y = etdg.buffer : !b
  etdg.block @win [map, map] (i, j) in [0, N) x [0, 3)
      reads (%a = {i + j >= 1 and i + j <= N: %x[i + j - 1], i + j <= 0: splat 0 : i32, i + j >= N + 1: splat 0 : i32} : !x)
      writes (%w[i, j]) {
    etdg.yield %a : !x
  } : !b, !etdg.buffer<[N, 3], !x>
  etdg.block @tr [map, map] (i, j) in [0, 3) x [0, N) reads (%a = %w[j, i] : !x) writes (%t[i, j]) {
    etdg.yield %a : !x
  } : !etdg.buffer<[N, 3], !x>, !etdg.buffer<[3, N], !x>
  etdg.block @o [map] (i) in [0, N) {
    %s = etdg.buffer live [1] : !etdg.buffer<[3], !x>
    etdg.block @f [foldl] (i | k) in [0, 3)
        reads (%a = %t[k, i] : !x, %p = {k >= 1: %s[k - 1], k = 0: splat 0 : i32} : !x) writes (%s[k]) {
      %0 = arith.addi %a, %p : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[3, N], !x>, !etdg.buffer<[3], !x>
    etdg.block @l [] (i |) reads (%a = %s[2] : !x) writes (%y[i]) {
      etdg.yield %a : !x
    } : !etdg.buffer<[3], !x>, !b
  }
  etdg.return %y : !b
}

// Refused: rows are written in pairs, which does not name the iteration alone ...
// CHECK-LABEL: etdg.graph @pairs
// CHECK:         etdg.block @copy
// REMARK: fuse-access | Category:coarsen | Reason="buffer 'p' stays: an index map of block @copy does not name dimension 'i'"
etdg.graph @pairs(%x: !b) -> !b {
  %p = etdg.buffer {name_hint = "p"} : !etdg.buffer<[2 * N], !x>
  %y = etdg.buffer : !b
  etdg.block @copy [map, map] (i, j) in [0, N) x [0, 2) reads (%a = %x[i] : !x) writes (%p[2 * i + j]) {
    etdg.yield %a : !x
  } : !b, !etdg.buffer<[2 * N], !x>
  etdg.block @use [map] (i) in [0, N) reads (%a = %p[i] : !x) writes (%y[i]) {
    %0 = arith.addi %a, %a : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[2 * N], !x>, !b
  etdg.return %y : !b
}

// ... and what is copied has been overwritten by then.
// CHECK-LABEL: etdg.graph @overwritten
// CHECK:         etdg.block @copy
// REMARK: fuse-access | Category:coarsen | Reason="buffer 'kept' stays: planes of buffer 's' take each other's place"
etdg.graph @overwritten(%x: !c) -> !b {
  %y = etdg.buffer : !b
  etdg.block @o [map] (i) in [0, N) {
    %s = etdg.buffer live [1] {name_hint = "s"} : !etdg.buffer<[M], !x>
    %kept = etdg.buffer {name_hint = "kept"} : !etdg.buffer<[M], !x>
    etdg.block @f [foldl] (i | k) in [0, M) {
      etdg.block @step [] (i, k |)
          reads (%a = %x[i, k] : !x, %p = {k >= 1: %s[k - 1], k = 0: splat 0 : i32} : !x) writes (%s[k]) {
        %0 = arith.addi %a, %p : !x
        etdg.yield %0 : !x
      } : !c, !etdg.buffer<[M], !x>
      etdg.block @copy [] (i, k |) reads (%a = %s[k] : !x) writes (%kept[k]) {
        etdg.yield %a : !x
      } : !etdg.buffer<[M], !x>, !etdg.buffer<[M], !x>
    }
    etdg.block @l [] (i |) reads (%a = {M >= 1: %kept[0], M <= 0: splat 0 : i32} : !x) writes (%y[i]) {
      etdg.yield %a : !x
    } : !etdg.buffer<[M], !x>, !b
  }
  etdg.return %y : !b
}

// A buffer that is copied whole, shifted and reversed, into a result: its writers write there,
// and what else reads it reads there. y[N - 1 - i] = t[i], and t[i] = x[i] + x[i].
// CHECK-LABEL: etdg.graph @connected
// CHECK:         etdg.block @p [map] (i) in [0, N)
// CHECK-NEXT:        reads (%x = %arg0[i] : tensor<4xi32>)
// CHECK-NEXT:        writes (%[[Y:.*]][N - i - 1]) {
// CHECK-NOT:     @copy
// CHECK:         etdg.block @q [map] (i) in [0, N)
// CHECK-NEXT:        reads (%x = %[[Y]][N - i - 1] : tensor<4xi32>)
// REMARK: [Passed] connect | Category:coarsen | Reason="buffer 't' is the buffer that it was copied to", bytes="16 * N"
etdg.graph @connected(%x: !b) -> (!b, !b) {
  %t = etdg.buffer {name_hint = "t"} : !b
  %z = etdg.buffer : !b
  etdg.block @p [map] (i) in [0, N) reads (%a = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %a, %a : !x
    etdg.yield %0 : !x
  } : !b, !b
  etdg.block @q [map] (i) in [0, N) reads (%a = %t[i] : !x) writes (%z[i]) {
    %0 = arith.muli %a, %a : !x
    etdg.yield %0 : !x
  } : !b, !b
  %y = etdg.buffer {name_hint = "y"} : !b
  etdg.block @copy [map] (i) in [0, N) reads (%a = %t[N - i - 1] : !x) writes (%y[i]) {
    etdg.yield %a : !x
  } : !b, !b
  etdg.return %y, %z : !b, !b
}

// Half of it is copied: it stays.
// CHECK-LABEL: etdg.graph @half
// CHECK:         etdg.block @copy
etdg.graph @half(%x: !f, %n: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !f
  etdg.block @p [map] (i) in [0, 2 * N) reads (%a = %x[i] : !x) writes (%t[i]) {
    %0 = arith.addi %a, %a : !x
    etdg.yield %0 : !x
  } : !f, !f
  %y = etdg.buffer : !b
  etdg.block @copy [map] (i) in [0, N) reads (%a = %t[i] : !x) writes (%y[i]) {
    etdg.yield %a : !x
  } : !f, !b
  etdg.return %y : !b
}
