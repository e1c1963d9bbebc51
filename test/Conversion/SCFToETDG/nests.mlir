// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-scf-to-etdg,etdg.graph(etdg-verify))' -o /dev/null
// RUN: ft-run %s --entry=forall --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=conditions --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=conditions --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=swap --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=rows --engine=interpret --order=random --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=rows --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=scalars --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=data --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=data --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=strided --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=gathered --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=gathered --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

// A loop that writes row i and carries nothing else is a map.
// CHECK-LABEL: etdg.graph @forall
// CHECK-COUNT-1: etdg.block
// CHECK-SAME: [map, map] (i, j) in [0, 5) x [0, 7)
// CHECK-NOT: etdg.block
func.func @forall(%a: tensor<5x7x3xi32>, %b: tensor<7x3xi32>) -> tensor<5x7x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %empty = tensor.empty() : tensor<5x7x3xi32>
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%o = %empty) -> tensor<5x7x3xi32> {
    %q = scf.for %j = %c0 to %c7 step %c1 iter_args(%p = %o) -> tensor<5x7x3xi32> {
      %x = tensor.extract_slice %a[%i, %j, 0] [1, 1, 3] [1, 1, 1] : tensor<5x7x3xi32> to tensor<3xi32>
      %y = tensor.extract_slice %b[%j, 0] [1, 3] [1, 1] : tensor<7x3xi32> to tensor<3xi32>
      %z = arith.muli %x, %y : tensor<3xi32>
      %u = tensor.insert_slice %z into %p[%i, %j, 0] [1, 1, 3] [1, 1, 1] : tensor<3xi32> into tensor<5x7x3xi32>
      scf.yield %u : tensor<5x7x3xi32>
    }
    scf.yield %q : tensor<5x7x3xi32>
  }
  return %r : tensor<5x7x3xi32>
}

// CHECK-LABEL: etdg.graph @parallel
// CHECK-COUNT-1: etdg.block
// CHECK-SAME: [map, map] (i, j) in [0, N) x [0, 3)
// CHECK-NOT: etdg.block
func.func @parallel(%a: tensor<?x3x4xf32> {etdg.dims = ["N"]}) -> tensor<?x3x4xf32> {
  %c0 = arith.constant 0 : index
  %N = tensor.dim %a, %c0 : tensor<?x3x4xf32>
  %empty = tensor.empty(%N) : tensor<?x3x4xf32>
  %r = scf.forall (%i, %j) in (%N, 3) shared_outs(%o = %empty) -> tensor<?x3x4xf32> {
    %x = tensor.extract_slice %a[%i, %j, 0] [1, 1, 4] [1, 1, 1] : tensor<?x3x4xf32> to tensor<4xf32>
    %y = math.exp %x : tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, %j, 0] [1, 1, 4] [1, 1, 1] : tensor<4xf32> into tensor<?x3x4xf32>
    }
  }
  return %r : tensor<?x3x4xf32>
}

// Affine conditions are domains: `i != 3` two of them.
// CHECK-LABEL: etdg.graph @conditions
// CHECK: [map] (i) in = 3
// CHECK: [map] (i) in [4, 7)
// CHECK: [map] (i) in [0, 3)
func.func @conditions(%a: tensor<7x3xi32>) -> tensor<7x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%o = %a) -> tensor<7x3xi32> {
    %x = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<7x3xi32> to tensor<3xi32>
    %is = arith.cmpi eq, %i, %c3 : index
    %u = scf.if %is -> tensor<7x3xi32> {
      %y = arith.muli %x, %x : tensor<3xi32>
      %v = tensor.insert_slice %y into %o[%i, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<7x3xi32>
      scf.yield %v : tensor<7x3xi32>
    } else {
      %y = arith.addi %x, %x : tensor<3xi32>
      %v = tensor.insert_slice %y into %o[%i, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<7x3xi32>
      scf.yield %v : tensor<7x3xi32>
    }
    scf.yield %u : tensor<7x3xi32>
  }
  return %r : tensor<7x3xi32>
}

// States that are each other are kept at each iteration.
// CHECK-LABEL: etdg.graph @swap
func.func @swap(%a: tensor<3xi32>, %b: tensor<3xi32>, %x: tensor<5x3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %a, %q = %b, %s = %a) -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
    %y = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<5x3xi32> to tensor<3xi32>
    %t0 = arith.muli %s, %p : tensor<3xi32>
    %t = arith.addi %t0, %y : tensor<3xi32>
    scf.yield %q, %p, %t : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
  }
  return %r#0, %r#2 : tensor<3xi32>, tensor<3xi32>
}

// A row is filled in an array of its own, then inserted whole: no row is kept twice.
// CHECK-LABEL: etdg.graph @rows
// CHECK-COUNT-1: etdg.buffer :
// CHECK-NOT: etdg.buffer :
// CHECK: [map, scanl] (i, j) in [0, 4) x = 0
// CHECK: [map, scanl] (i, j) in [0, 4) x [1, 6)
func.func @rows(%a: tensor<4x6x3xi32>) -> tensor<4x6x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant dense<0> : tensor<3xi32>
  %empty = tensor.empty() : tensor<4x6x3xi32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %empty) -> tensor<4x6x3xi32> {
    %row = tensor.empty() : tensor<6x3xi32>
    %q:2 = scf.for %j = %c0 to %c6 step %c1 iter_args(%p = %row, %s = %zero) -> (tensor<6x3xi32>, tensor<3xi32>) {
      %x = tensor.extract_slice %a[%i, %j, 0] [1, 1, 3] [1, 1, 1] : tensor<4x6x3xi32> to tensor<3xi32>
      %t = arith.addi %s, %x : tensor<3xi32>
      %u = tensor.insert_slice %t into %p[%j, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<6x3xi32>
      scf.yield %u, %t : tensor<6x3xi32>, tensor<3xi32>
    }
    %v = tensor.insert_slice %q#0 into %o[%i, 0, 0] [1, 6, 3] [1, 1, 1] : tensor<6x3xi32> into tensor<4x6x3xi32>
    scf.yield %v : tensor<4x6x3xi32>
  }
  return %r : tensor<4x6x3xi32>
}

// Scalars are states, too.
// CHECK-LABEL: etdg.graph @scalars
// CHECK: [foldl] (i) in [0, 9)
func.func @scalars(%a: tensor<9xi32>) -> tensor<2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %zero, %p = %one) -> (i32, i32) {
    %x = tensor.extract %a[%i] : tensor<9xi32>
    %k = arith.index_cast %i : index to i32
    %t = arith.muli %x, %k : i32
    %s1 = arith.addi %s, %t : i32
    %p1 = arith.muli %p, %x : i32
    scf.yield %s1, %p1 : i32, i32
  }
  %y = tensor.from_elements %r#0, %r#1 : tensor<2xi32>
  return %y : tensor<2xi32>
}

// A condition that is data becomes a select; what is not updated keeps its value.
// CHECK-LABEL: etdg.graph @data
// CHECK: arith.select
func.func @data(%a: tensor<6xi32>, %b: tensor<6x3xi32>) -> tensor<6x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0 : i32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%o = %b) -> tensor<6x3xi32> {
    %x = tensor.extract %a[%i] : tensor<6xi32>
    %p = arith.cmpi sgt, %x, %zero : i32
    %u = scf.if %p -> tensor<6x3xi32> {
      %y = tensor.extract_slice %o[%i, 0] [1, 3] [1, 1] : tensor<6x3xi32> to tensor<3xi32>
      %z = arith.addi %y, %y : tensor<3xi32>
      %v = tensor.insert_slice %z into %o[%i, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<6x3xi32>
      scf.yield %v : tensor<6x3xi32>
    } else {
      scf.yield %o : tensor<6x3xi32>
    }
    scf.yield %u : tensor<6x3xi32>
  }
  return %r : tensor<6x3xi32>
}

// Steps other than 1, lower bounds other than 0, and a row that is written twice: its
// last writer counts.
// CHECK-LABEL: etdg.graph @strided
func.func @strided(%a: tensor<11x3xi32>) -> tensor<11x3xi32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c11 = arith.constant 11 : index
  %r = scf.for %i = %c2 to %c11 step %c3 iter_args(%o = %a) -> tensor<11x3xi32> {
    %h = arith.floordivsi %i, %c2 : index
    %x = tensor.extract_slice %o[%h, 0] [1, 3] [1, 1] : tensor<11x3xi32> to tensor<3xi32>
    %y = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<11x3xi32> to tensor<3xi32>
    %z = arith.addi %x, %y : tensor<3xi32>
    %u = tensor.insert_slice %z into %o[%i, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<11x3xi32>
    %k = arith.subi %i, %c1 : index
    %w = arith.muli %z, %y : tensor<3xi32>
    %v = tensor.insert_slice %w into %u[%k, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<11x3xi32>
    %g = arith.floordivsi %k, %c2 : index
    %t = tensor.insert_slice %y into %v[%g, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<11x3xi32>
    scf.yield %t : tensor<11x3xi32>
  }
  return %r : tensor<11x3xi32>
}

// An index that is data is a gather: a row of a table, a scalar of it, a row of a state.
// CHECK-LABEL: etdg.graph @gathered
// CHECK: [%{{.*}}[i]]
func.func @gathered(%table: tensor<5x3xi32>, %at: tensor<8xi32> {ft.gen = #ft.index<0, 5>}, %h0: tensor<5x3xi32>)
    -> (tensor<8x3xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<8x3xi32>
  %empty1 = tensor.empty() : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  %r:3 = scf.for %i = %c0 to %c8 step %c1 iter_args(%o = %empty, %p = %empty1, %s = %zero)
      -> (tensor<8x3xi32>, tensor<8xi32>, tensor<3xi32>) {
    %k32 = tensor.extract %at[%i] : tensor<8xi32>
    %k = arith.index_cast %k32 : i32 to index
    %x = tensor.extract_slice %table[%k, 0] [1, 3] [1, 1] : tensor<5x3xi32> to tensor<3xi32>
    %h = tensor.extract_slice %h0[%k, 0] [1, 3] [1, 1] : tensor<5x3xi32> to tensor<3xi32>
    %y = arith.muli %x, %h : tensor<3xi32>
    %t = arith.addi %y, %s : tensor<3xi32>
    %e = tensor.extract %table[%k, %c1] : tensor<5x3xi32>
    %e2 = arith.addi %e, %k32 : i32
    %u = tensor.insert_slice %t into %o[%i, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<8x3xi32>
    %v = tensor.insert %e2 into %p[%i] : tensor<8xi32>
    scf.yield %u, %v, %t : tensor<8x3xi32>, tensor<8xi32>, tensor<3xi32>
  }
  return %r#0, %r#1 : tensor<8x3xi32>, tensor<8xi32>
}
