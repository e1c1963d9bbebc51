// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loop nests of a leaf are computed together, which rows of a product are a tile's, and how terms at a border stand is written on the leaf by
// a pass, and obeyed, or refused, by the one that lowers it, which decides nothing.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/leaf.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" -o %t/chosen.mlir && FileCheck %s < %t/chosen.mlir
// CHECK-LABEL: func.func @chain(
// CHECK: layouts [#loops.lanes<loop = 0, vector = 8, beside = 4>, #loops.joined<with = 0>, #loops.joined<with = 0>] {
// RUN: ft-opt %t/chosen.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=JOINED
// One loop has all three.
// JOINED-LABEL: func.func private @leaf0
// JOINED: scf.for {{.*}} step %c32 iter_args
// JOINED-COUNT-4: math.tanh
// JOINED-NOT: math.tanh
// JOINED: arith.addf %{{.*}} : f32

// How many operations are computed together is the machine's number.
// RUN: sed 's/"fused_ops": 96/"fused_ops": 1/' %S/../../machines/cpu.json > %t/narrow.json
// RUN: ft-opt %t/leaf.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%t/narrow.json" -o %t/apart.mlir && FileCheck %s --check-prefix=APART < %t/apart.mlir
// APART: layouts [#loops.lanes<loop = 0, vector = 8, beside = 1>, #loops.lanes<loop = 0, vector = 8, beside = 1>, #loops.lanes<loop = 0, vector = 8, beside = 4>]
// APART-SAME: scratch [#loops.scratch<value = 0,
// What is written so is two loops, with the value in memory between.
// RUN: ft-opt %t/apart.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=LOOPS
// LOOPS-LABEL: func.func private @leaf0
// LOOPS: math.tanh
// LOOPS-NEXT: vector.store
// LOOPS: arith.mulf
// LOOPS-NEXT: vector.store

// What is open is refused: all of a leaf, and one loop nest of it.
// RUN: not ft-opt %t/leaf.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: leaf.mlir:[[#]]:[[#]]: error: it is not specified how the leaf's loop nests are computed (loops-choose-tiles writes layouts)
// RUN: sed 's/scratch \[.*bytes = [0-9]*>\]//' %t/apart.mlir > %t/nowhere.mlir
// RUN: not ft-opt %t/nowhere.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: value 0 between its loop nests can't be in this place: it is read from memory, expected a #loops.scratch of 256 bytes
// RUN: sed 's/, #loops.joined<with = 0>//' %t/chosen.mlir > %t/few.mlir
// RUN: not ft-opt %t/few.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: expected a layout for each of 3 loop nests, found 2

// What is joined stands after what it needs, and after what says how.
// RUN: sed 's/, #loops.joined<with = 0>/, #loops.lanes<loop = 0, vector = 8, beside = 1>/' %t/chosen.mlir > %t/early.mlir
// RUN: not ft-opt %t/early.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: early.mlir:[[#]]:[[#]]: error: its loop nest 2 can't be computed together with loop nest 0: it needs what loop nest 1 computes, after that one
// RUN: sed 's/#loops.joined<with = 0>, #loops.joined<with = 0>/#loops.joined<with = 2>, #loops.lanes<loop = 0, vector = 8, beside = 4>/' %t/chosen.mlir > %t/behind.mlir
// RUN: not ft-opt %t/behind.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: error: its loop nest 1 can't be computed together with loop nest 2: that is none before it that says how it is computed
// RUN: not ft-opt %t/other.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: error: its loop nest 1 can't be computed together with loop nest 0: their loops, or what they hand on, do not meet point by point

// Rows of a tile are those of a loop of the product, or of the call.
// RUN: sed 's/row_loop = 0/row_loop = 1/' %t/rows.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: its product of matrices can't have this tile: its rows are not those of loop 1 ('row_loop')
// RUN: ft-opt %t/rows.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=THREE
// THREE-LABEL: func.func private @leaf0
// THREE: scf.for {{.*}} step %c3
// THREE-COUNT-3: math.fma
// Without one of the two each row is a tile.
// RUN: sed 's/row_loop = 0, //' %t/rows.mlir | ft-opt --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=SINGLE
// SINGLE-LABEL: func.func private @leaf0
// SINGLE-NOT: step %c3
// SINGLE: math.fma
// SINGLE-NOT: math.fma
// RUN: sed 's/each_row/each_row, written_out/' %t/rows.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: error: its product of matrices can't have this tile: terms stand one after the other ('written_out') where all of them run at once, and move columns along a border

//--- leaf.mlir
!x = memref<?x64xf32, strided<[64, 1]>>
!y = memref<?xf32, strided<[1]>>
func.func @chain(%n: index, %xs: memref<?xf32>, %ys: memref<?xf32>, %zs: memref<?xf32>) attributes {loops.kernel} {
  %x = memref.reinterpret_cast %xs to offset: [0], sizes: [%n, 64], strides: [64, 1] : memref<?xf32> to !x
  %y = memref.reinterpret_cast %ys to offset: [0], sizes: [%n, 64], strides: [64, 1] : memref<?xf32> to !x
  %z = memref.reinterpret_cast %zs to offset: [0], sizes: [%n], strides: [1] : memref<?xf32> to !y
  loops.leaf rows(%n) most 4 ins(%x : !x) varies [true] outs(%y, %z : !x, !y) overlaps [] {
  ^bb0(%a: tensor<64xf32>):
    %t = math.tanh %a : tensor<64xf32>
    %m = arith.mulf %t, %a : tensor<64xf32>
    %c = arith.constant dense<0.0> : tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%m : tensor<64xf32>) outs(%c : tensor<f32>) dimensions = [0]
    loops.yield %m, %s : tensor<64xf32>, tensor<f32>
  }
  return
}
//--- other.mlir
!x = memref<?x64xf32, strided<[64, 1]>>
!y = memref<?x32xf32, strided<[32, 1]>>
func.func @other(%n: index, %xs: memref<?xf32>, %ys: memref<?xf32>) attributes {loops.kernel} {
  %x = memref.reinterpret_cast %xs to offset: [0], sizes: [%n, 64], strides: [64, 1] : memref<?xf32> to !x
  %y = memref.reinterpret_cast %ys to offset: [0], sizes: [%n, 32], strides: [32, 1] : memref<?xf32> to !y
  loops.leaf rows(%n) most 4 ins(%x, %y : !x, !y) varies [true, true] outs(%x, %y : !x, !y) overlaps [#loops.overlap<output = 0, input = 0, in_place>, #loops.overlap<output = 1, input = 1, in_place>]
    layouts [#loops.lanes<loop = 0, vector = 8, beside = 1>, #loops.joined<with = 0>] {
  ^bb0(%a: tensor<64xf32>, %b: tensor<32xf32>):
    %t = math.tanh %a : tensor<64xf32>
    %u = math.tanh %b : tensor<32xf32>
    loops.yield %t, %u : tensor<64xf32>, tensor<32xf32>
  }
  return
}
//--- rows.mlir
!x = memref<?x9x32xf32, strided<[288, 32, 1]>>
!w = memref<?x32x8xf32, strided<[256, 8, 1]>>
!y = memref<?x9x8xf32, strided<[72, 8, 1]>>
func.func @rows(%n: index, %xs: memref<?xf32>, %ws: memref<?xf32>, %ys: memref<?xf32>) attributes {loops.kernel} {
  %x = memref.reinterpret_cast %xs to offset: [0], sizes: [%n, 9, 32], strides: [288, 32, 1] : memref<?xf32> to !x
  %w = memref.reinterpret_cast %ws to offset: [0], sizes: [%n, 32, 8], strides: [256, 8, 1] : memref<?xf32> to !w
  %y = memref.reinterpret_cast %ys to offset: [0], sizes: [%n, 9, 8], strides: [72, 8, 1] : memref<?xf32> to !y
  loops.leaf rows(%n) most 4 ins(%x, %w : !x, !w) varies [true, false] outs(%y : !y) overlaps []
    layouts [#loops.product<rows = 3, columns = 8, vector = 8, row_loop = 0, each_row>] {
  ^bb0(%a: tensor<9x32xf32>, %b: tensor<32x8xf32>):
    %c = arith.constant dense<0.0> : tensor<9x8xf32>
    %p = linalg.matmul ins(%a, %b : tensor<9x32xf32>, tensor<32x8xf32>) outs(%c : tensor<9x8xf32>) -> tensor<9x8xf32>
    loops.yield %p : tensor<9x8xf32>
  } {loops.row_loops = [array<i64: 0>]}
  return
}
