// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed after a product from where its elements lie: masks, and numbers of rows and columns, in the registers that hold its tile.
// Rows and columns of several loops, batches, sizes that no tile divides.
//
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --machine=%t.json %ft_bin/ft-run %s 1 5 | FileCheck %s
// CHECK: 4 programs, {{[1-9][0-9]*}} runs, 0 failures
// RUN: %python %S/Inputs/emulate.py --machine=%t.json --interpret-tile %ft_bin/ft-run %s 5 | FileCheck %s --check-prefix=MEANING
// MEANING: 4 of them on tiles
// MEANING: 4 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=TILES
// TILES-LABEL: llvm.func @mask
// TILES: tile.mma
// TILES-DAG: tile.numbers %{{.*}} along 0 : !tile.registers<{{.*}}xi64
// TILES-DAG: tile.numbers %{{.*}} along 1 : !tile.registers<{{.*}}xi64
// TILES: tile.reduce
// TILES-LABEL: llvm.func @digits
// TILES: tile.mma
// TILES: tile.numbers
// TILES-LABEL: llvm.func @blocks
// TILES: tile.mma
// TILES: tile.numbers
// TILES-LABEL: llvm.func @halves
// TILES: tile.mma {{.*}}fragments
// TILES: tile.numbers
// Causal attention: blocks of queries are rows of one tile, which the numbers of keys that are joined have in common.
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/' %examples/flash_attention_causal.mlir | ft-opt --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" \
// RUN:   | FileCheck %s --check-prefix=CAUSAL
// CAUSAL: <dimension = 2, most = 4, kind = parallel, level = rows>]
// CAUSAL: etdg.layouts = [#tile.chain<rows = 128>]

// A product whose upper triangle counts as very low, and the softmax of its rows; 67 rows of 37 columns.
func.func @mask(%as: !ft.list<[N], tensor<67x29xf32>>, %b: tensor<29x37xf32>) -> !ft.list<[N], tensor<67x37xf32>> attributes {ft.lengths = {N = 5 : i64}} {
  %z = arith.constant dense<0.0> : tensor<67x37xf32>
  %least = arith.constant dense<-1.0e30> : tensor<67xf32>
  %none = arith.constant dense<0.0> : tensor<67xf32>
  %low = arith.constant -1.0e30 : f32
  %rs = ft.map (%a = %as : !ft.list<[N], tensor<67x29xf32>>) -> !ft.list<[N], tensor<67x37xf32>> {
    %e = tensor.empty() : tensor<67x37xf32>
    %s = linalg.matmul ins(%a, %b : tensor<67x29xf32>, tensor<29x37xf32>) outs(%z : tensor<67x37xf32>) -> tensor<67x37xf32>
    %seen = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<67x37xf32>) outs(%e : tensor<67x37xf32>) {
    ^bb0(%x: f32, %old: f32):
      %r = linalg.index 0 : index
      %c = linalg.index 1 : index
      %later = arith.cmpi ult, %r, %c : index
      %y = arith.select %later, %low, %x : f32
      linalg.yield %y : f32
    } -> tensor<67x37xf32>
    %m = linalg.reduce { arith.maximumf } ins(%seen : tensor<67x37xf32>) outs(%least : tensor<67xf32>) dimensions = [1]
    %mb = linalg.broadcast ins(%m : tensor<67xf32>) outs(%e : tensor<67x37xf32>) dimensions = [1]
    %d = arith.subf %seen, %mb : tensor<67x37xf32>
    %p = math.exp %d : tensor<67x37xf32>
    %l = linalg.reduce { arith.addf } ins(%p : tensor<67x37xf32>) outs(%none : tensor<67xf32>) dimensions = [1]
    %lb = linalg.broadcast ins(%l : tensor<67xf32>) outs(%e : tensor<67x37xf32>) dimensions = [1]
    %q = arith.divf %p, %lb : tensor<67x37xf32>
    ft.yield %q : tensor<67x37xf32>
  }
  return %rs : !ft.list<[N], tensor<67x37xf32>>
}

// Columns of two loops, and a batch: each index by itself. The mask is a flag for each element.
func.func @digits(%as: !ft.list<[N], tensor<3x40x16xf32>>, %b: tensor<3x16x6x8xf32>) -> !ft.list<[N], tensor<3x40x6x8xf32>> attributes {ft.lengths = {N = 5 : i64}} {
  %z = arith.constant dense<0.0> : tensor<3x40x6x8xf32>
  %rs = ft.map (%a = %as : !ft.list<[N], tensor<3x40x16xf32>>) -> !ft.list<[N], tensor<3x40x6x8xf32>> {
    %e = tensor.empty() : tensor<3x40x6x8xf32>
    %f = tensor.empty() : tensor<3x40x6x8xi1>
    %s = linalg.generic {indexing_maps = [affine_map<(n, i, j, l, k) -> (n, i, k)>, affine_map<(n, i, j, l, k) -> (n, k, j, l)>, affine_map<(n, i, j, l, k) -> (n, i, j, l)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<3x40x16xf32>, tensor<3x16x6x8xf32>) outs(%z : tensor<3x40x6x8xf32>) {
    ^bb0(%x: f32, %y: f32, %c: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %c, %m : f32
      linalg.yield %t : f32
    } -> tensor<3x40x6x8xf32>
    %number = linalg.generic {indexing_maps = [affine_map<(n, i, j, l) -> (n, i, j, l)>, affine_map<(n, i, j, l) -> (n, i, j, l)>],
                              iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%s : tensor<3x40x6x8xf32>) outs(%e : tensor<3x40x6x8xf32>) {
    ^bb0(%x: f32, %old: f32):
      %n = linalg.index 0 : index
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %l = linalg.index 3 : index
      %c7 = arith.constant 7 : index
      %c41 = arith.constant 41 : index
      %c11 = arith.constant 11 : index
      %n1 = arith.muli %n, %c41 : index
      %i1 = arith.addi %n1, %i : index
      %i2 = arith.muli %i1, %c7 : index
      %j1 = arith.addi %i2, %j : index
      %j2 = arith.muli %j1, %c11 : index
      %l1 = arith.addi %j2, %l : index
      %q = arith.index_cast %l1 : index to i32
      %g = arith.sitofp %q : i32 to f32
      %y = arith.addf %x, %g : f32
      linalg.yield %y : f32
    } -> tensor<3x40x6x8xf32>
    %odd = linalg.generic {indexing_maps = [affine_map<(n, i, j, l) -> (n, i, j, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        outs(%f : tensor<3x40x6x8xi1>) {
    ^bb0(%old: i1):
      %j = linalg.index 2 : index
      %l = linalg.index 3 : index
      %is = arith.cmpi ult, %j, %l : index
      linalg.yield %is : i1
    } -> tensor<3x40x6x8xi1>
    %r = arith.select %odd, %number, %s : tensor<3x40x6x8xi1>, tensor<3x40x6x8xf32>
    ft.yield %r : tensor<3x40x6x8xf32>
  }
  return %rs : !ft.list<[N], tensor<3x40x6x8xf32>>
}

// A number of the iteration beside those of the element: it counts along the rows of a tile that has several elements of the list.
func.func @blocks(%as: !ft.list<[N], tensor<32x24xf32>>, %b: tensor<24x32xf32>) -> !ft.list<[N], tensor<32x32xf32>> attributes {ft.lengths = {N = 5 : i64}} {
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %numbers = ft.iota : !ft.list<[N], tensor<i64>>
  %cs = ft.map (%a, %n = %as, %numbers : !ft.list<[N], tensor<32x24xf32>>, !ft.list<[N], tensor<i64>>) -> !ft.list<[N], tensor<32x32xf32>> {
    %e = tensor.empty() : tensor<32x32xf32>
    %s = linalg.matmul ins(%a, %b : tensor<32x24xf32>, tensor<24x32xf32>) outs(%z : tensor<32x32xf32>) -> tensor<32x32xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> ()>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
        ins(%s, %n : tensor<32x32xf32>, tensor<i64>) outs(%e : tensor<32x32xf32>) {
    ^bb0(%x: f32, %of: i64, %old: f32):
      %c = linalg.index 1 : index
      %ci = arith.index_cast %c : index to i64
      %sum = arith.addi %ci, %of : i64
      %f = arith.sitofp %sum : i64 to f32
      %t = arith.addf %x, %f : f32
      linalg.yield %t : f32
    } -> tensor<32x32xf32>
    ft.yield %y : tensor<32x32xf32>
  }
  return %cs : !ft.list<[N], tensor<32x32xf32>>
}

// Halves, whose fragments matrix units multiply.
func.func @halves(%as: !ft.list<[N], tensor<64x48xf16>>, %b: tensor<48x64xf16>) -> !ft.list<[N], tensor<64x64xf16>> attributes {ft.lengths = {N = 5 : i64}} {
  %z = arith.constant dense<0.0> : tensor<64x64xf16>
  %rs = ft.map (%a = %as : !ft.list<[N], tensor<64x48xf16>>) -> !ft.list<[N], tensor<64x64xf16>> {
    %e = tensor.empty() : tensor<64x64xf16>
    %s = linalg.matmul ins(%a, %b : tensor<64x48xf16>, tensor<48x64xf16>) outs(%z : tensor<64x64xf16>) -> tensor<64x64xf16>
    %r = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) {
    ^bb0(%x: f16, %old: f16):
      %r = linalg.index 0 : index
      %c = linalg.index 1 : index
      %zero = arith.constant 0.0 : f16
      %later = arith.cmpi ult, %r, %c : index
      %y = arith.select %later, %zero, %x : f16
      linalg.yield %y : f16
    } -> tensor<64x64xf16>
    ft.yield %r : tensor<64x64xf16>
  }
  return %rs : !ft.list<[N], tensor<64x64xf16>>
}
