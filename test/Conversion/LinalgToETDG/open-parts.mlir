// Parts of rows of open tensors: columns, strided parts read and written, dimensions of size 1.
// RUN: ft-opt %s --convert-linalg-to-etdg --etdg-verify | FileCheck %s
// RUN: ft-opt %s --ft-compile=to=storage | FileCheck %s --check-prefix=MERGED
// RUN: ft-run %s --entry=columns --dim=N=0 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=columns --dim=N=1 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=columns --dim=N=127 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=columns --dim=N=7 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=numbers --dim=N=5 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=beside --dim=N=5 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=beside --dim=N=5 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=first --dim=N=3 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=first --dim=N=7 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=shaped --dim=N=0 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=shaped --dim=N=1 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=shaped --dim=N=127 --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=shaped --dim=N=7 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^equal}}

// CHECK-LABEL: etdg.graph @columns
// CHECK: etdg.block @r0 [map] (i) in [0, N)
// CHECK-SAME: {{$}}
// CHECK-NEXT: reads (%{{.*}} = %arg1[i] : tensor<2xi64>)
// MERGED-LABEL: etdg.graph @columns
// MERGED: etdg.block {{.*}} [map] (i) in [0, N)
// MERGED-NOT: etdg.block
// MERGED: etdg.return
func.func @columns(%x: tensor<?x4xf32> {etdg.dims = ["N"]}, %i: tensor<?x2xi64> {etdg.dims = ["N"]}) -> (tensor<?xi64>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %a = tensor.extract_slice %i[0, 1] [%n, 1] [1, 1] : tensor<?x2xi64> to tensor<?xi64>
  %e = tensor.extract_slice %x[0, 0] [%n, 2] [1, 2] : tensor<?x4xf32> to tensor<?x2xf32>
  %t = math.tanh %e : tensor<?x2xf32>
  %y = tensor.insert_slice %t into %x[0, 1] [%n, 2] [1, 2] : tensor<?x2xf32> into tensor<?x4xf32>
  %s = tensor.extract_slice %y[0, 3] [%n, 1] [1, 1] : tensor<?x4xf32> to tensor<?xf32>
  %u = tensor.expand_shape %s [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %w = math.exp %u : tensor<?x1xf32>
  %v = tensor.collapse_shape %w [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
  %z = arith.negf %v : tensor<?xf32>
  return %a, %y, %w, %z : tensor<?xi64>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?xf32>
}

// Of an open dimension, as many as the bounds say there are.
// CHECK-LABEL: etdg.graph @first
// CHECK: reads (%{{.*}} = elem (e0, e1) %arg0[e0, e1] : tensor<3x4xf32>)
// CHECK: reads (%{{.*}} = %arg0[2] : tensor<4xf32>)
func.func @first(%x: tensor<?x4xf32> {etdg.dims = ["N"]}) -> (tensor<?x4xf32>, tensor<3x4xf32>, tensor<4xf32>) attributes {ft.bounds = #ft.bounds<"N >= 3">} {
  %a = tensor.extract_slice %x[0, 0] [3, 4] [1, 1] : tensor<?x4xf32> to tensor<3x4xf32>
  %b = math.tanh %a : tensor<3x4xf32>
  %r = tensor.extract_slice %x[2, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  %q = math.exp %r : tensor<4xf32>
  %y = arith.negf %x : tensor<?x4xf32>
  return %y, %b, %q : tensor<?x4xf32>, tensor<3x4xf32>, tensor<4xf32>
}

// What has a fixed size is no block where it is shaped or cut: reads after it have a map. What is returned is copied once.
// CHECK-LABEL: etdg.graph @shaped
// CHECK: reads (%{{.*}} = elem (e0) %arg1[floordiv(3 * e0 + 1, 4), 3 * e0 - 4 * floordiv(3 * e0 + 1, 4) + 1] : tensor<8xf32>)
// CHECK: reads (%{{.*}} = %arg0[i] : tensor<12xf32>)
// CHECK: reads (%{{.*}} = elem (e0, e1) %arg1[floordiv(3 * e0 + e1, 4),
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @shaped(%x: tensor<?x12xf32> {etdg.dims = ["N"]}, %k: tensor<6x4xf32>) -> (tensor<?x3x4xf32>, tensor<8x3xf32>, tensor<8x3xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x12xf32>
  %c = tensor.collapse_shape %k [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %d = tensor.expand_shape %c [[0, 1]] output_shape [8, 3] : tensor<24xf32> into tensor<8x3xf32>
  %f = tensor.extract_slice %d[0, 1] [8, 1] [1, 1] : tensor<8x3xf32> to tensor<8xf32>
  %g = tensor.empty() : tensor<8x3xf32>
  %h = linalg.broadcast ins(%f : tensor<8xf32>) outs(%g : tensor<8x3xf32>) dimensions = [1]
  %a = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 3, 4] : tensor<?x12xf32> into tensor<?x3x4xf32>
  return %a, %h, %d : tensor<?x3x4xf32>, tensor<8x3xf32>, tensor<8x3xf32>
}

// A row at an index that is data, of a tensor of fixed size beside an open one: its index is read in the leaf.
// CHECK-LABEL: etdg.graph @beside
// CHECK: etdg.block @r0 [] ()
// CHECK-NEXT: reads (%{{.*}} = %arg1[] : tensor<3x3xi64>, %[[AT:.*]] = %arg2[] : tensor<i64>)
// CHECK: tensor.extract %[[AT]][]
func.func @beside(%x: tensor<?x3xi64> {etdg.dims = ["N", ""]}, %a: tensor<3x3xi64>, %at: tensor<i64> {ft.gen = #ft.index<0, 3>}) -> (tensor<3xi64>, tensor<?x3xi64>) {
  %c0 = arith.constant 0 : index
  %e = tensor.extract %at[] : tensor<i64>
  %i = arith.index_cast %e : i64 to index
  %r = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<3x3xi64> to tensor<3xi64>
  %y = arith.addi %x, %x : tensor<?x3xi64>
  return %r, %y : tensor<3xi64>, tensor<?x3xi64>
}

// Numbers beside an open size are leaves of their own.
// CHECK-LABEL: etdg.graph @numbers
// CHECK: etdg.block @r0 [] ()
// CHECK: tensor.from_elements
func.func @numbers(%x: tensor<?xi64> {etdg.dims = ["N"]}, %n: tensor<i64>) -> (tensor<?xi64>, tensor<2xi64>) {
  %i = tensor.extract %n[] : tensor<i64>
  %c1 = arith.constant 1 : i64
  %k = arith.addi %i, %c1 : i64
  %s = tensor.from_elements %k, %i : tensor<2xi64>
  %y = arith.addi %x, %x : tensor<?xi64>
  return %y, %s : tensor<?xi64>, tensor<2xi64>
}
