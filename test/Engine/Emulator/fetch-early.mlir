// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of a channel's first slots are fetched before a kernel waits for the launches that it overlaps, and what these write is not.
// A machine of two SMs that wants warp groups for short sums as well: blocks take several tiles one after the other.
// RUN: sed 's/"product_long_steps": 8/"product_long_steps": 1/; s/: 132/: 2/' %S/../../machines/h200.json > %t.json
// RUN: ft-opt %s --ft-compile="to=pipeline target=sm_90a skip=coarsen machine=%t.json" --remarks-filter=gpu -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: the first slots of 1 channels are fetched before the launches before have ended
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ft-run %s --entry=layers --engine=emulate --kernels=%t.mlir --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
//
// The second kernel: barriers are made before the wait, and so are as many fetches of weights as there are slots. Each thread waits.
// CHECK-LABEL: llvm.func @layers_k1
// CHECK-NOT: nvvm.griddepcontrol {{ *}}wait
// CHECK: nvvm.mbarrier.init
// CHECK-NOT: nvvm.griddepcontrol {{ *}}wait
// CHECK: nvvm.elect.sync
// CHECK: scf.for
// CHECK-NOT: nvvm.mbarrier.try_wait
// CHECK: tile.start_fetch
// CHECK-NOT: tile.start_fetch
// CHECK: nvvm.griddepcontrol {{ *}}wait
// CHECK: nvvm.mbarrier.try_wait
// CHECK: tile.start_fetch
// CHECK: scf.if
// CHECK-NEXT: tile.start_fetch
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-COUNT-3: nvvm.griddepcontrol {{ *}}wait
// CHECK: nvvm.setmaxregister {{ *}}increase

// Slots are not acquired twice: those after the wait count from the first one, and fetch what has not been fetched.
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a skip=coarsen machine=%t.json" | ft-opt --tile-split-roles --tile-order-loops --tile-make-channels --tile-place-slots --tile-fetch-early \
// RUN:   | FileCheck %s --check-prefix=AHEAD
// AHEAD-LABEL: llvm.func @layers_k1
// AHEAD: load {
// AHEAD-NOT: tile.acquire
// AHEAD: scf.for {{.*}} iter_args(%[[COUNT:.*]] = %{{.*}}) -> (i32)
// AHEAD: %[[SLOT:.*]]:2, %[[FULL:.*]] = tile.ahead %{{.*}} at %[[COUNT]]
// AHEAD-NEXT: tile.start_fetch %{{.*}} to %[[SLOT]]#1 counts %[[FULL]]
// AHEAD: nvvm.griddepcontrol wait
// AHEAD: tile.acquire %{{.*}} at %[[AT:[a-z0-9]*]]
// AHEAD-NEXT: tile.start_fetch
// AHEAD-NEXT: arith.cmpi uge, %[[AT]], %{{.*}} : i32
// AHEAD-NEXT: scf.if
// AHEAD-NEXT: tile.start_fetch
// AHEAD: tile.publish %{{.*}} at %[[AT]]
// AHEAD: compute {
// AHEAD-NEXT: nvvm.griddepcontrol wait

// What one kernel writes and another one reads waits, though it stands on the right.
// CHECK-LABEL: llvm.func @both_k2
// CHECK: nvvm.elect.sync
// CHECK-NOT: tile.start_fetch
// CHECK: nvvm.griddepcontrol {{ *}}wait
// CHECK: tile.start_fetch

!x = tensor<130x136xf16>
!w = tensor<136x264xf16>
!y = tensor<130x264xf16>
!v = tensor<264x520xf16>
!z = tensor<130x520xf16>
func.func @layers(%x: !x, %w: !w, %v: !v) -> !z {
  %zy = arith.constant dense<0.0> : !y
  %zz = arith.constant dense<0.0> : !z
  %y = linalg.matmul ins(%x, %w : !x, !w) outs(%zy : !y) -> !y
  %z = linalg.matmul ins(%y, %v : !y, !v) outs(%zz : !z) -> !z
  return %z : !z
}

!a = tensor<136x136xf16>
func.func @both(%x: !a, %w: !a, %v: !a) -> !a {
  %zero = arith.constant dense<0.0> : !a
  %y = linalg.matmul ins(%x, %w : !a, !a) outs(%zero : !a) -> !a
  %z = linalg.matmul ins(%x, %v : !a, !a) outs(%zero : !a) -> !a
  %u = linalg.matmul ins(%y, %z : !a, !a) outs(%zero : !a) -> !a
  return %u : !a
}
