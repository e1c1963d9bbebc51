// RUN: ft-opt %s --etdg-storage --etdg-verify | FileCheck %s
// RUN: ft-opt %s --etdg-storage --remarks-filter=storage 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ft-opt %s --etdg-storage -o %t.mlir
// RUN: ft-run %t.mlir --entry=last --engine=interpret --order=declared --compare=interpret --dim L=9
// RUN: ft-run %t.mlir --entry=lagged --engine=interpret --order=declared --compare=interpret --dim L=9
// RUN: ft-run %t.mlir --entry=wave --engine=interpret --order=declared --compare=interpret --dim D=5 --dim L=3
// RUN: ft-run %t.mlir --entry=lexicographic --engine=cpu --compare=interpret --dim D=5 --dim L=3
// RUN: ft-run %t.mlir --entry=turns --engine=cpu --compare=interpret --dim L=7
// RUN: ft-run %t.mlir --entry=chain --engine=cpu --compare=interpret --dim L=7
// RUN: ft-run %t.mlir --entry=beside --engine=cpu --compare=interpret --dim L=7
// RUN: ft-run %t.mlir --entry=beside --engine=emulate --compare=interpret --dim L=7
// RUN: ft-run %t.mlir --entry=apart --engine=cpu --compare=interpret --dim L=7

!b = !etdg.buffer<[L], tensor<1xi32>>

// A fold needs the plane before.
// REMARK: remark: [Passed] live-planes | Category:storage | Reason="1 of the L planes of dimension 0 are live"
// CHECK-LABEL: etdg.graph @last
// CHECK: etdg.buffer live [1] {etdg.slot = 0 : i64}
etdg.graph @last(%x: !b) -> !etdg.buffer<[], tensor<1xi32>> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %s = etdg.buffer : !b
  %r = etdg.buffer : !etdg.buffer<[], tensor<1xi32>>
  etdg.block @sum [foldl] (i) in [0, L) reads (%a = %x[i] : tensor<1xi32>, %p = {i >= 1: %s[i - 1], i = 0: splat 0 : i32} : tensor<1xi32>)
      writes (%s[i]) {
    %n = arith.addi %a, %p : tensor<1xi32>
    etdg.yield %n : tensor<1xi32>
  } : !b, !b
  etdg.block @out [] () reads (%a = %s[L - 1] : tensor<1xi32>) writes (%r[]) {
    etdg.yield %a : tensor<1xi32>
  } : !b, !etdg.buffer<[], tensor<1xi32>>
  etdg.return %r : !etdg.buffer<[], tensor<1xi32>>
}

// A lag of 3 keeps three; reading the whole afterwards keeps all.
// CHECK-LABEL: etdg.graph @lagged
// CHECK: etdg.buffer live [3] {etdg.slot = 0 : i64}
// CHECK: etdg.buffer {{ *}}{etdg.slot = 1 : i64}
etdg.graph @lagged(%x: !b) -> !b {
  %s = etdg.buffer : !b
  %m = etdg.buffer : !b
  %r = etdg.buffer : !b
  etdg.block @scan [scanl] (i) in [0, L) reads (%a = %x[i] : tensor<1xi32>, %p = {i >= 3: %s[i - 3], i <= 2: splat 0 : i32} : tensor<1xi32>)
      writes (%s[i], %m[i]) {
    %n = arith.addi %a, %p : tensor<1xi32>
    %k = arith.muli %n, %a : tensor<1xi32>
    etdg.yield %n, %k : tensor<1xi32>, tensor<1xi32>
  } : !b, !b, !b
  etdg.block @out [map] (i) in [0, L) reads (%a = %m[i] : tensor<1xi32>, %c = %m[L - 1 - i] : tensor<1xi32>) writes (%r[i]) {
    %n = arith.addi %a, %c : tensor<1xi32>
    etdg.yield %n : tensor<1xi32>
  } : !b, !b
  etdg.return %r : !b
}

// Only the last layer is returned, all of it. Layer by layer each row replaces the one that
// its iteration reads; along the wavefront j + k layer j + 1 runs beside layer j.
// CHECK-LABEL: etdg.graph @lexicographic
// CHECK: etdg.buffer live [1, all]
// CHECK-LABEL: etdg.graph @wave
// CHECK: etdg.buffer live [2, all]
etdg.graph @lexicographic(%x: !b, %w: !etdg.buffer<[D], tensor<1xi32>>) -> !b attributes {ft.bounds = #ft.bounds<"D >= 1">} {
  %y = etdg.buffer : !etdg.buffer<[D, L], tensor<1xi32>>
  %r = etdg.buffer : !b
  etdg.nest {
    etdg.block @r [scanl, scanl] (j, k) in [0, D) x [0, L)
        reads (%v = %w[j] : tensor<1xi32>, %a = {j = 0: %x[k], j >= 1: %y[j - 1, k]} : tensor<1xi32>, %p = {k >= 1: %y[j, k - 1], k = 0: splat 0 : i32} : tensor<1xi32>)
        writes (%y[j, k]) {
      %m = arith.muli %a, %v : tensor<1xi32>
      %n = arith.addi %m, %p : tensor<1xi32>
      etdg.yield %n : tensor<1xi32>
    } : !etdg.buffer<[D], tensor<1xi32>>, !b, !etdg.buffer<[D, L], tensor<1xi32>>
  }
  etdg.block @out [map] (k) in [0, L) reads (%a = %y[D - 1, k] : tensor<1xi32>) writes (%r[k]) {
    etdg.yield %a : tensor<1xi32>
  } : !etdg.buffer<[D, L], tensor<1xi32>>, !b
  etdg.return %r : !b
}
etdg.graph @wave(%x: !b, %w: !etdg.buffer<[D], tensor<1xi32>>) -> !b attributes {ft.bounds = #ft.bounds<"D >= 1">} {
  %y = etdg.buffer : !etdg.buffer<[D, L], tensor<1xi32>>
  %r = etdg.buffer : !b
  etdg.nest schedule <map = affine_map<(j, k) -> (j + k, j)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]> {
    etdg.block @r [scanl, scanl] (j, k) in [0, D) x [0, L)
        reads (%v = %w[j] : tensor<1xi32>, %a = {j = 0: %x[k], j >= 1: %y[j - 1, k]} : tensor<1xi32>, %p = {k >= 1: %y[j, k - 1], k = 0: splat 0 : i32} : tensor<1xi32>)
        writes (%y[j, k]) {
      %m = arith.muli %a, %v : tensor<1xi32>
      %n = arith.addi %m, %p : tensor<1xi32>
      etdg.yield %n : tensor<1xi32>
    } : !etdg.buffer<[D], tensor<1xi32>>, !b, !etdg.buffer<[D, L], tensor<1xi32>>
  }
  etdg.block @out [map] (k) in [0, L) reads (%a = %y[D - 1, k] : tensor<1xi32>) writes (%r[k]) {
    etdg.yield %a : tensor<1xi32>
  } : !etdg.buffer<[D, L], tensor<1xi32>>, !b
  etdg.return %r : !b
}

// The second intermediate is written where the first lies, as that is read there for the last
// time; the third is read in reverse and can't be; the fourth takes the first slot again.
// REMARK: remark: [Passed] in-place | Category:storage
// CHECK-LABEL: etdg.graph @chain
// CHECK: etdg.buffer {{ *}}{etdg.slot = 0 : i64}
// CHECK: etdg.buffer {{ *}}{etdg.slot = 0 : i64}
// CHECK: etdg.buffer {{ *}}{etdg.slot = 1 : i64}
// CHECK: etdg.buffer {{ *}}{etdg.slot = 0 : i64}
etdg.graph @chain(%x: !b) -> !b {
  %a = etdg.buffer : !b
  %c = etdg.buffer : !b
  %d = etdg.buffer : !b
  %e = etdg.buffer : !b
  %r = etdg.buffer : !b
  etdg.block @b0 [map] (i) in [0, L) reads (%v = %x[i] : tensor<1xi32>) writes (%a[i]) {
    %n = arith.addi %v, %v : tensor<1xi32>
    etdg.yield %n : tensor<1xi32>
  } : !b, !b
  etdg.block @b1 [map] (i) in [0, L) reads (%v = %a[i] : tensor<1xi32>) writes (%c[i]) {
    %n = arith.addi %v, %v : tensor<1xi32>
    etdg.yield %n : tensor<1xi32>
  } : !b, !b
  etdg.block @b2 [map] (i) in [0, L) reads (%v = %c[L - 1 - i] : tensor<1xi32>) writes (%d[i]) {
    %n = arith.addi %v, %v : tensor<1xi32>
    etdg.yield %n : tensor<1xi32>
  } : !b, !b
  etdg.block @b3 [map] (i) in [0, L) reads (%v = %d[L - 1 - i] : tensor<1xi32>) writes (%e[i]) {
    %n = arith.addi %v, %v : tensor<1xi32>
    etdg.yield %n : tensor<1xi32>
  } : !b, !b
  etdg.block @b4 [map] (i) in [0, L) reads (%v = %e[L - 1 - i] : tensor<1xi32>) writes (%r[i]) {
    %n = arith.addi %v, %v : tensor<1xi32>
    etdg.yield %n : tensor<1xi32>
  } : !b, !b
  etdg.return %r : !b
}

// Both are written in turns by one item: what the first holds next would take the
// place that the second is still read at.
// CHECK-LABEL: etdg.graph @turns
// CHECK: etdg.buffer live [1] {etdg.slot = 0 : i64}
// CHECK: etdg.buffer live [1] {etdg.slot = 1 : i64}
etdg.graph @turns(%x: !b) -> !b {
  %p = etdg.buffer : !b
  %q = etdg.buffer : !b
  %r = etdg.buffer : !b
  etdg.block @step [scanl] (i) in [0, L) {
    etdg.block @p [] (i |) reads (%a = %x[i] : tensor<1xi32>) writes (%p[i]) {
      %n = arith.muli %a, %a : tensor<1xi32>
      etdg.yield %n : tensor<1xi32>
    } : !b, !b
    etdg.block @r [] (i |) reads (%a = %x[i] : tensor<1xi32>, %o = {i >= 1: %q[i - 1], i = 0: splat 0 : i32} : tensor<1xi32>) writes (%r[i]) {
      %n = arith.subi %o, %a : tensor<1xi32>
      etdg.yield %n : tensor<1xi32>
    } : !b, !b, !b
    etdg.block @q [] (i |) reads (%a = %p[i] : tensor<1xi32>) writes (%q[i]) {
      %n = arith.addi %a, %a : tensor<1xi32>
      etdg.yield %n : tensor<1xi32>
    } : !b, !b
  }
  etdg.return %r : !b
}

// What takes the place of what it reads is made of it element by element; what else is computed beside may be a product.
// CHECK-LABEL: etdg.graph @beside
// CHECK: etdg.buffer {{ *}}{etdg.slot = 0 : i64}
// CHECK: etdg.buffer {{ *}}{etdg.slot = 0 : i64}
!f = !etdg.buffer<[L], tensor<3x3xi32>>
etdg.graph @beside(%x: !f, %w: !f) -> !f {
  %a = etdg.buffer : !f
  %c = etdg.buffer : !f
  %r = etdg.buffer : !f
  etdg.block @b0 [map] (i) in [0, L) reads (%v = %x[i] : tensor<3x3xi32>) writes (%a[i]) {
    %n = arith.addi %v, %v : tensor<3x3xi32>
    etdg.yield %n : tensor<3x3xi32>
  } : !f, !f
  etdg.block @b1 [map] (i) in [0, L) reads (%v = %a[i] : tensor<3x3xi32>, %u = %x[i] : tensor<3x3xi32>, %k = %w[i] : tensor<3x3xi32>) writes (%c[i]) {
    %z = arith.constant dense<0> : tensor<3x3xi32>
    %p = linalg.matmul ins(%u, %k : tensor<3x3xi32>, tensor<3x3xi32>) outs(%z : tensor<3x3xi32>) -> tensor<3x3xi32>
    %n = arith.subi %v, %p : tensor<3x3xi32>
    etdg.yield %n : tensor<3x3xi32>
  } : !f, !f, !f, !f
  etdg.block @b2 [map] (i) in [0, L) reads (%v = %c[L - 1 - i] : tensor<3x3xi32>) writes (%r[i]) {
    etdg.yield %v : tensor<3x3xi32>
  } : !f, !f
  etdg.return %r : !f
}

// What is read by a product has a place of its own.
// CHECK-LABEL: etdg.graph @apart
// CHECK: etdg.buffer {{ *}}{etdg.slot = 0 : i64}
// CHECK: etdg.buffer {{ *}}{etdg.slot = 1 : i64}
etdg.graph @apart(%x: !f, %w: !f) -> !f {
  %a = etdg.buffer : !f
  %c = etdg.buffer : !f
  %r = etdg.buffer : !f
  etdg.block @b0 [map] (i) in [0, L) reads (%v = %x[i] : tensor<3x3xi32>) writes (%a[i]) {
    %n = arith.addi %v, %v : tensor<3x3xi32>
    etdg.yield %n : tensor<3x3xi32>
  } : !f, !f
  etdg.block @b1 [map] (i) in [0, L) reads (%v = %a[i] : tensor<3x3xi32>, %k = %w[i] : tensor<3x3xi32>) writes (%c[i]) {
    %z = arith.constant dense<0> : tensor<3x3xi32>
    %p = linalg.matmul ins(%v, %k : tensor<3x3xi32>, tensor<3x3xi32>) outs(%z : tensor<3x3xi32>) -> tensor<3x3xi32>
    %n = arith.subi %v, %p : tensor<3x3xi32>
    etdg.yield %n : tensor<3x3xi32>
  } : !f, !f, !f
  etdg.block @b2 [map] (i) in [0, L) reads (%v = %c[L - 1 - i] : tensor<3x3xi32>) writes (%r[i]) {
    etdg.yield %v : tensor<3x3xi32>
  } : !f, !f
  etdg.return %r : !f
}
