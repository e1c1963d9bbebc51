// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// etdg-distribute: products that no iteration waits for, ahead of the loops in which others wait.
//
// RUN: ft-opt %s --split-input-file --pass-pipeline='builtin.module(etdg.graph(etdg-distribute,etdg-verify,etdg-validate))' | FileCheck %s
// RUN: ft-opt %s --split-input-file --pass-pipeline='builtin.module(etdg.graph(etdg-distribute{outer=1},etdg-verify,etdg-validate))' | FileCheck %s --check-prefix=ONE
// RUN: ft-opt %s --split-input-file --pass-pipeline='builtin.module(etdg.graph(etdg-reorder))' | FileCheck %s --check-prefix=LEFT
// RUN: ft-opt %s --split-input-file --pass-pipeline='builtin.module(etdg.graph(etdg-distribute))' --remarks-filter=reorder -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

// The one product with the input is a block over all steps, added to what the state gives.
// CHECK-LABEL: @layer
// CHECK: %{{.*}} = etdg.buffer : !etdg.buffer<[L], tensor<1x8xf32>>
// CHECK-NEXT: %[[XW:.*]] = etdg.buffer : !etdg.buffer<[L], tensor<1x8xf32>>
// CHECK-NEXT: etdg.block @h_ahead [map] (k) in [1, L)
// CHECK-NEXT: reads (%{{.*}} = %arg0[k] : tensor<1x8xf32>, %{{.*}} = %arg1[] : tensor<8x8xf32>)
// CHECK-NEXT: writes (%[[XW]][k])
// CHECK: etdg.block @h [scanl] (k) in [1, L)
// CHECK: %{{.*}} = %[[XW]][k]
// CHECK: %[[HU:.*]] = linalg.matmul
// CHECK-NEXT: arith.addf %[[HU]],
// CHECK-NOT: linalg.matmul
// With one sequential dimension none can stay around.
// ONE-LABEL: @layer
// ONE-NOT: _ahead
// LEFT: etdg.divisions = [#etdg.division<kind = ahead>]
etdg.graph @layer(%xs: !etdg.buffer<[L], !x>, %w: !etdg.buffer<[], !w>, %u: !etdg.buffer<[], !w>) -> !etdg.buffer<[L], !x> {
  %hs = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.nest {
    etdg.block @start [scanl] (k) in = 0 where L >= 1 reads (%x = %xs[k] : !x) writes (%hs[k]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
    etdg.block @h [scanl] (k) in [1, L)
        reads (%x = %xs[k] : !x, %w0 = %w[] : !w, %h = %hs[k - 1] : !x, %u0 = %u[] : !w) writes (%hs[k]) {
      %zero = arith.constant dense<0.0> : !x
      %0 = linalg.matmul ins(%h, %u0 : !x, !w) outs(%zero : !x) -> !x
      %1 = linalg.matmul ins(%x, %w0 : !x, !w) outs(%0 : !x) -> !x
      etdg.yield %1 : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[L], !x>, !etdg.buffer<[], !w>
  }
  etdg.return %hs : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

// A fold whose only product waits stays as it is.
// CHECK-LABEL: @waits
// CHECK-NOT: _ahead
// LEFT-LABEL: @waits
// LEFT-NOT: etdg.divisions
// REMARK-NOT: remark:
// REMARK: {{[0-9]+}}:3: remark: [Missed] distribute | Category:reorder | Reason="each product waits for an iteration of the same nest
etdg.graph @waits(%h0: !etdg.buffer<[], !x>, %u: !etdg.buffer<[L], !w>) -> !etdg.buffer<[L], !x> {
  %hs = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.block @h [foldl] (k) in [0, L)
      reads (%h = {k = 0: %h0[], k >= 1: %hs[k - 1]} : !x, %u0 = %u[k] : !w) writes (%hs[k]) {
    %zero = arith.constant dense<0.0> : !x
    %0 = linalg.matmul ins(%h, %u0 : !x, !w) outs(%zero : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[], !x>, !etdg.buffer<[L], !x>, !etdg.buffer<[L], !w>
  etdg.return %hs : !etdg.buffer<[L], !x>
}
