// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s
// RUN: ft-run %s --entry=tiles --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=tiles --engine=interpret --order=random --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=tiles --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=partial --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=partial --engine=interpret --order=random --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=partial --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=pass --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=pass --engine=interpret --order=random --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=pass --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=wave --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=wave --engine=interpret --order=random --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=wave --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

// Tiles are kept by the iterations that write them, and read scalar by scalar where
// another tile does not agree; tiles that overlap read what the last one wrote.
// CHECK-LABEL: etdg.graph @tiles
// CHECK-DAG: etdg.buffer : !etdg.buffer<[2, 2], tensor<4x3xi32>>
// CHECK-DAG: etdg.buffer : !etdg.buffer<[4], tensor<3x4xi32>>
// CHECK: [map, map] (i, j) in [0, 2) x [0, 2)
// CHECK: [scanl] (i) in [0, 4)
func.func @tiles(%a: tensor<8x6xi32>) -> (tensor<8x6xi32>, tensor<8x6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8x6xi32>
  %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %e) -> tensor<8x6xi32> {
    %q = scf.for %j = %c0 to %c2 step %c1 iter_args(%p = %o) -> tensor<8x6xi32> {
      %k = arith.muli %j, %c3 : index
      %x = tensor.extract_slice %a[%i, %k] [4, 3] [1, 1] : tensor<8x6xi32> to tensor<4x3xi32>
      %y = arith.addi %x, %x : tensor<4x3xi32>
      %u = tensor.insert_slice %y into %p[%i, %k] [4, 3] [1, 1] : tensor<4x3xi32> into tensor<8x6xi32>
      scf.yield %u : tensor<8x6xi32>
    }
    scf.yield %q : tensor<8x6xi32>
  }
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %r) -> tensor<8x6xi32> {
    %x = tensor.extract_slice %o[%i, 1] [3, 4] [1, 1] : tensor<8x6xi32> to tensor<3x4xi32>
    %z = tensor.extract_slice %a[%i, 0] [3, 4] [1, 1] : tensor<8x6xi32> to tensor<3x4xi32>
    %y = arith.addi %x, %z : tensor<3x4xi32>
    %u = tensor.insert_slice %y into %o[%i, 1] [3, 4] [1, 1] : tensor<3x4xi32> into tensor<8x6xi32>
    scf.yield %u : tensor<8x6xi32>
  }
  return %r, %s : tensor<8x6xi32>, tensor<8x6xi32>
}
// A state that is an array, updated in its middle: what is not written comes from the
// layer before, and before the first one from the argument.
// CHECK-LABEL: etdg.graph @partial
// CHECK: {{\[}}foldl] (i | j) in [1, 5)
func.func @partial(%a: tensor<4x6x2xi32>, %b: tensor<6x2xi32>) -> (tensor<4x6x2xi32>, tensor<4x6x2xi32>, tensor<6x2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %empty = tensor.empty() : tensor<4x6x2xi32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %empty, %below = %b) -> (tensor<4x6x2xi32>, tensor<6x2xi32>) {
    %q = scf.for %j = %c1 to %c5 step %c1 iter_args(%p = %below) -> (tensor<6x2xi32>) {
      %x = tensor.extract_slice %a[%i, %j, 0] [1, 1, 2] [1, 1, 1] : tensor<4x6x2xi32> to tensor<2xi32>
      %jm = arith.subi %j, %c1 : index
      %l = tensor.extract_slice %p[%jm, 0] [1, 2] [1, 1] : tensor<6x2xi32> to tensor<2xi32>
      %jp = arith.addi %j, %c1 : index
      %g = tensor.extract_slice %below[%jp, 0] [1, 2] [1, 1] : tensor<6x2xi32> to tensor<2xi32>
      %t = arith.addi %l, %x : tensor<2xi32>
      %t2 = arith.subi %t, %g : tensor<2xi32>
      %u = tensor.insert_slice %t2 into %p[%j, 0] [1, 2] [1, 1] : tensor<2xi32> into tensor<6x2xi32>
      scf.yield %u : tensor<6x2xi32>
    }
    %v = tensor.insert_slice %q into %o[%i, 0, 0] [1, 6, 2] [1, 1, 1] : tensor<6x2xi32> into tensor<4x6x2xi32>
    scf.yield %v, %q : tensor<4x6x2xi32>, tensor<6x2xi32>
  }
  return %r#0, %r#0, %r#1 : tensor<4x6x2xi32>, tensor<4x6x2xi32>, tensor<6x2xi32>
}
// A loop that never runs, a constant, and one value returned twice.
// CHECK-LABEL: etdg.graph @pass
// CHECK-NOT: arith.addi %{{.*}}#
func.func @pass(%a: tensor<4x6xi32>, %b: tensor<6xi32>) -> (tensor<4x6xi32>, tensor<6xi32>, tensor<6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant dense<[1,2,3,4,5,6]> : tensor<6xi32>
  %r:2 = scf.for %i = %c0 to %c0 step %c1 iter_args(%o = %a, %s = %z) -> (tensor<4x6xi32>, tensor<6xi32>) {
    %t = arith.addi %s, %s : tensor<6xi32>
    %v = tensor.insert_slice %t into %o[%i, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<4x6xi32>
    scf.yield %v, %t : tensor<4x6xi32>, tensor<6xi32>
  }
  %w = arith.addi %r#1, %b : tensor<6xi32>
  return %r#0, %w, %w : tensor<4x6xi32>, tensor<6xi32>, tensor<6xi32>
}
// An update in place that reads its neighbours: old values below and to the right would be
// the argument's, those above and to the left are new.
// CHECK-LABEL: etdg.graph @wave
// CHECK: [scanl, scanl] (i, j) in [2, 5) x [2, 7)
// CHECK-NEXT: %[[P:.*]][i - 1, j] {{.*}} = %[[P]][i, j - 1] {{.*}} = %{{.*}}[i, j]
func.func @wave(%a: tensor<5x7xi32>) -> tensor<5x7xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c1 to %c5 step %c1 iter_args(%o = %a) -> tensor<5x7xi32> {
    %q = scf.for %j = %c1 to %c7 step %c1 iter_args(%p = %o) -> (tensor<5x7xi32>) {
      %im = arith.subi %i, %c1 : index
      %jm = arith.subi %j, %c1 : index
      %x = tensor.extract %p[%im, %j] : tensor<5x7xi32>
      %y = tensor.extract %p[%i, %jm] : tensor<5x7xi32>
      %w = tensor.extract %p[%i, %j] : tensor<5x7xi32>
      %t = arith.addi %x, %y : i32
      %t2 = arith.addi %t, %w : i32
      %u = tensor.insert %t2 into %p[%i, %j] : tensor<5x7xi32>
      scf.yield %u : tensor<5x7xi32>
    }
    scf.yield %q : tensor<5x7xi32>
  }
  return %r : tensor<5x7xi32>
}
