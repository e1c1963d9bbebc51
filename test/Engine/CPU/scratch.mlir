// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where values lie between loop nests, as it is given: other code, the same values.
//
// RUN: mkdir -p %t
// RUN: ft-opt %s --ft-compile="to=tile machine=cpu" -o %t/loops.mlir && FileCheck %s --check-prefix=LOOPS < %t/loops.mlir
// LOOPS: scratch [#loops.scratch<value = 0, row, offset = 0, bytes = 256>, #loops.scratch<value = 1, row, offset = 256, bytes = 64>]
// RUN: ft-run %s --loops=%t/loops.mlir --compare=interpret | FileCheck %s
// RUN: sed 's/row, offset = 256/rows, offset = 256/; s/row, offset = 0/row, offset = 128/' %t/loops.mlir > %t/moved.mlir && not cmp %t/loops.mlir %t/moved.mlir
// RUN: ft-run %s --loops=%t/moved.mlir --compare=interpret | FileCheck %s
// RUN: sed 's/row, offset = 0/rows, offset = 0/; s/row, offset = 256/rows, offset = 256/' %t/loops.mlir > %t/rows.mlir
// RUN: ft-run %s --loops=%t/rows.mlir --compare=interpret | FileCheck %s
// CHECK: equal

func.func @main(%xs: !ft.list<[N], tensor<61xf32>>) -> !ft.list<[N], tensor<61xf32>> attributes {ft.lengths = {N = 37 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<61xf32>>) -> !ft.list<[N], tensor<61xf32>> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %f = math.exp %x : tensor<61xf32>
    %s = linalg.reduce {arith.addf} ins(%f : tensor<61xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %empty = tensor.empty() : tensor<61xf32>
    %t = linalg.broadcast ins(%s : tensor<f32>) outs(%empty : tensor<61xf32>) dimensions = [0]
    %r = arith.divf %f, %t : tensor<61xf32>
    ft.yield %r : tensor<61xf32>
  }
  return %ys : !ft.list<[N], tensor<61xf32>>
}
