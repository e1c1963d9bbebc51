// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that is input and none is refused as such: what is wrong is no phase's fault.
//
// RUN: not ft-run %s --engine=cpu 2>&1 | FileCheck %s
// RUN: not ft-run %s --engine=emulate 2>&1 | FileCheck %s
// RUN: not ft-run %s --engine=cpu --ft-validate=off 2>&1 | FileCheck %s
// RUN: not ft-translate --mlir-to-ptx --target=sm_80 %s 2>&1 | FileCheck %s
// CHECK-NOT: internal error
// CHECK: wrong-graph.mlir:[[#@LINE+7]]:{{[0-9]+}}: error: {{.*}} read 0 is out of bounds: index 0{{.*}} may be negative
// CHECK-NOT: internal error

!x = tensor<1x4xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> attributes {ft.lengths = {N = 3 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i - 1] : !x) writes (%ys[i]) {
    %y = math.exp %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}
