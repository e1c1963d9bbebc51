// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes with several rows that begin at different lanes, by a layout by hand: what all rows share is other elements for each of them,
// so nothing is loaded once for all.
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" -o %t.mlir
// RUN: ft-opt %t.mlir --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu -o %t.loops.mlir
// RUN: sed 's/#etdg.row_lanes<[^>]*>/#etdg.row_lanes<lanes = 32, rows = 2, line = 32>/; s/#tile.row_accesses<widths = \[1, 1, 1\]>/#tile.row_accesses<widths = [1, 1, 1], line = 2>/' %t.loops.mlir > %t.given.mlir
// RUN: ft-opt %t.given.mlir --convert-loops-to-gpu -o %t.kernels.mlir
// RUN: FileCheck %s --input-file=%t.kernels.mlir
// RUN: ft-run %s --engine=interpret-tile --target=sm_90a --kernels=%t.kernels.mlir --dim N=600 --multiprocessors=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --target=sm_90a --kernels=%t.kernels.mlir --dim N=600 --multiprocessors=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!r = tensor<8xf32>
!x = tensor<8x49xf32>
!l = !ft.list<[N], !x>

// CHECK-NOT: uniform
// CHECK: tile.load_rows %{{.*}}, %{{.*}} at <f32, offset = 0, digits = [0], step = 1> : !tile.points<[8], 49, #{{.*}}, masked, shifted>
// CHECK-NOT: uniform
func.func @main(%xs: !l, %g: tensor<49xf32>) -> !l attributes {ft.lengths = {N = 8 : i64}} {
  %one = arith.constant dense<1.0> : !r
  %ys = ft.map (%x = %xs : !l) -> !l {
    %shape = tensor.empty() : !x
    %m = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%one : !r) dimensions = [1]
    %mb = linalg.broadcast ins(%m : !r) outs(%shape : !x) dimensions = [1]
    %gb = linalg.broadcast ins(%g : tensor<49xf32>) outs(%shape : !x) dimensions = [0]
    %p = arith.mulf %x, %gb : !x
    %y = arith.subf %p, %mb : !x
    ft.yield %y : !x
  }
  return %ys : !l
}
