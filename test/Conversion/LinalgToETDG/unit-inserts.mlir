// One index of a dimension is replaced: element by element, so that rows stay rows and all is one block.
// RUN: ft-opt %s --ft-compile=to=reorder | FileCheck %s
// RUN: ft-run %s --entry=channels --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=channels --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=corner --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=many --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^equal}}

// CHECK-LABEL: etdg.graph @channels
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in [0, 19) x [0, 31)
// CHECK-NOT: etdg.block
// CHECK-LABEL: etdg.graph @corner
func.func @channels(%x: tensor<19x31x3xi32>, %m: tensor<3xi32>) -> tensor<19x31x3xi32> {
  %a = tensor.extract_slice %x[0, 0, 2] [19, 31, 1] [1, 1, 1] : tensor<19x31x3xi32> to tensor<19x31xi32>
  %b = tensor.insert_slice %a into %x[0, 0, 0] [19, 31, 1] [1, 1, 1] : tensor<19x31xi32> into tensor<19x31x3xi32>
  %c = tensor.extract_slice %x[0, 0, 0] [19, 31, 1] [1, 1, 1] : tensor<19x31x3xi32> to tensor<19x31x1xi32>
  %d = tensor.insert_slice %c into %b[0, 0, 2] [19, 31, 1] [1, 1, 1] : tensor<19x31x1xi32> into tensor<19x31x3xi32>
  %e = tensor.empty() : tensor<19x31x3xi32>
  %f = linalg.broadcast ins(%m : tensor<3xi32>) outs(%e : tensor<19x31x3xi32>) dimensions = [0, 1]
  %r = arith.subi %d, %f : tensor<19x31x3xi32>
  return %r : tensor<19x31x3xi32>
}

// Two dimensions at one index each; a dimension of size 1 is whole.
func.func @corner(%x: tensor<5x1x7xi32>, %y: tensor<4x5x1x7xi32>) -> (tensor<4x5x1x7xi32>, tensor<5x1x7xi32>) {
  %a = tensor.insert_slice %x into %y[3, 0, 0, 0] [1, 5, 1, 7] [1, 1, 1, 1] : tensor<5x1x7xi32> into tensor<4x5x1x7xi32>
  %p = tensor.extract_slice %y[0, 4, 0, 0] [1, 1, 1, 7] [1, 1, 1, 1] : tensor<4x5x1x7xi32> to tensor<7xi32>
  %b = tensor.insert_slice %p into %a[1, 2, 0, 0] [1, 1, 1, 7] [1, 1, 1, 1] : tensor<7xi32> into tensor<4x5x1x7xi32>
  %q = tensor.extract_slice %x[0, 0, 6] [5, 1, 1] [1, 1, 1] : tensor<5x1x7xi32> to tensor<5x1xi32>
  %c = tensor.insert_slice %q into %x[0, 0, 1] [5, 1, 1] [1, 1, 1] : tensor<5x1xi32> into tensor<5x1x7xi32>
  return %b, %c : tensor<4x5x1x7xi32>, tensor<5x1x7xi32>
}

// Rows that take the place of others are reads, and the tensor that they are put into has no memory.
// CHECK-LABEL: etdg.graph @many
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 5)
// CHECK-NEXT: reads (%{{.*}} = {i >= 4: %arg0[], i = 3: %[[A:.*]][], i = 2: %arg0[], i = 1: %[[A]][], i = 0: %arg0[]} : tensor<9xi32>)
// CHECK-NOT: tensor.insert_slice
func.func @many(%x: tensor<9xi32>) -> tensor<5x9xi32> {
  %e = arith.constant dense<0> : tensor<5x9xi32>
  %a = arith.addi %x, %x : tensor<9xi32>
  %0 = tensor.insert_slice %x into %e[0, 0] [1, 9] [1, 1] : tensor<9xi32> into tensor<5x9xi32>
  %1 = tensor.insert_slice %a into %0[1, 0] [1, 9] [1, 1] : tensor<9xi32> into tensor<5x9xi32>
  %2 = tensor.insert_slice %x into %1[2, 0] [1, 9] [1, 1] : tensor<9xi32> into tensor<5x9xi32>
  %3 = tensor.insert_slice %a into %2[3, 0] [1, 9] [1, 1] : tensor<9xi32> into tensor<5x9xi32>
  %4 = tensor.insert_slice %x into %3[4, 0] [1, 9] [1, 1] : tensor<9xi32> into tensor<5x9xi32>
  return %4 : tensor<5x9xi32>
}
