// What is disjoint from a write is read from the version before; what nothing needs is not
// carried; recurrences carry values.
// RUN: ft-opt %s --tssa-functionalize --split-input-file | FileCheck %s
// RUN: ft-opt %s --tssa-functionalize --convert-tssa-to-tensor --canonicalize --split-input-file | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: func.func @disjoint(
// CHECK-SAME:    %[[A:.*]]: tensor<8x4xi32>, %[[V:.*]]: tensor<4xi32>
func.func @disjoint(%a: !tssa.tensor<8x4xi32>, %v: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>, tensor<2xi32>) {
  %c1 = arith.constant 1 : index
  %next = arith.addi %n, %c1 : index
  %x = tssa.view %a[narrow(0, %n, 1, 1), squeeze(0)] : !tssa.tensor<8x4xi32> -> !tssa.tensor<4xi32>
  %y = tssa.view %a[narrow(0, %next, 1, 1), squeeze(0)] : !tssa.tensor<8x4xi32> -> !tssa.tensor<4xi32>
  tssa.mutate %y, %v : !tssa.tensor<4xi32>, tensor<4xi32>
  // CHECK-DAG: %[[X:.*]] = tssa.access %[[A]][narrow(0, %{{.*}}, 1, 1), squeeze(0)]
  %0 = tssa.read %x : !tssa.tensor<4xi32>
  %1 = tssa.read %y : !tssa.tensor<4xi32>
  // CHECK-DAG: %[[Z:.*]] = tssa.access %[[V]][narrow(0, 1, 2, 1)] : tensor<4xi32> -> tensor<2xi32>
  %z = tssa.view %y[narrow(0, 1, 2, 1)] : !tssa.tensor<4xi32> -> !tssa.tensor<2xi32>
  %2 = tssa.read %z : !tssa.tensor<2xi32>
  // CHECK-DAG: %[[A1:.*]] = tssa.assign %[[V]] into %[[A]][narrow(0, %{{.*}}, 1, 1), squeeze(0)]
  // CHECK: return %[[X]], %[[V]], %[[Z]], %[[A1]]
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<2xi32>
}

// LOWER-LABEL: func.func @disjoint(
// LOWER: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 4] [1, 1] : tensor<8x4xi32> to tensor<4xi32>
// LOWER: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<8x4xi32>

// -----

// A scratch tensor is written whole in each iteration before it is read: it is not carried.
// CHECK-LABEL: func.func @scratch(
// CHECK: scf.for {{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9]*}}) -> (tensor<8x4xi32>) {
func.func @scratch(%a: !tssa.tensor<8x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0> : tensor<4xi32>
  %tmp = tssa.new %zero : tensor<4xi32>
  scf.for %i = %c0 to %c8 step %c1 {
    %row = tssa.view %a[select(0, %i)] : !tssa.tensor<8x4xi32> -> !tssa.tensor<4xi32>
    %0 = tssa.read %row : !tssa.tensor<4xi32>
    tssa.mutate %tmp, %0 : !tssa.tensor<4xi32>, tensor<4xi32>
    %1 = tssa.read %tmp : !tssa.tensor<4xi32>
    %2 = arith.addi %1, %1 : tensor<4xi32>
    tssa.mutate %row, %2 : !tssa.tensor<4xi32>, tensor<4xi32>
  }
  return
}

// -----

// h = f(h): storage of its own in each iteration, which nothing writes: a value.
// CHECK-LABEL: func.func @recurrence(
// CHECK:       %[[R:.*]] = scf.for {{.*}} iter_args(%[[H:.*]] = %{{.*}}) -> (tensor<4xi32>) {
// CHECK-NEXT:    %[[N:.*]] = arith.addi %[[H]], %[[H]]
// CHECK-NEXT:    scf.yield %[[N]]
// CHECK-NEXT:  }
// CHECK-NEXT:  return %[[R]]
func.func @recurrence(%h0: !tssa.tensor<4xi32>, %n: index) -> !tssa.tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %h0) -> (!tssa.tensor<4xi32>) {
    %0 = tssa.read %h : !tssa.tensor<4xi32>
    %1 = arith.addi %0, %0 : tensor<4xi32>
    %2 = tssa.new %1 : tensor<4xi32>
    scf.yield %2 : !tssa.tensor<4xi32>
  }
  return %r : !tssa.tensor<4xi32>
}

// -----

// Nothing reads what the branch writes: no result, no branch.
// CHECK-LABEL: func.func @dead_branch(
// CHECK-NOT: scf.if
func.func @dead_branch(%a: tensor<4xi32>, %c: i1) -> tensor<4xi32> {
  %m = tssa.new %a : tensor<4xi32>
  scf.if %c {
    %k = arith.constant dense<1> : tensor<4xi32>
    tssa.mutate %m, %k : !tssa.tensor<4xi32>, tensor<4xi32>
  }
  return %a : tensor<4xi32>
}

// -----

// A row that the iteration before has written, and that this one has read before it writes: a value.
// CHECK-LABEL: func.func @next_layer(
// CHECK: scf.for {{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9]*}}, %{{[a-z0-9]*}} = %{{[a-z0-9]*}}) -> ({{tensor<4xi32>, tensor<8x4xi32>|tensor<8x4xi32>, tensor<4xi32>}}) {
// CHECK-NOT: scf.if
func.func @next_layer(%h: !tssa.tensor<8x4xi32>, %x: !tssa.tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%v = %x) -> (!tssa.tensor<4xi32>) {
    %in = tssa.read %v : !tssa.tensor<4xi32>
    %row = tssa.view %h[select(0, %j)] : !tssa.tensor<8x4xi32> -> !tssa.tensor<4xi32>
    %old = tssa.read %row : !tssa.tensor<4xi32>
    %new = arith.addi %in, %old : tensor<4xi32>
    tssa.mutate %row, %new : !tssa.tensor<4xi32>, tensor<4xi32>
    %next = tssa.view %h[select(0, %j)] : !tssa.tensor<8x4xi32> -> !tssa.tensor<4xi32>
    scf.yield %next : !tssa.tensor<4xi32>
  }
  return
}

// What as_strided names of a storage is known by its own numbers, whatever the size of the storage.
// CHECK-LABEL: func.func @strided_of_open
// CHECK: tssa.assign %arg1 into %arg0[as_strided(9, 3, 1)] : tensor<3xi64> into tensor<?xi64>
func.func @strided_of_open(%a: !tssa.tensor<?xi64>, %v: tensor<3xi64>) {
  %row = tssa.view %a[as_strided(9, 3, 1)] : !tssa.tensor<?xi64> -> !tssa.tensor<3xi64>
  tssa.mutate %row, %v : !tssa.tensor<3xi64>, tensor<3xi64>
  return
}
