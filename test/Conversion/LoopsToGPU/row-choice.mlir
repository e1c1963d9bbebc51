// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that lie in memory, or, at some points, are one value: each load asks. The layout is written by hand.
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" -o %t.mlir
// RUN: ft-opt %t.mlir --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu -o %t.loops.mlir
// RUN: sed 's/layouts .* aligned \(\[[0-9, ]*\]\) places .* {/layouts [#etdg.row_lanes<lanes = 8, width = 4, rows = 2>] aligned \1 {/; s/loops.syncs = array<i1: true, true>/loops.syncs = array<i1: false, false>/' %t.loops.mlir > %t.given.mlir
// RUN: ft-opt %t.given.mlir --loops-choose-points --convert-loops-to-gpu -o %t.kernels.mlir
// RUN: FileCheck %s --input-file=%t.kernels.mlir
// RUN: ft-run %s --engine=interpret-tile --target=sm_90a --kernels=%t.kernels.mlir --dim N=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --target=sm_90a --kernels=%t.kernels.mlir --dim N=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!r = tensor<8xf32>
!x = tensor<8x48xf32>
!l = !ft.list<[N], !x>

// CHECK: %[[P:.*]]:5 = scf.if
// CHECK: tile.load_rows %{{.*}}, %{{.*}} stride %[[P]]#4 if %[[P]]#1 value %[[P]]#2 : f32 at <f32, offset = 0, digits = [48], step = 1> {width = 4 : i64} :
func.func @shifted(%xs: !l) -> !l attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %two = arith.constant dense<2.0> : !x
  %before = ft.shift %xs by 1 fill %two : !l, !x
  %ys = ft.map (%x, %w = %xs, %before : !l, !l) -> !l {
    %shape = tensor.empty() : !x
    %s = linalg.reduce { arith.addf } ins(%w : !x) outs(%zero : !r) dimensions = [1]
    %sb = linalg.broadcast ins(%s : !r) outs(%shape : !x) dimensions = [1]
    %y = arith.mulf %x, %sb : !x
    %z = arith.addf %y, %w : !x
    ft.yield %z : !x
  }
  return %ys : !l
}
