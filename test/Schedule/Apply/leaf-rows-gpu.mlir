// Rows of leaves that thread blocks of a GPU compute: runs where a layout computes a product in tiles, else one by one; and layouts of other accesses
// than storage has left.
//
// RUN: ft-opt %s --etdg-choose-leaf-rows | FileCheck %s
// RUN: ft-opt %s --etdg-choose-leaf-rows --remarks-filter="storage" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOLD --implicit-check-not=remark:
// RUN: sed 's/ live \[2\]//' %s | ft-opt --ft-compile="from=schedule to=storage skip=storage target=sm_90a" | FileCheck %s --check-prefix=PHASE
// PHASE: #etdg.rows<runs>
//
// The loops are those that are said, here by a hand that changes the word.
// RUN: ft-opt %s --etdg-choose-leaf-rows | sed 's/<runs>/<one_by_one>/' | ft-opt --convert-etdg-to-loops=target=sm_90a --cse | FileCheck %s --check-prefixes=SINGLE
// RUN: ft-opt %s --etdg-choose-leaf-rows | ft-opt --convert-etdg-to-loops=target=sm_90a --cse | FileCheck %s --check-prefixes=RUNS
//
// Layouts of several rows are refused where a user wants them one by one.
// RUN: sed 's/ live \[2\]//' %s | ft-opt --etdg-choose-leaf-rows | sed 's/<at_once>/<one_by_one>/' | not ft-opt --ft-compile="from=storage to=threads target=sm_90a" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS
// ROWS: error: the GPU engine can't run the leaf's 'etdg.layouts': loop nest 0: rows = 2: the nest is computed for one row

#id1 = affine_map<(d0) -> (d0)>
#rows = #etdg.schedule<map = #id1, loops = [<dimension = 0, tile = 2, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 2, kind = parallel, level = rows>] block = <threads = 64, shared = 65536> target = "sm_90a">
!x = tensor<32x32xf32>

// TOLD: remark: {{.*}}leaf-rows{{.*}}rows are computed in runs: read 0 has other pieces at other rows
// CHECK-LABEL: etdg.graph @product
// CHECK: attributes {etdg.layouts = [#tile.product<{{.*}}>], etdg.rows = #etdg.rows<runs>}
// RUNS-LABEL: func.func @product_k0(
// RUNS: scf.while
// RUNS: loops.leaf rows(%{{.*}}) most 2 {{.*}} layouts [#tile.product
// SINGLE-LABEL: func.func @product_k0(
// SINGLE: loops.leaf rows(%c1{{.*}}) most 1 {{.*}} layouts [#tile.product
etdg.graph @product(%xs: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer in call : !etdg.buffer<[N], !x>
  etdg.block @p [map] (i) in [0, N) reads (%x = {i = 0: splat 0.0 : f32, i >= 1: %xs[i - 1]} : !x, %w0 = %w[] : !x) writes (%ys[i]) schedule #rows
      attributes {etdg.layouts = [#tile.product<block = [32, 32], thread = [4, 4], step = 16, stages = 2>]} {
    %z = arith.constant dense<0.0> : !x
    %y = linalg.matmul ins(%x, %w0 : !x, !x) outs(%z : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// Other leaves have their rows one by one. What the layout says is of one row, as the schedule's pass had it.
// TOLD: remark: {{.*}}leaf-rows{{.*}}rows are computed one by one: read 0 has other pieces at other rows, and no product in tiles would pay runs of them
// CHECK-LABEL: etdg.graph @plain
// CHECK: attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 4>], etdg.rows = #etdg.rows<one_by_one>}
etdg.graph @plain(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer in call : !etdg.buffer<[N], !x>
  etdg.block @p [map] (i) in [0, N) reads (%x = {i = 0: splat 0.0 : f32, i >= 1: %xs[i - 1]} : !x) writes (%ys[i]) schedule #rows
      attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 4>]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// Two planes of what is written: rows that the layout has together are apart.
// TOLD: remark: {{.*}}leaf-rows{{.*}}rows are computed one by one: write 0 goes around the planes that are kept
// TOLD: remark: {{.*}}other-layouts{{.*}}the layouts that the schedule chose are of several rows, which are computed one by one: they are chosen anew with the loops
// TOLD: remark: {{.*}}other-layouts{{.*}}the layouts that the schedule chose are of elements with other distances in memory than the planes that are kept leave them
// CHECK-LABEL: etdg.graph @planes
// CHECK: etdg.block @p
// CHECK: attributes {etdg.rows = #etdg.rows<one_by_one>}
// CHECK: etdg.block @q
// CHECK-NOT: etdg.layouts
// CHECK: etdg.return
// RUN: sed 's/ live \[2\]//' %s | ft-opt --etdg-choose-leaf-rows | FileCheck %s --check-prefix=ALL
// ALL: etdg.graph @planes
// ALL: attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 4, rows = 2>], etdg.rows = #etdg.rows<at_once>}
// ALL: attributes {etdg.layouts = [#etdg.tiling<vector = 0>]}
etdg.graph @planes(%xs: !etdg.buffer<[16], !x>) -> !etdg.buffer<[], tensor<32x16xf32>> {
  %s = etdg.buffer live [2] in call : !etdg.buffer<[16], !x>
  %ys = etdg.buffer in call : !etdg.buffer<[], tensor<32x16xf32>>
  etdg.block @p [map] (i) in [0, 16) reads (%x = %xs[i] : !x) writes (%s[i]) schedule #rows
      attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 4, rows = 2>]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[16], !x>, !etdg.buffer<[16], !x>
  etdg.block @q [] () reads (%x = elem (a, b) %s[b, a, 0] : tensor<32x16xf32>) writes (%ys[])
      schedule <map = affine_map<() -> ()> block = <threads = 64, shared = 65536> target = "sm_90a"> attributes {etdg.layouts = [#etdg.tiling<vector = 0>]} {
    %y = arith.addf %x, %x : tensor<32x16xf32>
    etdg.yield %y : tensor<32x16xf32>
  } : !etdg.buffer<[16], !x>, !etdg.buffer<[], tensor<32x16xf32>>
  etdg.return %ys : !etdg.buffer<[], tensor<32x16xf32>>
}
