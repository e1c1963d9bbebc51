// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests of leaves as operations of `tile`: the tiling that the leaf's layouts give is printed, with all that follows from it.
//
// RUN: ft-opt %S/../../Engine/Emulator/reuse.mlir --ft-compile="to=threads target=sm_90a" | FileCheck %s --check-prefix=REUSE
// RUN: ft-opt %S/../../Schedule/GPU/product-prices.mlir --ft-compile="to=threads target=sm_90a" | FileCheck %s --check-prefix=SHORT
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a" | FileCheck %s

// A thread block shares a row of 200, one after the other.
// REUSE-LABEL: llvm.func @block_sums_k0
// REUSE: tile.nest %{{.*}} scratch %{{.*}} loops [3, 200] reduced [false, true] layout <threads = 256, vector = 1, lanes = 256, reuse = true> {
// REUSE: tile.reduce_points(%{{.*}}) from(%{{.*}}) neutral [0 : i32]
// REUSE: } combine {

// Slices of sums: memory for what threads leave each other, no form of its own for few rows.
// REUSE-LABEL: llvm.func @sliced_columns_k0
// REUSE: tile.nest %{{.*}} rows(%{{.*}}) partials %{{.*}} loops [160, 160] reduced [false, true] layout <threads = 256, vector = 0, width = 4, tile = 4, rows = true, slices = 20, granule = 8, unroll = [1]> {
// REUSE: tile.read %{{.*}} at <offset = 0, strides = [0, 1]> : !tile.memory<i32> -> i32
// REUSE: tile.read %{{.*}} at <offset = 0, strides = [1, 160]> {width = 4 : i64} : !tile.memory<i32> -> i32

// Tiles of rows, and rows one by one where there are fewer than a tile has.
// SHORT-LABEL: llvm.func @short_k0
// SHORT: %[[ENOUGH:.*]] = arith.cmpi sge, %[[ROWS:.*]], %c4_i64
// SHORT: scf.if %[[ENOUGH]] {
// SHORT: tile.nest %{{.*}} rows(%[[ROWS]]) loops [1024, 4] reduced [false, true] layout <threads = 256, vector = 0, width = 4, tile = 4, rows = true, unroll = [1]> {
// SHORT: } else {
// SHORT: tile.nest %{{.*}} rows(%[[ROWS]]) loops [1024, 4] reduced [false, true] layout <threads = 256, vector = 0, width = 4, unroll = [1]> {

// A value between two members of a nest that nothing else reads has no memory; data says where elements begin.
// CHECK-LABEL: llvm.func @gather_k0
// CHECK: %[[X:.*]] = tile.memory %arg1 : !llvm.ptr<1>
// CHECK: tile.nest
// CHECK: %[[E:.*]] = tile.read %[[X]] at <offset = 0, strides = {{.*}}> {{.*}}: !tile.memory<f32> -> f32 {
// CHECK: llvm.load {{.*}} -> i64
// CHECK: arith.cmpi uge
// CHECK: tile.yield %{{.*}} : i64
// CHECK: %[[M:.*]] = tile.map_points(%[[E]]
// CHECK: %[[N:.*]] = tile.map_points(%[[M]]
// CHECK: tile.write %[[N]]
// CHECK-NOT: tile.write
func.func @gather(%x: tensor<8x40xf32>, %is: !ft.list<[N], tensor<1xi64>>) -> !ft.list<[N], tensor<40xf32>> attributes {ft.lengths = {N = 5 : i64}} {
  %c0 = arith.constant 0 : index
  %ys = ft.map (%i = %is : !ft.list<[N], tensor<1xi64>>) -> !ft.list<[N], tensor<40xf32>> {
    %j = tensor.extract %i[%c0] : tensor<1xi64>
    %k = arith.index_cast %j : i64 to index
    %r = tensor.extract_slice %x[%k, 0] [1, 40] [1, 1] : tensor<8x40xf32> to tensor<40xf32>
    %t = math.tanh %r : tensor<40xf32>
    %u = arith.addf %t, %t : tensor<40xf32>
    ft.yield %u : tensor<40xf32>
  }
  return %ys : !ft.list<[N], tensor<40xf32>>
}

// Where there is memory for the sums of one row but not of a tile of them, rows one by one have slices.
// CHECK-LABEL: llvm.func @few_k0
// CHECK: scf.if %{{.*}} {
// CHECK: tile.nest %{{.*}} rows(%{{.*}}) loops [7, 40] reduced [false, true] layout <threads = 64, tile = 4, rows = true, unroll = [1, 5]> {
// CHECK: } else {
// CHECK: tile.nest %{{.*}} rows(%{{.*}}) partials %{{.*}} loops [7, 40] reduced [false, true] layout <threads = 64, slices = 4, granule = 5, unroll = [1]> {
etdg.graph @few(%xs: !etdg.buffer<[N], tensor<7x40xf32>>) -> !etdg.buffer<[N], tensor<7xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N], tensor<7xf32>>
  etdg.block @t [map] (i) in [0, N) reads (%x = %xs[i] : tensor<7x40xf32>) writes (%ys[i])
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, most = 16, kind = parallel, level = grid>, <dimension = 0, most = 16, kind = parallel, level = rows>]
        block = <threads = 64, shared = 16384, sums = 8>>
      attributes {etdg.layouts = [#etdg.tiling<rows = 4, slices = 4, unroll = [1, 5], rest_unroll = [1, 5]>]} {
    %z = arith.constant dense<0.0> : tensor<7xf32>
    %y = linalg.reduce { arith.addf } ins(%x : tensor<7x40xf32>) outs(%z : tensor<7xf32>) dimensions = [1]
    etdg.yield %y : tensor<7xf32>
  } : !etdg.buffer<[N], tensor<7x40xf32>>, !etdg.buffer<[N], tensor<7xf32>>
  etdg.return %ys : !etdg.buffer<[N], tensor<7xf32>>
}
