// What is chosen for a function of tensors stands in its attributes, and what stands there makes the loops: nothing else is asked.
// RUN: ft-opt %s --ft-choose-leaf="vector-bytes=64 vector-registers=32" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: ft-opt %t.mlir --ft-choose-leaf | diff - %t.mlir
// RUN: ft-opt %t.mlir --ft-generate-leaf | FileCheck %s --check-prefix=CODE
// RUN: sed 's/vector = 16, beside/vector = 8, beside/' %t.mlir | ft-opt --ft-generate-leaf | FileCheck %s --check-prefix=OTHER
// CODE: vector<16xf32>
// OTHER: vector<8xf32>
// What is open, or of another kind, is refused.
// RUN: not ft-opt %s --ft-generate-leaf 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: it is not specified how the leaf's loop nests are computed
// RUN: sed 's/ft.leaf_scratch = \[[^]]*\]/ft.leaf_scratch = [3]/' %t.mlir | not ft-opt --ft-generate-leaf 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: 'ft.leaf_scratch': expected a list of #loops.scratch, found [3]
// RUN: sed 's/ft.leaf_row_loops = \[array/ft.leaf_row_loops = [array<i64: 9>, array/' %t.mlir | not ft-opt --ft-generate-leaf 2>&1 | FileCheck %s --check-prefix=LOOPS
// LOOPS: error: loops.row_loops: there is no loop nest 9

// CHECK: ft.leaf, ft.leaf_batched = array<i1: false, true, false, true>, ft.leaf_guards = [#loops.guard<nest = [[P:[0-9]+]], input = 0, is = true>]
// CHECK-SAME: ft.leaf_layouts = [#loops.product<{{.*}}>, #loops.lanes<loop = {{[0-9]}}, vector = 16, beside = {{[0-9]+}}>]
// CHECK-SAME: ft.leaf_row_loops = [array<i64: 0>, array<i64: 1>]
// CHECK-SAME: ft.leaf_scratch = [#loops.scratch<value = 0, rows, offset = 0, bytes = 128>]
func.func private @taken(%flag: tensor<i1>, %x: tensor<1x32xf32>, %w: tensor<32x32xf32>, %old: tensor<1x32xf32>) -> tensor<1x32xf32>
    attributes {ft.leaf, ft.leaf_batched = array<i1: false, true, false, true>} {
  %zero = arith.constant dense<0.0> : tensor<1x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1x32xf32>, tensor<32x32xf32>) outs(%zero : tensor<1x32xf32>) -> tensor<1x32xf32>
  %c = tensor.extract %flag[] : tensor<i1>
  %r = arith.select %c, %p, %old : tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}
