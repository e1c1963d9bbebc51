// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What chooses memory is a branch: upstream's canonicalization makes selects of trivial ones, which become branches again.
//
// RUN: ft-opt %s --loops-expand-choices | FileCheck %s
// RUN: ft-opt %s --loops-expand-choices --canonicalize --loops-expand-choices | FileCheck %s --check-prefix=AGAIN
//
// AGAIN-LABEL: func.func @k(
// AGAIN: scf.if %{{.*}} -> (memref<?xf32>)
// AGAIN: scf.if %{{.*}} -> (index)
// CHECK-LABEL: func.func @k(
// CHECK: %[[memory:.*]] = scf.if %[[is:.*]] -> (memref<?xf32>) {
// CHECK-NEXT: scf.yield %arg1 : memref<?xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %arg2 : memref<?xf32>
// CHECK: %[[at:.*]] = scf.if %[[is]] -> (index) {
// CHECK-NEXT: scf.yield %c0
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %arg0
// CHECK: %[[other:.*]] = arith.select %{{.*}}, %arg0, %c8 : index
// CHECK: memref.load %[[memory]][%[[at]]]
// CHECK: memref.store %{{.*}}, %arg1[%[[other]]]
// What has operations in it stays a branch; an index by the same condition becomes one.
// CHECK-LABEL: func.func @rest(
// CHECK: %[[memory:.*]]:2 = scf.if %[[is:.*]] -> (memref<?xf32>, index) {
// CHECK: %[[step:.*]] = scf.if %[[is]] -> (index) {
// CHECK: arith.addi %[[memory]]#1, %[[step]]
// CHECK-LABEL: func.func @core(
// CHECK: arith.select {{.*}} : memref<?xf32>
func.func @k(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %is = arith.cmpi slt, %n, %c1 : index
  %isOther = arith.cmpi eq, %n, %c1 : index
  %memory = arith.select %is, %x, %y : memref<?xf32>
  %at = arith.select %is, %c0, %n : index
  %other = arith.select %isOther, %n, %c8 : index
  %value = memref.load %memory[%at] : memref<?xf32>
  memref.store %value, %x[%other] : memref<?xf32>
  return
}
func.func @rest(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %is = arith.cmpi slt, %n, %c1 : index
  %memory:2 = scf.if %is -> (memref<?xf32>, index) {
    %at = arith.addi %n, %c1 : index
    scf.yield %x, %at : memref<?xf32>, index
  } else {
    scf.yield %y, %c0 : memref<?xf32>, index
  }
  %step = arith.select %is, %c1, %n : index
  %last = arith.addi %memory#1, %step : index
  %value = memref.load %memory#0[%last] : memref<?xf32>
  memref.store %value, %x[%c0] : memref<?xf32>
  return
}
func.func @core(%is: i1, %x: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %memory = arith.select %is, %x, %y : memref<?xf32>
  %value = memref.load %memory[%c0] : memref<?xf32>
  memref.store %value, %x[%c0] : memref<?xf32>
  return
}
