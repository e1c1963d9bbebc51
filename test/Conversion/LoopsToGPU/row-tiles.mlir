// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves that work row by row as operations on rows of the dialect `tile`; their values, by the definitions of these
// operations and by the code that a lane runs.
//
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a" | FileCheck %s
// RUN: %python %S/../../Engine/Emulator/Inputs/emulate.py --interpret-tile %ft_bin/ft-run %s:largest,begun,several 2 5 | FileCheck %s --check-prefix=TILES
// TILES: 3 of them on tiles
// TILES: 3 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// RUN: %python %S/../../Engine/Emulator/Inputs/emulate.py %ft_bin/ft-run %s:largest,begun,several 2 | FileCheck %s --check-prefix=LANES
// LANES: 3 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

// Rows that begin where data says: in range they are equal, out of range the error is noted.
// RUN: %python -c "import numpy as n; n.save(r'%t.x.npy', n.arange(2400, dtype=n.float32).reshape(3, 8, 100) %% 7); n.save(r'%t.i.npy', n.array([0, 52, 7])); n.save(r'%t.j.npy', n.array([0, 53, 7]))"
// RUN: ft-run %s --entry=slices --engine=interpret-tile --compare=interpret --arg=%t.x.npy --arg=%t.i.npy | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=slices --engine=emulate --compare=interpret --arg=%t.x.npy --arg=%t.i.npy | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
// RUN: not ft-run %s --entry=slices --engine=interpret-tile --arg=%t.x.npy --arg=%t.j.npy 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: {{.*}}index 53 is out of range [0, 53)

// REQUIRES: numpy

!r = tensor<8xf32>
!x = tensor<8x48xf32>
!l = !ft.list<[N], !x>

// 48 elements of 8 points: 8 lanes share a row, in accesses of 4, and have two rows at a time. A reduction of two results, one of
// which is of the places of elements.
// CHECK-LABEL: gpu.module @largest
// CHECK: %[[L:.*]] = tile.lanes %{{.*}} : !tile.points<[8], 48, #[[ONE:row[0-9]*]]>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
// CHECK: %[[P:.*]] = tile.points %[[L]] from %[[I]] to %[[N]] : !tile.points<[8], 48, #[[ONE]]> -> !tile.points<[8], 48, #[[ROW:row[0-9]*]], masked>
// CHECK: %[[X:.*]] = tile.load_rows %[[P]], %{{.*}} stride %{{.*}} at <f32, offset = 0, digits = [48], step = 1> {width = 4 : i64} : {{.*}} -> !tile.rows<64x48xf32, #[[ROW]]>
// CHECK: %[[S:.*]]:2 = tile.accumulate %[[P]](%[[X]]) from(%{{.*}}, %{{.*}}) : {{.*}} -> (!tile.rows<64x32xf32, #[[ROW]]>, !tile.rows<64x32xi64, #[[ROW]]>) {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %[[D:.*]]: i64):
// CHECK: %[[K:.*]] = tile.index 2
// CHECK: arith.maximumf
// CHECK: arith.maxsi %[[D]], %[[K]]
// CHECK: tile.sweep(%[[P]], %[[S]]#0, %[[S]]#1) :
// CHECK: tile.reduce_rows
// CHECK: tile.map_rows
// CHECK: tile.reduce_rows
// CHECK: tile.map_rows
// CHECK: tile.store_rows {{.*}} digits = [1], step = 0> : !tile.rows<64xf32, #[[SLICED:sliced[0-9]*]]>
// CHECK: tile.store_rows {{.*}} digits = [1], step = 0> : !tile.rows<64xi64, #[[SLICED]]>
func.func @largest(%xs: !l) -> (!ft.list<[N], tensor<8xi64>>, !ft.list<[N], !r>) attributes {ft.lengths = {N = 8 : i64}} {
  %low = arith.constant dense<0xFF800000> : !r
  %none = arith.constant dense<-1> : tensor<8xi64>
  %ys, %zs = ft.map (%x = %xs : !l) -> !ft.list<[N], tensor<8xi64>>, !ft.list<[N], !r> {
    %m, %i = linalg.generic {indexing_maps = [affine_map<(p, k) -> (p, k)>, affine_map<(p, k) -> (p)>, affine_map<(p, k) -> (p)>],
                             iterator_types = ["parallel", "reduction"]}
        ins(%x : !x) outs(%low, %none : !r, tensor<8xi64>) {
    ^bb0(%a: f32, %c: f32, %d: i64):
      %k = linalg.index 1 : index
      %ki = arith.index_cast %k : index to i64
      %p = arith.maximumf %c, %a : f32
      %q = arith.maxsi %d, %ki : i64
      linalg.yield %p, %q : f32, i64
    } -> (!r, tensor<8xi64>)
    ft.yield %i, %m : tensor<8xi64>, !r
  }
  return %ys, %zs : !ft.list<[N], tensor<8xi64>>, !ft.list<[N], !r>
}

// A sum goes on from what lies in memory, which is loaded after the shuffles of its row; what all rows share is loaded once; a bit
// takes a byte in memory.
// CHECK-LABEL: gpu.module @begun
// CHECK: tile.reduce_rows
// CHECK: tile.load_rows {{.*}} digits = [1], step = 0> : {{.*}} -> !tile.rows<64xf32, #{{.*}}>
// CHECK: tile.load_rows {{.*}} digits = [0], step = 1> {uniform, width = 4 : i64} :
// CHECK: tile.sweep
// CHECK: tile.store_rows {{.*}} at <i1, offset = 0, digits = [48], step = 1> {width = 4 : i64} :
func.func @begun(%xs: !l, %init: !ft.list<[N], !r>, %g: tensor<48xf32>) -> (!l, !ft.list<[N], tensor<8x48xi1>>) attributes {ft.lengths = {N = 8 : i64}} {
  %low = arith.constant dense<1.0> : !r
  %ys, %zs = ft.map (%x, %i = %xs, %init : !l, !ft.list<[N], !r>) -> !l, !ft.list<[N], tensor<8x48xi1>> {
    %shape = tensor.empty() : !x
    %s = linalg.reduce { arith.addf } ins(%x : !x) outs(%i : !r) dimensions = [1]
    %m = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%low : !r) dimensions = [1]
    %sb = linalg.broadcast ins(%s : !r) outs(%shape : !x) dimensions = [1]
    %mb = linalg.broadcast ins(%m : !r) outs(%shape : !x) dimensions = [1]
    %gb = linalg.broadcast ins(%g : tensor<48xf32>) outs(%shape : !x) dimensions = [0]
    %y0 = arith.mulf %x, %sb : !x
    %y1 = arith.mulf %y0, %gb : !x
    %y = arith.subf %y1, %mb : !x
    %b = arith.cmpf olt, %y, %x : !x
    ft.yield %y, %b : !x, tensor<8x48xi1>
  }
  return %ys, %zs : !l, !ft.list<[N], tensor<8x48xi1>>
}

// A thread block has a row of 4099, from the line of memory on in which it begins; each of its reductions has places of its own,
// which are free after a barrier. How many elements a row has is counted once.
// CHECK-LABEL: gpu.module @several
// CHECK: %[[L:.*]] = tile.lanes
// CHECK: tile.accumulate %[[L]]() from
// CHECK: tile.reduce_rows {{.*}} through %[[M:.*]] : !tile.points<[], 4099, #{{.*}}>
// CHECK: scf.for
// CHECK: tile.points %[[L]] {{.*}} line %{{.*}} stride %{{.*}} at <f32, offset = 0, digits = [], step = 1> : {{.*}}, shifted>
// CHECK: tile.reduce_rows {{.*}} through %[[M]] {slot = 1 : i64}
// CHECK: tile.reduce_rows {{.*}} through %[[M]] {slot = 2 : i64}
// CHECK: tile.store_rows
// CHECK: tile.barrier
func.func @several(%xs: !ft.list<[N], tensor<1x4099xf32>>) -> !ft.list<[N], tensor<1x4099xf32>> attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %ones = arith.constant dense<1.0> : tensor<1x4099xf32>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x4099xf32>>) -> !ft.list<[N], tensor<1x4099xf32>> {
    %shape = tensor.empty() : tensor<1x4099xf32>
    %n = linalg.reduce { arith.addf } ins(%ones : tensor<1x4099xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
    %s = linalg.reduce { arith.addf } ins(%x : tensor<1x4099xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
    %mean = arith.divf %s, %n : tensor<1xf32>
    %mb = linalg.broadcast ins(%mean : tensor<1xf32>) outs(%shape : tensor<1x4099xf32>) dimensions = [1]
    %d = arith.subf %x, %mb : tensor<1x4099xf32>
    %dd = arith.mulf %d, %d : tensor<1x4099xf32>
    %v = linalg.reduce { arith.addf } ins(%dd : tensor<1x4099xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
    %vb = linalg.broadcast ins(%v : tensor<1xf32>) outs(%shape : tensor<1x4099xf32>) dimensions = [1]
    %y = arith.mulf %d, %vb : tensor<1x4099xf32>
    ft.yield %y : tensor<1x4099xf32>
  }
  return %ys : !ft.list<[N], tensor<1x4099xf32>>
}

// CHECK-LABEL: gpu.module @slices
// CHECK: tile.load_rows {{.*}} digits = [100], step = 1> : {{.*}} {
// CHECK: llvm.load
// CHECK: arith.cmpi uge
// CHECK: tile.yield %{{.*}} : i64
func.func @slices(%xs: !ft.list<[N], tensor<8x100xf32>>, %at: !ft.list<[N], tensor<index>>) -> !l attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %ys = ft.map (%w, %it = %xs, %at : !ft.list<[N], tensor<8x100xf32>>, !ft.list<[N], tensor<index>>) -> !l {
    %i = tensor.extract %it[] : tensor<index>
    %x = tensor.extract_slice %w[0, %i] [8, 48] [1, 1] : tensor<8x100xf32> to !x
    %shape = tensor.empty() : !x
    %s = linalg.reduce { arith.addf } ins(%x : !x) outs(%zero : !r) dimensions = [1]
    %sb = linalg.broadcast ins(%s : !r) outs(%shape : !x) dimensions = [1]
    %y = arith.mulf %x, %sb : !x
    ft.yield %y : !x
  }
  return %ys : !l
}

// Numbers that rows count are a value for each row, no memory.
// CHECK-LABEL: gpu.module @numbers
// CHECK: %[[P:.*]] = tile.points
// CHECK: tile.map_rows %[[P]]() : {{.*}} -> !tile.rows<{{.*}}xi64, #{{.*}}> {
// CHECK-NEXT: %[[R:.*]] = tile.index 0
// CHECK: arith.muli %[[R]],
etdg.graph @numbers(%xs: !etdg.buffer<[N], tensor<8x48xi64>>) -> !etdg.buffer<[N], tensor<8x48xi64>> {
  %ys = etdg.buffer : !etdg.buffer<[N], tensor<8x48xi64>>
  etdg.block @r [map] (i) in [0, N) reads (%x = %xs[i] : tensor<8x48xi64>, %n = index(2 * i + 3) : tensor<i64>) writes (%ys[i]) {
    %e = tensor.empty() : tensor<8x48xi64>
    %zero = arith.constant dense<0> : tensor<8xi64>
    %s = linalg.reduce { arith.addi } ins(%x : tensor<8x48xi64>) outs(%zero : tensor<8xi64>) dimensions = [1]
    %sb = linalg.broadcast ins(%s : tensor<8xi64>) outs(%e : tensor<8x48xi64>) dimensions = [1]
    %b = linalg.broadcast ins(%n : tensor<i64>) outs(%e : tensor<8x48xi64>) dimensions = [0, 1]
    %y = arith.addi %sb, %b : tensor<8x48xi64>
    etdg.yield %y : tensor<8x48xi64>
  } : !etdg.buffer<[N], tensor<8x48xi64>>, !etdg.buffer<[N], tensor<8x48xi64>>
  etdg.return %ys : !etdg.buffer<[N], tensor<8x48xi64>>
}
