// What raising once refused: strides, counters of their own, sizes that the type leaves open as
// arguments of ft-run, slices at computed offsets in straight-line programs, calls, products in branches on data.
// RUN: ft-run %s --entry=strides --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=strides --engine=interpret --order=declared --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=counter --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=counter_down --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=last_one --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=open --engine=cpu --dim=L=7 --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=open --engine=cpu --dim=L=1 --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=unnamed --engine=cpu --dim=n0_0=5 --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=computed_offset --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=calls --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=calls --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=products --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=products --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=one_product --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-opt %s --ft-inline --convert-scf-to-etdg | FileCheck %s --check-prefix=GRAPH
// CHECK: equal

// Even rows from the front, odd rows from the back: cells are written once.
// GRAPH-LABEL: etdg.graph @strides
func.func @strides(%x: tensor<4x3xi32>, %y: tensor<3x3xi32>) -> tensor<3x7x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<3x7x3xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %e) -> (tensor<3x7x3xi32>) {
    %0 = arith.addi %x, %x : tensor<4x3xi32>
    %b = tensor.insert_slice %0 into %a[%i, 0, 0] [1, 4, 3] [1, 2, 1] : tensor<4x3xi32> into tensor<3x7x3xi32>
    %c = tensor.insert_slice %y into %b[%i, 1, 0] [1, 3, 3] [1, 2, 1] : tensor<3x3xi32> into tensor<3x7x3xi32>
    scf.yield %c : tensor<3x7x3xi32>
  }
  return %r : tensor<3x7x3xi32>
}

// k[:, g] = x; g += 1
// GRAPH-LABEL: etdg.graph @counter
func.func @counter(%x: tensor<4x2x3xi32>, %k: tensor<2x8x3xi32>) -> tensor<2x8x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %t = %c0 to %c4 step %c1 iter_args(%g = %c3, %a = %k) -> (index, tensor<2x8x3xi32>) {
    %v = tensor.extract_slice %x[%t, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<4x2x3xi32> to tensor<2x3xi32>
    %w = arith.addi %v, %v : tensor<2x3xi32>
    %b = tensor.insert_slice %w into %a[0, %g, 0] [2, 1, 3] [1, 1, 1] : tensor<2x3xi32> into tensor<2x8x3xi32>
    %n = arith.addi %g, %c1 : index
    scf.yield %n, %b : index, tensor<2x8x3xi32>
  }
  return %r#1 : tensor<2x8x3xi32>
}

// Down by two in an integer that is no index, and where it ended.
// GRAPH-LABEL: etdg.graph @counter_down
func.func @counter_down(%x: tensor<3xi32>) -> tensor<9xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : i64
  %two = arith.constant 2 : i64
  %zero = arith.constant dense<0> : tensor<9xi32>
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%g = %c8, %a = %zero) -> (i64, tensor<9xi32>) {
    %at = arith.index_cast %g : i64 to index
    %v = tensor.extract %x[%t] : tensor<3xi32>
    %b = tensor.insert %v into %a[%at] : tensor<9xi32>
    %n = arith.subi %g, %two : i64
    scf.yield %n, %b : i64, tensor<9xi32>
  }
  %at = arith.index_cast %r#0 : i64 to index
  %first = tensor.extract %x[%c0] : tensor<3xi32>
  %s = tensor.insert %first into %r#1[%at] : tensor<9xi32>
  return %s : tensor<9xi32>
}

// The row of the iteration before, by its number: a[last] = a[i] + a[last]; last = i, in steps of two, and where it ended.
// GRAPH-LABEL: etdg.graph @last_one
func.func @last_one(%x: tensor<9x3xi32>) -> tensor<9x3xi32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %r:2 = scf.for %i = %c2 to %c8 step %c2 iter_args(%last = %c0, %a = %x) -> (index, tensor<9x3xi32>) {
    %v = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<9x3xi32> to tensor<3xi32>
    %w = tensor.extract_slice %a[%last, 0] [1, 3] [1, 1] : tensor<9x3xi32> to tensor<3xi32>
    %s = arith.addi %v, %w : tensor<3xi32>
    %b = tensor.insert_slice %s into %a[%last, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<9x3xi32>
    scf.yield %i, %b : index, tensor<9x3xi32>
  }
  %first = tensor.extract_slice %x[0, 0] [1, 3] [1, 1] : tensor<9x3xi32> to tensor<3xi32>
  %end = tensor.insert_slice %first into %r#1[%r#0, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<9x3xi32>
  return %end : tensor<9x3xi32>
}

// GRAPH-LABEL: etdg.graph @open
func.func @open(%x: tensor<?x4xi32> {etdg.dims = ["L"]}, %s: tensor<4xi32>) -> tensor<?x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xi32>
  %e = tensor.empty(%n) : tensor<?x4xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e, %c = %s) -> (tensor<?x4xi32>, tensor<4xi32>) {
    %v = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<?x4xi32> to tensor<4xi32>
    %w = arith.addi %c, %v : tensor<4xi32>
    %b = tensor.insert_slice %w into %a[%i, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<?x4xi32>
    scf.yield %b, %w : tensor<?x4xi32>, tensor<4xi32>
  }
  return %r#0 : tensor<?x4xi32>
}

// GRAPH-LABEL: etdg.graph @unnamed
func.func @unnamed(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xi32>) {
    %v = tensor.extract %a[%i] : tensor<?xi32>
    %w = arith.addi %v, %v : i32
    %b = tensor.insert %w into %a[%i] : tensor<?xi32>
    scf.yield %b : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}

// No loop: x[i:i+2] += 1 at an i that is data.
func.func @computed_offset(%x: tensor<5x3xi32>, %i: tensor<i64> {ft.gen = #ft.index<0, 4>}) -> tensor<5x3xi32> {
  %n = tensor.extract %i[] : tensor<i64>
  %at = arith.index_cast %n : i64 to index
  %ones = arith.constant dense<1> : tensor<2x3xi32>
  %v = tensor.extract_slice %x[%at, 0] [2, 3] [1, 1] : tensor<5x3xi32> to tensor<2x3xi32>
  %w = arith.addi %v, %ones : tensor<2x3xi32>
  %r = tensor.insert_slice %w into %x[%at, 0] [2, 3] [1, 1] : tensor<2x3xi32> into tensor<5x3xi32>
  return %r : tensor<5x3xi32>
}

// A row by a function that calls another one, with a loop of its own.
func.func private @twice(%x: tensor<3xi32>) -> tensor<3xi32> {
  %y = arith.addi %x, %x : tensor<3xi32>
  return %y : tensor<3xi32>
}
func.func private @bump(%x: tensor<3xi32>, %n: index) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<3xi32> {
    %y = func.call @twice(%a) : (tensor<3xi32>) -> tensor<3xi32>
    scf.yield %y : tensor<3xi32>
  }
  return %r : tensor<3xi32>
}
// GRAPH-LABEL: etdg.graph @calls
// GRAPH-NOT: call
func.func @calls(%x: tensor<5x3xi32>) -> tensor<5x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<5x3xi32> {
    %s = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<5x3xi32> to tensor<3xi32>
    %n = func.call @bump(%s, %i) : (tensor<3xi32>, index) -> tensor<3xi32>
    %o = tensor.insert_slice %n into %a[%i, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<5x3xi32>
    scf.yield %o : tensor<5x3xi32>
  }
  return %r : tensor<5x3xi32>
}

// A product from the left or from the right, as data say; one kernel in a loop.
// GRAPH-LABEL: etdg.graph @products
// GRAPH: arith.select
func.func @products(%xs: tensor<8xi32>, %w: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %w) -> tensor<4x4xi32> {
    %x = tensor.extract %xs[%i] : tensor<8xi32>
    %p = arith.cmpi sgt, %x, %zero : i32
    %t = scf.if %p -> tensor<4x4xi32> {
      %m = linalg.matmul ins(%s, %w : tensor<4x4xi32>, tensor<4x4xi32>) outs(%w : tensor<4x4xi32>) -> tensor<4x4xi32>
      scf.yield %m : tensor<4x4xi32>
    } else {
      %m = linalg.matmul ins(%w, %s : tensor<4x4xi32>, tensor<4x4xi32>) outs(%w : tensor<4x4xi32>) -> tensor<4x4xi32>
      scf.yield %m : tensor<4x4xi32>
    }
    scf.yield %t : tensor<4x4xi32>
  }
  return %r : tensor<4x4xi32>
}

// GRAPH-LABEL: etdg.graph @one_product
func.func @one_product(%a: tensor<4x4xi32>, %w: tensor<4x4xi32>, %c: tensor<i32>) -> tensor<4x4xi32> {
  %zero = arith.constant 0 : i32
  %v = tensor.extract %c[] : tensor<i32>
  %p = arith.cmpi sgt, %v, %zero : i32
  %r = scf.if %p -> tensor<4x4xi32> {
    %m = linalg.matmul ins(%a, %w : tensor<4x4xi32>, tensor<4x4xi32>) outs(%w : tensor<4x4xi32>) -> tensor<4x4xi32>
    scf.yield %m : tensor<4x4xi32>
  } else {
    scf.yield %a : tensor<4x4xi32>
  }
  return %r : tensor<4x4xi32>
}
