// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a core computes products of matrices, and along which loop other loop nests are vectors, is written on the leaf by a pass,
// and read by the one that lowers it.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=64 vector-registers=32 machine=%S/../../machines/cpu.json" | FileCheck %s --check-prefixes=CHECK,AVX512
// What it writes once stays.
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" --loops-choose-tiles="vector-bytes=64 vector-registers=32 machine=%S/../../machines/cpu.json" | FileCheck %s --check-prefixes=CHECK,AVX2

// What follows is no product.
// CHECK-LABEL: func.func @rows(
// AVX2: layouts [#loops.product<rows = 6, columns = 16, vector = 8, rests = [4, 2, 1], join = 2>, #loops.lanes<loop = 0, vector = 8, beside = 1>]
// AVX512: layouts [#loops.product<rows = 6, columns = 64, vector = 16, rests = [4, 2, 1], join = 2>, #loops.lanes<loop = 0, vector = 16, beside = 1>]
// The right-hand side is not along the columns, and few rows read it.
// CHECK-LABEL: func.func @transposed(
// AVX2: layouts [#loops.product<rows = 2, columns = 4, vector = 4, along_terms, row_loop = 0, outlined>]
// AVX512: layouts [#loops.product<rows = 2, columns = 4, vector = 8, along_terms, row_loop = 0, outlined>]
// A right-hand side of 4 MB, for rows that a call knows. Tiles ask for columns so many terms ahead as take 40 ns, once for each line of 64 bytes.
// Copying columns pays from 64 rows on, where each row of the right-hand side begins with a vector.
// CHECK-LABEL: func.func @large(
// AVX2: layouts [#loops.product<rows = 6, columns = 16, vector = 8, rests = [4, 2, 1], join = 2, panel = 64, block = 32, ahead = 24, line = 16, ahead_rows = 4, outlined>]
// AVX512: layouts [#loops.product<rows = 6, columns = 64, vector = 16, rests = [4, 2, 1], join = 2, panel = 64, block = 32, ahead = 6, line = 16, ahead_rows = 4, outlined>]
// RUN: sed 's/1024/1023/g' %t/leaves.mlir | ft-opt --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" | FileCheck %s --check-prefix=ANYWHERE
// ANYWHERE-LABEL: func.func @large(
// ANYWHERE: panel = 24, block = 32
// A machine that says nothing of it, or whose nearest cache holds the columns of all terms, does not ask ahead.
// RUN: sed '/ahead_seconds/d; s/"sure_gain": 0.86,/"sure_gain": 0.86/; s/(docs.cpu-engine.md)",/"/' %S/../../machines/cpu.json > %t/never.json
// RUN: sed 's/"bytes": 32768/"bytes": 524288/' %S/../../machines/cpu.json > %t/large.json
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%t/never.json" | FileCheck %s --check-prefix=NEVER
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%t/large.json" | FileCheck %s --check-prefix=NEVER
// NEVER: block = 32, outlined>
// NEVER-NOT: ahead
// All numbers are a machine's: tiles of as many rows as rates are known for, what they leave in halves, together where that is faster.
// RUN: sed 's/, 1.10e11, 1.15e11\]/]/; s/"panel_rows_in_line": 64/"panel_rows_in_line": 48/; s/"block_terms": 32/"block_terms": 16/; s/"line_bytes": 64/"line_bytes": 128/; s/"outlined_work": 2048/"outlined_work": 2000000/; s/"beside_in_sums": 4/"beside_in_sums": 2/' %S/../../machines/cpu.json > %t/other.json
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%t/other.json" | FileCheck %s --check-prefix=OTHER
// OTHER-LABEL: func.func @large(
// OTHER: layouts [#loops.product<rows = 4, columns = 16, vector = 8, rests = [2, 1], panel = 48, block = 16, ahead = 36, line = 32, ahead_rows = 3>]
// 30 rows are tiles of 4, 4, 4, 4, 4, 4, 4 and 2.
// OTHER-LABEL: func.func @many(
// OTHER: layouts [#loops.product<rows = 4, columns = 16, vector = 8, row_loop = 0, rests = [2], each_row>]
// OTHER-LABEL: func.func @sums(
// OTHER: #loops.lanes<loop = 0, vector = 4, beside = 2>
// Where tiles of four rows are slower, 8 rows are 6 and 2.
// RUN: sed 's/1.08e11, 1.16e11/1.08e11, 1.02e11/' %S/../../machines/cpu.json > %t/slow.json
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%t/slow.json" | FileCheck %s --check-prefix=SLOW
// SLOW: #loops.product<rows = 6, columns = 16, vector = 8, rests = [4, 2, 1]>
// Each row has a right-hand side of its own, or the rows of a call are not joined, 30 of their own being enough.
// CHECK-LABEL: func.func @many(
// AVX2: layouts [#loops.product<rows = 6, columns = 16, vector = 8, row_loop = 0, each_row, outlined>]
// AVX512: layouts [#loops.product<rows = 6, columns = 64, vector = 16, row_loop = 0, each_row, outlined>]
// Halves are put next to each other as f32, of a left operand and of a right one: copies with vectors of their own.
// CHECK-LABEL: func.func @halves(
// AVX2: layouts [#loops.product<rows = 6, columns = 16, vector = 8, row_loop = 0, each_row, pack_left, pack_right, outlined>, #loops.lanes<loop = 0, vector = 8, beside = 1>, #loops.lanes<loop = 0, vector = 8, beside = 1>]
// CHECK-LABEL: func.func @none(
// AVX2: layouts [#loops.lanes<loop = 0, vector = 8, beside = 1>]
// AVX512: layouts [#loops.lanes<loop = 0, vector = 16, beside = 1>]
// A sum waits for itself: four vectors of it. One number is no vector; a copy that turns a matrix has squares instead.
// CHECK-LABEL: func.func @sums(
// AVX2: layouts [#loops.lanes<loop = 0, vector = 4, beside = 4>, #loops.lanes<loop = -1, vector = 1, beside = 1>, #loops.lanes<loop = 1, vector = {{[0-9]+}}, beside = 1, turned = 0>]
// AVX512: layouts [#loops.lanes<loop = 0, vector = 8, beside = 4>, #loops.lanes<loop = -1, vector = 1, beside = 1>, #loops.lanes<loop = 1, vector = {{[0-9]+}}, beside = 1, turned = 0>]
// A GPU's layouts are none of a core's.
// CHECK-LABEL: func.func @other(
// CHECK: layouts [#loops.product<rows = 6,

// Emission reads them: six rows and two vectors of eight are twelve sums; a tile that was changed is another.
// RUN: ft-opt %t/one.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=CHOSEN
// CHOSEN-LABEL: func.func private @leaf0
// CHOSEN: scf.for {{.*}} step %c6
// CHOSEN-COUNT-12: math.fma {{.*}} : vector<8xf32>
// CHOSEN: scf.for {{.*}} step %c4
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 4, vector = 4>]/' %t/one.mlir > %t/three.mlir
// RUN: ft-opt %t/three.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=THREE
// THREE-LABEL: func.func private @leaf0
// THREE-NOT: vector<8xf32>
// THREE: scf.for {{.*}} step %c4
// THREE: scf.for {{.*}} step %c3
// THREE-COUNT-3: math.fma {{.*}} : vector<4xf32>
// THREE: scf.for {{.*}} step %c1
// THREE-NOT: vector<8xf32>

// Rows are cut as it is written: seven are 4 and 3, not 5 and two single ones.
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 5, columns = 4, vector = 4, rests = [4, 3], join = 2>]/' %t/one.mlir > %t/rests.mlir
// RUN: ft-opt %t/rests.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=RESTS
// RESTS-LABEL: func.func private @leaf0
// RESTS: %[[REST:.*]] = arith.remui %[[LEFT:.*]], %c5
// RESTS: %[[IS:.*]] = arith.cmpi eq, %[[REST]], %c2
// RESTS: %[[ENOUGH:.*]] = arith.cmpi uge, %[[LEFT]], %c7
// RESTS: arith.andi %[[IS]], %[[ENOUGH]]
// RESTS: scf.for {{.*}} step %c5
// RESTS: scf.for {{.*}} step %c4
// RESTS: scf.for {{.*}} step %c3
// RESTS: scf.for {{.*}} step %c1

// A product that is outlined is a function, and called.
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 4, vector = 4, outlined>]/' %t/one.mlir > %t/outlined.mlir
// RUN: ft-opt %t/outlined.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=OUTLINED
// OUTLINED-LABEL: func.func private @ft_product_
// OUTLINED-LABEL: func.func private @leaf0
// OUTLINED-NOT: scf.for
// OUTLINED: call @ft_product_

// A tile of so many rows asks for each line of its columns of later terms, if its attribute says so.
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 16, vector = 4, ahead = 5, line = 16, ahead_rows = 2>]/' %t/one.mlir > %t/ahead.mlir
// RUN: ft-opt %t/ahead.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=AHEAD
// AHEAD-LABEL: func.func private @leaf0
// AHEAD: scf.for {{.*}} step %c3
// AHEAD: %[[TERMS:.*]] = arith.constant 5 : index
// AHEAD: %[[DISTANCE:.*]] = arith.muli %[[TERMS]], %c48
// AHEAD: %[[LATER:.*]] = arith.addi %{{.*}}, %[[DISTANCE]]
// AHEAD: memref.prefetch %{{.*}}[%[[LATER]]], read, locality<3>, data
// AHEAD-NOT: memref.prefetch
// AHEAD: return
// Lines of eight columns are asked for twice, by all tiles, single rows among them.
// RUN: sed 's/line = 16, ahead_rows = 2/line = 8/' %t/ahead.mlir | ft-opt --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=LINE
// LINE: scf.for {{.*}} step %c3
// LINE-COUNT-2: memref.prefetch
// LINE-NOT: memref.prefetch
// LINE: scf.for {{.*}} step %c1
// LINE-COUNT-2: memref.prefetch
// LINE-NOT: memref.prefetch

// Rows that are not joined are a loop around.
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 4, vector = 4, each_row>]/' %t/one.mlir > %t/each.mlir
// RUN: ft-opt %t/each.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=EACH
// EACH-LABEL: func.func private @leaf0
// EACH: scf.for {{.*}} = %c0{{.*}} to %arg0 step %c1
// EACH-NOT: step %c3

// An operand that is packed is copied first.
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 4, vector = 4, pack_right>, #loops.lanes<loop = 0, vector = 8, beside = 1>]/' %t/one.mlir > %t/pack.mlir
// RUN: ft-opt %t/pack.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=PACK
// PACK-LABEL: func.func private @leaf0
// PACK: vector.load
// PACK-NEXT: vector.store {{.*}} : memref<?xf32>, vector<8xf32>

// Vectors of other nests: as they are written.
// RUN: sed 's/linalg.vecmat .*/math.tanh %z : tensor<48xf32>/; s/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.lanes<loop = 0, vector = 4, beside = 3>]/' %t/one.mlir > %t/lanes.mlir
// RUN: ft-opt %t/lanes.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=LANES
// LANES-LABEL: func.func private @leaf0
// LANES: scf.for {{.*}} step %c12
// LANES-COUNT-3: vector.store {{.*}}, vector<4xf32>
// LANES-NOT: vector.store
// RUN: sed 's/vector = 4, beside = 3/vector = 4, beside = 1/; s/loop = 0/loop = 1/' %t/lanes.mlir > %t/loop.mlir
// RUN: not ft-opt %t/loop.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: loop.mlir:{{[0-9]+:[0-9]+}}: error: its loop nest can't have these vectors: it has 1 loops, found loop 1
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.lanes<loop = 0, vector = 4, beside = 1>]/' %t/one.mlir > %t/noproduct.mlir
// RUN: ft-opt %t/noproduct.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=NOPRODUCT
// (What is a product, too, is computed as it is written: its sums one after the other.)
// NOPRODUCT-LABEL: func.func private @leaf0
// NOPRODUCT: scf.for {{.*}} step %c4
// NOPRODUCT: scf.for {{.*}} -> (vector<4xf32>)
// NOPRODUCT-NOT: vector.store
// NOPRODUCT: vector.store {{.*}}, vector<4xf32>

// A matrix is turned in squares of the rows that are written, or not at all.
// RUN: ft-opt %t/turn.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=TURN
// TURN-LABEL: func.func private @leaf0
// TURN-COUNT-4: vector.load {{.*}}, vector<4xf32>
// TURN-COUNT-8: vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
// TURN-NOT: vector.shuffle
// TURN-COUNT-4: vector.store {{.*}}, vector<4xf32>
// RUN: sed 's/, turned = 0//' %t/turn.mlir | ft-opt --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=STRAIGHT
// STRAIGHT-LABEL: func.func private @leaf0
// STRAIGHT-NOT: vector.shuffle
// STRAIGHT: vector.store {{.*}}, vector<4xf32>
// RUN: sed 's/loop = 1, vector = 4, beside = 1, turned = 0/loop = 0, vector = 4, beside = 1, turned = 1/' %t/turn.mlir > %t/turn-other.mlir
// RUN: not ft-opt %t/turn-other.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=UNTURNED
// UNTURNED: error: its loop nest can't have these vectors: it is no copy that turns a matrix with these loops (turned)
// RUN: sed 's/vector = 4, beside = 1, turned/vector = 32, beside = 1, turned/' %t/turn.mlir > %t/turn-wide.mlir
// RUN: not ft-opt %t/turn-wide.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=SQUARE
// SQUARE: error: its loop nest can't have these vectors: a square has at most 16 rows and columns, found 32
// RUN: sed 's/turned = 0/&, rests = [#loops.lanes<loop = 0, vector = 4, beside = 1>]/' %t/turn.mlir > %t/turn-rests.mlir
// RUN: not ft-opt %t/turn-rests.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: its loop nest can't have these vectors: squares leave 0 parts, expected vectors of each (rests), found 1
// What squares leave has vectors of its own: two rows of 16 numbers, and as many columns as are left of 30.
// RUN: sed 's/16x32/18x30/g; s/32x16/30x18/g; s/512, 32, 1/540, 30, 1/g; s/512, 16, 1/540, 18, 1/g; s/16, 32\]/18, 30]/; s/32, 16\]/30, 18]/; s/ layouts .*>\] {/ {/' %t/turn.mlir > %t/turn-left.mlir
// RUN: ft-opt %t/turn-left.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" -o %t/turn-left.chosen.mlir && FileCheck %s --check-prefix=SQUARES < %t/turn-left.chosen.mlir
// SQUARES: layouts [#loops.lanes<loop = 1, vector = 8, beside = 1, turned = 0, rests = [#loops.lanes<loop = {{.*}}>, #loops.lanes<loop = {{.*}}>]>]
// RUN: ft-opt %t/turn-left.chosen.mlir --convert-loops-to-cpu --loops-lower-leaves -o /dev/null
// RUN: sed 's/turned = 0/turned = 1/' %t/turn.mlir > %t/turn-same.mlir
// RUN: not ft-opt %t/turn-same.mlir 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: error: (C3) expected two loops of a matrix that is turned, vectors, and one at a time, found loop = 1, turned = 1, vector = 4, beside = 1
// From how many rows on squares pay, and from how many columns on products in tiles, the machine says.
// RUN: sed 's/"least_square": 4/"least_square": 100/; s/"least_columns": 4/"least_columns": 512/' %S/../../machines/cpu.json > %t/least.json
// RUN: ft-opt %t/leaves.mlir --loops-choose-tiles="vector-bytes=32 vector-registers=16 machine=%t/least.json" | FileCheck %s --check-prefix=LEAST
// LEAST-LABEL: func.func @rows(
// LEAST: layouts [#loops.lanes<
// LEAST-LABEL: func.func @large(
// LEAST: layouts [#loops.product<
// LEAST-LABEL: func.func @sums(
// LEAST-NOT: turned
// LEAST: return

// What a product can't have, and what is no product.
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 8, vector = 8, along_terms>]/' %t/one.mlir > %t/along.mlir
// RUN: not ft-opt %t/along.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=ALONG
// ALONG: along.mlir:{{[0-9]+:[0-9]+}}: error: its product of matrices can't have this tile: no terms of both operands are adjacent
// RUN: sed 's/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 8, vector = 8>, #loops.joined<with = 0>]/' %t/one.mlir > %t/count.mlir
// RUN: not ft-opt %t/count.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: expected a layout for each of 1 loop nests, and of 0 copies of operands, found 2
// RUN: sed 's/linalg.vecmat .*/math.tanh %z : tensor<48xf32>/; s/varies \[true, false\] outs(%y : !y) overlaps \[\]/& layouts [#loops.product<rows = 3, columns = 8, vector = 8>]/' %t/one.mlir > %t/none.mlir
// RUN: not ft-opt %t/none.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: error: is no product of matrices that tiles in registers compute, loop nest 0

//--- turn.mlir
!from = memref<?x16x32xf32, strided<[512, 32, 1]>>
!to = memref<?x32x16xf32, strided<[512, 16, 1]>>
func.func @turn(%n: index, %xs: memref<?xf32>, %ys: memref<?xf32>) attributes {loops.kernel} {
  %x = memref.reinterpret_cast %xs to offset: [0], sizes: [%n, 16, 32], strides: [512, 32, 1] : memref<?xf32> to !from
  %y = memref.reinterpret_cast %ys to offset: [0], sizes: [%n, 32, 16], strides: [512, 16, 1] : memref<?xf32> to !to
  loops.leaf rows(%n) most 4 ins(%x : !from) varies [true] outs(%y : !to) overlaps [] layouts [#loops.lanes<loop = 1, vector = 4, beside = 1, turned = 0>] {
  ^bb0(%a: tensor<16x32xf32>):
    %e = tensor.empty() : tensor<32x16xf32>
    %t = linalg.transpose ins(%a : tensor<16x32xf32>) outs(%e : tensor<32x16xf32>) permutation = [1, 0]
    loops.yield %t : tensor<32x16xf32>
  } {loops.row_loops = [array<i64: 0>]}
  return
}
//--- leaves.mlir
!x = memref<?x32xf32, strided<[?, 1], offset: ?>>
!y = memref<?x48xf32, strided<[?, 1], offset: ?>>
!w = memref<?x32x48xf32, strided<[?, 48, 1], offset: ?>>
func.func @rows(%n: index, %x: !x, %w: !w, %y: !y) attributes {loops.kernel} {
  loops.leaf rows(%n) most 64 ins(%x, %w : !x, !w) varies [true, false] outs(%y : !y) overlaps [] {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32x48xf32>):
    %z = arith.constant dense<0.0> : tensor<48xf32>
    %c = linalg.vecmat ins(%a, %b : tensor<32xf32>, tensor<32x48xf32>) outs(%z : tensor<48xf32>) -> tensor<48xf32>
    %d = math.tanh %c : tensor<48xf32>
    loops.yield %d : tensor<48xf32>
  }
  return
}

!m = memref<?x2x64xf64, strided<[?, 64, 1], offset: ?>>
!v = memref<?x48x64xf64, strided<[?, 64, 1], offset: ?>>
!r = memref<?x2x48xf64, strided<[?, 48, 1], offset: ?>>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @transposed(%n: index, %x: !m, %w: !v, %y: !r) attributes {loops.kernel} {
  loops.leaf rows(%n) most 1 ins(%x, %w : !m, !v) varies [true, true] outs(%y : !r) overlaps [] {
  ^bb0(%a: tensor<2x64xf64>, %b: tensor<48x64xf64>):
    %z = arith.constant dense<0.0> : tensor<2x48xf64>
    %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<2x64xf64>, tensor<48x64xf64>) outs(%z : tensor<2x48xf64>) -> tensor<2x48xf64>
    loops.yield %c : tensor<2x48xf64>
  }
  return
}

!l = memref<?x1024xf32, strided<[?, 1], offset: ?>>
!big = memref<?x1024x1024xf32, strided<[?, 1024, 1], offset: ?>>
func.func @large(%n: index, %x: !l, %w: !big, %y: !l) attributes {loops.kernel} {
  loops.leaf rows(%n) most 64 ins(%x, %w : !l, !big) varies [true, false] outs(%y : !l) overlaps [] {
  ^bb0(%a: tensor<1024xf32>, %b: tensor<1024x1024xf32>):
    %z = arith.constant dense<0.0> : tensor<1024xf32>
    %c = linalg.vecmat ins(%a, %b : tensor<1024xf32>, tensor<1024x1024xf32>) outs(%z : tensor<1024xf32>) -> tensor<1024xf32>
    loops.yield %c : tensor<1024xf32>
  }
  return
}

!mm = memref<?x30x32xf32, strided<[?, 32, 1], offset: ?>>
!my = memref<?x30x48xf32, strided<[?, 48, 1], offset: ?>>
func.func @many(%n: index, %x: !mm, %w: !w, %y: !my) attributes {loops.kernel} {
  loops.leaf rows(%n) most 64 ins(%x, %w : !mm, !w) varies [true, false] outs(%y : !my) overlaps [] {
  ^bb0(%a: tensor<30x32xf32>, %b: tensor<32x48xf32>):
    %z = arith.constant dense<0.0> : tensor<30x48xf32>
    %c = linalg.matmul ins(%a, %b : tensor<30x32xf32>, tensor<32x48xf32>) outs(%z : tensor<30x48xf32>) -> tensor<30x48xf32>
    loops.yield %c : tensor<30x48xf32>
  }
  return
}

!hm = memref<?x30x32xf16, strided<[?, 32, 1], offset: ?>>
!hw = memref<?x32x48xf16, strided<[?, 48, 1], offset: ?>>
!hy = memref<?x30x48xf16, strided<[?, 48, 1], offset: ?>>
func.func @halves(%n: index, %x: !hm, %w: !hw, %y: !hy) attributes {loops.kernel} {
  loops.leaf rows(%n) most 64 ins(%x, %w : !hm, !hw) varies [true, false] outs(%y : !hy) sums f32 overlaps [] {
  ^bb0(%a: tensor<30x32xf16>, %b: tensor<32x48xf16>):
    %z = arith.constant dense<0.0> : tensor<30x48xf16>
    %c = linalg.matmul ins(%a, %b : tensor<30x32xf16>, tensor<32x48xf16>) outs(%z : tensor<30x48xf16>) -> tensor<30x48xf16>
    loops.yield %c : tensor<30x48xf16>
  }
  return
}

func.func @none(%n: index, %x: !x, %y: !x) attributes {loops.kernel} {
  loops.leaf rows(%n) most 64 ins(%x : !x) varies [true] outs(%y : !x) overlaps [] {
  ^bb0(%a: tensor<32xf32>):
    %d = math.tanh %a : tensor<32xf32>
    loops.yield %d : tensor<32xf32>
  }
  return
}

!s = memref<?x48x64xf64, strided<[?, 64, 1], offset: ?>>
!st = memref<?x64x48xf64, strided<[?, 48, 1], offset: ?>>
!s1 = memref<?xf64, strided<[?], offset: ?>>
func.func @sums(%n: index, %x: !s, %y: !s1, %t: !st) attributes {loops.kernel} {
  loops.leaf rows(%n) most 64 ins(%x : !s) varies [true] outs(%y, %t : !s1, !st) overlaps [] {
  ^bb0(%a: tensor<48x64xf64>):
    %z = arith.constant dense<0.0> : tensor<f64>
    %c = linalg.reduce {arith.addf} ins(%a : tensor<48x64xf64>) outs(%z : tensor<f64>) dimensions = [0, 1]
    %d = math.sqrt %c : tensor<f64>
    %e = tensor.empty() : tensor<64x48xf64>
    %f = linalg.transpose ins(%a : tensor<48x64xf64>) outs(%e : tensor<64x48xf64>) permutation = [1, 0]
    loops.yield %d, %f : tensor<f64>, tensor<64x48xf64>
  }
  return
}

func.func @other(%n: index, %x: !x, %w: !w, %y: !y) attributes {loops.kernel} {
  loops.leaf rows(%n) most 64 ins(%x, %w : !x, !w) varies [true, false] outs(%y : !y) overlaps [] layouts [#tile.product<block = [32, 32], thread = [4, 4], step = 16, stages = 2>] {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32x48xf32>):
    %z = arith.constant dense<0.0> : tensor<48xf32>
    %c = linalg.vecmat ins(%a, %b : tensor<32xf32>, tensor<32x48xf32>) outs(%z : tensor<48xf32>) -> tensor<48xf32>
    loops.yield %c : tensor<48xf32>
  }
  return
}

//--- one.mlir
!x = memref<?x32xf32, strided<[?, 1], offset: ?>>
!y = memref<?x48xf32, strided<[?, 1], offset: ?>>
!w = memref<?x32x48xf32, strided<[?, 48, 1], offset: ?>>
func.func @rows(%n: index, %xs: memref<?xf32>, %ws: memref<?xf32>, %ys: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c1536 = arith.constant 1536 : index
  %x = memref.reinterpret_cast %xs to offset: [%c0], sizes: [%n, 32], strides: [%c32, 1] : memref<?xf32> to !x
  %w = memref.reinterpret_cast %ws to offset: [%c0], sizes: [%c1, 32, 48], strides: [%c1536, 48, 1] : memref<?xf32> to !w
  %y = memref.reinterpret_cast %ys to offset: [%c0], sizes: [%n, 48], strides: [%c48, 1] : memref<?xf32> to !y
  loops.leaf rows(%n) most 64 ins(%x, %w : !x, !w) varies [true, false] outs(%y : !y) overlaps [] {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32x48xf32>):
    %z = arith.constant dense<0.0> : tensor<48xf32>
    %c = linalg.vecmat ins(%a, %b : tensor<32xf32>, tensor<32x48xf32>) outs(%z : tensor<48xf32>) -> tensor<48xf32>
    loops.yield %c : tensor<48xf32>
  }
  return
}
