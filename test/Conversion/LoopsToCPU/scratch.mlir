// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a thread keeps what loop nests of a leaf hand on is written on the leaf by a pass, and read by the one that lowers it.
//
// RUN: mkdir -p %t
// RUN: ft-opt %s --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" -o %t/chosen.mlir && FileCheck %s < %t/chosen.mlir
// What all rows share; a product's results, of all rows; in a loop over rows, terms and their sum. What is added to the product stays in
// registers, value 2.
// CHECK: scratch [#loops.scratch<value = 0, once, offset = 0, bytes = 192>, #loops.scratch<value = 1, rows, offset = 0, bytes = 192>, #loops.scratch<value = 3, row, offset = 192, bytes = 192>, #loops.scratch<value = 4, row, offset = 384, bytes = 64>]
// The pass alone, where that is all that is left open; in another order, two loops over the rows, terms and their sum are those of all rows.
// RUN: sed 's/ scratch \[.*\] {$/ {/' %t/chosen.mlir > %t/open.mlir
// RUN: ft-opt %t/open.mlir --loops-place-scratch | diff - %t/chosen.mlir
// RUN: sed 's/array<i64: 2, 5>/array<i64: 2>, array<i64: 5>/' %t/open.mlir | ft-opt --loops-place-scratch | FileCheck %s --check-prefix=APART
// APART: scratch [{{.*}}<value = 3, rows, {{.*}}<value = 4, rows,
// RUN: sed 's/ {loops.row_loops = .*}$//' %t/open.mlir | not ft-opt --loops-place-scratch 2>&1 | FileCheck %s --check-prefix=UNSAID
// UNSAID: error: its loop nest 0 can't be computed in this place (loops.row_loops): it is not specified where (loops-choose-row-loops does)
// What is written stays, and is obeyed.
// RUN: sed 's/row, offset = 192/row, offset = 1024/' %t/chosen.mlir > %t/moved.mlir
// RUN: ft-opt %t/moved.mlir --loops-decide-for-cpu | FileCheck %s --check-prefix=STAYS
// STAYS: <value = 3, row, offset = 1024, bytes = 192>
// RUN: ft-opt %t/chosen.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=CHOSEN
// CHOSEN-LABEL: func.func private @leaf0
// CHOSEN-SAME: ft.scratch_fixed = 448 : i64, ft.scratch_per_row = 192 : i64
// CHOSEN: memref.view %{{.*}}[%c0]
// CHOSEN: memref.view %{{.*}}[%c448]
// CHOSEN: memref.view %{{.*}}[%c192]
// CHOSEN: memref.view %{{.*}}[%c384]
// CHOSEN-NOT: memref.view
// RUN: ft-opt %t/moved.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=MOVED
// MOVED-LABEL: func.func private @leaf0
// MOVED-SAME: ft.scratch_fixed = 1216 : i64, ft.scratch_per_row = 192 : i64
// MOVED: memref.view %{{.*}}[%c1024]
// MOVED: memref.view %{{.*}}[%c384]
// The terms of all rows, though those of one would do: after the product's results of all rows.
// RUN: sed 's/row, offset = 192/rows, offset = 192/' %t/chosen.mlir | ft-opt --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=ROWS
// ROWS-LABEL: func.func private @leaf0
// ROWS-SAME: ft.scratch_fixed = 448 : i64, ft.scratch_per_row = 384 : i64
// ROWS: %[[BEFORE:.*]] = arith.muli %arg0, %c192
// ROWS: %[[AT:.*]] = arith.addi %c448{{.*}}, %[[BEFORE]]
// ROWS: memref.view %{{.*}}[%[[AT]]]
// A value that could stay in a register may have memory.
// RUN: sed 's/#loops.scratch<value = 3/#loops.scratch<value = 2, row, offset = 512, bytes = 192>, &/' %t/chosen.mlir | ft-opt --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=STORED
// STORED: %[[MORE:.*]] = memref.view %{{.*}}[%c512]
// STORED: vector.store %{{.*}}, %[[MORE]]

// What a value can't have is refused where it is computed.
// RUN: sed 's/1, rows, offset/1, row, offset/' %t/chosen.mlir > %t/row.mlir
// RUN: not ft-opt %t/row.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: row.mlir:{{[0-9]+:[0-9]+}}: error: value 1 between its loop nests can't be in this place: more than one loop over rows uses it, expected `rows`
// RUN: sed 's/0, once, offset/0, row, offset/' %t/chosen.mlir > %t/shared.mlir
// RUN: not ft-opt %t/shared.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: shared.mlir:{{[0-9]+:[0-9]+}}: error: value 0 between its loop nests can't be in this place: all rows share it, expected `once`
// RUN: sed 's/1, rows, offset/1, once, offset/' %t/chosen.mlir > %t/once.mlir
// RUN: not ft-opt %t/once.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: once.mlir:{{[0-9]+:[0-9]+}}: error: value 1 between its loop nests can't be in this place: rows have their own, found `once`
// RUN: sed 's/offset = 192, bytes = 192/offset = 192, bytes = 128/' %t/chosen.mlir > %t/small.mlir
// RUN: not ft-opt %t/small.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: small.mlir:{{[0-9]+:[0-9]+}}: error: value 3 between its loop nests can't be in this place: it has 192 bytes, found 128
// RUN: sed 's/offset = 384/offset = 320/' %t/chosen.mlir > %t/overlap.mlir
// RUN: not ft-opt %t/overlap.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: overlap.mlir:{{[0-9]+:[0-9]+}}: error: value 4 between its loop nests can't be in this place: value 3 is needed while it is, and has bytes 192 to 384
// RUN: sed 's/#loops.scratch<value = 1, rows, offset = 0, bytes = 192>, //' %t/chosen.mlir > %t/missing.mlir
// RUN: not ft-opt %t/missing.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: missing.mlir:{{[0-9]+:[0-9]+}}: error: value 1 between its loop nests can't be in this place: it is read from memory, expected a #loops.scratch of 192 bytes
// RUN: sed 's/value = 4/value = 9/' %t/chosen.mlir > %t/unknown.mlir
// RUN: not ft-opt %t/unknown.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: its loop nests hand on {{[5-8]}} values, found a place of value 9

!x = memref<?x32xf32, strided<[?, 1], offset: ?>>
!y = memref<?x48xf32, strided<[?, 1], offset: ?>>
!w = memref<?x32x48xf32, strided<[?, 48, 1], offset: ?>>
func.func @softmax(%n: index, %xs: memref<?xf32>, %ws: memref<?xf32>, %vs: memref<?xf32>, %ys: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c1536 = arith.constant 1536 : index
  %x = memref.reinterpret_cast %xs to offset: [%c0], sizes: [%n, 32], strides: [%c32, 1] : memref<?xf32> to !x
  %w = memref.reinterpret_cast %ws to offset: [%c0], sizes: [%c1, 32, 48], strides: [%c1536, 48, 1] : memref<?xf32> to !w
  %v = memref.reinterpret_cast %vs to offset: [%c0], sizes: [%c1, 48], strides: [%c48, 1] : memref<?xf32> to !y
  %y = memref.reinterpret_cast %ys to offset: [%c0], sizes: [%n, 48], strides: [%c48, 1] : memref<?xf32> to !y
  loops.leaf rows(%n) most 64 ins(%x, %w, %v : !x, !w, !y) varies [true, false, false] outs(%y : !y) overlaps [] {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32x48xf32>, %d: tensor<48xf32>):
    %z = arith.constant dense<0.0> : tensor<48xf32>
    %z0 = arith.constant dense<0.0> : tensor<f32>
    %shared = math.exp %d : tensor<48xf32>
    %c = linalg.vecmat ins(%a, %b : tensor<32xf32>, tensor<32x48xf32>) outs(%z : tensor<48xf32>) -> tensor<48xf32>
    %e = arith.addf %c, %shared : tensor<48xf32>
    %f = math.exp %e : tensor<48xf32>
    %s = linalg.reduce {arith.addf} ins(%f : tensor<48xf32>) outs(%z0 : tensor<f32>) dimensions = [0]
    %empty = tensor.empty() : tensor<48xf32>
    %t = linalg.broadcast ins(%s : tensor<f32>) outs(%empty : tensor<48xf32>) dimensions = [0]
    %r = arith.divf %f, %t : tensor<48xf32>
    loops.yield %r : tensor<48xf32>
  }
  return
}
