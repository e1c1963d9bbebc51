// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which accesses rows come into registers and leave them stands in the loops, and from which rows lanes count.
//
// RUN: ft-opt %s "--ft-compile=to=tile target=sm_90a" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: ft-opt %t.mlir --loops-choose-points | diff - %t.mlir
//
// What is specified makes the kernel: element by element.
// RUN: ft-opt %t.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=WIDE
// WIDE-LABEL: @even
// WIDE-COUNT-2: tile.load_rows {{.*}}width = 4 : i64}
// WIDE: tile.store_rows {{.*}} {width = 4 : i64}
// RUN: sed 's/widths = \[4, 4, 4\]/widths = [4, 1, 4]/' %t.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=NARROW
// NARROW-LABEL: @even
// NARROW: tile.load_rows {{.*}} {width = 4 : i64}
// NARROW: tile.load_rows {{.*}}at <f32, offset = 0, digits = [], step = 1> {uniform} :
// NARROW: tile.store_rows {{.*}} {width = 4 : i64}
//
// Where less is known of where rows of the weights begin, they come element by element.
// RUN: sed 's/aligned \[16, 16, 16\] nests \[#tile.row_accesses<[^>]*>\]/aligned [16, 4, 16]/' %t.mlir | ft-opt --loops-choose-points | FileCheck %s --check-prefix=KNOWN
// KNOWN: aligned [16, 4, 16] nests [#tile.row_accesses<widths = [4, 1, 4]>]
//
// Nothing is made of what is left out, or says more than holds.
// RUN: sed 's/nests \[#tile.row_accesses<[^>]*>\]//' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the GPU engine can't run the leaf's nests: it is not specified in which accesses lanes take rows (#tile.row_accesses): loops-choose-points does
// RUN: sed 's/widths = \[4, 4, 4\]/widths = [4, 4]/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: the GPU engine can't run the leaf's nests: its rows have 3 places, found #tile.row_accesses<widths = [4, 4]>
// RUN: sed 's/widths = \[4, 4, 4\]/widths = [4, 2, 4]/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the GPU engine can't run the leaf's nests: place 1: expected 1 element or 4 in an access, found #tile.row_accesses<widths = [4, 2, 4]>
// RUN: sed 's/widths = \[1, 1, 1, 1\]/widths = [1, 2, 1, 1]/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=APART
// APART: error: the GPU engine can't run the leaf's nests: place 1: expected 1 element in an access, found #tile.row_accesses<widths = [1, 2, 1, 1], line = 3>
// RUN: sed 's/widths = \[4, 4, 4\]/widths = [4, 4, 4], line = 2/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: error: the GPU engine can't run the leaf's nests: line = 2: expected a place in memory where rows lie adjacent, and a layout whose lanes count from a line (line = 32), found
// RUN: sed 's/line = 3>\]/line = 1>]/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: error: the GPU engine can't run the leaf's nests: line = 1: expected a place in memory where rows lie adjacent

// The row of x twice is one place; the weights; the result.
// CHECK-LABEL: func.func @even_k0
// CHECK: layouts [#etdg.row_lanes<lanes = {{[0-9]+}}, width = 4{{.*}}>]{{.*}} nests [#tile.row_accesses<widths = [4, 4, 4]>]
!x = tensor<128xf32>
func.func @even(%xs: !ft.list<[N], !x>, %w: !x) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.constant dense<0.0> : tensor<f32>
    %e = tensor.empty() : !x
    %s = linalg.reduce { arith.addf } ins(%x : !x) outs(%z : tensor<f32>) dimensions = [0]
    %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : !x) dimensions = [0]
    %c = arith.divf %x, %b : !x
    %y = arith.mulf %c, %w : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}

// Rows of 1003 begin anywhere: lanes count from the line of memory in which a row of the result begins, place 3. Place 1, one number for each row, is no row.
// CHECK-LABEL: func.func @odd_k0
// CHECK: layouts [#etdg.row_lanes<{{.*}}line = 32>]{{.*}} nests [#tile.row_accesses<widths = [1, 1, 1, 1], line = 3>]
!o = tensor<1003xf32>
func.func @odd(%xs: !ft.list<[N], !o>, %as: !ft.list<[N], tensor<f32>>, %w: !o) -> !ft.list<[N], !o> {
  %ys = ft.map (%x, %a = %xs, %as : !ft.list<[N], !o>, !ft.list<[N], tensor<f32>>) -> !ft.list<[N], !o> {
    %e = tensor.empty() : !o
    %s = linalg.reduce { arith.addf } ins(%x : !o) outs(%a : tensor<f32>) dimensions = [0]
    %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : !o) dimensions = [0]
    %c = arith.divf %x, %b : !o
    %y = arith.mulf %c, %w : !o
    ft.yield %y : !o
  }
  return %ys : !ft.list<[N], !o>
}
