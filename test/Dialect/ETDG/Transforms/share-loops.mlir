// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// etdg-share-loops: what stands in the body of a loop in order is taken by all units together, one nest after the other.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-share-loops,etdg-verify,etdg-validate,etdg-storage,etdg-validate))' | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-share-loops))' -o %t.mlir
// RUN: %ft_bin/ft-run %t.mlir --entry=layers --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.mlir --entry=layers --engine=emulate --dim D=3 --dim N=5 --dim L=4 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.mlir --entry=layers --engine=emulate --dim D=0 --dim N=2 --dim L=4 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.mlir --entry=layers --schedule-for=sm_90a --order=random --seed=3 --dim D=4 --dim N=2 --dim L=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<1x8xi32>
!w = tensor<8x8xi32>

// The buffer of the body gets the loop as its first index; of two layers one lives at a time. The order of the steps stands inside.
// CHECK-LABEL: etdg.graph @layers
// CHECK: %[[AHEAD:.*]] = etdg.buffer live [1, all, all] {{.*}}: !etdg.buffer<[D, N, L], tensor<1x8xi32>>
// CHECK: etdg.kernel shared 1 {
// CHECK: etdg.block @ahead [scanl, map, map] (j, i, k) in [0, D) x [0, N) x [0, L)
// CHECK: writes (%[[AHEAD]][j, i, k])
// CHECK: etdg.block @h [scanl, map, scanl] (j, i, k) in [0, D) x [0, N) x [0, L)
// CHECK: schedule <map = #[[MAP:.*]], loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 2, kind = parallel>]>
// CHECK-NOT: _around
etdg.graph @layers(%xs: !etdg.buffer<[N, L], !x>, %ws: !etdg.buffer<[D], !w>) -> !etdg.buffer<[D, N, L], !x>
    attributes {ft.lengths = {D = 2 : i64, N = 3 : i64, L = 5 : i64}} {
  %hs = etdg.buffer : !etdg.buffer<[D, N, L], !x>
  etdg.block @around [scanl] (j) in [0, D) {
    %xw = etdg.buffer : !etdg.buffer<[N, L], !x>
    etdg.block @ahead [map, map] (j | i, k) in [0, N) x [0, L)
        reads (%x = {j = 0: %xs[i, k], j >= 1: %hs[j - 1, i, k]} : !x, %w = %ws[j] : !w) writes (%xw[i, k]) {
      %zero = arith.constant dense<0> : !x
      %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[D, N, L], !x>, !etdg.buffer<[D], !w>, !etdg.buffer<[N, L], !x>
    etdg.block @h [map, scanl] (j | i, k) in [0, N) x [0, L)
        reads (%x = %xw[i, k] : !x, %s = {k = 0: splat 0 : i32, k >= 1: %hs[j, i, k - 1]} : !x) writes (%hs[j, i, k])
        schedule <map = affine_map<(i, k) -> (k, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]> {
      %0 = arith.xori %x, %s : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[D, N, L], !x>
  }
  etdg.return %hs : !etdg.buffer<[D, N, L], !x>
}

// What is bound to a target, and a loop whose iterations need no order, stay.
// CHECK-LABEL: etdg.graph @stays
// CHECK-NOT: etdg.kernel
// CHECK: etdg.block @bound [scanl] (j) in [0, D) {
// CHECK-NOT: etdg.kernel
// CHECK: etdg.block @free [map] (j) in [0, D) {
// CHECK-NOT: etdg.kernel
// CHECK: etdg.return
etdg.graph @stays(%xs: !etdg.buffer<[D, N], !x>) -> (!etdg.buffer<[D, N], !x>, !etdg.buffer<[D, N], !x>) {
  %hs = etdg.buffer : !etdg.buffer<[D, N], !x>
  %gs = etdg.buffer : !etdg.buffer<[D, N], !x>
  etdg.block @bound [scanl] (j) in [0, D) {
    %t = etdg.buffer : !etdg.buffer<[N], !x>
    etdg.block @a [map] (j | i) in [0, N) reads (%x = %xs[j, i] : !x) writes (%t[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[D, N], !x>, !etdg.buffer<[N], !x>
    etdg.block @b [map] (j | i) in [0, N) reads (%x = %t[i] : !x) writes (%hs[j, i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core>] before = cores> {
      %0 = arith.addi %x, %x : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[D, N], !x>
  }
  etdg.block @free [map] (j) in [0, D) {
    %t = etdg.buffer : !etdg.buffer<[N], !x>
    etdg.block @a [map] (j | i) in [0, N) reads (%x = %xs[j, i] : !x) writes (%t[i]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[D, N], !x>, !etdg.buffer<[N], !x>
    etdg.block @b [map] (j | i) in [0, N) reads (%x = %t[i] : !x) writes (%gs[j, i]) {
      %0 = arith.addi %x, %x : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[D, N], !x>
  }
  etdg.return %hs, %gs : !etdg.buffer<[D, N], !x>, !etdg.buffer<[D, N], !x>
}
