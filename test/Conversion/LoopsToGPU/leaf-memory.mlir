// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What threads may not do with a leaf whose output may overlap an input is refused: keep its rows in registers, whose lanes read each other's elements, and
// share its columns.
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a | sed 's/layouts \[[^]]*\]/layouts [#etdg.row_lanes<lanes = 16, width = 4, rows = 2>]/' > %t.rows.mlir
// RUN: ft-opt %t.rows.mlir --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=APART
// APART: tile.load_rows
// RUN: sed 's/overlaps \[\]/overlaps [#loops.overlap<output = 0, input = 0, in_place>]/' %t.rows.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the layout #etdg.row_lanes<{{.*}}>: lanes without an element of their own read another lane's, which an output in the memory of an input may have overwritten
//
// Point by point it is made in place.
// RUN: sed 's/overlaps \[\]/overlaps [#loops.overlap<output = 0, input = 0, in_place>]/; s/layouts \[[^]]*\]/layouts [#etdg.tiling<vector = 0, width = 4>]/' %t.rows.mlir | ft-opt --loops-decide-for-gpu | FileCheck %s --check-prefix=POINTS
// POINTS: in_place>] layouts [#etdg.tiling<vector = 0, width = 4>] aligned [16, 16] nests [#tile.nest<loops = [1024], rows, tiles = <threads = 256, vector = 0, width = 4>, accesses = [4, 0, 4]>] {
// RUN: ft-opt %S/loops-to-gpu.mlir "--convert-etdg-to-loops=target=sm_90a multiprocessors=5" > %t.columns.mlir
// RUN: ft-opt %t.columns.mlir --loops-decide-for-gpu > /dev/null
// RUN: sed 's/overlaps \[\]/overlaps [#loops.overlap<output = 0, input = 0, any>]/' %t.columns.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: sed 's/overlaps \[\]//' %t.columns.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf: an output may overlap an input of another thread block, as these share the columns; expected overlaps that say where they do not

!x = tensor<16x64xf32>
func.func @points(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %a = math.tanh %x : !x
    %b = arith.mulf %a, %x : !x
    ft.yield %b : !x
  }
  return %ys : !ft.list<[N], !x>
}
