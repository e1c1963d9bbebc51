// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loop nests a core leaves out where a flag says that nothing reads them is written on the leaf by a pass, and read by the one that lowers it.
//
// RUN: mkdir -p %t
// RUN: ft-opt %s --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" -o %t/chosen.mlir && FileCheck %s < %t/chosen.mlir
// RUN: ft-opt %t/chosen.mlir --loops-decide-for-cpu | diff - %t/chosen.mlir
// The product, whose flag all rows share, and what is made of it in each row; not the choice between the two.
// CHECK: loops.guards = [#loops.guard<nest = 0, input = 0, is = true>]
// RUN: ft-opt %t/chosen.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=ONE
// ONE-LABEL: func.func private @leaf0
// ONE: %[[FLAG:.*]] = memref.load %{{.*}} : memref<?xi1>
// ONE: scf.if %[[FLAG]]
//
// What is written stays, and is obeyed.
// RUN: sed 's/loops.guards = \[[^]]*\], /loops.guards = [], /' %t/chosen.mlir > %t/never.mlir
// RUN: ft-opt %t/never.mlir --loops-decide-for-cpu | diff - %t/never.mlir
// Where nothing is written of flags alone, it is chosen alone.
// RUN: sed 's/loops.guards = \[[^]]*\], //' %t/chosen.mlir > %t/open.mlir
// RUN: ft-opt %t/open.mlir --loops-choose-guards | diff - %t/chosen.mlir
// RUN: sed 's/layouts \[.*\] scratch/scratch/; s/layouts \[.*\] {$/{/' %t/open.mlir | not ft-opt --loops-choose-guards 2>&1 | FileCheck %s --check-prefix=UNSAID
// UNSAID: error: it is not specified how the leaf's loop nests are computed (loops-choose-tiles writes layouts)
// RUN: ft-opt %t/never.mlir --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s --check-prefix=NEVER --implicit-check-not=scf.if
// NEVER-LABEL: func.func private @leaf0
//
// What would leave out something that is looked at is refused where it is computed, as is what is no flag.
// RUN: sed 's/is = true>/is = false>/' %t/chosen.mlir > %t/wrong.mlir
// RUN: not ft-opt %t/wrong.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: wrong.mlir:{{[0-9]+:[0-9]+}}: error: its loop nest 0 can't be left out where input 0 is not false (loops.guards): what it computes is looked at there
// RUN: sed 's/input = 0, is/input = 1, is/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: error: its loop nest 0 can't be left out where input 1 is not true (loops.guards): it is no input of one i1
// RUN: sed 's/guard<nest = 0/guard<nest = 7/' %t/chosen.mlir | not ft-opt --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=NEST
// NEST: error: loops.guards: there is no loop nest 7, or it is computed together with one before
// Rows that have flags of their own, and a product that treats them itself.
// RUN: sed 's/varies \[false, true/varies [true, true/' %s | ft-opt --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" -o %t/rows.mlir
// RUN: FileCheck %s --check-prefix=ROWS --input-file=%t/rows.mlir --implicit-check-not=loops.guards
// ROWS: loops.row_loops
// RUN: sed 's/{loops.row_loops/{loops.guards = [#loops.guard<nest = 0, input = 0, is = true>], loops.row_loops/' %t/rows.mlir > %t/own.mlir
// RUN: not ft-opt %t/own.mlir --convert-loops-to-cpu --loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: own.mlir:{{[0-9]+:[0-9]+}}: error: its loop nest 0 can't be left out by a flag that each row has for itself (loops.guards): no loop over rows is around it
// RUN: sed 's/loops.guards = \[#loops.guard<[^>]*>\]/loops.guards = [#loops.guard<nest = 0, input = 0, is = true>, #loops.guard<nest = 0, input = 0, is = true>]/' %t/chosen.mlir | not ft-opt 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: {{.*}}(loops_grid8) 'loops.guards': expected #loops.guard, each of another loop nest, found #loops.guard<nest = 0, input = 0, is = true>
// RUN: sed 's/guard<nest = 0/guard<nest = -1/' %t/chosen.mlir | not ft-opt 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: (C1) expected the numbers of a loop nest and of an input, found nest = -1, input = 0

!f = memref<?xi1, strided<[?], offset: ?>>
!x = memref<?x1x32xf32, strided<[?, 32, 1], offset: ?>>
!w = memref<?x32x32xf32, strided<[?, 32, 1], offset: ?>>
func.func @going(%n: index, %fs: memref<?xi1>, %xs: memref<?xf32>, %ws: memref<?xf32>, %os: memref<?xf32>, %ys: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %f = memref.reinterpret_cast %fs to offset: [%c0], sizes: [%n], strides: [%c1] : memref<?xi1> to !f
  %x = memref.reinterpret_cast %xs to offset: [%c0], sizes: [%n, 1, 32], strides: [%c32, 32, 1] : memref<?xf32> to !x
  %w = memref.reinterpret_cast %ws to offset: [%c0], sizes: [%c1, 32, 32], strides: [%c1024, 32, 1] : memref<?xf32> to !w
  %o = memref.reinterpret_cast %os to offset: [%c0], sizes: [%n, 1, 32], strides: [%c32, 32, 1] : memref<?xf32> to !x
  %y = memref.reinterpret_cast %ys to offset: [%c0], sizes: [%n, 1, 32], strides: [%c32, 32, 1] : memref<?xf32> to !x
  loops.leaf rows(%n) most 64 ins(%f, %x, %w, %o : !f, !x, !w, !x) varies [false, true, false, true] outs(%y : !x) {
  ^bb0(%flag: tensor<i1>, %a: tensor<1x32xf32>, %b: tensor<32x32xf32>, %old: tensor<1x32xf32>):
    %z = arith.constant dense<0.0> : tensor<1x32xf32>
    %p = linalg.matmul ins(%a, %b : tensor<1x32xf32>, tensor<32x32xf32>) outs(%z : tensor<1x32xf32>) -> tensor<1x32xf32>
    %c = tensor.extract %flag[] : tensor<i1>
    %r = arith.select %c, %p, %old : tensor<1x32xf32>
    loops.yield %r : tensor<1x32xf32>
  }
  return
}
