// What data or lengths make impossible is an error at the operation.
//
// RUN: not ft-run %s --entry=gather --engine=interpret 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: not ft-run %s --entry=gather --engine=interpret --order=declared 2>&1 | FileCheck %s --check-prefix=GRAPH
// GATHER: errors.mlir:[[@LINE+14]]:{{[0-9]+}}: error: index {{[0-9]+}} is out of range: the list has length 2
// GRAPH: errors.mlir:{{.*}}: error: {{.*}}gathers at index {{[0-9]+}}, which is out of range: dimension 0 of %{{.*}} has size 2
//
// RUN: not ft-run %s --entry=split --engine=interpret --dim L=7 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: errors.mlir:[[@LINE+15]]:{{[0-9]+}}: error: a list of length 7 cannot be split into pieces of 2 = 2
//
// RUN: not ft-run %s --entry=element --engine=interpret 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: errors.mlir:[[@LINE+21]]:{{[0-9]+}}: error: index 102 of dimension 0 is out of range: its size is 3
//
// RUN: not ft-run %s --entry=unsupported --engine=interpret 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: the interpreter does not support 'tensor.scatter' here
// REFUSED: note: it supports arith.addf
func.func @gather(%xs: !ft.list<[L], tensor<i32>>, %is: !ft.list<[M], tensor<i64>> {ft.gen = #ft.index<2, 9>})
    -> !ft.list<[M], tensor<i32>> attributes {ft.lengths = {L = 2 : i64, M = 3 : i64}} {
  %r = ft.gather %xs[%is] : !ft.list<[L], tensor<i32>>, !ft.list<[M], tensor<i64>>
  return %r : !ft.list<[M], tensor<i32>>
}

func.func @split(%xs: !ft.list<[L], tensor<i32>>) -> !ft.list<[floordiv(L, 2), 2], tensor<i32>> {
  %r = ft.split %xs by 2 : !ft.list<[L], tensor<i32>>
  return %r : !ft.list<[floordiv(L, 2), 2], tensor<i32>>
}

func.func @element(%xs: !ft.list<[L], tensor<3xi32>>) -> !ft.list<[L], tensor<i32>>
    attributes {ft.lengths = {L = 2 : i64}} {
  %r = ft.map (%x = %xs : !ft.list<[L], tensor<3xi32>>) -> !ft.list<[L], tensor<i32>> {
    %i = arith.constant 51 : index
    %j = arith.addi %i, %i : index
    %e = tensor.extract %x[%j] : tensor<3xi32>
    %q = tensor.from_elements %e : tensor<i32>
    ft.yield %q : tensor<i32>
  }
  return %r : !ft.list<[L], tensor<i32>>
}

func.func @unsupported(%x: tensor<4xf32>, %y: tensor<1xf32>, %i: tensor<1x1xi64>) -> tensor<4xf32> {
  %r = tensor.scatter %y into %x[%i] scatter_dims([0]) unique : (tensor<1xf32>, tensor<4xf32>, tensor<1x1xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// RUN: not ft-run %s --entry=copies --engine=interpret 2>&1 | FileCheck %s --check-prefix=COPIES
// RUN: not ft-run %s --entry=many --engine=interpret 2>&1 | FileCheck %s --check-prefix=MANY
// COPIES: errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: cannot allocate a tensor of sizes 68719476736x3
// MANY: errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: cannot allocate a tensor of sizes 68719476736x3
//
// A view that repeats elements has more of them than there is memory: it can be made, and not be read.
func.func @copies(%x: !tssa.tensor<3xf32>) -> tensor<?x3xf32> {
  %v = tssa.view %x[expand(68719476736, 3)] : !tssa.tensor<3xf32> -> !tssa.tensor<68719476736x3xf32>
  %a = tssa.read %v : !tssa.tensor<68719476736x3xf32>
  %r = tensor.cast %a : tensor<68719476736x3xf32> to tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @many(%x: !tssa.tensor<3xf32>) -> !tssa.tensor<68719476736x3xf32> {
  %v = tssa.view %x[expand(68719476736, 3)] : !tssa.tensor<3xf32> -> !tssa.tensor<68719476736x3xf32>
  return %v : !tssa.tensor<68719476736x3xf32>
}
