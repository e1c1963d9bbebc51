// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants write the same elements each: a block after them reads what they wrote, however little they do, and no copy
// in one of them is taken for the buffer's only writer. What nothing reads goes with all variants.
//
// RUN: ft-opt %s --ft-compile="from=etdg to=coarsen" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %ft_bin/ft-run %s --entry=copies --engine=interpret --order=declared --dim N=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.mlir --entry=copies --engine=interpret --order=declared --dim N=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<4xf32>

// CHECK-LABEL: etdg.graph @copies
// CHECK: %[[BETWEEN:.*]] = etdg.buffer
// CHECK: etdg.variants when <[N] below 4> {
// CHECK: etdg.block @a
// CHECK: writes (%[[BETWEEN]][i])
// CHECK: } else {
// CHECK: etdg.block @b
// CHECK: writes (%[[BETWEEN]][i])
// CHECK: etdg.block @later
// CHECK-NEXT: reads ({{.*}} = %[[BETWEEN]][i]
etdg.graph @copies(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.variants when <[N] below 4> {
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  } else {
    etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.block @later [map] (i) in [0, N) reads (%y = %ys[i] : !x) writes (%zs[i]) {
    %z = arith.negf %y : !x
    etdg.yield %z : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %zs : !etdg.buffer<[N], !x>
}

// CHECK-LABEL: etdg.graph @unread
// CHECK-NOT: etdg.variants
// CHECK: etdg.block @later
// CHECK-NEXT: reads ({{.*}} = %arg0[i]
// CHECK-NOT: etdg.variants
// CHECK: etdg.return
etdg.graph @unread(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %copy = etdg.buffer : !etdg.buffer<[N], !x>
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @moved [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%copy[i]) {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.variants when <[N] below 4> {
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) {
      %n = arith.addf %x, %x : !x
      etdg.yield %n : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  } else {
    etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) {
      %n = arith.addf %x, %x : !x
      etdg.yield %n : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.block @later [map] (i) in [0, N) reads (%y = %copy[i] : !x) writes (%zs[i]) {
    %z = arith.negf %y : !x
    etdg.yield %z : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %zs : !etdg.buffer<[N], !x>
}
