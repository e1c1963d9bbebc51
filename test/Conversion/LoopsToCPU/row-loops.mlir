// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loop nests of a leaf one loop over the rows computes, and in which order, is written on the leaf by a pass, and read by the one that lowers it.
//
// RUN: mkdir -p %t
// RUN: ft-opt %S/scratch.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" -o %t/chosen.mlir && FileCheck %s < %t/chosen.mlir
// What all rows share; a product, whose rows are those of its result; the sum and the division, row by row. Nests 3 and 4 are computed together with 2.
// CHECK: {loops.row_loops = [array<i64: 0>, array<i64: 1>, array<i64: 2, 5>]}
// The pass alone, where that is all that is left open; and where it is not clear what there is to be put in order.
// RUN: sed 's/ {loops.row_loops = .*}$//' %t/chosen.mlir > %t/open.mlir
// RUN: ft-opt %t/open.mlir --loops-choose-row-loops | diff - %t/chosen.mlir
// RUN: not ft-opt %S/scratch.mlir --loops-choose-row-loops 2>&1 | FileCheck %s --check-prefix=UNSAID
// UNSAID: scratch.mlir:[[#]]:[[#]]: error: it is not specified how the leaf's loop nests are computed (loops-choose-tiles writes layouts)
// RUN: ft-opt %t/chosen.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=ONE
// ONE-LABEL: func.func private @leaf0
// ONE-COUNT-1: %arg{{[0-9]+}} = %c0{{.*}} to %arg0 step %c1{{[_0-9]*}} {
// ONE-NOT: to %arg0 step %c1{{[_0-9]*}} {

// What is written stays, and is obeyed: two loops over the rows, between which the terms and their sum are those of all rows.
// RUN: sed 's/array<i64: 2, 5>/array<i64: 2>, array<i64: 5>/; s/row, offset = 192/rows, offset = 192/; s/row, offset = 384/rows, offset = 384/' %t/chosen.mlir > %t/apart.mlir
// RUN: ft-opt %t/apart.mlir --loops-decide-for-cpu | FileCheck %s --check-prefix=STAYS
// STAYS: {loops.row_loops = [array<i64: 0>, array<i64: 1>, array<i64: 2>, array<i64: 5>]}
// RUN: ft-opt %t/apart.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=TWO
// TWO-LABEL: func.func private @leaf0
// TWO-COUNT-2: %arg{{[0-9]+}} = %c0{{.*}} to %arg0 step %c1{{[_0-9]*}} {
// TWO-NOT: to %arg0 step %c1{{[_0-9]*}} {

// What can't be computed so is refused where it is computed.
// RUN: sed 's/array<i64: 2, 5>/array<i64: 2>, array<i64: 5>/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=PLACES
// PLACES: error: value 3 between its loop nests can't be in this place: more than one loop over rows uses it, expected `rows`
// RUN: sed 's/array<i64: 2, 5>/array<i64: 5, 2>/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: <stdin>:{{[0-9]+:[0-9]+}}: error: its loop nest 5 can't be computed in this place (loops.row_loops): it needs loop nest 2, which stands after it
// RUN: sed 's/array<i64: 1>, array<i64: 2, 5>/array<i64: 1, 2, 5>/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: its loop nest 1 can't be computed in this place (loops.row_loops): a loop over rows is around none, expected it alone
// RUN: sed 's/array<i64: 2, 5>/array<i64: 2>/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: its loop nest 5 can't be computed in this place (loops.row_loops): it is not specified where (loops-choose-row-loops does)
// RUN: sed 's/array<i64: 2, 5>/array<i64: 2, 5, 2>/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: its loop nest 2 can't be computed in this place (loops.row_loops): it is there twice
// RUN: sed 's/array<i64: 2, 5>/array<i64: 2, 3, 5>/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: loops.row_loops: there is no loop nest 3, or it is computed together with one before
// RUN: sed 's/{loops.row_loops = .*/{loops.row_loops = 3}/' %t/chosen.mlir | not ft-opt 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: unknown attribute 'loops.row_loops'
