// Dimensions of open size that do not lead: transposed values, parts of them, and what is put into them.
// RUN: ft-opt %s --convert-linalg-to-etdg --etdg-verify | FileCheck %s
// RUN: ft-run %s --entry=turned --dim=N=0 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=turned --dim=N=1 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=turned --dim=N=127 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=turned --dim=N=7 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=row --dim=N=0 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=row --dim=N=1 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=row --dim=N=127 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=row --dim=N=7 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=corner --dim=N=3 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=corner --dim=N=7 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=beside --dim=N=4 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=around --dim=N=5 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^equal}}

// A transposition is a map of the reads after it: what computes on it has all of its dimensions up to the open one.
// CHECK-LABEL: etdg.graph @turned
// CHECK: etdg.block @r0 [map, map] (i, j) in [0, 4) x [0, N)
// CHECK-NEXT: reads (%{{.*}} = %arg0[j, i] : tensor<f32>)
// CHECK-NOT: linalg.transpose
// CHECK: etdg.return
func.func @turned(%x: tensor<?x4xf32> {etdg.dims = ["N"]}) -> (tensor<4x?xf32>, tensor<4x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x4xf32>) outs(%e : tensor<4x?xf32>) permutation = [1, 0]
  %y = math.exp %t : tensor<4x?xf32>
  return %y, %t : tensor<4x?xf32>, tensor<4x?xf32>
}

// CHECK-LABEL: etdg.graph @row
// CHECK-NOT: linalg.transpose
// CHECK: etdg.return
func.func @row(%x: tensor<?x4xf32> {etdg.dims = ["N"]}) -> (tensor<4x?xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x4xf32>) outs(%e : tensor<4x?xf32>) permutation = [1, 0]
  %r = tensor.extract_slice %t[2, 0] [1, %n] [1, 1] : tensor<4x?xf32> to tensor<?xf32>
  %s = math.exp %r : tensor<?xf32>
  %u = tensor.insert_slice %s into %t[1, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<4x?xf32>
  %f = tensor.empty(%n) : tensor<?x4xf32>
  %v = linalg.transpose ins(%u : tensor<4x?xf32>) outs(%f : tensor<?x4xf32>) permutation = [1, 0]
  return %u, %v : tensor<4x?xf32>, tensor<?x4xf32>
}

// A square part of an open dimension and of another one, in the order that the program has.
// CHECK-LABEL: etdg.graph @corner
// CHECK: reads (%{{.*}} = elem (e0, e1) %{{.*}}[e0, e1] : tensor<3x3xf32>)
func.func @corner(%x: tensor<3x?xf32> {etdg.dims = ["", "N"]}) -> (tensor<3x3xf32>, tensor<3x?xf32>) attributes {ft.bounds = #ft.bounds<"N >= 3">} {
  %a = tensor.extract_slice %x[0, 0] [3, 3] [1, 1] : tensor<3x?xf32> to tensor<3x3xf32>
  %b = math.exp %a : tensor<3x3xf32>
  %y = arith.negf %x : tensor<3x?xf32>
  return %b, %y : tensor<3x3xf32>, tensor<3x?xf32>
}

// One whose inverse is another one.
// CHECK-LABEL: etdg.graph @around
// CHECK: reads (%{{.*}} = %arg0[k, i, j] : tensor<f32>)
func.func @around(%x: tensor<?x5x3xf32> {etdg.dims = ["N"]}) -> tensor<5x3x?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x5x3xf32>
  %e = tensor.empty(%n) : tensor<5x3x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x5x3xf32>) outs(%e : tensor<5x3x?xf32>) permutation = [1, 2, 0]
  %y = math.exp %t : tensor<5x3x?xf32>
  return %y : tensor<5x3x?xf32>
}

// Such a part of what is moved, since something is put into it.
// CHECK-LABEL: etdg.graph @beside
func.func @beside(%x: tensor<3x?xf32> {etdg.dims = ["", "N"]}) -> (tensor<3x3xf32>, tensor<3x?xf32>) attributes {ft.bounds = #ft.bounds<"N >= 3">} {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<3x?xf32>
  %r = tensor.extract_slice %x[2, 0] [1, %n] [1, 1] : tensor<3x?xf32> to tensor<?xf32>
  %u = tensor.insert_slice %r into %x[1, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<3x?xf32>
  %a = tensor.extract_slice %u[0, 0] [3, 3] [1, 1] : tensor<3x?xf32> to tensor<3x3xf32>
  %b = math.exp %a : tensor<3x3xf32>
  return %b, %u : tensor<3x3xf32>, tensor<3x?xf32>
}
