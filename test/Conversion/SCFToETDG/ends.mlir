// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s
// RUN: ft-run %s --entry=window --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=every_other --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=from_the_middle --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=window --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=every_other --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

// The length of a window is a difference of a minimum and a maximum, and no less than 0.
// CHECK-LABEL: etdg.graph @window
// CHECK-NOT: scf.for
func.func @window(%x: tensor<11xi32>) -> tensor<11xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c11 = arith.constant 11 : index
  %z = arith.constant dense<0> : tensor<11xi32>
  %zero = arith.constant dense<0> : tensor<1xi32>
  %r = scf.for %i = %c0 to %c11 step %c1 iter_args(%o = %z) -> (tensor<11xi32>) {
    %l = arith.subi %i, %c3 : index
    %low = arith.maxsi %l, %c0 : index
    %h = arith.addi %i, %c3 : index
    %high = arith.minsi %h, %c11 : index
    %d = arith.subi %high, %low : index
    %n = arith.maxsi %d, %c0 : index
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %zero) -> (tensor<1xi32>) {
      %k = arith.addi %low, %j : index
      %v = tensor.extract_slice %x[%k] [1] [1] : tensor<11xi32> to tensor<1xi32>
      %u = arith.addi %t, %v : tensor<1xi32>
      scf.yield %u : tensor<1xi32>
    }
    %w = tensor.insert_slice %s into %o[%i] [1] [1] : tensor<1xi32> into tensor<11xi32>
    scf.yield %w : tensor<11xi32>
  }
  return %r : tensor<11xi32>
}

// Every other element from here on: their number is a quotient that is rounded up.
// CHECK-LABEL: etdg.graph @every_other
// CHECK-NOT: scf.for
func.func @every_other(%x: tensor<7xi32>) -> tensor<7xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%o = %x) -> (tensor<7xi32>) {
    %d = arith.subi %c7, %i : index
    %n = arith.ceildivsi %d, %c2 : index
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %o) -> (tensor<7xi32>) {
      %m = arith.muli %j, %c2 : index
      %k = arith.addi %i, %m : index
      %v = tensor.extract_slice %t[%k] [1] [1] : tensor<7xi32> to tensor<1xi32>
      %a = tensor.extract_slice %x[%i] [1] [1] : tensor<7xi32> to tensor<1xi32>
      %u = arith.addi %v, %a : tensor<1xi32>
      %w = tensor.insert_slice %u into %t[%k] [1] [1] : tensor<1xi32> into tensor<7xi32>
      scf.yield %w : tensor<7xi32>
    }
    scf.yield %s : tensor<7xi32>
  }
  return %r : tensor<7xi32>
}

// A bound of an outer loop is a bound of a quotient.
// CHECK-LABEL: etdg.graph @from_the_middle
// CHECK-NOT: scf.for
func.func @from_the_middle(%x: tensor<9xi32>) -> tensor<9xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %z = arith.constant dense<0> : tensor<9xi32>
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%o = %z) -> (tensor<9xi32>) {
    %low = arith.floordivsi %i, %c2 : index
    %high = arith.addi %i, %c1 : index
    %n = arith.subi %high, %low : index
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %o) -> (tensor<9xi32>) {
      %k = arith.addi %low, %j : index
      %v = tensor.extract_slice %x[%k] [1] [1] : tensor<9xi32> to tensor<1xi32>
      %a = tensor.extract_slice %t[%i] [1] [1] : tensor<9xi32> to tensor<1xi32>
      %u = arith.addi %v, %a : tensor<1xi32>
      %w = tensor.insert_slice %u into %t[%i] [1] [1] : tensor<1xi32> into tensor<9xi32>
      scf.yield %w : tensor<9xi32>
    }
    scf.yield %s : tensor<9xi32>
  }
  return %r : tensor<9xi32>
}
